//! The smoother against one large linear system, with the response to a law by finite differences.

use bethe_core::solve::Ignore;
use bethe_core::{Cancel, MemoryLimit, Settings, solve_positive};

use super::{StandardErrors, UnknownLaw, transitions, variances, zeros};
use crate::data::{Cells, Observations};
use crate::energy::Noise;
use crate::infer::{FlowProblem, Flows};
use crate::learn::{Learner, Prior, learn_with};
use crate::model::{Feature, FeatureKind, Movement};

const CELLS: usize = 3;
const TIMES: usize = 4;
const POPULATION: f64 = 200.0;

/// Everything random, as a linear function of independent numbers with these variances.
struct Linear {
    variances: Vec<f64>,
    /// `[times][cells]`, `[steps][from][to]`, as rows over these numbers.
    counts: Vec<Vec<f64>>,
    flows: Vec<Vec<f64>>,
}

/// Probabilities of moves under parameters of a law that differ from those that were learned.
fn moved(law: &UnknownLaw, step: usize, moves: &[f64], change: &[f64]) -> Vec<f64> {
    let (weights, pulls) = change.split_at(law.variances.len());
    let (pulls, drift) = pulls.split_at(if law.prior.is_some() { CELLS } else { 0 });
    let mut all = moves.to_vec();
    for (from, row) in all.chunks_mut(CELLS).enumerate() {
        for (to, own) in row.iter_mut().enumerate() {
            let slopes = law.slopes_of(step, from, to).iter();
            let mut score: f64 = slopes.zip(weights).map(|(slope, w)| slope * w).sum();
            score += pulls.get(to).copied().unwrap_or(0.0);
            score += drift.iter().zip(&law.positions[to]).map(|(d, x)| d * x).sum::<f64>();
            *own *= score.exp();
        }
        let total: f64 = row.iter().sum();
        row.iter_mut().for_each(|own| *own /= total);
    }
    all
}

/// A row plus another one, times a factor.
fn add(row: &mut [f64], factor: f64, other: &[f64]) {
    row.iter_mut().zip(other).for_each(|(sum, value)| *sum += factor * value);
}

impl Linear {
    fn new(flows: &mut Flows, law: &UnknownLaw) -> Self {
        let counts = flows.counts();
        let (moves, _) = transitions(flows, CELLS, &counts, f64::INFINITY);
        let flat = |step: usize| -> Vec<f64> {
            (0..CELLS * CELLS).map(|at| moves[step].at(at / CELLS, at % CELLS)).collect()
        };
        let unknowns = law.size();
        let size = CELLS + unknowns + (TIMES - 1) * (CELLS * CELLS + unknowns);
        let prior = law.prior.unwrap_or(Prior { first: 0.0, change: 0.0, drift: 0.0 });
        let weights = law.variances.len();
        // How unknown the start is, less that its shares sum to 1: as deviations from their mean.
        let mut own_variances = vec![0.5 * POPULATION * POPULATION / CELLS as f64; CELLS];
        own_variances.extend(&law.variances);
        let of_pulls = |variance: f64, drift: f64| {
            let pulls = vec![variance; if law.prior.is_some() { CELLS } else { 0 }];
            let drifts = vec![drift; unknowns - weights - pulls.len()];
            [pulls, drifts].concat()
        };
        own_variances.extend(of_pulls(prior.first.powi(2), prior.drift.powi(2)));
        let unit = |at: usize| -> Vec<f64> {
            (0..size).map(|place| f64::from(u8::from(place == at))).collect()
        };
        let mut now: Vec<Vec<f64>> = (0..CELLS + unknowns).map(unit).collect();
        let mean: Vec<f64> =
            (0..size).map(|at| if at < CELLS { 1.0 / CELLS as f64 } else { 0.0 }).collect();
        now[..CELLS].iter_mut().for_each(|row| add(row, -1.0, &mean));
        let mut linear =
            Self { variances: own_variances, counts: now[..CELLS].to_vec(), flows: Vec::new() };
        for step in 0..TIMES - 1 {
            let (tables, own) = (flat(step), &counts[step * CELLS..][..CELLS]);
            let mut of_step = Vec::new();
            for at in 0..CELLS * CELLS {
                let (from, to) = (at / CELLS, at % CELLS);
                let mut row = vec![0.0; size];
                add(&mut row, tables[at], &now[from]);
                for unknown in 0..unknowns {
                    let p = |by: f64| {
                        let mut change = vec![0.0; unknowns];
                        change[unknown] = by;
                        moved(law, step, &tables, &change)[at]
                    };
                    let slope = (p(1e-5) - p(-1e-5)) / 2e-5;
                    add(&mut row, own[from] * slope, &now[CELLS + unknown]);
                }
                // Multinomial: independent numbers, less the part of their sum.
                let first = linear.variances.len();
                for other in 0..CELLS {
                    let part = f64::from(u8::from(other == to)) - tables[at];
                    row[first + from * CELLS + other] += part;
                }
                of_step.push(row);
            }
            let multinomial = (0..CELLS * CELLS).map(|at| own[at / CELLS] * tables[at]);
            linear.variances.extend(multinomial);
            let first = linear.variances.len();
            linear.variances.extend(vec![0.0; weights]);
            linear.variances.extend(of_pulls(prior.change.powi(2), prior.drift.powi(2)));
            for to in 0..CELLS {
                now[to] = vec![0.0; size];
                (0..CELLS).for_each(|from| add(&mut now[to], 1.0, &of_step[from * CELLS + to]));
            }
            for (unknown, row) in now[CELLS..].iter_mut().enumerate() {
                let is_drift = law.prior.is_some() && unknown >= weights + CELLS;
                if is_drift {
                    row.fill(0.0);
                }
                row[first + unknown] = 1.0;
            }
            linear.counts.extend(now[..CELLS].to_vec());
            linear.flows.extend(of_step);
        }
        linear
    }

