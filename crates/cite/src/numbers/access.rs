//! Access dates of web pages, which are not the date of the work.

use super::date::Date;
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

/// Whether a word, in lower case, introduces an access date or stands beside such a word.
pub(crate) fn is_cue(word: &str) -> bool {
    LOOKED_AT.contains(&word) || BESIDE.contains(&word)
}

/// The dates of a reference as text.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct Dates {
    /// When it appeared.
    pub(crate) published: String,
    /// When somebody looked at it.
    pub(crate) accessed: String,
}

/// The dates of a reference. The word that introduces an access date may stand in the date or before
/// it, under any label except a name's.
pub(crate) fn dates(line: &Labelled, parts: &[Part]) -> Dates {
    let mut dates = Dates::default();
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
        let (published, accessed) = match (is_access, around_looked_at(text)) {
            (true, _) => ("", text),
            (false, Some((published, accessed))) => (published, accessed),
            (false, None) => (text, ""),
        };
        is_access |= !accessed.is_empty();
        for (own, text) in [(&mut dates.published, published), (&mut dates.accessed, accessed)] {
            own.push(' ');
            own.push_str(&without_identifiers(text));
        }
    }
    dates
}

/// The date in a text that says when somebody looked at it.
pub(crate) fn accessed(text: &str) -> Option<Date> {
    let (_, behind) = around_looked_at(text)?;
    Some(Date::read(&without_identifiers(behind))).filter(|date| date.year.is_some())
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

/// The text before and behind a word that introduces an access date, if there is one.
fn around_looked_at(text: &str) -> Option<(&str, &str)> {
    let mut start = 0;
    for part in text.split_inclusive(|c: char| !c.is_alphanumeric()) {
        let behind = start + part.len();
        if words(part).any(is_looked_at) {
            return Some((&text[..start], &text[behind..]));
        }
        start = behind;
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
        let date = accessed("URL http://a.org/b (last accessed on 12 May 2020)").unwrap();
        assert_eq!(date.in_numbers().as_deref(), Some("2020-05-12"));
        assert_eq!((accessed("widely cited"), accessed("12 May 2020")), (None, None));
    }
}
