use thiserror::Error;

/// Why an answer has no derivative, or none that can be found.
#[derive(Clone, Debug, Error, PartialEq)]
pub enum DerivativeError {
    /// Marginals that are not exact.
    #[error(
        "derivatives need exact inference, found {entropy} marginals; expected oracle exact or auto"
    )]
    NotExact {
        /// The entropy that was used.
        entropy: &'static str,
    },
    /// An energy that is not a convex measurement.
    #[error("derivatives need convex measurements, found {energy}")]
    Unserved {
        /// The energy.
        energy: &'static str,
    },
    /// An answer that is not proved to be the optimum.
    #[error(
        "derivatives need an answer that is proved, found status {status}; expected converged: \
         allow more iterations or time"
    )]
    Uncertified {
        /// How the solve ended.
        status: &'static str,
    },
    /// An average of iterates, which no tilt leads to.
    #[error(
        "derivatives need an answer with a tilt, found an average; expected return best or last"
    )]
    Average,
    /// Multipliers that are only slopes on one side of a kink.
    #[error(
        "derivatives need the multipliers of the dual where penalties have kinks; expected solver \
         auto or dual"
    )]
    NoMultipliers,
    /// A system of very many rows that did not converge.
    #[error(
        "the response of {rows} active measurements was not found, it may be wrong by {error:e} of its \
         size; expected measurements that are less alike, or smaller weights"
    )]
    Unsolved {
        /// How many rows are active.
        rows: usize,
        /// How much of it may be wrong.
        error: f64,
    },
    /// A table that is not among those to differentiate.
    #[error("no marginals of variables {scope:?} were asked for, expected those of the answer")]
    UnknownTable {
        /// The variables.
        scope: Vec<usize>,
    },
    /// A table of the wrong size.
    #[error("variables {scope:?}: found {found} numbers, expected {expected}")]
    WrongSize {
        /// The variables.
        scope: Vec<usize>,
        /// Configurations of them.
        expected: usize,
        /// Numbers given.
        found: usize,
    },
    /// It was cancelled.
    #[error("cancelled before there was a derivative")]
    Cancelled,
}
