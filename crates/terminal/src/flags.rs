//! The command line.

use bethe_io::shown_lines;
use clap::Parser;

use crate::say;

/// Exit code of a mistake on the command line.
const MISTAKE: i32 = 2;

/// The flags of this program, or its end with a message about them.
pub fn parse<Flags: Parser>() -> Flags {
    Flags::try_parse().unwrap_or_else(|error| {
        let message = error.to_string();
        // Messages repeat what was given. A terminal must not obey it.
        if error.use_stderr() && shown_lines(&message) != message {
            say(message.trim_end());
            std::process::exit(MISTAKE);
        }
        error.exit()
    })
}
