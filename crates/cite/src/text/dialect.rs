//! What the training text of a model looked like.

use std::borrow::Cow;
use std::collections::BTreeMap;

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
/// Annotations of a model that state its dialect.
const TOKENS: &str = "text.tokens";
const DASHES: &str = "text.dashes";
const QUOTES: &str = "text.quotes";
const DASH_NAMES: [(Option<&str>, &str); 3] =
    [(None, "any"), (Some("-"), "hyphen"), (Some("--"), "two hyphens")];

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
    /// The file states its dialect in words that are not known.
    #[error("the model states an unknown {0}, expected one that this version knows")]
    Unknown(&'static str),
    /// Its attributes have no names.
    #[error("the model's attributes have no names and it does not state how text was split")]
    NoNames,
    /// Its attributes do not show whole words.
    #[error(
        "the model's template has no line for the word itself, such as Uword:%x[0,0], so it does \
         not show how text was split"
    )]
    NoWords,
}

impl Dialect {
    /// A dialect for text in one column: every dash a hyphen, every quotation mark a straight one.
    pub fn plain(tokeniser: Tokeniser) -> Self {
        Self { tokeniser, column: 0, dash: Some("-"), straight: true }
    }

    /// The annotations that state it in a model file.
    pub fn annotations(self) -> BTreeMap<String, String> {
        let dashes = DASH_NAMES.iter().find(|(dash, _)| *dash == self.dash);
        let quotes = if self.straight { "straight" } else { "any" };
        let all = [
            (TOKENS, self.tokeniser.name()),
            (DASHES, dashes.map_or("", |(_, name)| name)),
            (QUOTES, quotes),
        ];
        all.into_iter().map(|(name, value)| (name.to_string(), value.to_string())).collect()
    }

    /// What a model file states, if it does.
    fn stated(
        annotations: &BTreeMap<String, String>,
        column: usize,
    ) -> Result<Option<Self>, DialectError> {
        let Some(tokens) = annotations.get(TOKENS) else { return Ok(None) };
        let value = |name: &str| annotations.get(name).map_or("any", String::as_str);
        let tokeniser = Tokeniser::named(tokens).ok_or(DialectError::Unknown(TOKENS))?;
        let dash = DASH_NAMES.iter().find(|(_, name)| *name == value(DASHES));
        let &(dash, _) = dash.ok_or(DialectError::Unknown(DASHES))?;
        let straight = match value(QUOTES) {
            "straight" => true,
            "any" => false,
            _ => return Err(DialectError::Unknown(QUOTES)),
        };
        Ok(Some(Self { tokeniser, column, dash, straight }))
    }

    /// As the model file states it, else recognised from the model's own words; the tokeniser may
    /// be given.
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
        if let Some(stated) = Self::stated(&parts.annotations, column)? {
            return Ok(Self { tokeniser: told.unwrap_or(stated.tokeniser), ..stated });
        }
        let names = (0..parts.attributes.len()).map(|attribute| parts.attributes.name(attribute));
        let Some(names) = names.collect::<Option<Vec<&str>>>() else {
            let tokeniser = told.ok_or(DialectError::NoNames)?;
            return Ok(Self { column, ..Self::plain(tokeniser) });
        };
        let text = parts.extractor.template().to_string();
        let words = text.lines().find_map(|line| word_line(line, read)).map(|start| {
            names.iter().filter_map(|name| name.strip_prefix(start)).collect::<Vec<&str>>()
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
