//! Where answers go: standard output, or the file of `--out`.

use std::io::{self, Write};
use std::path::Path;

use anyhow::{Context, Result};
use bethe_terminal::{PendingFile, print};

/// Standard output, whose reader may close the pipe, or a file that appears whole.
pub enum Output {
    Stream { closed: bool },
    File(PendingFile),
}

impl Output {
    /// A file, or standard output.
    pub fn open(path: Option<&Path>) -> Result<Self> {
        match path {
            Some(path) => PendingFile::create(path).map(Self::File),
            None => Ok(Self::Stream { closed: false }),
        }
    }

    /// Writes at once, so that a reader has whole answers.
    pub fn write(&mut self, text: &str) -> Result<()> {
        match self {
            Self::File(file) => file.fill(|out| out.write_all(text.as_bytes())),
            Self::Stream { closed } => {
                let mut out = io::stdout().lock();
                match out.write_all(text.as_bytes()).and_then(|()| out.flush()) {
                    Err(error) if error.kind() == io::ErrorKind::BrokenPipe => *closed = true,
                    result => result.context("standard output")?,
                }
                Ok(())
            }
        }
    }

    /// Whether the reader has gone.
    pub fn is_closed(&self) -> bool {
        matches!(self, Self::Stream { closed: true })
    }

    /// Gives a file its name.
    pub fn finish(self) -> Result<()> {
        match self {
            Self::File(file) => file.publish(),
            Self::Stream { .. } => Ok(()),
        }
    }
}

/// Writes a whole answer to a file, or to standard output.
pub fn answer(out: Option<&Path>, text: &str) -> Result<()> {
    match out {
        Some(path) => PendingFile::create(path)?.finish(text),
        None => print(text).context("standard output"),
    }
}
