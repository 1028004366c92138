//! Sums over the coordinates of a point, taken while its gradient is written.

use std::array::from_fn;
use std::ops::Range;

use pulp::Simd;

use super::engine::Point;
use crate::energy::Sight;
use crate::vector::{Entry, Number, Reduced, Reduction};

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
        let mut reduction = Reduction::new(simd);
        reduction.sweep(
            [],
            inputs,
            #[inline(always)]
            |[], [t, m, g]| Entry {
                values: [],
                products: [[t, m], [g, m]],
                sizes: [(t + g).abs(), t.abs()],
            },
        );
        self.totals.add(reduction.finish());
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
        let mut reduction = Reduction::new(simd);
        reduction.sweep(
            [],
            [t, m, gradient, old_t, old_m, old_g],
            #[inline(always)]
            |[], [t, m, g, old_t, old_m, old_g]| {
                let (moved, turned) = (m - old_m, t - old_t);
                let products = [[turned, m], [old_g, moved], [g - old_g, moved], [turned, moved]];
                Entry { values: [], products, sizes: [] }
            },
        );
        self.totals.add(reduction.finish());
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
