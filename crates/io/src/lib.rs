//! Files and pictures: what several crates of `bethe` need of the world outside.
//!
//! [`open`] reads plain or gzip files, [`open_within`] no more of them than fits into a limit of
//! memory, which [`half_of_memory`] may be, a [`PendingFile`] appears whole or not at all, [`plot`] draws
//! SVG pictures, [`results`] puts measured tables into the pages of the docs.

mod machine;
mod open;
mod pending;
pub mod plot;
pub mod results;

pub use machine::half_of_memory;
pub use open::{GzipError, OpenError, TooLarge, open, open_within};
pub use pending::PendingFile;
