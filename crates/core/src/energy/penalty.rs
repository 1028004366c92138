//! Scalar penalties `φ(z)` with the convex conjugates `(wφ)*(λ)` that their duals need.
//!
//! A penalty weighted by `w ≥ 0` contributes `w·φ(z)` to the energy. Its [`fenchel_gap`] `wφ(z) +
//! (wφ)*(λ) − λz ≥ 0` vanishes exactly where `λ` is a subgradient at `z`; it is written out for
//! every penalty in a form that cannot go negative by cancellation.
//!
//! [`fenchel_gap`]: Penalty::fenchel_gap

use serde::Serialize;

use super::kind::{Kind, Pairing};

/// A univariate function of a measurement `z`.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum Penalty {
    /// `z`
    Linear,
    /// `max(0, 1 − z)`
    Hinge,
    /// `½ − z` for `z ≤ 0`, `½(1 − z)²` for `0 < z < 1`, `0` after.
    SmoothedHinge,
    /// `½z²`
    Squared,
    /// `|z|`
    Absolute,
    /// `½z²` for `|z| ≤ δ`, `δ(|z| − δ/2)` outside.
    Huber {
        /// Where the square ends and the line begins.
        delta: f64,
    },
    /// `rate·z − count·log(rate·z)`, `+∞` for `z < 0`, and at `z = 0` if `count > 0`.
    Poisson {
        /// Expected observations per unit of `z`, positive.
        rate: f64,
        /// What was observed, not negative.
        count: f64,
    },
    /// `0` for `z ≤ 0`, else `+∞`: a bound on the expectation.
    AtMost,
    /// `0` for `z = 0`, else `+∞`: fixes the expectation.
    Equal,
}

impl Penalty {
    /// Whether the penalty is a hard constraint, which has no weight.
    #[inline(always)]
    pub fn is_hard(self) -> bool {
        self.kind().is_hard()
    }

    /// Whether the derivative exists and is continuous where the penalty is finite.
    pub fn is_smooth(self) -> bool {
        self.kind().is_smooth()
    }

    /// `φ(z)`; hard constraints count as satisfied (see [`Penalty::violation`]).
    #[inline(always)]
    pub fn value(self, z: f64) -> f64 {
        self.kind().value(self.parameters(), z)
    }

    /// `φ′(z)`, a subgradient at kinks, zero for hard constraints.
    #[inline(always)]
    pub fn derivative(self, z: f64) -> f64 {
        self.kind().derivative(self.parameters(), z)
    }

    /// By how much `z` breaks a hard constraint; zero for the others.
    #[inline(always)]
    pub fn violation(self, z: f64) -> f64 {
        match self {
            Self::AtMost => z.max(0.0),
            Self::Equal => z.abs(),
            _ => 0.0,
        }
    }

    /// Least value of `φ` on `[low, high]`.
    pub fn infimum(self, low: f64, high: f64) -> f64 {
        let lowest_at = match self {
            Self::Linear | Self::Poisson { count: 0.0, .. } => low,
            Self::Hinge | Self::SmoothedHinge => high,
            Self::Squared | Self::Absolute | Self::Huber { .. } => 0.0,
            Self::Poisson { rate, count } => count / rate,
            Self::AtMost | Self::Equal => return 0.0,
        };
        self.value(lowest_at.clamp(low, high))
    }

    /// The interval of `λ` on which the conjugate of `wφ` is finite.
    #[inline(always)]
    pub fn multipliers(self, weight: f64) -> (f64, f64) {
        self.kind().multipliers(weight, self.parameters())
    }

    /// `(wφ)*(λ)` for `λ` in [`Penalty::multipliers`].
    pub fn conjugate(self, weight: f64, multiplier: f64) -> f64 {
        let [a, b] = self.pairing(weight, 0.0, multiplier).twice_conjugate;
        0.5 * a * b
    }

    /// Derivative of the conjugate: the `z` at which `λ` is the slope of `wφ`.
    pub fn conjugate_derivative(self, weight: f64, multiplier: f64) -> f64 {
        -self.pairing(weight, 0.0, multiplier).apart
    }

    /// Second derivative of the conjugate.
    pub fn conjugate_curvature(self, weight: f64, multiplier: f64) -> f64 {
        self.pairing(weight, 0.0, multiplier).curvature
    }

    /// `wφ(z) + (wφ)*(λ) − λz`, never negative; for hard constraints `|λz|`, which bounds the error
    /// of the objective at a point that breaks them slightly.
    pub fn fenchel_gap(self, weight: f64, z: f64, multiplier: f64) -> f64 {
        let [a, b] = self.pairing(weight, z, multiplier).gap;
        a * b
    }

    fn pairing(self, weight: f64, z: f64, multiplier: f64) -> Pairing<f64> {
        self.kind().pairing([weight, 1.0 / weight], self.parameters(), [z, multiplier])
    }

