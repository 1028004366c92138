//! How a command ends: the exit code, and the message if it failed.

use std::fmt;
use std::io::{self, Write};

use bethe_io::{shown, shown_lines};

use crate::interrupt::KILLED;

/// How a command without an error ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Outcome {
    /// Exit code 0.
    Done,
    /// The hard measurements of some problem cannot hold: exit code 3.
    Infeasible,
    /// The time limit passed before there was a result: exit code 4.
    OutOfTime,
    /// Ctrl-C before there was a result: exit code 130.
    Interrupted,
}

/// A bad file or flag: exit code 2. Every other error has exit code 1.
#[derive(Debug)]
pub struct BadInput(pub String);

impl fmt::Display for BadInput {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for BadInput {}

/// An error about a file or a flag.
pub fn bad_input(message: impl Into<String>) -> anyhow::Error {
    BadInput(message.into()).into()
}

/// The exit code of a command. Prints its error.
pub fn exit_code(result: anyhow::Result<Outcome>) -> u8 {
    match result {
        Ok(Outcome::Done) => 0,
        Ok(Outcome::Infeasible) => 3,
        Ok(Outcome::OutOfTime) => 4,
        Ok(Outcome::Interrupted) => KILLED,
        Err(error) => {
            say(&format!("error: {}", shown(&format!("{error:#}"))));
            if error.is::<BadInput>() { 2 } else { 1 }
        }
    }
}

/// Writes a line to standard error, or several. What a terminal would obey is shown as escapes. If
/// standard error is closed or full, there is nobody to tell.
pub fn say(line: &str) {
    // One call, so that lines of two processes do not mix.
    let _ = io::stderr().write_all(format!("{}\n", shown_lines(line)).as_bytes());
}

/// Writes text for people to standard output: as [`print()`], with escapes for what a terminal would
/// obey. Names within lines are [`shown`] before, so that none of them breaks a line.
pub fn show(text: &str) -> io::Result<()> {
    print(&shown_lines(text))
}

/// Writes text to standard output. A reader that closes the pipe has read enough.
pub fn print(text: &str) -> io::Result<()> {
    let mut stdout = io::stdout().lock();
    match stdout.write_all(text.as_bytes()).and_then(|()| stdout.flush()) {
        Err(error) if error.kind() == io::ErrorKind::BrokenPipe => Ok(()),
        result => result,
    }
}
