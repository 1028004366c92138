use crate::cancel::Cancel;
use crate::energy::{Curvature, Energies, Valued};
use crate::oracle::Oracle;
use crate::vector::{Aligned, Entry, Formula, Number, Reduced, pass};

use super::SolveError;
use super::average::Average;
use super::summary::{Comparison, Summary};
use super::task::{Base, Task};

/// What a solver may touch: the oracle, the energies, and the count of calls.
pub(super) struct Engine<'a> {
    pub oracle: &'a mut dyn Oracle,
    pub energies: &'a mut Energies,
    pub oracle_calls: usize,
    /// Products with the covariance so far.
    pub products: usize,
    /// The latest call, unless the oracle has changed since.
    answered: Option<usize>,
    /// What the oracle divides the model's potentials by.
    heat: f64,
    /// A lower bound on the score of every allowed configuration.
    pub lowest_score: f64,
    /// [`Task::score_size`]
    pub score_size: f64,
    pub base: Base,
    /// How far the latest log-partition may be above the value of the marginals.
    pub slack: f64,
    /// Looked at where a step takes many calls: see [`Engine::is_cancelled`].
    pub cancel: Cancel,
    /// [`Task::allows_average`]
    pub allows_average: bool,
}

/// A tilt and all that follows from it.
#[derive(Clone, Debug)]
pub(super) struct Point {
    /// `δ`. `[support]`
    pub tilt: Aligned,
    /// `μ(θ + δ)`. `[support]`
    pub marginals: Aligned,
    /// `∇L(μ)`. `[support]`
    pub gradient: Aligned,
    /// `A(θ + δ)`, or an upper bound on it
    pub log_partition: f64,
    /// How far that may be above `⟨θ + δ, μ⟩ + H(μ)`; 0 if the oracle is exact.
    pub slack: f64,
    /// [`Engine::score_size`]
    pub score_size: f64,
    /// `L(μ)`
    pub energy: f64,
    /// What its rounding follows, if that is more than its own size.
    energy_size: f64,
    /// `⟨δ, μ⟩`
    tilt_dot: f64,
    /// `⟨∇L(μ), μ⟩`
    gradient_dot: f64,
    /// The sizes of what these sum up.
    tilt_size: f64,
    gradient_size: f64,
    /// `‖δ + ∇L(μ)‖∞`
    residual: f64,
    /// `‖δ‖∞`
    reach: f64,
    /// Number of the oracle call that this point comes from.
    pub call: usize,
}

/// From `δ`, `μ` to `δ′`, `μ′`.
#[derive(Clone, Copy, Debug)]
pub(super) struct Change {
    /// `KL(μ′ ‖ μ)`
    pub divergence: f64,
    /// `⟨∇L(μ), μ′ − μ⟩`
    pub expected: f64,
    /// `⟨∇L(μ′) − ∇L(μ), μ′ − μ⟩`
    pub bend: f64,
    /// `⟨δ′ − δ, μ′ − μ⟩`
    pub travel: f64,
}

/// The result of one step of a solver.
#[derive(Clone, Copy, Debug)]
pub(super) struct Step {
    /// `F` at the solver's current point.
    pub objective: f64,
    /// What it may be off by.
    pub rounding: f64,
    /// Whether the solver's point is the average of its iterates, so that `objective` is a bound.
    pub is_average: bool,
    /// A valid lower bound on the optimum, `-∞` if the step gave none.
    pub lower_bound: f64,
    /// Distance from a fixed point.
    pub residual: f64,
    /// What to do next.
    pub verdict: Verdict,
    /// The solver's own gap, if it is sharper than `objective − lower_bound`.
    pub gap: Option<f64>,
    /// Largest violation of a hard constraint.
    pub violation: f64,
    /// What hard constraints that are slightly broken may have taken off the objective.
    pub excess: f64,
    /// Whether the solver's point holds the gradient of the whole, convex energy, so that one more
    /// call gives a sharp bound.
    pub can_be_sharpened: bool,
}