    /// The standard deviation of a row, given what was measured with these variances.
    fn error(&self, row: &[f64], measured: &[(usize, f64)]) -> f64 {
        let covariance = |a: &[f64], b: &[f64]| -> f64 {
            a.iter().zip(b).zip(&self.variances).map(|((a, b), v)| a * b * v).sum()
        };
        let rows: Vec<&Vec<f64>> = measured.iter().map(|&(at, _)| &self.counts[at]).collect();
        let mut matrix: Vec<f64> =
            rows.iter().flat_map(|a| rows.iter().map(|b| covariance(a, b))).collect();
        for (place, (_, variance)) in measured.iter().enumerate() {
            matrix[place * measured.len() + place] += variance;
        }
        let with: Vec<f64> = rows.iter().map(|own| covariance(own, row)).collect();
        let mut solved = with.clone();
        solve_positive(&mut matrix, &mut solved, 0.0);
        let explained: f64 = with.iter().zip(&solved).map(|(a, b)| a * b).sum();
        (covariance(row, row) - explained).max(0.0).sqrt()
    }
}

fn check(prior: Option<Prior>) {
    let cells = Cells::grid(3, 1);
    let power = FeatureKind::Power { unit: 1.0, exponent: 1.0 };
    let feature = |name: &str, kind, weight| Feature { name: name.to_string(), kind, weight };
    let features =
        vec![feature("stay", FeatureKind::Stay(1.0), 0.0), feature("distance", power, -1.0)];
    let movement = Movement { features, reach: None, normalised: true };
    let mut observations = Observations::new(CELLS);
    let counts = [[120.0, 60.0, 0.0], [90.0, 70.0, 31.0], [71.0, 80.0, 52.0], [60.0, 71.0, 70.0]];
    for (time, counts) in counts.iter().enumerate() {
        // A cell that nobody looked at, once.
        let seen = |(cell, &count): (usize, &f64)| Some(count).filter(|_| (time, cell) != (2, 1));
        observations.push(time.to_string(), counts.iter().enumerate().map(seen));
    }
    let noise = Noise::Poisson { rate: vec![1.0] };
    let learner = Learner {
        cells: &cells,
        movement: &movement,
        learned: &[true, true],
        bent: Some(1),
        start: None,
        observations: &observations,
        noise: &noise,
        population: POPULATION,
        cancel: Cancel::never(),
        deadline: None,
    };
    let choice = learn_with(&learner, prior, &mut |_| ()).unwrap();
    let law = learner.unknown_law(&choice);
    let moves = choice.law.moves(&cells, TIMES - 1, MemoryLimit::default()).unwrap();
    let problem = FlowProblem {
        moves: &moves,
        start: choice.law.start.as_deref(),
        observations: &observations,
        noise: &noise,
        population: POPULATION,
        cancel: Cancel::never(),
    };
    let mut flows = problem.solve(&Settings::default(), &mut Ignore).unwrap();
    let limits = (-1.0, MemoryLimit::default());
    let found =
        StandardErrors::new(&mut flows, (&observations, &noise), Some(&law), limits).unwrap();
    let linear = Linear::new(&mut flows, &law);
    let counts = flows.counts();
    let mut measured: Vec<(usize, f64)> = Vec::new();
    for time in 0..TIMES {
        let shares: Vec<f64> =
            counts[time * CELLS..][..CELLS].iter().map(|count| count / POPULATION).collect();
        let mut own = variances(observations.at(time), &noise, &shares, POPULATION);
        if time == 0 {
            own.extend(zeros(observations.at(time), &noise, POPULATION));
        }
        measured.extend(own.iter().map(|&(cell, v)| (time * CELLS + cell, v * POPULATION)));
    }
    let near = |found: f64, row: &[f64]| {
        let expected = linear.error(row, &measured);
        assert!((found - expected).abs() < 1e-4 * (1.0 + expected), "{prior:?} {found} {expected}");
    };
    found.counts.iter().zip(&linear.counts).for_each(|(found, row)| near(*found, row));
    assert_eq!(found.flows.len(), linear.flows.len());
    found.flows.iter().zip(&linear.flows).for_each(|(found, row)| near(*found, row));
}

#[test]
fn standard_errors_under_a_learned_law_are_those_of_one_linear_system() {
    check(None);
    check(Some(Prior { first: 1.0, change: 0.3, drift: 1.0 }));
}
