//! How much learning the law of movement helps: flows against the truth, what is left of the bias
//! of hard EM, BirdFlow's loss and ringed birds, large maps.

mod bias;
mod birds;
mod large;
mod learned;
mod page;

pub use bias::Bias;
pub use birds::{Fitted, Tuned};
pub use large::Large;
pub use learned::Learned;
pub use page::TABLES;

use std::path::{Path, PathBuf};

use bethe_flows::infer::FlowError;
use serde::Serialize;
use thiserror::Error;

use crate::cgm::{ChallengeError, FileError};

/// What is run.
#[derive(Clone, Debug)]
pub struct Options {
    /// Sides of the simulator's grids, and how many seeds of each.
    pub sides: Vec<(usize, u64)>,
    /// Populations whose weights are learned.
    pub populations: Vec<u64>,
    /// How many of each.
    pub trials: u64,
    /// Cells of the simulated maps, none to leave them out.
    pub large: Vec<usize>,
}

/// All that was found.
#[derive(Clone, Debug, Default, Serialize)]
pub struct Report {
    /// Flows against the truth.
    pub learned: Vec<Learned>,
    /// Weights against the truth.
    pub biases: Vec<Bias>,
    /// BirdFlow's loss.
    pub fitted: Vec<Fitted>,
    /// Weights tuned by ringed birds.
    pub tuned: Option<Tuned>,
    /// Simulated maps.
    pub large: Vec<Large>,
    /// Data that are missing.
    pub skipped: Vec<String>,
}

/// Why something cannot be run.
#[derive(Debug, Error)]
pub enum Error {
    /// A file.
    #[error(transparent)]
    File(#[from] FileError),
    /// A problem.
    #[error(transparent)]
    Flow(#[from] FlowError),
    /// A file of birds.
    #[error(transparent)]
    Birds(#[from] ChallengeError),
}

/// Runs everything that there are data for.
///
/// # Errors
/// If a file is wrong.
pub fn run(
    options: &Options,
    data: Option<&Path>,
    observe: &mut dyn FnMut(&str),
) -> Result<Report, Error> {
    let mut report = Report::default();
    for &population in &options.populations {
        observe(&format!("weights of {population} individuals"));
        report.biases.extend(bias::biases(population, options.trials)?);
    }
    let folder = |name: &str| data.map(|data| data.join("flows").join(name));
    let found = |place: &Option<PathBuf>| place.clone().filter(|own| own.is_dir());
    let synthetic = folder("synthetic");
    match found(&synthetic) {
        Some(folder) => {
            for &(side, seeds) in &options.sides {
                observe(&format!("flows on {side} × {side} cells"));
                report.learned.extend(learned::compare(&folder, side, seeds)?);
            }
        }
        None => report.skipped.push("flows/synthetic: not found".to_string()),
    }
    match found(&folder("birds")) {
        Some(folder) => {
            observe("BirdFlow's loss");
            (report.fitted, report.tuned) = birds::birds(&folder)?;
        }
        None => report.skipped.push("flows/birds: not found".to_string()),
    }
    for &cells in &options.large {
        observe(&format!("a simulated map of {cells} cells"));
        report.large.push(large::certify(cells)?);
    }
    Ok(report)
}
