//! Lists of words by name and language.

use std::collections::BTreeMap;

/// All lists.
pub struct Words {
    lists: BTreeMap<String, Vec<String>>,
}

impl Words {
    /// The lists of this program.
    pub fn new() -> Self {
        let lines = include_str!("words.txt").lines().filter(|line| !line.starts_with('#'));
        let list = |line: &str| {
            let (name, words) = line.split_once(": ")?;
            // Entries of several words are separated by bars.
            let separator = if words.contains('|') { '|' } else { ' ' };
            Some((name.to_string(), words.split(separator).map(str::to_string).collect()))
        };
        Self { lists: lines.filter_map(list).collect() }
    }

    /// A list in a language, else the one of all languages, else the English one.
    pub fn list(&self, name: &str, language: &str) -> &[String] {
        let names = [format!("{name}.{language}"), name.to_string(), format!("{name}.en")];
        names.iter().find_map(|name| self.lists.get(name)).expect("a known list")
    }
}
