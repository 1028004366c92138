//! Access dates of web pages, which are not the date of the work.

use crate::entry::assembly::Labelled;
use crate::entry::field::Field;
use crate::entry::parts::Part;
use crate::identifiers::without_identifiers;
use crate::people::labelled::is_about_people;

/// Words that introduce an access date.
#[rustfmt::skip]
const LOOKED_AT: &[&str] = &[
    "abgerufen", "accessed", "acessado", "aufgerufen", "cited", "consultado", "consultato",
    "consulted", "consulté", "geraadpleegd", "retrieved", "viewed", "visited", "zugriff",
    "обращения",
];

/// Words around those: `last accessed on`.
#[rustfmt::skip]
const BESIDE: &[&str] = &[
    "am", "dernière", "date", "el", "em", "il", "last", "le", "letzter", "on", "op", "the", "was",
    "zuletzt", "дата",
];

/// Whether a word introduces an access date.
pub(crate) fn is_looked_at(word: &str) -> bool {
    LOOKED_AT.contains(&word.to_lowercase().as_str())
}

/// Whether a text only introduces an access date: `(last accessed on`.
pub(crate) fn says_only_looked_at(text: &str) -> bool {
    words(text).any(is_looked_at) && words(text).all(|word| is_looked_at(word) || is_beside(word))
}

/// The text of a reference's dates without access dates. The word that introduces one may stand in
/// the date or before it, under any label except a name's.
pub(crate) fn dates(line: &Labelled, parts: &[Part]) -> String {
    let mut dates = String::new();
    let mut name_end = 0; // where the last title or person ends
    let mut date_end = None; // the token behind the date before
    let mut is_access = false;
    for part in parts {
        let text = line.text_of(&part.tokens);
        let start = line.tokens[part.tokens.start].start;
        if !is_date(part.field) {
            if part.field.is_some_and(|field| is_name(part, field)) {
                name_end = start + text.len();
            }
            continue;
        }
        // One date may be in several parts: `12`, `May`, `2020`.
        if date_end != Some(part.tokens.start) {
            is_access = ends_in_looked_at(&line.text[name_end..start]);
        }
        date_end = Some(part.tokens.end);
        if is_access {
            continue;
        }
        let published = before_looked_at(text);
        is_access = published.is_some();
        dates.push(' ');
        dates.push_str(&without_identifiers(published.unwrap_or(text)));
    }
    dates
}

/// Whether a field is a date or part of one.
pub(crate) fn is_date(field: Option<Field>) -> bool {
    matches!(field, Some(Field::Date | Field::Year | Field::Month | Field::Day))
}

/// Whether a field holds a title or a name, such as `Places I Visited`.
fn is_name(part: &Part, field: Field) -> bool {
    let is_title = matches!(
        field,
        Field::Title | Field::Subtitle | Field::Journal | Field::BookTitle | Field::Series
    );
    is_title || field == Field::Container && !part.between || is_about_people(part, field)
}

/// Whether a date after this text is an access date.
fn ends_in_looked_at(before: &str) -> bool {
    words(before).filter(|word| !is_beside(word)).last().is_some_and(is_looked_at)
}

/// The text before a word that introduces an access date, if there is one.
fn before_looked_at(text: &str) -> Option<&str> {
    let mut start = 0;
    for part in text.split_inclusive(|c: char| !c.is_alphanumeric()) {
        if words(part).any(is_looked_at) {
            return Some(&text[..start]);
        }
        start += part.len();
    }
    None
}

fn is_beside(word: &str) -> bool {
    BESIDE.contains(&word.to_lowercase().as_str())
}

/// Letters and digits between anything else.
pub(crate) fn words(text: &str) -> impl Iterator<Item = &str> {
    text.split(|c: char| !c.is_alphanumeric()).filter(|word| !word.is_empty())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_before_a_date_tell_that_somebody_looked_then() {
        for before in ["(accessed", "https://a.org/b [Last accessed on:", "Zugriff am", "Retrieved"]
        {
            assert!(ends_in_looked_at(before), "{before}");
        }
        for before in ["", "Chaos revisited.", "accessed in the library,", "Retrieved from a.org,"]
        {
            assert!(!ends_in_looked_at(before), "{before}");
        }
        assert!(says_only_looked_at("(last accessed on") && says_only_looked_at("Accessed:"));
        assert!(!says_only_looked_at("on the") && !says_only_looked_at("widely cited"));
    }
}
