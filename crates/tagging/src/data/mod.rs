//! Files of sequences, read one sequence at a time.
//!
//! Both formats have one token per line and a blank line between sequences:
//!
//! - [`Format::Columns`]: every line has the same number of columns, separated by tabs, or by runs
//!   of spaces if the line has no tab.
//! - [`Format::Attributes`]: a label, then `name` or `name:value` fields, separated by tabs, as in
//!   CRFsuite.
//!
//! [`bethe_io::open`] unpacks gzip; [`Sequences`] iterates; a [`Sequence`] keeps its lines as they were.

mod attributes;
mod error;
mod reader;
mod sequence;

pub use attributes::{Attributes, write_attribute};
pub use error::DataError;
pub(super) use error::columns;
pub use reader::Sequences;
pub use sequence::{Growing, Sequence};

/// How the lines of a file are split into cells.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Format {
    /// The same columns in every line, separated by tabs if the line has one, else by runs of
    /// spaces.
    Columns,
    /// A label and any number of attributes, separated by tabs.
    Attributes,
}
