//! Hard EM: weights of features and the counting rate, from the counts of one or more seasons.
//!
//! Moves are locally normalised, `p(j|i) ∝ exp(w·f_t(i,j))`. In turn,
//!
//! * the most likely movement `n` of every season is found under the current weights, and
//! * weights and rate are set to the most likely ones under this movement: `w` by Newton's method
//!   on the concave `Σ n_t(i,j) log p_t(j|i)`, `α = Σ y / Σ n` over what was counted.
//!
//! If counts do not determine the movement, the most likely movement is not a typical one, and the
//! weights that explain it best are biased. If they do (a population that starts together, as in
//! the challenge data), the weights are recovered.
//!
//! This is Algorithm 2 in this model. Both steps lower the same objective, `M` times `F` summed
//! over seasons. If counts say little about flows, progress is slow; so every few rounds the change
//! of the weights is extrapolated (Aitken) and kept if the objective falls.

use bethe_core::solve::Ignore;
use bethe_core::{Cancel, Settings, Status, solve_positive};

use crate::data::{Cells, Observations};
use crate::energy::Noise;
use crate::infer::{FlowError, FlowProblem};
use crate::model::{Movement, Moves};

/// A season of counts.
#[derive(Clone, Debug)]
pub struct Season {
    /// The movement model; its weights are the start of learning and the same in all seasons.
    pub movement: Movement,
    /// Log-potentials of the first time's cells; equal if `None`.
    pub start: Option<Vec<f64>>,
    /// What was counted.
    pub observations: Observations,
    /// Individuals.
    pub population: f64,
}

impl Season {
    /// Removes counts in cells that no sequence of moves leads to; returns `(time, cell, count)`.
    pub fn forget_impossible(&mut self, cells: &Cells) -> Vec<(usize, usize, f64)> {
        let steps = self.observations.times().len().saturating_sub(1);
        let found = FlowProblem {
            moves: &self.movement.moves(cells, steps),
            start: self.start.as_deref(),
            observations: &self.observations,
            noise: &Noise::Poisson { rate: vec![1.0] },
            population: self.population,
            cancel: Cancel::never(),
        }
        .impossible();
        found.iter().for_each(|&(time, cell, _)| self.observations.forget(time, cell));
        found
    }
}

/// When to stop.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct LearnSettings {
    /// Most rounds.
    pub rounds: usize,
    /// Stops when no weight, nor the rate, changes by more than this fraction of its size (at least
    /// 1).
    pub tolerance: f64,
    /// Whether the rate is learned too.
    pub learn_rate: bool,
}

impl Default for LearnSettings {
    fn default() -> Self {
        Self { rounds: 500, tolerance: 1e-4, learn_rate: true }
    }
}

/// What was learned.
#[derive(Clone, Debug, PartialEq)]
pub struct Learned {
    /// The weight of each feature.
    pub weights: Vec<f64>,
    /// `α`
    pub rate: f64,
    /// Rounds taken.
    pub rounds: usize,
    /// Whether changes became small.
    pub converged: bool,
    /// The sum over seasons of `M` times the optimum of `F`.
    pub objective: f64,
}

/// A round, for the observer.
#[derive(Clone, Debug, PartialEq)]
pub struct Round {
    /// Its number, from 1.
    pub round: usize,
    /// Weights after it.
    pub weights: Vec<f64>,
    /// Rate after it.
    pub rate: f64,
    /// The objective before it.
    pub objective: f64,
}

