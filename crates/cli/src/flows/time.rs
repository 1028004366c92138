//! Steps that are given up when there is no time left for them.

use std::time::{Duration, Instant};

use bethe_core::solve::{Ignore, SolveError};
use bethe_core::{Settings, Status};
use bethe_flows::infer::{FlowError, FlowProblem, Flows};

/// When this much time has passed.
pub fn deadline(left: Option<Duration>) -> Option<Instant> {
    left.and_then(|left| Instant::now().checked_add(left))
}

/// Solves one of many problems that are compared; an answer that the deadline cut short does not
/// count.
pub fn in_time(
    problem: &FlowProblem,
    settings: Settings,
    deadline: Option<Instant>,
) -> Result<Flows, FlowError> {
    let left = deadline.map(|deadline| deadline.saturating_duration_since(Instant::now()));
    if left.is_some_and(|left| left.is_zero()) {
        return Err(SolveError::OutOfTime.into());
    }
    let flows = problem.solve(&Settings { time_limit: left, ..settings }, &mut Ignore)?;
    match flows.solution.status {
        Status::TimeLimit => Err(SolveError::OutOfTime.into()),
        _ => Ok(flows),
    }
}
