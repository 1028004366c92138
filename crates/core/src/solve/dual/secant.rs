//! The latest step, and the direction that it leads to.

use pulp::Simd;

use super::passes::Blend;
use crate::vector::{Reduced, Reduction};

/// Of a step `s` and the change `c` of the gradient to `g`: what a quasi-Newton direction that remembers
/// nothing else asks for. The two iterates hold the vectors.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Secant {
    /// `⟨s, g − c⟩`: the slope along the step at its start.
    pub before: f64,
    /// `⟨s, g⟩`
    pub after: f64,
    /// `⟨s, g⟩` over the free coordinates, as all that follows.
    along: f64,
    /// `⟨s, c⟩`
    curvature: f64,
    /// `⟨c, diagonal·c⟩`
    weighted: f64,
    /// `⟨c, diagonal·g⟩`
    turned: f64,
}

impl Secant {
    pub fn new(totals: Reduced<6, 0>) -> Self {
        let [before, after, along, curvature, weighted, turned] = totals.sums;
        Self { before, after, along, curvature, weighted, turned }
    }

    /// `−B·g`, where `B` is the inverse Hessian that this step updates from the diagonal, scaled so
    /// that it fits the step.
    pub fn direction(&self) -> Blend {
        // Where rounding would rule it, a step is of no use.
        let usable = self.curvature > 1e-12 * self.before.abs();
        let scale = self.curvature / self.weighted;
        if !usable || !scale.is_finite() || scale <= 0.0 {
            return Blend::STEEPEST;
        }
        let share = -self.along / self.curvature;
        let back = -scale * (self.turned + share * self.weighted) / self.curvature;
        Blend {
            gradient: -scale * (1.0 + share),
            older: scale * share,
            apart: back - share,
            origin: 1.0,
        }
    }
}

/// Unknowns and gradients at both ends; the diagonal is 0 where a coordinate is not free.
impl Reduction<5, 6, 0> for Secant {
    #[inline(always)]
    fn add<S: Simd>(
        simd: S,
        [x, old_x, g, old_g, diagonal]: [S::f64s; 5],
        [before, after, along, curvature, weighted, turned]: &mut [S::f64s; 6],
        []: &mut [S::f64s; 0],
    ) {
        let zero = simd.splat_f64s(0.0);
        let (s, c) = (simd.sub_f64s(x, old_x), simd.sub_f64s(g, old_g));
        let free = simd.select_f64s(simd.greater_than_f64s(diagonal, zero), s, zero);
        let scaled = simd.mul_f64s(c, diagonal);
        *before = simd.mul_add_f64s(s, old_g, *before);
        *after = simd.mul_add_f64s(s, g, *after);
        *along = simd.mul_add_f64s(free, g, *along);
        *curvature = simd.mul_add_f64s(free, c, *curvature);
        *weighted = simd.mul_add_f64s(scaled, c, *weighted);
        *turned = simd.mul_add_f64s(scaled, g, *turned);
    }
}
