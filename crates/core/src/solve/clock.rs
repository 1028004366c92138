use std::time::{Duration, Instant};

use super::{Settings, SolveError};
use crate::cancel::{Cancel, Cause};

/// `auto` gives exact inference this part of the time to find a first answer; message passing gets
/// the rest.
const EXACT_SHARE: f64 = 0.5;

/// An answer may be this late: it has to be written down.
pub const LATE: Duration = Duration::from_millis(80);
/// The same as a part of the time limit, where that is more.
const LATE_SHARE: f64 = 0.04;

/// The last point may have to be visited again, its tables shown and its assignment decoded.
const CALLS_TO_FINISH: u32 = 3;

/// After a stop from outside, writing down what there is takes at most this long, or this part of
/// the time so far.
const STOPPED: Duration = Duration::from_millis(50);
const STOPPED_SHARE: f64 = 0.025;

/// The time of one problem, from set-up to answer.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Clock {
    start: Instant,
    limit: Option<Duration>,
}

impl Clock {
    /// Starts now.
    pub fn start(limit: Option<Duration>) -> Self {
        Self { start: Instant::now(), limit }
    }

    /// When it started.
    pub fn started(&self) -> Instant {
        self.start
    }

    /// What is left of the limit.
    pub fn left(&self) -> Option<Duration> {
        self.limit.map(|limit| limit.saturating_sub(self.start.elapsed()))
    }

    /// By when exact inference has a first answer, where there is something else to try.
    pub fn exact_end(&self) -> Option<Instant> {
        let limit = self.limit?;
        self.start.checked_add(limit.mul_f64(EXACT_SHARE).max(LATE / 2))
    }

    /// When to stop iterating: to write the answer down takes some further calls of this length.
    pub fn last_call(&self, call: Duration) -> Option<Instant> {
        let limit = self.limit?;
        self.start.checked_add(limit.saturating_sub(call.saturating_mul(CALLS_TO_FINISH)))
    }

    /// When to cut the first iteration off: a small problem has an answer however short the time.
    pub fn first_step_end(&self, call: Duration) -> Option<Instant> {
        Some(self.last_call(call)?.max(self.start + LATE / 2))
    }

    /// The error of a solve that was stopped before it had an answer.
    pub fn error(&self, cause: Cause) -> SolveError {
        match (cause, self.limit) {
            (Cause::Deadline, Some(_)) => SolveError::OutOfTime,
            _ => SolveError::Cancelled,
        }
    }

    /// By when an answer is written down.
    pub fn end(&self) -> Option<Instant> {
        let limit = self.limit?;
        self.start.checked_add(limit.saturating_add(LATE.max(limit.mul_f64(LATE_SHARE))))
    }

    /// Gives what writes an answer down its time, although the token may be cancelled.
    pub fn wind_up(&self, cancel: &Cancel) {
        cancel.limit(None);
        match (cancel.cause(), self.end()) {
            (Some(Cause::Asked | Cause::Deadline), _) => {
                let late = STOPPED.max(self.start.elapsed().mul_f64(STOPPED_SHARE));
                cancel.grant(Instant::now() + late);
            }
            (None, end) => cancel.limit(end),
        }
    }
}

/// When the driver stops.
#[derive(Clone, Copy)]
pub(super) struct Control<'a> {
    pub settings: &'a Settings,
    pub clock: Clock,
    /// How long the first oracle call took.
    pub call: Duration,
}

impl<'a> Control<'a> {
    /// All that happened since the clock started was one call.
    pub fn after_a_call(settings: &'a Settings, clock: Clock) -> Self {
        Self { settings, clock, call: clock.started().elapsed() }
    }
}
