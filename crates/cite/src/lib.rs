//! References: what a tagger of bibliographic references looks at, and structured entries from
//! plain text.
//!
//! A line of text is split into tokens as the model's training text was ([`Dialect`],
//! [`Tokeniser`]), tagged, its labels read as [`Field`]s of whatever data set they are from, and
//! the fields assembled into an [`Entry`]: people, dates, pages, identifiers, and the [`Kind`] of
//! work. [`Citing`] does all of it; an entry is written by [`bibtex`], [`csl`] and [`fields`].

mod access;
mod assembly;
mod bibtex;
mod citing;
mod csl;
mod date;
mod dialect;
mod entry;
mod features;
mod field;
mod identifier;
mod inverted;
mod json;
mod key;
mod kind;
mod latex;
mod mend;
mod name_word;
mod named;
mod numbers;
mod organisation;
mod pages;
mod parts;
mod people;
mod person;
mod pieces;
mod printed;
mod remark;
mod text;
mod tidy;
mod tokeniser;

pub use assembly::Labelled;
pub use bibtex::bibtex;
pub use citing::{Cited, Citer, Citing, MOST_TOKENS};
pub use csl::csl;
pub use date::Date;
pub use dialect::{Dialect, DialectError};
pub use entry::Entry;
pub use features::{base_settings, lexicons, template};
pub use field::Field;
pub use identifier::Identifiers;
pub use json::fields;
pub use key::Keys;
pub use kind::Kind;
pub use latex::{escaped, title};
pub use numbers::{VolumeParts, bare, report_parts, volume_parts};
pub use pages::pages;
pub use parts::{Meanings, Part};
pub use people::people;
pub use person::{Name, People};
pub use printed::printed;
pub use text::{clean, decoded};
pub use tidy::tidy;
pub use tokeniser::Tokeniser;
