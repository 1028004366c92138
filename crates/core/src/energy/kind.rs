//! Which penalties there are, and their formulas, for one number or for vectors of them.

use super::Penalty;
use crate::vector::{Number, logarithm};

/// Rounding may take what cannot be negative below zero.
#[inline(always)]
fn not_negative<N: Number>(x: N) -> N {
    x.splat(0.0).greater(x)
}

/// `x`, moved between bounds.
#[inline(always)]
pub(crate) fn clip<N: Number>(x: N, low: N, high: N) -> N {
    high.lesser(low.greater(x))
}

/// A penalty without its parameters. Loops over rows of one kind are written once, and compiled for
/// each kind by [`specialised`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    Linear,
    Hinge,
    SmoothedHinge,
    Squared,
    Absolute,
    Huber,
    Poisson,
    AtMost,
    Equal,
}

impl Kind {
    /// The penalty of this kind with these parameters.
    #[inline(always)]
    pub fn with(self, [first, second]: [f64; 2]) -> Penalty {
        match self {
            Self::Linear => Penalty::Linear,
            Self::Hinge => Penalty::Hinge,
            Self::SmoothedHinge => Penalty::SmoothedHinge,
            Self::Squared => Penalty::Squared,
            Self::Absolute => Penalty::Absolute,
            Self::Huber => Penalty::Huber { delta: first },
            Self::Poisson => Penalty::Poisson { rate: first, count: second },
            Self::AtMost => Penalty::AtMost,
            Self::Equal => Penalty::Equal,
        }
    }

    /// [`Penalty::is_hard`]
    #[inline(always)]
    pub fn is_hard(self) -> bool {
        matches!(self, Self::AtMost | Self::Equal)
    }

    /// [`Penalty::is_smooth`]
    pub fn is_smooth(self) -> bool {
        !matches!(self, Self::Hinge | Self::Absolute | Self::AtMost | Self::Equal)
    }

    /// Whether multipliers have no bound that they could be held at.
    #[inline(always)]
    pub fn is_free(self) -> bool {
        matches!(self, Self::Squared | Self::Equal | Self::Poisson)
    }

    /// Whether the conjugate is never negative.
    #[inline(always)]
    pub fn has_positive_conjugate(self) -> bool {
        !matches!(self, Self::Hinge | Self::SmoothedHinge | Self::Poisson)
    }

    /// [`Penalty::value`]
    #[inline(always)]
    pub fn value<N: Number>(self, [first, second]: [N; 2], z: N) -> N {
        let (zero, one) = (z.splat(0.0), z.splat(1.0));
        match self {
            Self::Linear => z,
            Self::Hinge => (one - z).greater(zero),
            Self::SmoothedHinge => {
                let shortfall = one - z;
                let bent = N::choose(z.is_below(one), shortfall * shortfall * 0.5, zero);
                N::choose(z.is_at_most(zero), shortfall - 0.5, bent)
            }
            Self::Squared => z * z * 0.5,
            Self::Absolute => z.abs(),
            Self::Huber => {
                let (size, delta) = (z.abs(), first);
                let outside = delta * (size - delta * 0.5);
                N::choose(size.is_at_most(delta), z * z * 0.5, outside)
            }
            Self::Poisson => {
                let (mean, count) = (first * z, second);
                let observed = N::choose(zero.is_below(count), count * logarithm(mean), zero);
                N::choose(z.is_below(zero), z.splat(f64::INFINITY), mean - observed)
            }
            Self::AtMost | Self::Equal => zero,
        }
    }

    /// [`Penalty::derivative`]
    #[inline(always)]
    pub fn derivative<N: Number>(self, [first, second]: [N; 2], z: N) -> N {
        let (zero, one) = (z.splat(0.0), z.splat(1.0));
        match self {
            Self::Linear => one,
            Self::Hinge => N::choose(z.is_below(one), -one, zero),
            Self::SmoothedHinge => -clip(one - z, zero, one),
            Self::Squared => z,
            Self::Absolute => {
                N::choose(z.is_below(zero), -one, N::choose(zero.is_below(z), one, zero))
            }
            Self::Huber => clip(z, -first, first),
            Self::Poisson => first - N::choose(zero.is_below(second), second / z, zero),
            Self::AtMost | Self::Equal => zero,
        }
    }

    /// [`Penalty::multipliers`]
    #[inline(always)]
    pub fn multipliers<N: Number>(self, weight: N, [first, _]: [N; 2]) -> (N, N) {
        let (zero, infinity) = (weight.splat(0.0), weight.splat(f64::INFINITY));
        match self {
            Self::Linear => (weight, weight),
            Self::Hinge | Self::SmoothedHinge => (-weight, zero),
            Self::Squared | Self::Equal => (-infinity, infinity),
            Self::Absolute => (-weight, weight),
            Self::Huber => (-weight * first, weight * first),
            Self::Poisson => (-infinity, weight * first),
            Self::AtMost => (zero, infinity),
        }
    }

