//! What the commands `bethe` and `bethe-reproduce` share: how they end, what they say while they
//! work, and files that are checked before any work is done.

mod counted;
mod flags;
mod folder;
mod interrupt;
mod outcome;
mod output;
mod progress;
mod prompt;
mod screen;
pub mod size;
pub mod threads;
pub mod time;
mod time_left;

pub use bethe_io::{shown, shown_lines};
pub use counted::counted;
pub use flags::{advised, named, parse};
pub use folder::Folder;
pub use interrupt::Interrupt;
pub use outcome::{BadInput, Outcome, bad_input, exit_code, print, say, show};
pub use output::{PendingFile, check_apart, check_distinct};
pub use progress::Progress;
pub use prompt::prompt;
pub use screen::{is_coloured, width};
pub use time_left::time_left;
