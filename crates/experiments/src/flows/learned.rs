//! Flows of the public simulator's seasons, by laws that are learned or not, against the truth.

use std::collections::HashMap;
use std::path::Path;

use bethe_core::solve::Ignore;
use bethe_core::{Cancel, MemoryLimit, Settings};
use bethe_flows::data::{Cells, Covariate, Observations};
use bethe_flows::energy::Noise;
use bethe_flows::infer::{FlowError, FlowProblem, Flows, fit};
use bethe_flows::learn::{Choice, Learner, Prior, choose, learn_with};
use bethe_flows::model::{Feature, FeatureKind, Movement, Moves, Stated, Winds};
use bethe_flows::simulate::Simulated;
use bethe_flows::uncertainty::{Bootstrap, StandardErrors, UnknownLaw};
use serde::Serialize;

use super::Error;
use crate::cgm::{REACH, read_seasons, read_truth};

/// Individuals of the simulator.
const POPULATION: f64 = 1000.0;
/// Populations of a bootstrap.
const REPLICATES: usize = 20;
/// What individuals follow where nothing else is known, and where it is.
const PLAIN: &str = "stay,distance";
const KNOWN: [&str; 2] = ["stay,distance,stride,wind,goal:", "Cell"];

/// How close flows are to the truth, on average over seasons.
#[derive(Clone, Debug, Serialize)]
pub struct Learned {
    /// The side of the grid.
    pub side: usize,
    /// What was learned.
    pub movement: &'static str,
    /// The error of flows, `Σ |inferred − true| / Σ true`.
    pub flows: f64,
    /// The same for counts.
    pub counts: f64,
    /// Mean deviance per count.
    pub deviance: f64,
    /// The share of true counts within two standard errors, where at least one individual is
    /// expected.
    pub counts_covered: f64,
    /// The same for flows.
    pub flows_covered: f64,
    /// The same for counts, with standard errors of a bootstrap, which learns again.
    pub counts_bootstrapped: f64,
    /// The same for flows.
    pub flows_bootstrapped: f64,
    /// Problems solved to learn the law.
    pub solves: f64,
}

/// A season with its truth.
struct Season {
    cells: Cells,
    observations: Observations,
    winds: Winds,
    truth: Simulated,
}

/// Moves under which flows are inferred, where they start, and what it cost to learn them.
struct Law {
    moves: Moves,
    start: Option<Vec<f64>>,
    /// The prior of pulls.
    prior: Option<Prior>,
    /// What learning left open.
    unknown: Option<UnknownLaw>,
    solves: usize,
}

/// Ways to find a law.
const WAYS: [&str; 3] = ["`--fit none`", "learned", "learned, wind and goal known"];

/// Means over the seeds of a grid, for each way.
pub(super) fn compare(folder: &Path, side: usize, seeds: u64) -> Result<Vec<Learned>, Error> {
    let mut rows = WAYS.map(|movement| Learned {
        side,
        movement,
        flows: 0.0,
        counts: 0.0,
        deviance: 0.0,
        counts_covered: 0.0,
        flows_covered: 0.0,
        counts_bootstrapped: 0.0,
        flows_bootstrapped: 0.0,
        solves: 0.0,
    });
    for seed in 0..seeds {
        let season = Season::read(folder, side, seed)?;
        for (way, row) in rows.iter_mut().enumerate() {
            season.add(way, row)?;
        }
    }
    for row in &mut rows {
        let numbers = [&mut row.flows, &mut row.counts, &mut row.deviance, &mut row.solves];
        let covered = [&mut row.counts_covered, &mut row.flows_covered];
        let again = [&mut row.counts_bootstrapped, &mut row.flows_bootstrapped];
        numbers.into_iter().chain(covered).chain(again).for_each(|sum| *sum /= seeds as f64);
    }
    Ok(rows.to_vec())
}

