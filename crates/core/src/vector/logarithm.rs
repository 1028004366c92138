//! `ln`, branchless: `ln x = n·ln 2 + ln(1 + f)` with `x = 2ⁿ(1 + f)`.

use super::number::Number;

/// Smaller numbers are scaled by [`SCALE`] first.
const LEAST_NORMAL: f64 = f64::MIN_POSITIVE;
/// `2⁵⁴`
const SCALE: f64 = 18_014_398_509_481_984.0;
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

/// `ln x` within two units in the last place.
#[inline(always)]
pub(crate) fn logarithm<N: Number>(x: N) -> N {
    let (zero, infinity) = (x.splat(0.0), x.splat(f64::INFINITY));
    let is_small = x.is_below(x.splat(LEAST_NORMAL));
    let (exponent, fraction) = N::choose(is_small, x * SCALE, x).split();
    let n = exponent - N::choose(is_small, x.splat(54.0), zero);
    let f = fraction - 1.0;
    let s = f / (f + 2.0);
    let (s2, half) = (s * s, f * f * 0.5);
    let s4 = s2 * s2;
    let [c1, c2, c3, c4, c5, c6, c7] = COEFFICIENTS;
    let odd = s2 * (s4 * (s4 * (s4 * c7 + c5) + c3) + c1);
    let even = s4 * (s4 * (s4 * c6 + c4) + c2);
    let log = n * LN_2_HIGH - ((half - (s * (half + (odd + even)) + n * LN_2_LOW)) - f);
    let at_zero = N::choose(x.is_at_most(zero) & zero.is_at_most(x), -infinity, x.splat(f64::NAN));
    let not_positive = N::choose(infinity.is_at_most(x), x, at_zero);
    N::choose(zero.is_below(x) & x.is_below(infinity), log, not_positive)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::vector::{Entry, Reduction, dispatch, vectorised};

    struct Pass<'a>(&'a mut [f64]);

    impl pulp::WithSimd for Pass<'_> {
        type Output = ();

        #[inline(always)]
        fn with_simd<S: pulp::Simd>(self, simd: S) {
            Reduction::<S, 0, 0>::new(simd).sweep(
                [&mut *self.0],
                [&[0.0; 13]],
                #[inline(always)]
                |[x], _| Entry { values: [logarithm(x)], products: [], sizes: [] },
            );
        }
    }

    /// By itself, in a loop that may become vector code, and in vectors, the last not full.
    fn all_ways(x: f64) -> [f64; 4] {
        let (mut vector, mut wide) = ([x; 64], [x; 13]);
        vectorised(
            #[inline(always)]
            || vector.iter_mut().for_each(|x| *x = logarithm(*x)),
        );
        dispatch(Pass(&mut wide));
        [vector[5], logarithm(x), wide[0], wide[12]]
    }

    #[test]
    fn logarithm_agrees_with_the_standard_library_over_the_full_range() {
        let mantissas = (0..200).map(|i| 1.0 + f64::from(i) / 200.0);
        let wide = mantissas.flat_map(|m| (-1022..1024).map(move |e| m * 2f64.powi(e)));
        let near_one = (-2000..2000).map(|i| 1.0 + f64::from(i) * 1e-9);
        let tiny = (0..100).map(|i| f64::from_bits(1 + i * 40_000_000_000_000));
        for x in wide.chain(near_one).chain(tiny) {
            for y in all_ways(x) {
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
            assert_eq!(all_ways(x), [expected; 4], "ln({x})");
        }
        for x in [-1.0, -1e-320, f64::NEG_INFINITY, f64::NAN] {
            assert!(all_ways(x).iter().all(|y| y.is_nan()), "ln({x})");
        }
    }
}
