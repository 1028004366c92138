//! References that both sets have.

use std::collections::HashSet;

use super::data::{Reference, bare};

/// A shorter title may be that of two works.
const LEAST_TITLE: usize = 20;

/// Without references that came before: the same letters, or the same long title and year.
pub fn without_duplicates(references: Vec<Reference>) -> Vec<Reference> {
    let mut seen: HashSet<String> = HashSet::new();
    let is_new = |reference: &Reference| {
        let whole = bare(&reference.tokens().collect::<String>());
        let title = reference.bare("title");
        let work = (title.len() >= LEAST_TITLE)
            .then(|| format!("{title} {} {}", year(reference), reference.bare("pages")));
        // Both are remembered, whichever was seen.
        let is_new = seen.insert(whole);
        work.is_none_or(|work| seen.insert(work)) && is_new
    };
    references.into_iter().filter(is_new).collect()
}

fn year(reference: &Reference) -> String {
    let date = reference.bare("date");
    date.chars().filter(char::is_ascii_digit).take(4).collect()
}
