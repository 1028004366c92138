//! Plain text in, entries out.

use std::ops::Range;
use std::path::Path;
use std::sync::Arc;

use bethe_tagging::data::Sequence;
use bethe_tagging::{TagError, TagOptions, Tagged, Tagger, Tagging};

use super::assembly::Labelled;
use super::dialect::Dialect;
use super::entry::Entry;
use super::parts::Meanings;
use super::text::clean;

/// Tokens of a line beyond which it is no reference: it is not tagged.
pub const MOST_TOKENS: usize = 20_000;

/// What is known of a model before any reference is read; threads share it.
#[derive(Clone, Debug)]
pub struct Citer<'a> {
    tagger: &'a Tagger,
    dialect: Dialect,
    meanings: Meanings,
    path: Arc<Path>,
}

/// The memory to read one reference after the other.
pub struct Citing<'a> {
    citer: &'a Citer<'a>,
    tagging: Tagging<'a>,
}

/// A line, and what became of it.
#[derive(Clone, Debug)]
pub struct Cited {
    /// The line as it was read, without control characters and white space around it.
    pub text: String,
    /// Where its tokens are.
    pub tokens: Vec<Range<usize>>,
    /// Their labels, and how they were found; nothing where the line could not be tagged.
    pub tagged: Option<Tagged>,
    /// The entry.
    pub entry: Entry,
}

impl<'a> Citer<'a> {
    /// With a model and the dialect that it expects.
    pub fn new(tagger: &'a Tagger, dialect: Dialect) -> Self {
        let meanings = Meanings::of(tagger.states());
        Self { tagger, dialect, meanings, path: Path::new("text").into() }
    }

    /// What its labels mean.
    pub fn meanings(&self) -> &Meanings {
        &self.meanings
    }

    /// The tokens of a line.
    pub fn tokens(&self, line: &str) -> Vec<Range<usize>> {
        self.dialect.tokeniser.tokens(line)
    }

    /// The tokens of a line as a sequence that the model can tag.
    pub fn sequence(&self, line: &str, tokens: &[Range<usize>]) -> Sequence {
        let mut rows = String::with_capacity(line.len() + tokens.len());
        for token in tokens {
            (0..self.dialect.column).for_each(|_| rows.push_str("_\t"));
            rows.push_str(&self.dialect.seen(&line[token.clone()]));
            rows.push('\n');
        }
        Sequence::of_rows(self.path.clone(), &rows)
    }
}

impl<'a> Citing<'a> {
    /// Memory for one thread.
    pub fn new(citer: &'a Citer<'a>) -> Self {
        Self { citer, tagging: Tagging::new(citer.tagger) }
    }

    /// Reads a line. Whatever it holds, there is an entry: one with the whole text where nothing
    /// else can be made of it.
    pub fn cite(&mut self, line: &str, options: &TagOptions) -> Cited {
        let text = clean(line).into_owned();
        let tokens = self.citer.tokens(&text);
        let tagged = self.tag(&text, &tokens, options);
        let entry = match &tagged {
            Some(tagged) => self.citer.entry(&text, &tokens, tagged),
            None => Entry::unparsed(&text),
        };
        Cited { text, tokens, tagged, entry }
    }

    fn tag(&mut self, text: &str, tokens: &[Range<usize>], options: &TagOptions) -> Option<Tagged> {
        if tokens.is_empty() || tokens.len() > MOST_TOKENS {
            return None;
        }
        let tagged: Result<Tagged, TagError> =
            self.tagging.tag(&self.citer.sequence(text, tokens), options);
        tagged.ok()
    }
}

impl Citer<'_> {
    /// The entry of a line with its best labels.
    pub fn entry(&self, text: &str, tokens: &[Range<usize>], tagged: &Tagged) -> Entry {
        let labels: Vec<&str> = self.labels(tagged).collect();
        Entry::new(Labelled { text, tokens, labels: &labels }, &self.meanings)
    }

    /// The best labels.
    pub fn labels<'b>(&'b self, tagged: &'b Tagged) -> impl Iterator<Item = &'b str> {
        tagged.best[0].0.iter().map(|&state| self.tagger.states().label(state))
    }
}
