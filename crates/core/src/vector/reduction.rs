//! Passes over vectors whose sums are kept in registers.

use pulp::Simd;

use super::dispatch;
use super::number::{Number, Wide, WideTruth};

/// What a pass makes of the places of a vector.
pub(crate) struct Entry<V, const T: usize, const N: usize, const K: usize> {
    /// What the targets shall hold there.
    pub values: [V; T],
    /// Products to add up, of two factors each.
    pub products: [[V; 2]; N],
    /// Numbers, not negative, of which the greatest is wanted.
    pub sizes: [V; K],
}

/// What becomes of every place of some vectors, written for any kind of number.
pub(crate) trait Formula<const T: usize, const M: usize, const N: usize, const K: usize>:
    Copy
{
    /// Given what `T` targets and the inputs hold.
    fn at<V: Number>(self, old: [V; T], given: [V; M]) -> Entry<V, T, N, K>;
}

/// One pass of a formula over vectors of one length.
pub(crate) fn pass<
    F: Formula<T, M, N, K>,
    const T: usize,
    const M: usize,
    const N: usize,
    const K: usize,
>(
    formula: F,
    targets: [&mut [f64]; T],
    inputs: [&[f64]; M],
) -> Reduced<N, K> {
    dispatch(Pass { formula, targets, inputs })
}

struct Pass<'a, F, const T: usize, const M: usize, const N: usize, const K: usize> {
    formula: F,
    targets: [&'a mut [f64]; T],
    inputs: [&'a [f64]; M],
}

impl<F, const T: usize, const M: usize, const N: usize, const K: usize> pulp::WithSimd
    for Pass<'_, F, T, M, N, K>
where
    F: Formula<T, M, N, K>,
{
    type Output = Reduced<N, K>;

    #[inline(always)]
    fn with_simd<S: Simd>(self, simd: S) -> Reduced<N, K> {
        let Self { formula, targets, inputs } = self;
        let mut reduction = Reduction::new(simd);
        reduction.sweep(
            targets,
            inputs,
            #[inline(always)]
            |old, given| formula.at(old, given),
        );
        reduction.finish()
    }
}

/// Sums of products, and greatest sizes (NaN shows in the sums, but perhaps not there), over the
/// places of one pass or of several.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Reduction<S: Simd, const N: usize, const K: usize> {
    simd: S,
    sums: [Wide<S>; N],
    sizes: [Wide<S>; K],
}

impl<S: Simd, const N: usize, const K: usize> Reduction<S, N, K> {
    #[inline(always)]
    pub fn new(simd: S) -> Self {
        let zero = Wide::all(simd, 0.0);
        Self { simd, sums: [zero; N], sizes: [zero; K] }
    }

    /// `value` at every place of a vector.
    #[inline(always)]
    pub fn all(&self, value: f64) -> Wide<S> {
        Wide::all(self.simd, value)
    }

    /// Walks vectors of one length together: `step` takes what `T` targets and the inputs hold to
    /// what follows from it.
    #[expect(clippy::needless_range_loop, reason = "several vectors at one place")]
    #[inline(always)]
    pub fn sweep<const T: usize, const M: usize>(
        &mut self,
        targets: [&mut [f64]; T],
        inputs: [&[f64]; M],
        step: impl Fn([Wide<S>; T], [Wide<S>; M]) -> Entry<Wide<S>, T, N, K>,
    ) {
        let (simd, length, zero) = (self.simd, inputs[0].len(), self.all(0.0));
        let (mut sums, mut sizes) = ([zero; N], [zero; K]);
        // Loops throughout, as the compiler may leave `map` and `from_fn` calls of their own.
        let (mut old, mut given) = ([zero; T], [zero; M]);
        let (vectors, whole) = (length / S::F64_LANES, length - length % S::F64_LANES);
        for at in 0..vectors {
            for t in 0..T {
                old[t].values = S::as_simd_f64s(&targets[t][..length]).0[at];
            }
            for m in 0..M {
                given[m].values = S::as_simd_f64s(&inputs[m][..length]).0[at];
            }
            let entry = step(old, given);
            for t in 0..T {
                let target = S::as_mut_simd_f64s(&mut targets[t][..length]).0;
                target[at] = entry.values[t].values;
            }
            for n in 0..N {
                let [a, b] = entry.products[n];
                sums[n] = a.times_plus(b, sums[n]);
            }
            for k in 0..K {
                sizes[k] = entry.sizes[k].greater(sizes[k]);
            }
        }
        if whole < length {
            // What the formula makes of zeros, which fill up the last vector, does not count.
            let counts = WideTruth::first(simd, length - whole);
            for t in 0..T {
                old[t].values = simd.partial_load_f64s(&targets[t][whole..]);
            }
            for m in 0..M {
                given[m].values = simd.partial_load_f64s(&inputs[m][whole..]);
            }
            let entry = step(old, given);
            for t in 0..T {
                simd.partial_store_f64s(&mut targets[t][whole..], entry.values[t].values);
            }
            for n in 0..N {
                let [a, b] = entry.products[n];
                sums[n] = Wide::choose(counts, a.times_plus(b, sums[n]), sums[n]);
            }
            for k in 0..K {
                sizes[k] = Wide::choose(counts, entry.sizes[k].greater(sizes[k]), sizes[k]);
            }
        }
        for n in 0..N {
            self.sums[n] = self.sums[n] + sums[n];
        }
        for k in 0..K {
            self.sizes[k] = sizes[k].greater(self.sizes[k]);
        }
    }

