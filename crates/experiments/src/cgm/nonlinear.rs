//! Non-linear belief propagation (Sun, Sheldon, Kumar 2015).
//!
//! Messages are passed forth and back along the chain. At every node, as a message arrives, the
//! tilt is set to `δ_t ← (1 − d) δ_t − d ∇L_t(μ_t)` at the marginals `μ_t` that the messages have
//! just then.
//!
//! * Needs: measurements of single cells, as counts are.
//! * Guarantees: none for convergence; every tilt, whatever it is, has a certificate from one call
//!   of the oracle: the Fenchel gaps of the measurements at the multipliers `λ = −δ`.
//! * Differs from the paper: (1) the damping `d` is halved, and the best tilt so far taken up
//!   again, when both objective and gap grow, and else recovers; (2) no tilt changes by more than 3
//!   at a time, and no slack `w·rate − λ` of a Poisson penalty shrinks by more than `e³`; (3) the
//!   tilt with the least gap is returned.

use std::ops::Range;
use std::time::Instant;

use bethe_core::Settings;
use bethe_core::energy::Measurements;
use bethe_core::model::ModelError;
use bethe_core::oracle::chain::Transitions;
use bethe_core::solve::{Observer, Record, Returned};
use bethe_core::{Oracle, Solution, Status};

use bethe_flows::infer::{BoundFlows, FlowError, FlowProblem, Flows};
use bethe_flows::model::Moves;

const FIRST_DAMPING: f64 = 0.5;
const LEAST_DAMPING: f64 = 1e-3;
const RECOVERY: f64 = 1.2;
/// No tilt changes by more than this at a time, and no logarithm of a slack falls by more.
const TILT_LIMIT: f64 = 3.0;

/// Finds the most likely movement of a population; the settings' method does not matter.
///
/// # Errors
/// If a setting is out of range, or the counts cannot be.
pub fn solve_by_nonlinear_bp(
    problem: &FlowProblem,
    settings: &Settings,
    observer: &mut dyn Observer,
) -> Result<Flows, FlowError> {
    settings.check()?;
    let mut bound = problem.bind()?;
    let solution = solve(&mut bound, problem.moves, settings, observer)?;
    Ok(Flows::new(bound, solution, problem.population))
}

/// Solves the problem; the chain is left at the solution's tilt.
fn solve(
    bound: &mut BoundFlows,
    moves: &Moves,
    settings: &Settings,
    observer: &mut dyn Observer,
) -> Result<Solution, FlowError> {
    let start = Instant::now();
    let mut run = Run::new(bound, moves)?;
    run.certify(0, start);
    let mut iteration = 0;
    let status = loop {
        iteration += 1;
        run.sweep();
        let record = run.certify(iteration, start);
        let stopped = observer.observe(&record, &run.marginals).is_break();
        let out_of_time = settings.time_limit.is_some_and(|limit| start.elapsed() >= limit);
        if run.best.gap <= settings.tolerance * run.best.objective.abs().max(1.0) {
            break Status::Converged;
        } else if stopped {
            break Status::Stopped;
        } else if out_of_time {
            break Status::TimeLimit;
        } else if iteration >= settings.max_iterations {
            break Status::IterationLimit;
        }
    };
    Ok(run.finish(status, iteration, start))
}

/// The counts of one time.
struct Counted {
    /// First coordinate of its cells in the support.
    first: usize,
    rows: Range<usize>,
}

struct Run<'a> {
    bound: &'a mut BoundFlows,
    tables: Vec<Weighted<'a>>,
    of_step: &'a [usize],
    cells: usize,
    /// `[times]`
    counted: Vec<Option<Counted>>,
    /// `[support]`
    tilt: Vec<f64>,
    /// At the tilt of the latest certificate. `[support]`
    marginals: Vec<f64>,
    /// What comes from before, without the node's own weight. `[times][cells]`
    before: Vec<f64>,
    /// What comes from after, without the node's own weight. `[times][cells]`
    after: Vec<f64>,
    /// Exponentials of tilted scores. `[times][cells]`
    weights: Vec<f64>,
    damping: f64,
    /// Objective and gap of the latest certificate.
    latest: (f64, f64),
    best: Best,
    oracle_calls: usize,
    base_log_partition: f64,
}

/// The point that would be returned.
struct Best {
    tilt: Vec<f64>,
    objective: f64,
    gap: f64,
}

/// A table and the exponentials of its entries.
struct Weighted<'a> {
    transitions: &'a Transitions,
    /// In the order of the entries. `[from][allowed]`
    weights: Vec<Vec<f64>>,
}

impl<'a> Weighted<'a> {
    fn new(transitions: &'a Transitions) -> Self {
        let rows = || (0..transitions.shape().0).map(|from| transitions.row(from).1);
        let highest = rows().flatten().copied().fold(f64::NEG_INFINITY, f64::max);
        let weights = rows().map(|row| row.iter().map(|value| (value - highest).exp()).collect());
        Self { transitions, weights: weights.collect() }
    }

