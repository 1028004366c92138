use super::accelerated_rda::AcceleratedRda;
use super::adaptive::Adaptive;
use super::engine::{Engine, Solver};
use super::global::Global;
use super::rda_and_mirror_descent::Relaxed;
use super::{Method, Plan, Returned, Settings, SolveError, auto};
use crate::oracle::Tables;

/// The solver for a method, or an error where it does not support the energies.
pub(super) fn choose(
    engine: &mut Engine,
    settings: &Settings,
    shown: Tables,
) -> Result<Box<dyn Solver>, SolveError> {
    check(engine, settings.method)?;
    check_average(engine, settings)?;
    Ok(match settings.method {
        Method::Auto => auto::start(engine, settings, shown)?,
        Method::Rda { .. } | Method::MirrorDescent { .. } => {
            Box::new(Relaxed::start(engine, settings.method, shown)?)
        }
        Method::AcceleratedRda { smoothness } => {
            Box::new(AcceleratedRda::start(engine, smoothness, shown)?)
        }
        Method::Adaptive => Box::new(Adaptive::start(engine)?),
        Method::Dual => auto::dual(engine),
        Method::Newton => auto::newton(engine, settings),
        Method::Global => Box::new(Global::start(engine, settings.tolerance)),
    })
}

/// Refuses to return an average that is not kept, or that has no tilt where one is needed.
fn check_average(engine: &Engine, settings: &Settings) -> Result<(), SolveError> {
    let keeps_one = match settings.method {
        Method::Rda { .. } | Method::MirrorDescent { .. } | Method::AcceleratedRda { .. } => true,
        Method::Auto => Plan::through(engine.oracle.exactness(), engine.energies) == Plan::Rda,
        Method::Adaptive | Method::Dual | Method::Newton | Method::Global => false,
    };
    match settings.returned {
        Returned::Average if !keeps_one => Err(SolveError::NoAverage {
            found: "a solver that keeps no average of its iterates",
            or: ", or solver rda, mirror-descent or accelerated-rda",
        }),
        Returned::Average if !engine.allows_average => Err(SolveError::NoAverage {
            found: "a request for the tilt of the answer, which an average does not have",
            or: "",
        }),
        _ => Ok(()),
    }
}

/// Refuses a method that does not support the energies, or not with this oracle.
fn check(engine: &mut Engine, method: Method) -> Result<(), SolveError> {
    let has_second_order = engine.oracle.second_order().is_some();
    let energies = &*engine.energies;
    let measured = energies.others.is_empty();
    let refuse =
        |energy, expected| Err(SolveError::Unserved { solver: method.name(), energy, expected });
    let with_kinks = match (measured && energies.nearest.is_empty(), has_second_order) {
        (true, true) => "solver auto, dual, newton, rda or mirror-descent",
        (true, false) => "solver auto, dual, rda or mirror-descent",
        (false, _) => "solver auto, rda or mirror-descent",
    };
    match method {
        Method::Auto => Ok(()),
        Method::Dual | Method::Newton if !measured || !energies.nearest.is_empty() => {
            refuse("energies other than measurements", "solver auto")
        }
        Method::Global if !measured => refuse(
            "energies other than measurements and nearest, or negative weights",
            "solver auto",
        ),
        Method::Global if !engine.oracle.exactness().certifies() => {
            refuse("oracle loopy, which bounds nothing", "oracle exact or trw")
        }
        Method::Newton if !has_second_order => {
            refuse("an oracle without products with the covariance", "solver auto or dual")
        }
        Method::Dual | Method::Newton | Method::Global => Ok(()),
        _ if energies.measurements.has_hard() => {
            refuse("a hard measurement", "solver auto, dual or newton")
        }
        Method::AcceleratedRda { .. } if !energies.is_smooth() || engine.infimum().is_none() => {
            refuse("an energy that is not smooth and convex", with_kinks)
        }
        Method::Adaptive if !energies.is_smooth() => refuse("an energy with kinks", with_kinks),
        _ => Ok(()),
    }
}
