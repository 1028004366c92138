//! Which point is returned: the best so far.
//!
//! The base model, every iterate and, from time to time, the average of the iterates are candidates.
//! They rank by how far they break hard constraints, as far as that is more than the tolerance, then
//! by their objectives. None of this depends on when the solve will end, so that an answer is never
//! worse than that of an earlier end.

use super::average::Average;
use super::certificate::rounding;
use super::engine::{Engine, Held, Solver, Step};
use super::{Returned, Settings};
use crate::energy::Valued;

/// Hard measurements hold if they are off by at most this or the tolerance.
pub(super) const FEASIBLE: f64 = 1e-6;

/// A point that may be returned.
#[derive(Clone, Copy, Debug)]
pub(super) struct Candidate {
    /// Who found it.
    pub solver: &'static str,
    pub returned: Returned,
    pub objective: f64,
    /// What it may be off by.
    pub rounding: f64,
    /// The solver's own gap, if it has one.
    pub own_gap: Option<f64>,
    pub violation: f64,
    /// What hard constraints that are slightly broken may have taken off the objective.
    pub excess: f64,
}

impl Candidate {
    /// The solver's current point.
    pub fn new(solver: &'static str, step: &Step) -> Self {
        Self {
            solver,
            returned: if step.is_average { Returned::Average } else { Returned::Last },
            objective: step.objective,
            rounding: step.rounding,
            own_gap: step.gap,
            violation: step.violation,
            excess: step.excess,
        }
    }

    /// The base model, which a solver that starts there has measured.
    fn base(engine: &mut Engine, solver: &dyn Solver) -> Self {
        if let Some(step) = solver.base() {
            let measured = Self::new(solver.name(), &step);
            return Self { returned: Returned::Best, own_gap: None, ..measured };
        }
        let mut unused = vec![0.0; engine.coordinates()];
        let Valued { value: energy, size } =
            engine.energies.evaluate_sized(&engine.base.marginals, &mut unused);
        let measurements = &engine.energies.measurements;
        let is_hard = measurements.has_hard();
        let log_partition = engine.base.log_partition;
        Self {
            solver: solver.name(),
            returned: Returned::Best,
            objective: energy - log_partition + engine.slack,
            rounding: rounding(size + engine.score_size + log_partition.abs()),
            own_gap: None,
            violation: if is_hard { measurements.violation(&engine.base.marginals) } else { 0.0 },
            excess: 0.0,
        }
    }

    /// An average of iterates, which only solvers without hard constraints keep.
    pub fn average(solver: &'static str, average: &Average) -> Self {
        Self {
            solver,
            returned: Returned::Average,
            objective: average.objective(),
            rounding: average.rounding(),
            own_gap: None,
            violation: 0.0,
            excess: 0.0,
        }
    }

    /// Whether it ranks before another; violations up to `allowed` do not count.
    fn is_better(&self, other: &Self, allowed: f64) -> bool {
        self.rank(allowed) < other.rank(allowed)
    }

    fn rank(&self, allowed: f64) -> [f64; 2] {
        let merit = self.objective + self.excess;
        if !merit.is_finite() {
            // A point of no finite energy is a point; calls that were cut off are not numbers.
            return [f64::INFINITY, if merit.is_nan() { f64::INFINITY } else { 0.0 }];
        }
        [if self.violation <= allowed { 0.0 } else { self.violation }, merit]
    }
}

/// The candidate that would be returned now, and what it takes to go back to it.
pub(super) struct Best {
    wanted: Returned,
    /// Violations up to this do not count.
    allowed: f64,
    candidate: Candidate,
    /// Whether it is the solver's current point.
    is_current: bool,
    /// Whether it is the base model.
    is_base: bool,
    /// Whether what follows is its own: not before the solver drops it.
    is_kept: bool,
    /// Empty for the base model.
    tilt: Vec<f64>,
    /// Its multipliers, if the solver has any. `[measurements]`
    multipliers: Vec<f64>,
    /// Its marginals on the support, and its tables, if it is an average.
    marginals: Vec<f64>,
    tables: Vec<f64>,
}

