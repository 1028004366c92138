//! Theses that labels take for something else.

use super::field::Field;
use super::kind::says_thesis;
use crate::entry::Entry;

impl Entry {
    /// A container, publisher or institution that says thesis is one, and its other parts are the
    /// school: `Ph.D. thesis, Leiden University`.
    pub(super) fn find_thesis(&mut self) {
        if self.texts.contains_key(&Field::Thesis) {
            return;
        }
        let fields = [
            Field::Container,
            Field::BookTitle,
            Field::Journal,
            Field::Publisher,
            Field::Institution,
            Field::Edition,
            Field::Series,
        ];
        let is_thesis = |field: &&Field| self.text(**field).is_some_and(is_thesis_of_school);
        let Some(&field) = fields.iter().find(is_thesis) else { return };
        let text = self.texts.remove(&field).unwrap_or_default();
        let (theses, school): (Vec<&str>, Vec<&str>) =
            text.split(',').map(str::trim).partition(|part| says_thesis(part));
        self.texts.insert(Field::Thesis, theses.join(", "));
        if !school.is_empty() {
            let own = self.texts.entry(Field::Institution).or_default();
            super::assembly::append(own, &school.join(", "), ", ");
        }
    }
}

/// Whether a text is the kind of a thesis, perhaps with its school, and not a title about theses.
fn is_thesis_of_school(text: &str) -> bool {
    const MOST_WORDS: usize = 5;
    let Some(first) = text.split(',').next() else { return false };
    let mut words: Vec<&str> = first.split_whitespace().collect();
    let count = words.len();
    // `Mémoire de maîtrise`, but not `Les lieux de mémoire`.
    let mut at = 0..;
    words.retain(|word| at.next() == Some(0) || word.to_lowercase() != "mémoire");
    says_thesis(&words.join(" ")) && count <= MOST_WORDS
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_memory_is_no_thesis() {
        for text in
            ["Mémoire de maîtrise, Université Laval", "Ph.D. thesis, MIT", "thèse de doctorat"]
        {
            assert!(is_thesis_of_school(text), "{text}");
        }
        for text in ["Les lieux de mémoire", "Histoire et mémoire", "", "Journal of Ecology"] {
            assert!(!is_thesis_of_school(text), "{text}");
        }
    }
}
