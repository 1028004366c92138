//! A method of your own under the same driver: time, stopping and certificates come for free.

use super::certificate::rounding;
use super::engine::{Engine, Solver, Step, Verdict};
use super::point::Point;
use crate::energy::{Curvature, Energies};

/// Says which tilt to try next.
pub trait OwnMethod {
    /// The name in answers.
    fn name(&self) -> &'static str;

    /// Changes the tilt, given the outcome of the latest one; returns how many oracle calls that
    /// work is worth, if it passes messages of its own.
    fn step(&mut self, latest: &Evaluated, tilt: &mut [f64]) -> usize;

    /// A proved upper bound on `F(μ) − F*` at a tilt and its marginals. Without one, the driver now
    /// and then spends a call on the bound that the energy's gradient gives, if it is convex.
    fn gap(&self, _: &Energies, _tilt: &[f64], _marginals: &[f64]) -> Option<f64> {
        None
    }
}

/// The outcome of a tilt.
#[derive(Clone, Copy)]
pub struct Evaluated<'a> {
    /// The energies.
    pub energies: &'a Energies,
    /// `μ(θ + δ)`. `[support]`
    pub marginals: &'a [f64],
    /// `∇L(μ)`. `[support]`
    pub gradient: &'a [f64],
    /// `F(μ)`
    pub objective: f64,
    /// [`OwnMethod::gap`]
    pub gap: Option<f64>,
}

/// Runs a method under the driver.
pub(super) struct Own<'m> {
    method: &'m mut dyn OwnMethod,
    point: Point,
    gap: Option<f64>,
    /// The tilt to try next. `[support]`
    next: Vec<f64>,
}

impl<'m> Own<'m> {
    pub fn start(engine: &mut Engine, method: &'m mut dyn OwnMethod) -> Self {
        let width = engine.coordinates();
        let mut own = Self { method, point: Point::new(width), gap: None, next: vec![0.0; width] };
        own.evaluate(engine);
        own
    }

    fn evaluate(&mut self, engine: &mut Engine) {
        engine.evaluate(&mut self.point);
        self.gap = self.method.gap(engine.energies, &self.point.tilt, &self.point.marginals);
    }
}

impl Solver for Own<'_> {
    fn name(&self) -> &'static str {
        self.method.name()
    }

    fn step(&mut self, engine: &mut Engine) -> Step {
        let latest = Evaluated {
            energies: engine.energies,
            marginals: &self.point.marginals,
            gradient: &self.point.gradient,
            objective: self.point.objective(),
            gap: self.gap,
        };
        self.next.copy_from_slice(&self.point.tilt);
        engine.oracle_calls += self.method.step(&latest, &mut self.next);
        self.point.tilt.copy_from_slice(&self.next);
        self.evaluate(engine);
        let convex = matches!(engine.energies.curvature(), Curvature::Convex { .. });
        let (objective, rounding) = (self.point.objective(), rounding(self.point.objective_size()));
        let bound = self.gap.map_or(f64::NEG_INFINITY, |gap| objective - gap - rounding);
        Step {
            gap: self.gap,
            rounding,
            can_be_sharpened: convex && self.gap.is_none(),
            ..Step::new(objective, bound, self.point.residual(), Verdict::Continue)
        }
    }

    fn point(&self) -> &Point {
        &self.point
    }
}
