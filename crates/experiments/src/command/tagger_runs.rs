//! What experiments that train taggers share at a terminal.

use std::time::Instant;

use anyhow::Result;
use bethe_tagging::train::Event;
use bethe_terminal::{Progress, bad_input, threads};
use clap::Args;
use rayon::ThreadPool;

/// Flags of experiments that train taggers.
#[derive(Args)]
pub struct RunFlags {
    /// Seed for draws, folds, stochastic steps and resamples
    #[arg(long, default_value_t = 0, allow_negative_numbers = true)]
    pub seed: u64,

    /// Limit on iterations of training a base model; fewer are faster and less accurate [default: those of the
    /// published results]
    #[arg(long, value_name = "N", allow_negative_numbers = true)]
    pub max_iterations: Option<usize>,

    /// Number of threads [default: all cores]
    #[arg(long, value_name = "N", allow_negative_numbers = true)]
    pub threads: Option<usize>,

    /// No progress on standard error
    #[arg(long)]
    pub quiet: bool,
}

impl RunFlags {
    /// Checks the flags, and starts the threads.
    pub fn pool(&self) -> Result<ThreadPool> {
        if self.max_iterations == Some(0) {
            return Err(bad_input("--max-iterations: found 0, expected at least 1"));
        }
        threads::pool(self.threads)
    }
}

/// Shows that something new begins, with the time since the start.
pub fn show_stage(progress: &mut Progress, begun: Instant, text: &str) {
    progress.line(&format!("{:6.0} s  {text}", begun.elapsed().as_secs_f64()));
}

/// Shows how training goes.
pub fn show_training(progress: &mut Progress, event: Event) {
    match event {
        Event::Warning(text) => progress.always(&format!("warning: {text}")),
        event if event.is_passing() => progress.passing(|| event.to_string()),
        event => progress.line(&event.to_string()),
    }
}
