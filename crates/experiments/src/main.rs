//! The `bethe-reproduce` command: the paper's experiments, from data to tables and figures.

mod command;

use std::process::ExitCode;

use bethe_terminal::{exit_code, parse};
use mimalloc::MiMalloc;

#[global_allocator]
static ALLOCATOR: MiMalloc = MiMalloc;

fn main() -> ExitCode {
    exit_code(parse::<command::Command>().run())
}
