//! Numbers that formulas are written for: one, or as many as the machine takes at once.

use std::ops::{Add, BitAnd, BitOr, Div, Mul, Neg, Sub};

use pulp::Simd;
use pulp::bytemuck::cast;

use super::exponential::exponential;

/// What a formula is written for, once: [`f64`], or [`Wide`] for a loop that is sure to become
/// vector code. Where that has to choose between values, both are worked out.
pub(crate) trait Number:
    Copy
    + Add<Output = Self>
    + Sub<Output = Self>
    + Mul<Output = Self>
    + Div<Output = Self>
    + Neg<Output = Self>
    + Add<f64, Output = Self>
    + Sub<f64, Output = Self>
    + Mul<f64, Output = Self>
{
    /// The result of a comparison.
    type Truth: Copy + BitAnd<Output = Self::Truth> + BitOr<Output = Self::Truth>;

    /// This value, wherever `self` has one.
    fn splat(self, value: f64) -> Self;

    fn abs(self) -> Self;

    /// `self·factor + term`, rounded once where the machine can.
    fn times_plus(self, factor: Self, term: Self) -> Self;

    /// The greater of two. Where one is NaN, `other`, or NaN.
    fn greater(self, other: Self) -> Self;

    /// The lesser of two. Where one is NaN, `other`, or NaN.
    fn lesser(self, other: Self) -> Self;

    fn is_below(self, other: Self) -> Self::Truth;

    fn is_at_most(self, other: Self) -> Self::Truth;

    fn choose(truth: Self::Truth, yes: Self, no: Self) -> Self;

    /// `e^x`
    fn exponential(self) -> Self;

    /// Exponent `n` and fraction `m` of a positive, normal `2ⁿ·m`, with `m` between `√½` and `√2`.
    fn split(self) -> (Self, Self);
}

/// `√½`, rounded to its upper word.
const ROOT: u64 = 0x3fe6_a09e_0000_0000;
const ONE: u64 = 0x3ff0_0000_0000_0000;
const FRACTION: u64 = 0x000f_ffff_ffff_ffff;
/// `2²⁰`, in bits: an integer put into its upper word is added to it.
const INTEGER: u64 = 0x4130_0000_0000_0000;
/// `2²⁰ + 1023`: what to take off again, with the exponent's bias.
const BIASED: f64 = 1_049_599.0;

impl Number for f64 {
    type Truth = bool;

    #[inline(always)]
    fn splat(self, value: f64) -> Self {
        value
    }

    #[inline(always)]
    fn abs(self) -> Self {
        self.abs()
    }

    #[inline(always)]
    fn times_plus(self, factor: Self, term: Self) -> Self {
        self * factor + term
    }

    #[inline(always)]
    fn greater(self, other: Self) -> Self {
        if self > other { self } else { other }
    }

    #[inline(always)]
    fn lesser(self, other: Self) -> Self {
        if self < other { self } else { other }
    }

    #[inline(always)]
    fn is_below(self, other: Self) -> bool {
        self < other
    }

    #[inline(always)]
    fn is_at_most(self, other: Self) -> bool {
        self <= other
    }

    #[inline(always)]
    fn choose(truth: bool, yes: Self, no: Self) -> Self {
        if truth { yes } else { no }
    }

    #[inline(always)]
    fn exponential(self) -> Self {
        self.exp()
    }

    #[inline(always)]
    fn split(self) -> (Self, Self) {
        let bits = self.to_bits().wrapping_add(ONE - ROOT);
        let exponent = f64::from_bits((bits >> 52 << 32) | INTEGER) - BIASED;
        (exponent, f64::from_bits((bits & FRACTION).wrapping_add(ROOT)))
    }
}

/// A vector of numbers.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Wide<S: Simd> {
    simd: S,
    pub values: S::f64s,
}

/// The result of a comparison of vectors.
#[derive(Clone, Copy, Debug)]
pub(crate) struct WideTruth<S: Simd> {
    simd: S,
    mask: S::m64s,
}

impl<S: Simd> Wide<S> {
    #[inline(always)]
    pub fn new(simd: S, values: S::f64s) -> Self {
        Self { simd, values }
    }

    /// `value` at every place.
    #[inline(always)]
    pub fn all(simd: S, value: f64) -> Self {
        Self::new(simd, simd.splat_f64s(value))
    }
}

