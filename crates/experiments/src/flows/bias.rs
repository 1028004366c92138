//! The bias of hard EM: weights of movement that were learned from simulated populations, before and
//! after the correction.

use bethe_core::Cancel;
use bethe_flows::data::Cells;
use bethe_flows::energy::Noise;
use bethe_flows::infer::FlowError;
use bethe_flows::learn::{Learner, learn_with};
use bethe_flows::model::{Feature, FeatureKind, Movement};
use bethe_flows::simulate::simulate;
use rand::SeedableRng;
use rand::rngs::StdRng;
use rayon::prelude::*;
use serde::Serialize;

/// The map, and how long individuals move.
const SIDE: usize = 5;
const STEPS: usize = 12;
/// Weights of populations that are made: of staying, of distance, and of the goal.
const TRUTH: [f64; 3] = [1.0, -1.0, 0.5];
/// Seeds of populations; none of them was used to choose anything.
const FIRST_SEED: u64 = 1000;

/// The error of a weight, over populations.
#[derive(Clone, Debug, Serialize)]
pub struct Bias {
    /// Individuals.
    pub population: u64,
    /// The feature.
    pub feature: &'static str,
    /// Its weight.
    pub truth: f64,
    /// The mean error of hard EM.
    pub hard: f64,
    /// The mean error after the correction.
    pub corrected: f64,
    /// The standard deviation of the error between populations, after the correction.
    pub spread: f64,
    /// The share of populations whose weight is within two of its standard errors.
    pub covered: f64,
    /// How many populations.
    pub trials: u64,
}

/// A weight that was learned from one population.
#[derive(Clone, Copy)]
struct Found {
    hard: f64,
    corrected: f64,
    covered: bool,
}

/// The errors of all weights.
pub(super) fn biases(population: u64, trials: u64) -> Result<Vec<Bias>, FlowError> {
    let one = |seed: u64| learned(population, FIRST_SEED + seed);
    let found: Vec<[Found; 3]> = (0..trials).into_par_iter().map(one).collect::<Result<_, _>>()?;
    let number = trials as f64;
    let bias = |(place, feature): (usize, &'static str)| {
        let mean = |value: &dyn Fn(Found) -> f64| {
            found.iter().map(|own| value(own[place])).sum::<f64>() / number
        };
        let truth = TRUTH[place];
        let corrected = mean(&|own| own.corrected - truth);
        let square = mean(&|own| (own.corrected - truth - corrected).powi(2));
        Bias {
            population,
            feature,
            truth,
            hard: mean(&|own| own.hard - truth),
            corrected,
            spread: (square * number / (number - 1.0).max(1.0)).sqrt(),
            covered: mean(&|own| f64::from(u8::from(own.covered))),
            trials,
        }
    };
    Ok(["stay", "distance", "goal"].into_iter().enumerate().map(bias).collect())
}

fn learned(population: u64, seed: u64) -> Result<[Found; 3], FlowError> {
    let cells = Cells::grid(SIDE, SIDE);
    let mut rng = StdRng::seed_from_u64(seed);
    let mut start = vec![0; cells.len()];
    // Half of them in a corner, the others everywhere.
    start.iter_mut().for_each(|own| *own = population / 2 / cells.len() as u64);
    start[0] += population - start.iter().sum::<u64>();
    let moves = movement(&cells, TRUTH).moves(&cells, STEPS);
    let observations =
        simulate(&moves, &start, STEPS, &mut rng).observe(cells.len(), 1.0, &mut rng);
    let noise = Noise::Poisson { rate: vec![1.0] };
    let learner = Learner {
        cells: &cells,
        movement: &movement(&cells, [0.0, -1.0, 0.0]),
        learned: &[true; 3],
        bent: None,
        start: None,
        observations: &observations,
        noise: &noise,
        population: population as f64,
        cancel: Cancel::never(),
        deadline: None,
    };
    let choice = learn_with(&learner, None, &mut |_| ())?;
    Ok(std::array::from_fn(|place| {
        let corrected = choice.law.movement.features[place].weight;
        let error = choice.weight_errors[place].unwrap_or(0.0);
        Found {
            hard: corrected - choice.corrections[place].unwrap_or(0.0),
            corrected,
            covered: (corrected - TRUTH[place]).abs() <= 2.0 * error,
        }
    }))
}

fn movement(cells: &Cells, weights: [f64; 3]) -> Movement {
    let kinds = [
        FeatureKind::Stay(1.0),
        FeatureKind::Power { unit: cells.spacing(), exponent: 1.0 },
        FeatureKind::Goal(cells.len() - 1),
    ];
    let named = ["stay", "distance^1", "goal"].into_iter().zip(kinds).zip(weights);
    let features =
        named.map(|((name, kind), weight)| Feature { name: name.to_string(), kind, weight });
    Movement { features: features.collect(), reach: None, normalised: true }
}
