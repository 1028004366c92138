//! Newton's method in the dual, from high temperatures to that of the problem.
//!
//! The dual has the Hessian `A C Aᵀ + diag (wφ)*″`, with `C` the covariance of the statistics: a
//! product with it takes about as long as an oracle call, and a few steps of conjugate gradients
//! make a direction ([`System`]). Where weights are large or potentials differ by hundreds, Newton's
//! model of the dual is good for tiny steps only. So the problem is solved with potentials and
//! weights divided by a large number first, the heat, which falls step by step ([`Cooling`]).
//!
//! * Needs: measurements only, an oracle with second order.
//! * Guarantees: as [`Dual`](super::Dual). Until the heat is 1, bounds and points are those of the
//!   latest multipliers at the true temperature.

mod cooling;
mod system;

use cooling::Cooling;
use system::System;

use super::program::DualProgram;
use super::{INFEASIBILITY_TEST, is_solved, report};
use crate::energy::Measurements;
use crate::solve::engine::{Engine, Held, Solver, Step, Verdict};
use crate::solve::point::Point;
use crate::solve::quasi_newton::{Iterate, Program, descends, noise, shorter};
use crate::vector::{Aligned, dot};

/// A step is shortened at most this often.
const TRIALS: usize = 30;
/// Steps that promise less than this part of what rounding does to values are not tried.
const LOST: f64 = 0.01;
/// This many failed searches in a row mean that only rounding is left.
const FAILURES: usize = 3;

pub(in crate::solve) struct Newton {
    program: DualProgram,
    /// At the current heat.
    current: Box<Iterate>,
    trial: Box<Iterate>,
    /// At the true temperature, while that is not the current one.
    shown: Box<Iterate>,
    system: System,
    /// The direction, and the part of it that is tried. `[unknowns]`
    direction: Aligned,
    step: Aligned,
    cooling: Cooling,
    /// Where proofs of infeasibility are sought, once they are.
    scratch: Option<Point>,
    iteration: usize,
    failures: usize,
}

impl Newton {
    /// From these unknowns, should they be near the solution; otherwise from multipliers that are 0.
    pub fn start(
        engine: &mut Engine,
        measurements: Measurements,
        unknowns: Option<&[f64]>,
    ) -> Self {
        let (rows, width) = (measurements.len(), engine.coordinates());
        let tables = engine.tables().max(1) as f64;
        let program = DualProgram::new(engine, measurements, None, 1.0);
        let [current, trial, shown] = [0; 3].map(|_| Box::new(Iterate::new(rows, width)));
        let mut newton = Self {
            system: System::new(&program, width),
            program,
            current,
            trial,
            shown,
            direction: Aligned::filled(rows, 0.0),
            step: Aligned::filled(rows, 0.0),
            cooling: Cooling::new(tables),
            scratch: None,
            iteration: 0,
            failures: 0,
        };
        // No gap tells how far hard constraints are from being met.
        let unknowns = unknowns.filter(|_| !newton.program.measurements.has_hard());
        let is_near = unknowns.is_some_and(|unknowns| {
            newton.current.unknowns.copy_from_slice(unknowns);
            newton.settle(engine);
            newton.cooling.is_near(&newton.current)
        });
        if !is_near {
            newton.program.start(&mut newton.current.unknowns);
            newton.settle(engine);
        }
        newton.cooling.start(newton.current.gap, engine.oracle_calls);
        if !newton.cooling.is_cold() {
            std::mem::swap(&mut newton.current, &mut newton.shown);
            newton.take_heat(engine);
            newton.program.start(&mut newton.current.unknowns);
            newton.settle(engine);
        }
        newton
    }

    /// Goes on from what the current iterate's unknowns were set to.
    fn settle(&mut self, engine: &mut Engine) {
        self.step.fill(0.0);
        self.program.place(&self.current, &self.step, &mut self.trial);
        self.program.evaluate(engine, f64::INFINITY, &mut self.trial);
        std::mem::swap(&mut self.current, &mut self.trial);
        self.failures = 0;
    }

    /// Brings weights and potentials to the heat that is due.
    fn take_heat(&mut self, engine: &mut Engine) {
        let heat = self.cooling.heat();
        self.program.rebase(None, heat);
        engine.warm(heat);
    }