    /// `after_j = Σ_i before_i e_ij`
    fn forward(&self, before: &[f64], after: &mut [f64]) {
        after.fill(0.0);
        for ((from, &message), weights) in before.iter().enumerate().zip(&self.weights) {
            for (&to, weight) in self.transitions.row(from).0.iter().zip(weights) {
                after[to as usize] += message * weight;
            }
        }
    }

    /// `before_i = Σ_j e_ij after_j`
    fn backward(&self, after: &[f64], before: &mut [f64]) {
        for ((from, message), weights) in before.iter_mut().enumerate().zip(&self.weights) {
            let entries = self.transitions.row(from).0.iter().zip(weights);
            *message = entries.map(|(&to, weight)| weight * after[to as usize]).sum();
        }
    }
}

impl<'a> Run<'a> {
    fn new(bound: &'a mut BoundFlows, moves: &'a Moves) -> Result<Self, FlowError> {
        let times = bound.chain.length();
        let cells = bound.chain.model().states(0);
        let support = bound.energies.support();
        let mut counted: Vec<Option<Counted>> = (0..times).map(|_| None).collect();
        let rows = bound.energies.measurements.rows();
        let mut row = 0;
        for block in support.blocks() {
            let first = row;
            let within = |row| rows.entries(row).all(|(column, _)| block.range().contains(&column));
            while row < rows.len() && within(row) {
                row += 1;
            }
            counted[block.tables[0]] = Some(Counted { first: block.start, rows: first..row });
        }
        let width = support.len();
        let (tilt, mut marginals) = (vec![0.0; width], vec![0.0; width]);
        let base_log_partition = bound.chain.tilted(&tilt, &mut marginals);
        if !base_log_partition.is_finite() {
            return Err(ModelError::AllForbidden.into());
        }
        let mut run = Self {
            bound,
            tables: moves.tables.iter().map(Weighted::new).collect(),
            of_step: &moves.of_step,
            cells,
            counted,
            best: Best { tilt: tilt.clone(), objective: f64::NAN, gap: f64::INFINITY },
            tilt,
            marginals,
            before: vec![1.0; times * cells],
            after: vec![1.0; times * cells],
            weights: vec![0.0; times * cells],
            damping: FIRST_DAMPING,
            latest: (f64::INFINITY, f64::INFINITY),
            oracle_calls: 1,
            base_log_partition,
        };
        for time in (0..times).rev() {
            run.weigh(time);
            run.receive_from_after(time);
        }
        Ok(run)
    }

    fn times(&self) -> usize {
        self.counted.len()
    }

    fn at(&self, time: usize) -> Range<usize> {
        time * self.cells..(time + 1) * self.cells
    }

    /// Forth and back, setting every node's tilt each time.
    fn sweep(&mut self) {
        for time in 0..self.times() {
            self.receive_from_before(time);
            self.update(time);
        }
        for time in (0..self.times()).rev() {
            self.receive_from_after(time);
            self.update(time);
        }
    }

    fn receive_from_before(&mut self, time: usize) {
        if time == 0 {
            return;
        }
        let (earlier, own) = (self.at(time - 1), self.at(time));
        let product = |range: Range<usize>| -> Vec<f64> {
            let pairs = self.before[range.clone()].iter().zip(&self.weights[range]);
            pairs.map(|(message, weight)| message * weight).collect()
        };
        let message = product(earlier);
        let target = &mut self.before[own];
        self.tables[self.of_step[time - 1]].forward(&message, target);
        normalise(target);
    }

    fn receive_from_after(&mut self, time: usize) {
        if time + 1 == self.times() {
            return;
        }
        let (later, own) = (self.at(time + 1), self.at(time));
        let pairs = self.after[later.clone()].iter().zip(&self.weights[later]);
        let message: Vec<f64> = pairs.map(|(message, weight)| message * weight).collect();
        let target = &mut self.after[own];
        self.tables[self.of_step[time]].backward(&message, target);
        normalise(target);
    }

    /// Sets the tilt of a time by the marginals that its messages have now.
    fn update(&mut self, time: usize) {
        let Some(counted) = &self.counted[time] else { return };
        let own = self.at(time);
        let factors = self.before[own.clone()].iter().zip(&self.after[own.clone()]);
        let beliefs = factors.zip(&self.weights[own]).map(|((b, a), w)| b * a * w);
        let mut marginals: Vec<f64> = beliefs.collect();
        let total: f64 = marginals.iter().sum();
        marginals.iter_mut().for_each(|belief| *belief = (*belief / total).max(f64::MIN_POSITIVE));
        let measurements = &self.bound.energies.measurements;
        for row in counted.rows.clone() {
            let (cell, tilt) = cell_of(measurements, row, counted.first, &mut self.tilt);
            let (weight, penalty) = (measurements.weights()[row], measurements.penalty(row));
            let z = marginals[cell] + measurements.rows().offset(row);
            let target = -weight * penalty.derivative(z);
            let step = (self.damping * (target - *tilt)).clamp(-TILT_LIMIT, TILT_LIMIT);
            let (_, ceiling) = penalty.multipliers(weight);
            let slack = ceiling + *tilt;
            let least = if slack.is_finite() {
                slack * (-TILT_LIMIT).exp() - ceiling
            } else {
                f64::NEG_INFINITY
            };
            *tilt = (*tilt + step).max(least);
        }
        self.weigh(time);
    }

