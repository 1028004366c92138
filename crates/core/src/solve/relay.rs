//! The dual, with adaptive steps if it stalls.
//!
//! Nearly redundant smooth measurements with large weights make the dual flat in many directions
//! and steep in others. Steps in the marginals may then arrive, if slowly. Which of the two is
//! faster is not known beforehand, so they take turns, each from where it left off: the dual,
//! adaptive steps, the dual once more, and from then on the better of the two.
//!
//! * Needs: smooth measurements.
//! * Guarantees: those of the dual, and while adaptive steps are taken those of [`Adaptive`].

use super::adaptive::Adaptive;
use super::engine::{Engine, Held, Solver, Step, Verdict};
use super::point::Point;

/// Iterations of each turn; the last for all that follow.
const TURNS: [usize; 3] = [1000, 1000, 2000];
/// A dual with a relative gap below this is not interrupted.
const NEAR: f64 = 1e-3;

pub(super) struct Relay {
    dual: Box<dyn Solver>,
    /// Once they were tried.
    adaptive: Option<Adaptive>,
    /// Which of the two runs.
    is_dual: bool,
    /// Whether it runs to the end: the other one gave up, or cannot start.
    is_alone: bool,
    /// Whether the other one takes the next step.
    hands_over: bool,
    /// Whether the last step was the first after that.
    is_first: bool,
    /// Turns that are over.
    turns: usize,
    /// Iterations of this turn.
    iterations: usize,
    /// Least gaps of the dual and of adaptive steps so far, relative to the objective's size.
    nearest: [f64; 2],
    /// Best lower bound so far.
    bound: f64,
}

impl Relay {
    pub fn start(dual: Box<dyn Solver>) -> Self {
        Self {
            dual,
            adaptive: None,
            is_dual: true,
            is_alone: false,
            hands_over: false,
            is_first: false,
            turns: 0,
            iterations: 0,
            nearest: [f64::INFINITY; 2],
            bound: f64::NEG_INFINITY,
        }
    }

    /// Who runs, and who does not.
    fn solvers(&self) -> (&dyn Solver, Option<&dyn Solver>) {
        let dual = self.dual.as_ref();
        match &self.adaptive {
            Some(adaptive) if !self.is_dual => (adaptive, Some(dual)),
            Some(adaptive) => (dual, Some(adaptive)),
            None => (dual, None),
        }
    }

    /// Lets the other one run.
    fn hand_over(&mut self, engine: &mut Engine) {
        if self.adaptive.is_none() {
            self.adaptive = Adaptive::start(engine).ok();
        }
        if self.adaptive.is_some() {
            (self.is_dual, self.is_first) = (!self.is_dual, true);
        } else {
            // If the energy is not finite at the base model, the dual continues.
            self.is_alone = true;
        }
    }

    fn observe(&mut self, step: &Step) {
        self.iterations += 1;
        self.bound = self.bound.max(step.lower_bound);
        let gap = step.gap.unwrap_or(step.objective - self.bound);
        let nearest = &mut self.nearest[usize::from(!self.is_dual)];
        *nearest = nearest.min(gap / step.objective.abs().max(1.0));
    }

    /// Whether the turn is over, and the next one the other's.
    fn should_hand_over(&mut self, step: &Step) -> bool {
        let [dual, adaptive] = self.nearest;
        let gives_up = step.verdict == Verdict::Settled;
        let is_over = gives_up || self.iterations >= TURNS[self.turns.min(TURNS.len() - 1)];
        if self.is_alone || !is_over || self.is_dual && dual <= NEAR {
            return false;
        }
        (self.turns, self.iterations, self.is_alone) = (self.turns + 1, 0, gives_up);
        gives_up || self.turns < TURNS.len() || (adaptive < dual) == self.is_dual
    }
}

impl Solver for Relay {
    fn name(&self) -> &'static str {
        self.solvers().0.name()
    }

    fn step(&mut self, engine: &mut Engine) -> Step {
        self.is_first = false;
        if std::mem::take(&mut self.hands_over) {
            self.hand_over(engine);
        }
        let mut step = match &mut self.adaptive {
            Some(adaptive) if !self.is_dual => adaptive.step(engine),
            _ => self.dual.step(engine),
        };
        self.observe(&step);
        if self.should_hand_over(&step) {
            self.hands_over = true;
            step.verdict = Verdict::Continue;
        }
        step
    }

    fn point(&self) -> &Point {
        self.solvers().0.point()
    }

    fn base(&self) -> Option<Step> {
        self.solvers().0.base()
    }

    fn previous(&self) -> Option<&Point> {
        // A solver holds one always or never.
        self.dual.previous()?;
        match self.solvers() {
            (_, Some(other)) if self.is_first => Some(other.point()),
            (running, _) => running.previous(),
        }
    }

    fn multipliers(&self, held: Held, into: &mut Vec<f64>) -> bool {
        match self.solvers() {
            (_, Some(other)) if self.is_first && held == Held::Previous => {
                other.multipliers(Held::Current, into)
            }
            (running, _) => running.multipliers(held, into),
        }
    }
}
