//! Where references come from.

use std::io::Cursor;
use std::path::{Path, PathBuf};

use anyhow::Result;
use bethe_core::MemoryLimit;
use bethe_terminal::say;

use super::flags::{Flags, Unwrap};
use super::lines::{Line, Lines};
use super::unwrap::References;
use crate::kind::{Kind, mistaken, refuse};
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
                Ok(Batches::File(Box::new(References::new(lines, unwrap)), None))
            }
            From::File(path) => {
                // A sender that goes line by line waits for no more than its line.
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

/// Refuses files of other kinds where a text should be, and says how to name a model.
pub fn check_kinds(flags: &Flags) -> Result<()> {
    const EXPECTED: &str = "references as text, one per line";
    const OTHERS: [Kind; 5] = [Kind::Json, Kind::JsonList, Kind::Uai, Kind::Csv, Kind::Binary];
    for path in &flags.files {
        refuse(path, &OTHERS, EXPECTED)?;
        if Kind::of(path) == Some(Kind::Model) {
            let others = flags.files.iter().filter(|other| *other != path);
            let others: String = others.map(|other| format!(" {}", other.display())).collect();
            let meant = format!("bethe cite --model {}{others}", path.display());
            return Err(mistaken(path, Kind::Model, EXPECTED, Some(meant)));
        }
    }
    Ok(())
}

/// A warning about each file of labelled tokens, whose lines are not references.
pub fn warn_of_tokens(flags: &Flags) {
    let of_tokens = flags.files.iter().filter(|path| Kind::of(path) == Some(Kind::Labelled));
    for path in of_tokens.filter(|_| !flags.quiet) {
        let path = path.display();
        say(&format!(
            "warning: {path}: found labelled tokens, expected text; every line is read as a reference. \
             Did you mean `bethe tag MODEL {path}`?"
        ));
    }
}
