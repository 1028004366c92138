//! A text as words with their places.

use super::UaiError;

/// The words of a text, one after another.
pub(super) struct Words<'a> {
    text: &'a [u8],
    /// Where the next word is sought.
    at: usize,
    line: usize,
    /// Where the line starts.
    start: usize,
}

/// A word and its place, both counted from 1.
#[derive(Clone, Copy, Debug)]
pub(super) struct Word<'a> {
    pub text: &'a [u8],
    pub line: usize,
    pub column: usize,
}

impl Word<'_> {
    /// An error about this word.
    pub fn unexpected(&self, expected: impl Into<String>) -> UaiError {
        UaiError::Word {
            line: self.line,
            column: self.column,
            found: self.shown(),
            expected: expected.into(),
        }
    }

    /// The word as messages show it.
    pub fn shown(&self) -> String {
        shown(self.text)
    }

    /// A whole number. Digits only: `parse` would take `+2` too.
    pub fn whole(&self) -> Option<usize> {
        let digits = std::str::from_utf8(self.text).ok()?;
        digits.bytes().all(|byte| byte.is_ascii_digit()).then(|| digits.parse().ok())?
    }
}

/// Longer words are cut off in messages.
const SHOWN: usize = 40;

fn shown(word: &[u8]) -> String {
    let text = String::from_utf8_lossy(word);
    match text.char_indices().nth(SHOWN) {
        None => text.into_owned(),
        Some((end, _)) => format!("{}…", &text[..end]),
    }
}

impl<'a> Words<'a> {
    pub fn new(text: &'a [u8]) -> Self {
        // Some editors begin a text with the mark of its encoding.
        let text = text.strip_prefix(b"\xef\xbb\xbf").unwrap_or(text);
        Self { text, at: 0, line: 1, start: 0 }
    }

    /// The next word, or an error that says what belongs there.
    pub fn expect(&mut self, expected: impl FnOnce() -> String) -> Result<Word<'a>, UaiError> {
        let line = self.line;
        // An end is reported where the text ends, not where the blank lines after it do.
        self.next().ok_or_else(|| UaiError::End { line, expected: expected() })
    }

    /// The next word as a whole number.
    pub fn whole(&mut self, expected: impl Fn() -> String) -> Result<(Word<'a>, usize), UaiError> {
        let word = self.expect(&expected)?;
        let number = word.whole().ok_or_else(|| word.unexpected(expected()))?;
        Ok((word, number))
    }

    /// The most words that can follow: each takes a blank and a character.
    pub fn most_left(&self) -> usize {
        (self.text.len() - self.at).div_ceil(2)
    }
}

impl<'a> Iterator for Words<'a> {
    type Item = Word<'a>;

    fn next(&mut self) -> Option<Word<'a>> {
        while let Some(byte) = self.text.get(self.at).filter(|byte| is_blank(byte)) {
            self.at += 1;
            if *byte == b'\n' {
                (self.line, self.start) = (self.line + 1, self.at);
            }
        }
        let rest = &self.text[self.at..];
        let length = rest.iter().position(is_blank).unwrap_or(rest.len());
        let word =
            Word { text: &rest[..length], line: self.line, column: self.at - self.start + 1 };
        self.at += length;
        (length > 0).then_some(word)
    }
}

/// White space of any kind; the vertical tab is not among what Rust counts as such.
fn is_blank(byte: &u8) -> bool {
    byte.is_ascii_whitespace() || *byte == 0x0b
}
