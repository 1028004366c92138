//! Where references come from.

use std::fs::File;
use std::io::{Cursor, Read};
use std::path::{Path, PathBuf};

use anyhow::Result;
use bethe_core::MemoryLimit;
use bethe_terminal::bad_input;

use super::flags::{Flags, Unwrap};
use super::lines::{Line, Lines};
use super::unwrap::References;
use crate::tagging::Batches;

/// A file, standard input or a text.
pub struct Input {
    from: From,
    unwrap: Unwrap,
    memory: MemoryLimit,
    /// Whether there are others.
    is_one_of_several: bool,
}

enum From {
    File(PathBuf),
    Text(String),
}

/// All that the flags name.
pub fn all(flags: &Flags, memory: MemoryLimit) -> Vec<Input> {
    let input = |from| Input {
        from,
        unwrap: flags.unwrap,
        memory,
        is_one_of_several: flags.files.len() > 1,
    };
    match &flags.text {
        Some(text) => vec![input(From::Text(text.clone()))],
        None => flags.files.iter().cloned().map(From::File).map(input).collect(),
    }
}

impl Input {
    /// Its references.
    pub fn open(&self) -> Result<Batches<Line>> {
        let (unwrap, memory) = (self.unwrap, self.memory);
        match &self.from {
            From::Text(text) => {
                let lines = Lines::new(Cursor::new(text.clone()), Path::new("--text"), memory);
                Ok(Batches::File(Box::new(References::new(lines, unwrap))))
            }
            From::File(path) => {
                // Whoever sends line by line waits for no more than the line.
                let unwrap = match unwrap {
                    Unwrap::Auto if path == Path::new("-") => Unwrap::Never,
                    unwrap => unwrap,
                };
                Batches::of(path, move |input, path| {
                    References::new(Lines::new(input, path, memory), unwrap)
                })
            }
        }
    }

    /// The file's name, where there are several.
    pub fn name(&self) -> Option<&Path> {
        match &self.from {
            From::File(path) if self.is_one_of_several => Some(path),
            _ => None,
        }
    }

    /// A line of it, for a message.
    pub fn place(&self, line: usize) -> String {
        match self.name() {
            Some(path) => format!("{}:{line}", path.display()),
            None => format!("line {line}"),
        }
    }
}

/// Refuses a model where a text should be, and says how to name a model.
pub fn check_not_models(flags: &Flags) -> Result<()> {
    let Some(model) = flags.files.iter().find(|path| is_model(path)) else { return Ok(()) };
    let others = flags.files.iter().filter(|path| *path != model);
    let others: String = others.map(|path| format!(" {}", path.display())).collect();
    let model = model.display();
    Err(bad_input(format!(
        "{model}: found a model, expected text. Did you mean `bethe cite --model {model}{others}`?"
    )))
}

/// Whether a file begins as model files do: the length of a header, and its brace.
fn is_model(path: &Path) -> bool {
    const LONGEST: u64 = 100_000_000;
    let mut start = [0; 9];
    // Only plain files can be read twice.
    let is_file = path.metadata().is_ok_and(|found| found.is_file());
    let read = is_file && File::open(path).and_then(|mut file| file.read_exact(&mut start)).is_ok();
    let (length, brace) = start.split_at(8);
    let length = u64::from_le_bytes(length.try_into().expect("eight bytes"));
    read && brace == b"{" && length <= LONGEST
}
