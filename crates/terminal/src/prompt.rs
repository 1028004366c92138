//! What a person is told who would otherwise wait for a command that waits for them.

use std::io::{self, IsTerminal};
use std::path::Path;

use crate::say;

/// Says that a command reads standard input, if `path` is that (`-`) and somebody types there.
pub fn prompt(path: &Path, what: &str, quiet: bool) {
    if !quiet && path == Path::new("-") && io::stdin().is_terminal() {
        let end = if cfg!(windows) { "Ctrl-Z and Enter end it" } else { "Ctrl-D ends it" };
        say(&format!("reading {what} from standard input; {end}"));
    }
}