impl Season {
    fn read(folder: &Path, side: usize, seed: u64) -> Result<Self, Error> {
        let file =
            |what: &str| folder.join(format!("L{side}x{side}_M1000_T20_s{seed}.{what}.csv.gz"));
        let mut recorded = read_seasons(&file("obs"), &file("wind"))?;
        let season = recorded.swap_remove(0);
        let truth = read_truth(&file("true_counts"), &file("true_flows"))?;
        let cells = Cells::grid(side, side);
        Ok(Self { cells, observations: season.observations, winds: season.winds, truth })
    }

    /// How individuals may move, before weights are learned.
    fn stated(&self, way: usize) -> Movement {
        let last = format!("{}{}{}", KNOWN[0], KNOWN[1], self.cells.len());
        match way {
            0 => self.movement("distance", None),
            1 => self.movement(PLAIN, None),
            _ => self.movement(&last, Some(REACH)),
        }
    }

    /// The law that these counts teach, under the prior that is given, or the best.
    fn law(
        &self,
        way: usize,
        observations: &Observations,
        given: Option<Option<Prior>>,
    ) -> Result<Law, FlowError> {
        let movement = self.stated(way);
        let steps = observations.times().len() - 1;
        if way == 0 {
            let moves = movement.moves(&self.cells, steps);
            return Ok(Law { moves, start: None, prior: None, unknown: None, solves: 1 });
        }
        let learned = vec![true; movement.features.len()];
        let noise = noise();
        let learner = Learner {
            cells: &self.cells,
            movement: &movement,
            learned: &learned,
            bent: movement.features.iter().position(|feature| feature.name == "distance"),
            start: None,
            observations,
            noise: &noise,
            population: POPULATION,
            cancel: Cancel::never(),
            deadline: None,
        };
        let choice = match given {
            Some(prior) => learn_with(&learner, prior, &mut |_| ())?,
            None => choose(&learner, &mut |_| ())?,
        };
        let moves = choice.law.moves(&self.cells, steps, MemoryLimit::default());
        let moves = moves.expect("a grid of some hundred cells fits");
        let unknown = Some(learner.unknown_law(&choice));
        let Choice { law, prior, solves, .. } = choice;
        Ok(Law { moves, start: law.start, prior, unknown, solves })
    }

    /// Features with the weights that learning begins with.
    fn movement(&self, features: &str, reach: Option<f64>) -> Movement {
        let kind = FeatureKind::Wind(self.winds.clone());
        let wind = Covariate { name: "wind".to_string(), kind };
        let stated = Stated::parse_list(features, &self.cells, &[wind]);
        let own = |stated: Stated| Feature {
            weight: if stated.feature.name == "distance" { -1.0 } else { 0.0 },
            ..stated.feature
        };
        let features = stated.expect("features are known").into_iter().map(own).collect();
        Movement { features, reach, normalised: true }
    }
}

fn noise() -> Noise {
    Noise::Poisson { rate: vec![1.0] }
}

impl Law {
    fn flows(&self, observations: &Observations) -> Result<Flows, FlowError> {
        let noise = noise();
        let problem = FlowProblem {
            moves: &self.moves,
            start: self.start.as_deref(),
            observations,
            noise: &noise,
            population: POPULATION,
            cancel: Cancel::never(),
        };
        problem.solve(&Settings::default(), &mut Ignore)
    }
}

