//! The problems of the comparison.

use std::path::Path;
use std::sync::Arc;

use rand::rngs::StdRng;
use rand::{Rng, SeedableRng};

use bethe_core::Cancel;

use super::files::{FileError, read_seasons, read_truth, side, simulator, start_in_first};
use bethe_flows::data::{Cells, Observations};
use bethe_flows::energy::Noise;
use bethe_flows::infer::FlowProblem;
use bethe_flows::model::{Feature, FeatureKind, Movement, Moves};
use bethe_flows::simulate::{Simulated, simulate};

/// Times of every simulated problem.
pub const TIMES: usize = 20;

/// Moves of the public simulator reach this far, in cells: `√18`.
pub const REACH: f64 = 3.0 * std::f64::consts::SQRT_2;

/// A problem with its truth.
#[derive(Clone, Debug)]
pub struct Instance {
    /// The name in tables.
    pub name: String,
    /// Moves between two times: the cardinality of an edge table.
    pub size: usize,
    /// The moves that inference assumes.
    pub moves: Moves,
    /// Log-probabilities of the first time's cells. `[cells]`
    pub start: Vec<f64>,
    /// What was counted.
    pub observations: Observations,
    /// `α`
    pub rate: f64,
    /// Individuals.
    pub population: f64,
    /// The true movement.
    pub truth: Simulated,
}

/// How a simulated problem differs from the first family.
#[derive(Clone, Copy, Debug)]
pub struct Variation {
    /// `α`
    pub rate: f64,
    /// The weight of distance, with a minus.
    pub distance: f64,
    /// Individuals.
    pub population: u64,
    /// Whether inference assumes the opposite direction of flight.
    pub wrong: bool,
}

impl Default for Variation {
    fn default() -> Self {
        Self { rate: 1.0, distance: 1.0, population: 1000, wrong: false }
    }
}

/// Problems of the hard set, by name.
pub fn hard_set() -> Vec<(&'static str, Variation)> {
    let base = Variation::default();
    vec![
        ("alpha10", Variation { rate: 10.0, ..base }),
        ("sticky", Variation { distance: 4.0, ..base }),
        ("sparse", Variation { population: 100, ..base }),
        ("wrong-theta", Variation { wrong: true, ..base }),
        ("wrong-theta-alpha10", Variation { rate: 10.0, wrong: true, ..base }),
    ]
}

impl Instance {
    /// Individuals that cross a grid from its near corner to the far one, with a wind of its own
    /// every night: `0.5` for staying, else `−distance + cos(goal) + 0.7 cos(wind)`, rows
    /// normalised; start `∝ exp(−distance to the near corner)`.
    pub fn simulated(name: &str, side: usize, seed: u64, variation: Variation) -> Self {
        let cells = Cells::grid(side, side);
        let mut rng = StdRng::seed_from_u64(seed);
        let winds: Vec<(f64, f64)> = (1..TIMES)
            .map(|_| {
                let angle: f64 = rng.random_range(0.0..std::f64::consts::TAU);
                (angle.cos(), angle.sin())
            })
            .collect();
        let feature = |name: &str, kind, weight| Feature { name: name.to_string(), kind, weight };
        let movement = |sign: f64| Movement {
            features: vec![
                feature("stay", FeatureKind::Stay(1.0), 0.5),
                feature("distance", FeatureKind::Distance, -variation.distance),
                feature("goal", FeatureKind::Goal(cells.len() - 1), sign),
                feature("wind", FeatureKind::Wind(Arc::from(&winds[..])), 0.7 * sign),
            ],
            reach: None,
            normalised: true,
        };
        let true_moves = movement(1.0).moves(&cells, TIMES - 1);
        let near: Vec<f64> = (0..cells.len()).map(|cell| -cells.distance(0, cell)).collect();
        let total: f64 = near.iter().map(|score| score.exp()).sum();
        let start: Vec<f64> = near.iter().map(|score| score - total.ln()).collect();
        let mut born = vec![0; cells.len()];
        for _ in 0..variation.population {
            let mut left: f64 = rng.random_range(0.0..1.0);
            let stops = |score: &f64| {
                left -= score.exp();
                left < 0.0
            };
            born[start.iter().position(stops).unwrap_or(cells.len() - 1)] += 1;
        }
        let truth = simulate(&true_moves, &born, TIMES - 1, &mut rng);
        let observations = truth.observe(cells.len(), variation.rate, &mut rng);
        let moves = match variation.wrong {
            true => movement(-1.0).moves(&cells, TIMES - 1),
            false => true_moves,
        };
        Self {
            name: name.to_string(),
            size: cells.len() * cells.len(),
            moves,
            start,
            observations,
            rate: variation.rate,
            population: variation.population as f64,
            truth,
        }
    }

    /// A season of the public simulator, with the weights that it was made with: files
    /// `NAME.obs.csv.gz`, `NAME.wind.csv.gz`, `NAME.true_counts.csv.gz` and
    /// `NAME.true_flows.csv.gz`.
    pub fn recorded(name: &str, folder: &Path, file: &str) -> Result<Self, FileError> {
        let path = |what: &str| folder.join(format!("{file}.{what}.csv.gz"));
        let season = read_seasons(&path("obs"), &path("wind"))?.swap_remove(0);
        let truth = read_truth(&path("true_counts"), &path("true_flows"))?;
        let count = season.observations.cells();
        let cells = Cells::grid(side(count), side(count));
        let movement = simulator(&cells, season.winds, [5.0, 10.0, 10.0, 10.0], Some(REACH));
        let moves = movement.moves(&cells, season.observations.times().len() - 1);
        Ok(Self {
            name: name.to_string(),
            size: count * count,
            moves,
            start: start_in_first(count),
            population: truth.counts[..count].iter().sum::<u64>() as f64,
            observations: season.observations,
            rate: 1.0,
            truth,
        })
    }

    /// The energy of the counts.
    pub fn noise(&self) -> Noise {
        Noise::Poisson { rate: vec![self.rate] }
    }

    /// The problem that solvers get.
    pub fn problem<'a>(&'a self, noise: &'a Noise) -> FlowProblem<'a> {
        FlowProblem {
            moves: &self.moves,
            start: Some(&self.start),
            observations: &self.observations,
            noise,
            population: self.population,
            cancel: Cancel::never(),
        }
    }
}
