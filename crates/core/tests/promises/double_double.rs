//! Numbers of about 31 digits: unevaluated sums of two doubles.

use std::cmp::Ordering;
use std::ops::{Add, Div, Mul, Neg, Sub};

/// `high + low`, where `high` is the double next to the sum.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Precise {
    high: f64,
    low: f64,
}

const LN_2: Precise = Precise { high: std::f64::consts::LN_2, low: 2.319_046_813_846_299_6e-17 };
/// Exponentials take their argument over `2⁹`, which leaves nine terms of the series.
const HALVINGS: i32 = 9;
const TERMS: i32 = 9;
/// `2²⁷ + 1`, which splits a double into two halves.
const SPLITTER: f64 = 134_217_729.0;

/// `a + b`, and what rounding took off it.
fn exact_sum(a: f64, b: f64) -> Precise {
    let high = a + b;
    if !high.is_finite() {
        return Precise { high, low: 0.0 };
    }
    let part = high - a;
    Precise { high, low: (a - (high - part)) + (b - part) }
}

fn halves(x: f64) -> [f64; 2] {
    let scaled = SPLITTER * x;
    let high = scaled - (scaled - x);
    [high, x - high]
}

/// `a·b`, and what rounding took off it.
fn exact_product(a: f64, b: f64) -> Precise {
    let high = a * b;
    let ([a1, a2], [b1, b2]) = (halves(a), halves(b));
    Precise { high, low: ((a1 * b1 - high) + a1 * b2 + a2 * b1) + a2 * b2 }
}

impl Precise {
    pub const ZERO: Self = Self { high: 0.0, low: 0.0 };

    /// The double next to it.
    pub fn rounded(self) -> f64 {
        self.high
    }

    pub fn abs(self) -> Self {
        if self.high < 0.0 { -self } else { self }
    }

    pub fn max(self, other: Self) -> Self {
        if self < other { other } else { self }
    }

    pub fn min(self, other: Self) -> Self {
        if other < self { other } else { self }
    }

    fn times_power_of_two(self, exponent: i32) -> Self {
        let factor = 2f64.powi(exponent);
        Self { high: self.high * factor, low: self.low * factor }
    }

    /// `e^x`; 0 below the range of doubles.
    pub fn exp(self) -> Self {
        if self.high < -700.0 {
            return Self::ZERO;
        }
        let twos = (self.high / LN_2.high).round();
        let rest = (self - LN_2 * twos.into()).times_power_of_two(-HALVINGS);
        // `e^x − 1`, by Horner's rule, then `(1 + y)² − 1 = 2y + y²`.
        let mut sum = Self::ZERO;
        for term in (1..=TERMS).rev() {
            sum = (sum + 1.0.into()) * rest / f64::from(term).into();
        }
        for _ in 0..HALVINGS {
            sum = sum.times_power_of_two(1) + sum * sum;
        }
        (sum + 1.0.into()).times_power_of_two(twos as i32)
    }

    /// The natural logarithm of a positive number, by two steps of Newton's.
    pub fn ln(self) -> Self {
        let mut found: Self = self.high.ln().into();
        for _ in 0..2 {
            found = found + self * (-found).exp() - 1.0.into();
        }
        found
    }
}

impl From<f64> for Precise {
    fn from(high: f64) -> Self {
        Self { high, low: 0.0 }
    }
}

impl PartialOrd for Precise {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        let by_high = self.high.partial_cmp(&other.high)?;
        Some(by_high.then(self.low.partial_cmp(&other.low)?))
    }
}

impl Neg for Precise {
    type Output = Self;

    fn neg(self) -> Self {
        Self { high: -self.high, low: -self.low }
    }
}

impl Add for Precise {
    type Output = Self;

    fn add(self, other: Self) -> Self {
        let (sum, rest) = (exact_sum(self.high, other.high), exact_sum(self.low, other.low));
        let sum = exact_sum(sum.high, sum.low + rest.high);
        exact_sum(sum.high, sum.low + rest.low)
    }
}

impl Sub for Precise {
    type Output = Self;

    fn sub(self, other: Self) -> Self {
        self + -other
    }
}

impl Mul for Precise {
    type Output = Self;

    fn mul(self, other: Self) -> Self {
        let product = exact_product(self.high, other.high);
        let crossed = self.high * other.low + self.low * other.high;
        exact_sum(product.high, product.low + crossed)
    }
}

impl Div for Precise {
    type Output = Self;

    fn div(self, other: Self) -> Self {
        let first = self.high / other.high;
        let rest = self - other * first.into();
        let second = rest.high / other.high;
        let rest = rest - other * second.into();
        exact_sum(first, second) + (rest.high / other.high).into()
    }
}

impl std::iter::Sum for Precise {
    fn sum<I: Iterator<Item = Self>>(all: I) -> Self {
        all.fold(Self::ZERO, Add::add)
    }
}
