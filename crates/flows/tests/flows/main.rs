//! Flows from counts: energies, inference, files and pictures.

mod energy;
mod files;
mod inference;
mod outputs;
mod solvers;
mod trees;
mod uncertainty;

use bethe_core::solve::Ignore;
use bethe_core::{Cancel, Energy, Model, Penalty, Problem, Settings, Term};
use bethe_flows::data::{Cells, Observations};
use bethe_flows::energy::Noise;
use bethe_flows::infer::{FlowProblem, Flows};
use bethe_flows::model::{Feature, FeatureKind, Movement, Moves};
use bethe_flows::simulate::simulate;
use rand::SeedableRng;
use rand::rngs::StdRng;

pub(crate) const POPULATION: u64 = 60;

/// A simulated migration, small enough for dense tables.
#[derive(Clone)]
pub(crate) struct Migration {
    pub(crate) cells: Cells,
    pub(crate) moves: Moves,
    pub(crate) start: Vec<f64>,
    pub(crate) observations: Observations,
}

impl Migration {
    /// On a grid of `side × side` cells, of which all are within reach or only the neighbours.
    pub(crate) fn new(side: usize, times: usize, reach: Option<f64>) -> Self {
        let cells = Cells::grid(side, side);
        let feature = |name: &str, kind, weight| Feature { name: name.to_string(), kind, weight };
        let winds = (0..times).map(|time| [(1.0, 0.0), (0.0, 1.0)][time % 2]).collect();
        let movement = Movement {
            features: vec![
                feature("stay", FeatureKind::Stay(1.0), 0.5),
                feature("distance", FeatureKind::Distance, -1.0),
                feature("goal", FeatureKind::Goal(cells.len() - 1), 1.0),
                feature("wind", FeatureKind::Wind(winds), 0.7),
            ],
            reach,
            normalised: true,
        };
        let moves = movement.moves(&cells, times);
        let mut born = vec![0; cells.len()];
        born[0] = POPULATION;
        let mut rng = StdRng::seed_from_u64(7);
        let simulated = simulate(&moves, &born, times - 1, &mut rng);
        let observations = simulated.observe(cells.len(), 1.0, &mut rng);
        // One time and one cell that nobody looked at.
        let missing = |time: usize| time == 2;
        let mut thinned = Observations::new(cells.len());
        for time in 0..times {
            let counts = observations.at(time).iter().enumerate();
            let seen = counts.map(|(cell, y)| y.filter(|_| !missing(time) && cell != 1));
            thinned.push(observations.times()[time].clone(), seen);
        }
        let start = (0..cells.len()).map(|cell| -cells.distance(0, cell)).collect();
        Self { cells, moves, start, observations: thinned }
    }

    pub(crate) fn problem<'a>(&'a self, noise: &'a Noise) -> FlowProblem<'a> {
        FlowProblem {
            moves: &self.moves,
            start: Some(&self.start),
            observations: &self.observations,
            noise,
            population: POPULATION as f64,
            cancel: Cancel::never(),
        }
    }

    pub(crate) fn solve(&self, noise: &Noise) -> Flows {
        self.problem(noise).solve(&precise(), &mut Ignore).unwrap()
    }
}

pub(crate) fn noises() -> [Noise; 4] {
    [
        Noise::Poisson { rate: vec![1.0] },
        Noise::Poisson { rate: (1..=9).map(|rate| 0.5 * f64::from(rate)).collect() },
        Noise::Gaussian { rate: vec![1.0], variance: 4.0 },
        Noise::Squared { weight: 90.0 },
    ]
}

/// Shares for squared error, counts for the others.
pub(crate) fn fitting(migration: &mut Migration, noise: &Noise) {
    if matches!(noise, Noise::Squared { .. }) {
        migration.observations = migration.observations.map(|_, y| Some(y / POPULATION as f64));
    }
}

pub(crate) fn precise() -> Settings {
    Settings { tolerance: 1e-10, ..Settings::default() }
}

/// The same problem as one of `bethe solve`, over dense tables: a node for each of `parents`, with
/// a table to its parent.
pub(crate) fn dense_problem(
    migration: &Migration,
    noise: &Noise,
    parents: &[Option<usize>],
    step_of: impl Fn(usize) -> usize,
) -> Problem {
    let cells = migration.cells.len();
    let mut model = Model::new(&vec![cells; parents.len()]).unwrap();
    model.add_factor(&[0], &migration.start).unwrap();
    for (node, parent) in parents.iter().enumerate() {
        let Some(parent) = *parent else { continue };
        let table = &migration.moves.tables[migration.moves.of_step[step_of(node)]];
        let mut dense = vec![f64::NEG_INFINITY; cells * cells];
        for from in 0..cells {
            for (&to, &value) in table.row(from).0.iter().zip(table.row(from).1) {
                dense[from * cells + to as usize] = value;
            }
        }
        model.add_factor(&[parent, node], &dense).unwrap();
    }
    let population = POPULATION as f64;
    let mut energies = Vec::new();
    for time in 0..parents.len() {
        for (cell, count) in migration.observations.at(time).iter().enumerate() {
            let Some(count) = *count else { continue };
            let rate = noise.rate(cell);
            let (weight, penalty, offset) = match *noise {
                Noise::Poisson { .. } => {
                    (1.0 / population, Penalty::Poisson { rate: rate * population, count }, 0.0)
                }
                Noise::Gaussian { variance, .. } => {
                    let weight = rate * rate * population / variance;
                    (weight, Penalty::Squared, -count / (rate * population))
                }
                Noise::Squared { weight } => (weight, Penalty::Squared, -count),
            };
            let mut coefficients = vec![0.0; cells];
            coefficients[cell] = 1.0;
            let terms = vec![Term { scope: vec![time], coefficients }];
            energies.push(Energy::Measurement { weight, penalty, offset, terms });
        }
    }
    Problem::new(model, energies).unwrap()
}

/// Whether all numbers are within a tolerance of each other.
pub(crate) fn close(a: &[f64], b: &[f64], tolerance: f64) -> bool {
    a.len() == b.len() && a.iter().zip(b).all(|(x, y)| (x - y).abs() <= tolerance)
}
