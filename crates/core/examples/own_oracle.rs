//! An oracle of your own: anything that computes marginals and log-partitions serves every solver.
//!
//! Here `k` out of `n` items are chosen, by their scores: a recursion over the items. As a
//! graphical model it would be one factor over all of them.
//!
//! `cargo run -p bethe-core --example own_oracle`

use bethe_core::energy::{Energies, Measurements};
use bethe_core::oracle::Exactness;
use bethe_core::solve::{Ignore, Task, solve};
use bethe_core::{Oracle, Penalty, Settings, Support, Tables};

/// Subsets of `chosen` items, with probability in proportion to `exp Σ scores`.
struct Subsets {
    scores: Vec<f64>,
    chosen: usize,
    support: Support,
    /// The tilted scores of the latest call.
    tilted: Vec<f64>,
}

impl Subsets {
    /// `log Σ` over the subsets of so many of these items.
    fn log_sum(scores: impl Iterator<Item = f64>, chosen: usize) -> f64 {
        let mut sums = vec![f64::NEG_INFINITY; chosen + 1];
        sums[0] = 0.0;
        for score in scores {
            for size in (1..=chosen).rev() {
                let (without, with) = (sums[size], sums[size - 1] + score);
                let (high, low) = (without.max(with), without.min(with));
                sums[size] = if high == f64::NEG_INFINITY {
                    high
                } else {
                    high + (low - high).exp().ln_1p()
                };
            }
        }
        sums[chosen]
    }

    /// The probability of each item: subsets that have it, over all.
    fn probabilities(&self, log_partition: f64) -> Vec<f64> {
        let of = |item: usize| {
            let others = self.tilted.iter().enumerate().filter(|(other, _)| *other != item);
            let rest = Self::log_sum(others.map(|(_, &score)| score), self.chosen - 1);
            (self.tilted[item] + rest - log_partition).exp()
        };
        (0..self.tilted.len()).map(of).collect()
    }
}

/// One table per item, `[P(not chosen), P(chosen)]`, each a block of the support.
impl Oracle for Subsets {
    fn exactness(&self) -> Exactness {
        Exactness::Exact
    }

    fn support(&self) -> &Support {
        &self.support
    }

    fn tilted(&mut self, tilt: &[f64], marginals: &mut [f64]) -> f64 {
        // What the tilt gives to both states is a constant.
        let constant: f64 = tilt.iter().step_by(2).sum();
        for (item, tilted) in self.tilted.iter_mut().enumerate() {
            *tilted = self.scores[item] + tilt[2 * item + 1] - tilt[2 * item];
        }
        let log_partition = Self::log_sum(self.tilted.iter().copied(), self.chosen);
        for (item, probability) in self.probabilities(log_partition).into_iter().enumerate() {
            marginals[2 * item] = 1.0 - probability;
            marginals[2 * item + 1] = probability;
        }
        log_partition + constant
    }

    fn visit_marginals(&mut self, tables: Tables, visit: &mut dyn FnMut(usize, &mut Vec<f64>)) {
        if tables == Tables::None {
            return;
        }
        let log_partition = Self::log_sum(self.tilted.iter().copied(), self.chosen);
        for (item, probability) in self.probabilities(log_partition).into_iter().enumerate() {
            visit(item, &mut vec![1.0 - probability, probability]);
        }
    }

    fn decode(&mut self, tilt: &[f64], assignment: &mut [usize]) -> f64 {
        let score = |item: usize| self.scores[item] + tilt[2 * item + 1] - tilt[2 * item];
        let mut best: Vec<usize> = (0..self.scores.len()).collect();
        best.sort_by(|&a, &b| score(b).total_cmp(&score(a)));
        assignment.fill(0);
        best[..self.chosen].iter().for_each(|&item| assignment[item] = 1);
        let constant: f64 = tilt.iter().step_by(2).sum();
        constant + best[..self.chosen].iter().map(|&item| score(item)).sum::<f64>()
    }
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let scores = vec![1.0, 0.8, 0.6, 0.0, -0.2, -0.4];
    let mut support = Support::new();
    for item in 0..scores.len() {
        support.add(vec![item], 2);
    }
    // Of the three chosen, at most one and a half of the first three are to be expected.
    let mut measurements = Measurements::default();
    let first = (0..3).map(|item| (2 * item + 1, 1.0));
    measurements.rows_mut().push(first, &[-1.5], (-1.5, 1.5));
    measurements.push(1.0, Penalty::AtMost);
    let mut energies = Energies::of_measurements(support.clone(), measurements);
    let tilted = scores.clone();
    let mut oracle = Subsets { scores, chosen: 3, support, tilted };
    let task = Task::new(&mut oracle, &mut energies);
    let solution = solve(task, &Settings::default(), &mut Ignore)?;

    let chosen: Vec<f64> = solution.marginals.iter().skip(1).step_by(2).copied().collect();
    println!("P(chosen) = {chosen:.3?}, gap {:.0e}", solution.gap.unwrap());
    assert!((chosen.iter().sum::<f64>() - 3.0).abs() < 1e-9);
    assert!((chosen[..3].iter().sum::<f64>() - 1.5).abs() < 1e-6);
    assert!(solution.multipliers[0] > 0.0);
    Ok(())
}
