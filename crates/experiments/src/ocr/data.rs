//! The handwriting set: words of letters, each a picture of 16 × 8 pixels.
//!
//! One letter per line, tab-separated: id, letter, id of the next letter (−1 at a word's end),
//! word,
//! position, fold, then the pixels row by row.

mod error;
mod line;

pub use error::{DataError, Fault};

use std::io::BufRead;
use std::path::Path;

use bethe_io::open;
use line::Line;

/// Rows of a picture.
pub const ROWS: usize = 16;
/// Columns of a picture.
pub const COLUMNS: usize = 8;
/// Letters that a picture may show, a to z.
pub const LETTERS: usize = 26;

/// A picture in black and white, one bit a pixel, row by row from the lowest bit.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct Image(pub u128);

impl Image {
    /// Whether a pixel is black.
    pub fn is_black(self, row: usize, column: usize) -> bool {
        self.0 >> (row * COLUMNS + column) & 1 == 1
    }

    /// Makes a pixel black.
    pub fn blacken(&mut self, row: usize, column: usize) {
        self.0 |= 1 << (row * COLUMNS + column);
    }
}

/// A word as it was written.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Word {
    /// What it says, each letter a number from 0. `[letters]`
    pub letters: Vec<u8>,
    /// How it looks. `[letters]`
    pub images: Vec<Image>,
    /// The part of the data it belongs to.
    pub fold: usize,
}

/// Letters as text.
pub fn spelled(letters: &[u8]) -> String {
    letters.iter().map(|&letter| char::from(b'a' + letter)).collect()
}

/// Reads `letter.data`, packed or not.
pub fn read(path: &Path) -> Result<Vec<Word>, DataError> {
    let text = open(path)?;
    read_from(text, path)
}

/// Reads the lines of `letter.data`; `path` is for messages.
pub fn read_from(mut text: impl BufRead, path: &Path) -> Result<Vec<Word>, DataError> {
    let mut words: Vec<Word> = Vec::new();
    // The letter before, where its word goes on.
    let mut before: Option<Line> = None;
    let mut bytes = Vec::new();
    let mut number = 0;
    loop {
        number += 1;
        bytes.clear();
        let at = |fault| DataError::Line { path: path.to_path_buf(), line: number, fault };
        let read = text.read_until(b'\n', &mut bytes);
        read.map_err(|source| at(Fault::Read(source)))?;
        if bytes.is_empty() {
            break;
        }
        let line = bytes.trim_ascii_end();
        if line.is_empty() {
            continue;
        }
        let line = std::str::from_utf8(line).map_err(|_| at(Fault::NotText))?;
        let line: Line = line.parse().map_err(at)?;
        match &before {
            None => {
                line.check_first().map_err(at)?;
                words.push(Word { letters: Vec::new(), images: Vec::new(), fold: line.fold });
            }
            Some(before) => line.check_after(before).map_err(at)?,
        }
        let word = words.last_mut().expect("the first letter made a word");
        word.letters.push(line.letter);
        word.images.push(line.image);
        before = line.next.is_some().then_some(line);
    }
    let at_end = |fault| DataError::Line { path: path.to_path_buf(), line: number, fault };
    match before {
        Some(Line { next: Some(next), .. }) => Err(at_end(Fault::Unfinished { next })),
        _ if words.is_empty() => Err(at_end(Fault::Empty)),
        _ => Ok(words),
    }
}

/// The words as lines of `letter.data`.
pub fn to_text(words: &[Word]) -> String {
    let mut text = String::new();
    let mut id = 0;
    for (number, word) in words.iter().enumerate() {
        for (at, (&letter, image)) in word.letters.iter().zip(&word.images).enumerate() {
            id += 1;
            let next = if at + 1 < word.letters.len() { (id + 1).to_string() } else { "-1".into() };
            let letter = char::from(b'a' + letter);
            text += &format!("{id}\t{letter}\t{next}\t{}\t{}\t{}", number + 1, at + 1, word.fold);
            for pixel in 0..ROWS * COLUMNS {
                text += if image.0 >> pixel & 1 == 1 { "\t1" } else { "\t0" };
            }
            text.push('\n');
        }
    }
    text
}
