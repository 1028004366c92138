//! Stopping work that takes long: a flag that another thread may set, and a time at which to stop.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::{Duration, Instant};

/// A token that stops a solve, also while it is being set up. Clones are the same token.
///
/// What is cancelled before there is any answer is [`SolveError::Cancelled`]; afterwards the best
/// answer so far is returned, with the status `stopped`, or `time_limit` if a deadline passed.
///
/// ```
/// use bethe_core::solve::SolveError;
/// use bethe_core::{Cancel, Model, Problem, Request, Settings, solve::Ignore};
///
/// let cancel = Cancel::new(); // keep a clone, and call `cancel` from any thread
/// cancel.cancel();
/// let problem = Problem::new(Model::new(&[2])?, vec![])?;
/// let request = Request { cancel, ..Request::default() };
/// let stopped = problem.solve_with(&Settings::default(), &request, &mut Ignore);
/// assert_eq!(stopped.unwrap_err(), SolveError::Cancelled);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// [`SolveError::Cancelled`]: crate::solve::SolveError::Cancelled
#[derive(Clone, Debug, Default)]
pub struct Cancel(Option<Arc<Token>>);

/// Why work stops.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Cause {
    /// Somebody called [`Cancel::cancel`].
    Asked,
    /// The time is over.
    Deadline,
}

#[derive(Debug)]
struct Token {
    flag: Arc<AtomicBool>,
    /// Cancelling this one cancels the token too.
    outer: Cancel,
    deadline: Option<Instant>,
    start: Instant,
    /// A time limit, in nanoseconds after `start`; [`UNLIMITED`] for none.
    limit: AtomicU64,
    /// Until then, in nanoseconds after `start`, nothing is cancelled: an answer is being written.
    /// 0 for no such time.
    granted: AtomicU64,
}

const UNLIMITED: u64 = u64::MAX;

impl Cancel {
    /// A token of its own.
    pub fn new() -> Self {
        Self::with(Arc::default(), Self::never(), None)
    }

    /// A token that nothing cancels. It costs nothing to look at.
    pub fn never() -> Self {
        Self(None)
    }

    /// A token that cancels itself at a time.
    pub fn at(deadline: Instant) -> Self {
        Self::with(Arc::default(), Self::never(), Some(deadline))
    }

    /// A token that is cancelled with this one, or alone.
    pub fn child(&self) -> Self {
        Self::with(Arc::default(), self.clone(), None)
    }

    /// A token that is cancelled with this one, alone, or by itself at a time.
    pub fn until(&self, deadline: Instant) -> Self {
        Self::with(Arc::default(), self.clone(), Some(deadline))
    }

    fn with(flag: Arc<AtomicBool>, outer: Self, deadline: Option<Instant>) -> Self {
        let (start, limit) = (Instant::now(), AtomicU64::new(UNLIMITED));
        let granted = AtomicU64::new(0);
        Self(Some(Arc::new(Token { flag, outer, deadline, start, limit, granted })))
    }

    /// Cancels whatever has this token. Nothing happens to one that [`Cancel::never`] made.
    pub fn cancel(&self) {
        if let Some(token) = &self.0 {
            token.flag.store(true, Ordering::Relaxed);
        }
    }

    /// Whether to stop.
    #[inline]
    pub fn is_cancelled(&self) -> bool {
        self.0.is_some() && self.cause().is_some()
    }

    /// Why to stop, if so.
    pub(crate) fn cause(&self) -> Option<Cause> {
        let token = self.0.as_deref()?;
        match token.granted.load(Ordering::Relaxed) {
            0 => {}
            UNLIMITED => return None,
            granted => return token.is_past(granted).then_some(Cause::Deadline),
        }
        if token.flag.load(Ordering::Relaxed) {
            return Some(Cause::Asked);
        }
        if let Some(cause) = token.outer.cause() {
            return Some(cause);
        }
        let limit = token.limit.load(Ordering::Relaxed);
        if token.deadline.is_none() && limit == UNLIMITED {
            return None;
        }
        let is_late = token.deadline.is_some_and(|deadline| Instant::now() >= deadline)
            || limit != UNLIMITED && token.is_past(limit);
        is_late.then_some(Cause::Deadline)
    }