/// Learns the weights of the seasons' features and the Poisson rate of their counts.
///
/// # Panics
/// If there are no seasons, their features differ, or a movement is not normalised.
pub fn learn(
    cells: &Cells,
    seasons: &[Season],
    rate: f64,
    settings: &LearnSettings,
    observe: &mut dyn FnMut(&Round),
) -> Result<Learned, FlowError> {
    let mut learner = Learner::new(cells, seasons, settings);
    let mut now = Parameters { weights: learner.first_weights(), rate };
    let (mut objective, mut expected) = learner.expect(&now)?;
    let mut changes: Vec<Vec<f64>> = Vec::new();
    for round in 1..=settings.rounds {
        let next = learner.maximise(&expected, &now);
        let change = now.change_to(&next);
        observe(&Round { round, weights: next.weights.clone(), rate: next.rate, objective });
        let small = now.is_near(&next, settings.tolerance);
        now = next;
        (objective, expected) = learner.expect(&now)?;
        if small {
            return Ok(Learned {
                weights: now.weights,
                rate: now.rate,
                rounds: round,
                converged: true,
                objective,
            });
        }
        changes.push(change);
        if changes.len() >= EXTRAPOLATE_EVERY {
            if let Some(far) = now.extrapolate(&changes) {
                let (there, expected_there) = learner.expect(&far)?;
                if there < objective {
                    (now, objective, expected) = (far, there, expected_there);
                }
            }
            changes.clear();
        }
    }
    let Parameters { weights, rate } = now;
    Ok(Learned { weights, rate, rounds: settings.rounds, converged: false, objective })
}

/// Rounds between extrapolations; the last two changes give the ratio.
const EXTRAPOLATE_EVERY: usize = 4;
/// Changes are extrapolated to at most this many times the last one.
const FARTHEST: f64 = 50.0;

#[derive(Clone, Debug)]
struct Parameters {
    weights: Vec<f64>,
    rate: f64,
}

impl Parameters {
    fn change_to(&self, next: &Self) -> Vec<f64> {
        let changes = next.weights.iter().zip(&self.weights).map(|(new, old)| new - old);
        changes.chain([(next.rate / self.rate).ln()]).collect()
    }

    fn is_near(&self, next: &Self, tolerance: f64) -> bool {
        let sizes = next.weights.iter().map(|weight| weight.abs().max(1.0)).chain([1.0]);
        self.change_to(next)
            .iter()
            .zip(sizes)
            .all(|(change, size)| change.abs() <= tolerance * size)
    }

    /// The limit of the changes if they kept shrinking at the last rate.
    fn extrapolate(&self, changes: &[Vec<f64>]) -> Option<Self> {
        let [.., before, last] = changes else { return None };
        let dot = |a: &[f64], b: &[f64]| a.iter().zip(b).map(|(a, b)| a * b).sum::<f64>();
        let ratio = dot(last, before) / dot(before, before);
        if !(ratio > 0.0 && ratio < 1.0) {
            return None;
        }
        let factor = (ratio / (1.0 - ratio)).min(FARTHEST);
        let (rate_change, weight_changes) = last.split_last()?;
        let weights = self.weights.iter().zip(weight_changes);
        Some(Self {
            weights: weights.map(|(weight, change)| weight + factor * change).collect(),
            rate: self.rate * (factor * rate_change).exp(),
        })
    }
}

/// A season, with the values of its features.
struct Prepared<'a> {
    season: &'a Season,
    /// Of each move, feature after feature, in the order of the tables. `[tables][moves][features]`
    values: Vec<Vec<f64>>,
    /// With the current weights.
    moves: Moves,
}

/// Expected moves. `[seasons][tables][moves]`
struct Expected {
    moves: Vec<Vec<Vec<f64>>>,
    /// Counted, and expected where it was counted.
    counted: (f64, f64),
}

struct Learner<'a> {
    seasons: Vec<Prepared<'a>>,
    features: usize,
    settings: &'a LearnSettings,
}

