use std::path::PathBuf;

use bethe_io::ReadFault;
use thiserror::Error;

use crate::labels::LabelError;
use crate::rules::{MOST_SEGMENTS, MOST_WEIGHT, RuleMistake};

/// Why a file of rules cannot be used. The path is as the caller gave it; lines and rules count
/// from 1.
#[derive(Debug, Error)]
pub enum RuleFileError {
    /// The file cannot be read.
    #[error("{}: {source}", path.display())]
    Read {
        /// The file.
        path: PathBuf,
        /// What keeps it from being read.
        source: ReadFault,
    },
    /// The text is not TOML.
    #[error("{}:{line}: not valid TOML: {message}", path.display())]
    Syntax {
        /// The file.
        path: PathBuf,
        /// The line.
        line: usize,
        /// What the parser says.
        message: String,
    },
    /// A file that declares nothing.
    #[error("{}: found no rule, expected at least one, each under [[rule]]", path.display())]
    NoRule {
        /// The file.
        path: PathBuf,
    },
    /// Something other than rules at the top level.
    #[error("{}:{line}: found {found:?}, expected each rule under [[rule]]", path.display())]
    NotARule {
        /// The file.
        path: PathBuf,
        /// The line.
        line: usize,
        /// The field.
        found: String,
    },
    /// More names than a model has labels.
    #[error("{}: {error}", path.display())]
    Names {
        /// The file.
        path: PathBuf,
        /// What is wrong with them.
        error: LabelError,
    },
    /// A rule that is wrong.
    #[error("{}:{line}: rule {rule}: {mistake}", path.display())]
    Rule {
        /// The file.
        path: PathBuf,
        /// The line.
        line: usize,
        /// The rule.
        rule: usize,
        /// What is wrong with it.
        mistake: RuleFileMistake,
    },
}

/// One variant per way a rule in a file can be wrong.
#[derive(Clone, Debug, Error, PartialEq)]
pub enum RuleFileMistake {
    /// A field that rules do not have.
    #[error(
        "found the field {found:?}, expected \
         at_most, at_least, exactly, of, equal, if, then, before or weight"
    )]
    UnknownField {
        /// The field.
        found: String,
    },
    /// A rule that says nothing.
    #[error("found none of at_most, at_least, exactly, equal, if and before, expected one")]
    NoForm,
    /// Fields of different rules.
    #[error("found {first} and {second} in one rule, expected two rules")]
    TwoForms {
        /// A field.
        first: &'static str,
        /// Another.
        second: &'static str,
    },
    /// A field without the one that goes with it.
    #[error("{form} needs {expected}")]
    Incomplete {
        /// The field.
        form: &'static str,
        /// The one that is missing.
        expected: &'static str,
    },
    /// A field that does not go with the others.
    #[error("{found} does not go with {form}")]
    Stray {
        /// The field.
        found: &'static str,
        /// What the rule says.
        form: &'static str,
    },
    /// A value of another type.
    #[error("{field} is {found}, expected {expected}")]
    Type {
        /// The field.
        field: &'static str,
        /// The value, as it was written.
        found: String,
        /// What should be there.
        expected: &'static str,
    },
    /// A bound that is negative, large, or not a whole number.
    #[error("{field} is {found}, expected a whole number from 0 to {MOST_SEGMENTS}")]
    Bound {
        /// The field.
        field: &'static str,
        /// The value, as it was written.
        found: String,
    },
    /// A weight that is negative, not finite, or another word.
    #[error(
        "weight is {found}, expected a number from 0 to {MOST_WEIGHT}, \"hard\" or \"learned\""
    )]
    Weight {
        /// The value, as it was written.
        found: String,
    },
    /// A kind that the labels do not have.
    #[error("no label has the name {found:?}, expected one such as {}", known.join(", "))]
    UnknownKind {
        /// The name.
        found: String,
        /// Known kinds that look most like it.
        known: Vec<String>,
    },
    /// A name that several levels have.
    #[error("several levels have the name {found:?}, expected {}", written.join(" or "))]
    AmbiguousKind {
        /// The name.
        found: String,
        /// How they are told apart.
        written: Vec<String>,
    },
    /// A kind that comes twice.
    #[error("found {found:?} twice in {field}, expected different names")]
    RepeatedKind {
        /// The field, or fields.
        field: &'static str,
        /// The name.
        found: String,
    },
    /// A rule that makes no sense.
    #[error(transparent)]
    Senseless(#[from] RuleMistake),
}
