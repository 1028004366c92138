//! Passes over flat vectors, compiled for the widest instructions that the machine has.
//!
//! [`vectorised`] runs a closure with them: plain loops inside it, over slices of one length, become
//! vector code, as long as everything they call is `#[inline(always)]` and their branches are choices
//! between values. Sums are kept in [`LANES`] parts that do not wait for one another.

pub(crate) mod aligned;
pub(crate) mod exponential;
mod logarithm;

pub(crate) use aligned::Aligned;
pub(crate) use logarithm::logarithm;

use std::array::from_fn;
use std::sync::LazyLock;

/// Sums are kept in so many parts: the compiler unrolls shorter loops over the parts, and then finds
/// no vectors in them.
const LANES: usize = 32;
/// So many where fewer than [`LANES`] are left.
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

/// What a [`sweep`] makes of one place.
pub(crate) struct Place<const T: usize, const N: usize, const K: usize> {
    /// What the targets shall hold there.
    pub values: [f64; T],
    /// Terms to add up.
    pub terms: [f64; N],
    /// Numbers, not negative, of which the greatest is wanted.
    pub sizes: [f64; K],
}

/// Walks vectors of one length together: `step` takes what `T` targets and `M` inputs hold at a place
/// to what follows from it. Returns the sums of the `N` terms and the greatest of the `K` sizes (NaN
/// shows in the sums, but perhaps not here).
#[inline(always)]
pub(crate) fn sweep<const T: usize, const M: usize, const N: usize, const K: usize>(
    targets: [&mut [f64]; T],
    inputs: [&[f64]; M],
    step: impl Fn([f64; T], [f64; M]) -> Place<T, N, K>,
) -> ([f64; N], [f64; K]) {
    // `from_fn` throughout, as the compiler may leave `map` a call of its own.
    let length = inputs[0].len();
    let whole = length - length % LANES;
    let (mut sums, mut greatest) = ([0.0; N], [0.0; K]);
    if whole > 0 {
        let (mut parts, mut tops) = ([Lanes::ZERO; N], [Lanes::ZERO; K]);
        // Results go to the targets by way of here, which the compiler knows to be apart from the
        // inputs.
        let mut held = [Lanes::ZERO; T];
        for start in (0..whole).step_by(LANES) {
            let inputs: [&[f64; LANES]; M] = from_fn(|m| lanes(&inputs[m][start..]));
            let old: [&[f64; LANES]; T] = from_fn(|t| lanes(&targets[t][start..]));
            for lane in 0..LANES {
                let place = step(from_fn(|t| old[t][lane]), from_fn(|m| inputs[m][lane]));
                (0..T).for_each(|t| held[t].0[lane] = place.values[t]);
                (0..N).for_each(|n| parts[n].0[lane] += place.terms[n]);
                (0..K).for_each(|k| tops[k].0[lane] = greater(tops[k].0[lane], place.sizes[k]));
            }
            (0..T).for_each(|t| targets[t][start..start + LANES].copy_from_slice(&held[t].0));
        }
        (0..N).for_each(|n| sums[n] = combined(&parts[n].0, |a, b| a + b));
        (0..K).for_each(|k| greatest[k] = combined(&tops[k].0, greater));
    }
    // The rest, in fewer parts: vectors of few entries are all rest.
    let mut parts = [[0.0; REST_LANES]; N];
    for start in (whole..length).step_by(REST_LANES) {
        for at in start..length.min(start + REST_LANES) {
            let place = step(from_fn(|t| targets[t][at]), from_fn(|m| inputs[m][at]));
            (0..T).for_each(|t| targets[t][at] = place.values[t]);
            (0..N).for_each(|n| parts[n][at - start] += place.terms[n]);
            (0..K).for_each(|k| greatest[k] = greater(greatest[k], place.sizes[k]));
        }
    }
    (0..N).for_each(|n| sums[n] += (parts[n][0] + parts[n][2]) + (parts[n][1] + parts[n][3]));
    (sums, greatest)
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

impl Default for Piece {
    fn default() -> Self {
        Self([0.0; PIECE])
    }
}

#[inline(always)]
fn lanes(vector: &[f64]) -> &[f64; LANES] {
    vector.first_chunk().expect("whole chunks only")
}

/// What the lanes come to together.
#[inline(always)]
fn combined(parts: &[f64; LANES], combine: impl Fn(f64, f64) -> f64) -> f64 {
    let eight: [f64; 8] = from_fn(|i| {
        let (low, high) = (combine(parts[i], parts[i + 8]), combine(parts[i + 16], parts[i + 24]));
        combine(low, high)
    });
    let four: [f64; 4] = from_fn(|i| combine(eight[i], eight[i + 4]));
    combine(combine(four[0], four[2]), combine(four[1], four[3]))
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
