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
    let mut parts = text.split(',');
    let is_kind = |part: &str| says_thesis(part) && part.split_whitespace().count() <= MOST_WORDS;
    parts.next().is_some_and(is_kind)
}
