//! The terminal that text goes to.

use std::env;
use std::ffi::OsStr;
use std::io::IsTerminal;

use console::Term;

/// Whether text for this stream may have colours: it goes to a terminal that knows them, whose owner
/// has not said no (no-color.org). Everything that has colours asks here.
pub fn is_coloured(stream: &impl IsTerminal) -> bool {
    stream.is_terminal()
        && allows_colours(env::var_os("NO_COLOR").as_deref(), env::var_os("TERM").as_deref())
}

fn allows_colours(refused: Option<&OsStr>, terminal: Option<&OsStr>) -> bool {
    refused.is_none_or(OsStr::is_empty) && terminal.is_none_or(|name| name != "dumb")
}

/// The width of the terminal that standard output goes to; 80 if it does not say.
pub fn width() -> usize {
    Term::stdout().size().1.into()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_color_and_dumb_terminals_get_none() {
        for (refused, terminal, allowed) in [
            (None, Some("xterm-256color"), true),
            (None, None, true),
            (Some(""), Some("xterm"), true),
            (Some("1"), Some("xterm"), false),
            (None, Some("dumb"), false),
        ] {
            let found = allows_colours(refused.map(OsStr::new), terminal.map(OsStr::new));
            assert_eq!(found, allowed, "{refused:?} {terminal:?}");
        }
    }

    #[test]
    fn a_file_has_no_colours() {
        assert!(!is_coloured(&std::fs::File::open(env::current_exe().unwrap()).unwrap()));
    }
}
