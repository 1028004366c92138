//! From plain text to entries.

use std::io::Read;
use std::ops::Range;
use std::path::Path;
use std::sync::Arc;

use bethe_tagging::data::Sequence;
use bethe_tagging::{Input, ModelError, TagError, TagOptions, Tagged, Tagger, Tagging};
use thiserror::Error;

use crate::entry::Entry;
use crate::entry::assembly::Labelled;
use crate::entry::confidence::Confidence;
use crate::entry::parts::Meanings;
use crate::text::characters::clean;
use crate::text::dialect::{Dialect, DialectError};
use crate::text::several::holds_several;

/// A line with more tokens is not a reference and is not tagged.
pub const MOST_TOKENS: usize = 20_000;

/// The label of a token whose label is inferred, and the text of columns that nobody reads.
const FREE: &str = "_";

/// A parser of references: a tagger, how it expects text, and what its labels mean.
///
/// Immutable, and cheap to clone: clones share all of it. Every thread that reads references brings
/// a [`Parsing`].
#[derive(Clone, Debug)]
pub struct Parser {
    tagger: Tagger,
    dialect: Dialect,
    meanings: Arc<Meanings>,
    path: Arc<Path>,
}

/// Scratch memory for reading references one by one.
pub struct Parsing {
    parser: Parser,
    tagging: Tagging,
}

/// A line and its entry.
#[derive(Clone, Debug)]
pub struct Parsed {
    /// The line as it was read, without control characters and white space around it.
    pub text: String,
    /// Where its tokens are.
    pub tokens: Vec<Range<usize>>,
    /// Their labels and how they were found; `None` if the line could not be tagged.
    pub tagged: Option<Tagged>,
    /// The entry.
    pub entry: Entry,
    /// How sure its fields are, if probabilities were asked for.
    pub confidence: Option<Confidence>,
    /// Why the entry only holds the text, if it was not labelled.
    pub refused: Option<Refusal>,
}

/// Tokens that a person labelled.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Forced {
    /// Which tokens.
    pub tokens: Range<usize>,
    /// The name of their segment; empty for none.
    pub label: String,
}

/// Why a line was not labelled.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
pub enum Refusal {
    /// It has no tokens.
    #[error("there is no text")]
    Blank,
    /// It has too many tokens to be a reference.
    #[error("found {0} tokens, expected at most {MOST_TOKENS}")]
    TooLong(usize),
    /// It holds several references.
    #[error("found several references, expected one per line, or marks such as [1] before each")]
    Several,
    /// The model could not label it.
    #[error("the model could not label the line")]
    Unlabelled,
}

