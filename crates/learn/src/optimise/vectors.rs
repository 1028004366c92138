//! Long vectors, in chunks: the same sums for any number of threads.

use pulp::Simd;
use rayon::prelude::*;

/// Doubles in a chunk; a dozen of them fit the second cache.
const CHUNK: usize = 1 << 12;

/// The inner product of each pair of vectors; every vector is read from memory once.
pub(super) fn dots(pairs: &[(&[f64], &[f64])]) -> Vec<f64> {
    let length = pairs.first().map_or(0, |pair| pair.0.len());
    let chunks = length.div_ceil(CHUNK);
    let of_chunk = |chunk: usize| -> Vec<f64> {
        let range = chunk * CHUNK..length.min((chunk + 1) * CHUNK);
        let dot = |&(a, b): &(&[f64], &[f64])| dot(&a[range.clone()], &b[range.clone()]);
        pairs.iter().map(dot).collect()
    };
    let parts: Vec<Vec<f64>> = (0..chunks).into_par_iter().map(of_chunk).collect();
    let mut sums = vec![0.0; pairs.len()];
    for part in parts {
        sums.iter_mut().zip(part).for_each(|(sum, part)| *sum += part);
    }
    sums
}

/// `out = Σ c v` over `(c, v)`.
pub(super) fn combine(terms: &[(f64, &[f64])], out: &mut [f64]) {
    out.par_chunks_mut(CHUNK).enumerate().for_each(|(chunk, out)| {
        let start = chunk * CHUNK;
        out.fill(0.0);
        for &(factor, vector) in terms.iter().filter(|term| term.0 != 0.0) {
            pulp::Arch::new().dispatch(AddScaled(factor, &vector[start..start + out.len()], out));
        }
    });
}

/// `out_i = f(i)` for every `i`, in parallel.
pub(super) fn write(out: &mut [f64], f: impl Fn(usize) -> f64 + Sync) {
    out.par_chunks_mut(CHUNK).enumerate().for_each(|(chunk, out)| {
        let start = chunk * CHUNK;
        out.iter_mut().enumerate().for_each(|(i, out)| *out = f(start + i));
    });
}

/// `Σ f(i)` for `i < length`.
pub(super) fn sum(length: usize, f: impl Fn(usize) -> f64 + Sync) -> f64 {
    let of_chunk = |chunk: usize| (chunk * CHUNK..length.min((chunk + 1) * CHUNK)).map(&f).sum();
    let parts: Vec<f64> = (0..length.div_ceil(CHUNK)).into_par_iter().map(of_chunk).collect();
    parts.into_iter().sum()
}

fn dot(a: &[f64], b: &[f64]) -> f64 {
    pulp::Arch::new().dispatch(Dot(a, b))
}

struct Dot<'a>(&'a [f64], &'a [f64]);

impl pulp::WithSimd for Dot<'_> {
    type Output = f64;

    #[inline(always)]
    fn with_simd<S: Simd>(self, simd: S) -> f64 {
        let (a, a_rest) = S::as_simd_f64s(self.0);
        let (b, b_rest) = S::as_simd_f64s(self.1);
        let mut totals = [simd.splat_f64s(0.0); 4];
        let (fours, last) = pulp::as_arrays::<4, _>(a);
        let (b_fours, b_last) = pulp::as_arrays::<4, _>(b);
        for (a, b) in fours.iter().zip(b_fours) {
            for i in 0..4 {
                totals[i] = simd.mul_add_e_f64s(a[i], b[i], totals[i]);
            }
        }
        for (&a, &b) in last.iter().zip(b_last) {
            totals[0] = simd.mul_add_e_f64s(a, b, totals[0]);
        }
        let [w, x, y, z] = totals;
        let total = simd.add_f64s(simd.add_f64s(w, x), simd.add_f64s(y, z));
        let rest: f64 = a_rest.iter().zip(b_rest).map(|(a, b)| a * b).sum();
        simd.reduce_sum_f64s(total) + rest
    }
}

struct AddScaled<'a>(f64, &'a [f64], &'a mut [f64]);

impl pulp::WithSimd for AddScaled<'_> {
    type Output = ();

    #[inline(always)]
    fn with_simd<S: Simd>(self, simd: S) {
        let Self(factor, vector, out) = self;
        let factors = simd.splat_f64s(factor);
        let (vector, rest) = S::as_simd_f64s(vector);
        let (out, out_rest) = S::as_mut_simd_f64s(out);
        for (out, &value) in out.iter_mut().zip(vector) {
            *out = simd.mul_add_e_f64s(factors, value, *out);
        }
        out_rest.iter_mut().zip(rest).for_each(|(out, value)| *out += factor * value);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn vector(length: usize, seed: u64) -> Vec<f64> {
        (0..length as u64)
            .map(|i| ((i * 7919 + seed * 104_729) % 1009) as f64 / 500.0 - 1.0)
            .collect()
    }

    #[test]
    fn sums_are_right_and_the_same_for_any_number_of_threads() {
        let (a, b) = (vector(50_003, 1), vector(50_003, 2));
        let run = |threads| {
            let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
            pool.install(|| {
                let mut out = vec![0.0; a.len()];
                combine(&[(2.0, &a), (-0.5, &b)], &mut out);
                (dots(&[(&a, &b), (&a, &a)]), out, sum(a.len(), |i| a[i].abs()))
            })
        };
        let (products, combined, size) = run(1);
        let plain: f64 = a.iter().zip(&b).map(|(a, b)| a * b).sum();
        assert!((products[0] - plain).abs() < 1e-8 * size);
        assert!(
            combined
                .iter()
                .zip(&a)
                .zip(&b)
                .all(|((c, a), b)| (c - 2.0 * a + 0.5 * b).abs() < 1e-12)
        );
        assert_eq!((products, combined, size), run(3));
    }
}
