//! Non-linear belief propagation (Sun, Sheldon, Kumar 2015).
//!
//! Messages are passed forwards and backwards along the chain. At every node, when a message
//! arrives, the tilt becomes `δ_t ← (1 − d) δ_t − d ∇L_t(μ_t)` at the marginals `μ_t` of the
//! current messages.
//!
//! * Needs: measurements of single cells, such as counts.
//! * Guarantees: no convergence; but every tilt has a certificate from one oracle call: the Fenchel
//!   gaps of the measurements at the multipliers `λ = −δ`.
//! * Differs from the paper: (1) when both objective and gap grow, the damping `d` is halved and the
//!   best tilt so far restored; otherwise `d` recovers; (2) no tilt changes by more than 3 at a time,
//!   and no slack `w·rate − λ` of a Poisson penalty shrinks by more than `e³`; (3) the tilt with the
//!   least gap is returned.

use std::ops::Range;

use bethe_core::Settings;
use bethe_core::energy::{Energies, Measurements};
use bethe_core::oracle::Tables;
use bethe_core::oracle::chain::Transitions;
use bethe_core::solve::{Evaluated, Observer, OwnMethod, Task, solve_by};
use bethe_flows::infer::{BoundFlows, FlowError, FlowProblem, Flows};

const FIRST_DAMPING: f64 = 0.5;
const LEAST_DAMPING: f64 = 1e-3;
const RECOVERY: f64 = 1.2;
/// No tilt changes by more than this at a time, and no logarithm of a slack falls by more.
const TILT_LIMIT: f64 = 3.0;

/// Finds the most likely movement of a population; the settings' method does not matter.
///
/// # Errors
/// If a setting is out of range, or the counts are impossible.
pub fn solve_by_nonlinear_bp(
    problem: &FlowProblem,
    settings: &Settings,
    observer: &mut dyn Observer,
) -> Result<Flows, FlowError> {
    let mut bound = problem.bind()?;
    let mut method = NonlinearBp::new(&bound, problem);
    let BoundFlows { chain, energies, .. } = &mut bound;
    let task = Task { marginals: Tables::None, ..Task::new(chain, energies) };
    let solution = solve_by(task, &mut method, settings, observer)?;
    Ok(Flows::new(bound, solution, problem.population))
}

/// The counts of one time.
struct Counted {
    /// First coordinate of its cells in the support.
    first: usize,
    rows: Range<usize>,
}

struct NonlinearBp<'a> {
    tables: Vec<Weighted<'a>>,
    of_step: &'a [usize],
    cells: usize,
    /// Node scores without tilts. `[times][cells]`
    scores: Vec<f64>,
    /// `[times]`
    counted: Vec<Option<Counted>>,
    /// What comes from before, without the node's own weight. `[times][cells]`
    before: Vec<f64>,
    /// What comes from after, without the node's own weight. `[times][cells]`
    after: Vec<f64>,
    /// Exponentials of tilted scores. `[times][cells]`
    weights: Vec<f64>,
    damping: f64,
    /// Nothing before the first step.
    latest: Option<Reached>,
    best: Option<Best>,
}

/// The outcome of a tilt.
#[derive(Clone, Copy)]
struct Reached {
    objective: f64,
    gap: f64,
}

impl Reached {
    fn from(evaluated: &Evaluated) -> Self {
        Self { objective: evaluated.objective, gap: evaluated.gap.unwrap_or(f64::NAN) }
    }
}

/// The tilt with the least gap so far.
struct Best {
    tilt: Vec<f64>,
    reached: Reached,
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

impl<'a> NonlinearBp<'a> {
    fn new(bound: &BoundFlows, problem: &FlowProblem<'a>) -> Self {
        let times = bound.chain.length();
        let cells = bound.chain.model().states(0);
        let moves = problem.moves;
        Self {
            tables: moves.tables.iter().map(Weighted::new).collect(),
            of_step: &moves.of_step,
            cells,
            scores: bound.scores.clone(),
            counted: counted(&bound.energies, times),
            before: vec![1.0; times * cells],
            after: vec![1.0; times * cells],
            weights: vec![0.0; times * cells],
            damping: FIRST_DAMPING,
            latest: None,
            best: None,
        }
    }

    fn times(&self) -> usize {
        self.counted.len()
    }

    fn at(&self, time: usize) -> Range<usize> {
        time * self.cells..(time + 1) * self.cells
    }

    /// Messages at the first tilt.
    fn begin(&mut self, latest: &Evaluated, tilt: &[f64]) {
        self.latest = Some(Reached::from(latest));
        for time in (0..self.times()).rev() {
            self.weigh(time, tilt);
            self.receive_from_after(time);
        }
    }

    /// Forth and back, setting every node's tilt each time.
    fn sweep(&mut self, measurements: &Measurements, tilt: &mut [f64]) {
        for time in 0..self.times() {
            self.receive_from_before(time);
            self.update(time, measurements, tilt);
        }
        for time in (0..self.times()).rev() {
            self.receive_from_after(time);
            self.update(time, measurements, tilt);
        }
    }

    fn receive_from_before(&mut self, time: usize) {
        if time == 0 {
            return;
        }
        let (earlier, own) = (self.at(time - 1), self.at(time));
        let message = products(&self.before[earlier.clone()], &self.weights[earlier]);
        let target = &mut self.before[own];
        self.tables[self.of_step[time - 1]].forward(&message, target);
        normalise(target);
    }

