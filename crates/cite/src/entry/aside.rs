//! Remarks that labels include in a title or a container.

use super::assembly::append;
use super::field::Field;
use crate::entry::Entry;
use crate::text::tidy::tidy;

const CONTAINERS: [Field; 3] = [Field::Journal, Field::BookTitle, Field::Container];
/// What comes before the name of a container, longer phrases first.
const PHRASES: [&str; 10] = [
    "to appear in the",
    "to appear in",
    "to be published in",
    "accepted for publication in",
    "accepted by",
    "accepted in",
    "submitted to",
    "paper presented at the",
    "paper presented at",
    "presented at",
];
/// What is not a container, whatever its label.
const NO_CONTAINERS: [&str; 9] = [
    "preprint",
    "in preparation",
    "in press",
    "forthcoming",
    "manuscript",
    "personal communication",
    "private communication",
    "unpublished",
    "working paper",
];
/// A standard's number before its title has at most this many words.
const LONGEST_NUMBER: usize = 5;

impl Entry {
    /// Moves remarks out of the title and the container.
    pub(super) fn set_asides_apart(&mut self) {
        self.leave_quotation();
        self.name_standard();
        for field in CONTAINERS {
            self.clear_container(field);
        }
    }

    /// `“On x,” to appear`: the title ends with its quotation marks.
    fn leave_quotation(&mut self) {
        let Some((title, rest)) = self.text(Field::Title).and_then(quoted_first) else { return };
        let has_container = CONTAINERS.iter().any(|field| self.texts.contains_key(field));
        let is_name = rest.starts_with(char::is_uppercase) && rest.contains(' ');
        let inside = ["in ", "In "].iter().find_map(|word| rest.strip_prefix(word));
        let (field, rest) = match inside.map(|name| name.trim_start_matches([':', ' '])) {
            Some(name) if !has_container => (Field::Container, name),
            _ if is_name && !has_container => (Field::Container, rest.as_str()),
            _ => (Field::Note, rest.as_str()),
        };
        append(self.texts.entry(field).or_default(), rest, ", ");
        self.texts.insert(Field::Title, title);
    }

    /// `ISO 4: “Rules for x”`: what stands in front of the quotation is its number.
    fn name_standard(&mut self) {
        let Some((number, title)) = self.text(Field::Title).and_then(quoted_last) else { return };
        append(self.texts.entry(Field::Identifier).or_default(), &number, ", ");
        self.texts.insert(Field::Title, title);
    }

    fn clear_container(&mut self, field: Field) {
        let Some(text) = self.text(field) else { return };
        let lower = text.to_lowercase();
        if NO_CONTAINERS.contains(&lower.trim_end_matches('.')) {
            let remark = text.to_string();
            self.texts.remove(&field);
            append(self.texts.entry(Field::Note).or_default(), &remark, ", ");
            return;
        }
        let is_phrase =
            |phrase: &&&str| lower.strip_prefix(**phrase).is_some_and(|rest| rest.starts_with(' '));
        // In lower case, letters may take more bytes.
        let split = PHRASES.iter().find(is_phrase).and_then(|phrase| {
            Some((text.get(..phrase.len())?, text.get(phrase.len()..)?.trim_start()))
        });
        if let Some((phrase, name)) = split.filter(|(_, name)| !name.is_empty()) {
            let (phrase, name) = (phrase.to_string(), name.to_string());
            self.texts.insert(field, name);
            append(self.texts.entry(Field::Note).or_default(), &phrase, ", ");
        }
    }
}

/// Where the only two double quotation marks of a text are.
fn quotation(text: &str) -> Option<(usize, usize)> {
    let is_quote = |&(_, c): &(usize, char)| matches!(c, '"' | '“' | '”' | '„' | '«' | '»');
    let mut marks = text.char_indices().filter(is_quote).map(|(at, _)| at);
    match (marks.next(), marks.next(), marks.next()) {
        (Some(open), Some(close), None) => Some((open, close)),
        _ => None,
    }
}

/// A title in quotation marks, with a comma or stop inside or behind them, and what follows.
fn quoted_first(text: &str) -> Option<(String, String)> {
    let (open, close) = quotation(text).filter(|(open, _)| *open == 0)?;
    let (inner, rest) = (&text[open..close], &text[close..]);
    let ends = |c: char| matches!(c, '.' | ',' | ';' | '?' | '!');
    let rest = rest.trim_start_matches(['"', '“', '”', '„', '«', '»']);
    let is_apart = inner.trim_end().ends_with(ends) || rest.starts_with(ends);
    let (title, rest) = (tidy(inner), tidy(rest));
    (is_apart && title.contains(' ') && !rest.is_empty()).then_some((title, rest))
}

/// The number of a standard or report, and its quoted title.
fn quoted_last(text: &str) -> Option<(String, String)> {
    let (open, close) = quotation(text)?;
    let (number, title) = (text[..open].trim_end(), &text[open..]);
    let is_last = !text[close..].contains(char::is_alphanumeric);
    let is_number = number.ends_with([':', ','])
        && number.contains(|c: char| c.is_ascii_digit())
        && number.split_whitespace().count() <= LONGEST_NUMBER;
    (is_last && is_number).then(|| (tidy(number), tidy(title)))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn entry(field: Field, text: &str) -> Entry {
        let mut entry = Entry::default();
        entry.texts.insert(field, text.to_string());
        entry.set_asides_apart();
        entry
    }

    #[test]
    fn remarks_leave_titles() {
        let cases = [
            ("“On small rivers,” to appear", "On small rivers", Some((Field::Note, "to appear"))),
            (
                "\"On x and y\". In Studies of z",
                "On x and y",
                Some((Field::Container, "Studies of z")),
            ),
            ("“On x and y.” River Review", "On x and y", Some((Field::Container, "River Review"))),
            ("ISO 4: \"Rules for x\"", "Rules for x", Some((Field::Identifier, "ISO 4"))),
            ("\"Markov\" chains", "\"Markov\" chains", None),
            ("Games under \"common knowledge\"", "Games under \"common knowledge\"", None),
        ];
        for (text, title, other) in cases {
            let entry = entry(Field::Title, text);
            assert_eq!(entry.text(Field::Title), Some(title));
            match other {
                Some((field, other)) => assert_eq!(entry.text(field), Some(other), "{text}"),
                None => assert_eq!(entry.texts.len(), 1, "{text}"),
            }
        }
    }

    #[test]
    fn remarks_leave_containers() {
        let found = entry(Field::Journal, "To appear in Annals of Rivers");
        assert_eq!(found.text(Field::Journal), Some("Annals of Rivers"));
        assert_eq!(found.text(Field::Note), Some("To appear in"));
        let found = entry(Field::Container, "Preprint");
        assert_eq!(found.text(Field::Container), None);
        assert_eq!(found.text(Field::Note), Some("Preprint"));
        assert_eq!(entry(Field::Journal, "Preprints of x").text(Field::Note), None);
    }
}
