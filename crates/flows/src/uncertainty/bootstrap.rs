use std::collections::HashMap;

use bethe_core::MemoryLimit;
use bethe_core::solve::SolveError;
use rand::SeedableRng;
use rand::rngs::StdRng;
use rand_distr::{Binomial, Distribution, Normal, Poisson};

use super::{StandardErrors, UnknownLaw};
use crate::data::Observations;
use crate::energy::Noise;
use crate::infer::{FlowError, Flows};

/// Populations that move as was inferred, counted and inferred again.
pub struct Bootstrap<'a> {
    /// What was counted; populations are counted at the same places.
    pub observations: &'a Observations,
    /// The distribution of counts.
    pub noise: &'a Noise,
    /// How many individuals there are.
    pub population: f64,
    /// The law that was learned, for standard errors by the curvature to compare with.
    pub law: Option<&'a UnknownLaw>,
    /// How many populations.
    pub replicates: usize,
    /// The seed of the draws.
    pub seed: u64,
}

/// What a bootstrap found.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Bootstrapped {
    /// Populations that there was time for. Without any there are no errors.
    pub replicates: usize,
    /// Root mean squares of inferred less true numbers.
    pub errors: StandardErrors,
    /// The share of the populations' true counts, where at least one individual is expected, that is
    /// within two standard errors `M·J` of the inferred ones; `None` if these were not computed.
    pub coverage: Option<f64>,
    /// These standard errors over those of the bootstrap, root mean squares of both.
    pub ratio: Option<f64>,
}

/// Floating-point numbers cannot tell larger populations apart.
const LARGEST: f64 = 1e15;
/// A share of the rest that rounding cannot tell from all of it.
const ALL: f64 = 1.0 - 1e-9;

/// Individuals by step, cell before and cell after.
type Moved = HashMap<(usize, usize, usize), f64>;

/// Sums over populations.
#[derive(Default)]
struct Sums {
    counts: Vec<f64>,
    flows: Vec<f64>,
    covered: usize,
    compared: usize,
    /// Squares of standard errors and of errors, where they are compared.
    squares: (f64, f64),
}

