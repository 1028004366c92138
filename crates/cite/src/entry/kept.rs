//! What has no field of its own, and is kept.
//!
//! Every field has a reader that takes what it understands: a date its year, a list of people their
//! names. The words of a line that are in no field in the end, and that are not a [`cue`](super::cue),
//! become a note.

use std::ops::Range;

use super::assembly::{Labelled, append};
use super::cue::{is_cue, is_cue_of_people};
use super::field::Field;
use super::parts::Part;
use super::told::Told;
use crate::entry::Entry;
use crate::identifiers::beside_identifiers;
use crate::numbers::access::{Dates, accessed, is_date, words};
use crate::numbers::date::{Date, original};
use crate::people::labelled::is_about_people;
use crate::text::mend::mended;
use crate::text::tidy::tidy;

/// At most so many words in a row that are in some field are repeated between others that are not.
const MOST_REPEATED: usize = 2;

/// What a word of a line came to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Fate {
    /// It is in no field.
    Left,
    /// A reader left it out on purpose.
    Cue,
    /// It is in a field.
    Told,
}

impl Entry {
    /// The dates. What cannot be read as one stays as text.
    pub(super) fn add_dates(&mut self, dates: &Dates) {
        let mut published = dates.published.clone();
        if let Some((year, rest)) = original(&published) {
            self.original = Some(year);
            published = rest;
        }
        self.date = Date::read(&published);
        if self.date == Date::default() && !published.trim().is_empty() {
            self.add(Field::Date, &published);
        }
        let accessed = Date::read(&dates.accessed);
        if accessed.year.is_some() {
            self.accessed = Date { season: None, letter: None, ..accessed };
        } else if words(&dates.accessed).next().is_some() {
            self.add(Field::Note, &format!("accessed {}", dates.accessed.trim()));
        }
    }

    /// Takes an access date from a text that says little else.
    pub(super) fn takes_access_date(&mut self, text: &str) -> bool {
        let Some(date) = accessed(text).filter(|_| self.accessed == Date::default()) else {
            return false;
        };
        self.accessed = Date { season: None, letter: None, ..date };
        true
    }

    /// The words of a line that are in no field, as a note. Of a date with numbers that are in no
    /// field, all of it: `June 12–15, 2004`.
    pub(super) fn keep_rest(&mut self, line: &Labelled, parts: &[Part]) {
        let told = Told::of(self);
        let mut left: Vec<(Field, String)> = Vec::new();
        for stretch in stretches(line, parts) {
            left.extend(left_of(&stretch, &told));
        }
        left.dedup();
        for (field, text) in left {
            append(self.texts.entry(field).or_default(), &text, ", ");
        }
    }
}

/// What is left of a stretch, and the field that keeps it.
fn left_of(stretch: &Stretch, told: &Told) -> Vec<(Field, String)> {
    let text = mended(&stretch.text);
    let words: Vec<&str> = text.split(' ').collect();
    let next = |at: usize| words.get(at + 1).copied().unwrap_or_default();
    let fates: Vec<Fate> =
        (0..words.len()).map(|at| fate(words[at], next(at), stretch.of, told)).collect();
    let mut left = words.iter().zip(&fates).filter(|(_, fate)| **fate == Fate::Left).peekable();
    let is_date = stretch.of == Of::Dates && left.peek().is_some();
    if is_date && left.all(|(word, _)| !word.contains(char::is_alphabetic)) {
        return vec![(Field::Date, tidy(&text))];
    }
    let runs = runs(&fates).into_iter().map(|run| tidy(&words[run].join(" ")));
    runs.map(|text| (Field::Note, text)).collect()
}

/// Whether a text has more than words that hold others together: `Available from` has not.
pub(super) fn says_something(text: &str) -> bool {
    words(text).any(|word| !is_cue(word, ""))
}

/// Words of a line in a row that have one label, or none.
struct Stretch {
    text: String,
    of: Of,
}

/// What a stretch is about.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Of {
    Dates,
    People,
    Others,
}

impl Of {
    fn part(part: &Part) -> Self {
        match part.field {
            field if is_date(field) => Self::Dates,
            Some(field) if is_about_people(part, field) => Self::People,
            _ => Self::Others,
        }
    }
}

