//! Long vectors in chunks, so that sums are the same for any number of threads.

use std::ops::Range;

use pulp::Simd;
use rayon::prelude::*;

/// Doubles in a chunk; a dozen of them fit the second cache.
const CHUNK: usize = 1 << 12;

/// A long vector, in either precision.
#[derive(Clone, Copy)]
pub(super) enum Vector<'a> {
    Single(&'a [f32]),
    Double(&'a [f64]),
}

impl<'a> Vector<'a> {
    fn len(self) -> usize {
        match self {
            Self::Single(values) => values.len(),
            Self::Double(values) => values.len(),
        }
    }

    fn part(self, range: Range<usize>) -> Self {
        match self {
            Self::Single(values) => Self::Single(&values[range]),
            Self::Double(values) => Self::Double(&values[range]),
        }
    }
}

impl<'a> From<&'a Vec<f32>> for Vector<'a> {
    fn from(values: &'a Vec<f32>) -> Self {
        Self::Single(values)
    }
}

impl<'a> From<&'a Vec<f64>> for Vector<'a> {
    fn from(values: &'a Vec<f64>) -> Self {
        Self::Double(values)
    }
}

impl<'a> From<&'a [f64]> for Vector<'a> {
    fn from(values: &'a [f64]) -> Self {
        Self::Double(values)
    }
}

/// The inner product of each pair of vectors; every vector is read from memory once.
pub(super) fn dots(pairs: &[(Vector, Vector)]) -> Vec<f64> {
    let length = pairs.first().map_or(0, |pair| pair.0.len());
    let chunks = length.div_ceil(CHUNK);
    let of_chunk = |chunk: usize| -> Vec<f64> {
        let range = chunk * CHUNK..length.min((chunk + 1) * CHUNK);
        let dot = |&(a, b): &(Vector, Vector)| {
            pulp::Arch::new().dispatch(Dot(a.part(range.clone()), b.part(range.clone())))
        };
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
pub(super) fn combine(terms: &[(f64, Vector)], out: &mut [f64]) {
    out.par_chunks_mut(CHUNK).enumerate().for_each(|(chunk, out)| {
        let range = chunk * CHUNK..chunk * CHUNK + out.len();
        out.fill(0.0);
        for &(factor, vector) in terms.iter().filter(|term| term.0 != 0.0) {
            pulp::Arch::new().dispatch(AddScaled(factor, vector.part(range.clone()), out));
        }
    });
}

/// `out_i = f(i)` for every `i`, in parallel.
pub(super) fn write<Value: Send>(out: &mut [Value], f: impl Fn(usize) -> Value + Sync) {
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

/// Parallel partial sums: they fill the widest vectors and do not wait for one another.
const LANES: usize = 32;

struct Dot<'a>(Vector<'a>, Vector<'a>);

impl pulp::WithSimd for Dot<'_> {
    type Output = f64;

    #[inline(always)]
    fn with_simd<S: Simd>(self, _: S) -> f64 {
        match (self.0, self.1) {
            (Vector::Single(a), Vector::Single(b)) => dot(a, b),
            (Vector::Single(a), Vector::Double(b)) => dot(a, b),
            (Vector::Double(a), Vector::Single(b)) => dot(b, a),
            (Vector::Double(a), Vector::Double(b)) => dot(a, b),
        }
    }
}

/// Inlined, and so compiled for the caller's instruction set.
#[inline(always)]
fn dot<A: Into<f64> + Copy, B: Into<f64> + Copy>(a: &[A], b: &[B]) -> f64 {
    let mut totals = [0.0; LANES];
    let ((a, a_rest), (b, b_rest)) = (a.as_chunks::<LANES>(), b.as_chunks::<LANES>());
    for (a, b) in a.iter().zip(b) {
        for lane in 0..LANES {
            let (a, b): (f64, f64) = (a[lane].into(), b[lane].into());
            totals[lane] += a * b;
        }
    }
    let rest = a_rest.iter().zip(b_rest).map(|(&a, &b)| a.into() * b.into());
    totals.iter().sum::<f64>() + rest.sum::<f64>()
}

struct AddScaled<'a>(f64, Vector<'a>, &'a mut [f64]);

impl pulp::WithSimd for AddScaled<'_> {
    type Output = ();

    #[inline(always)]
    fn with_simd<S: Simd>(self, _: S) {
        let Self(factor, vector, out) = self;
        match vector {
            Vector::Single(vector) => add_scaled(factor, vector, out),
            Vector::Double(vector) => add_scaled(factor, vector, out),
        }
    }
}

#[inline(always)]
fn add_scaled<A: Into<f64> + Copy>(factor: f64, vector: &[A], out: &mut [f64]) {
    for (out, &value) in out.iter_mut().zip(vector) {
        *out += factor * value.into();
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
        let single: Vec<f32> = b.iter().map(|&b| b as f32).collect();
        let run = |threads| {
            let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
            pool.install(|| {
                let mut out = vec![0.0; a.len()];
                combine(&[(2.0, (&a).into()), (-0.5, (&single).into())], &mut out);
                let pairs = [((&a).into(), (&b).into()), ((&single).into(), (&a).into())];
                (dots(&pairs), out, sum(a.len(), |i| a[i].abs()))
            })
        };
        let (products, combined, size) = run(1);
        let plain: f64 = a.iter().zip(&b).map(|(a, b)| a * b).sum();
        let rounded: f64 = a.iter().zip(&single).map(|(a, &b)| a * f64::from(b)).sum();
        assert!((products[0] - plain).abs() < 1e-8 * size);
        assert!((products[1] - rounded).abs() < 1e-8 * size);
        for ((combined, a), &b) in combined.iter().zip(&a).zip(&single) {
            assert!((combined - 2.0 * a + 0.5 * f64::from(b)).abs() < 1e-12);
        }
        assert_eq!((products, combined, size), run(3));
    }
}
