use crate::cancel::Cancel;
use crate::energy::{Curvature, Energies};
use crate::oracle::Oracle;

use super::SolveError;
use super::average::Average;
use super::point::{Change, Point};
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
    /// [`Task::start`]
    pub start: Option<&'a [f64]>,
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

impl<'a> Engine<'a> {
    /// Calls the oracle once, at the base model.
    #[cfg(test)]
    pub fn new(mut task: Task<'a>) -> Self {
        let base = Base::of(&mut task);
        Self::after(task, base)
    }

    /// Continues from an oracle whose latest call was at the base model.
    pub fn after(task: Task<'a>, base: Base) -> Self {
        let Task { oracle, energies, lowest_score, score_size, .. } = task;
        let Task { cancel, allows_average, start, .. } = task;
        assert_eq!(base.marginals.len(), energies.support().len(), "marginals on the support");
        if let Some(start) = start {
            assert_eq!(start.len(), energies.measurements.len(), "a multiplier per measurement");
        }
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
            start,
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
