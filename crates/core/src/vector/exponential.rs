//! `exp` on whole slices: `e^x = 2^n · e^r` with `n = round(x / ln 2)` and a polynomial in `r`.

use pulp::Simd;
use pulp::bytemuck::cast;

/// Below this every result is zero, so `-∞` may be clamped to it.
const LOWEST: f64 = -800.0;
/// From here on every result is infinite.
const HIGHEST: f64 = 710.0;
/// `ln 2` in two parts; the first has few enough digits that `n` times it is exact.
const LN_2_HIGH: f64 = 6.931_471_803_691_238e-1;
const LN_2_LOW: f64 = 1.908_214_929_270_587_7e-10;
/// Adding and subtracting 1.5 · 2⁵² rounds to an integer.
const ROUND: f64 = 6_755_399_441_055_744.0;
/// Adding 1.5 · 2²⁰ puts an integer's bits into the upper word, 20 bits below the exponent.
const UPPER_WORD: f64 = 1_572_864.0;
/// `1/k!` from `k = 2` to `k = 13`: the remainder is below 2⁻⁵⁷ for `|r| ≤ ½ ln 2`.
const COEFFICIENTS: [f64; 12] = [
    1.0 / 2.0,
    1.0 / 6.0,
    1.0 / 24.0,
    1.0 / 120.0,
    1.0 / 720.0,
    1.0 / 5_040.0,
    1.0 / 40_320.0,
    1.0 / 362_880.0,
    1.0 / 3_628_800.0,
    1.0 / 39_916_800.0,
    1.0 / 479_001_600.0,
    1.0 / 6_227_020_800.0,
];

/// `2^n` for integers `-1022 ≤ n ≤ 1023` held as doubles.
#[inline(always)]
fn power_of_two<S: Simd>(simd: S, n: S::f64s) -> S::f64s {
    if S::IS_SCALAR {
        // A sum over one lane reads it.
        let biased = simd.reduce_sum_f64s(n) + 1023.0;
        return simd.splat_f64s(f64::from_bits((biased as u64) << 52));
    }
    let biased = simd.add_f64s(n, simd.splat_f64s(UPPER_WORD + 1023.0));
    cast(simd.wrapping_dyn_shl_u32s(cast(biased), simd.splat_u32s(20)))
}

/// `e^x` in every lane, within about one unit in the last place.
#[inline(always)]
pub(crate) fn exponential<S: Simd>(simd: S, x: S::f64s) -> S::f64s {
    let x = simd.max_f64s(x, simd.splat_f64s(LOWEST));
    let x = simd.min_f64s(x, simd.splat_f64s(HIGHEST));
    let round = simd.splat_f64s(ROUND);
    let inverse = simd.splat_f64s(std::f64::consts::LOG2_E);
    let n = simd.sub_f64s(simd.mul_add_e_f64s(x, inverse, round), round);
    let r = simd.negate_mul_add_e_f64s(n, simd.splat_f64s(LN_2_HIGH), x);
    let r = simd.negate_mul_add_e_f64s(n, simd.splat_f64s(LN_2_LOW), r);
    // Estrin's scheme: pairs of coefficients, then pairs of pairs, for a short chain of
    // dependences.
    let mut c = [r; COEFFICIENTS.len()];
    for (c, &coefficient) in c.iter_mut().zip(&COEFFICIENTS) {
        *c = simd.splat_f64s(coefficient);
    }
    let r2 = simd.mul_f64s(r, r);
    let r4 = simd.mul_f64s(r2, r2);
    let r8 = simd.mul_f64s(r4, r4);
    let mut quads = [r; 3];
    for (i, quad) in quads.iter_mut().enumerate() {
        let low = simd.mul_add_e_f64s(c[4 * i + 1], r, c[4 * i]);
        let high = simd.mul_add_e_f64s(c[4 * i + 3], r, c[4 * i + 2]);
        *quad = simd.mul_add_e_f64s(high, r2, low);
    }
    let series = simd.mul_add_e_f64s(quads[1], r4, quads[0]);
    let series = simd.mul_add_e_f64s(quads[2], r8, series);
    let above_one = simd.mul_add_e_f64s(r2, series, r);
    let fraction = simd.add_f64s(simd.splat_f64s(1.0), above_one);
    // Two factors, as 2^n alone may leave the range of normal numbers where the result does not.
    let half = simd.mul_add_e_f64s(n, simd.splat_f64s(0.5), round);
    let half = simd.sub_f64s(half, round);
    let rest = simd.sub_f64s(n, half);
    let result = simd.mul_f64s(fraction, power_of_two(simd, half));
    simd.mul_f64s(result, power_of_two(simd, rest))
}