impl Season {
    /// Adds how near the flows are to the truth.
    fn add(&self, way: usize, row: &mut Learned) -> Result<(), FlowError> {
        let noise = noise();
        let law = self.law(way, &self.observations, None)?;
        let mut flows = law.flows(&self.observations)?;
        let counts = flows.counts();
        let fits = fit(&self.observations, &counts, &noise, POPULATION);
        let deviance = |own: &bethe_flows::infer::Fit| own.mean_deviance.unwrap_or(0.0);
        row.deviance += fits.iter().map(deviance).sum::<f64>() / fits.len() as f64;
        row.solves += law.solves as f64;
        let seen = (&self.observations, &noise);
        let limits = (0.0, MemoryLimit::default());
        let errors = StandardErrors::new(&mut flows, seen, law.unknown.as_ref(), limits)
            .expect("a grid of some hundred cells fits");
        let [in_counts, in_flows] = self.nearness(&mut flows, &errors);
        row.counts += in_counts[0];
        row.counts_covered += in_counts[1];
        row.flows += in_flows[0];
        row.flows_covered += in_flows[1];
        let errors = self.bootstrap(way, &law, &mut flows)?;
        let [in_counts, in_flows] = self.nearness(&mut flows, &errors);
        row.counts_bootstrapped += in_counts[1];
        row.flows_bootstrapped += in_flows[1];
        Ok(())
    }

    /// Standard errors by populations that are counted and learned from again.
    fn bootstrap(
        &self,
        way: usize,
        law: &Law,
        flows: &mut Flows,
    ) -> Result<StandardErrors, FlowError> {
        let bootstrap = Bootstrap {
            observations: &self.observations,
            noise: &noise(),
            population: POPULATION,
            law: None,
            replicates: REPLICATES,
            seed: 0,
        };
        let mut infer = |counts: &Observations| {
            self.law(way, counts, Some(law.prior)).and_then(|law| law.flows(counts))
        };
        Ok(bootstrap.run(flows, (0.0, false), &mut infer)?.errors)
    }

    /// [`nearness`] of counts, and of flows.
    fn nearness(&self, flows: &mut Flows, errors: &StandardErrors) -> [[f64; 2]; 2] {
        let counts = flows.counts();
        let compared = counts.iter().zip(&self.truth.counts).zip(&errors.counts);
        let of_counts = nearness(compared.map(|((a, b), error)| (*a, *b as f64, *error)));
        [of_counts, nearness(moved(flows, &self.truth, &errors.flows).into_iter())]
    }
}

/// Inferred and true numbers of all moves, with standard errors.
fn moved(flows: &mut Flows, truth: &Simulated, errors: &[f64]) -> Vec<(f64, f64, f64)> {
    let key = |&(step, from, to, number): &(usize, usize, usize, u64)| ((step, from, to), number);
    let mut left: HashMap<_, u64> = truth.flows.iter().map(key).collect();
    let mut listed = Vec::new();
    flows.visit(&mut |step, from, to, number| listed.push(((step, from, to), number)));
    listed.retain(|(_, number)| *number > 0.0);
    listed.sort_unstable_by_key(|own| own.0);
    let mut numbers: Vec<(f64, f64, f64)> = listed
        .iter()
        .zip(errors)
        .map(|((key, number), error)| (*number, left.remove(key).unwrap_or(0) as f64, *error))
        .collect();
    numbers.extend(left.values().map(|&number| (0.0, number as f64, 0.0)));
    numbers
}

/// The relative error of all numbers, and the share of those of at least 1 that two standard errors
/// cover.
fn nearness(numbers: impl Iterator<Item = (f64, f64, f64)>) -> [f64; 2] {
    let (mut off, mut total, mut covered, mut compared) = (0.0, 0.0, 0usize, 0usize);
    for (inferred, truth, error) in numbers {
        off += (inferred - truth).abs();
        total += truth;
        if inferred >= 1.0 {
            compared += 1;
            covered += usize::from((inferred - truth).abs() <= 2.0 * error);
        }
    }
    [off / total, covered as f64 / compared.max(1) as f64]
}

#[cfg(test)]
mod tests {
    use super::nearness;

    #[test]
    fn errors_are_relative_and_only_numbers_of_at_least_one_are_covered_or_not() {
        let numbers = [(10.0, 12.0, 1.0), (4.0, 9.0, 2.0), (0.5, 0.0, 0.0)];
        assert_eq!(nearness(numbers.into_iter()), [7.5 / 21.0, 0.5]);
    }
}
