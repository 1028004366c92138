use super::accelerated_rda::AcceleratedRda;
use super::adaptive::Adaptive;
use super::alternating::Alternating;
use super::dual::Dual;
use super::engine::{Engine, Solver};
use super::global::Global;
use super::relaxed::Relaxed;
use super::relay::Relay;
use super::tempered::Tempered;
use super::{Method, Plan, Settings, SolveError};

/// The solver for a method, or an error where it cannot serve the energies.
pub(super) fn choose(
    engine: &mut Engine,
    settings: &Settings,
) -> Result<Box<dyn Solver>, SolveError> {
    let energies = &*engine.energies;
    let hard = energies.measurements.has_hard();
    let plan = Plan::through(engine.oracle.exactness(), energies);
    let unserved = |energy, expected| {
        Err(SolveError::Unserved { solver: settings.method.name(), energy, expected })
    };
    if settings.global && !(settings.method == Method::Auto && energies.others.is_empty()) {
        return unserved(
            "--global with this solver or these energies",
            "solver auto, and no energies but measurements and nearest, weights not negative",
        );
    }
    if settings.global && !engine.oracle.exactness().certifies() {
        return unserved("--global with oracle loopy, which bounds nothing", "oracle exact or trw");
    }
    let primal = !matches!(settings.method, Method::Auto | Method::Dual);
    if primal && hard {
        return unserved("a hard measurement", "solver auto or dual");
    }
    let tolerance = settings.tolerance;
    Ok(match settings.method {
        Method::Rda { .. } | Method::MirrorDescent { .. } => {
            Box::new(Relaxed::start(engine, settings.method, settings.marginals)?)
        }
        Method::AcceleratedRda { smoothness } => {
            if !energies.is_smooth() || engine.infimum().is_none() {
                return unserved(
                    "an energy that is not smooth and convex",
                    "solver auto, rda or mirror-descent",
                );
            }
            Box::new(AcceleratedRda::start(engine, smoothness, settings.marginals)?)
        }
        Method::Adaptive => {
            if !energies.is_smooth() {
                return unserved("an energy with kinks", "solver auto, rda or mirror-descent");
            }
            Box::new(Adaptive::start(engine)?)
        }
        Method::Dual if !energies.nearest.is_empty() || !energies.others.is_empty() => {
            return unserved("energies other than measurements", "solver auto");
        }
        Method::Auto | Method::Dual if plan == Plan::Tempered && !settings.global => {
            let tempered = Box::new(Tempered::start(engine));
            if settings.method == Method::Auto {
                Box::new(Relay::start(tempered))
            } else {
                tempered
            }
        }
        Method::Auto if settings.global => Box::new(Global::start(engine, tolerance)),
        Method::Auto if plan == Plan::Adaptive => Box::new(Adaptive::start(engine)?),
        Method::Auto if plan == Plan::Rda => {
            let method = Method::Rda { beta: 0.0 };
            Box::new(Relaxed::start(engine, method, settings.marginals)?)
        }
        Method::Auto if plan == Plan::Alternating => {
            Box::new(Alternating::start(engine, tolerance)?)
        }
        Method::Auto | Method::Dual => {
            let measurements = energies.measurements.clone();
            let may_hand_over = settings.method == Method::Auto && energies.is_smooth();
            let dual = Box::new(Dual::start(engine, measurements, None, 1.0));
            if may_hand_over { Box::new(Relay::start(dual)) } else { dual }
        }
    })
}
