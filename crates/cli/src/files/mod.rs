//! Files in (problems, one or many) and files out (written whole or not at all).

mod folder;
mod input;
mod output;

pub use folder::Folder;
pub use input::{Content, Source, read};
pub use output::{PendingFile, check_apart};
