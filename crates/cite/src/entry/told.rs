//! The words that an entry has in its fields.

use rustc_hash::FxHashSet;

use crate::entry::Entry;
use crate::numbers::access::words;
use crate::numbers::date::{Date, is_of};
use crate::numbers::volume::is_cue;
use crate::people::name::Name;
use crate::people::remark::is_short_for;

/// The words of an entry.
pub(super) struct Told<'a> {
    /// In lower case.
    words: FxHashSet<String>,
    dates: [Date; 3],
    /// Organisations.
    organisations: Vec<&'a str>,
}

impl<'a> Told<'a> {
    pub(super) fn of(entry: &'a Entry) -> Self {
        let people = [&entry.authors, &entry.editors, &entry.translators];
        let names = || people.into_iter().flat_map(|people| &people.names);
        let parts = |name: &'a Name| [&name.family, &name.given, &name.particle, &name.suffix];
        let texts = entry.texts.values().chain(entry.other.values()).chain(names().flat_map(parts));
        let original = Date { year: entry.original, ..Date::default() };
        Self {
            words: texts.flat_map(|text| words(text)).map(str::to_lowercase).collect(),
            dates: [entry.date, entry.accessed, original],
            organisations: names().filter(|name| name.is_whole).map(|name| &*name.family).collect(),
        }
    }

    /// Whether a word is in some field, perhaps with a cue: `pp215`, `20January2011`.
    pub(super) fn knows(&self, word: &str) -> bool {
        let is_known =
            |word: &str| self.words.contains(&word.to_lowercase()) || is_of(word, &self.dates);
        let is_mixed = word.contains(char::is_numeric) && word.contains(char::is_alphabetic);
        let is_part_known = |part: &&str| {
            let lower = part.to_lowercase();
            is_known(part) || is_cue(&lower) || matches!(lower.as_str(), "c" | "isbn")
        };
        is_known(word) || is_mixed && letters_and_numbers(word).iter().all(is_part_known)
    }

    /// Whether a word of capitals is the short form of an organisation: `(WHO)`.
    pub(super) fn is_short_name(&self, word: &str) -> bool {
        self.organisations.iter().any(|name| is_short_for(word, name))
    }
}

/// The parts of a word that are of letters, and those that are of digits.
fn letters_and_numbers(word: &str) -> Vec<&str> {
    let mut parts = Vec::new();
    let mut rest = word;
    while let Some(first) = rest.chars().next() {
        let end = rest.find(|c: char| c.is_numeric() != first.is_numeric()).unwrap_or(rest.len());
        let (part, behind) = rest.split_at(end);
        parts.push(part);
        rest = behind;
    }
    parts
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::entry::field::Field;

    #[test]
    fn words_of_fields_are_known_also_together() {
        let mut entry = Entry { date: Date::read("20 January 2011"), ..Entry::default() };
        entry.texts.insert(Field::Pages, "215--217".to_string());
        entry.authors.names.extend(Name::whole("World Health Organization"));
        let told = Told::of(&entry);
        for word in ["pp215", "217", "20January2011", "20th", "jan", "01", "c2011", "health"] {
            assert!(told.knows(word), "{word}");
        }
        for word in ["216", "pp216", "21", "February", "2012", "b215", "spring"] {
            assert!(!told.knows(word), "{word}");
        }
        assert!(told.is_short_name("WHO") && !told.is_short_name("CDC"));
    }
}
