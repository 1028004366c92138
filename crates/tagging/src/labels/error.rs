use bethe_learn::crf::MOST_STATES;
use thiserror::Error;

use super::{Role, Scheme};

/// One variant per way labels, or stored states, can be wrong. Positions count from 0.
#[derive(Clone, Debug, Error, PartialEq, Eq)]
pub enum LabelError {
    /// A name that is not a scheme.
    #[error("found the scheme {found:?}, expected bio, io, iobes, bilou or plain")]
    UnknownScheme {
        /// The name.
        found: String,
    },
    /// More states than a model can tell apart.
    #[error(
        "found labels of {found} states, expected at most {MOST_STATES}: are these labels, or is it \
         another column?"
    )]
    TooManyStates {
        /// How many.
        found: usize,
    },
    /// No state could be learned.
    #[error("found no labels, expected at least one")]
    NoLabels,
    /// A token to learn from that has no label.
    #[error("token {position} of sequence {sequence} has no label, expected one")]
    EmptyLabel {
        /// The sequence.
        sequence: usize,
        /// The token.
        position: usize,
    },
    /// A label that stands for no state.
    #[error("token {position}: the label {label:?} is not one of the training labels")]
    UnknownLabel {
        /// The label in canonical form.
        label: String,
        /// The token.
        position: usize,
    },
    /// A stored state whose label is empty.
    #[error("state {state} has no label, expected one")]
    StateWithoutLabel {
        /// The state.
        state: usize,
    },
    /// Two stored states that are the same.
    #[error("state {state} is the same as state {earlier}, expected distinct states")]
    RepeatedState {
        /// The later one.
        state: usize,
        /// The earlier one.
        earlier: usize,
    },
    /// A stored state without one role per level of its label.
    #[error("state {state}, {label:?}, has {found} roles, expected {expected}")]
    RoleCount {
        /// The state.
        state: usize,
        /// Its label.
        label: String,
        /// The number of roles.
        found: usize,
        /// The number of levels of the label.
        expected: usize,
    },
    /// A stored role that the scheme does not give to such a tag.
    #[error(
        "state {state}, {label:?}, has the role {} at level {level}, \
         expected one that {} gives this tag there", found.name(), scheme.name()
    )]
    WrongRole {
        /// The state.
        state: usize,
        /// Its label.
        label: String,
        /// The level.
        level: usize,
        /// The role.
        found: Role,
        /// The scheme.
        scheme: Scheme,
    },
}
