//! Sums of products of vectors, kept in registers.

use std::array::from_fn;

use pulp::Simd;

/// What is summed, and of what the greatest is wanted, written for whole vectors of places. Where all
/// inputs are 0, it must add 0.
pub(crate) trait Reduction<const M: usize, const N: usize, const K: usize> {
    fn add<S: Simd>(
        simd: S,
        inputs: [S::f64s; M],
        sums: &mut [S::f64s; N],
        sizes: &mut [S::f64s; K],
    );
}

/// The sums of some terms and the greatest of some sizes, which are not negative (NaN shows in the
/// sums, but perhaps not there).
#[derive(Clone, Copy, Debug)]
pub(crate) struct Reduced<const N: usize, const K: usize> {
    pub sums: [f64; N],
    pub sizes: [f64; K],
}

impl<const N: usize, const K: usize> Reduced<N, K> {
    pub const ZERO: Self = Self { sums: [0.0; N], sizes: [0.0; K] };

    /// Takes in vectors of one length.
    #[inline(always)]
    pub fn add<R: Reduction<M, N, K>, S: Simd, const M: usize>(
        &mut self,
        simd: S,
        inputs: [&[f64]; M],
    ) {
        let heads: [&[S::f64s]; M] = from_fn(|m| S::as_simd_f64s(inputs[m]).0);
        let tails: [&[f64]; M] = from_fn(|m| S::as_simd_f64s(inputs[m]).1);
        let count = heads[0].len();
        let heads: [&[S::f64s]; M] = from_fn(|m| &heads[m][..count]);
        let zero = simd.splat_f64s(0.0);
        let (mut sums, mut sizes) = ([zero; N], [zero; K]);
        #[expect(clippy::needless_range_loop, reason = "several vectors at one place")]
        for at in 0..count {
            R::add(simd, from_fn(|m| heads[m][at]), &mut sums, &mut sizes);
        }
        if !tails[0].is_empty() {
            let last = from_fn(|m| simd.partial_load_f64s(tails[m]));
            R::add(simd, last, &mut sums, &mut sizes);
        }
        for (total, sum) in self.sums.iter_mut().zip(sums) {
            *total += simd.reduce_sum_f64s(sum);
        }
        for (total, size) in self.sizes.iter_mut().zip(sizes) {
            *total = super::greater(*total, simd.reduce_max_f64s(size));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::dispatch;
    use super::*;

    struct Products;

    impl Reduction<2, 1, 1> for Products {
        #[inline(always)]
        fn add<S: Simd>(
            simd: S,
            [a, b]: [S::f64s; 2],
            [sum]: &mut [S::f64s; 1],
            [size]: &mut [S::f64s; 1],
        ) {
            *sum = simd.mul_add_f64s(a, b, *sum);
            *size = simd.max_f64s(*size, simd.abs_f64s(a));
        }
    }

    struct Pass<'a>([&'a [f64]; 2]);

    impl pulp::WithSimd for Pass<'_> {
        type Output = Reduced<1, 1>;

        #[inline(always)]
        fn with_simd<S: Simd>(self, simd: S) -> Reduced<1, 1> {
            let mut reduced = Reduced::ZERO;
            reduced.add::<Products, S, 2>(simd, self.0);
            reduced
        }
    }

    #[test]
    fn a_reduction_of_any_length_is_the_plain_loop() {
        for length in (0..40).chain([1000]) {
            let a: Vec<f64> = (0..length).map(|i| (i as f64 * 0.7).sin()).collect();
            let b: Vec<f64> = (0..length).map(|i| (i as f64 * 1.3).cos()).collect();
            let Reduced { sums: [sum], sizes: [size] } = dispatch(Pass([&a, &b]));
            let expected: f64 = a.iter().zip(&b).map(|(a, b)| a * b).sum();
            assert!((sum - expected).abs() < 1e-12, "{length}: {sum} for {expected}");
            assert_eq!(size, a.iter().fold(0.0, |m, a| a.abs().max(m)));
        }
    }
}
