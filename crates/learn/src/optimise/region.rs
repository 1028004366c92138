use super::vectors::{sum, write};

/// Bounds on the weights, and what they add to the objective.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Region {
    /// Anywhere.
    Free,
    /// Anywhere, with `coefficient · ‖w‖₁` added, from some weight on (the orthant-wise method of Andrew
    /// and Gao, 2007).
    L1 {
        /// Positive.
        coefficient: f64,
        /// The first weight of the norm.
        from: usize,
    },
    /// Not below zero, from some weight on.
    NotNegative {
        /// The first weight that must not be negative.
        from: usize,
    },
}

/// A way from the current point.
#[derive(Clone, Copy)]
pub(super) struct Way<'a> {
    pub(super) weights: &'a [f64],
    /// The gradient within the region.
    pub(super) slopes: &'a [f64],
    pub(super) direction: &'a [f64],
}

impl Region {
    /// What the region adds to the objective.
    pub(super) fn added(self, weights: &[f64]) -> f64 {
        match self {
            Self::L1 { coefficient, from } => {
                let normed = &weights[from..];
                coefficient * sum(normed.len(), |i| normed[i].abs())
            }
            Self::Free | Self::NotNegative { .. } => 0.0,
        }
    }

    /// The gradient of the objective within the region: at a kink or a bound, the slope of the
    /// steepest way down, or 0. Nothing is written where it is the gradient itself.
    pub(super) fn write_slopes(self, weights: &[f64], gradient: &[f64], slopes: &mut [f64]) {
        match self {
            Self::Free => (),
            Self::L1 { coefficient, from } => write(slopes, |i| {
                let coefficient = if i < from { 0.0 } else { coefficient };
                let (up, down) = (gradient[i] + coefficient, gradient[i] - coefficient);
                match weights[i] {
                    w if w > 0.0 => up,
                    w if w < 0.0 => down,
                    _ if up < 0.0 => up,
                    _ if down > 0.0 => down,
                    _ => 0.0,
                }
            }),
            Self::NotNegative { from } => write(slopes, |i| {
                if i < from || weights[i] > 0.0 { gradient[i] } else { gradient[i].min(0.0) }
            }),
        }
    }

    /// A direction without what leads up, or out of the region at once.
    pub(super) fn write_inward(self, slopes: &[f64], direction: &[f64], inward: &mut [f64]) {
        let first = match self {
            Self::NotNegative { from } | Self::L1 { from, .. } => from,
            Self::Free => 0,
        };
        write(
            inward,
            |i| {
                if i < first || direction[i] * slopes[i] < 0.0 { direction[i] } else { 0.0 }
            },
        );
    }

    /// `weights + step · direction`, stopped at kinks and bounds.
    pub(super) fn write_moved(self, way: Way, step: f64, moved: &mut [f64]) {
        let Way { weights, slopes, direction } = way;
        let to = |i: usize| weights[i] + step * direction[i];
        match self {
            Self::Free => write(moved, to),
            Self::L1 { from, .. } => write(moved, |i| {
                let side = if weights[i] != 0.0 { weights[i] } else { -slopes[i] };
                if i < from || to(i) * side > 0.0 { to(i) } else { 0.0 }
            }),
            Self::NotNegative { from } => {
                write(moved, |i| if i < from { to(i) } else { to(i).max(0.0) })
            }
        }
    }
}
