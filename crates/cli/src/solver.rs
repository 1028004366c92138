//! The solvers that `--solver` names, and the flags of their steps.

use anyhow::Result;
use bethe_core::solve::SolveError;
use bethe_core::{Method, StepSchedule};
use bethe_terminal::bad_input;
use clap::{Args, ValueEnum};

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum SolverChoice {
    /// Picks the best method for the energies
    Auto,
    /// Bethe-RDA, Algorithm 1
    Rda,
    /// Bethe-MD, Algorithm 4
    MirrorDescent,
    /// Accelerated Bethe-RDA, Algorithm 5
    AcceleratedRda,
    /// Mirror descent with steps found by backtracking
    Adaptive,
    /// Quasi-Newton on one multiplier per measurement; exact for kinks and hard measurements
    Dual,
    /// Newton steps on the same multipliers, from high temperature to low; needs exact inference
    Newton,
}

/// Settings that belong to one solver each.
#[derive(Args, Default)]
pub struct StepFlags {
    /// rda: how long it remembers its start [default: 0]
    #[arg(long, value_name = "NUMBER", allow_negative_numbers = true)]
    beta: Option<f64>,

    /// mirror-descent: constant step [default: 0.1]
    #[arg(
        long,
        value_name = "NUMBER",
        allow_negative_numbers = true,
        conflicts_with = "step_schedule"
    )]
    step_size: Option<f64>,

    /// mirror-descent: decreasing steps
    #[arg(long, value_enum)]
    step_schedule: Option<ScheduleChoice>,

    /// accelerated-rda: smoothness of the energy [default: estimated]
    #[arg(long, value_name = "NUMBER", allow_negative_numbers = true)]
    smoothness: Option<f64>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum ScheduleChoice {
    /// 1/t
    Inverse,
}

impl StepFlags {
    /// Refuses flags that belong to another solver.
    pub fn check(&self, solver: &str) -> Result<()> {
        only_for("--beta", self.beta.is_some(), solver, SolverChoice::Rda)?;
        let descent = SolverChoice::MirrorDescent;
        only_for("--step-size", self.step_size.is_some(), solver, descent)?;
        only_for("--step-schedule", self.step_schedule.is_some(), solver, descent)?;
        only_for("--smoothness", self.smoothness.is_some(), solver, SolverChoice::AcceleratedRda)
    }

    /// The method of a solver with these settings.
    pub fn method(&self, solver: SolverChoice) -> Method {
        match solver {
            SolverChoice::Auto => Method::Auto,
            SolverChoice::Rda => Method::Rda { beta: self.beta.unwrap_or(0.0) },
            SolverChoice::MirrorDescent => Method::MirrorDescent {
                schedule: match self.step_schedule {
                    Some(ScheduleChoice::Inverse) => StepSchedule::Inverse,
                    None => StepSchedule::Constant(self.step_size.unwrap_or(0.1)),
                },
            },
            SolverChoice::AcceleratedRda => Method::AcceleratedRda { smoothness: self.smoothness },
            SolverChoice::Adaptive => Method::Adaptive,
            SolverChoice::Dual => Method::Dual,
            SolverChoice::Newton => Method::Newton,
        }
    }
}

/// Refuses a flag that belongs to another solver.
pub fn only_for(flag: &str, given: bool, solver: &str, expected: SolverChoice) -> Result<()> {
    let expected = name(expected);
    if !given || solver == expected {
        return Ok(());
    }
    Err(bad_input(format!("{flag} needs --solver {expected}, found --solver {solver}")))
}

/// The name of a choice on the command line.
pub fn name(choice: impl ValueEnum) -> String {
    choice.to_possible_value().map_or(String::new(), |value| value.get_name().to_string())
}

/// The error of a setting, named as the flag.
pub fn out_of_range(error: SolveError) -> anyhow::Error {
    match error {
        SolveError::Setting { setting, found, expected } => bad_input(format!(
            "--{}: found {found}, expected {expected}",
            setting.replace(' ', "-")
        )),
        other => anyhow::anyhow!(other),
    }
}
