//! `bethe completions` and `bethe man`: what a shell and `man` know of the commands.

use std::path::{Path, PathBuf};

use anyhow::{Context, Result};
use bethe_terminal::Outcome;
use clap::{Args, CommandFactory};
use clap_complete::Shell;
use clap_mangen::Man;

use crate::output::answer;
use crate::{Cli, help};

/// Print completions for a shell.
///
/// For bash: bethe completions bash -o ~/.local/share/bash-completion/completions/bethe
#[derive(Args)]
pub struct CompletionFlags {
    /// The shell
    #[arg(value_enum)]
    shell: Shell,

    /// Write to this file [default: standard output]
    #[arg(long, short, value_name = "FILE")]
    out: Option<PathBuf>,
}

/// Print the manual page of bethe, or of one of its commands.
///
/// To read one: bethe man solve -o bethe-solve.1 && man ./bethe-solve.1
#[derive(Args)]
pub struct ManFlags {
    /// The command [default: bethe itself]
    command: Option<String>,

    /// Write to this file [default: standard output]
    #[arg(long, short, value_name = "FILE")]
    out: Option<PathBuf>,
}

pub fn completions(flags: CompletionFlags) -> Result<Outcome> {
    let mut text = Vec::new();
    clap_complete::generate(flags.shell, &mut Cli::command(), "bethe", &mut text);
    written(flags.out.as_deref(), text)
}

pub fn man(flags: ManFlags) -> Result<Outcome> {
    let mut commands = Cli::command();
    commands.build();
    let command = match &flags.command {
        None => commands,
        Some(name) => help::command(&mut commands, "man", name)?.clone(),
    };
    let mut text = Vec::new();
    let version = format!("bethe {}", env!("CARGO_PKG_VERSION"));
    let page = Man::new(command).source(version);
    page.render(&mut text).context("the manual page cannot be made")?;
    written(flags.out.as_deref(), text)
}

fn written(out: Option<&Path>, text: Vec<u8>) -> Result<Outcome> {
    answer(out, &String::from_utf8(text).context("pages are text")?)?;
    Ok(Outcome::Done)
}
