//! From the labels of tokens to the parts of a reference.

use std::ops::Range;

use rustc_hash::FxHashMap;

use bethe_tagging::labels::{Scheme, Segment, States, segments};

use super::field::Field;

/// The meaning of the names in a model's labels, and which of them contain others.
#[derive(Clone, Debug)]
pub struct Meanings {
    scheme: Scheme,
    names: FxHashMap<String, Meaning>,
}

#[derive(Clone, Copy, Debug)]
struct Meaning {
    field: Option<Field>,
    /// Whether some label has another inside.
    is_group: bool,
}

/// Tokens side by side with one meaning.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Part<'a> {
    /// The name of the innermost label.
    pub name: &'a str,
    /// What it means, if that is known.
    pub field: Option<Field>,
    /// Whether it only holds other parts together: the `and` between authors.
    pub between: bool,
    /// Whose name it is, or is part of; authors by default.
    pub people: Field,
    /// Which of these people, if labels tell.
    pub person: Option<usize>,
    /// Which list of people.
    pub group: Option<usize>,
    /// The tokens.
    pub tokens: Range<usize>,
}

impl Meanings {
    /// The meanings of a model's labels.
    pub fn of(states: &States) -> Self {
        let mut names: FxHashMap<String, Meaning> = FxHashMap::default();
        for state in 0..states.len() {
            let levels = segments(states.scheme(), &[states.label(state)]);
            for (level, segment) in levels.iter().enumerate() {
                let meaning = Meaning { field: Field::of(segment.name), is_group: false };
                let meaning = names.entry(segment.name.to_string()).or_insert(meaning);
                meaning.is_group |= level + 1 < levels.len();
            }
        }
        Self { scheme: states.scheme(), names }
    }

    /// Whether any label means a field of references.
    pub fn has_fields(&self) -> bool {
        self.names.values().any(|meaning| meaning.field.is_some())
    }

    /// The parts of a reference, in order.
    pub fn parts<'a>(&self, labels: &[&'a str]) -> Vec<Part<'a>> {
        let found = segments(self.scheme, labels);
        let parents = parents(&found);
        let mut owner: Vec<Option<usize>> = vec![None; labels.len()];
        // Inner segments come after those around them.
        for (s, segment) in found.iter().enumerate() {
            owner[segment.start..segment.end].fill(Some(s));
        }
        let mut parts: Vec<Part<'a>> = Vec::new();
        let mut before = None;
        for (t, &own) in owner.iter().enumerate() {
            match (own, parts.last_mut()) {
                (Some(_), Some(part)) if own == before => part.tokens.end = t + 1,
                (Some(s), _) => parts.push(self.part(&found, &parents, s, t)),
                (None, _) => {}
            }
            before = own;
        }
        parts
    }

    fn part<'a>(
        &self,
        segments: &[Segment<'a>],
        parents: &[Option<usize>],
        segment: usize,
        token: usize,
    ) -> Part<'a> {
        let name = segments[segment].name;
        let field = |s: usize| self.meaning(segments[s].name).field;
        let around = |wanted: fn(Field) -> bool| {
            let mut from_inside = std::iter::successors(Some(segment), |&s| parents[s]);
            from_inside.find(|&s| field(s).is_some_and(wanted))
        };
        let group = around(Field::is_people);
        Part {
            name,
            field: field(segment),
            between: self.meaning(name).is_group,
            people: group.and_then(field).unwrap_or(Field::Author),
            person: around(|field| field == Field::Person),
            group,
            tokens: token..token + 1,
        }
    }

    fn meaning(&self, name: &str) -> Meaning {
        let known = self.names.get(name).copied();
        known.unwrap_or_else(|| Meaning { field: Field::of(name), is_group: false })
    }
}

/// The segment one level up around each.
fn parents(segments: &[Segment]) -> Vec<Option<usize>> {
    let mut open: Vec<usize> = Vec::new(); // [levels]
    let mut parents = Vec::with_capacity(segments.len());
    for (s, segment) in segments.iter().enumerate() {
        open.truncate(segment.level);
        parents.push(open.last().copied());
        open.push(s);
    }
    parents
}

#[cfg(test)]
mod tests {
    use super::*;

    fn meanings(labels: &[&str]) -> Meanings {
        Meanings::of(&States::learn(Scheme::Bio, [labels]).unwrap())
    }

    #[test]
    fn hierarchical_labels_tell_people_apart() {
        let labels = [
            "B-authors:B-person:B-person-first",
            "I-authors:I-person:B-person-last",
            "I-authors",
            "I-authors:B-person:B-person-last",
            "B-venue",
            "I-venue:B-editor:B-person:B-person-last",
            "I-venue:B-date:B-year",
        ];
        let parts = meanings(&labels).parts(&labels);
        let names: Vec<&str> = parts.iter().map(|part| part.name).collect();
        let expected = [
            "person-first",
            "person-last",
            "authors",
            "person-last",
            "venue",
            "person-last",
            "year",
        ];
        assert_eq!(names, expected);
        assert_eq!(parts[0].person, parts[1].person);
        assert_ne!(parts[1].person, parts[3].person);
        assert!(parts[2].between && parts[4].between && !parts[6].between);
        assert_eq!((parts[3].people, parts[5].people), (Field::Author, Field::Editor));
    }

    #[test]
    fn flat_labels_are_parts_themselves_and_unknown_ones_are_kept() {
        let labels = ["B-author", "I-author", "O", "B-venue", "B-venue", "I-venue", "B-colour"];
        let parts = meanings(&labels).parts(&labels);
        let found: Vec<_> = parts.iter().map(|part| (part.name, part.tokens.clone())).collect();
        assert_eq!(found, [("author", 0..2), ("venue", 3..4), ("venue", 4..6), ("colour", 6..7)]);
        assert!(parts.iter().all(|part| !part.between));
        assert_eq!(parts[3].field, None);
    }
}
