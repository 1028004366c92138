//! References: what a tagger of bibliographic references looks at, and structured entries from
//! plain text.
//!
//! A line of text is split into tokens in the same way as the model's training text ([`Dialect`],
//! [`Tokeniser`]) and tagged. The labels are read as [`Field`]s, whatever data set they are from, and
//! the fields are assembled into an [`Entry`]: people, dates, pages, identifiers, and the [`EntryKind`]
//! of work. A [`Parser`] does all of this; [`bibtex`], [`csl`], [`ris`], [`tei`] and [`fields`] write
//! an entry.

mod embedded;
mod entry;
mod features;
mod identifiers;
mod numbers;
mod output;
mod parser;
mod people;
mod text;

pub use entry::Entry;
pub use entry::assembly::Labelled;
pub use entry::confidence::{Confidence, LOW_CONFIDENCE};
pub use entry::field::Field;
pub use entry::kind::EntryKind;
pub use entry::parts::{Meanings, Part};
pub use entry::same_authors::SameAuthors;
pub use features::{base_settings, lexicons, template};
pub use identifiers::Identifiers;
pub use numbers::date::{Date, Season};
pub use numbers::pages::pages;
pub use numbers::volume::{VolumeParts, bare, report_parts, volume_parts};
pub use output::bibtex::bibtex;
pub use output::csl::csl;
pub use output::json::fields;
pub use output::key::Keys;
pub use output::latex::{escaped, title};
pub use output::ris::ris;
pub use output::tei::tei;
pub use parser::{Forced, MOST_TOKENS, Parsed, Parser, ParserError, Parsing, Refusal};
pub use people::list::people;
pub use people::name::{Name, People};
pub use text::characters::{clean, decoded};
pub use text::dialect::{Dialect, DialectError};
pub use text::printed::printed;
pub use text::tidy::tidy;
pub use text::tokeniser::Tokeniser;
pub use text::unwrap::{Layout, Unwrapped, Unwrapper};
