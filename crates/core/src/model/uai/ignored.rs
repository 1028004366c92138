use std::fmt;

use super::words::Word;

/// What a file has after its end, which was not read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Ignored {
    /// The line of the first word, counted from 1.
    pub line: usize,
    /// Its column, counted from 1, in bytes.
    pub column: usize,
    /// The first word.
    pub found: String,
    /// How many words there are.
    pub words: usize,
    /// What they come after.
    pub after: &'static str,
}

impl Ignored {
    /// `None` if there is no word left.
    pub(super) fn rest<'a>(
        mut words: impl Iterator<Item = Word<'a>>,
        after: &'static str,
    ) -> Option<Self> {
        let first = words.next()?;
        let (line, column) = (first.line, first.column);
        Some(Self { line, column, found: first.shown(), words: 1 + words.count(), after })
    }
}

impl fmt::Display for Ignored {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        let Self { line, column, found, words, after } = self;
        write!(f, "line {line}, column {column}: ignored ")?;
        match words {
            1 => write!(f, "{found:?} after {after}"),
            _ => write!(f, "{words} words after {after}, the first of them {found:?}"),
        }
    }
}