/// Replaces every `x` by `e^(x - shift)`. Whole vectors only: the length is a multiple of the
/// lanes.
#[inline(always)]
pub(crate) fn exponentials<S: Simd>(simd: S, values: &mut [f64], shift: f64) {
    let shift = simd.splat_f64s(shift);
    let (vectors, rest) = S::as_mut_simd_f64s(values);
    debug_assert!(rest.is_empty());
    for vector in vectors {
        *vector = exponential(simd, simd.sub_f64s(*vector, shift));
    }
}

/// The greatest of whole vectors of values.
#[inline(always)]
pub(crate) fn maximum<S: Simd>(simd: S, values: &[f64]) -> f64 {
    let (vectors, _) = S::as_simd_f64s(values);
    let mut greatest = simd.splat_f64s(f64::NEG_INFINITY);
    for &vector in vectors {
        greatest = simd.max_f64s(greatest, vector);
    }
    simd.reduce_max_f64s(greatest)
}

/// Replaces every `x` by `e^(x - shift)`, with these instructions.
pub(crate) fn exponentiate(instructions: pulp::Arch, values: &mut [f64], shift: f64) {
    struct Exponentiate<'a>(&'a mut [f64], f64);
    impl pulp::WithSimd for Exponentiate<'_> {
        type Output = ();

        #[inline(always)]
        fn with_simd<S: Simd>(self, simd: S) {
            exponentials(simd, self.0, self.1);
        }
    }
    instructions.dispatch(Exponentiate(values, shift));
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Units in the last place between two non-negative doubles.
    fn distance(a: f64, b: f64) -> u64 {
        a.to_bits().abs_diff(b.to_bits())
    }

    fn every_instruction_set(x: f64) -> [f64; 2] {
        let mut vector = [x; 8];
        exponentiate(pulp::Arch::new(), &mut vector, 0.0);
        [vector[3], exponential(pulp::Scalar, x)]
    }

    #[test]
    fn exponential_agrees_with_the_standard_library_over_the_full_range() {
        let mut worst = 0;
        for step in 0..400_000 {
            let x = -750.0 + 1462.0 * f64::from(step) / 400_000.0;
            for y in every_instruction_set(x) {
                worst = worst.max(distance(y, x.exp()));
            }
        }
        for exponent in -60..10 {
            for sign in [-1.0, 1.0] {
                let x = sign * 1.37 * 2f64.powi(exponent);
                for y in every_instruction_set(x) {
                    worst = worst.max(distance(y, x.exp()));
                }
            }
        }
        assert!(worst <= 2, "{worst} units in the last place");
    }

    #[test]
    fn exponential_is_exact_where_it_must_be() {
        let cases = [(0.0, 1.0), (-0.0, 1.0), (f64::NEG_INFINITY, 0.0), (-745.2, 0.0)];
        let more = [(-1e300, 0.0), (711.0, f64::INFINITY), (f64::INFINITY, f64::INFINITY)];
        for (x, expected) in cases.into_iter().chain(more) {
            assert_eq!(every_instruction_set(x), [expected; 2], "exp({x})");
        }
    }
}
