//! Where references come from.

use std::io::Cursor;
use std::path::{Path, PathBuf};

use anyhow::Result;
use bethe_core::MemoryLimit;
use bethe_terminal::{bad_input, prompt};
use clap::ValueEnum;

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
    /// No notes on standard error.
    quiet: bool,
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
        quiet: flags.quiet,
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
                // Lines of one reference, unless they look like a list.
                let unwrap = match (unwrap, text.trim().contains('\n')) {
                    (Unwrap::Auto, true) => Unwrap::Always,
                    (Unwrap::Auto, false) => Unwrap::Never,
                    (told, _) => told,
                };
                let lines = Lines::new(Cursor::new(text.clone()), Path::new("--text"), memory);
                Ok(Batches::File(Box::new(References::new(lines, unwrap)), None))
            }
            From::File(path) => {
                prompt(path, "references", self.quiet);
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
    const OTHERS: [Kind; 6] =
        [Kind::Json, Kind::JsonList, Kind::Uai, Kind::Csv, Kind::Labelled, Kind::Binary];
    for path in &flags.files {
        check_is_file(path)?;
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

/// Refuses a name that is no file's with a hint if it is a reference, or the value of `--unwrap`.
fn check_is_file(path: &Path) -> Result<()> {
    let name = path.to_string_lossy();
    if name == "-" || path.exists() {
        return Ok(());
    }
    let meant = match name.contains(' ') {
        true => "bethe cite --text REFERENCE".to_string(),
        false if Unwrap::from_str(&name, false).is_ok() => format!("bethe cite --unwrap={name}"),
        false => return Ok(()),
    };
    Err(bad_input(format!("{name}: found no file of this name. Did you mean `{meant}`?")))
}
