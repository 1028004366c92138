//! When to damp messages, restart extrapolation, or give up.

/// Damp messages more after this many passes without progress …
const PATIENCE: usize = 12;
/// … and give up after damping this often.
const DAMPINGS: usize = 4;
/// Progress means a residual below this fraction of the least so far.
const PROGRESS: f64 = 0.9;
/// A residual this many times the least means that an extrapolation failed.
const ASTRAY: f64 = 100.0;

/// What to do after a residual.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Judgement {
    GoOn,
    /// Forget past passes.
    Restart,
    GiveUp,
}

/// The residuals so far, summed up.
#[derive(Clone, Copy, Debug)]
pub(super) struct Pace {
    /// The share of the way that messages move.
    pub share: f64,
    least: f64,
    idle: usize,
    dampings: usize,
}

impl Pace {
    pub fn new() -> Self {
        Self { share: 1.0, least: f64::INFINITY, idle: 0, dampings: 0 }
    }

    /// Records a residual.
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
