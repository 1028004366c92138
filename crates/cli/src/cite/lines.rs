use std::io::{BufRead, Read};
use std::path::{Path, PathBuf};

use bethe_cite::decoded;
use bethe_core::MemoryLimit;
use bethe_core::memory::TEXT_SHARE;
use bethe_io::{is_utf16, without_mark};
use bethe_tagging::data::DataError;

/// A line of a file.
pub struct Line {
    /// Its number, from 1.
    pub number: usize,
    /// Its text, without the line end.
    pub text: String,
    /// Whether it was not UTF-8.
    pub replaced: bool,
}

/// The lines of a text, one at a time.
pub struct Lines<R> {
    input: R,
    path: PathBuf,
    number: usize,
    /// The memory limit of one line.
    memory: MemoryLimit,
}

impl<R: BufRead> Lines<R> {
    /// Reads `input`; errors name `path`. No line may take more memory than this.
    pub fn new(input: R, path: &Path, memory: MemoryLimit) -> Self {
        Self { input, path: path.to_path_buf(), number: 0, memory }
    }
}

impl<R: BufRead> Iterator for Lines<R> {
    type Item = Result<Line, DataError>;

    fn next(&mut self) -> Option<Self::Item> {
        let mut bytes = Vec::new();
        self.number += 1;
        let number = self.number;
        let mut limited =
            self.input.by_ref().take(self.memory.most_text(TEXT_SHARE).saturating_add(1));
        let read = limited.read_until(b'\n', &mut bytes);
        if let Err(error) = self.memory.check_text(bytes.len() as f64) {
            return Some(Err(DataError::TooLarge { path: self.path.clone(), line: number, error }));
        }
        match read {
            Ok(0) => return None,
            Ok(_) => {}
            Err(source) => {
                return Some(Err(DataError::Read {
                    path: self.path.clone(),
                    line: number,
                    source,
                }));
            }
        }
        if number == 1 && is_utf16(&bytes) {
            return Some(Err(DataError::Utf16 { path: self.path.clone() }));
        }
        let bytes = if number == 1 { without_mark(&bytes) } else { &bytes };
        let (text, replaced) = decoded(bytes.trim_ascii_end());
        Some(Ok(Line { number, text: text.into_owned(), replaced }))
    }
}
