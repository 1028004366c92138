//! Where answers go.

use std::io::{self, BufWriter, Stdout, Write};
use std::path::Path;

use anyhow::{Context, Result};
use bethe_terminal::PendingFile;

/// Standard output, or the file of `--out`, which gets its name at the end.
pub enum Sink {
    Standard {
        out: BufWriter<Stdout>,
        /// Whether the reader closed the pipe: it has read enough.
        closed: bool,
    },
    File {
        out: BufWriter<PendingFile>,
        path: String,
        /// Without an answer, the file is not touched.
        empty: bool,
    },
}

impl Sink {
    /// Opens it, so that a failure shows before any work is done.
    pub fn open(path: Option<&Path>) -> Result<Self> {
        Ok(match path {
            None => Self::Standard { out: BufWriter::new(io::stdout()), closed: false },
            Some(path) => Self::File {
                out: BufWriter::new(PendingFile::create(path)?),
                path: path.display().to_string(),
                empty: true,
            },
        })
    }

    /// Whether the reader has gone.
    pub fn is_closed(&self) -> bool {
        matches!(self, Self::Standard { closed: true, .. })
    }

    /// Writes whole lines.
    pub fn write(&mut self, text: &str) -> Result<()> {
        match self {
            Self::Standard { out, closed } => {
                if !*closed {
                    *closed = unless_closed(out.write_all(text.as_bytes()))?;
                }
                Ok(())
            }
            Self::File { out, path, empty } => {
                *empty = false;
                let written = out.write_all(text.as_bytes());
                written.with_context(|| format!("{path}: cannot be written"))
            }
        }
    }

    /// Flushes what was written, for whoever reads along.
    pub fn flush(&mut self) -> Result<()> {
        if let Self::Standard { out, closed: closed @ false } = self {
            *closed = unless_closed(out.flush())?;
        }
        Ok(())
    }

    /// Ends the output with what was written.
    pub fn finish(mut self) -> Result<()> {
        self.flush()?;
        match self {
            Self::Standard { .. } | Self::File { empty: true, .. } => Ok(()),
            Self::File { out, path, .. } => {
                let context = || format!("{path}: cannot be written");
                out.into_inner()
                    .map_err(|error| error.into_error())
                    .with_context(context)?
                    .publish()
            }
        }
    }
}

/// Whether the pipe is closed; any other failure is an error.
fn unless_closed(written: io::Result<()>) -> Result<bool> {
    match written {
        Ok(()) => Ok(false),
        Err(error) if error.kind() == io::ErrorKind::BrokenPipe => Ok(true),
        Err(error) => Err(error).context("standard output"),
    }
}
