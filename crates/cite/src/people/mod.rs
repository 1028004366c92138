//! People: a list of them as it is written, each with a name of several parts.
//!
//! [`list`] cuts a list into `pieces`, takes out what `remark` says is not a name, and reads names
//! with their words in either order (`inverted`), or as those of an `organisation`; `labelled`
//! reads people whose names are labelled.

pub(crate) mod inverted;
pub(crate) mod labelled;
pub(crate) mod list;
pub(crate) mod name;
pub(crate) mod name_word;
pub(crate) mod organisation;
pub(crate) mod pieces;
pub(crate) mod remark;

pub(crate) use name_word::{is_initials, is_particle};
pub(crate) use organisation::is_organisation;
