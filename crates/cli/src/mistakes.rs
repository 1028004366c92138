//! What was probably meant by arguments that do not fit.

use std::path::Path;

use bethe_terminal::named;
use clap::error::{ContextKind, ErrorKind};
use clap::{Arg, Command, CommandFactory};

use crate::Cli;
use crate::beginning::Table;

/// A file that is read only behind a flag, which people forget.
struct Flagged {
    command: &'static str,
    flag: &'static str,
    /// Whether a file is one of these.
    fits: fn(&Path) -> bool,
}

const FLAGGED: [Flagged; 3] = [
    Flagged { command: "flows", flag: "--cells", fits: is_cells },
    Flagged { command: "solve", flag: "--evidence", fits: is_evidence },
    Flagged { command: "sample", flag: "--evidence", fits: is_evidence },
];

fn is_cells(path: &Path) -> bool {
    Table::of(path) == Some(Table::Cells)
}

/// Evidence is whole numbers; its name tells more.
pub fn is_evidence(path: &Path) -> bool {
    path.extension().is_some_and(|extension| extension.eq_ignore_ascii_case("evid"))
}

/// Advice on a mistake in these arguments, the first of which names the program.
pub fn advice(error: &clap::Error, arguments: &[String]) -> Option<String> {
    let (name, given) = arguments.get(1..)?.split_first()?;
    let commands = Cli::command();
    let command = commands.find_subcommand(name)?;
    let wrong = named(error, ContextKind::InvalidArg)?;
    match error.kind() {
        ErrorKind::InvalidValue => output(command, given),
        ErrorKind::UnknownArgument if wrong == "--output" => output(command, given),
        ErrorKind::UnknownArgument => {
            flagged(name, given).or_else(|| without_equals(command, wrong, given))
        }
        _ => None,
    }
}

/// Where `--output` is not a flag, or not one for a file.
fn output(command: &Command, given: &[String]) -> Option<String> {
    let is_output = |own: &String| own == "--output" || own.starts_with("--output=");
    let out = command.get_arguments().find(|own| own.get_long() == Some("out"))?;
    let value = out.get_value_names()?.first()?;
    let what = if value == "DIR" { "folder" } else { "file" };
    given.iter().any(is_output).then(|| format!("to write to a {what}: -o {value}"))
}

/// The flag of a file that was given without it.
fn flagged(command: &str, given: &[String]) -> Option<String> {
    let own = FLAGGED.iter().find(|own| own.command == command)?;
    let is_given = given.iter().any(|argument| argument.split('=').next() == Some(own.flag));
    let file = given.iter().find(|argument| !is_given && (own.fits)(Path::new(argument)))?;
    Some(format!("did you mean `{} {file}`?", own.flag))
}

/// A flag whose value needs an equals sign: `--flag value` is a flag, and an argument too many.
fn without_equals(command: &Command, wrong: &str, given: &[String]) -> Option<String> {
    let needs = |argument: &str, own: &Arg| {
        own.is_require_equals_set() && own.get_long() == argument.strip_prefix("--")
    };
    let is_value =
        |value: &str| !value.starts_with('-') && (value == wrong || !Path::new(value).exists());
    given.windows(2).find_map(|pair| {
        let is_flag = command.get_arguments().any(|own| needs(&pair[0], own));
        (is_flag && is_value(&pair[1])).then(|| format!("did you mean `{}={}`?", pair[0], pair[1]))
    })
}
