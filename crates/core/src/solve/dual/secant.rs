//! The latest step, and the direction that it leads to.

use super::placement::Blend;

/// Of a step `s` and the change `c` of the gradient to `g`: what a quasi-Newton direction that
/// remembers nothing else asks for. The two iterates hold the vectors.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Secant {
    /// `⟨s, g − c⟩`: the slope along the step at its start.
    pub before: f64,
    /// `⟨s, g⟩`
    pub after: f64,
    /// `⟨s, g⟩` over the free coordinates, as all that follows.
    along: f64,
    /// `⟨s, c⟩`
    curvature: f64,
    /// `⟨c, diagonal·c⟩`
    weighted: f64,
    /// `⟨c, diagonal·g⟩`
    turned: f64,
}

impl Secant {
    /// From the slope at the start, and the sums that [`Secant`] names, that over coordinates which
    /// are not free apart.
    pub fn new(before: f64, [along, held, curvature, weighted, turned]: [f64; 5]) -> Self {
        Self { before, after: along + held, along, curvature, weighted, turned }
    }

    /// `−B·g`, where `B` is the inverse Hessian that this step updates from the diagonal, scaled so
    /// that it fits the step.
    pub fn direction(&self) -> Blend {
        // Where rounding would rule it, a step is of no use.
        let usable = self.curvature > 1e-12 * self.before.abs();
        let scale = self.curvature / self.weighted;
        if !usable || !scale.is_finite() || scale <= 0.0 {
            return Blend::STEEPEST;
        }
        let share = -self.along / self.curvature;
        let back = -scale * (self.turned + share * self.weighted) / self.curvature;
        Blend {
            gradient: -scale * (1.0 + share),
            older: scale * share,
            apart: back - share,
            origin: 1.0,
        }
    }
}
