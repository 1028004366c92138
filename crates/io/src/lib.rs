//! Files and pictures: what several crates of `bethe` need of the world outside.
//!
//! [`open`] reads plain or gzip files, a [`PendingFile`] appears whole or not at all, [`plot`] draws
//! SVG pictures.

mod open;
mod pending;
pub mod plot;

pub use open::{GzipError, OpenError, open};
pub use pending::PendingFile;
