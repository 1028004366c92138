//! The dual, and adaptive steps where it gets nowhere.
//!
//! Smooth measurements that say nearly the same thing with large weights leave the dual flat in
//! many directions and steep in others; steps in the marginals then arrive, if slowly.
//!
//! * Needs: smooth measurements.
//! * Guarantees: those of the dual, and from the hand-over on those of [`Adaptive`].

use super::adaptive::Adaptive;
use super::engine::{Engine, Point, Solver, Step, Verdict};

/// The dual is given so many iterations, if it does not give up before, …
const PATIENCE: usize = 1000;
/// … to come so close, relative to the objective's size. It then arrives before adaptive steps
/// would.
const NEAR: f64 = 1e-3;

pub(super) struct Relay {
    solver: Box<dyn Solver>,
    iterations: usize,
    /// Least gap so far, relative to the objective's size.
    nearest: f64,
    stage: Stage,
    /// Where the dual ended, right after the hand-over.
    left: Option<Point>,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Stage {
    Dual,
    HandOver,
    Adaptive,
}

impl Relay {
    pub fn start(dual: Box<dyn Solver>) -> Self {
        Self { solver: dual, iterations: 0, nearest: f64::INFINITY, stage: Stage::Dual, left: None }
    }

    fn hand_over(&mut self, engine: &mut Engine) {
        self.stage = Stage::Adaptive;
        // Where the energy is not finite at the base model, the dual goes on.
        if let Ok(adaptive) = Adaptive::start(engine) {
            self.left = Some(self.solver.point().clone());
            self.solver = Box::new(adaptive);
        }
    }
}

impl Solver for Relay {
    fn name(&self) -> &'static str {
        self.solver.name()
    }

    fn step(&mut self, engine: &mut Engine) -> Step {
        self.left = None;
        if self.stage == Stage::HandOver {
            self.hand_over(engine);
        }
        let mut step = self.solver.step(engine);
        self.iterations += 1;
        let gap = step.gap.unwrap_or(step.objective - step.lower_bound);
        self.nearest = self.nearest.min(gap / step.objective.abs().max(1.0));
        let gives_up = step.verdict == Verdict::Settled;
        if self.stage == Stage::Dual
            && self.nearest > NEAR
            && (gives_up || self.iterations >= PATIENCE)
        {
            self.stage = Stage::HandOver;
            step.verdict = Verdict::Continue;
        }
        step
    }

    fn point(&self) -> &Point {
        self.solver.point()
    }

    fn previous(&self) -> Option<&Point> {
        self.left.as_ref().or_else(|| self.solver.previous())
    }
}