/// Why a model cannot be used as a parser.
#[derive(Debug, Error)]
pub enum ParserError {
    /// It cannot be read.
    #[error(transparent)]
    Model(#[from] ModelError),
    /// It cannot be given plain text.
    #[error(transparent)]
    Dialect(#[from] DialectError),
}

impl Parser {
    /// With a model and the dialect that it expects.
    pub fn new(tagger: &Tagger, dialect: Dialect) -> Self {
        let meanings = Arc::new(Meanings::of(tagger.states()));
        Self { tagger: tagger.clone(), dialect, meanings, path: Path::new("text").into() }
    }

    /// Reads a model file; the dialect is what its words show.
    pub fn load(path: impl AsRef<Path>) -> Result<Self, ParserError> {
        Self::of_tagger(&Tagger::load(path)?)
    }

    /// Reads a model file from wherever it comes.
    pub fn from_reader(reader: impl Read) -> Result<Self, ParserError> {
        Self::of_tagger(&Tagger::from_reader(reader)?)
    }

    /// Reads a model file that is in memory.
    pub fn from_bytes(bytes: &[u8]) -> Result<Self, ParserError> {
        Self::of_tagger(&Tagger::from_bytes(bytes)?)
    }

    fn of_tagger(tagger: &Tagger) -> Result<Self, ParserError> {
        Ok(Self::new(tagger, Dialect::of(tagger, None)?))
    }

    /// The model.
    pub fn tagger(&self) -> &Tagger {
        &self.tagger
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

    /// The same with labels that a person gave; `None` if the model has no such labels, or the tokens
    /// are not there.
    pub fn forced(
        &self,
        line: &str,
        tokens: &[Range<usize>],
        forced: &[Forced],
    ) -> Option<Sequence> {
        let Input::Columns { columns, label, .. } = self.tagger.parts().input else { return None };
        let mut labels = vec![FREE.to_string(); tokens.len()];
        for own in forced {
            let labels = labels.get_mut(own.tokens.clone())?;
            let given = self.tagger.states().segment_labels(&own.label, labels.len())?;
            labels.clone_from_slice(&given);
        }
        let word = self.dialect.column + usize::from(self.dialect.column >= label);
        let seen = tokens.iter().map(|token| self.dialect.seen(&line[token.clone()]));
        let rows: Vec<_> = seen.zip(&labels).collect();
        let cells = rows.iter().map(|(seen, own)| {
            (0..columns).map(move |column| match column {
                _ if column == label => own.as_str(),
                _ if column == word => seen.as_ref(),
                _ => FREE,
            })
        });
        Sequence::of_cells(self.path.clone(), cells).ok()
    }

    /// The entry of a line with its best labels.
    pub fn entry(&self, text: &str, tokens: &[Range<usize>], tagged: &Tagged) -> Entry {
        let labels: Vec<&str> = self.labels(tagged).collect();
        Entry::new(Labelled { text, tokens, labels: &labels }, &self.meanings)
    }

    /// The best labels.
    pub fn labels<'a>(&'a self, tagged: &'a Tagged) -> impl Iterator<Item = &'a str> {
        tagged.best[0].0.iter().map(|&state| self.tagger.states().label(state))
    }
}

impl Parsing {
    /// Memory for one thread, with the parser that it shares with others.
    pub fn new(parser: &Parser) -> Self {
        Self { parser: parser.clone(), tagging: Tagging::new(&parser.tagger) }
    }

    /// Reads a line. There is always an entry; it holds the whole text if the line cannot be
    /// parsed. An error only where no line can be tagged with these options, see
    /// [`Tagger::check`].
    pub fn parse(&mut self, line: &str, options: &TagOptions) -> Result<Parsed, TagError> {
        let text = clean(line).into_owned();
        let tokens = self.parser.tokens(&text);
        match refusal(&text, tokens.len()) {
            Some(refused) => Ok(self.parsed(text, tokens, Err(refused))),
            None => {
                let sequence = self.parser.sequence(&text, &tokens);
                let tagged = self.tag(&sequence, options)?;
                Ok(self.parsed(text, tokens, tagged))
            }
        }
    }

    /// Reads a line some of whose tokens a person labelled; the labels of the others are inferred.
    /// `None` if the labels or tokens do not exist, see [`Parser::forced`].
    pub fn parse_forced(
        &mut self,
        line: &str,
        forced: &[Forced],
        options: &TagOptions,
    ) -> Result<Option<Parsed>, TagError> {
        let text = clean(line).into_owned();
        let tokens = self.parser.tokens(&text);
        let Some(sequence) = self.parser.forced(&text, &tokens, forced) else { return Ok(None) };
        let tagged = match refusal(&text, tokens.len()).filter(|own| *own != Refusal::Several) {
            Some(refused) => Err(refused),
            None => self.tag(&sequence, &TagOptions { force: true, ..options.clone() })?,
        };
        Ok(Some(self.parsed(text, tokens, tagged)))
    }

    fn parsed(
        &self,
        text: String,
        tokens: Vec<Range<usize>>,
        tagged: Result<Tagged, Refusal>,
    ) -> Parsed {
        let (tagged, refused) = match tagged {
            Ok(tagged) => (Some(tagged), None),
            Err(refused) => (None, Some(refused)),
        };
        let entry = match &tagged {
            Some(tagged) => self.parser.entry(&text, &tokens, tagged),
            None => Entry::unparsed(&text),
        };
        let confidence = tagged.as_ref().and_then(|tagged| {
            let labels: Vec<&str> = self.parser.labels(tagged).collect();
            Confidence::of(&self.parser.meanings, &labels, tagged, &entry)
        });
        Parsed { text, tokens, tagged, entry, confidence, refused }
    }

    fn tag(
        &mut self,
        sequence: &Sequence,
        options: &TagOptions,
    ) -> Result<Result<Tagged, Refusal>, TagError> {
        match self.tagging.tag(sequence, options) {
            Err(error @ TagError::Solve(_)) => Err(error),
            tagged => Ok(tagged.map_err(|_| Refusal::Unlabelled)),
        }
    }
}

fn refusal(text: &str, tokens: usize) -> Option<Refusal> {
    match tokens {
        0 => Some(Refusal::Blank),
        _ if tokens > MOST_TOKENS => Some(Refusal::TooLong(tokens)),
        _ => holds_several(text).then_some(Refusal::Several),
    }
}
