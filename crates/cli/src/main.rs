//! The `bethe` command: inference in discrete graphical models under non-local energies, and taggers
//! that learn and keep rules.

mod check;
mod demo;
mod evaluate;
mod files;
mod inspect;
mod interrupt;
mod outcome;
mod solve;
mod solver;
mod tag;
mod tagging;
mod threads;
mod time;
mod train;

use std::process::ExitCode;

use clap::{Parser, Subcommand};

/// Inference and learning in discrete graphical models under non-local energies.
#[derive(Parser)]
#[command(version, propagate_version = true)]
struct Cli {
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand)]
enum Command {
    Solve(solve::Flags),
    Train(Box<train::Flags>),
    Tag(tag::Flags),
    Evaluate(evaluate::Flags),
    Inspect(inspect::Flags),
    Check(check::Flags),
    Demo(demo::Flags),
}

fn main() -> ExitCode {
    outcome::exit_code(match Cli::parse().command {
        Command::Solve(flags) => solve::run(flags),
        Command::Train(flags) => train::run(*flags),
        Command::Tag(flags) => tag::run(flags),
        Command::Evaluate(flags) => evaluate::run(flags),
        Command::Inspect(flags) => inspect::run(flags),
        Command::Check(flags) => check::run(flags),
        Command::Demo(flags) => demo::run(flags),
    })
}