impl Step {
    /// A step of a solver that knows its objective and perhaps a bound.
    pub fn new(objective: f64, lower_bound: f64, residual: f64, verdict: Verdict) -> Self {
        Self {
            objective,
            rounding: 0.0,
            is_average: false,
            lower_bound,
            residual,
            verdict,
            gap: None,
            violation: 0.0,
            excess: 0.0,
            can_be_sharpened: false,
        }
    }
}

/// Whether a solver can continue.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Verdict {
    /// Go on.
    Continue,
    /// The point is stationary; without a certificate nothing more is known.
    Stationary,
    /// No step will improve the point or its bound: it is proved, or lost in rounding.
    Settled,
    /// The hard constraints cannot hold.
    Infeasible,
}

/// Which of its points a solver is asked about.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Held {
    /// [`Solver::point`]
    Current,
    /// [`Solver::previous`]
    Previous,
}

/// A method: its state and one step. Settings are given at the start.
pub(super) trait Solver {
    /// The name in answers.
    fn name(&self) -> &'static str;

    /// One iteration: one oracle call, or a few.
    fn step(&mut self, engine: &mut Engine) -> Step;

    /// The current point: tilt, marginals and log-partition are up to date.
    fn point(&self) -> &Point;

    /// The base model as a step, before the first one, if the solver starts there: what it measured
    /// need not be measured again.
    fn base(&self) -> Option<Step> {
        None
    }

    /// The point before the last step, if the solver still holds it; the current one if that step
    /// failed.
    fn previous(&self) -> Option<&Point> {
        None
    }

    /// Appends the multiplier of each measurement at one of its points, in their order and perhaps
    /// followed by others, for solvers that have them: then the point's tilt is made of them.
    /// Whether it did.
    fn multipliers(&self, _: Held, _: &mut Vec<f64>) -> bool {
        false
    }

    /// The average of the iterates, evaluated, for solvers that keep one.
    fn average(&mut self, _: &mut Engine) -> Option<&Average> {
        None
    }
}

/// A larger tilt counts as infinite: probabilities are 0 or 1 long before, and log-partitions of
/// that size leave no digits for an objective.
const TILT_RANGE: f64 = 1e9;

impl Point {
    pub fn new(coordinates: usize) -> Self {
        Self {
            tilt: Aligned::filled(coordinates, 0.0),
            marginals: Aligned::filled(coordinates, 0.0),
            gradient: Aligned::filled(coordinates, 0.0),
            log_partition: f64::NAN,
            slack: 0.0,
            score_size: 0.0,
            energy: f64::NAN,
            energy_size: 0.0,
            tilt_dot: 0.0,
            gradient_dot: 0.0,
            tilt_size: 0.0,
            gradient_size: 0.0,
            residual: f64::NAN,
            reach: 0.0,
            call: 0,
        }
    }

    /// `F(μ) = ⟨δ, μ⟩ − A(θ + δ) + L(μ)`, or an upper bound on it if the oracle has slack.
    pub fn objective(&self) -> f64 {
        self.without_energy() + self.energy
    }

    /// `⟨δ, μ⟩ − A(θ + δ) = −H(μ) − ⟨θ, μ⟩`
    pub fn without_energy(&self) -> f64 {
        self.tilt_dot - self.log_partition + self.slack
    }

    /// `L(μ) − ⟨∇L(μ), μ⟩`: the energy's linearisation at `μ`, taken at zero.
    pub fn linearisation(&self) -> f64 {
        self.energy - self.gradient_dot
    }

    /// `‖δ + ∇L(μ)‖∞`
    pub fn residual(&self) -> f64 {
        self.residual
    }

    /// The size of the terms of the objective, which its rounding follows.
    pub fn objective_size(&self) -> f64 {
        self.tilt_size + self.score_size + self.log_partition.abs() + self.size_of_energy()
    }

    /// The sizes of scores and tilt at the marginals: the rounding of the log-partition follows
    /// them.
    pub fn potential_size(&self) -> f64 {
        self.score_size + self.tilt_size
    }

