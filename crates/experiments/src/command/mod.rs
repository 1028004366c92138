//! One file per subcommand: flags, then the library's call, then files.

mod cgm;
mod citation;
mod demo;
mod flows;
mod grids;
mod handwriting;
mod ocr;
mod references;
mod results;
mod rules;
mod tagger_runs;

use anyhow::Result;
use bethe_terminal::Outcome;
use clap::{Parser, Subcommand};

/// The experiments of "Bethe Projections for Non-Local Inference", from data to tables and figures.
#[derive(Parser)]
#[command(name = "bethe-reproduce", version, propagate_version = true)]
pub struct Command {
    #[command(subcommand)]
    experiment: Experiment,
}

#[derive(Subcommand)]
enum Experiment {
    Citation(citation::Flags),
    Ocr(ocr::Flags),
    Cgm(cgm::Flags),
    Flows(flows::Flags),
    Rules(rules::Flags),
    References(references::Flags),
    Demo(demo::Flags),
}

impl Command {
    /// Runs the experiment.
    pub fn run(self) -> Result<Outcome> {
        match self.experiment {
            Experiment::Citation(flags) => citation::run(flags),
            Experiment::Ocr(flags) => ocr::run(flags),
            Experiment::Cgm(flags) => cgm::run(flags),
            Experiment::Flows(flags) => flows::run(flags),
            Experiment::Rules(flags) => rules::run(flags),
            Experiment::References(flags) => references::run(flags),
            Experiment::Demo(flags) => demo::run(flags),
        }
    }
}
