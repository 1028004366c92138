//! What a caller asks of a solve, by keyword.

use std::time::Duration;

use bethe_core::problem::CovarianceOf;
use bethe_core::solve::Returned;
use bethe_core::{MemoryLimit, Method, OracleKind, Request, Settings, StepSchedule, Tables};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::PyDict;

use crate::keywords::Keywords;
use crate::run;

/// Every keyword of `solve`.
const WORDS: [&str; 17] = [
    "solver",
    "tolerance",
    "max_iterations",
    "time_limit",
    "returned",
    "oracle",
    "marginals",
    "beta",
    "step_size",
    "step_schedule",
    "smoothness",
    "covariance",
    "map_budget",
    "memory_limit",
    "trace",
    "callback",
    "n_jobs",
];

/// How to solve, and what to keep of it.
pub struct Options {
    pub settings: Settings,
    pub request: Request,
    /// Whether every iteration is recorded.
    pub trace: bool,
    /// Called with every record; `False` stops the solve.
    pub callback: Option<Py<PyAny>>,
    /// `None` for all cores.
    pub jobs: Option<usize>,
}

impl Options {
    /// Reads the keywords of a call; one that is not known is an error.
    pub fn new(given: Option<&Bound<'_, PyDict>>) -> PyResult<Self> {
        let given = &Keywords::new(given, &WORDS)?;
        let default = Settings::default();
        let time_limit: Option<f64> = given.get("time_limit")?;
        let settings = Settings {
            method: method(given)?,
            tolerance: given.get("tolerance")?.unwrap_or(default.tolerance),
            max_iterations: given.get("max_iterations")?.unwrap_or(default.max_iterations),
            time_limit: time_limit.map(seconds).transpose()?,
            returned: given.choice(
                "returned",
                &[
                    ("best", Returned::Best),
                    ("last", Returned::Last),
                    ("average", Returned::Average),
                ],
            )?,
            ..default
        };
        settings.check().map_err(|error| PyValueError::new_err(error.to_string()))?;
        let memory: Option<u64> = given.get("memory_limit")?;
        let request = Request {
            oracle: given.choice(
                "oracle",
                &[
                    ("auto", OracleKind::Auto),
                    ("exact", OracleKind::Exact),
                    ("trw", OracleKind::TreeReweighted),
                    ("loopy", OracleKind::Loopy),
                ],
            )?,
            marginals: given.choice(
                "marginals",
                &[("all", Tables::All), ("nodes", Tables::Nodes), ("none", Tables::None)],
            )?,
            potentials: settings.returned != Returned::Average,
            covariance: given
                .optional_choice("covariance", &[("measurements", CovarianceOf::Measurements)])?,
            map_budget: given.get("map_budget")?.unwrap_or(Request::MAP_BUDGET),
            memory_limit: memory.map_or_else(run::memory_limit, MemoryLimit::of),
            ..Request::default()
        };
        Ok(Self {
            settings,
            request,
            trace: given.get("trace")?.unwrap_or(false),
            callback: given.get("callback")?,
            jobs: given.jobs()?,
        })
    }
}

/// The method by its name, with the settings that belong to it and no others.
fn method(given: &Keywords<'_, '_>) -> PyResult<Method> {
    let name: String = given.get("solver")?.unwrap_or_else(|| "auto".into());
    let belongs = [
        ("beta", "rda"),
        ("step_size", "mirror-descent"),
        ("step_schedule", "mirror-descent"),
        ("smoothness", "accelerated-rda"),
    ];
    for (word, solver) in belongs {
        if given.has(word)? && name != solver {
            return Err(PyValueError::new_err(format!(
                "{word} needs solver={solver:?}, found solver={name:?}"
            )));
        }
    }
    Ok(match name.as_str() {
        "auto" => Method::Auto,
        "rda" => Method::Rda { beta: given.get("beta")?.unwrap_or(0.0) },
        "mirror-descent" => Method::MirrorDescent { schedule: schedule(given)? },
        "accelerated-rda" => Method::AcceleratedRda { smoothness: given.get("smoothness")? },
        "adaptive" => Method::Adaptive,
        "dual" => Method::Dual,
        "newton" => Method::Newton,
        "global" => Method::Global,
        _ => {
            return Err(PyValueError::new_err(format!(
                "found solver {name:?}, expected auto, rda, mirror-descent, accelerated-rda, \
                 adaptive, dual, newton or global"
            )));
        }
    })
}

fn schedule(given: &Keywords<'_, '_>) -> PyResult<StepSchedule> {
    let schedule: Option<String> = given.get("step_schedule")?;
    match (schedule.as_deref(), given.get("step_size")?) {
        (None, size) => Ok(StepSchedule::Constant(size.unwrap_or(0.1))),
        (Some("inverse"), None) => Ok(StepSchedule::Inverse),
        (Some("inverse"), Some(_)) => {
            Err(PyValueError::new_err("found both step_size and step_schedule, expected one"))
        }
        (Some(found), _) => {
            Err(PyValueError::new_err(format!("found step_schedule {found:?}, expected inverse")))
        }
    }
}

fn seconds(found: f64) -> PyResult<Duration> {
    Duration::try_from_secs_f64(found).map_err(|_| {
        PyValueError::new_err(format!("time_limit: found {found}, expected seconds, at least 0"))
    })
}
