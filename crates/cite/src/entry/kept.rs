//! What has no field of its own, and is kept.

use super::assembly::{Labelled, append};
use super::field::Field;
use super::parts::Part;
use crate::entry::Entry;
use crate::identifiers::without_identifiers;
use crate::numbers::access::{Dates, accessed, words};
use crate::numbers::date::{Date, original, says_more_years};
use crate::people::labelled::is_about_people;
use crate::text::tidy::tidy;

/// Words that only hold others together.
#[rustfmt::skip]
const BETWEEN: &[&str] = &[
    "a", "al", "and", "at", "available", "by", "dans", "de", "der", "die", "doi", "ed", "edited", "editor",
    "editors", "eds", "en", "et", "from", "hg", "hrsg", "in", "no", "of", "on", "online", "p", "pages", "pp",
    "s", "the", "und", "url", "vol", "volume", "y",
];

impl Entry {
    /// The dates. What a date has no place for stays as text.
    pub(super) fn add_dates(&mut self, dates: &Dates) {
        let mut published = dates.published.clone();
        if let Some((year, rest)) = original(&published) {
            self.original = Some(year);
            published = rest;
        }
        self.date = Date::read(&published);
        let is_unread = self.date == Date::default() && !published.trim().is_empty();
        if is_unread || says_more_years(&published) {
            self.add(Field::Date, &published);
        }
        let accessed = Date::read(&dates.accessed);
        if accessed.year.is_some() {
            self.accessed = accessed;
        } else if words(&dates.accessed).next().is_some() {
            self.add(Field::Note, &format!("accessed {}", dates.accessed.trim()));
        }
    }

    /// Takes an access date from a text that says little else.
    pub(super) fn takes_access_date(&mut self, text: &str) -> bool {
        let Some(date) = accessed(text).filter(|_| self.accessed == Date::default()) else {
            return false;
        };
        self.accessed = date;
        true
    }

    /// Keeps text without a label, or between others, as a note if it says something.
    pub(super) fn keep_unlabelled(&mut self, line: &Labelled, parts: &[Part]) {
        let mut is_kept = vec![false; line.tokens.len()]; // [tokens]
        for part in parts.iter().filter(|part| !is_between(part)) {
            is_kept[part.tokens.clone()].fill(true);
        }
        let mut start = 0;
        for run in is_kept.chunk_by(|kept, next| kept == next) {
            let end = start + run.len();
            if !run[0] {
                let text = tidy(&without_identifiers(line.text_of(&(start..end))));
                if says_something(&text) {
                    append(self.texts.entry(Field::Note).or_default(), &text, ", ");
                }
            }
            start = end;
        }
    }
}

/// Whether a part only holds others together. What stands between people is read with them.
fn is_between(part: &Part) -> bool {
    part.between && !part.field.is_some_and(|field| is_about_people(part, field))
}

/// Whether a text has more than words that hold others together: `Available from` does not.
pub(super) fn says_something(text: &str) -> bool {
    let says = |word: &str| {
        let lower = word.to_lowercase();
        !BETWEEN.contains(&lower.as_str())
            && (lower.chars().nth(1).is_some() || word.contains(char::is_numeric))
    };
    words(text).any(says)
}