    /// What the rounding of the energy follows; 0 if there is none.
    pub fn size_of_energy(&self) -> f64 {
        // NaN is less than anything.
        self.energy.abs().max(self.energy_size)
    }

    /// The energy at the marginals, with its gradient.
    pub fn read_energy(&mut self, energies: &mut Energies) {
        let Valued { value, size } = energies.evaluate_sized(&self.marginals, &mut self.gradient);
        (self.energy, self.energy_size) = (value, size);
    }

    /// Whether the next step can be taken from here.
    pub fn is_finite(&self) -> bool {
        let gradient_is_finite = self.gradient_dot.is_finite() && self.residual.is_finite();
        self.energy.is_finite() && gradient_is_finite && self.has_finite_tilt()
    }

    /// Whether the tilt and the oracle's answer are within range.
    pub fn has_finite_tilt(&self) -> bool {
        self.log_partition.is_finite() && self.tilt_dot.is_finite() && self.reach <= TILT_RANGE
    }

    /// The size of the terms of the linearisation.
    pub fn linearisation_size(&self) -> f64 {
        self.size_of_energy() + self.gradient_size
    }

    /// Brings the sums over tilt, marginals and gradient up to date, in one pass.
    pub fn summarise(&mut self) {
        let totals = pass(Summary, [], [&self.tilt, &self.marginals, &self.gradient]);
        [self.tilt_dot, self.gradient_dot, self.tilt_size, self.gradient_size] = totals.sums;
        [self.residual, self.reach] = totals.sizes;
    }

    /// What changed since another point.
    pub fn change_since(&self, old: &Self) -> Change {
        let numbers = [
            &*self.tilt,
            &old.tilt,
            &self.marginals,
            &old.marginals,
            &self.gradient,
            &old.gradient,
        ];
        let Reduced { sums: [travelled, expected, bend, travel], .. } =
            pass(Comparison, [], numbers);
        let divergence = travelled - self.log_partition + old.log_partition;
        Change { divergence, expected, bend, travel }
    }

    pub fn copy_from(&mut self, other: &Self) {
        self.tilt.copy_from_slice(&other.tilt);
        self.marginals.copy_from_slice(&other.marginals);
        self.gradient.copy_from_slice(&other.gradient);
        self.log_partition = other.log_partition;
        self.slack = other.slack;
        self.score_size = other.score_size;
        self.energy = other.energy;
        self.energy_size = other.energy_size;
        self.tilt_dot = other.tilt_dot;
        self.gradient_dot = other.gradient_dot;
        self.tilt_size = other.tilt_size;
        self.gradient_size = other.gradient_size;
        self.residual = other.residual;
        self.reach = other.reach;
        self.call = other.call;
    }
}

/// No probability moves by more than this part under a fixed tilt.
const FIXED: f64 = 1e-5;

/// Whether a residual of this size still matters. A configuration's score changes by at most the
/// residual per table, and the log of a probability by at most twice that.
pub(super) fn is_fixed(residual: f64, tables: usize) -> bool {
    2.0 * residual * tables as f64 <= FIXED
}

/// `KL(p ‖ q)` of the distributions at two points: `⟨δ_p − δ_q, μ_p⟩ − A_p + A_q`.
pub(super) fn divergence(p: &Point, q: &Point) -> f64 {
    let Reduced { sums: [moved], .. } = pass(Travel, [], [&p.tilt, &q.tilt, &p.marginals]);
    moved - p.log_partition + q.log_partition
}

/// `⟨δ_p − δ_q, μ_p⟩`
#[derive(Clone, Copy)]
struct Travel;

impl Formula<0, 3, 1, 0> for Travel {
    #[inline(always)]
    fn at<N: Number>(self, _: [N; 0], [to, from, marginal]: [N; 3]) -> Entry<N, 0, 1, 0> {
        Entry { values: [], products: [[to - from, marginal]], sizes: [] }
    }
}

impl<'a> Engine<'a> {
    /// Calls the oracle once, at the base model.
    #[cfg(test)]
    pub fn new(mut task: Task<'a>) -> Self {
        let base = Base::of(&mut task);
        Self::after(task, base)
    }