impl<'a> Learner<'a> {
    fn new(cells: &Cells, seasons: &'a [Season], settings: &'a LearnSettings) -> Self {
        let features = seasons[0].movement.features.len();
        let prepare = |season: &'a Season| {
            assert_eq!(season.movement.features.len(), features, "features of every season");
            assert!(season.movement.normalised, "moves with probabilities");
            let steps = season.observations.times().len().saturating_sub(1);
            let moves = season.movement.moves(cells, steps);
            let table_values = |table: usize| {
                let step = moves.of_step.iter().position(|&own| own == table).unwrap_or(0);
                let transitions = &moves.tables[table];
                let mut values = Vec::with_capacity(transitions.len() * features);
                for from in 0..cells.len() {
                    for &to in transitions.row(from).0 {
                        let kinds = season.movement.features.iter().map(|feature| &feature.kind);
                        values
                            .extend(kinds.map(|kind| kind.value(cells, step, (from, to as usize))));
                    }
                }
                values
            };
            let values = (0..moves.tables.len()).map(table_values).collect();
            Prepared { season, values, moves }
        };
        Self { seasons: seasons.iter().map(prepare).collect(), features, settings }
    }

    fn first_weights(&self) -> Vec<f64> {
        let features = &self.seasons[0].season.movement.features;
        features.iter().map(|feature| feature.weight).collect()
    }

    /// The most likely movement of every season.
    fn expect(&mut self, parameters: &Parameters) -> Result<(f64, Expected), FlowError> {
        let mut objective = 0.0;
        let mut expected = Expected { moves: Vec::new(), counted: (0.0, 0.0) };
        let noise = Noise::Poisson { rate: vec![parameters.rate] };
        for prepared in &mut self.seasons {
            prepared.set_weights(&parameters.weights);
            let Season { start, observations, population, .. } = prepared.season;
            let problem = FlowProblem {
                moves: &prepared.moves,
                start: start.as_deref(),
                observations,
                noise: &noise,
                population: *population,
                cancel: Cancel::never(),
            };
            let settings = Settings { tolerance: 1e-9, ..Settings::default() };
            let mut flows = problem.solve(&settings, &mut Ignore)?;
            debug_assert_ne!(flows.solution.status, Status::Infeasible);
            objective += population * flows.solution.objective;
            expected.moves.push(prepared.gather(&mut flows));
            let counts = flows.counts();
            let cells = observations.cells();
            for (time, counts) in counts.chunks(cells).enumerate() {
                for (count, expectation) in observations.at(time).iter().zip(counts) {
                    let Some(count) = count else { continue };
                    expected.counted.0 += count;
                    expected.counted.1 += expectation;
                }
            }
        }
        Ok((objective, expected))
    }

    /// The most likely weights and rate, given movements.
    fn maximise(&self, expected: &Expected, now: &Parameters) -> Parameters {
        let mut weights = now.weights.clone();
        let mut value = self.likelihood(expected, &weights).0;
        for _ in 0..50 {
            let (_, gradient, hessian) = self.likelihood(expected, &weights);
            let Some(direction) = solve_symmetric(hessian, &gradient) else { break };
            let slope: f64 = gradient.iter().zip(&direction).map(|(g, d)| g * d).sum();
            let mut step = 1.0;
            let mut moved = false;
            while step > 1e-6 {
                let trial: Vec<f64> =
                    weights.iter().zip(&direction).map(|(w, d)| w + step * d).collect();
                let there = self.likelihood(expected, &trial).0;
                if there >= value + 1e-4 * step * slope {
                    (moved, weights, value) = (there > value, trial, there);
                    break;
                }
                step /= 2.0;
            }
            if !moved || slope <= 1e-12 * value.abs().max(1.0) {
                break;
            }
        }
        let (counted, expectation) = expected.counted;
        let learned = self.settings.learn_rate && counted > 0.0 && expectation > 0.0;
        Parameters { weights, rate: if learned { counted / expectation } else { now.rate } }
    }

    /// `Σ n log p`, its gradient and minus its Hessian (`[features][features]`).
    fn likelihood(&self, expected: &Expected, weights: &[f64]) -> (f64, Vec<f64>, Vec<f64>) {
        let size = self.features;
        let mut sums = (0.0, vec![0.0; size], vec![0.0; size * size]);
        for (prepared, numbers) in self.seasons.iter().zip(&expected.moves) {
            for (table, numbers) in numbers.iter().enumerate() {
                let (transitions, values) =
                    (&prepared.moves.tables[table], &prepared.values[table]);
                let mut first = 0;
                for from in 0..transitions.shape().0 {
                    let end = first + transitions.row(from).0.len();
                    let own = (&numbers[first..end], &values[first * size..end * size]);
                    add_row(own, weights, &mut sums);
                    first = end;
                }
            }
        }
        sums
    }
}

