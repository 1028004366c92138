//! Sums over the coordinates of a point, taken while its gradient is written.

use std::array::from_fn;
use std::ops::Range;

use pulp::Simd;

use super::engine::Point;
use crate::energy::Sight;
use crate::vector::{Reduced, Reduction};

/// `⟨δ, μ⟩` and `⟨∇L(μ), μ⟩`; residual and reach.
pub(super) struct Summary<'a> {
    tilt: &'a [f64],
    marginals: &'a [f64],
    pub totals: Reduced<2, 2>,
}

impl<'a> Summary<'a> {
    pub fn new(tilt: &'a [f64], marginals: &'a [f64]) -> Self {
        Self { tilt, marginals, totals: Reduced::ZERO }
    }
}

impl Sight for Summary<'_> {
    #[inline(always)]
    fn see<S: Simd>(&mut self, simd: S, range: Range<usize>, gradient: &[f64]) {
        let inputs = [&self.tilt[range.clone()], &self.marginals[range], gradient];
        self.totals.add::<Self, S, 3>(simd, inputs);
    }
}

impl Reduction<3, 2, 2> for Summary<'_> {
    #[inline(always)]
    fn add<S: Simd>(
        simd: S,
        [t, m, g]: [S::f64s; 3],
        [along, down]: &mut [S::f64s; 2],
        [residual, reach]: &mut [S::f64s; 2],
    ) {
        *along = simd.mul_add_f64s(t, m, *along);
        *down = simd.mul_add_f64s(g, m, *down);
        *residual = simd.max_f64s(*residual, simd.abs_f64s(simd.add_f64s(t, g)));
        *reach = simd.max_f64s(*reach, simd.abs_f64s(t));
    }
}

/// `⟨δ′ − δ, μ′⟩`, and what a [`Change`](super::engine::Change) holds besides.
pub(super) struct Comparison<'a> {
    tilt: &'a [f64],
    marginals: &'a [f64],
    old: &'a Point,
    pub totals: Reduced<4, 0>,
}

impl<'a> Comparison<'a> {
    pub fn new(tilt: &'a [f64], marginals: &'a [f64], old: &'a Point) -> Self {
        Self { tilt, marginals, old, totals: Reduced::ZERO }
    }
}

impl Sight for Comparison<'_> {
    #[inline(always)]
    fn see<S: Simd>(&mut self, simd: S, range: Range<usize>, gradient: &[f64]) {
        let Point { tilt, marginals, gradient: old, .. } = self.old;
        let vectors = [self.tilt, tilt, self.marginals, marginals, old];
        let [t, old_t, m, old_m, old_g] = from_fn(|n| &vectors[n][range.clone()]);
        self.totals.add::<Self, S, 6>(simd, [t, m, gradient, old_t, old_m, old_g]);
    }
}

impl Reduction<6, 4, 0> for Comparison<'_> {
    #[inline(always)]
    fn add<S: Simd>(
        simd: S,
        [t, m, g, old_t, old_m, old_g]: [S::f64s; 6],
        [travelled, expected, bend, travel]: &mut [S::f64s; 4],
        []: &mut [S::f64s; 0],
    ) {
        let (moved, turned) = (simd.sub_f64s(m, old_m), simd.sub_f64s(t, old_t));
        *travelled = simd.mul_add_f64s(turned, m, *travelled);
        *expected = simd.mul_add_f64s(old_g, moved, *expected);
        *bend = simd.mul_add_f64s(simd.sub_f64s(g, old_g), moved, *bend);
        *travel = simd.mul_add_f64s(turned, moved, *travel);
    }
}

/// Two sights of one gradient.
pub(super) struct Both<A, B>(pub A, pub B);

impl<A: Sight, B: Sight> Sight for Both<A, B> {
    #[inline(always)]
    fn see<S: Simd>(&mut self, simd: S, range: Range<usize>, gradient: &[f64]) {
        self.0.see(simd, range.clone(), gradient);
        self.1.see(simd, range, gradient);
    }
}
