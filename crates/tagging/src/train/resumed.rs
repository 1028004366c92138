//! Whether what a checkpoint holds is the state of a training.
//!
//! The checksum of the file shows accidents, not intent: a file made by hand has the right one too.

use bethe_learn::archive::ArchiveError;
use bethe_learn::optimise::{AdaGrad, State};

use super::base::{BestOnDev, Fitted};
use super::checkpoint::{Current, Progress};

/// More steps than any training does; sums of such numbers do not overflow.
const MOST_STEPS: u64 = 1 << 48;

/// How many numbers a training has.
#[derive(Clone, Copy)]
pub(super) struct Sizes {
    /// What the optimiser moves.
    pub(super) parameters: usize,
    /// What they are the weights of.
    pub(super) weights: usize,
}

impl Fitted {
    /// An error if these are not the weights of a finished model.
    pub(super) fn check(&self, sizes: Sizes) -> Result<(), ArchiveError> {
        numbers("weights of a finished model", &self.weights, sizes.weights)?;
        steps(self.iterations as u64)
    }
}

impl Current {
    /// An error if no training of these sizes was in this state.
    pub(super) fn check(&self, sizes: Sizes) -> Result<(), ArchiveError> {
        match &self.progress {
            Progress::QuasiNewton(state) => quasi_newton(state, sizes.parameters)?,
            Progress::AdaGrad(descent, passes, _) => {
                adagrad(descent, sizes.parameters)?;
                steps(*passes as u64)?;
            }
        }
        match &self.best {
            Some(BestOnDev { weights, since, .. }) => {
                numbers("best weights", weights, sizes.weights)?;
                steps(*since as u64)
            }
            None => Ok(()),
        }
    }
}

fn quasi_newton(state: &State, size: usize) -> Result<(), ArchiveError> {
    numbers("weights", &state.weights, size)?;
    numbers("gradient", &state.gradient, size)?;
    numbers("values", &state.values, state.values.len().max(1))?;
    for (step, change) in &state.pairs {
        numbers("step", step, size)?;
        numbers("change", change, size)?;
        let curvature: f64 =
            step.iter().zip(change).map(|(&s, &y)| f64::from(s) * f64::from(y)).sum();
        if !(curvature > 0.0 && curvature.is_finite()) {
            return wrong("steps", format!("a curvature of {curvature}"), "a positive one");
        }
    }
    steps(state.iterations as u64)
}

fn adagrad(descent: &AdaGrad, size: usize) -> Result<(), ArchiveError> {
    numbers("weights", &descent.weights, size)?;
    numbers("moves", &descent.moves, size)?;
    numbers("squares", &descent.squares, size)?;
    if let Some(negative) = descent.squares.iter().find(|square| **square < 0.0) {
        return wrong("squares", negative.to_string(), "numbers of at least 0");
    }
    steps(descent.steps)
}

/// An error if there are not this many finite numbers.
fn numbers<N>(place: &str, values: &[N], expected: usize) -> Result<(), ArchiveError>
where
    N: Copy + Into<f64>,
{
    match values.iter().map(|&value| value.into()).find(|value: &f64| !value.is_finite()) {
        _ if values.len() != expected => {
            wrong(place, format!("{} numbers", values.len()), &expected.to_string())
        }
        Some(other) => wrong(place, other.to_string(), "finite numbers"),
        None => Ok(()),
    }
}

fn steps(found: u64) -> Result<(), ArchiveError> {
    match found > MOST_STEPS {
        true => wrong("steps", found.to_string(), &format!("at most {MOST_STEPS}")),
        false => Ok(()),
    }
}

fn wrong(place: &str, found: String, expected: &str) -> Result<(), ArchiveError> {
    let (place, expected) = (format!("checkpoint: {place}"), expected.to_string());
    Err(ArchiveError::Content { place, found, expected })
}
