use anyhow::{Result, anyhow};
use bethe_core::solve::SolveError;
use bethe_core::{MemoryLimit, Settings};
use bethe_tagging::{TagError, TagOptions, Tagger};
use bethe_terminal::{bad_input, time};
use clap::Args;

use crate::memory::MemoryFlag;
use crate::solver::{SolverChoice, StepFlags, out_of_range};

/// Inference under rules: whether, how, and for how long.
#[derive(Args)]
pub struct LimitFlags {
    /// Use the base model without rules
    #[arg(long, conflicts_with_all = ["solver", "max_iterations", "tolerance", "time_limit"])]
    pub no_rules: bool,

    /// Solver for inference under rules
    #[arg(long, value_enum, default_value_t = SolverChoice::Auto)]
    pub solver: SolverChoice,

    /// Stop after this many iterations, per sequence
    #[arg(long, value_name = "N", allow_negative_numbers = true, default_value_t = 40)]
    pub max_iterations: usize,

    /// Converged when gap ≤ tolerance · max(1, |objective|)
    #[arg(long, value_name = "NUMBER", default_value_t = 1e-4, allow_negative_numbers = true)]
    pub tolerance: f64,

    /// Stop after this time, per sequence, e.g. 5ms (ns, us, ms, s, m)
    #[arg(long, value_name = "TIME", allow_hyphen_values = true)]
    pub time_limit: Option<String>,

    #[command(flatten)]
    memory: MemoryFlag,
}

impl LimitFlags {
    /// The memory for a file that is read before any sequence.
    pub fn whole_memory(&self) -> Result<MemoryLimit> {
        self.memory.limit()
    }

    /// The memory for each sequence, if this many threads tag at once.
    pub fn memory(&self, threads: usize) -> Result<MemoryLimit> {
        Ok(self.memory.limit()?.shared_by(threads))
    }

    /// The options for this tagger.
    pub fn options(&self, tagger: &Tagger) -> Result<TagOptions> {
        let time_limit = self.time_limit.as_deref();
        let inference = Settings {
            method: StepFlags::default().method(self.solver),
            tolerance: self.tolerance,
            max_iterations: self.max_iterations,
            time_limit: time_limit.map(|text| time::parse("--time-limit", text)).transpose()?,
            ..Settings::default()
        };
        let options = TagOptions { rules: !self.no_rules, inference, ..TagOptions::default() };
        tagger.check(&options).map_err(refused)?;
        Ok(options)
    }
}

/// What the library refuses, in the words of the flags.
fn refused(error: TagError) -> anyhow::Error {
    match error {
        TagError::Solve(SolveError::Unserved { solver, energy, expected }) => bad_input(format!(
            "--solver: found {solver}, which does not support the model's {energy}, expected \
             {expected}"
        )),
        TagError::Solve(error) => out_of_range(error),
        other => anyhow!(other),
    }
}
