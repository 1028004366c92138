//! Passes over flat vectors, compiled for the widest instructions that the machine has.
//!
//! [`vectorised`] runs a closure with them: plain loops inside it, over slices of one length, become
//! vector code, as long as everything they call is `#[inline(always)]` and their branches are choices
//! between values. Sums are kept in parts that do not wait for one another.

pub(crate) mod aligned;
mod column;
pub(crate) mod exponential;
mod logarithm;
mod number;
mod reduction;

pub(crate) use aligned::Aligned;
pub(crate) use column::Column;
pub(crate) use logarithm::logarithm;
pub(crate) use number::Number;
pub(crate) use reduction::{Entry, Reduced, Reduction};

use std::array::from_fn;
use std::sync::LazyLock;

/// Sums are kept in so many parts: the compiler unrolls shorter loops over the parts, and then often
/// finds no vectors in them.
const LANES: usize = 32;
/// So many where fewer are left.
const REST_LANES: usize = 4;

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

/// What a sweep makes of one place.
pub(crate) struct Place<const T: usize, const N: usize, const K: usize> {
    /// What the targets shall hold there.
    pub values: [f64; T],
    /// Terms to add up.
    pub terms: [f64; N],
    /// Numbers, not negative, of which the greatest is wanted.
    pub sizes: [f64; K],
}

/// Sums and maxima over the places of one sweep or of several, each in [`LANES`] parts.
pub(crate) struct Totals<const N: usize, const K: usize> {
    /// Of whole groups of that many places.
    parts: [Lanes; N],
    tops: [Lanes; K],
    /// Of the rest.
    sums: [f64; N],
    greatest: [f64; K],
    /// Whether there was a whole group.
    grouped: bool,
}

impl<const N: usize, const K: usize> Totals<N, K> {
    #[inline(always)]
    pub fn new() -> Self {
        Self {
            parts: [Lanes::ZERO; N],
            tops: [Lanes::ZERO; K],
            sums: [0.0; N],
            greatest: [0.0; K],
            grouped: false,
        }
    }

    /// Walks vectors of one length together: `step` takes what `T` targets and the inputs hold at a
    /// place to what follows from it.
    #[inline(always)]
    pub fn sweep<const T: usize, const M: usize, const I: usize>(
        &mut self,
        mut targets: [&mut [f64]; T],
        (inputs, others): ([&[f64]; M], [&[f64]; I]),
        step: impl Fn([f64; T], [f64; M], [f64; I]) -> Place<T, N, K>,
    ) {
        // `from_fn` throughout, as the compiler may leave `map` a call of its own.
        let length = inputs[0].len();
        let (groups, whole) = (length / LANES, length - length % LANES);
        if groups > 0 {
            let (mut parts, mut tops) = (self.parts, self.tops);
            let inputs: [&[[f64; LANES]]; M] = from_fn(|m| chunks(inputs[m], groups));
            let others: [&[[f64; LANES]]; I] = from_fn(|i| chunks(others[i], groups));
            for group in 0..groups {
                // Results go to the targets by way of here, which the compiler knows to be apart from
                // the inputs.
                let mut held = [Lanes::ZERO; T];
                let old: [&[f64; LANES]; T] = from_fn(|t| &chunks(targets[t], groups)[group]);
                for lane in 0..LANES {
                    let place = step(
                        from_fn(|t| old[t][lane]),
                        from_fn(|m| inputs[m][group][lane]),
                        from_fn(|i| others[i][group][lane]),
                    );
                    (0..T).for_each(|t| held[t].0[lane] = place.values[t]);
                    (0..N).for_each(|n| parts[n].0[lane] += place.terms[n]);
                    (0..K).for_each(|k| tops[k].0[lane] = greater(tops[k].0[lane], place.sizes[k]));
                }
                (0..T).for_each(|t| targets[t].as_chunks_mut().0[group] = held[t].0);
            }
            (self.parts, self.tops, self.grouped) = (parts, tops, true);
        }
        if whole == length {
            return;
        }
        // The rest, in fewer parts: vectors of few entries are all rest.
        let mut parts = [[0.0; REST_LANES]; N];
        for start in (whole..length).step_by(REST_LANES) {
            for at in start..length.min(start + REST_LANES) {
                let place = step(
                    from_fn(|t| targets[t][at]),
                    from_fn(|m| inputs[m][at]),
                    from_fn(|i| others[i][at]),
                );
                (0..T).for_each(|t| targets[t][at] = place.values[t]);
                (0..N).for_each(|n| parts[n][at - start] += place.terms[n]);
                (0..K).for_each(|k| self.greatest[k] = greater(self.greatest[k], place.sizes[k]));
            }
        }
        for (sum, parts) in self.sums.iter_mut().zip(&parts) {
            *sum += (parts[0] + parts[2]) + (parts[1] + parts[3]);
        }
    }

