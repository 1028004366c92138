//! The `bethe` command as a library: inference in discrete graphical models under global terms, taggers
//! that keep rules, flows from counts.
//!
//! [`run`] is the command itself. [`flows`] hands out what `bethe flows` infers, and [`train`] reads the
//! settings of `bethe train`. The binary and the Python package are built on these.

mod alone;
mod beginning;
mod check;
mod cite;
mod demo;
mod estimate;
mod evaluate;
pub mod flows;
mod help;
mod input;
mod inspect;
mod kind;
mod memory;
mod mistakes;
mod output;
mod report;
mod sample;
#[cfg(feature = "serve")]
mod serve;
mod shell;
mod solve;
mod solver;
mod tag;
mod tagging;
pub mod train;
mod wrap;

use std::ffi::OsString;

use clap::{Parser, Subcommand};

/// Inference and learning in discrete graphical models under global terms.
#[derive(Parser)]
#[command(
    version,
    propagate_version = true,
    disable_help_subcommand = true,
    after_help = "bethe help lists guides too; bethe help exit-codes says what exit codes mean."
)]
struct Cli {
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand)]
enum Command {
    Solve(solve::Flags),
    Sample(sample::Flags),
    Train(Box<train::Flags>),
    Tag(tag::Flags),
    Cite(cite::Flags),
    Evaluate(evaluate::Flags),
    Inspect(inspect::Flags),
    Flows(Box<flows::Flags>),
    Check(check::Flags),
    Demo(demo::Flags),
    #[cfg(feature = "serve")]
    Serve(serve::Flags),
    Completions(shell::CompletionFlags),
    Man(shell::ManFlags),
    Help(help::Flags),
}

/// Runs the command with these arguments, the first of which names the program. Returns the exit code.
pub fn run(arguments: impl IntoIterator<Item = OsString>) -> u8 {
    let arguments: Vec<OsString> = arguments.into_iter().collect();
    let command = match bethe_terminal::parse::<Cli>(&arguments, mistakes::advice) {
        Ok(cli) => cli.command,
        Err(code) => return code,
    };
    bethe_terminal::exit_code(match command {
        Command::Solve(flags) => solve::run(flags),
        Command::Sample(flags) => sample::run(flags),
        Command::Train(flags) => train::run(*flags),
        Command::Tag(flags) => tag::run(flags),
        Command::Cite(flags) => cite::run(flags),
        Command::Evaluate(flags) => evaluate::run(flags),
        Command::Inspect(flags) => inspect::run(flags),
        Command::Flows(flags) => flows::run(*flags),
        Command::Check(flags) => check::run(flags),
        Command::Demo(flags) => demo::run(flags),
        #[cfg(feature = "serve")]
        Command::Serve(flags) => serve::run(flags),
        Command::Completions(flags) => shell::completions(flags),
        Command::Man(flags) => shell::man(flags),
        Command::Help(flags) => help::run(flags),
    })
}
