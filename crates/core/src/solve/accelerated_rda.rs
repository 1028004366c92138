//! Accelerated Bethe-RDA (Algorithm 5).
//!
//! With `c_t = 2/(t+1)`: `u = (1−c)μ̄ + cν`, `ḡ ← (1−c)ḡ + c∇L(u)`, `ν = oracle(θ − s·ḡ)` with
//! `s = t(t+1)/(4M + t(t+1))`, `μ̄ ← (1−c)μ̄ + cν`.
//!
//! * Needs: a convex energy whose gradient is `L`-Lipschitz in a norm in which −H is `σ`-strongly
//!   convex; `M = L/σ` (given, or found by doubling).
//! * Guarantees: `F(μ̄) − F* = O(M/t²)` for the given `M`; with doubling, for one that passed the
//!   test.
//! * Differs from the paper: (1) the prox function is centred at `oracle(θ)`, so only the tilt
//!   shrinks, not `θ`; (2) the paper's `L` is this `M`, smoothness over strong convexity; (3) the
//!   test for doubling is `L(μ̄′) ≤ L(u) + ⟨∇L(u), μ̄′−u⟩ + M·c²·KL(ν′‖ν)`.
//!
//! The average has no tilt of its own: it is decoded at `θ − ḡ`. Where the answer needs a tilt, the
//! solver's point is `ν`.

use super::SolveError;
use super::average::Average;
use super::certificate::{Roundings, lower_bound, rounding};
use super::engine::{Engine, Solver, Step, Verdict};
use super::point::{Point, divergence};
use crate::oracle::Tables;
use crate::vector::approach;

const FIRST_SMOOTHNESS: f64 = 1.0;
/// Beyond this no step moves a double, however steep the energy.
const LARGEST_SMOOTHNESS: f64 = 1e300;
/// A step out of the finite range asks for more than doubling.
const LEAP: f64 = 1024.0;

pub(super) struct AcceleratedRda {
    /// `ν`
    leader: Point,
    next: Point,
    /// `μ̄`
    average: Average,
    /// `u`, its gradient and energy.
    between: Point,
    /// Where the average would move: marginals and energy.
    probe: Point,
    /// `ḡ`. `[support]`
    mean_gradient: Vec<f64>,
    /// The same average of `L(u_k) − ⟨∇L(u_k), u_k⟩`.
    linear: f64,
    /// The same of the sizes of those terms.
    linear_size: f64,
    roundings: Roundings,
    infimum: f64,
    smoothness: f64,
    estimate: bool,
    /// Whether the solver's point is `ν`, not `μ̄`.
    follows_leader: bool,
    iteration: usize,
}

impl AcceleratedRda {
    pub fn start(
        engine: &mut Engine,
        smoothness: Option<f64>,
        shown: Tables,
    ) -> Result<Self, SolveError> {
        let coordinates = engine.coordinates();
        let leader = engine.base_point("accelerated-rda")?;
        let mut average = Average::new(coordinates, shown);
        average.add(engine, &leader, 1.0);
        Ok(Self {
            leader,
            next: Point::new(coordinates),
            average,
            between: Point::new(coordinates),
            probe: Point::new(coordinates),
            mean_gradient: vec![0.0; coordinates],
            linear: 0.0,
            linear_size: 0.0,
            roundings: Roundings::default(),
            infimum: engine.infimum().unwrap_or(f64::NEG_INFINITY),
            smoothness: smoothness.unwrap_or(FIRST_SMOOTHNESS),
            estimate: smoothness.is_none(),
            follows_leader: !engine.allows_average,
            iteration: 0,
        })
    }

    fn shrinkage(&self) -> f64 {
        let squared = (self.iteration * (self.iteration + 1)) as f64;
        squared / (4.0 * self.smoothness + squared)
    }

    /// `u`, and the gradient there into the mean.
    fn linearise(&mut self, engine: &mut Engine, share: f64) {
        mix(&self.average.point, &self.leader, share, &mut self.between);
        self.between.read_energy(engine.energies);
        self.between.summarise();
        approach(&mut self.mean_gradient, share, &self.between.gradient);
        self.roundings = self.roundings.after(share);
        self.linear += share * (self.between.linearisation() - self.linear);
        self.linear_size += share * (self.between.linearisation_size() - self.linear_size);
    }

