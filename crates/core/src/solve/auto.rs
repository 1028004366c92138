//! What `auto` does: which solver serves which energies is decided here and nowhere else.
//!
//! | energies | [`Plan`] |
//! | --- | --- |
//! | none, or measurements | the dual; steps in the marginals where it gets nowhere ([`Relay`]) |
//! | squared errors of tables, many cells or tables that overlap | tempered: the dual of tables that agree |
//! | other smooth tables that are many and overlap | adaptive steps |
//! | no measurement, known by value and gradient | adaptive steps; convex with kinks: dual averaging |
//! | anything else | alternating: `nearest` piece by piece, others linearised, the rest by the dual |

use super::adaptive::Adaptive;
use super::alternating::Alternating;
use super::dual::Dual;
use super::engine::{Engine, Solver};
use super::escalation::Escalation;
use super::rda_and_mirror_descent::Relaxed;
use super::relay::Relay;
use super::tempered::Tempered;
use super::{Method, Settings, SolveError};
use crate::energy::Energies;
use crate::oracle::{Exactness, Tables};

/// What [`Method::Auto`] does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Plan {
    /// Measurements only, or nothing at all: the dual.
    Dual,
    /// Energies known by value and gradient only: adaptive steps. Also large tables of smooth
    /// measurements that overlap: they say the same thing several times, which leaves the dual flat
    /// in many directions.
    Adaptive,
    /// The same, convex and with kinks: dual averaging, which needs no smoothness.
    Rda,
    /// `nearest` energies piece by piece, other energies linearised, what remains by the dual.
    Alternating,
    /// Squared errors of tables that overlap or have many cells: their dual after making them
    /// agree, with growing weights.
    Tempered,
}

impl Plan {
    /// The plan for energies under an exact oracle.
    pub fn for_energies(energies: &Energies) -> Self {
        Self::through(Exactness::Exact, energies)
    }

    /// The plan under this oracle: pseudo-marginals agree only on single variables.
    pub(super) fn through(exactness: Exactness, energies: &Energies) -> Self {
        let is_exact = exactness == Exactness::Exact;
        let (overlap, many) =
            (energies.tables_overlap(), energies.measurements.are_many_smooth_tables());
        let telling = is_exact && (overlap || many) && energies.has_telling_tables();
        match (energies.measurements.is_empty(), energies.nearest.is_empty(), &energies.others[..])
        {
            (_, true, []) if telling => Self::Tempered,
            (_, true, []) if overlap && many => Self::Adaptive,
            (_, true, []) => Self::Dual,
            (true, true, _) if energies.has_convex_kinks() => Self::Rda,
            (true, true, _) => Self::Adaptive,
            _ => Self::Alternating,
        }
    }
}

/// Starts what the plan says.
pub(super) fn start(
    engine: &mut Engine,
    settings: &Settings,
    shown: Tables,
) -> Result<Box<dyn Solver>, SolveError> {
    Ok(match Plan::through(engine.oracle.exactness(), engine.energies) {
        Plan::Dual if engine.oracle.second_order().is_some() => {
            Box::new(Escalation::start(engine, settings.tolerance))
        }
        Plan::Dual if engine.energies.is_smooth() => Box::new(Relay::start(plain_dual(engine))),
        Plan::Dual => plain_dual(engine),
        Plan::Tempered => Box::new(Relay::start(Box::new(Tempered::start(engine)))),
        Plan::Adaptive => Box::new(Adaptive::start(engine)?),
        Plan::Rda => Box::new(Relaxed::start(engine, Method::Rda { beta: 0.0 }, shown)?),
        Plan::Alternating => Box::new(Alternating::start(engine, settings.tolerance)?),
    })
}

/// The dual of measurements, in the form that serves them.
pub(super) fn dual(engine: &mut Engine) -> Box<dyn Solver> {
    match Plan::through(engine.oracle.exactness(), engine.energies) {
        Plan::Tempered => Box::new(Tempered::start(engine)),
        _ => plain_dual(engine),
    }
}

/// Newton's method in the dual.
pub(super) fn newton(engine: &mut Engine, settings: &Settings) -> Box<dyn Solver> {
    Box::new(Escalation::newton(engine, settings.tolerance))
}

fn plain_dual(engine: &mut Engine) -> Box<dyn Solver> {
    let measurements = engine.energies.measurements.clone();
    Box::new(Dual::start(engine, measurements, None, 1.0))
}