impl Bootstrap<'_> {
    /// Draws populations and infers their movement by `infer`. The errors of flows are those of more
    /// individuals than the threshold. Where inference runs out of time, it was the last population.
    ///
    /// # Errors
    /// Others of inference.
    pub fn run(
        &self,
        flows: &mut Flows,
        (threshold, compares): (f64, bool),
        infer: &mut dyn FnMut(&Observations) -> Result<Flows, FlowError>,
    ) -> Result<Bootstrapped, FlowError> {
        let mut listed = Vec::new();
        flows.visit(&mut |step, from, to, number| {
            if number > threshold {
                listed.push((step, from, to));
            }
        });
        listed.sort_unstable();
        let counts = flows.counts();
        let noise = self.residual(&counts);
        let mut sums = Sums {
            counts: vec![0.0; counts.len()],
            flows: vec![0.0; listed.len()],
            ..Sums::default()
        };
        let mut rng = StdRng::seed_from_u64(self.seed);
        let mut replicates = 0;
        while replicates < self.replicates {
            let (truth, moved) = self.draw(flows, &counts, &mut rng);
            let observed = self.observe(&truth, noise, &mut rng);
            let mut inferred = match infer(&observed) {
                Err(FlowError::Solve(SolveError::OutOfTime)) => break,
                inferred => inferred?,
            };
            replicates += 1;
            let found = inferred.counts();
            for ((sum, found), truth) in sums.counts.iter_mut().zip(&found).zip(&truth) {
                *sum += (found - truth).powi(2);
            }
            let mut of_moves = Moved::new();
            inferred.visit(&mut |step, from, to, number| {
                of_moves.insert((step, from, to), number);
            });
            for (sum, key) in sums.flows.iter_mut().zip(&listed) {
                let number = |of: &Moved| of.get(key).copied().unwrap_or(0.0);
                *sum += (number(&of_moves) - number(&moved)).powi(2);
            }
            if compares {
                let counted = (&observed, self.noise);
                let all = (f64::MAX, MemoryLimit::default());
                if let Ok(own) = StandardErrors::new(&mut inferred, counted, self.law, all) {
                    sums.compare(&own.counts, &found, &truth);
                }
            }
        }
        if replicates == 0 {
            return Ok(Bootstrapped::default());
        }
        let root = |sum: &f64| (sum / replicates as f64).sqrt();
        let errors = StandardErrors {
            counts: sums.counts.iter().map(root).collect(),
            flows: sums.flows.iter().map(root).collect(),
        };
        let compared = sums.compared > 0;
        Ok(Bootstrapped {
            replicates,
            errors,
            coverage: compared.then(|| sums.covered as f64 / sums.compared as f64),
            ratio: compared.then(|| (sums.squares.0 / sums.squares.1).sqrt()),
        })
    }

    /// A population: individuals by time and cell, and their moves. Those of a cell are dealt out
    /// to the next cells one after another, so the work does not grow with the population.
    fn draw(&self, flows: &mut Flows, expected: &[f64], rng: &mut StdRng) -> (Vec<f64>, Moved) {
        let cells = self.observations.cells();
        let mut counts = vec![0.0; expected.len()];
        let mut all = Rest {
            individuals: self.population.round().min(LARGEST),
            expected: expected[..cells].iter().sum(),
        };
        for (count, &expected) in counts.iter_mut().zip(&expected[..cells]) {
            *count = all.deal(expected, rng);
        }
        let (mut moved, mut rest) = (Moved::new(), Vec::new());
        let mut last = None;
        flows.visit(&mut |step, from, to, number| {
            if last.replace(step) != Some(step) {
                let own = counts[step * cells..].iter().zip(&expected[step * cells..]).take(cells);
                rest =
                    own.map(|(&individuals, &expected)| Rest { individuals, expected }).collect();
            }
            let dealt = rest[from].deal(number, rng);
            if dealt > 0.0 {
                counts[(step + 1) * cells + to] += dealt;
                moved.insert((step, from, to), dealt);
            }
        });
        (counts, moved)
    }

    /// For squared errors, the root mean square of the shares' errors, since they have no variance.
    fn residual(&self, counts: &[f64]) -> f64 {
        let cells = self.observations.cells();
        let error = |(at, count): (usize, &f64)| {
            let share = self.observations.at(at / cells)[at % cells]?;
            Some((count / self.population - share).powi(2))
        };
        let squares: Vec<f64> = counts.iter().enumerate().filter_map(error).collect();
        (squares.iter().sum::<f64>() / squares.len().max(1) as f64).sqrt()
    }

    /// Counts of a population where there were counts before.
    fn observe(&self, truth: &[f64], residual: f64, rng: &mut StdRng) -> Observations {
        let cells = self.observations.cells();
        let mut observed = Observations::new(cells);
        for (time, name) in self.observations.times().iter().enumerate() {
            let mut count = |(cell, before): (usize, &Option<f64>)| {
                (*before)?;
                let expected =
                    self.noise.expected(cell, truth[time * cells + cell], self.population);
                let mut normal = |deviation: f64| {
                    Normal::new(expected, deviation)
                        .map_or(expected, |own| own.sample(rng))
                        .max(0.0)
                };
                Some(match *self.noise {
                    Noise::Poisson { .. } => {
                        Poisson::new(expected).map_or(expected, |own| own.sample(rng))
                    }
                    Noise::Gaussian { variance, .. } => normal(variance.sqrt()),
                    Noise::Squared { .. } => normal(residual),
                })
            };
            let counts: Vec<Option<f64>> =
                self.observations.at(time).iter().enumerate().map(&mut count).collect();
            observed.push(name.clone(), counts);
            (0..cells)
                .filter(|&cell| !self.observations.is_open(time, cell))
                .for_each(|cell| observed.close(time, cell));
        }
        observed
    }
}

/// Individuals that are not dealt out yet, and how many are expected.
struct Rest {
    individuals: f64,
    expected: f64,
}

impl Rest {
    /// Draws how many of them are where this many are expected.
    fn deal(&mut self, expected: f64, rng: &mut StdRng) -> f64 {
        if self.individuals <= 0.0 || expected <= 0.0 {
            return 0.0;
        }
        let share = if expected >= ALL * self.expected { 1.0 } else { expected / self.expected };
        let number = self.individuals as u64;
        let dealt = Binomial::new(number, share).map_or(0, |own| own.sample(rng)) as f64;
        self.individuals -= dealt;
        self.expected -= expected;
        dealt
    }
}

impl Sums {
    fn compare(&mut self, errors: &[f64], found: &[f64], truth: &[f64]) {
        for ((error, found), truth) in errors.iter().zip(found).zip(truth) {
            if *found >= 1.0 {
                self.compared += 1;
                self.covered += usize::from((found - truth).abs() <= 2.0 * error);
                self.squares.0 += error * error;
                self.squares.1 += (found - truth).powi(2);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn everybody_is_dealt_out_by_expected_shares() {
        let mut rng = StdRng::seed_from_u64(1);
        let expected = [0.1, 0.0, 0.3, 0.6];
        for population in [1.0, 1000.0, 1e12] {
            let mut rest = Rest { individuals: population, expected: 1.0 };
            let dealt = expected.map(|expected| rest.deal(expected, &mut rng));
            assert_eq!(dealt.iter().sum::<f64>(), population);
            for (dealt, share) in dealt.iter().zip(expected) {
                let deviation = (population * share * (1.0 - share)).sqrt();
                assert!((dealt - population * share).abs() <= 5.0 * deviation, "{dealt} {share}");
            }
        }
    }
}
