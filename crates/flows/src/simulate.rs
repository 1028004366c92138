//! Populations that move as a model says, and their counts.

use rand::Rng;
use rand_distr::{Distribution, Poisson};

use super::data::Observations;
use super::model::Moves;

/// What a simulated population did.
#[derive(Clone, Debug, PartialEq)]
pub struct Simulated {
    /// Individuals per cell. `[times][cells]`
    pub counts: Vec<u64>,
    /// Moves that were made, `(step, from, to, number)`, in order.
    pub flows: Vec<(usize, usize, usize, u64)>,
}

/// Lets individuals start in cells and move.
pub fn simulate(moves: &Moves, start: &[u64], steps: usize, rng: &mut impl Rng) -> Simulated {
    let mut counts = start.to_vec();
    let mut flows = Vec::new();
    let mut now = start.to_vec();
    for step in 0..steps {
        let mut next = vec![0; now.len()];
        for (from, &number) in now.iter().enumerate().filter(|(_, number)| **number > 0) {
            let (to, probabilities) = moves.probabilities(step, from);
            let mut moved = vec![0; to.len()];
            for _ in 0..number {
                moved[draw(&probabilities, rng)] += 1;
            }
            for (&to, number) in to.iter().zip(moved).filter(|(_, number)| *number > 0) {
                flows.push((step, from, to as usize, number));
                next[to as usize] += number;
            }
        }
        counts.extend(&next);
        now = next;
    }
    Simulated { counts, flows }
}

fn draw(probabilities: &[f64], rng: &mut impl Rng) -> usize {
    let mut left: f64 = rng.random_range(0.0..1.0);
    for (place, probability) in probabilities.iter().enumerate() {
        left -= probability;
        if left < 0.0 {
            return place;
        }
    }
    probabilities.len() - 1
}

impl Simulated {
    /// Counts with Poisson noise, `y ~ Poisson(rate · n)`, at times named from 1.
    pub fn observe(&self, cells: usize, rate: f64, rng: &mut impl Rng) -> Observations {
        let mut observations = Observations::new(cells);
        for (time, counts) in self.counts.chunks(cells).enumerate() {
            let mut count = |&number: &u64| match number {
                0 => Some(0.0),
                _ => Poisson::new(rate * number as f64).ok().map(|poisson| poisson.sample(rng)),
            };
            observations.push((time + 1).to_string(), counts.iter().map(&mut count));
        }
        observations
    }
}