    /// The sums of the `N` terms and the greatest of the `K` sizes (NaN shows in the sums, but perhaps
    /// not here).
    #[inline(always)]
    pub fn finish(mut self) -> ([f64; N], [f64; K]) {
        if self.grouped {
            (0..N).for_each(|n| self.sums[n] += combined(&self.parts[n].0, |a, b| a + b));
            (0..K).for_each(|k| {
                self.greatest[k] = greater(self.greatest[k], combined(&self.tops[k].0, greater));
            });
        }
        (self.sums, self.greatest)
    }
}

/// The first groups of a vector.
#[inline(always)]
fn chunks(vector: &[f64], groups: usize) -> &[[f64; LANES]] {
    &vector.as_chunks().0[..groups]
}

/// One sweep, and its totals.
#[inline(always)]
pub(crate) fn sweep<const T: usize, const M: usize, const N: usize, const K: usize>(
    targets: [&mut [f64]; T],
    inputs: [&[f64]; M],
    step: impl Fn([f64; T], [f64; M]) -> Place<T, N, K>,
) -> ([f64; N], [f64; K]) {
    let mut totals = Totals::<N, K>::new();
    totals.sweep(
        targets,
        (inputs, []),
        #[inline(always)]
        |targets, inputs, []| step(targets, inputs),
    );
    totals.finish()
}

/// A part of a vector, at an address that no access to it straddles a cache line or a page from.
#[derive(Clone, Copy)]
#[repr(align(64))]
struct Lanes([f64; LANES]);

impl Lanes {
    const ZERO: Self = Self([0.0; LANES]);
}

/// Room for intermediate results of a piece, aligned alike.
#[derive(Clone, Debug)]
#[repr(align(64))]
pub(crate) struct Piece(pub [f64; PIECE]);

/// Stands for a vector of ones, and stays in the cache.
pub(crate) static ONES: Piece = Piece([1.0; PIECE]);
/// The same of zeros.
pub(crate) static ZEROS: Piece = Piece([0.0; PIECE]);

impl Default for Piece {
    fn default() -> Self {
        Self([0.0; PIECE])
    }
}

/// What the lanes, a power of two, come to together: halves are combined until one is left.
#[inline(always)]
fn combined(parts: &[f64; LANES], combine: impl Fn(f64, f64) -> f64) -> f64 {
    let (mut parts, mut half) = (*parts, LANES / 2);
    while half > 0 {
        (0..half).for_each(|i| parts[i] = combine(parts[i], parts[i + half]));
        half /= 2;
    }
    parts[0]
}

/// The sums of `N` terms over vectors of one length.
#[inline(always)]
pub(crate) fn sums<const M: usize, const N: usize>(
    inputs: [&[f64]; M],
    terms: impl Fn([f64; M]) -> [f64; N],
) -> [f64; N] {
    let (sums, []) = sweep(
        [],
        inputs,
        #[inline(always)]
        |[], inputs| Place { values: [], terms: terms(inputs), sizes: [] },
    );
    sums
}

/// `target ← (1 − share)·target + share·values`
pub(crate) fn approach(target: &mut [f64], share: f64, values: &[f64]) {
    vectorised(
        #[inline(always)]
        || target.iter_mut().zip(values).for_each(|(mean, value)| *mean += share * (value - *mean)),
    );
}

/// The greater of two numbers. Where one is NaN, either: [`f64::max`] takes several instructions.
#[inline(always)]
pub(crate) fn greater(a: f64, b: f64) -> f64 {
    if a > b { a } else { b }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_sweep_of_any_length_is_the_plain_loop() {
        for length in (0..140).chain([1000]) {
            let a: Vec<f64> = (0..length).map(|i| (i as f64 * 0.7).sin()).collect();
            let b: Vec<f64> = (0..length).map(|i| (i as f64 * 1.3).cos()).collect();
            let (mut target, mut plain) = (b.clone(), b.clone());
            let ([sum, count], [size]) = vectorised(
                #[inline(always)]
                || {
                    sweep(
                        [&mut target],
                        [&a, &b],
                        #[inline(always)]
                        |[old], [a, b]| Place {
                            values: [old + 2.0 * a],
                            terms: [a * b, 1.0],
                            sizes: [(a - b).abs()],
                        },
                    )
                },
            );
            plain.iter_mut().zip(&a).for_each(|(t, a)| *t += 2.0 * a);
            let expected: f64 = a.iter().zip(&b).map(|(a, b)| a * b).sum();
            let largest = a.iter().zip(&b).map(|(a, b)| (a - b).abs()).fold(0.0, f64::max);
            assert_eq!(target, plain);
            assert_eq!((count, size), (length as f64, largest));
            assert!((sum - expected).abs() < 1e-12, "{length}: {sum} for {expected}");
        }
    }

    #[test]
    fn a_sum_shows_what_is_not_a_number() {
        for place in [0, 31, 40] {
            let mut vector = vec![1.0; 41];
            vector[place] = f64::NAN;
            assert!(sums([&vector], |[x]| [x])[0].is_nan());
        }
    }
}
