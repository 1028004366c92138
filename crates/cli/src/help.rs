//! `bethe help`: commands, and the guides.

use anyhow::Result;
use bethe_terminal::{Outcome, bad_input, show};
use clap::{Args, CommandFactory};

use crate::Cli;

/// Help on a command, or a guide.
///
/// Without TOPIC, lists both.
#[derive(Args)]
pub struct Flags {
    /// A command such as solve, or a guide such as flows
    topic: Option<String>,
}

struct Guide {
    name: &'static str,
    about: &'static str,
    text: &'static str,
}

macro_rules! guide {
    ($name:literal, $path:literal, $about:literal) => {
        Guide { name: $name, about: $about, text: include_str!(concat!("../", $path, ".md")) }
    };
}

/// The pages of the documentation that a person at a terminal wants.
const GUIDES: &[Guide] = &[
    guide!("problems", "guides/solve-a-problem", "how to state a problem and read its answer"),
    guide!("tagging", "guides/tagging", "taggers that keep rules"),
    guide!("references", "guides/references", "references into a bibliography"),
    guide!("movement", "guides/flows", "movement from counts"),
    guide!("noisy-tables", "guides/noisy-tables", "records from noisy tables"),
    guide!("wide-graphs", "guides/wide-graphs", "graphs too wide for exact inference"),
    guide!("service", "guides/serve", "pages and a service"),
    guide!("python", "guides/python", "the same from Python"),
    guide!("problem-file", "reference/problem-file", "every field of a problem"),
    guide!("answer", "reference/answer", "every field of an answer"),
    guide!("exit-codes", "reference/exit-codes", "what exit codes mean"),
];

pub fn run(flags: Flags) -> Result<Outcome> {
    let mut commands = Cli::command();
    let text = match &flags.topic {
        None => format!("{}\n{}", commands.render_long_help(), guides()),
        Some(topic) => match GUIDES.iter().find(|guide| guide.name == topic) {
            Some(guide) => guide.text.to_string(),
            None => command(&mut commands, "help", topic)?.render_long_help().to_string(),
        },
    };
    show(&text)?;
    Ok(Outcome::Done)
}

fn guides() -> String {
    let width = GUIDES.iter().map(|guide| guide.name.len()).max().unwrap_or(0);
    let line = |Guide { name, about, .. }: &Guide| format!("  {name:width$}  {about}\n");
    format!("Guides (bethe help GUIDE):\n{}", GUIDES.iter().map(line).collect::<String>())
}

/// The command of this name. `asked` is the command that needs it.
pub fn command<'a>(
    commands: &'a mut clap::Command,
    asked: &str,
    name: &str,
) -> Result<&'a mut clap::Command> {
    commands.build();
    let known: Vec<_> =
        commands.get_subcommands().map(|command| command.get_name().to_string()).collect();
    let guides = if asked == "help" { GUIDES } else { &[] };
    let known = known.iter().map(String::as_str).chain(guides.iter().map(|guide| guide.name));
    let known = known.collect::<Vec<_>>().join(", ");
    commands
        .find_subcommand_mut(name)
        .ok_or_else(|| bad_input(format!("{asked}: found {name:?}, expected one of {known}")))
}