    /// Exponentiates the tilted scores of a time.
    fn weigh(&mut self, time: usize) {
        let own = self.at(time);
        let weights = &mut self.weights[own.clone()];
        weights.copy_from_slice(&self.bound.scores[own]);
        if let Some(counted) = &self.counted[time] {
            let tilt = &self.tilt[counted.first..][..self.cells];
            weights.iter_mut().zip(tilt).for_each(|(score, tilt)| *score += tilt);
        }
        let highest = weights.iter().copied().fold(f64::NEG_INFINITY, f64::max);
        weights.iter_mut().for_each(|score| *score = (*score - highest).exp());
    }

    /// Asks the oracle what the tilt is worth.
    fn certify(&mut self, iteration: usize, start: Instant) -> Record {
        let log_partition = self.bound.chain.tilted(&self.tilt, &mut self.marginals);
        // A sweep passes as many messages as a call does.
        self.oracle_calls += 2;
        let moved = self.tilt.iter().zip(&self.marginals).map(|(tilt, marginal)| tilt * marginal);
        let without_energy = moved.sum::<f64>() - log_partition;
        let measurements = &self.bound.energies.measurements;
        let mut objective = without_energy;
        let (mut gap, mut residual) = (0.0, 0.0f64);
        for row in 0..measurements.len() {
            let (weight, penalty) = (measurements.weights()[row], measurements.penalty(row));
            let z = measurements.rows().measure(row, &self.marginals);
            objective += weight * penalty.value(z);
            let (column, _) = only_entry(measurements, row);
            gap += penalty.fenchel_gap(weight, z, -self.tilt[column]);
            residual = residual.max((self.tilt[column] + weight * penalty.derivative(z)).abs());
        }
        let proved = gap.is_finite() && objective.is_finite();
        if proved && gap < self.best.gap {
            self.best.tilt.copy_from_slice(&self.tilt);
            (self.best.objective, self.best.gap) = (objective, gap);
        }
        if !proved || objective > self.latest.0 && gap > self.latest.1 {
            self.damping = (0.5 * self.damping).max(LEAST_DAMPING);
            self.tilt.copy_from_slice(&self.best.tilt);
            (0..self.times()).for_each(|time| self.weigh(time));
            self.latest = (self.best.objective, self.best.gap);
        } else {
            self.damping = (RECOVERY * self.damping).min(1.0);
            self.latest = (objective, gap);
        }
        Record {
            iteration,
            objective,
            average_objective: None,
            lower_bound: self.best.gap.is_finite().then_some(self.best.objective - self.best.gap),
            gap: proved.then_some(gap),
            residual,
            oracle_calls: self.oracle_calls,
            seconds: start.elapsed().as_secs_f64(),
        }
    }

    fn finish(mut self, status: Status, iterations: usize, start: Instant) -> Solution {
        let Best { tilt, mut objective, gap } = self.best;
        let log_partition = self.bound.chain.tilted(&tilt, &mut self.marginals);
        let proved = gap.is_finite();
        if !proved {
            objective = self.latest.0;
        }
        Solution {
            status,
            solver: "nonlinear-bp",
            iterations,
            oracle_calls: self.oracle_calls + 1,
            seconds: start.elapsed().as_secs_f64(),
            objective,
            lower_bound: proved.then_some(objective - gap),
            gap: proved.then_some(gap),
            returned: if tilt == self.tilt { Returned::Last } else { Returned::Best },
            tilt,
            multipliers: self.bound.energies.measurements.slopes(&self.marginals),
            marginals: self.marginals,
            averaged_tables: None,
            log_partition,
            base_log_partition: self.base_log_partition,
        }
    }
}

/// The support coordinate that a row reads, and its coefficient, 1.
fn only_entry(measurements: &Measurements, row: usize) -> (usize, f64) {
    measurements.rows().entries(row).next().expect("a count reads one cell")
}

/// The cell that a row counts, and its tilt.
fn cell_of<'t>(
    measurements: &Measurements,
    row: usize,
    first: usize,
    tilt: &'t mut [f64],
) -> (usize, &'t mut f64) {
    let (column, _) = only_entry(measurements, row);
    (column - first, &mut tilt[column])
}

/// Makes a message sum to 1.
fn normalise(message: &mut [f64]) {
    let total: f64 = message.iter().sum();
    if total > 0.0 {
        message.iter_mut().for_each(|value| *value /= total);
    }
}