    /// Everything that the dual asks for at once, given the weight and its inverse, the parameters,
    /// the measurement and its multiplier. Long, because the four formulas of a penalty belong
    /// together.
    #[inline(always)]
    pub fn pairing<N: Number>(
        self,
        [weight, inverse]: [N; 2],
        [first, second]: [N; 2],
        [z, multiplier]: [N; 2],
    ) -> Pairing<N> {
        let (zero, one) = (z.splat(0.0), z.splat(1.0));
        let (half_weight, half_inverse) = (weight * 0.5, inverse * 0.5);
        let half_square = |x: N| [half_inverse * x, x];
        let choose_square = |truth, x: N, otherwise: N| {
            let [a, b] = half_square(x);
            [N::choose(truth, a, otherwise), N::choose(truth, b, one)]
        };
        match self {
            Self::Linear => Pairing::flat(z, [zero, one]),
            Self::Hinge => {
                let slope = -multiplier - N::choose(one.is_at_most(z), zero, weight);
                Pairing {
                    twice_conjugate: [multiplier, z.splat(2.0)],
                    apart: z - one,
                    curvature: zero,
                    gap: [slope, z - 1.0],
                }
            }
            Self::SmoothedHinge => {
                let (shortfall, pull) = (one - z, -multiplier);
                let after = pull * (half_inverse * pull - shortfall);
                let before = (weight - pull) * (shortfall - half_inverse * (weight + pull));
                let outside = N::choose(shortfall.is_at_most(zero), after, not_negative(before));
                let is_between = zero.is_below(shortfall) & shortfall.is_below(one);
                Pairing {
                    twice_conjugate: [multiplier, inverse.times_plus(multiplier, z.splat(2.0))],
                    apart: (-multiplier).times_plus(inverse, z - one),
                    curvature: inverse,
                    gap: choose_square(is_between, weight * shortfall - pull, outside),
                }
            }
            Self::Squared => {
                let derivative = multiplier * inverse;
                let apart = z - derivative;
                Pairing {
                    twice_conjugate: [derivative, multiplier],
                    apart,
                    curvature: inverse,
                    gap: [half_weight * apart, apart],
                }
            }
            Self::Absolute => {
                let pull = N::choose(z.is_below(zero), -multiplier, multiplier);
                Pairing::flat(z, [weight - pull, z.abs()])
            }
            Self::Huber => {
                let (size, bound) = (z.abs(), weight * first);
                let pull = N::choose(z.is_below(zero), -multiplier, multiplier);
                let outside = (bound - pull) * (size - half_inverse * (bound + pull));
                let (is_inside, derivative) = (size.is_at_most(first), multiplier * inverse);
                Pairing {
                    twice_conjugate: [derivative, multiplier],
                    apart: z - derivative,
                    curvature: inverse,
                    gap: choose_square(is_inside, weight * size - pull, not_negative(outside)),
                }
            }
            Self::Poisson => {
                let (rate, count) = (first, second);
                let (scale, slack) = (weight * count, weight * rate - multiplier);
                let (derivative, ratio) = (scale / slack, z * slack / scale);
                let (level, log) = (logarithm(rate * derivative), logarithm(ratio));
                let (counted, infinity) = (zero.is_below(count), z.splat(f64::INFINITY));
                let if_counted = |yes, no| N::choose(counted, yes, no);
                // `u − 1 − log u` for the ratio `u`.
                let gap = scale * not_negative(ratio - 1.0 - log);
                let gap = N::choose(zero.is_below(z), gap, infinity);
                let gap_at_zero = N::choose(z.is_below(zero), infinity, slack * z);
                Pairing {
                    twice_conjugate: [if_counted(scale * (level - 1.0), zero), z.splat(2.0)],
                    apart: z - if_counted(derivative, zero),
                    curvature: if_counted(derivative / slack, zero),
                    gap: [if_counted(gap, gap_at_zero), one],
                }
            }
            Self::AtMost | Self::Equal => Pairing::flat(z, [multiplier.abs(), z.abs()]),
        }
    }
}

/// A kind as a type, so that functions which are not inlined know it too.
pub(crate) trait OfKind {
    const KIND: Kind;
}

/// Evaluates an expression, a call of an `#[inline(always)]` function, with `$name` a constant: no
/// row then asks for its kind again. With `type $name`, that is [`OfKind`].
macro_rules! specialised {
    ($kind:expr, |$name:ident| $pass:expr) => {
        specialised!($kind, type This => {
            let $name = <This as $crate::energy::OfKind>::KIND;
            $pass
        })
    };
    ($kind:expr, type $name:ident => $pass:expr) => {
        specialised!(
            @ $kind, $name, $pass,
            [Linear, Hinge, SmoothedHinge, Squared, Absolute, Huber, Poisson, AtMost, Equal]
        )
    };
    (@ $kind:expr, $name:ident, $pass:expr, [$($variant:ident),*]) => {
        match $kind {
            $($crate::energy::Kind::$variant => {
                struct $name;
                impl $crate::energy::OfKind for $name {
                    const KIND: $crate::energy::Kind = $crate::energy::Kind::$variant;
                }
                $pass
            })*
        }
    };
}
pub(crate) use specialised;

/// A weighted penalty and its conjugate at some `z` and `λ`. What is summed comes in two factors:
/// machines add products as fast as numbers.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Pairing<N> {
    /// `2(wφ)*(λ)`
    pub twice_conjugate: [N; 2],
    /// `z`, less [`Penalty::conjugate_derivative`]
    pub apart: N,
    /// [`Penalty::conjugate_curvature`]
    pub curvature: N,
    /// [`Penalty::fenchel_gap`]
    pub gap: [N; 2],
}

impl<N: Number> Pairing<N> {
    /// Where the conjugate is 0.
    #[inline(always)]
    fn flat(z: N, gap: [N; 2]) -> Self {
        let zero = z.splat(0.0);
        Self { twice_conjugate: [z.splat(-0.0), z.splat(1.0)], apart: z, curvature: zero, gap }
    }
}
