//! The `bethe-reproduce` command: the paper's experiments, from data to tables and figures.

mod command;

use std::ffi::OsString;
use std::process::ExitCode;

use bethe_terminal::{exit_code, parse};
use mimalloc::MiMalloc;

#[global_allocator]
static ALLOCATOR: MiMalloc = MiMalloc;

fn main() -> ExitCode {
    let arguments: Vec<OsString> = std::env::args_os().collect();
    ExitCode::from(match parse::<command::Command>(&arguments, |_, _| None) {
        Ok(command) => exit_code(command.run()),
        Err(code) => code,
    })
}
