//! The command line.

use std::ffi::OsString;

use pyo3::prelude::*;

/// Runs `bethe` with these arguments, the first of which names the program. Returns the exit code.
#[pyfunction]
pub fn command(py: Python<'_>, arguments: Vec<OsString>) -> u8 {
    py.detach(|| bethe::run(arguments))
}

/// A message about flags, about keywords: `--time-limit` is `time_limit`.
pub fn in_python(message: &str) -> String {
    let mut shown = String::with_capacity(message.len());
    let mut rest = message;
    while let Some(at) = rest.find("--") {
        let (before, flag) = (&rest[..at], &rest[at + 2..]);
        let is_name = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '-';
        let end = flag.find(|c| !is_name(c)).unwrap_or(flag.len());
        shown.push_str(before);
        if flag.starts_with(|c: char| c.is_ascii_lowercase()) {
            shown.push_str(&flag[..end].replace('-', "_"));
        } else {
            shown.push_str(&rest[at..at + 2 + end]);
        }
        rest = &flag[end..];
    }
    shown + rest
}
