//! How the text looked that a model was trained on.

use std::borrow::Cow;

use bethe_tagging::{Input, Tagger};

use super::characters::{is_dash, is_punctuation};
use super::tokeniser::Tokeniser;

/// Share of words with a comma at their end from which on words were split at spaces alone.
const COMMAS: f64 = 0.05;
/// Share of words with punctuation in them below which every mark was a token.
const MARKS: f64 = 0.01;

/// The text a model expects: how it is split, which characters it knows, and in which column it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Dialect {
    /// How lines are split.
    pub tokeniser: Tokeniser,
    /// Cells before the token in a row that the model reads.
    pub(crate) column: usize,
    /// What a dash that training text did not have is written as, if it had another.
    dash: Option<&'static str>,
    /// Whether quotation marks that training text did not have are written straight.
    straight: bool,
}

/// Columns of a training file beyond which tokens are not looked for.
const MOST_COLUMNS: usize = 1000;

/// Why a model cannot be given plain text.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum DialectError {
    /// It does not read tokens.
    #[error("found a model of {0}, expected one of tokens: plain text has nothing else")]
    NotTokens(&'static str),
    /// It reads more than one column.
    #[error(
        "found a model that reads {0} columns, expected one that reads tokens alone \
         (bethe train --observe N): plain text has nothing else"
    )]
    Columns(usize),
    /// The tokens are so far to the right that no row should be filled up to them.
    #[error(
        "found a model of tokens in column {0}, expected them in one of the first {MOST_COLUMNS}"
    )]
    FarColumn(usize),
    /// Its attributes do not show whole words.
    #[error(
        "found a template without a line for the word itself, such as Uword:%x[0,0]: \
         how training text was split cannot be seen, expected to be told"
    )]
    NoWords,
}

impl Dialect {
    /// What the model's own words show, or are told.
    ///
    /// Of the words (whatever has a letter or a digit) in the dictionary: if one in 20 or more ends
    /// in a comma, text was split at spaces; if less than one in 100 has punctuation in it, every
    /// mark was a token; else words were split from the marks around them.
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

    /// A token as training text would have it: dashes and quotation marks that it did not have are
    /// written as those that it had.
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

/// What stands before the word in the attributes of a line of a template that is the word alone.
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
