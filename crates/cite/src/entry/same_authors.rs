//! Dashes that stand for the authors of the entry before.

use crate::entry::Entry;
use crate::people::name::People;
use crate::text::characters::is_dash;
use crate::text::unwrap::marker;

/// The authors of the entry before, which `———` in the next one stands for.
///
/// Entries are given in the order of the bibliography.
#[derive(Clone, Debug, Default)]
pub struct SameAuthors {
    authors: People,
    editors: People,
}

impl SameAuthors {
    /// Puts the authors of the entry before in place of a dash, and remembers those of this one.
    pub fn fill(&mut self, entry: &mut Entry) {
        if entry.repeats_authors {
            let named = match entry.editors.names.is_empty() {
                true => [&self.authors, &self.editors],
                false => [&self.editors, &self.authors],
            };
            let before = named.into_iter().find(|people| !people.names.is_empty());
            if let Some(before) = before.cloned() {
                entry.repeats_authors = false;
                entry.authors = before;
            }
        }
        if entry.unparsed.is_none() && !entry.repeats_authors {
            self.authors.clone_from(&entry.authors);
            self.editors.clone_from(&entry.editors);
        }
    }
}

/// Whether a line begins with a dash in place of people, behind its mark.
pub(super) fn repeats_authors(line: &str) -> bool {
    const FEWEST: usize = 2;
    let text = line.trim_start();
    let text = marker(text).map_or(text, |mark| text[mark.length..].trim_start());
    let is_of_dash = |c: char| is_dash(c) || c == '_';
    let end = text.find(|c: char| !is_of_dash(c) && c != ' ').unwrap_or(text.len());
    text[..end].chars().filter(|&c| is_of_dash(c) || c == '―').count() >= FEWEST
        && text[end..].starts_with(['.', ',', ':', '(', ';'])
        || text[..end].chars().filter(|&c| is_of_dash(c)).count() > FEWEST
}
