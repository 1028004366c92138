use thiserror::Error;

use super::JsonPath;
use crate::energy::EnergyFault;
use crate::model::ModelError;

/// One variant per way a file can be wrong, with its place and what was found there.
///
/// The message does not name the file: whoever opened it puts that in front.
#[derive(Clone, Debug, Error, PartialEq)]
pub enum ProblemFileError {
    /// There is no text.
    #[error("the file is empty, expected {expected}")]
    Empty {
        /// What belongs there.
        expected: &'static str,
    },
    /// The text is not JSON.
    #[error("line {line}, column {column}: found {found}, expected {expected}")]
    Syntax {
        /// Counted from 1.
        line: usize,
        /// Counted from 1, in bytes.
        column: usize,
        /// What is there.
        found: String,
        /// What may stand there.
        expected: String,
    },
    /// A value of the wrong type.
    #[error("{place}found {found}, expected {expected}")]
    Type {
        /// Where.
        place: JsonPath,
        /// What is there.
        found: String,
        /// What belongs there.
        expected: String,
    },
    /// A field that does not exist there.
    #[error("{place}found the unknown field {field:?}, expected {expected}")]
    UnknownField {
        /// The object that has it.
        place: JsonPath,
        /// Its name.
        field: String,
        /// The fields that exist.
        expected: String,
    },
    /// A field that is not there.
    #[error("{place}found no field {field:?}, expected one")]
    MissingField {
        /// The object that lacks it.
        place: JsonPath,
        /// Its name.
        field: String,
    },
    /// One field twice in one object.
    #[error("{place}found the field {field:?} twice, expected it once")]
    RepeatedField {
        /// The object that has it.
        place: JsonPath,
        /// Its name.
        field: String,
    },
    /// A kind (of energy, of penalty, …) that does not exist.
    #[error("{place}found {found:?}, expected one of {expected}")]
    UnknownKind {
        /// Where.
        place: JsonPath,
        /// The word that is there.
        found: String,
        /// The words that exist.
        expected: String,
    },
    /// A name that no variable has.
    #[error("{place}found {name:?}, expected the name of a variable{or_index}")]
    UnknownName {
        /// Where.
        place: JsonPath,
        /// The name.
        name: String,
        /// What else may stand there.
        or_index: &'static str,
    },
    /// A name that no state of the variable has.
    #[error("{place}found {name:?}, expected {expected}")]
    UnknownStateName {
        /// Where.
        place: JsonPath,
        /// The name.
        name: String,
        /// The names, or that there are none.
        expected: String,
    },
    /// A scope lists a variable twice.
    #[error("{place}found variable {variable} a second time, expected each variable once")]
    RepeatedVariable {
        /// Where the second mention is.
        place: JsonPath,
        /// Its name or index.
        variable: String,
    },
    /// Two evidence keys mean the same variable.
    #[error("{place}found a second observation of variable {variable}, expected at most one")]
    RepeatedEvidence {
        /// Where the second one is.
        place: JsonPath,
        /// Its name or index.
        variable: String,
    },
    /// A weight on a constraint, which has none.
    #[error("{place}found a weight on the hard penalty {penalty:?}, expected none")]
    WeightOnConstraint {
        /// Where.
        place: JsonPath,
        /// The penalty's kind.
        penalty: &'static str,
    },
    /// Something the model refuses.
    #[error("{place}{error}")]
    Model {
        /// Where.
        place: JsonPath,
        /// What is wrong.
        error: ModelError,
    },
    /// An error of an energy.
    #[error("{place}{fault}")]
    Energy {
        /// Where.
        place: JsonPath,
        /// What is wrong.
        fault: EnergyFault,
    },
}

/// Why a problem has no file form.
#[derive(Clone, Debug, Error, PartialEq)]
pub enum WriteError {
    /// A closure cannot be written.
    #[error("energies[{index}] is a closure, which a file cannot hold")]
    Custom {
        /// Which energy.
        index: usize,
    },
    /// The evidence key of an unnamed variable is another variable's name.
    #[error(
        "variable {variable} is observed and has no name, but another one is named {variable:?}; \
         evidence cannot tell them apart: rename one"
    )]
    AmbiguousEvidence {
        /// The unnamed variable.
        variable: usize,
    },
}
