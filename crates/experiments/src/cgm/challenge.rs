//! The simulator's weights, learned from the public challenge data.

use std::path::Path;

use serde::Serialize;
use thiserror::Error;

use super::files::{FileError, read_seasons, side, simulator, start_in_first};
use super::instance::REACH;
use bethe_flows::data::Cells;
use bethe_flows::infer::FlowError;
use bethe_flows::learn::{LearnSettings, Season, learn};

/// The simulator's own weights.
const TRUTH: [f64; 4] = [5.0, 10.0, 10.0, 10.0];

/// Why nothing was learned.
#[derive(Debug, Error)]
pub enum ChallengeError {
    /// A file.
    #[error(transparent)]
    File(#[from] FileError),
    /// A problem.
    #[error(transparent)]
    Flow(#[from] FlowError),
}

/// What was learned.
#[derive(Clone, Debug, Serialize)]
pub struct Challenge {
    /// The data.
    pub data: String,
    /// Individuals.
    pub population: f64,
    /// The weights of stride, goal, wind and staying.
    pub weights: Vec<f64>,
    /// The simulator's.
    pub true_weights: [f64; 4],
    /// The largest relative error of a weight.
    pub largest_error: f64,
    /// `α`, which is 1.
    pub rate: f64,
    /// Rounds of hard EM.
    pub rounds: usize,
    /// Whether it converged.
    pub converged: bool,
    /// Counts that no bird can have made, which were left out.
    pub impossible_counts: usize,
}

/// Learns the weights from the training seasons of a folder; all start at 1, the rate at 1.
pub fn challenge(
    folder: &Path,
    prefix: &str,
    population: f64,
) -> Result<Challenge, ChallengeError> {
    let file = |what: &str| folder.join(format!("{prefix}-train-{what}.csv"));
    let recorded = read_seasons(&file("observations"), &file("wind-inferred"))?;
    let count = recorded.first().map_or(0, |season| season.observations.cells());
    let cells = Cells::grid(side(count), side(count));
    let mut impossible_counts = 0;
    let mut seasons = Vec::new();
    for season in recorded {
        let mut season = Season {
            movement: simulator(&cells, season.winds, [1.0; 4], Some(REACH)),
            start: Some(start_in_first(count)),
            observations: season.observations,
            population,
        };
        impossible_counts += season.forget_impossible(&cells).len();
        seasons.push(season);
    }
    let learned = learn(&cells, &seasons, 1.0, &LearnSettings::default(), &mut |_| {})?;
    let errors =
        learned.weights.iter().zip(TRUTH).map(|(found, truth)| (found / truth - 1.0).abs());
    Ok(Challenge {
        data: prefix.to_string(),
        population,
        largest_error: errors.fold(0.0, f64::max),
        weights: learned.weights,
        true_weights: TRUTH,
        rate: learned.rate,
        rounds: learned.rounds,
        converged: learned.converged,
        impossible_counts,
    })
}
