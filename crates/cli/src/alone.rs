//! Parses the flags of one command, for callers other than a terminal.

use anyhow::Result;
use bethe_terminal::{advised, bad_input};
use clap::{Args, Command, FromArgMatches};

fn command<Flags: Args>() -> Command {
    Flags::augment_args(Command::new("bethe").no_binary_name(true))
}

/// The long names of all flags.
pub fn names<Flags: Args>() -> Vec<String> {
    let command = command::<Flags>();
    command
        .get_arguments()
        .filter(|own| !own.is_hide_set())
        .filter_map(|own| own.get_long())
        .map(str::to_string)
        .collect()
}

/// The flags among these arguments, or what is wrong with them, in one line.
pub fn flags<Flags: Args + FromArgMatches>(
    arguments: impl IntoIterator<Item = String>,
) -> Result<Flags> {
    let matches = command::<Flags>().try_get_matches_from(arguments);
    let parsed = matches.and_then(|matches| Flags::from_arg_matches(&matches));
    parsed.map_err(|error| bad_input(in_one_line(&advised(error, None))))
}

/// A message about flags without how to use them.
fn in_one_line(error: &clap::Error) -> String {
    let text = error.to_string();
    let own = text.lines().take_while(|line| !line.starts_with("Usage:"));
    let own = own.filter(|line| !line.starts_with("For more information"));
    let words: Vec<&str> = own.map(str::trim).filter(|line| !line.is_empty()).collect();
    let whole = words.join(" ");
    whole.strip_prefix("error: ").unwrap_or(&whole).to_string()
}
