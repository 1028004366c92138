//! The dual by quasi-Newton steps, and by Newton's where those are slow.
//!
//! Quasi-Newton steps cost one oracle call and learn the curvature as they go; most problems take
//! a few dozen. Newton's hold where weights are so large that curvature changes by orders of
//! magnitude along a step, but each takes a few calls, many products and a preconditioner: in all
//! about as much as hundreds of quasi-Newton steps, the more the more states a variable has. The gap at the start tells some problems that
//! are worth it, how fast it falls the others. Should rounding stop Newton's steps, quasi-Newton
//! steps have the last word.
//!
//! * Needs: measurements only, an oracle with second order.
//! * Guarantees: those of the dual.

use super::dual::{Dual, Newton};
use super::engine::{Engine, Held, Solver, Step, Verdict};
use super::point::Point;
use crate::oracle::FEW_STATES;

/// With more nats than this per table at the start, Newton's steps are taken from the start.
const STIFF: f64 = 1000.0;
/// … if there are this many measurements: with few, quasi-Newton steps soon know all curvature.
const MANY: usize = 50;
/// How many iterations lie between two looks at how fast the gap falls.
const SPAN: usize = 25;
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
    pace: Pace,
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
        let is_steep = escalation.pace.first > STIFF * engine.tables() as f64;
        if is_steep && measurements.len() >= MANY && !measurements.has_hard() {
            escalation.start_newton(engine, false);
        }
        escalation
    }

    /// Begins with Newton's steps.
    pub fn newton(engine: &mut Engine, tolerance: f64) -> Self {
        let mut escalation = Self::of_dual(engine, tolerance);
        escalation.start_newton(engine, false);
        escalation
    }

    fn of_dual(engine: &mut Engine, tolerance: f64) -> Self {
        let measurements = engine.energies.measurements.clone();
        let dual = Dual::start(engine, measurements, None, 1.0);
        let pace = Pace::new(dual.gap(), worth(engine));
        Self { dual, newton: None, runs: Runs::Dual, tolerance, iteration: 0, pace }
    }

    fn start_newton(&mut self, engine: &mut Engine, goes_on: bool) {
        let measurements = engine.energies.measurements.clone();
        let from = goes_on.then(|| self.dual.unknowns());
        self.newton = Some(Newton::start(engine, measurements, from));
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
        // What rounding leaves of a gap no method takes away.
        let target = self.tolerance * step.objective.abs().max(1.0);
        let target = target.max(ROUNDINGS * step.rounding);
        self.iteration.is_multiple_of(SPAN)
            && self.pace.is_slow(self.iteration, self.dual.gap(), target)
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

/// How fast the gap of quasi-Newton steps falls, from the start to its least so far: from one
/// iteration to the next it goes up and down.
#[derive(Clone, Copy, Debug)]
struct Pace {
    /// At the start, or where it was first finite.
    first: f64,
    least: f64,
    /// How many iterations Newton's steps are worth.
    worth: f64,
}

/// How many quasi-Newton iterations Newton's steps are worth, in all. On chains of few states each of
/// them multiplies matrices of states, a call only vectors by them.
fn worth(engine: &Engine) -> f64 {
    let blocks = engine.energies.support().blocks().iter();
    let states = blocks.filter(|block| block.tables.len() == 1).map(|block| block.len).max();
    let states = states.filter(|states| *states <= FEW_STATES).unwrap_or(0) as f64;
    Pace::WORTH * (states / Pace::STATES).max(1.0)
}

impl Pace {
    /// The first steps may raise the gap to this many times what it was: more, and they lead nowhere.
    const RISE: f64 = 10.0;
    /// Newton's steps are worth about this many iterations, up to this many states.
    const WORTH: f64 = 500.0;
    const STATES: f64 = 12.0;
    /// After this many the gap has stopped falling, however fast it did before.
    const MOST: usize = 1000;

    fn new(first: f64, worth: f64) -> Self {
        Self { first, least: f64::INFINITY, worth }
    }

    /// Whether Newton's steps would be faster, given the gap after this many iterations, and its
    /// target.
    fn is_slow(&mut self, iterations: usize, gap: f64, target: f64) -> bool {
        self.least = self.least.min(gap);
        if !self.first.is_finite() {
            self.first = self.least;
        }
        let rate = (Self::RISE * self.first / self.least).ln() / iterations as f64;
        let left = (self.least / target).ln() / rate;
        // NaN where gaps are not finite, which is slow as well.
        let is_fast = rate > 0.0 && left <= self.worth && iterations < Self::MOST;
        !(self.least <= target || is_fast)
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
                self.start_newton(engine, true);
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

#[cfg(test)]
mod tests {
    use super::*;

    /// When a gap counts as slow, looked at as [`Escalation`] does.
    fn given_up(first: f64, target: f64, gap: impl Fn(usize) -> f64) -> Option<usize> {
        let mut pace = Pace::new(first, Pace::WORTH);
        (1..=100).map(|look| SPAN * look).find(|&at| pace.is_slow(at, gap(at), target))
    }

    #[test]
    fn gaps_that_fall_steadily_are_waited_for() {
        // Within 460 iterations, through hills and where the first steps go up.
        let hills = |at: usize| 1e4 * (-0.05 * at as f64).exp() * (1.0 + 4.0 * (at % 2) as f64);
        assert_eq!(given_up(1e4, 1e-6, hills), None);
        assert_eq!(given_up(5e3, 1e-6, hills), None);
    }

    #[test]
    fn gaps_that_rise_that_crawl_or_that_stall_are_not() {
        assert_eq!(given_up(1.0, 1e-6, |_| 11.0), Some(SPAN));
        assert_eq!(given_up(f64::INFINITY, 1e-6, |_| f64::INFINITY), Some(SPAN));
        assert_eq!(given_up(1.0, 1e-6, |_| f64::NAN), Some(SPAN));
        let crawls = given_up(1e4, 1e-6, |at| 1e4 * (-0.002 * at as f64).exp());
        assert!(crawls.is_some_and(|at| at <= 100), "{crawls:?}");
        let stalls = given_up(1e4, 1e-9, |at| 1e-8 + 1e4 * (-0.1 * at as f64).exp());
        assert!(stalls.is_some_and(|at| at <= 1000), "{stalls:?}");
        // Where Newton's steps cost more, more iterations are waited for.
        let later = {
            let mut pace = Pace::new(1e4, 4.0 * Pace::WORTH);
            let gap = |at: usize| 1e4 * (-0.008 * at as f64).exp();
            (1..=20).find(|look| pace.is_slow(SPAN * look, gap(SPAN * look), 1e-6))
        };
        assert_eq!(later, None);
        let slow = given_up(1e4, 1e-6, |at| 1e4 * (-0.008 * at as f64).exp());
        assert!(slow.is_some(), "{slow:?}");
        // What rounding leaves is no reason to give up.
        assert_eq!(given_up(1e4, 2e-8, |at| 1e-8 + 1e4 * (-0.1 * at as f64).exp()), None);
    }
}