/// The stretches of a line, without identifiers, which are found whatever their labels are.
fn stretches(line: &Labelled, parts: &[Part]) -> Vec<Stretch> {
    let owners = owners(line, parts);
    let token_of = |word: &str| {
        let at = word.as_ptr() as usize - line.text.as_ptr() as usize;
        line.tokens.partition_point(|token| token.end <= at)
    };
    let words = beside_identifiers(line.text);
    let owned: Vec<(Option<usize>, &str)> = words
        .into_iter()
        .map(|word| (owners.get(token_of(word)).copied().flatten(), word))
        .collect();
    let stretch = |own: &[(Option<usize>, &str)]| Stretch {
        text: own.iter().map(|(_, word)| *word).collect::<Vec<_>>().join(" "),
        of: own[0].0.map_or(Of::Others, |part| Of::part(&parts[part])),
    };
    owned.chunk_by(|word, next| word.0 == next.0).map(stretch).collect()
}

/// The part of each token; dates side by side are one. Text between others has none, except between
/// people, with whom it is read.
fn owners(line: &Labelled, parts: &[Part]) -> Vec<Option<usize>> {
    let mut owners = vec![None; line.tokens.len()]; // [tokens]
    for (p, part) in parts.iter().enumerate().filter(|(_, part)| !is_between(part)) {
        let before = p.checked_sub(1).filter(|&before| {
            let touches = parts[before].tokens.end == part.tokens.start;
            touches && is_date(part.field) && is_date(parts[before].field)
        });
        let own = before.and_then(|before| owners[parts[before].tokens.start]).unwrap_or(p);
        owners[part.tokens.clone()].fill(Some(own));
    }
    owners
}

/// Whether a part only holds others together. What stands between people is read with them.
fn is_between(part: &Part) -> bool {
    part.between && !part.field.is_some_and(|field| is_about_people(part, field))
}

/// What a word came to, given the word behind it.
fn fate(word: &str, next: &str, of: Of, told: &Told) -> Fate {
    let bare = word.trim_matches(|c: char| !c.is_alphanumeric());
    if words(bare).all(|word| told.knows(word)) {
        return if bare.is_empty() { Fate::Cue } else { Fate::Told };
    }
    let is_cue = |word: &str| is_cue(word, next) || of == Of::People && is_cue_of_people(word);
    let is_out = |word: &str| told.knows(word) || is_cue(word);
    match is_cue(bare) || told.is_short_name(bare) || words(bare).all(is_out) {
        true => Fate::Cue,
        false => Fate::Left,
    }
}

/// Runs of words that are left, with the cues before them, and what is repeated between them.
fn runs(fates: &[Fate]) -> Vec<Range<usize>> {
    let mut runs: Vec<Range<usize>> = Vec::new();
    for at in (0..fates.len()).filter(|&at| fates[at] == Fate::Left) {
        let repeated = |run: &Range<usize>| {
            fates[run.end..at].iter().filter(|fate| **fate == Fate::Told).count()
        };
        match runs.last_mut() {
            Some(run) if repeated(run) <= MOST_REPEATED => run.end = at + 1,
            _ => runs.push(with_cues(fates, at)..at + 1),
        }
    }
    runs
}

/// Where the cues begin that go with a word: those right before it, `from Factiva`, or before one word
/// between, `with 3 maps`.
fn with_cues(fates: &[Fate], at: usize) -> usize {
    match fates[..at] {
        [.., Fate::Cue] => with_cues(fates, at - 1),
        [.., Fate::Cue, Fate::Told] => with_cues(fates, at - 2),
        _ => at,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_that_are_left_form_runs() {
        use Fate::{Cue, Left, Told};
        let found = |fates: &[Fate]| -> Vec<(usize, usize)> {
            runs(fates).into_iter().map(|run| (run.start, run.end)).collect()
        };
        assert_eq!(found(&[Told, Cue, Left, Left, Told]), [(1, 4)]);
        assert_eq!(found(&[Left, Told, Cue, Told, Left, Cue]), [(0, 5)]);
        assert_eq!(found(&[Told, Cue, Told, Left]), [(1, 4)]);
        assert_eq!(found(&[Left, Told, Told, Told, Left]), [(0, 1), (4, 5)]);
        assert_eq!(found(&[Told, Cue]), []);
    }
}
