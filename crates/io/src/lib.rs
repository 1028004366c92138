//! Files and pictures: what several crates of `bethe` need of the world outside.
//!
//! [`open`] reads plain or gzip files, a [`PendingFile`] appears whole or not at all, [`plot`] draws
//! SVG pictures, [`results`] puts measured tables into the pages of the docs.

mod open;
mod pending;
pub mod plot;
pub mod results;

pub use open::{GzipError, OpenError, open};
pub use pending::PendingFile;
