use std::fs;
use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};

use anyhow::{Context, Result};
use bethe_io::{in_words, is_same_file};

use crate::bad_input;

/// A file that appears whole or not at all; if it cannot be created, the exit code is 2.
pub struct PendingFile {
    path: PathBuf,
    file: bethe_io::PendingFile,
}

impl PendingFile {
    /// Opens it, so that a failure shows before any work is done.
    pub fn create(path: &Path) -> Result<Self> {
        let opened = bethe_io::PendingFile::create(path);
        let file = opened.map_err(|error| {
            bad_input(format!("{}: cannot write: {}", path.display(), in_words(&error)))
        })?;
        Ok(Self { path: path.to_path_buf(), file })
    }

    /// Writes the content and gives the file its name.
    pub fn finish(self, content: &str) -> Result<()> {
        let context = || format!("{}: cannot be written", self.path.display());
        self.file.finish(content.as_bytes()).with_context(context)
    }

    /// Lets `write` write the content piece by piece, before the file has its name.
    pub fn fill<T>(&mut self, write: impl FnOnce(&mut dyn Write) -> io::Result<T>) -> Result<T> {
        let mut buffered = BufWriter::new(&mut self.file);
        let written = write(&mut buffered).and_then(|value| buffered.flush().map(|()| value));
        written.with_context(|| format!("{}: cannot be written", self.path.display()))
    }

    /// Gives the file its name, with what was written to it.
    pub fn publish(self) -> Result<()> {
        let context = || format!("{}: cannot be written", self.path.display());
        self.file.publish().with_context(context)
    }
}

impl Write for PendingFile {
    fn write(&mut self, content: &[u8]) -> io::Result<usize> {
        self.file.write(content)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.file.flush()
    }
}

/// Refuses two outputs in one file, under whatever names. Devices and pipes take any number.
pub fn check_distinct(outputs: &[(&str, Option<&Path>)]) -> Result<()> {
    let named = || outputs.iter().filter_map(|(flag, path)| path.map(|path| (flag, path)));
    let is_device = |path: &Path| fs::metadata(path).is_ok_and(|found| !found.is_file());
    for (at, (flag, path)) in named().enumerate() {
        let before = named().take(at).find(|(_, before)| is_same_file(before, path));
        if let Some((before, _)) = before.filter(|_| !is_device(path)) {
            return Err(bad_input(format!(
                "{flag}: {before} writes to the same file; choose another one"
            )));
        }
    }
    Ok(())
}

/// Refuses to write over an input; `flag` names the output.
pub fn check_apart<'a>(
    flag: &str,
    output: &Path,
    inputs: impl IntoIterator<Item = &'a Path>,
) -> Result<()> {
    // A file that does not exist is not an input.
    let Ok(whole) = fs::canonicalize(output) else { return Ok(()) };
    let is_read = |input: &Path| fs::canonicalize(input).is_ok_and(|input| input == whole);
    if inputs.into_iter().any(is_read) {
        let output = output.display();
        return Err(bad_input(format!("{flag}: {output} is an input; choose another file")));
    }
    Ok(())
}