    fn receive_from_after(&mut self, time: usize) {
        if time + 1 == self.times() {
            return;
        }
        let (later, own) = (self.at(time + 1), self.at(time));
        let message = products(&self.after[later.clone()], &self.weights[later]);
        let target = &mut self.after[own];
        self.tables[self.of_step[time]].backward(&message, target);
        normalise(target);
    }

    /// Sets the tilt of a time by the marginals that its messages have now.
    fn update(&mut self, time: usize, measurements: &Measurements, tilt: &mut [f64]) {
        let Some(counted) = &self.counted[time] else { return };
        let own = self.at(time);
        let factors = self.before[own.clone()].iter().zip(&self.after[own.clone()]);
        let beliefs = factors.zip(&self.weights[own]).map(|((b, a), w)| b * a * w);
        let mut marginals: Vec<f64> = beliefs.collect();
        normalise(&mut marginals);
        for row in counted.rows.clone() {
            let column = only_entry(measurements, row);
            let marginal = marginals[column - counted.first].max(f64::MIN_POSITIVE);
            let (weight, penalty) = (measurements.weights()[row], measurements.penalty(row));
            let z = marginal + measurements.rows().offset(row);
            let target = -weight * penalty.derivative(z);
            let tilt = &mut tilt[column];
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
        self.weigh(time, tilt);
    }

    /// Exponentiates the tilted scores of a time.
    fn weigh(&mut self, time: usize, tilt: &[f64]) {
        let own = self.at(time);
        let weights = &mut self.weights[own.clone()];
        weights.copy_from_slice(&self.scores[own]);
        if let Some(counted) = &self.counted[time] {
            let tilt = &tilt[counted.first..][..self.cells];
            weights.iter_mut().zip(tilt).for_each(|(score, tilt)| *score += tilt);
        }
        let highest = weights.iter().copied().fold(f64::NEG_INFINITY, f64::max);
        weights.iter_mut().for_each(|score| *score = (*score - highest).exp());
    }

    /// Looks at the outcome of the latest tilt: halves the damping and goes back to the best tilt
    /// where both objective and gap grew.
    fn judge(&mut self, before: Reached, latest: &Evaluated, tilt: &mut [f64]) {
        let reached = Reached::from(latest);
        let proved = reached.gap.is_finite() && reached.objective.is_finite();
        if proved && self.best.as_ref().is_none_or(|best| reached.gap < best.reached.gap) {
            self.best = Some(Best { tilt: tilt.to_vec(), reached });
        }
        let grew = reached.objective > before.objective && reached.gap > before.gap;
        self.latest = Some(reached);
        if proved && !grew {
            self.damping = (RECOVERY * self.damping).min(1.0);
            return;
        }
        self.damping = (0.5 * self.damping).max(LEAST_DAMPING);
        if let Some(best) = &self.best {
            tilt.copy_from_slice(&best.tilt);
            self.latest = Some(best.reached);
        }
        (0..self.times()).for_each(|time| self.weigh(time, tilt));
    }
}

impl OwnMethod for NonlinearBp<'_> {
    fn name(&self) -> &'static str {
        "nonlinear-bp"
    }

    fn step(&mut self, latest: &Evaluated, tilt: &mut [f64]) -> usize {
        match self.latest {
            None => self.begin(latest, tilt),
            Some(before) => self.judge(before, latest, tilt),
        }
        self.sweep(&latest.energies.measurements, tilt);
        // A sweep passes as many messages as a call does.
        1
    }

    fn gap(&self, energies: &Energies, tilt: &[f64], marginals: &[f64]) -> Option<f64> {
        let measurements = &energies.measurements;
        let gap = |row: usize| {
            let (weight, penalty) = (measurements.weights()[row], measurements.penalty(row));
            let z = measurements.rows().measure(row, marginals);
            penalty.fenchel_gap(weight, z, -tilt[only_entry(measurements, row)])
        };
        let gap: f64 = (0..measurements.len()).map(gap).sum();
        gap.is_finite().then_some(gap)
    }
}

/// Which rows count the cells of which time.
fn counted(energies: &Energies, times: usize) -> Vec<Option<Counted>> {
    let mut counted: Vec<Option<Counted>> = (0..times).map(|_| None).collect();
    let rows = energies.measurements.rows();
    let mut row = 0;
    for block in energies.support().blocks() {
        let first = row;
        let within = |row| rows.entries(row).all(|(column, _)| block.range().contains(&column));
        while row < rows.len() && within(row) {
            row += 1;
        }
        counted[block.tables[0]] = Some(Counted { first: block.start, rows: first..row });
    }
    counted
}

/// The support coordinate that a row reads, with coefficient 1.
fn only_entry(measurements: &Measurements, row: usize) -> usize {
    measurements.rows().entries(row).next().expect("a count reads one cell").0
}

fn products(a: &[f64], b: &[f64]) -> Vec<f64> {
    a.iter().zip(b).map(|(a, b)| a * b).collect()
}

/// Makes a message sum to 1.
fn normalise(message: &mut [f64]) {
    let total: f64 = message.iter().sum();
    if total > 0.0 {
        message.iter_mut().for_each(|value| *value /= total);
    }
}
