use thiserror::Error;

use crate::model::ModelError;

/// Why a problem cannot be solved as requested.
#[derive(Clone, Debug, Error, PartialEq)]
pub enum SolveError {
    /// The model has no exact oracle, or no allowed configuration.
    #[error(transparent)]
    Model(ModelError),
    /// It was cancelled before there was an answer, see [`Cancel`](crate::Cancel).
    #[error("cancelled before there was an answer")]
    Cancelled,
    /// The time limit passed before there was an answer.
    #[error(
        "the time limit passed before there was an answer; a longer --time-limit allows more, \
         --oracle trw is fast on wide models"
    )]
    OutOfTime,
    /// The solver does not support an energy.
    #[error("solver {solver} does not support {energy}; expected {expected}")]
    Unserved {
        /// The solver's name.
        solver: &'static str,
        /// The energy.
        energy: &'static str,
        /// What would do.
        expected: &'static str,
    },
    /// The energy is infinite or NaN at the start of a primal solver.
    #[error(
        "solver {solver} starts at the base model's marginals, where the energy is {energy}, \
         expected a finite value; for measurements only, solver dual needs no such start"
    )]
    NotFiniteAtStart {
        /// The solver's name.
        solver: &'static str,
        /// The energy there.
        energy: f64,
    },
    /// An average of iterates was asked for, and there is none.
    #[error("return average: found {found}, expected return best or last{or}")]
    NoAverage {
        /// What keeps none.
        found: &'static str,
        /// What else would do.
        or: &'static str,
    },
    /// Marginals that no model has.
    #[error("fitting a model needs exact inference, expected oracle exact or auto")]
    Unfitted,
    /// A covariance, which only exact oracles have.
    #[error("covariances and derivatives need exact inference, expected oracle exact or auto")]
    NoCovariance,
    /// Energies whose values leave the range of a double.
    #[error("the energies add up to more than 1e308, expected smaller weights")]
    Overflow,
    /// A setting out of its range.
    #[error("{setting}: found {found}, expected {expected}")]
    Setting {
        /// Which one.
        setting: &'static str,
        /// Its value.
        found: f64,
        /// What is allowed.
        expected: &'static str,
    },
}

impl From<ModelError> for SolveError {
    fn from(error: ModelError) -> Self {
        if error == ModelError::Cancelled { Self::Cancelled } else { Self::Model(error) }
    }
}
