//! Certificates: lower bounds on the optimum `F*`, and so gaps.
//!
//! For a convex energy and any weights `w_k` that sum to 1, with `g_k = ∇L(μ_k)`,
//!
//! ```text
//! Σ_k w_k (L(μ_k) − ⟨g_k, μ_k⟩) − A(θ − Σ_k w_k g_k) ≤ F*
//! ```
//!
//! Relaxed iterations hold such a tilt at every step, so this bound is free; it lags behind. One
//! call buys the sharp one, with all weight on the current point. The dual has its own: the sum of
//! the Fenchel gaps of its measurements. Every bound gives away what rounding may have added.

use super::engine::Engine;
use super::point::Point;

impl Engine<'_> {
    /// The sharp certificate of a convex energy, for one call: with `g = ∇L(μ)` the bound is
    /// `L(μ) − ⟨g, μ⟩ − A(θ − g)`, and `F(μ)` is above it by `KL(μ ‖ oracle(θ − g))`.
    pub fn sharp_bound(&mut self, point: &Point, scratch: &mut Point) -> f64 {
        for (tilt, gradient) in scratch.tilt.iter_mut().zip(&point.gradient) {
            *tilt = -gradient;
        }
        scratch.log_partition = self.call(&scratch.tilt, &mut scratch.marginals);
        let size = point.linearisation_size() + self.score_size;
        lower_bound(point.linearisation(), size, scratch.log_partition)
    }
}

/// `linear − A`, lowered by what rounding may have added to it and to the sum `linear`.
pub(super) fn lower_bound(linear: f64, linear_size: f64, log_partition: f64) -> f64 {
    linear - log_partition - rounding(linear_size + log_partition.abs())
}

/// The possible error of a sum of terms of this size. Log-partitions are logarithms of sums of
/// probabilities, and are no more exact than those if they are small.
#[inline(always)]
pub(super) fn rounding(size: f64) -> f64 {
    8.0 * f64::EPSILON * (1.0 + size)
}

/// How often a running mean was rounded, as far as it has not forgotten it.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Roundings(f64);

impl Roundings {
    /// After a step of this share towards something new.
    pub fn after(self, share: f64) -> Self {
        Self((1.0 - share) * self.0 + 1.0)
    }

    /// The size that the error of the mean follows, given that of its terms: each step rounds a few
    /// times.
    pub fn grown(self, size: f64) -> f64 {
        (1.0 + 0.25 * self.0) * size
    }
}