    /// The solver's point, with this lower bound.
    fn report(&self, bound: f64) -> Step {
        let objective = self.average.objective();
        let verdict = if objective.is_finite() { Verdict::Continue } else { Verdict::Settled };
        let residual = self.point().residual();
        if self.follows_leader {
            let rounding = rounding(self.leader.objective_size());
            return Step {
                rounding,
                ..Step::new(self.leader.objective(), bound, residual, verdict)
            };
        }
        let rounding = self.average.rounding();
        Step { is_average: true, rounding, ..Step::new(objective, bound, residual, verdict) }
    }

    /// Whether the attempted leader keeps within the majorant.
    fn is_majorised(&mut self, engine: &mut Engine, share: f64) -> bool {
        mix(&self.average.point, &self.next, share, &mut self.probe);
        let energy = engine.energies.evaluate(&self.probe.marginals, &mut self.probe.gradient);
        self.probe.energy = energy;
        let expected: f64 = (self.between.gradient.iter())
            .zip(self.probe.marginals.iter().zip(&self.between.marginals))
            .map(|(g, (b, a))| g * (b - a))
            .sum();
        let noise = 1e-13 * (energy.abs() + self.between.energy.abs() + expected.abs() + 1.0);
        let allowed = self.smoothness * share * share * divergence(&self.next, &self.leader);
        self.next.has_finite_tilt()
            && energy.is_finite()
            && energy - self.between.energy - expected <= allowed.max(0.0) + noise
    }
}

/// `(1 − share)·a + share·b`, marginals only.
fn mix(a: &Point, b: &Point, share: f64, target: &mut Point) {
    for ((mixed, a), b) in target.marginals.iter_mut().zip(&a.marginals).zip(&b.marginals) {
        *mixed = a + share * (b - a);
    }
}

impl Solver for AcceleratedRda {
    fn name(&self) -> &'static str {
        "accelerated-rda"
    }

    fn step(&mut self, engine: &mut Engine) -> Step {
        self.iteration += 1;
        let share = 2.0 / (self.iteration as f64 + 1.0);
        self.linearise(engine, share);
        loop {
            let shrinkage = self.shrinkage();
            for (tilt, gradient) in self.next.tilt.iter_mut().zip(&self.mean_gradient) {
                *tilt = -shrinkage * gradient;
            }
            engine.call_at(&mut self.next);
            self.next.summarise();
            // A given constant is trusted, except for steps that leave the finite range.
            let passes = self.is_majorised(engine, share)
                || !self.estimate && self.next.has_finite_tilt() && self.probe.energy.is_finite();
            if passes || self.smoothness > LARGEST_SMOOTHNESS {
                break;
            }
            if engine.is_cancelled() {
                return self.report(f64::NEG_INFINITY);
            }
            let within = self.next.has_finite_tilt() && self.probe.energy.is_finite();
            self.smoothness *= if within { 2.0 } else { LEAP };
        }
        std::mem::swap(&mut self.leader, &mut self.next);
        self.average.add(engine, &self.leader, share);
        self.average.evaluate(engine);
        let point = &mut self.average.point;
        for (tilt, gradient) in point.tilt.iter_mut().zip(&self.mean_gradient) {
            *tilt = -gradient;
        }
        point.summarise();

        let shrinkage = self.shrinkage();
        let start = if shrinkage < 1.0 { (1.0 - shrinkage) * self.infimum } else { 0.0 };
        let linear = shrinkage * self.linear + start;
        let size = self.linear_size + start.abs() + self.leader.potential_size();
        let size = self.roundings.grown(size);
        let bound = lower_bound(linear, size, self.leader.log_partition);
        if self.follows_leader {
            self.leader.read_energy(engine.energies);
            self.leader.summarise();
        }
        Step { can_be_sharpened: true, ..self.report(bound) }
    }

    fn point(&self) -> &Point {
        if self.follows_leader { &self.leader } else { &self.average.point }
    }

    fn average(&mut self, _: &mut Engine) -> Option<&Average> {
        Some(&self.average)
    }
}