    /// Which function it is, parameters aside.
    pub(crate) fn kind(self) -> Kind {
        match self {
            Self::Linear => Kind::Linear,
            Self::Hinge => Kind::Hinge,
            Self::SmoothedHinge => Kind::SmoothedHinge,
            Self::Squared => Kind::Squared,
            Self::Absolute => Kind::Absolute,
            Self::Huber { .. } => Kind::Huber,
            Self::Poisson { .. } => Kind::Poisson,
            Self::AtMost => Kind::AtMost,
            Self::Equal => Kind::Equal,
        }
    }

    /// Its parameters; 0 for those it does not have.
    pub(crate) fn parameters(self) -> [f64; 2] {
        match self {
            Self::Huber { delta } => [delta, 0.0],
            Self::Poisson { rate, count } => [rate, count],
            _ => [0.0, 0.0],
        }
    }
}

#[cfg(test)]
pub(super) mod tests {
    use super::*;

    /// Every kind that has a weight.
    pub const SOFT: [Penalty; 9] = [
        Penalty::Linear,
        Penalty::Hinge,
        Penalty::SmoothedHinge,
        Penalty::Squared,
        Penalty::Absolute,
        Penalty::Huber { delta: 0.3 },
        Penalty::Poisson { rate: 2.0, count: 3.0 },
        Penalty::Poisson { rate: 0.5, count: 0.25 },
        Penalty::Poisson { rate: 2.0, count: 0.0 },
    ];

    fn points() -> impl Iterator<Item = f64> {
        (-40..=80).map(|i| i as f64 * 0.05 + 0.0125)
    }

    #[test]
    fn derivatives_match_finite_differences() {
        for penalty in SOFT {
            for z in points().filter(|&z| penalty.value(z - 1e-3).is_finite()) {
                let step = 1e-6;
                let slope = (penalty.value(z + step) - penalty.value(z - step)) / (2.0 * step);
                let found = penalty.derivative(z);
                assert!((slope - found).abs() <= 1e-4 * (1.0 + slope.abs()), "{penalty:?} at {z}");
            }
        }
    }

    #[test]
    fn penalties_are_midpoint_convex() {
        for penalty in SOFT {
            for (a, b) in points().zip(points().skip(17)) {
                let middle = penalty.value(0.5 * (a + b));
                let chord = 0.5 * (penalty.value(a) + penalty.value(b));
                assert!(middle <= chord + 1e-12, "{penalty:?} between {a} and {b}");
            }
        }
    }

    #[test]
    fn conjugates_are_suprema_and_gaps_their_differences() {
        for penalty in SOFT {
            let weight = 1.7;
            let (low, high) = penalty.multipliers(weight);
            for part in [0.001, 0.2, 0.5, 0.9, 0.999] {
                let multiplier = match (low.is_finite(), high.is_finite()) {
                    (true, true) => low + part * (high - low),
                    (false, true) => high - 0.5 - 4.0 * (1.0 - part),
                    _ => 8.0 * (part - 0.5),
                };
                let supremum = (-400_000..=800_000)
                    .map(|i| i as f64 * 5e-5)
                    .map(|z| multiplier * z - weight * penalty.value(z))
                    .fold(f64::NEG_INFINITY, f64::max);
                let conjugate = penalty.conjugate(weight, multiplier);
                if penalty != Penalty::Linear {
                    assert!((supremum - conjugate).abs() < 1e-3, "{penalty:?} at {multiplier}");
                }
                for z in points().filter(|&z| penalty.value(z).is_finite()) {
                    let gap = penalty.fenchel_gap(weight, z, multiplier);
                    let plain = weight * penalty.value(z) + conjugate - multiplier * z;
                    assert!(
                        gap >= 0.0 && (gap - plain).abs() < 1e-9,
                        "{penalty:?} {z} {gap} {plain}"
                    );
                }
            }
        }
    }

    #[test]
    fn conjugate_derivatives_match_finite_differences() {
        for penalty in SOFT {
            let weight = 1.7;
            let (low, high) = penalty.multipliers(weight);
            let (low, high) = (low.max(-5.0), high.min(5.0));
            if low == high {
                continue;
            }
            for part in [0.1, 0.4, 0.8] {
                let (at, step) = (low + part * (high - low), 1e-5);
                let f = |m| penalty.conjugate(weight, m);
                let slope = (f(at + step) - f(at - step)) / (2.0 * step);
                let bend = (f(at + step) - 2.0 * f(at) + f(at - step)) / (step * step);
                assert!((slope - penalty.conjugate_derivative(weight, at)).abs() < 1e-6);
                assert!((bend - penalty.conjugate_curvature(weight, at)).abs() < 1e-3);
            }
        }
    }

    #[test]
    fn the_infimum_is_the_least_value_on_the_interval() {
        for penalty in SOFT {
            for (low, high) in [(0.0, 2.0), (0.5, 0.75), (1.5, 3.0)] {
                let least = (0..=10_000)
                    .map(|i| low + (high - low) * i as f64 / 10_000.0)
                    .map(|z| penalty.value(z))
                    .fold(f64::INFINITY, f64::min);
                assert!((least - penalty.infimum(low, high)).abs() < 1e-4, "{penalty:?}");
            }
        }
    }
}
