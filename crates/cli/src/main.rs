//! The `bethe` command: inference in discrete graphical models under non-local energies.

mod check;
mod demo;
mod files;
mod outcome;
mod solve;

use std::process::ExitCode;

use clap::{Parser, Subcommand};

/// Inference in discrete graphical models under non-local energies, with certified answers.
#[derive(Parser)]
#[command(version, propagate_version = true)]
struct Cli {
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand)]
enum Command {
    Solve(solve::Flags),
    Check(check::Flags),
    Demo(demo::Flags),
}

fn main() -> ExitCode {
    let result = match Cli::parse().command {
        Command::Solve(flags) => solve::run(flags),
        Command::Check(flags) => check::run(flags),
        Command::Demo(flags) => demo::run(flags),
    };
    outcome::exit_code(result)
}
