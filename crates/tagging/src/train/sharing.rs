//! What labels have in common, and so share weights for.
//!
//! Of hierarchical labels there are many, each with little data of its own: a year is a year
//! whether it stands alone, opens the venue, or goes on in it. So a weight of
//! `I-venue:B-date:B-year` is the sum of four: that of the label itself, of its names
//! `venue:date:year`, of its last tag `B-year` and of its first tag `I-venue`.

use std::collections::HashMap;
use std::hash::Hash;

use bethe_learn::crf::AttributeStates;

use super::super::labels::States;

/// The parts of labels.
pub(super) struct LabelParts {
    /// The parts of each state, one of each kind.
    pub parts: Vec<Vec<u16>>,
    /// The last tag of each state, in numbers: an attribute has weights for all states of a last
    /// tag that it was seen with.
    last: Vec<u16>,
}

impl LabelParts {
    pub fn new(states: &States) -> Self {
        let all = || 0..states.len();
        let label = classes(all());
        let names =
            classes(all().map(|s| states.tags(s).map(|(_, name)| name).collect::<Vec<_>>()));
        let last = classes(all().map(|state| states.tags(state).next_back()));
        let first = classes(all().map(|state| states.tags(state).next()));
        let mut kinds: Vec<&[u16]> = Vec::new();
        for kind in [&label, &names, &last, &first] {
            // Flat labels are their own first and last tags.
            if !kinds.contains(&kind.as_slice()) {
                kinds.push(kind);
            }
        }
        // Numbers of one kind follow those of the one before.
        let mut offset = 0;
        let mut parts = vec![Vec::new(); states.len()];
        for kind in kinds {
            parts.iter_mut().zip(kind).for_each(|(parts, class)| parts.push(offset + class));
            offset += kind.iter().max().map_or(0, |most| most + 1);
        }
        Self { parts, last }
    }

    /// The states of each attribute, and all others with the same last tag.
    pub fn widen(&self, seen: &AttributeStates) -> AttributeStates {
        let ends = Vec::with_capacity(seen.ends.len());
        let mut wide = AttributeStates { ends, states: Vec::new() };
        let mut reached = vec![false; self.last.len()];
        for own in seen.lists() {
            reached.fill(false);
            own.iter().for_each(|&state| reached[self.last(state)] = true);
            let states = 0..self.last.len() as u16;
            wide.states.extend(states.filter(|&state| reached[self.last(state)]));
            wide.ends.push(wide.states.len() as u32);
        }
        wide
    }

    fn last(&self, state: u16) -> usize {
        usize::from(self.last[usize::from(state)])
    }
}

/// A number for each value, the same for equal ones, in order of first appearance.
fn classes<T: Eq + Hash>(values: impl Iterator<Item = T>) -> Vec<u16> {
    let mut numbers = HashMap::new();
    let number = |value| {
        let next = numbers.len() as u16;
        *numbers.entry(value).or_insert(next)
    };
    values.map(number).collect()
}

#[cfg(test)]
mod tests {
    use super::super::super::labels::Scheme;
    use super::*;

    fn parts(labels: &[&str]) -> LabelParts {
        LabelParts::new(&States::learn(Scheme::Bio, [labels]).unwrap())
    }

    #[test]
    fn hierarchical_labels_have_four_parts() {
        let venue = ["B-venue:B-date:B-year", "I-venue:I-date:I-year", "I-venue:B-pages"];
        let labels = [&["B-date:B-year"], &venue[..], &["O"]].concat();
        let LabelParts { parts, last } = parts(&labels);
        // Labels 0–4; names 5–8; last tags 9–12; first tags 13–16.
        assert_eq!(parts[0], [0, 5, 9, 13]);
        assert_eq!(parts[1], [1, 6, 9, 14]);
        assert_eq!(parts[2], [2, 6, 10, 15]);
        assert_eq!(parts[3], [3, 7, 11, 15]);
        assert_eq!(parts[4], [4, 8, 12, 16]);
        assert_eq!(last, [0, 0, 1, 2, 3]);
    }

    #[test]
    fn flat_labels_share_their_names_only() {
        let LabelParts { parts, .. } = parts(&["B-title", "I-title", "B-year", "O"]);
        assert_eq!(parts, [[0, 4], [1, 4], [2, 5], [3, 6]]);
    }

    #[test]
    fn attributes_reach_all_labels_of_a_last_tag() {
        let parts = parts(&["B-date:B-year", "B-venue:B-date:B-year", "O"]);
        let seen = AttributeStates { ends: vec![1, 1, 2], states: vec![1, 2] };
        let wide = AttributeStates { ends: vec![2, 2, 3], states: vec![0, 1, 2] };
        assert_eq!(parts.widen(&seen), wide);
    }
}
