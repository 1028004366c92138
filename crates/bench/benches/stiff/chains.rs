//! Chains with every marginal measured, at weights that leave the model no say, and targets that no
//! chain can have.

use bethe_core::{Energy, Model, Penalty, Problem, Term};
use rand::rngs::StdRng;
use rand::{Rng, SeedableRng};

pub const POSITIONS: usize = 50;
pub const STATES: usize = 12;
pub const WEIGHTS: [f64; 3] = [300.0, 3000.0, 30_000.0];
pub const PENALTIES: [&str; 4] = ["squared", "huber", "absolute", "poisson"];

/// Scores of states and of successive states are between ± this.
const SCORE: f64 = 2.0;
/// Where Huber's square ends.
const DELTA: f64 = 0.05;

/// A chain, and a target for every position that was drawn without looking at it.
pub fn problem(name: &str, weight: f64, seed: u64) -> Problem {
    let mut rng = StdRng::seed_from_u64(seed);
    let mut model = Model::new(&[STATES; POSITIONS]).expect("a few states");
    let mut table = |cells: usize| -> Vec<f64> {
        (0..cells).map(|_| rng.random_range(-SCORE..SCORE)).collect()
    };
    let transitions = table(STATES * STATES);
    for position in 0..POSITIONS {
        model.add_factor(&[position], &table(STATES)).expect("a table of scores");
        if position > 0 {
            model.add_factor(&[position - 1, position], &transitions).expect("a table of scores");
        }
    }
    let mut energies = Vec::new();
    for position in 0..POSITIONS {
        for state in 0..STATES {
            // Targets of a position sum to about 6: no distribution meets them.
            let target = rng.random_range(0.0..1.0);
            let mut coefficients = vec![0.0; STATES];
            coefficients[state] = 1.0;
            let terms = vec![Term { scope: vec![position], coefficients }];
            let (penalty, offset) = penalty(name, target);
            energies.push(Energy::Measurement { weight, penalty, offset, terms });
        }
    }
    Problem::new(model, energies).expect("measurements of a chain")
}

/// The penalty on a marginal for missing its target, and the offset that belongs to it.
fn penalty(name: &str, target: f64) -> (Penalty, f64) {
    match name {
        "squared" => (Penalty::Squared, -target),
        "huber" => (Penalty::Huber { delta: DELTA }, -target),
        "absolute" => (Penalty::Absolute, -target),
        "poisson" => (Penalty::Poisson { rate: 1.0, count: target }, 0.0),
        other => unreachable!("{other} is none of {PENALTIES:?}"),
    }
}
