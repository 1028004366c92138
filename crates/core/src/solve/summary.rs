//! Sums over the coordinates of points.

use crate::vector::{Entry, Formula, Number};

/// `⟨δ, μ⟩` and `⟨∇L(μ), μ⟩`, and the sizes of what these sum up; residual and reach.
#[derive(Clone, Copy)]
pub(super) struct Summary;

impl Formula<0, 3, 4, 2> for Summary {
    #[inline(always)]
    fn at<N: Number>(self, _: [N; 0], [t, m, g]: [N; 3]) -> Entry<N, 0, 4, 2> {
        let products = [[t, m], [g, m], [t.abs(), m], [g.abs(), m]];
        Entry { values: [], products, sizes: [(t + g).abs(), t.abs()] }
    }
}

/// `⟨δ′ − δ, μ′⟩`, and what a [`Change`](super::point::Change) holds besides, given tilts,
/// marginals and gradients, the new one of each first.
#[derive(Clone, Copy)]
pub(super) struct Comparison;

impl Formula<0, 6, 4, 0> for Comparison {
    #[inline(always)]
    fn at<N: Number>(self, _: [N; 0], [t, old_t, m, old_m, g, old_g]: [N; 6]) -> Entry<N, 0, 4, 0> {
        let (moved, turned) = (m - old_m, t - old_t);
        let products = [[turned, m], [old_g, moved], [g - old_g, moved], [turned, moved]];
        Entry { values: [], products, sizes: [] }
    }
}
