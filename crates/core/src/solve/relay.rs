//! The dual, and adaptive steps where it gets nowhere.
//!
//! Smooth measurements that say nearly the same thing with large weights leave the dual flat in many
//! directions and steep in others; steps in the marginals then arrive, if slowly.
//!
//! * Needs: smooth measurements whose slopes are bounded.
//! * Guarantees: those of [`Dual`], and from the hand-over on those of [`Adaptive`].

use super::adaptive::Adaptive;
use super::dual::Dual;
use super::engine::{Engine, Point, Solver, Step};

/// The dual is given so many iterations …
const PATIENCE: usize = 1000;
/// … to come so close, relative to the objective's size. It then arrives before adaptive steps would.
const NEAR: f64 = 1e-3;

pub(super) struct Relay {
    solver: Box<dyn Solver>,
    iterations: usize,
    is_far: bool,
    /// Where the dual ended, right after the hand-over.
    left: Option<Point>,
}

impl Relay {
    pub fn start(dual: Dual) -> Self {
        Self { solver: Box::new(dual), iterations: 0, is_far: true, left: None }
    }
}

impl Solver for Relay {
    fn name(&self) -> &'static str {
        self.solver.name()
    }

    fn step(&mut self, engine: &mut Engine) -> Step {
        self.left = None;
        // Where the energy is not finite at the base model, the dual goes on.
        if self.iterations == PATIENCE
            && self.is_far
            && let Ok(adaptive) = Adaptive::start(engine)
        {
            self.left = Some(self.solver.point().clone());
            self.solver = Box::new(adaptive);
        }
        let step = self.solver.step(engine);
        self.iterations += 1;
        self.is_far = step.gap.is_none_or(|gap| gap > NEAR * step.objective.abs().max(1.0));
        step
    }

    fn point(&self) -> &Point {
        self.solver.point()
    }

    fn previous(&self) -> Option<&Point> {
        self.left.as_ref().or_else(|| self.solver.previous())
    }
}
