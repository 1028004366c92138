//! The relaxed fixed-point iteration `δ ← (1 − τ)δ − τ∇L(μ)`, and the paper's two step rules.
//!
//! Bethe-RDA (Algorithm 1): `δ_t = −t/(t+β)·mean gradient`, that is `τ = 1/(t + β)`.
//! Bethe-MD (Algorithm 4): `τ = η_t/(1 + η_t)`.
//!
//! * Needs: a gradient (a subgradient will do) that is finite at the base model's marginals.
//! * Guarantees: for convex energies `O(ln t / t)` at the average of the iterates; every iterate
//!   feasible; a lower bound from past gradients at no further call.
//! * Differs from the paper: (1) the gradient is taken at `μ_{t−1}` (Algorithm 1 prints `μ_t`); (2)
//!   `−∇H(μ_t) = θ_t`, with that sign Algorithm 4 is this iteration; (3) `η_t = 1/t`, since −H is
//!   1-strongly convex relative to itself; (4) a step whose end is not finite is shortened; (5) a
//!   constant `η` that makes `F` rise under a smooth energy is halved from then on: it was above
//!   `1/M`, where Algorithm 4 has no guarantee and may oscillate for ever (below it, `F` never
//!   rises); (6) under Poisson penalties, whose gradients have no bound if almost nobody is
//!   expected, no step changes a potential by more than a limit: the mean would need as many steps
//!   to forget such a gradient as it is large.

use super::average::Average;
use super::certificate::{Roundings, lower_bound, rounding};
use super::engine::{Engine, Solver, Step, Verdict};
use super::point::{Change, Point, is_fixed};
use super::{Method, SolveError, StepSchedule};
use crate::oracle::Tables;
use crate::vector::vectorised;

/// Two points and the certificate that past gradients give.
pub(super) struct Relaxation {
    pub current: Point,
    pub next: Point,
    /// `Σ_k w_k (L(μ_k) − ⟨g_k, μ_k⟩)` for the weights with which `δ = −Σ_k w_k g_k`; weight that
    /// is still on the start counts as the zero linearisation, `inf L`.
    linear: f64,
    /// The same sum over the sizes of those terms, which the rounding of `linear` follows.
    linear_size: f64,
    roundings: Roundings,
    convex: bool,
    tables: usize,
    /// No step changes a potential by more than this.
    tilt_limit: f64,
    /// Whether `next` is the point before the current one, not a failed attempt.
    moved: bool,
}

impl Relaxation {
    pub fn start(engine: &mut Engine, solver: &'static str) -> Result<Self, SolveError> {
        let infimum = engine.infimum();
        let bounded = engine.energies.measurements.has_bounded_slopes();
        Ok(Self {
            tilt_limit: if bounded { f64::INFINITY } else { TILT_LIMIT },
            current: engine.base_point(solver)?,
            next: Point::new(engine.coordinates()),
            linear: infimum.unwrap_or(f64::NEG_INFINITY),
            linear_size: infimum.map_or(0.0, f64::abs),
            roundings: Roundings::default(),
            convex: infimum.is_some(),
            tables: engine.tables(),
            moved: false,
        })
    }

    /// The longest step that the limit on tilts allows.
    pub fn longest_step(&self) -> f64 {
        self.tilt_limit / self.current.residual()
    }

    /// Evaluates the point that a step `τ` leads to.
    fn attempt(&mut self, engine: &mut Engine, step: f64) {
        self.place(step);
        engine.evaluate(&mut self.next);
    }

    /// The same, and what it changes.
    pub fn attempt_change(&mut self, engine: &mut Engine, step: f64) -> Change {
        self.place(step);
        engine.evaluate_since(&self.current, &mut self.next)
    }

    fn place(&mut self, step: f64) {
        self.moved = false;
        let (next, Point { tilt, gradient, .. }) = (&mut self.next.tilt, &self.current);
        vectorised(
            #[inline(always)]
            || {
                for ((next, tilt), gradient) in next.iter_mut().zip(tilt).zip(gradient) {
                    *next = (1.0 - step) * tilt - step * gradient;
                }
            },
        );
    }

    /// Whether the attempted point is finite and no worse than the current one.
    pub fn falls(&self) -> bool {
        self.next.is_finite() && !self.rises()
    }

