//! What the training text of a model looked like.

use std::borrow::Cow;

use bethe_tagging::{Input, Tagger};

use super::characters::{is_dash, is_punctuation};
use super::tokeniser::Tokeniser;

/// From this share of words that end in a comma on, text was split at spaces only.
const COMMAS: f64 = 0.05;
/// Below this share of words with punctuation in them, every mark was a token.
const MARKS: f64 = 0.01;

/// The text a model expects: how it is split, which characters it knows, and its column.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Dialect {
    /// How lines are split.
    pub tokeniser: Tokeniser,
    /// Cells before the token in a row.
    pub(crate) column: usize,
    /// The dash to use for dashes that the training text lacks, if it has one.
    dash: Option<&'static str>,
    /// Whether quotation marks that the training text lacks become straight ones.
    straight: bool,
}

/// Most columns of a training file.
const MOST_COLUMNS: usize = 1000;

/// Why a model cannot read plain text.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum DialectError {
    /// It does not read tokens.
    #[error("the model reads {0}, expected one that reads tokens, as plain text has only these")]
    NotTokens(&'static str),
    /// It reads more than one column.
    #[error(
        "the model reads {0} columns, expected one that reads tokens only; train it with \
         bethe train --observe N"
    )]
    Columns(usize),
    /// The tokens are in a column too far to the right.
    #[error(
        "the model reads tokens in column {0}, expected one of the first {MOST_COLUMNS} columns"
    )]
    FarColumn(usize),
    /// Its attributes do not show whole words.
    #[error(
        "the model's template has no line for the word itself, such as Uword:%x[0,0], so it does \
         not show how text was split"
    )]
    NoWords,
}

impl Dialect {
    /// Recognised from the model's own words, or as given.
    ///
    /// Judged by the words of the dictionary (with a letter or a digit): if at least one in 20 ends
    /// in a comma, text was split at spaces; if fewer than one in 100 contain punctuation, every
    /// mark was a token; otherwise words were split from the marks around them.
    pub fn of(tagger: &Tagger, told: Option<Tokeniser>) -> Result<Self, DialectError> {
        let parts = tagger.parts();
        let (label, observed) = match &parts.input {
            Input::Columns { label, observed, .. } => (*label, observed),
            Input::Attributes => return Err(DialectError::NotTokens("attributes")),
            Input::Scores => return Err(DialectError::NotTokens("scores")),
        };
        let mut columns: Vec<usize> = parts.extractor.template().columns().collect();
        columns.sort_unstable();
        columns.dedup();
        let [read] = columns[..] else { return Err(DialectError::Columns(columns.len())) };
        let place = observed[read];
        let column = place - usize::from(place > label);
        if column >= MOST_COLUMNS {
            return Err(DialectError::FarColumn(place + 1));
        }
        let text = parts.extractor.template().to_string();
        let words = text.lines().find_map(|line| word_line(line, read)).map(|start| {
            let attributes = (0..parts.dictionary.len()).map(|a| parts.dictionary.string(a));
            attributes.filter_map(|a| a.strip_prefix(start)).collect::<Vec<&str>>()
        });
        let Some(words) = words else {
            let tokeniser = told.ok_or(DialectError::NoWords)?;
            return Ok(Self { tokeniser, column, dash: None, straight: false });
        };
        let has = |kind: fn(char) -> bool| words.iter().any(|word| word.contains(kind));
        let dash = match words.iter().any(|word| word.contains("--")) {
            _ if has(|c| c != '-' && is_dash(c)) => None,
            true => Some("--"),
            false => Some("-"),
        };
        let tokeniser = told.unwrap_or_else(|| measured(&words));
        Ok(Self { tokeniser, column, dash, straight: !has(is_curly) })
    }

    /// A token with dashes and quotation marks as in the training text.
    pub fn seen(self, token: &str) -> Cow<'_, str> {
        let foreign =
            |c: char| self.dash.is_some() && c != '-' && is_dash(c) || self.straight && is_curly(c);
        if token.is_ascii() || !token.contains(foreign) {
            return Cow::Borrowed(token);
        }
        let mut seen = String::with_capacity(token.len());
        for c in token.chars() {
            match c {
                _ if !foreign(c) => seen.push(c),
                '‘' | '’' | '‚' => seen.push('\''),
                _ if is_curly(c) => seen.push('"'),
                _ => seen.push_str(self.dash.unwrap_or("-")),
            }
        }
        Cow::Owned(seen)
    }
}

fn is_curly(c: char) -> bool {
    matches!(c, '‘' | '’' | '‚' | '“' | '”' | '„' | '«' | '»')
}

/// The attribute prefix of a template line that is the word alone.
fn word_line(line: &str, column: usize) -> Option<&str> {
    ["x", "lower"].iter().find_map(|function| {
        let start = line.strip_suffix(&format!("%{function}[0,{column}]"))?;
        (start.starts_with('U') && !start.contains('%')).then_some(start)
    })
}

fn measured(words: &[&str]) -> Tokeniser {
    let spelled = words.iter().filter(|word| word.contains(char::is_alphanumeric));
    let (mut all, mut commas, mut marked) = (0, 0, 0);
    for word in spelled {
        all += 1;
        commas += usize::from(word.ends_with(','));
        marked += usize::from(word.contains(is_punctuation));
    }
    let share = |count: usize| count as f64 / f64::from(all.max(1));
    if share(commas) >= COMMAS {
        Tokeniser::Spaces
    } else if share(marked) < MARKS {
        Tokeniser::Punctuation
    } else {
        Tokeniser::Words
    }
}
