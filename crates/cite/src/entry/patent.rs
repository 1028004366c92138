//! Patents, which labels take for articles.

use super::field::Field;
use super::kind::says_patent;
use crate::entry::Entry;
use crate::text::tidy::tidy;

/// Fewest digits of a patent's number.
const FEWEST_DIGITS: usize = 5;

impl Entry {
    /// A patent has its number behind the word: `US Patent 5,123,456`. Labels often cut it.
    pub(super) fn find_patent(&mut self, line: &str) {
        let Some((kind, number)) = patent(line) else { return };
        let is_title = |text: &str| text.contains(&number);
        if self.text(Field::Title).is_some_and(is_title) {
            return;
        }
        let digits = |text: &str| text.chars().filter(char::is_ascii_digit).collect::<String>();
        let own = digits(&number);
        let is_part = |text: &str| {
            let part = digits(text);
            !part.is_empty() && own.contains(&part) && !text.contains(char::is_lowercase)
        };
        self.texts.retain(|&field, text| match field {
            Field::Title | Field::Subtitle | Field::Url | Field::Doi => true,
            Field::Volume | Field::Number | Field::Pages => !is_part(text) && !says_patent(text),
            Field::Journal | Field::BookTitle | Field::Container => !says_patent(text),
            _ => true,
        });
        let typed = [Field::Genre, Field::Report].map(|field| self.texts.remove(&field));
        let typed = typed.into_iter().flatten().next();
        let typed = typed.map(|text| text.replace(&number, "").replace(['№', '#'], ""));
        let typed = typed.map(|text| tidy(text.trim_end().trim_end_matches(" No.")));
        let kind = typed.filter(|text| says_patent(text)).unwrap_or(kind);
        self.texts.insert(Field::Genre, kind);
        self.texts.insert(Field::Number, number);
    }
}

/// The kind of a patent, with the office before it, and its number.
fn patent(line: &str) -> Option<(String, String)> {
    #[rustfmt::skip]
    const OFFICES: &[&str] = &[
        "US", "U.S.", "USA", "EP", "European", "German", "French", "British", "UK", "Japanese", "Chinese",
        "Korean", "Canadian", "Swiss", "International", "World", "PCT",
    ];
    let words: Vec<&str> = line.split_whitespace().collect();
    let bare = |word: &str| word.trim_matches(|c: char| !c.is_alphanumeric()).to_lowercase();
    let at = words.iter().position(|word| bare(word) == "patent")?;
    let is_between = |word: &&&str| {
        matches!(bare(word).as_str(), "no" | "nr" | "number" | "application" | "publication" | "")
    };
    let behind = at + 1 + words[at + 1..].iter().take_while(is_between).count();
    let is_country =
        |word: &str| (1..=3).contains(&word.len()) && word.bytes().all(|b| b.is_ascii_uppercase());
    let country = words.get(behind).filter(|word| is_country(word));
    let number = words.get(behind + usize::from(country.is_some()))?;
    let number = number.trim_matches(|c: char| !c.is_alphanumeric());
    let count = number.chars().filter(char::is_ascii_digit).count();
    let is_number = count >= FEWEST_DIGITS
        && number
            .chars()
            .all(|c| c.is_ascii_uppercase() || c.is_ascii_digit() || ",./-".contains(c));
    let office = at
        .checked_sub(1)
        .map(|before| words[before].trim_start_matches(['(', '[', ',']))
        .filter(|word| OFFICES.contains(word));
    let kind = office.map_or("Patent".to_string(), |office| format!("{office} Patent"));
    let number = country.map_or(number.to_string(), |country| format!("{country} {number}"));
    is_number.then_some((kind, number))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_of_patents_stand_behind_the_word() {
        let found = |line: &str| patent(line).map(|(kind, number)| format!("{kind}|{number}"));
        for (line, expected) in [
            ("Li, A. Ice. US Patent 5,123,456, 1992.", "US Patent|5,123,456"),
            ("Li, A. Ice (U.S. Patent No. 5,123,456).", "U.S. Patent|5,123,456"),
            ("Li, A. European Patent EP 1234567, 2004", "European Patent|EP 1234567"),
            ("Li, A. Patent application WO2004/012345.", "Patent|WO2004/012345"),
        ] {
            assert_eq!(found(line).as_deref(), Some(expected), "{line}");
        }
        for line in ["Journal of Patent Law 12, 1999", "Patent 7", "patents 5,123,456", "Patent"] {
            assert_eq!(found(line), None, "{line}");
        }
    }
}