    /// The same, as a function of its own: in one that has many such loops, the compiler would keep
    /// sums and constants in memory.
    #[inline(never)]
    pub fn sweep_apart<const T: usize, const M: usize>(
        &mut self,
        targets: [&mut [f64]; T],
        inputs: [&[f64]; M],
        step: impl Fn([Wide<S>; T], [Wide<S>; M]) -> Entry<Wide<S>, T, N, K>,
    ) {
        self.simd.vectorize(Apart { totals: self, targets, inputs, step });
    }

    #[inline(always)]
    pub fn finish(self) -> Reduced<N, K> {
        let Self { simd, sums, sizes } = self;
        let mut reduced = Reduced { sums: [0.0; N], sizes: [0.0; K] };
        for (total, sum) in reduced.sums.iter_mut().zip(sums) {
            *total = simd.reduce_sum_f64s(sum.values);
        }
        for (total, size) in reduced.sizes.iter_mut().zip(sizes) {
            *total = simd.reduce_max_f64s(size.values);
        }
        reduced
    }
}

/// [`Reduction::sweep`], to be compiled by itself.
struct Apart<'a, S: Simd, F, const T: usize, const M: usize, const N: usize, const K: usize> {
    totals: &'a mut Reduction<S, N, K>,
    targets: [&'a mut [f64]; T],
    inputs: [&'a [f64]; M],
    step: F,
}

impl<S, F, const T: usize, const M: usize, const N: usize, const K: usize> pulp::NullaryFnOnce
    for Apart<'_, S, F, T, M, N, K>
where
    S: Simd,
    F: Fn([Wide<S>; T], [Wide<S>; M]) -> Entry<Wide<S>, T, N, K>,
{
    type Output = ();

    #[inline(always)]
    fn call(self) {
        let Self { totals, targets, inputs, step } = self;
        totals.sweep(targets, inputs, step);
    }
}

/// `⟨a, b⟩`
pub(crate) fn dot(a: &[f64], b: &[f64]) -> f64 {
    let Reduced { sums: [sum], sizes: [] } = pass(Dot, [], [a, b]);
    sum
}

#[derive(Clone, Copy)]
struct Dot;

impl Formula<0, 2, 1, 0> for Dot {
    #[inline(always)]
    fn at<V: Number>(self, _: [V; 0], product: [V; 2]) -> Entry<V, 0, 1, 0> {
        Entry { values: [], products: [product], sizes: [] }
    }
}

/// `‖a − b‖∞`
pub(crate) fn farthest(a: &[f64], b: &[f64]) -> f64 {
    let Reduced { sums: [], sizes: [size] } = pass(Apartness, [], [a, b]);
    size
}

#[derive(Clone, Copy)]
struct Apartness;

impl Formula<0, 2, 0, 1> for Apartness {
    #[inline(always)]
    fn at<V: Number>(self, _: [V; 0], [a, b]: [V; 2]) -> Entry<V, 0, 0, 1> {
        Entry { values: [], products: [], sizes: [(a - b).abs()] }
    }
}

/// The result of a reduction.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Reduced<const N: usize, const K: usize> {
    pub sums: [f64; N],
    pub sizes: [f64; K],
}

#[cfg(test)]
mod tests {
    use super::*;

    #[derive(Clone, Copy)]
    struct Probe;

    impl Formula<1, 2, 2, 1> for Probe {
        #[inline(always)]
        fn at<V: Number>(self, [old]: [V; 1], [a, b]: [V; 2]) -> Entry<V, 1, 2, 1> {
            // A product that is not 0 where there is nothing.
            let products = [[a, b], [a.splat(1.0); 2]];
            Entry { values: [old + a * 2.0], products, sizes: [(a - b + 3.0).abs()] }
        }
    }

    #[test]
    fn a_reduction_of_any_length_is_the_plain_loop() {
        for length in (0..40).chain([1000]) {
            let a: Vec<f64> = (0..length).map(|i| (i as f64 * 0.7).sin()).collect();
            let b: Vec<f64> = (0..length).map(|i| (i as f64 * 1.3).cos()).collect();
            let (mut target, mut plain) = (b.clone(), b.clone());
            let Reduced { sums: [sum, count], sizes: [size] } =
                pass(Probe, [&mut target], [&a, &b]);
            plain.iter_mut().zip(&a).for_each(|(t, a)| *t += 2.0 * a);
            let expected: f64 = a.iter().zip(&b).map(|(a, b)| a * b).sum();
            assert_eq!((target, count), (plain, length as f64));
            assert!((sum - expected).abs() < 1e-12, "{length}: {sum} for {expected}");
            let largest = a.iter().zip(&b).map(|(a, b)| a - b + 3.0).fold(0.0, f64::max);
            assert_eq!(size, largest);
        }
    }

    #[test]
    fn a_sum_shows_what_is_not_a_number() {
        for place in [0, 31, 40] {
            let mut vector = vec![1.0; 41];
            vector[place] = f64::NAN;
            assert!(dot(&vector, &[1.0; 41]).is_nan());
        }
    }
}
