//! The dual by quasi-Newton steps, and by Newton's where those are slow.
//!
//! Quasi-Newton steps cost one oracle call and learn the curvature as they go; most problems take
//! a few dozen. Newton's take a few calls and products each, and hold where weights are so large
//! that curvature changes by orders of magnitude along a step. The gap at the start tells some of
//! those, how fast it falls the others. Should rounding stop Newton's steps, quasi-Newton steps
//! have the last word.
//!
//! * Needs: measurements only, an oracle with second order.
//! * Guarantees: those of the dual.

use super::dual::{Dual, Newton};
use super::engine::{Engine, Held, Solver, Step, Verdict};
use super::point::Point;

/// With more nats than this per table at the start, Newton's steps are taken from the start.
const STIFF: f64 = 100.0;
/// … if there are this many measurements: with few, quasi-Newton steps soon know all curvature.
const MANY: usize = 50;
/// How fast the gap falls is judged over this many iterations …
const SPAN: usize = 25;
/// … and too slow if it would take more than this many further ones.
const LEFT: f64 = 100.0;
/// A gap of this many times the rounding of the objective is as good as none.
const ROUNDINGS: f64 = 10.0;
/// Where hard constraints are broken, gaps tell nothing: they get this many iterations.
const PATIENCE: usize = 100;
/// Newton's steps are given up after this many: no problem that they are good for takes so long.
const MOST_STEPS: usize = 300;

pub(super) struct Escalation {
    dual: Dual,
    /// Once they were tried.
    newton: Option<Newton>,
    runs: Runs,
    tolerance: f64,
    iteration: usize,
    /// The gap when it was last looked at.
    gap: f64,
}

/// Which steps are taken.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Runs {
    Dual,
    /// The dual's point is shown once more, now that no earlier one is held …
    Handover,
    /// … and stays the current one until Newton's steps take over.
    HandedOver,
    Newton,
    /// Those came to rest, and the dual goes on from there.
    DualAgain,
}

impl Escalation {
    /// Begins with the steps that the gap at the start asks for.
    pub fn start(engine: &mut Engine, tolerance: f64) -> Self {
        let mut escalation = Self::of_dual(engine, tolerance);
        let measurements = escalation.dual.measurements();
        let is_steep = escalation.gap > STIFF * engine.tables() as f64;
        if is_steep && measurements.len() >= MANY && !measurements.has_hard() {
            escalation.start_newton(engine);
        }
        escalation
    }

    /// Begins with Newton's steps.
    pub fn newton(engine: &mut Engine, tolerance: f64) -> Self {
        let mut escalation = Self::of_dual(engine, tolerance);
        escalation.start_newton(engine);
        escalation
    }

    fn of_dual(engine: &mut Engine, tolerance: f64) -> Self {
        let measurements = engine.energies.measurements.clone();
        let dual = Dual::start(engine, measurements, None, 1.0);
        let gap = dual.gap();
        Self { dual, newton: None, runs: Runs::Dual, tolerance, iteration: 0, gap }
    }

    fn start_newton(&mut self, engine: &mut Engine) {
        let measurements = engine.energies.measurements.clone();
        self.newton = Some(Newton::start(engine, measurements));
        self.runs = Runs::Newton;
    }

    fn running(&self) -> &dyn Solver {
        match (&self.newton, self.runs) {
            (Some(newton), Runs::Newton) => newton,
            _ => &self.dual,
        }
    }

    /// Whether quasi-Newton steps take too long.
    fn is_slow(&mut self, step: &Step) -> bool {
        if self.dual.measurements().has_hard() {
            return self.iteration == PATIENCE;
        }
        if !self.iteration.is_multiple_of(SPAN) {
            return false;
        }
        let before = std::mem::replace(&mut self.gap, self.dual.gap());
        // What rounding leaves of a gap no method takes away.
        let target = self.tolerance * step.objective.abs().max(1.0);
        let target = target.max(ROUNDINGS * step.rounding);
        let rate = (before / self.gap).ln() / SPAN as f64;
        let left = (self.gap / target).ln() / rate;
        // NaN where gaps are not finite, which is slow as well.
        !(self.gap <= target || rate > 0.0 && left <= LEFT)
    }

    fn step_dual(&mut self, engine: &mut Engine) -> Step {
        let mut step = self.dual.step(engine);
        self.iteration += 1;
        let gives_up = step.verdict == Verdict::Settled && self.dual.is_exhausted();
        if step.verdict == Verdict::Infeasible || self.newton.is_some() {
            return step;
        }
        if gives_up && self.dual.gap() > 0.0 || self.is_slow(&step) {
            self.runs = Runs::Handover;
            step.verdict = Verdict::Continue;
        }
        step
    }
}

impl Solver for Escalation {
    fn name(&self) -> &'static str {
        self.running().name()
    }

    fn step(&mut self, engine: &mut Engine) -> Step {
        match self.runs {
            Runs::Handover => {
                // Whoever looks at this step takes the dual's point with it: it is not Newton's yet.
                self.runs = Runs::HandedOver;
                self.dual.show()
            }
            Runs::HandedOver => {
                self.start_newton(engine);
                self.step(engine)
            }
            Runs::Newton => {
                let newton = self.newton.as_mut().expect("it was started");
                let mut step = newton.step(engine);
                let gives_up = step.verdict == Verdict::Settled && newton.is_exhausted();
                let is_late = step.verdict == Verdict::Continue && newton.steps() >= MOST_STEPS;
                if gives_up || is_late {
                    self.runs = Runs::DualAgain;
                    engine.warm(1.0);
                    self.dual.move_to(engine, newton.unknowns());
                    step.verdict = Verdict::Continue;
                }
                step
            }
            Runs::Dual | Runs::DualAgain => self.step_dual(engine),
        }
    }

    fn point(&self) -> &Point {
        self.running().point()
    }

    fn previous(&self) -> Option<&Point> {
        let holds = self.newton.is_none() && self.runs != Runs::HandedOver;
        holds.then(|| self.dual.previous()).flatten()
    }

    fn multipliers(&self, held: Held, into: &mut Vec<f64>) -> bool {
        self.running().multipliers(held, into)
    }
}
