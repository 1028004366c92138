//! The `bethe` command: inference in discrete graphical models under global terms, taggers that
//! keep rules, flows from counts.

mod check;
mod cite;
mod demo;
mod estimate;
mod evaluate;
mod flows;
mod help;
mod input;
mod inspect;
mod memory;
mod sample;
mod shell;
mod solve;
mod solver;
mod tag;
mod tagging;
mod train;

use std::process::ExitCode;

use clap::{Parser, Subcommand};
use mimalloc::MiMalloc;

/// Keeps freed memory for the next request. The system's allocator returns it to the kernel, and
/// every page then costs a microsecond again.
#[global_allocator]
static ALLOCATOR: MiMalloc = MiMalloc;

/// Inference and learning in discrete graphical models under global terms.
#[derive(Parser)]
#[command(version, propagate_version = true, disable_help_subcommand = true)]
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
    Completions(shell::CompletionFlags),
    Man(shell::ManFlags),
    Help(help::Flags),
}

fn main() -> ExitCode {
    bethe_terminal::exit_code(match bethe_terminal::parse::<Cli>().command {
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
        Command::Completions(flags) => shell::completions(flags),
        Command::Man(flags) => shell::man(flags),
        Command::Help(flags) => help::run(flags),
    })
}