    /// The time until it cancels itself, if it does.
    pub(crate) fn remaining(&self) -> Option<Duration> {
        let token = self.0.as_deref()?;
        let limit = match token.limit.load(Ordering::Relaxed) {
            UNLIMITED => None,
            limit => token.start.checked_add(Duration::from_nanos(limit)),
        };
        let own = [token.deadline, limit].into_iter().flatten();
        let own = own.map(|end| end.saturating_duration_since(Instant::now()));
        own.chain(token.outer.remaining()).min()
    }

    /// Whether nothing can cancel it.
    pub(crate) fn is_never(&self) -> bool {
        self.0.is_none()
    }

    /// Stops at a time, or no longer at one.
    pub(crate) fn limit(&self, end: Option<Instant>) {
        if let Some(token) = &self.0 {
            let nanoseconds = end.map_or(UNLIMITED, |end| token.nanoseconds_to(end));
            token.limit.store(nanoseconds, Ordering::Relaxed);
        }
    }

    /// Lets work go on although it was cancelled, to write down what there is, until this time and
    /// no longer.
    pub(crate) fn grant(&self, end: Instant) {
        if let Some(token) = &self.0 {
            token.granted.store(token.nanoseconds_to(end).max(1), Ordering::Relaxed);
        }
    }

    /// The same without an end if `suspended`, else ends what was granted.
    pub(crate) fn suspend(&self, suspended: bool) {
        if let Some(token) = &self.0 {
            token.granted.store(if suspended { UNLIMITED } else { 0 }, Ordering::Relaxed);
        }
    }
}

impl Token {
    fn nanoseconds_to(&self, end: Instant) -> u64 {
        u64::try_from(end.saturating_duration_since(self.start).as_nanos()).unwrap_or(UNLIMITED)
    }

    fn is_past(&self, nanoseconds: u64) -> bool {
        self.start.elapsed().as_nanos() >= u128::from(nanoseconds)
    }
}

/// A token that shares a flag with others who look at it themselves.
impl From<Arc<AtomicBool>> for Cancel {
    fn from(flag: Arc<AtomicBool>) -> Self {
        Self::with(flag, Self::never(), None)
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    #[test]
    fn a_child_stops_with_its_parent_and_not_the_other_way_round() {
        let parent = Cancel::new();
        let [child, sibling] = [parent.child(), parent.child()];
        child.cancel();
        assert!(child.is_cancelled() && !parent.is_cancelled() && !sibling.is_cancelled());
        parent.cancel();
        assert_eq!(sibling.cause(), Some(Cause::Asked));
    }

    #[test]
    fn deadlines_and_limits_pass() {
        let now = Instant::now();
        assert_eq!(Cancel::at(now).cause(), Some(Cause::Deadline));
        assert!(!Cancel::at(now + Duration::from_secs(3600)).is_cancelled());
        let token = Cancel::new();
        token.limit(Some(now));
        assert_eq!(token.child().cause(), Some(Cause::Deadline));
        token.limit(None);
        assert!(!token.is_cancelled());
    }

    #[test]
    fn nothing_is_cancelled_while_suspended() {
        let token = Cancel::new();
        token.cancel();
        token.suspend(true);
        assert!(!token.is_cancelled());
        token.suspend(false);
        assert!(token.is_cancelled());
        let never = Cancel::never();
        never.cancel();
        assert!(never.is_never() && !never.is_cancelled());
    }

    #[test]
    fn what_is_granted_has_an_end() {
        let token = Cancel::new();
        token.cancel();
        token.grant(Instant::now() + Duration::from_secs(3600));
        assert!(!token.is_cancelled());
        token.grant(Instant::now());
        assert_eq!(token.cause(), Some(Cause::Deadline));
        token.suspend(false);
        assert_eq!(token.cause(), Some(Cause::Asked));
    }

    #[test]
    fn the_nearest_end_remains() {
        let hours = |hours: u64| Instant::now() + Duration::from_secs(3600 * hours);
        assert_eq!(Cancel::new().remaining(), None);
        let outer = Cancel::at(hours(5));
        let token = outer.child();
        assert!(token.remaining().unwrap() > Duration::from_secs(4 * 3600));
        token.limit(Some(hours(2)));
        assert!(token.remaining().unwrap() <= Duration::from_secs(2 * 3600));
    }
}
