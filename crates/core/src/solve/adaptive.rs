//! The relaxed iteration with `τ = 1/(1 + M)`, `M` found by Bregman backtracking.
//!
//! A step is taken once `L(μ′) ≤ L(μ) + ⟨∇L(μ), μ′−μ⟩ + M·KL(μ′‖μ)`; then `F` falls. Where the
//! differences of `L` drown in rounding, the test is `⟨∇L(μ′)−∇L(μ), μ′−μ⟩ ≤ M·⟨δ′−δ, μ′−μ⟩`, which
//! holds whenever the first does everywhere on the segment.
//!
//! Under Poisson penalties no step changes a potential by more than a limit. If the limit binds, it
//! is enough that `F` falls: if almost nobody is expected, no finite `M` would pass the test.
//!
//! * Needs: a smooth energy, finite at the base model's marginals.
//! * Guarantees: `F` never rises; for convex energies that are `M`-smooth relative to −H the gap
//!   falls by the factor `M/(1 + M)` per step; for others, stationary limits (Appendix C).
//! * Reference: Algorithm 4 with the step size of its convergence proof, found rather than given.

use super::SolveError;
use super::engine::{Engine, Solver, Step, Verdict};
use super::point::{Change, Point};
use super::rda_and_mirror_descent::Relaxation;

/// `M`, as far as it is known.
pub(super) struct Smoothness(f64);

impl Smoothness {
    /// The first guess.
    pub const FIRST: Self = Self(1.0);
    /// For an energy that need not be majorised.
    pub const NONE: Self = Self(0.0);
    /// Beyond this no step moves a double.
    const LARGEST: f64 = 1e15;

    pub fn value(&self) -> f64 {
        self.0
    }

    /// Whether a step that needs this much passes.
    pub fn allows(&self, needed: f64) -> bool {
        needed <= self.0
    }

    pub fn is_hopeless(&self) -> bool {
        self.0 > Self::LARGEST
    }

    /// After a step that failed: at least twice as much, and at least what it needed, within
    /// reason.
    pub fn raise(&mut self, needed: f64) {
        self.0 = (2.0 * self.0).max((1.25 * needed).min(1e3));
    }

    /// After a step that passed: a little more than it needed, without a sudden drop.
    pub fn relax(&mut self, needed: f64) {
        self.0 = (1.25 * needed).max(0.25 * self.0);
    }
}

pub(super) struct Adaptive {
    relaxation: Relaxation,
    smoothness: Smoothness,
}

impl Adaptive {
    pub fn start(engine: &mut Engine) -> Result<Self, SolveError> {
        let relaxation = Relaxation::start(engine, "adaptive")?;
        Ok(Self { relaxation, smoothness: Smoothness::FIRST })
    }
}

impl Solver for Adaptive {
    fn name(&self) -> &'static str {
        "adaptive"
    }

    fn step(&mut self, engine: &mut Engine) -> Step {
        let mut verdict = Verdict::Settled;
        let longest = self.relaxation.longest_step();
        while !self.smoothness.is_hopeless() {
            let step = 1.0 / (1.0 + self.smoothness.value());
            let (step, is_limited) = (step.min(longest), longest < step);
            let change = self.relaxation.attempt_change(engine, step);
            let needed = needed_smoothness(&self.relaxation.current, &self.relaxation.next, change);
            let passes = self.smoothness.allows(needed);
            if passes || is_limited && self.relaxation.falls() {
                self.relaxation.accept(step);
                if passes {
                    self.smoothness.relax(needed);
                }
                verdict = Verdict::Continue;
                break;
            }
            self.smoothness.raise(needed);
        }
        self.relaxation.report(verdict)
    }

    fn point(&self) -> &Point {
        &self.relaxation.current
    }

    fn previous(&self) -> Option<&Point> {
        Some(self.relaxation.previous())
    }
}

/// The least `M` with which the step from `current` to `next` passes the test; `+∞` if `next` is
/// not finite.
pub(super) fn needed_smoothness(current: &Point, next: &Point, change: Change) -> f64 {
    let Change { divergence, expected, bend, travel } = change;
    if !next.is_finite() {
        return f64::INFINITY;
    }
    let excess = next.energy - current.energy - expected;
    let noise = 1e-13
        * (current.energy.abs() + next.energy.abs() + current.log_partition.abs() + expected.abs())
        + current.slack
        + next.slack;
    if divergence > 1e3 * noise {
        return (excess.max(0.0) - noise).max(0.0) / divergence;
    }
    if bend <= 0.0 || travel <= 0.0 { 0.0 } else { bend / travel }
}