    /// Continues from an oracle whose latest call was at the base model.
    pub fn after(task: Task<'a>, base: Base) -> Self {
        let Task { oracle, energies, lowest_score, score_size, cancel, allows_average, .. } = task;
        assert_eq!(base.marginals.len(), energies.support().len(), "marginals on the support");
        let slack = oracle.exactness().slack();
        Self {
            oracle,
            energies,
            oracle_calls: 1,
            products: 0,
            answered: Some(1),
            heat: 1.0,
            lowest_score,
            score_size,
            base,
            slack,
            cancel,
            allows_average,
        }
    }

    /// Whether to stop: what the oracle says from now on may be NaN. A step that takes many calls
    /// looks between them, and then returns with the point it has.
    pub fn is_cancelled(&self) -> bool {
        self.cancel.is_cancelled()
    }

    /// Divides the model's potentials by `heat` from now on, where the oracle can.
    pub fn warm(&mut self, heat: f64) {
        if heat != self.heat && self.oracle.second_order().is_some_and(|order| order.warm(heat)) {
            self.heat = heat;
            self.answered = None;
        }
    }

    /// Whether the oracle's latest call was at this point, so that products are those of it.
    pub fn holds(&self, point: &Point) -> bool {
        self.answered == Some(point.call)
    }

    /// Writes the product of the covariance at the latest call with a direction on the support.
    ///
    /// # Panics
    /// If the oracle has no second order.
    pub fn multiply(&mut self, direction: &[f64], product: &mut [f64]) {
        self.products += 1;
        let order = self.oracle.second_order().expect("an oracle with second order");
        order.covariance(direction, product);
    }

    /// One oracle call; none if the latest call was the first one, for the same tilt.
    pub fn call(&mut self, tilt: &[f64], marginals: &mut [f64]) -> f64 {
        if self.oracle_calls == 1 && self.heat == 1.0 && tilt.iter().all(|&t| t == 0.0) {
            marginals.copy_from_slice(&self.base.marginals);
            return self.base.log_partition;
        }
        self.oracle_calls += 1;
        self.answered = Some(self.oracle_calls);
        let log_partition = self.oracle.tilted(tilt, marginals);
        self.slack = self.oracle.exactness().slack();
        log_partition
    }

    /// Marginals, log-partition, energy and gradient at the point's tilt, and the sums over them.
    pub fn evaluate(&mut self, point: &mut Point) {
        self.call_at(point);
        point.read_energy(self.energies);
        point.summarise();
    }

    /// The same, and what changed since another point.
    pub fn evaluate_since(&mut self, old: &Point, point: &mut Point) -> Change {
        self.evaluate(point);
        point.change_since(old)
    }

    /// Marginals and log-partition at the point's tilt.
    pub fn call_at(&mut self, point: &mut Point) {
        point.log_partition = self.call(&point.tilt, &mut point.marginals);
        (point.slack, point.score_size) = (self.slack, self.score_size);
        point.call = self.oracle_calls;
    }

    /// The point at the base model, where a primal solver starts.
    pub fn base_point(&mut self, solver: &'static str) -> Result<Point, SolveError> {
        let mut point = Point::new(self.coordinates());
        self.evaluate(&mut point);
        if !point.energy.is_finite() || point.gradient.iter().any(|g| !g.is_finite()) {
            return Err(SolveError::NotFiniteAtStart { solver, energy: point.energy });
        }
        Ok(point)
    }

    /// Number of support coordinates.
    pub fn coordinates(&self) -> usize {
        self.base.marginals.len()
    }

    /// Number of tables that the energies read.
    pub fn tables(&self) -> usize {
        self.energies.support().blocks().iter().map(|b| b.tables.len()).sum()
    }

    /// A lower bound on a convex energy, if it is convex.
    pub fn infimum(&self) -> Option<f64> {
        match self.energies.curvature() {
            Curvature::Convex { infimum } => Some(infimum),
            Curvature::Unknown => None,
        }
    }
}
