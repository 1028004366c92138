//! Passes over flat vectors, compiled for the widest instructions that the machine has.
//!
//! * [`pass`] walks vectors together by a [`Formula`] for each place, with sums and greatest sizes;
//!   a [`Reduction`] does where several passes share them.
//! * [`vectorised`] runs a closure: plain loops inside it, over slices of one length, become vector
//!   code, as long as everything they call is `#[inline(always)]` and their branches are choices
//!   between values.

pub(crate) mod aligned;
mod column;
pub(crate) mod exponential;
mod logarithm;
mod number;
mod positive;
mod reduction;

pub(crate) use aligned::Aligned;
pub(crate) use column::Column;
pub(crate) use logarithm::logarithm;
pub(crate) use number::Number;
pub use positive::solve_positive;
pub(crate) use reduction::{Entry, Formula, Reduced, Reduction, dot, farthest, pass};

use std::sync::LazyLock;

/// Long vectors are walked in pieces of this size where several passes share intermediate results,
/// which then stay in the first-level cache.
pub(crate) const PIECE: usize = 256;

static INSTRUCTIONS: LazyLock<pulp::Arch> = LazyLock::new(pulp::Arch::new);

/// Runs a pass with the widest instructions.
#[inline]
pub(crate) fn dispatch<P: pulp::WithSimd>(pass: P) -> P::Output {
    INSTRUCTIONS.dispatch(pass)
}

/// Runs a closure, marked `#[inline(always)]`, with the widest instructions.
#[inline]
pub(crate) fn vectorised<R>(pass: impl FnMut() -> R) -> R {
    dispatch(Pass(pass))
}

/// A closure to run once. Not as `FnOnce`: the compiler would not inline that.
struct Pass<F>(F);

impl<R, F: FnMut() -> R> pulp::WithSimd for Pass<F> {
    type Output = R;

    #[inline(always)]
    fn with_simd<S: pulp::Simd>(mut self, _: S) -> R {
        (self.0)()
    }
}

/// Room for intermediate results of a piece, 64-byte aligned, so no access straddles a cache line.
#[derive(Clone, Debug)]
#[repr(align(64))]
pub(crate) struct Piece(pub [f64; PIECE]);

/// Stands for a vector of ones, and stays in the cache.
pub(crate) static ONES: Piece = Piece([1.0; PIECE]);

impl Default for Piece {
    fn default() -> Self {
        Self([0.0; PIECE])
    }
}

/// `target ← (1 − share)·target + share·values`
pub(crate) fn approach(target: &mut [f64], share: f64, values: &[f64]) {
    vectorised(
        #[inline(always)]
        || target.iter_mut().zip(values).for_each(|(mean, value)| *mean += share * (value - *mean)),
    );
}