/// Adds the terms of the moves from one cell.
fn add_row(
    (numbers, values): (&[f64], &[f64]),
    weights: &[f64],
    (value, gradient, hessian): &mut (f64, Vec<f64>, Vec<f64>),
) {
    let total: f64 = numbers.iter().sum();
    if total <= 0.0 {
        return;
    }
    let size = weights.len();
    let rows = || values.chunks(size);
    let score = |row: &[f64]| row.iter().zip(weights).map(|(f, w)| f * w).sum::<f64>();
    let scores: Vec<f64> = rows().map(score).collect();
    let highest = scores.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    let sum: f64 = scores.iter().map(|score| (score - highest).exp()).sum();
    let log_sum = highest + sum.ln();
    let mut mean = vec![0.0; size];
    let mut square = vec![0.0; size * size];
    for ((row, score), number) in rows().zip(&scores).zip(numbers) {
        let log_probability = score - log_sum;
        let probability = log_probability.exp();
        *value += number * log_probability;
        for (a, &f) in row.iter().enumerate() {
            gradient[a] += number * f;
            mean[a] += probability * f;
            for (b, &g) in row.iter().enumerate() {
                square[a * size + b] += probability * f * g;
            }
        }
    }
    for a in 0..size {
        gradient[a] -= total * mean[a];
        for b in 0..size {
            hessian[a * size + b] += total * (square[a * size + b] - mean[a] * mean[b]);
        }
    }
}

impl Prepared<'_> {
    /// Moves under other weights.
    fn set_weights(&mut self, weights: &[f64]) {
        let size = weights.len();
        for (transitions, values) in self.moves.tables.iter_mut().zip(&self.values) {
            let mut rows = values.chunks(size);
            for from in 0..transitions.shape().0 {
                let row = transitions.row_mut(from);
                for (log_potential, values) in row.iter_mut().zip(&mut rows) {
                    *log_potential = values.iter().zip(weights).map(|(f, w)| f * w).sum();
                }
                crate::model::normalise(row);
            }
        }
    }

    /// How many moved, summed over the steps of each table. `[tables][moves]`
    fn gather(&self, flows: &mut crate::infer::Flows) -> Vec<Vec<f64>> {
        let tables = &self.moves.tables;
        let mut numbers: Vec<Vec<f64>> = tables.iter().map(|t| vec![0.0; t.len()]).collect();
        flows.visit_totals(&mut |step, from, to, number| {
            let table = self.moves.of_step[step];
            if let Some(place) = tables[table].find(from, to) {
                numbers[table][place] += number;
            }
        });
        numbers
    }
}

/// The solution of `H x = g` for a positive definite `H`, with a little added to the diagonal where
/// it is singular; `None` for numbers that are not finite.
fn solve_symmetric(mut matrix: Vec<f64>, right: &[f64]) -> Option<Vec<f64>> {
    let size = right.len();
    let scale = (0..size).map(|i| matrix[i * size + i]).fold(0.0, f64::max);
    if !(scale > 0.0 && scale.is_finite()) {
        return None;
    }
    for i in 0..size {
        matrix[i * size + i] += 1e-10 * scale;
    }
    let mut solution = right.to_vec();
    solve_positive(&mut matrix, &mut solution, 1e-12 * scale);
    solution.iter().all(|value| value.is_finite()).then_some(solution)
}
