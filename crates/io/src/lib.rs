//! Files and pictures, for the other crates of `bethe`.
//!
//! [`open`] reads plain or gzip files; [`open_within`] reads no more than fits into a limit of memory,
//! such as [`half_of_memory`]; [`read_within`] and [`read_text_within`] hold a whole file. A
//! [`PendingFile`] or a [`PendingFolder`] appears whole or not at all, and a [`WriterLock`] keeps a
//! second run away. [`plot`] draws SVG pictures, [`shown`] and its siblings make text from others safe
//! to show, [`in_words`] says what the system has against a file, and [`results`] puts measured tables into the pages of the docs.

mod files;
mod folder;
mod machine;
mod open;
pub mod plot;
mod read;
pub mod results;
mod shown;
mod words;

pub use files::{PendingFile, WriterLock, is_same_file, remove_unfinished};
pub use folder::{FolderError, PendingFolder};
pub use machine::half_of_memory;
pub use open::{
    GzipError, OpenError, Position, TooLarge, open, open_with_position, open_within, standard_input,
};
pub use read::{ReadError, ReadFault, is_utf16, read_text_within, read_within, without_mark};
pub use shown::{as_text, brief, in_markup, in_script, shown, shown_lines};
pub use words::in_words;
