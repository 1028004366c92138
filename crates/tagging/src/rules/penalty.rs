use bethe_core::Penalty;
use serde::{Deserialize, Serialize};

/// The cost of a rule that is broken by `x` in expectation, times its weight; `z` is `1 − x`.
///
/// | penalty | cost |
/// | --- | --- |
/// | smoothed hinge | `0` at `z ≥ 1`, `(1 − z)² / 2` down to `z = 0`, then `1/2 − z`: a rule just kept pulls gently |
/// | hinge | `max(0, 1 − z)`: a rule has its whole force until it is kept, and then none |
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum RulePenalty {
    /// Smooth: works with every solver and learner.
    #[default]
    SmoothedHinge,
    /// With a kink: needs the dual and the Fenchel–Young learner.
    Hinge,
}

impl RulePenalty {
    /// The name on the command line.
    pub fn name(self) -> &'static str {
        match self {
            Self::SmoothedHinge => "smoothed-hinge",
            Self::Hinge => "hinge",
        }
    }

    /// Whether it has a slope everywhere, as gradient steps need it.
    pub fn is_smooth(self) -> bool {
        self == Self::SmoothedHinge
    }

    /// The penalty of energies.
    pub(crate) fn energy(self) -> Penalty {
        match self {
            Self::SmoothedHinge => Penalty::SmoothedHinge,
            Self::Hinge => Penalty::Hinge,
        }
    }
}
