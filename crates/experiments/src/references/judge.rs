//! Whether entries say what they should.

use std::ops::Range;

use bethe_cite::{Entry, Field, Labelled, Meanings, Parser, printed};
use bethe_tagging::score::Score;
use bethe_tagging::{TagError, TagOptions, Tagging};
use rayon::prelude::*;

use super::data::{Reference, bare};

/// What an entry is judged by.
pub const ASPECTS: [&str; 5] = ["author", "title", "container", "year", "first page"];

/// How well references were read.
#[derive(Clone, Debug, PartialEq)]
pub struct Judged {
    /// Segments.
    pub score: Score,
    /// References.
    pub references: usize,
    /// Entries in which an aspect is right. `[aspects]`
    pub right: [usize; ASPECTS.len()],
    /// Entries in which all are.
    pub whole: usize,
}

/// A reference as text, and its tokens in it.
pub struct Line {
    /// The text.
    pub text: String,
    /// The tokens.
    pub tokens: Vec<Range<usize>>,
}

impl Line {
    /// The reference as it would be printed.
    pub fn of(reference: &Reference) -> Self {
        let tokens: Vec<&str> = reference.tokens().collect();
        let text = printed(&tokens);
        let mut from = 0;
        let place = |token: &&str| {
            let start = from + text[from..].find(token).expect("the text is made of its tokens");
            from = start + token.len();
            start..from
        };
        let places = tokens.iter().map(place).collect();
        Self { tokens: places, text }
    }
}

impl Judged {
    /// The labels of a parser beside the true ones.
    pub fn of(parser: &Parser, references: &[Reference]) -> Result<Self, TagError> {
        let scheme = parser.tagger().states().scheme();
        let read = |tagging: &mut Tagging, reference: &Reference| {
            let Line { text, tokens } = Line::of(reference);
            let tagged = tagging.tag(&parser.sequence(&text, &tokens), &TagOptions::default())?;
            Ok(parser.labels(&tagged).map(str::to_string).collect())
        };
        let tagging = || Tagging::new(parser.tagger());
        let found: Result<Vec<Vec<String>>, TagError> =
            references.par_iter().map_init(tagging, read).collect();
        let mut judged = Self { score: Score::new(scheme), references: 0, right: [0; 5], whole: 0 };
        for (reference, found) in references.iter().zip(found?) {
            judged.add(parser.meanings(), reference, &found);
        }
        Ok(judged)
    }

    /// Counts a reference with the labels that were found.
    pub fn add(&mut self, meanings: &Meanings, reference: &Reference, found: &[String]) {
        let truth = reference.labels();
        let [truth, found] = [&truth[..], found]
            .map(|all| -> Vec<&str> { all.iter().map(String::as_str).collect() });
        self.score.add(&truth, &found);
        let Line { text, tokens } = Line::of(reference);
        let [truth, found] = [&truth, &found].map(|labels| {
            aspects(&Entry::new(Labelled { text: &text, tokens: &tokens, labels }, meanings))
        });
        self.references += 1;
        let right: Vec<bool> = truth.iter().zip(&found).map(|(a, b)| a == b).collect();
        self.right.iter_mut().zip(&right).for_each(|(sum, &right)| *sum += usize::from(right));
        self.whole += usize::from(right.iter().all(|&right| right));
    }

    /// Adds what others were judged by.
    pub fn extend(&mut self, other: Self) {
        self.score.extend(other.score);
        self.references += other.references;
        self.right.iter_mut().zip(other.right).for_each(|(sum, own)| *sum += own);
        self.whole += other.whole;
    }

    /// The share of entries of which all is right, in percent.
    pub fn whole(&self) -> f64 {
        percent(self.whole, self.references)
    }
}

/// A share in percent.
pub fn percent(part: usize, all: usize) -> f64 {
    100.0 * part as f64 / all.max(1) as f64
}

/// What an entry says of each aspect, case and marks aside.
pub fn aspects(entry: &Entry) -> [String; ASPECTS.len()] {
    let names = entry.authors.names.iter().map(|name| bare(&format!("{name:?}")));
    let container = [Field::Journal, Field::BookTitle, Field::Container]
        .into_iter()
        .find_map(|field| entry.text(field))
        .unwrap_or_default();
    let pages = entry.text(Field::Pages).unwrap_or_default();
    let first = pages.split(['-', '–', ',', ' ']).next().unwrap_or_default();
    [
        names.collect::<Vec<_>>().join(" "),
        bare(&entry.whole_title().unwrap_or_default()),
        bare(container),
        entry.date.year.map_or(String::new(), |year| year.to_string()),
        bare(first),
    ]
}
