//! `bethe help`: commands, and the guides.

mod page;

use std::io::{self, IsTerminal};

use anyhow::Result;
use bethe_terminal::{Outcome, bad_input, is_coloured, print, width};
use clap::{Args, CommandFactory};
use strsim::jaro_winkler;

use crate::Cli;

/// Help on a command, or a guide.
///
/// Without TOPIC, lists both.
#[derive(Args)]
pub struct Flags {
    /// A command such as solve, or a guide such as movement
    topic: Option<String>,
}

/// Names that are more alike than this may have been meant.
const ALIKE: f64 = 0.8;

struct Guide {
    name: &'static str,
    about: &'static str,
    text: &'static str,
}

macro_rules! guide {
    ($name:literal, $path:literal, $about:literal) => {
        Guide { name: $name, about: $about, text: include_str!(concat!("../../", $path, ".md")) }
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
        Some(topic) => match GUIDES.iter().find(|guide| guide.name == named(topic)) {
            Some(guide) if io::stdout().is_terminal() => {
                page::rendered(guide.text, width(), is_coloured(&io::stdout()))
            }
            Some(guide) => guide.text.to_string(),
            None => command(&mut commands, "help", topic)?.render_long_help().to_string(),
        },
    };
    // It is our own text, which a terminal may obey.
    print(&text)?;
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
    let known: Vec<&str> = known.collect();
    let found = commands.find_subcommand_mut(named(name));
    found.ok_or_else(|| unknown(asked, name, &known))
}

/// A topic as it is listed: `Noisy tables` is `noisy-tables`.
fn named(topic: &str) -> String {
    topic.trim().to_lowercase().replace([' ', '_'], "-")
}

fn unknown(asked: &str, found: &str, known: &[&str]) -> anyhow::Error {
    let name = named(found);
    let likeness = |own: &&str| jaro_winkler(own, &name);
    let nearest = known.iter().copied().max_by(|a, b| likeness(a).total_cmp(&likeness(b)));
    let meant = nearest.filter(|own| likeness(own) > ALIKE);
    let meant = meant.map_or(String::new(), |own| format!(". Did you mean `bethe {asked} {own}`?"));
    let known = known.join(", ");
    bad_input(format!("{asked}: found {found:?}, expected one of {known}{meant}"))
}