impl<S: Simd> WideTruth<S> {
    /// Whether a place is among the first.
    #[inline(always)]
    pub fn first(simd: S, count: usize) -> Self {
        Self { simd, mask: simd.mask_between_m64s(0, count as u64).mask() }
    }
}

macro_rules! operators {
    ($($operator:ident::$name:ident by $with:ident),*) => {
        $(
            impl<S: Simd> $operator for Wide<S> {
                type Output = Self;

                #[inline(always)]
                fn $name(self, other: Self) -> Self {
                    Self::new(self.simd, self.simd.$with(self.values, other.values))
                }
            }

            impl<S: Simd> $operator<f64> for Wide<S> {
                type Output = Self;

                #[inline(always)]
                fn $name(self, other: f64) -> Self {
                    self.$name(self.splat(other))
                }
            }
        )*
    };
}
operators!(
    Add::add by add_f64s, Sub::sub by sub_f64s, Mul::mul by mul_f64s, Div::div by div_f64s
);

impl<S: Simd> Neg for Wide<S> {
    type Output = Self;

    #[inline(always)]
    fn neg(self) -> Self {
        Self::new(self.simd, self.simd.neg_f64s(self.values))
    }
}

impl<S: Simd> BitAnd for WideTruth<S> {
    type Output = Self;

    #[inline(always)]
    fn bitand(self, other: Self) -> Self {
        Self { simd: self.simd, mask: self.simd.and_m64s(self.mask, other.mask) }
    }
}

impl<S: Simd> BitOr for WideTruth<S> {
    type Output = Self;

    #[inline(always)]
    fn bitor(self, other: Self) -> Self {
        Self { simd: self.simd, mask: self.simd.or_m64s(self.mask, other.mask) }
    }
}

impl<S: Simd> Number for Wide<S> {
    type Truth = WideTruth<S>;

    #[inline(always)]
    fn splat(self, value: f64) -> Self {
        Self::all(self.simd, value)
    }

    #[inline(always)]
    fn abs(self) -> Self {
        Self::new(self.simd, self.simd.abs_f64s(self.values))
    }

    #[inline(always)]
    fn times_plus(self, factor: Self, term: Self) -> Self {
        let Self { simd, values } = self;
        Self::new(simd, simd.mul_add_e_f64s(values, factor.values, term.values))
    }

    #[inline(always)]
    fn greater(self, other: Self) -> Self {
        Self::new(self.simd, self.simd.max_f64s(self.values, other.values))
    }

    #[inline(always)]
    fn lesser(self, other: Self) -> Self {
        Self::new(self.simd, self.simd.min_f64s(self.values, other.values))
    }

    #[inline(always)]
    fn is_below(self, other: Self) -> WideTruth<S> {
        let Self { simd, values } = self;
        WideTruth { simd, mask: simd.less_than_f64s(values, other.values) }
    }

    #[inline(always)]
    fn is_at_most(self, other: Self) -> WideTruth<S> {
        let Self { simd, values } = self;
        WideTruth { simd, mask: simd.less_than_or_equal_f64s(values, other.values) }
    }

    #[inline(always)]
    fn choose(truth: WideTruth<S>, yes: Self, no: Self) -> Self {
        Self::new(yes.simd, yes.simd.select_f64s(truth.mask, yes.values, no.values))
    }

    #[inline(always)]
    fn exponential(self) -> Self {
        Self::new(self.simd, exponential(self.simd, self.values))
    }

    #[inline(always)]
    fn split(self) -> (Self, Self) {
        let Self { simd, values } = self;
        if S::IS_SCALAR {
            // A sum over one place reads it.
            let (exponent, fraction) = simd.reduce_sum_f64s(values).split();
            return (self.splat(exponent), self.splat(fraction));
        }
        let with = |bits: S::u64s| Self::new(simd, simd.transmute_f64s_u64s(bits));
        let all = |bits| simd.splat_u64s(bits);
        let bits = simd.add_u64s(simd.transmute_u64s_f64s(values), all(ONE - ROOT));
        // Only words can be shifted: what is in the lower ones must not come along.
        let upper = simd.and_u64s(bits, all(!FRACTION));
        let shifted: S::u64s = cast(simd.wrapping_dyn_shr_u32s(cast(upper), simd.splat_u32s(20)));
        let fraction = simd.add_u64s(simd.and_u64s(bits, all(FRACTION)), all(ROOT));
        (with(simd.or_u64s(shifted, all(INTEGER))) - BIASED, with(fraction))
    }
}
