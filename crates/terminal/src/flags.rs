//! The command line.

use std::error::Error;
use std::ffi::OsString;
use std::num::{ParseFloatError, ParseIntError};

use bethe_io::shown;
use clap::Parser;
use clap::error::{ContextKind, ContextValue};

use crate::say;

/// Exit code of a mistake on the command line.
const MISTAKE: u8 = 2;

/// The flags among these arguments, the first of which names the program.
///
/// # Errors
/// The exit code, if the command should not run: after a mistake was reported, or help was shown.
pub fn parse<Flags: Parser>(arguments: &[OsString]) -> Result<Flags, u8> {
    Flags::try_parse_from(arguments).map_err(|error| {
        let given = || arguments.iter().map(|argument| argument.to_string_lossy());
        // Messages repeat what was given. A terminal must not obey it.
        if error.use_stderr() && given().any(|argument| shown(&argument) != argument) {
            let harmless = given().map(|argument| shown(&argument).into_owned());
            let error = Flags::try_parse_from(harmless).err().unwrap_or(error);
            say(error.to_string().trim_end());
            return MISTAKE;
        }
        if let Some(message) = wrong_number(&error) {
            say(&message);
            return MISTAKE;
        }
        // If the stream is closed, there is nobody to tell.
        let _ = error.print();
        u8::try_from(error.exit_code()).unwrap_or(MISTAKE)
    })
}

/// What is wrong with the value of a flag that takes a number, worded like messages about other
/// values.
fn wrong_number(error: &clap::Error) -> Option<String> {
    let source = error.source()?;
    let expected = if source.is::<ParseIntError>() {
        "a whole number of at least 0"
    } else if source.is::<ParseFloatError>() {
        "a number"
    } else {
        return None;
    };
    let text = |kind| match error.get(kind) {
        Some(ContextValue::String(text)) => Some(text.as_str()),
        _ => None,
    };
    let (flag, found) = (text(ContextKind::InvalidArg)?, text(ContextKind::InvalidValue)?);
    let flag = flag.split_once(' ').map_or(flag, |(name, _)| name);
    Some(format!("error: {flag}: found {found:?}, expected {expected}"))
}
