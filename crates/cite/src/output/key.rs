//! Citation keys: `montroll1979fluctuation`.

use rustc_hash::FxHashSet;

use crate::entry::Entry;
use crate::entry::field::Field;

/// Title words that are skipped.
const SMALL: &[&str] = &[
    "the", "and", "for", "from", "into", "with", "das", "der", "die", "des", "ein", "eine", "les",
    "une", "sur", "der", "uber", "über", "von", "towards", "toward", "some", "its",
];

/// The longest part of a key.
const LONGEST: usize = 30;

/// The keys in use.
#[derive(Clone, Debug, Default)]
pub struct Keys {
    used: FxHashSet<String>,
    /// How often each key was asked for.
    asked: rustc_hash::FxHashMap<String, usize>,
}

impl Keys {
    /// A unique key: the wanted one, or the same followed by `a`, `b`, … `z`, `aa`, …
    pub fn unique(&mut self, key: &str) -> String {
        let asked = self.asked.entry(key.to_string()).or_insert(0);
        loop {
            let candidate = match *asked {
                0 => key.to_string(),
                count => format!("{key}{}", letters(count - 1)),
            };
            *asked += 1;
            if self.used.insert(candidate.clone()) {
                return candidate;
            }
        }
    }
}

/// `a`, `b`, … `z`, `aa`, `ab`, …
fn letters(number: usize) -> String {
    let mut letters = Vec::new();
    let mut rest = number + 1;
    while rest > 0 {
        rest -= 1;
        letters.push(char::from(b'a' + (rest % 26) as u8));
        rest /= 26;
    }
    letters.iter().rev().collect()
}

impl Entry {
    /// The preferred key: the family name of the first author (or editor), the year, and the first
    /// significant word of the title; in ASCII, lower case. The letter of `2006a` stays with the year.
    pub fn key(&self) -> String {
        let people = [&self.authors, &self.editors];
        let first = people.iter().find_map(|people| people.names.first());
        let mut key = first.map(|name| plain(&name.family)).unwrap_or_default();
        if let Some(year) = self.date.year {
            key.push_str(&year.to_string());
            key.extend(self.date.letter);
        }
        let titles = [Field::Title, Field::BookTitle, Field::Journal, Field::Thesis, Field::Report];
        let text = titles.iter().find_map(|&field| self.text(field)).or(self.unparsed.as_deref());
        key.push_str(&text.map(word).unwrap_or_default());
        if key.is_empty() { "reference".to_string() } else { key }
    }
}

/// The first word that says something, or else the first of three characters.
fn word(title: &str) -> String {
    let words =
        title.split(|c: char| !c.is_alphanumeric()).map(plain).filter(|word| !word.is_empty());
    let mut first = None;
    for word in words.take(20) {
        let says = word.len() >= 3 && !SMALL.contains(&word.as_str());
        if says && word.contains(|c: char| c.is_ascii_alphabetic()) {
            return word;
        }
        if word.len() >= 3 {
            first.get_or_insert(word);
        }
    }
    first.unwrap_or_default()
}

/// In ASCII letters and digits, lower case.
fn plain(text: &str) -> String {
    let text: String = text.chars().take(LONGEST).collect();
    let ascii = any_ascii::any_ascii(&text);
    let kept = ascii.chars().filter(char::is_ascii_alphanumeric).map(|c| c.to_ascii_lowercase());
    kept.take(LONGEST).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_are_unique_over_a_whole_stream() {
        let mut keys = Keys::default();
        let mut all: Vec<String> = (0..60).map(|_| keys.unique("li2004")).collect();
        assert_eq!(
            [&all[0], &all[1], &all[27], &all[28]],
            ["li2004", "li2004a", "li2004aa", "li2004ab"]
        );
        // A key of its own that another's suffix made.
        all.extend(["li2004a", "li2004a", "li2004aa"].map(|key| keys.unique(key)));
        let count = all.len();
        all.sort();
        all.dedup();
        assert_eq!(all.len(), count);
    }

    #[test]
    fn keys_are_ascii_whatever_the_script() {
        assert_eq!(plain("Erdős-Rényi"), "erdosrenyi");
        assert_eq!(plain("Шевченко"), "shevchenko");
        assert!(!plain("王").is_empty());
        assert_eq!(word("On the Theory of X"), "theory");
        assert_eq!(word("1984"), "1984");
        assert_eq!(word("A&A"), "");
    }
}