    /// The unknowns at the true temperature.
    pub fn unknowns(&self) -> &[f64] {
        &self.shown().unknowns
    }

    /// Steps so far.
    pub fn steps(&self) -> usize {
        self.iteration
    }

    /// Whether rounding keeps it from finding anything better.
    pub fn is_exhausted(&self) -> bool {
        self.failures >= FAILURES
    }

    fn shown(&self) -> &Iterate {
        if self.cooling.is_cold() { &self.current } else { &self.shown }
    }

    /// A direction, and a search along it.
    fn advance(&mut self, engine: &mut Engine) {
        if !engine.holds(&self.current.point) {
            self.program.evaluate(engine, f64::INFINITY, &mut self.current);
        }
        if !self.current.value.is_finite() {
            // There is nothing to differentiate.
            self.failures = FAILURES;
            return;
        }
        let Self { program, current, system, direction, .. } = self;
        system.find(program, engine, current, direction);
        if self.search(engine) {
            self.failures = 0;
            return;
        }
        // Bounds may turn Newton's direction upwards. Each unknown on its own goes down.
        let own = self.current.gradient.iter().zip(self.current.diagonal.iter());
        self.direction.iter_mut().zip(own).for_each(|(out, (g, d))| *out = -g * d);
        if self.search(engine) {
            self.failures = 0;
        } else {
            self.failures += 1;
        }
    }

    /// Searches along the direction; whether a step was taken.
    fn search(&mut self, engine: &mut Engine) -> bool {
        let (mut part, mut shorten) = (1.0, 1.0);
        let noise = noise(&self.current);
        for trial in 0..TRIALS {
            part *= shorten;
            let parts = self.step.iter_mut().zip(self.direction.iter());
            parts.for_each(|(step, direction)| *step = part * direction);
            let before = self.program.place(&self.current, &self.step, &mut self.trial);
            // A short step cannot be told from rounding.
            let is_lost = trial > 0 && -before < LOST * noise;
            if before >= 0.0 || before.is_nan() || is_lost || engine.is_cancelled() {
                break;
            }
            self.program.evaluate(engine, f64::INFINITY, &mut self.trial);
            let moved = self.step.iter_mut().zip(self.trial.unknowns.iter());
            let moved = moved.zip(self.current.unknowns.iter());
            moved.for_each(|((step, to), from)| *step = to - from);
            let after = dot(&self.step, &self.trial.gradient);
            if descends(&self.current, &self.trial, [before, after]) {
                std::mem::swap(&mut self.current, &mut self.trial);
                return true;
            }
            shorten = shorter(before, after);
        }
        false
    }

    /// Moves to the next heat, from where its solution is expected.
    fn cool(&mut self, engine: &mut Engine) {
        let mut solved = self.current.unknowns.clone();
        self.program.stretch(&mut solved, self.cooling.heat());
        self.show(engine, &solved);
        let expected = self.cooling.next(&self.program, solved, engine.oracle_calls);
        self.take_heat(engine);
        self.place_solved();
        let Some(mut expected) = expected else { return self.settle(engine) };
        self.program.stretch(&mut expected, 1.0 / self.cooling.heat());
        self.step = self.step_to(&expected);
        self.program.place(&self.current, &self.step, &mut self.trial);
        self.program.evaluate(engine, f64::INFINITY, &mut self.trial);
        self.failures = 0;
        if self.cooling.is_near(&self.trial) {
            std::mem::swap(&mut self.current, &mut self.trial);
            return;
        }
        let value = self.trial.value;
        self.settle(engine);
        if value < self.current.value {
            // The trial holds where the search was before; go back to what was expected.
            self.step = self.step_to(&expected);
            self.program.place(&self.current, &self.step, &mut self.trial);
            self.program.evaluate(engine, f64::INFINITY, &mut self.trial);
            std::mem::swap(&mut self.current, &mut self.trial);
        }
    }

