//! `ln`, branchless: `ln x = n·ln 2 + ln(1 + f)` with `x = 2ⁿ(1 + f)`.

/// Smaller numbers are scaled by [`SCALE`] first.
const LEAST_NORMAL: f64 = f64::MIN_POSITIVE;
/// `2⁵⁴`
const SCALE: f64 = 18_014_398_509_481_984.0;
/// `√½`, rounded to its upper word: `1 + f` is taken between this and twice it.
const ROOT: u64 = 0x3fe6_a09e_0000_0000;
const ONE: u64 = 0x3ff0_0000_0000_0000;
const FRACTION: u64 = 0x000f_ffff_ffff_ffff;
/// `2⁵²`, in bits: an integer put into its fraction is added to it.
const INTEGER: u64 = 0x4330_0000_0000_0000;
/// `2⁵² + 1023`: what to take off again, with the exponent's bias.
const BIASED: f64 = 4_503_599_627_371_519.0;
/// `ln 2` in two parts; the first has few enough digits that `n` times it is exact.
const LN_2_HIGH: f64 = 6.931_471_803_691_238e-1;
const LN_2_LOW: f64 = 1.908_214_929_270_587_7e-10;
/// fdlibm's `R(s²)` with `ln(1 + f) = f − f²/2 + s(f²/2 + R)` and `s = f/(2 + f)`.
const COEFFICIENTS: [f64; 7] = [
    6.666_666_666_666_735e-1,
    3.999_999_999_940_942e-1,
    2.857_142_874_366_239e-1,
    2.222_219_843_214_978_4e-1,
    1.818_357_216_161_805e-1,
    1.531_383_769_920_937_3e-1,
    1.479_819_860_511_658_6e-1,
];

/// `ln x` within two units in the last place. All branches are choices between values, so that loops
/// over it become vector code.
#[inline(always)]
pub(crate) fn logarithm(x: f64) -> f64 {
    let (normal, shift) = if x < LEAST_NORMAL { (x * SCALE, 54.0) } else { (x, 0.0) };
    let bits = normal.to_bits().wrapping_add(ONE - ROOT);
    let n = f64::from_bits((bits >> 52) | INTEGER) - BIASED - shift;
    let f = f64::from_bits((bits & FRACTION).wrapping_add(ROOT)) - 1.0;
    let s = f / (2.0 + f);
    let (s2, half) = (s * s, 0.5 * f * f);
    let s4 = s2 * s2;
    let [c1, c2, c3, c4, c5, c6, c7] = COEFFICIENTS;
    let odd = s2 * (c1 + s4 * (c3 + s4 * (c5 + s4 * c7)));
    let even = s4 * (c2 + s4 * (c4 + s4 * c6));
    let log = n * LN_2_HIGH - ((half - (s * (half + (odd + even)) + n * LN_2_LOW)) - f);
    if x > 0.0 && x < f64::INFINITY {
        log
    } else if x == 0.0 {
        f64::NEG_INFINITY
    } else if x > 0.0 {
        x
    } else {
        f64::NAN
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::vector::vectorised;

    /// By itself, and as vector code.
    fn both_ways(x: f64) -> [f64; 2] {
        let mut vector = [x; 64];
        vectorised(
            #[inline(always)]
            || vector.iter_mut().for_each(|x| *x = logarithm(*x)),
        );
        [vector[5], logarithm(x)]
    }

    #[test]
    fn logarithm_agrees_with_the_standard_library_over_the_full_range() {
        let mantissas = (0..200).map(|i| 1.0 + f64::from(i) / 200.0);
        let wide = mantissas.flat_map(|m| (-1022..1024).map(move |e| m * 2f64.powi(e)));
        let near_one = (-2000..2000).map(|i| 1.0 + f64::from(i) * 1e-9);
        let tiny = (0..100).map(|i| f64::from_bits(1 + i * 40_000_000_000_000));
        for x in wide.chain(near_one).chain(tiny) {
            for y in both_ways(x) {
                let apart = (y - x.ln()).abs();
                assert!(apart <= 2.0 * f64::EPSILON * y.abs(), "ln({x}): {y} for {}", x.ln());
            }
        }
    }

    #[test]
    fn logarithm_is_exact_where_it_must_be() {
        for (x, expected) in [
            (1.0, 0.0),
            (0.0, f64::NEG_INFINITY),
            (-0.0, f64::NEG_INFINITY),
            (f64::INFINITY, f64::INFINITY),
        ] {
            assert_eq!(both_ways(x), [expected; 2], "ln({x})");
        }
        for x in [-1.0, -1e-320, f64::NEG_INFINITY, f64::NAN] {
            assert!(both_ways(x).iter().all(|y| y.is_nan()), "ln({x})");
        }
    }
}
