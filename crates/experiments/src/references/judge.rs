//! Whether entries say what they should.

use std::ops::Range;

use bethe_cite::{Entry, Field, Labelled, Meanings, Parser, printed};
use bethe_tagging::labels::Scheme;
use bethe_tagging::score::Score;
use bethe_tagging::{TagError, TagOptions, Tagging};
use rayon::prelude::*;

use super::data::{Reference, bare};

/// What an entry is judged by.
pub const ASPECTS: [&str; 5] = ["author", "title", "container", "year", "first page"];

/// Between names.
const NAMES: &str = " & ";

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
    /// Entries in which all are letter for letter: given names too, and years in containers.
    pub exact: usize,
    /// What is wrong in the others.
    pub failures: Vec<Failure>,
}

/// One thing that an entry says wrongly.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Failure {
    /// Which of the [`ASPECTS`].
    pub aspect: &'static str,
    /// What the true labels give.
    pub expected: String,
    /// What the labels give that were found.
    pub found: String,
    /// The reference.
    pub text: String,
}

impl Failure {
    /// The cells of a table: aspect, expected, found, reference.
    pub fn cells(&self) -> [&str; 4] {
        [self.aspect, &self.expected, &self.found, &self.text]
    }
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
    /// Nothing yet.
    pub fn empty(scheme: Scheme) -> Self {
        Self {
            score: Score::new(scheme),
            references: 0,
            right: [0; ASPECTS.len()],
            whole: 0,
            exact: 0,
            failures: Vec::new(),
        }
    }

    /// The labels of a parser beside the true ones.
    pub fn of(
        parser: &Parser,
        references: &[Reference],
        options: &TagOptions,
    ) -> Result<Self, TagError> {
        let scheme = parser.tagger().states().scheme();
        let read = |tagging: &mut Tagging, reference: &Reference| {
            let Line { text, tokens } = Line::of(reference);
            let tagged = tagging.tag(&parser.sequence(&text, &tokens), options)?;
            Ok(parser.labels(&tagged).map(str::to_string).collect())
        };
        let tagging = || Tagging::new(parser.tagger());
        let found: Result<Vec<Vec<String>>, TagError> =
            references.par_iter().map_init(tagging, read).collect();
        let mut judged = Self::empty(scheme);
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
        let [truth, found] = [&truth, &found]
            .map(|labels| Entry::new(Labelled { text: &text, tokens: &tokens, labels }, meanings));
        self.references += 1;
        let before = self.failures.len();
        let exactly = exact(&truth).into_iter().zip(exact(&found));
        self.exact += usize::from(exactly.into_iter().all(|(truth, found)| same(&truth, &found)));
        let [truth, found] = [&truth, &found].map(aspects);
        for (at, (expected, found)) in truth.into_iter().zip(found).enumerate() {
            match same(&expected, &found) {
                true => self.right[at] += 1,
                false => self.failures.push(Failure {
                    aspect: ASPECTS[at],
                    expected,
                    found,
                    text: text.clone(),
                }),
            }
        }
        self.whole += usize::from(self.failures.len() == before);
    }

    /// Adds what others were judged by.
    pub fn extend(&mut self, other: Self) {
        self.score.extend(other.score);
        self.references += other.references;
        self.right.iter_mut().zip(other.right).for_each(|(sum, own)| *sum += own);
        self.whole += other.whole;
        self.exact += other.exact;
        self.failures.extend(other.failures);
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

/// What an entry says of each aspect, as a person compares entries: family names; the container is
/// the series where there is no other, and its years are those of a meeting.
pub fn aspects(entry: &Entry) -> [String; ASPECTS.len()] {
    let families = entry.authors.names.iter().map(|name| joined([&name.particle, &name.family]));
    let [_, title, container, year, page] = exact(entry);
    let container = match container.is_empty() {
        true => entry.text(Field::Series).unwrap_or_default(),
        false => &container,
    };
    [families.collect::<Vec<_>>().join(NAMES), title, without_years(container), year, page]
}

/// What an entry says of each aspect, letter for letter.
fn exact(entry: &Entry) -> [String; ASPECTS.len()] {
    let names = entry
        .authors
        .names
        .iter()
        .map(|name| joined([&name.particle, &name.family, &name.given, &name.suffix]));
    let container = [Field::Journal, Field::BookTitle, Field::Container]
        .into_iter()
        .find_map(|field| entry.text(field))
        .unwrap_or_default();
    let pages = entry.text(Field::Pages).unwrap_or_default();
    let first = pages.split(['-', '–', ',', ' ']).next().unwrap_or_default();
    [
        names.collect::<Vec<_>>().join(NAMES),
        entry.whole_title().unwrap_or_default(),
        container.to_string(),
        entry.date.year.map_or(String::new(), |year| year.to_string()),
        first.to_string(),
    ]
}

/// Parts of a name.
fn joined<const N: usize>(parts: [&String; N]) -> String {
    let parts = parts.into_iter().filter(|part| !part.is_empty());
    parts.map(String::as_str).collect::<Vec<_>>().join(" ")
}

fn without_years(text: &str) -> String {
    let is_year = |word: &&str| {
        let digits = bare(word);
        digits.len() == 4 && digits.parse::<u16>().is_ok_and(|year| (1800..2100).contains(&year))
    };
    text.split_whitespace().filter(|word| !is_year(word)).collect::<Vec<_>>().join(" ")
}

/// Whether two texts say the same, name by name, case and marks aside.
fn same(expected: &str, found: &str) -> bool {
    expected.split(NAMES).map(bare).eq(found.split(NAMES).map(bare))
}
