//! `bethe reproduce`: the paper's experiments, from data to tables and figures.

mod cgm;
mod citation;
mod ocr;
mod progress;

use anyhow::Result;
use clap::{Args, Subcommand};

use crate::outcome::Outcome;

/// Run one of the paper's experiments: tables and figures from data.
#[derive(Args)]
pub struct Flags {
    #[command(subcommand)]
    experiment: Experiment,
}

#[derive(Subcommand)]
enum Experiment {
    Citation(citation::Flags),
    Ocr(ocr::Flags),
    Cgm(cgm::Flags),
}

/// Runs the experiment.
pub fn run(flags: Flags) -> Result<Outcome> {
    match flags.experiment {
        Experiment::Citation(flags) => citation::run(flags),
        Experiment::Ocr(flags) => ocr::run(flags),
        Experiment::Cgm(flags) => cgm::run(flags),
    }
}
