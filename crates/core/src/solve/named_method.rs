use super::accelerated_rda::AcceleratedRda;
use super::adaptive::Adaptive;
use super::engine::{Engine, Solver};
use super::global::Global;
use super::rda_and_mirror_descent::Relaxed;
use super::{Method, Settings, SolveError, auto};
use crate::oracle::Tables;

/// The solver for a method, or an error where it cannot serve the energies.
pub(super) fn choose(
    engine: &mut Engine,
    settings: &Settings,
    shown: Tables,
) -> Result<Box<dyn Solver>, SolveError> {
    check(engine, settings.method)?;
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
        Method::Global => Box::new(Global::start(engine, settings.tolerance)),
    })
}

/// Refuses a method that cannot serve the energies, or not with this oracle.
fn check(engine: &Engine, method: Method) -> Result<(), SolveError> {
    let energies = &*engine.energies;
    let measured = energies.others.is_empty();
    let refuse =
        |energy, expected| Err(SolveError::Unserved { solver: method.name(), energy, expected });
    match method {
        Method::Auto => Ok(()),
        Method::Dual if !measured || !energies.nearest.is_empty() => {
            refuse("energies other than measurements", "solver auto")
        }
        Method::Global if !measured => refuse(
            "energies other than measurements and nearest, or negative weights",
            "solver auto",
        ),
        Method::Global if !engine.oracle.exactness().certifies() => {
            refuse("oracle loopy, which bounds nothing", "oracle exact or trw")
        }
        Method::Dual | Method::Global => Ok(()),
        _ if energies.measurements.has_hard() => {
            refuse("a hard measurement", "solver auto or dual")
        }
        Method::AcceleratedRda { .. } if !energies.is_smooth() || engine.infimum().is_none() => {
            let expected = "solver auto, dual, rda or mirror-descent";
            refuse("an energy that is not smooth and convex", expected)
        }
        Method::Adaptive if !energies.is_smooth() => {
            refuse("an energy with kinks", "solver auto, dual, rda or mirror-descent")
        }
        _ => Ok(()),
    }
}