    /// Goes back to a heat that is nearer to the last one that was solved.
    fn retreat(&mut self, engine: &mut Engine) {
        let was_cold = self.cooling.is_cold();
        if self.cooling.retreat(engine.oracle_calls) {
            if was_cold {
                // What is shown stays at the true temperature.
                std::mem::swap(&mut self.current, &mut self.shown);
            }
            self.take_heat(engine);
            self.take_solved(engine);
        }
    }

    /// Goes back to the multipliers that were last a solution, in proportion.
    fn take_solved(&mut self, engine: &mut Engine) {
        self.place_solved();
        self.settle(engine);
    }

    /// The same, not evaluated.
    fn place_solved(&mut self) {
        match self.cooling.solved() {
            Some(solved) => {
                self.current.unknowns.copy_from_slice(solved);
                let heat = self.cooling.heat();
                self.program.stretch(&mut self.current.unknowns, 1.0 / heat);
            }
            None => self.program.start(&mut self.current.unknowns),
        }
    }

    /// From the current unknowns to others.
    fn step_to(&self, others: &[f64]) -> Aligned {
        let both = others.iter().zip(self.current.unknowns.iter());
        both.map(|(to, from)| to - from).collect::<Vec<f64>>().into()
    }

    /// Evaluates multipliers in the scale of the true weights, at the true temperature.
    fn show(&mut self, engine: &mut Engine, unknowns: &[f64]) {
        engine.warm(1.0);
        self.program.rebase(None, 1.0);
        self.shown.unknowns.copy_from_slice(unknowns);
        self.step.fill(0.0);
        self.program.place(&self.shown, &self.step, &mut self.trial);
        self.program.evaluate(engine, f64::INFINITY, &mut self.trial);
        std::mem::swap(&mut self.shown, &mut self.trial);
    }

    fn is_infeasible(&mut self, engine: &mut Engine) -> bool {
        let is_due = self.is_exhausted() || self.iteration.is_multiple_of(INFEASIBILITY_TEST);
        if !(is_due && self.current.violation > 1e-9) {
            return false;
        }
        engine.warm(1.0);
        let unknowns = &self.current.unknowns;
        let is_infeasible = self.program.is_infeasible(engine, unknowns, &mut self.scratch);
        engine.warm(self.cooling.heat());
        is_infeasible
    }

    fn is_plainly_impossible(&mut self, engine: &mut Engine) -> bool {
        let Self { program, scratch, cooling, shown, current, .. } = self;
        if program.breaks_a_constant() {
            return true;
        }
        if program.measurements.has_bounded_slopes() {
            return false;
        }
        let shown = if cooling.is_cold() { current } else { shown };
        engine.warm(1.0);
        let marginals = &shown.point.marginals;
        let is_impossible = program.observes_the_impossible(engine, marginals, scratch);
        engine.warm(cooling.heat());
        is_impossible
    }
}

impl Solver for Newton {
    fn name(&self) -> &'static str {
        "newton"
    }

    fn step(&mut self, engine: &mut Engine) -> Step {
        if self.iteration == 0 && self.is_plainly_impossible(engine) {
            return report(self.shown(), Verdict::Infeasible);
        }
        self.iteration += 1;
        if self.cooling.is_cold() {
            if !is_solved(&self.current) {
                self.advance(engine);
            }
        } else if self.cooling.is_solved(&self.current) || self.is_exhausted() {
            self.cool(engine);
        } else {
            self.advance(engine);
        }
        if self.cooling.is_slow(&self.current, engine.oracle_calls) {
            self.retreat(engine);
        }
        let verdict = if self.is_infeasible(engine) {
            Verdict::Infeasible
        } else if self.cooling.is_cold() && (self.is_exhausted() || is_solved(&self.current)) {
            Verdict::Settled
        } else {
            Verdict::Continue
        };
        report(self.shown(), verdict)
    }

    fn point(&self) -> &Point {
        &self.shown().point
    }

    fn multipliers(&self, _: Held, into: &mut Vec<f64>) -> bool {
        // Shown ones are always in the scale of the true weights, whatever the program's.
        let program = &self.program;
        into.extend(
            self.shown()
                .unknowns
                .iter()
                .enumerate()
                .map(|(row, unknown)| program.stated_multiplier(row, *unknown)),
        );
        true
    }
}