/// What was kept of the candidate that is returned.
pub(super) struct Kept<'a> {
    /// Empty for the base model.
    pub tilt: &'a [f64],
    /// Multipliers, of solvers that have them.
    pub multipliers: &'a [f64],
    /// Marginals, of averages.
    pub marginals: &'a [f64],
    /// Tables, of averages.
    pub tables: &'a [f64],
}

impl Best {
    /// Nothing is better than the base model yet.
    pub fn new(engine: &mut Engine, solver: &dyn Solver, settings: &Settings) -> Self {
        Self {
            wanted: settings.returned,
            allowed: settings.tolerance.min(FEASIBLE),
            candidate: Candidate::base(engine, solver),
            is_current: false,
            is_base: true,
            is_kept: true,
            tilt: Vec::with_capacity(engine.coordinates()),
            multipliers: Vec::with_capacity(engine.energies.measurements.len()),
            marginals: Vec::new(),
            tables: Vec::new(),
        }
    }

    /// Looks at the solver's current point, unless that is an average.
    pub fn see(&mut self, solver: &dyn Solver, last: Candidate) {
        self.is_current = false;
        let is_taken = match self.wanted {
            Returned::Best => !self.candidate.is_better(&last, self.allowed),
            Returned::Last => true,
            Returned::Average => false,
        };
        if is_taken && last.returned != Returned::Average {
            self.take(last);
            self.is_current = true;
            // Solvers that still hold it when the next one is worse keep it until then.
            if solver.previous().is_none() {
                self.keep(solver, Held::Current);
            }
        } else if !self.is_kept {
            self.keep(solver, Held::Previous);
        }
    }

    /// Looks at the solver's average.
    pub fn see_average(&mut self, engine: &mut Engine, solver: &mut dyn Solver, found: Candidate) {
        let is_taken = match self.wanted {
            Returned::Best => found.is_better(&self.candidate, self.allowed),
            // Of a solver whose iterates are averages.
            Returned::Last | Returned::Average => true,
        };
        let Some(average) = solver.average(engine).filter(|_| is_taken) else { return };
        self.marginals.clear();
        self.marginals.extend_from_slice(&average.point.marginals);
        self.tables.clone_from(&average.tables);
        self.take(found);
        self.is_current = false;
        self.tilt.clear();
        self.tilt.extend_from_slice(&solver.point().tilt);
        self.multipliers.clear();
        self.is_kept = true;
    }

    fn take(&mut self, candidate: Candidate) {
        (self.candidate, self.is_base, self.is_kept) = (candidate, false, false);
    }

    fn keep(&mut self, solver: &dyn Solver, held: Held) {
        let point = match held {
            Held::Current => solver.point(),
            Held::Previous => solver.previous().expect("a solver that holds one always does"),
        };
        self.tilt.clear();
        self.tilt.extend_from_slice(&point.tilt);
        self.multipliers.clear();
        solver.multipliers(held, &mut self.multipliers);
        self.is_kept = true;
    }

    /// The candidate that would be returned now.
    pub fn candidate(&self) -> Candidate {
        let returned = match self.candidate.returned {
            Returned::Average => Returned::Average,
            _ if self.is_current => Returned::Last,
            _ => Returned::Best,
        };
        Candidate { returned, ..self.candidate }
    }

    /// Whether that is the base model.
    pub fn is_base(&self) -> bool {
        self.is_base
    }

    /// What was kept of it, if it is not the solver's current point.
    pub fn kept(&self) -> Kept<'_> {
        let Self { tilt, multipliers, marginals, tables, .. } = self;
        Kept { tilt, multipliers, marginals, tables }
    }

    /// Whether hard constraints hold; a loose tolerance on the gap does not loosen them.
    pub fn is_feasible(&self, candidate: &Candidate) -> bool {
        candidate.violation <= self.allowed
    }
}
