//! The command line.

use std::env;

use bethe_io::shown;
use clap::Parser;

use crate::say;

/// Exit code of a mistake on the command line.
const MISTAKE: i32 = 2;

/// The flags of this program, or its end with a message about them.
pub fn parse<Flags: Parser>() -> Flags {
    Flags::try_parse().unwrap_or_else(|error| {
        let given: Vec<String> =
            env::args_os().map(|argument| argument.to_string_lossy().into_owned()).collect();
        // Messages repeat what was given. A terminal must not obey it.
        if error.use_stderr() && given.iter().any(|argument| shown(argument) != *argument) {
            let harmless = given.iter().map(|argument| shown(argument).into_owned());
            let error = Flags::try_parse_from(harmless).err().unwrap_or(error);
            say(error.to_string().trim_end());
            std::process::exit(MISTAKE);
        }
        error.exit()
    })
}
