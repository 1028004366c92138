//! When messages are damped, extrapolated from anew, or given up.

/// After so many passes without progress messages are damped more …
const PATIENCE: usize = 12;
/// … and given up after so many times.
const DAMPINGS: usize = 4;
/// Progress is a residual that falls below this part of the least so far.
const PROGRESS: f64 = 0.9;
/// A residual that rises to so many times the least means that an extrapolation went astray.
const ASTRAY: f64 = 100.0;

/// What a residual says of message passing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Judgement {
    GoOn,
    /// Past passes are no guide any more.
    Restart,
    GiveUp,
}

/// The residuals so far, summed up.
#[derive(Clone, Copy, Debug)]
pub(super) struct Pace {
    /// How much of the way messages go.
    pub share: f64,
    least: f64,
    idle: usize,
    dampings: usize,
}

impl Pace {
    pub fn new() -> Self {
        Self { share: 1.0, least: f64::INFINITY, idle: 0, dampings: 0 }
    }

    /// Takes note of a residual.
    pub fn judge(&mut self, residual: f64) -> Judgement {
        self.idle += 1;
        if residual < PROGRESS * self.least {
            (self.least, self.idle) = (residual, 0);
        }
        if self.idle < PATIENCE {
            let astray = residual > ASTRAY * self.least;
            return if astray { Judgement::Restart } else { Judgement::GoOn };
        }
        if self.dampings == DAMPINGS {
            return Judgement::GiveUp;
        }
        (self.share, self.dampings, self.idle) = (0.5 * self.share, self.dampings + 1, 0);
        Judgement::Restart
    }
}
