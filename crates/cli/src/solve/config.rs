//! Flags to a configuration that is known to make sense: no flag is accepted and ignored.

use std::path::{Path, PathBuf};

use anyhow::{Result, anyhow};
use bethe_core::solve::SolveError;
use bethe_core::{Method, Settings, StepSchedule, Tables};
use clap::ValueEnum;

use super::flags::{Flags, MarginalsChoice, OracleChoice};
use crate::outcome::bad_input;
use crate::solver::SolverChoice;
use crate::time;

/// What `bethe solve` was asked to do.
pub struct Config {
    pub problem: PathBuf,
    pub energies: Option<PathBuf>,
    pub settings: Settings,
    pub trace: Option<PathBuf>,
    pub plot: Option<PathBuf>,
    /// `None` for all cores.
    pub threads: Option<usize>,
    pub quiet: bool,
}

impl TryFrom<Flags> for Config {
    type Error = anyhow::Error;

    fn try_from(flags: Flags) -> Result<Self> {
        let time_limit = flags.time_limit.as_deref();
        let time_limit = time_limit.map(|text| time::parse("--time-limit", text));
        let settings = Settings {
            method: method(&flags)?,
            tolerance: flags.tolerance,
            max_iterations: flags.max_iterations,
            time_limit: time_limit.transpose()?,
            global: flags.global,
            marginals: match flags.marginals {
                MarginalsChoice::All => Tables::All,
                MarginalsChoice::Nodes => Tables::Nodes,
                MarginalsChoice::None => Tables::None,
            },
        };
        settings.check().map_err(out_of_range)?;
        if flags.threads == Some(0) {
            return Err(bad_input("--threads: found 0, expected at least 1"));
        }
        if flags.trace.is_some() && flags.trace == flags.plot {
            return Err(bad_input("--plot: found the file of --trace, expected another one"));
        }
        let standard_input = Path::new("-");
        if flags.problem == standard_input && flags.energies.as_deref() == Some(standard_input) {
            return Err(bad_input(
                "--energies: found - twice, expected standard input to be one of the two files",
            ));
        }
        match flags.oracle {
            // One exact oracle serves each model, so there is nothing to pass on.
            OracleChoice::Auto | OracleChoice::Exact => {}
        }
        Ok(Self {
            problem: flags.problem,
            energies: flags.energies,
            settings,
            trace: flags.trace,
            plot: flags.plot,
            threads: flags.threads,
            quiet: flags.quiet,
        })
    }
}

fn method(flags: &Flags) -> Result<Method> {
    let only_for = |flag: &str, given: bool, solver: SolverChoice| {
        if !given || flags.solver == solver {
            return Ok(());
        }
        Err(bad_input(format!(
            "{flag}: found with --solver {}, expected --solver {}",
            name(flags.solver),
            name(solver)
        )))
    };
    only_for("--beta", flags.beta.is_some(), SolverChoice::Rda)?;
    only_for("--step-size", flags.step_size.is_some(), SolverChoice::MirrorDescent)?;
    only_for("--step-schedule", flags.step_schedule.is_some(), SolverChoice::MirrorDescent)?;
    only_for("--smoothness", flags.smoothness.is_some(), SolverChoice::AcceleratedRda)?;
    only_for("--global", flags.global, SolverChoice::Auto)?;
    Ok(match flags.solver {
        SolverChoice::Auto => Method::Auto,
        SolverChoice::Rda => Method::Rda { beta: flags.beta.unwrap_or(0.0) },
        SolverChoice::MirrorDescent => Method::MirrorDescent {
            schedule: match flags.step_schedule {
                Some(_) => StepSchedule::Inverse,
                None => StepSchedule::Constant(flags.step_size.unwrap_or(0.1)),
            },
        },
        SolverChoice::AcceleratedRda => Method::AcceleratedRda { smoothness: flags.smoothness },
        SolverChoice::Adaptive => Method::Adaptive,
        SolverChoice::Dual => Method::Dual,
    })
}

fn name(solver: SolverChoice) -> String {
    solver.to_possible_value().map_or(String::new(), |value| value.get_name().to_string())
}

/// A setting's error, in the words of the flag.
fn out_of_range(error: SolveError) -> anyhow::Error {
    match error {
        SolveError::Setting { setting, found, expected } => bad_input(format!(
            "--{}: found {found}, expected {expected}",
            setting.replace(' ', "-")
        )),
        other => anyhow!(other),
    }
}
