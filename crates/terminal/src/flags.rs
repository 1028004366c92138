//! The command line.

use std::error::Error;
use std::ffi::OsString;
use std::io::{self, Write};
use std::num::{ParseFloatError, ParseIntError};

use bethe_io::shown;
use clap::Parser;
use clap::error::{ContextKind, ContextValue};

use crate::screen::is_coloured;
use crate::{print, say};

/// Exit code of a mistake on the command line.
const MISTAKE: u8 = 2;
/// Ends clap's advice to put `--` before an unknown flag, which is almost never what was meant.
const AS_A_VALUE: &str = "' as a value, use '";

/// The flags among these arguments, the first of which names the program. `advice` says what was
/// probably meant by a mistake, if it knows.
///
/// # Errors
/// The exit code, if the command should not run: after a mistake was reported, or help was shown.
pub fn parse<Flags: Parser>(
    arguments: &[OsString],
    advice: impl Fn(&clap::Error, &[String]) -> Option<String>,
) -> Result<Flags, u8> {
    Flags::try_parse_from(arguments).map_err(|error| {
        // Messages repeat what was given. A terminal must not obey it.
        let harmless = arguments.iter().map(|own| shown(&own.to_string_lossy()).into_owned());
        let harmless: Vec<String> = harmless.collect();
        let error = match error.use_stderr() {
            true => Flags::try_parse_from(&harmless).err().unwrap_or(error),
            false => error,
        };
        if let Some(message) = wrong_number(&error) {
            say(&message);
            return MISTAKE;
        }
        let meant = advice(&error, &harmless);
        tell(&advised(error, meant))
    })
}

/// A mistake on the command line with this advice, or with clap's if that helps.
pub fn advised(mut error: clap::Error, advice: Option<String>) -> clap::Error {
    let suggested = match (advice, error.remove(ContextKind::Suggested)) {
        (Some(advice), _) => {
            error.remove(ContextKind::SuggestedArg);
            error.remove(ContextKind::SuggestedValue);
            vec![advice.into()]
        }
        (None, Some(ContextValue::StyledStrs(mut own))) => {
            own.retain(|text| !text.to_string().contains(AS_A_VALUE));
            own
        }
        (None, _) => Vec::new(),
    };
    if !suggested.is_empty() {
        error.insert(ContextKind::Suggested, ContextValue::StyledStrs(suggested));
    }
    error
}

/// Prints a mistake, or help. Returns the exit code.
fn tell(error: &clap::Error) -> u8 {
    let text = error.render();
    let text = |is_coloured: bool| match is_coloured {
        true => text.ansi().to_string(),
        false => text.to_string(),
    };
    // If the stream is closed, there is nobody to tell.
    let _ = match error.use_stderr() {
        true => io::stderr().write_all(text(is_coloured(&io::stderr())).as_bytes()),
        false => print(&text(is_coloured(&io::stdout()))),
    };
    u8::try_from(error.exit_code()).unwrap_or(MISTAKE)
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
    let (flag, found) =
        (named(error, ContextKind::InvalidArg)?, named(error, ContextKind::InvalidValue)?);
    let flag = flag.split_once(' ').map_or(flag, |(name, _)| name);
    Some(format!("error: {flag}: found {found:?}, expected {expected}"))
}

/// What a mistake is about: an argument or a value.
pub fn named(error: &clap::Error, kind: ContextKind) -> Option<&str> {
    match error.get(kind) {
        Some(ContextValue::String(text)) => Some(text),
        _ => None,
    }
}
