//! How sure the fields of an entry are.

use std::collections::BTreeMap;

use bethe_tagging::Tagged;

use super::field::Field;
use super::parts::{Meanings, Part};
use crate::entry::Entry;
use crate::numbers::access::is_date;
use crate::people::labelled::is_about_people;

/// Below this, an entry is worth checking.
pub const LOW_CONFIDENCE: f64 = 0.5;

/// Probabilities that fields were recognised, from those of the segments that they were made of.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Confidence {
    /// The least of the fields'.
    pub entry: f64,
    /// Of each field that a label gave; the date is under [`Field::Year`]. A field made of several
    /// segments is as sure as the least sure of them.
    pub fields: BTreeMap<Field, f64>,
}

impl Confidence {
    /// Whether the entry is worth checking.
    pub fn is_low(&self) -> bool {
        self.entry < LOW_CONFIDENCE
    }

    /// The fields that make it so, the least sure first.
    pub fn doubtful(&self) -> Vec<(Field, f64)> {
        let mut low: Vec<(Field, f64)> = self
            .fields
            .iter()
            .map(|(&field, &p)| (field, p))
            .filter(|&(_, p)| p < LOW_CONFIDENCE)
            .collect();
        low.sort_by(|a, b| a.1.total_cmp(&b.1));
        low
    }

    /// Of an entry and the labels it was made of; `None` if the probabilities of segments were not
    /// asked for.
    pub(crate) fn of(
        meanings: &Meanings,
        labels: &[&str],
        tagged: &Tagged,
        entry: &Entry,
    ) -> Option<Self> {
        let segments = tagged.segments.first()?;
        let mut labelled: BTreeMap<Field, f64> = BTreeMap::new();
        for part in meanings.parts(labels) {
            let Some(field) = field_of(&part) else { continue };
            // Both are in the order of the tokens.
            let first = segments.partition_point(|&(_, end, _)| end <= part.tokens.start);
            let own = segments[first..].iter().take_while(|(first, ..)| *first < part.tokens.end);
            let least = own.map(|&(_, _, probability)| probability).fold(1.0, f64::min);
            let known = labelled.entry(field).or_insert(1.0);
            *known = known.min(least);
        }
        let of_field = |field: Field| {
            let mut from = std::iter::once(field).chain(sources(field).iter().copied());
            Some((field, *from.find_map(|source| labelled.get(&source))?))
        };
        let fields: BTreeMap<Field, f64> = known(entry).into_iter().filter_map(of_field).collect();
        let least = fields.values().copied().fold(1.0, f64::min);
        let is_read = entry.unparsed.is_none() && !fields.is_empty();
        Some(Self { entry: if is_read { least } else { 0.0 }, fields })
    }
}

fn field_of(part: &Part) -> Option<Field> {
    match part.field? {
        field if is_about_people(part, field) => Some(part.people),
        _ if part.between => None,
        _ if is_date(part.field) => Some(Field::Year),
        field => Some(field),
    }
}

/// The fields that an entry has.
fn known(entry: &Entry) -> Vec<Field> {
    let people = [Field::Author, Field::Editor, Field::Translator];
    let people = people.into_iter().filter(|&field| !entry.people(field).names.is_empty());
    let year = entry.date.year.map(|_| Field::Year);
    let texts = entry.texts.keys().copied().filter(|&field| field != Field::Marker);
    people.chain(year).chain(texts).collect()
}

/// The labels that a field may come from, other than its own.
fn sources(field: Field) -> &'static [Field] {
    match field {
        Field::Journal | Field::BookTitle => &[Field::Container, Field::Publisher],
        Field::Title => &[Field::Container, Field::BookTitle],
        Field::Series => &[Field::Container, Field::BookTitle],
        Field::Number => &[Field::Volume, Field::Report, Field::Genre],
        Field::Pages => &[Field::Volume],
        Field::PageTotal => &[Field::Pages, Field::Volume],
        Field::Year => &[Field::Volume],
        Field::Institution => &[Field::Publisher],
        Field::Thesis => &[Field::Container, Field::Publisher, Field::BookTitle],
        Field::Isbn => &[Field::Note, Field::Identifier],
        _ => &[],
    }
}
