//! Sentences as sequences: the text of `--text`, and hints where a file has them.

use std::ops::Range;

use anyhow::Result;
use bethe_cite::{Parser, clean};
use bethe_tagging::data::{DataError, Sequence};
use bethe_tagging::{Input, InputError, TagError, Tagger};
use bethe_terminal::{bad_input, say};

use super::Flags;
use crate::kind::Kind;

/// A line of text and its tokens.
pub struct Sentence {
    line: String,
    tokens: Vec<Range<usize>>,
    pub sequence: Sequence,
}

impl Sentence {
    /// A token as it stands in the text.
    pub fn token(&self, t: usize) -> &str {
        &self.line[self.tokens[t].clone()]
    }
}

/// The lines of `--text`, split as the model expects them.
pub fn sentences(text: &str, flags: &Flags, tagger: &Tagger) -> Result<Vec<Sentence>> {
    let name = flags.tagger.model.display().to_string();
    let (dialect, warning) = flags.tokens.dialect_or_spaces(tagger, &name)?;
    if !flags.quiet {
        warning.iter().for_each(|warning| say(&format!("warning: {warning}")));
    }
    let parser = Parser::new(tagger, dialect);
    let lines = text.lines().map(|line| clean(line).into_owned());
    let sentences: Vec<Sentence> = lines
        .map(|line| {
            let tokens = parser.tokens(&line);
            let sequence = parser.sequence(&line, &tokens);
            Sentence { line, tokens, sequence }
        })
        .filter(|sentence| !sentence.tokens.is_empty())
        .collect();
    match sentences.is_empty() {
        true => Err(bad_input("--text: found no word, expected a sentence")),
        false => Ok(sentences),
    }
}

/// The message to a person who gave sentences instead of columns.
#[derive(Clone, Copy)]
pub struct Hint<'a> {
    flags: &'a Flags,
    tagger: &'a Tagger,
}

impl<'a> Hint<'a> {
    pub fn new(flags: &'a Flags, tagger: &'a Tagger) -> Self {
        Self { flags, tagger }
    }

    /// The columns of the training file, if a sentence would do for the model.
    fn columns(self) -> Option<usize> {
        let name = self.flags.tagger.model.display().to_string();
        self.flags.tokens.dialect_or_spaces(self.tagger, &name).ok()?;
        match self.tagger.parts().input {
            Input::Columns { columns, .. } => Some(columns),
            Input::Attributes | Input::Scores => None,
        }
    }

    fn added(self, message: String, is_sentence: bool) -> anyhow::Error {
        bad_input(match is_sentence {
            true => format!("{message}. {}", self.flags.sentence("THE SENTENCE")),
            false => message,
        })
    }

    /// Whether the file may be sentences; what cannot be looked at twice may be.
    fn may_be_prose(self) -> bool {
        let kind = self.flags.file.as_deref().and_then(Kind::of);
        kind.is_none_or(|kind| matches!(kind, Kind::Sentences | Kind::References))
    }

    /// An error of reading.
    pub fn unread(self, error: DataError) -> anyhow::Error {
        let is_sentence = match &error {
            DataError::Ragged { found, expected, comment: None, .. } => {
                let is_wide = |columns| *found.max(expected) > columns;
                self.columns().is_some_and(is_wide) && self.may_be_prose()
            }
            _ => false,
        };
        self.added(error.to_string(), is_sentence)
    }

    /// An error of tagging. Sentences are sequences of one line.
    pub fn untagged(self, error: TagError, batch: &[Sequence]) -> anyhow::Error {
        let is_wide = matches!(&error, TagError::Input(InputError::TooManyColumns { .. }))
            && batch.iter().all(|sequence| sequence.len() == 1);
        self.added(error.to_string(), is_wide && self.columns().is_some() && self.may_be_prose())
    }

    /// Refuses lines of two words that would be taken for a token and its label.
    pub fn check(self, batch: &[Sequence]) -> Result<()> {
        let Some(first) = batch.first() else { return Ok(()) };
        let states = self.tagger.states();
        let is_known = |label: &str| {
            label == "_" || (0..states.len()).any(|state| states.label(state) == label)
        };
        let is_pair = |sequence: &Sequence| {
            sequence.len() == 1
                && !sequence.row(0).contains('\t')
                && self.tagger.parts().input.labels(sequence).is_some_and(|own| !is_known(&own[0]))
        };
        if !batch.iter().all(is_pair) || self.columns() != Some(2) {
            return Ok(());
        }
        let place = format!("{}:{}", first.path().display(), first.line(0));
        let found = first.row(0);
        let message = format!(
            "{place}: found {found:?}, whose second word is not a label of the model, expected a \
             token, \
             or a token and its label"
        );
        Err(self.added(message, true))
    }
}