    /// Whether the attempted point is worse than the current one.
    fn rises(&self) -> bool {
        let (before, after) = (self.current.objective(), self.next.objective());
        let noise = rounding(self.current.objective_size() + self.next.objective_size());
        after > before + noise + self.current.slack + self.next.slack
    }

    /// Makes the attempted point the current one.
    pub fn accept(&mut self, step: f64) {
        let (linearised, size) = (self.current.linearisation(), self.current.linearisation_size());
        (self.linear, self.linear_size) = if step == 1.0 {
            (linearised, size)
        } else {
            let mix = |old: f64, new: f64| (1.0 - step) * old + step * new;
            (mix(self.linear, linearised), mix(self.linear_size, size))
        };
        self.roundings = self.roundings.after(step);
        std::mem::swap(&mut self.current, &mut self.next);
        self.moved = true;
    }

    /// [`Solver::previous`]
    pub fn previous(&self) -> &Point {
        if self.moved { &self.next } else { &self.current }
    }

    /// The current point, with the free certificate.
    pub fn report(&self, verdict: Verdict) -> Step {
        let bound = if self.convex {
            let size = self.roundings.grown(self.linear_size + self.current.potential_size());
            lower_bound(self.linear, size, self.current.log_partition)
        } else {
            f64::NEG_INFINITY
        };
        let residual = self.current.residual();
        let stationary = !self.convex && is_fixed(residual, self.tables);
        let verdict = if stationary { Verdict::Stationary } else { verdict };
        let step = Step::new(self.current.objective(), bound, residual, verdict);
        let rounding = rounding(self.current.objective_size());
        Step { can_be_sharpened: self.convex, rounding, ..step }
    }
}

/// A step is cut by this factor while its end is not finite …
const SHORTENING: f64 = 0.25;
/// … at most this often: `4⁻⁵⁰ ≈ 1e-30` of a step moves nothing.
const SHORTENINGS: usize = 50;

/// No step changes a potential by more than this where gradients have no bound.
const TILT_LIMIT: f64 = 3.0;

/// Bethe-RDA and Bethe-MD.
pub(super) struct Relaxed {
    method: Method,
    relaxation: Relaxation,
    average: Average,
    iteration: usize,
    /// What a constant rate is multiplied by.
    caution: f64,
    smooth: bool,
}

impl Relaxed {
    pub fn start(engine: &mut Engine, method: Method, shown: Tables) -> Result<Self, SolveError> {
        Ok(Self {
            method,
            relaxation: Relaxation::start(engine, method.name())?,
            average: Average::new(engine.coordinates(), shown),
            iteration: 0,
            caution: 1.0,
            smooth: engine.energies.is_smooth(),
        })
    }

    fn step_size(&self) -> f64 {
        let t = self.iteration as f64;
        match self.method {
            Method::Rda { beta } => 1.0 / (t + beta),
            Method::MirrorDescent { schedule: StepSchedule::Constant(rate) } => {
                let rate = self.caution * rate;
                rate / (1.0 + rate)
            }
            _ => 1.0 / (t + 1.0),
        }
    }
}

impl Solver for Relaxed {
    fn name(&self) -> &'static str {
        self.method.name()
    }

    fn step(&mut self, engine: &mut Engine) -> Step {
        self.iteration += 1;
        let mut step = self.step_size().min(self.relaxation.longest_step());
        self.relaxation.attempt(engine, step);
        for _ in 0..SHORTENINGS {
            if self.relaxation.next.is_finite() {
                break;
            }
            step *= SHORTENING;
            self.relaxation.attempt(engine, step);
        }
        let moved = self.relaxation.next.is_finite();
        if moved {
            if self.smooth && self.relaxation.rises() {
                self.caution *= 0.5;
            }
            self.relaxation.accept(step);
            self.average.add(engine, &self.relaxation.current, 1.0 / self.iteration as f64);
        }
        let verdict = if moved { Verdict::Continue } else { Verdict::Settled };
        self.relaxation.report(verdict)
    }

    fn point(&self) -> &Point {
        &self.relaxation.current
    }

    fn previous(&self) -> Option<&Point> {
        Some(self.relaxation.previous())
    }

    fn average(&mut self, engine: &mut Engine) -> Option<&Average> {
        self.average.evaluate(engine);
        Some(&self.average).filter(|_| self.relaxation.moved)
    }
}
