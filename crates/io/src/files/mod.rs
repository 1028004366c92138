//! Files that appear whole or not at all, and what keeps runs from harming each other.

mod lock;
mod pending;
mod same;
pub(crate) mod unfinished;

pub use lock::WriterLock;
pub use pending::PendingFile;
pub(crate) use pending::keep_access;
pub use same::is_same_file;
pub use unfinished::remove_unfinished;
