//! Sequences of positions, each a list of attributes with values.

use std::ops::Range;

/// The observations of many sequences in flat arrays.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Corpus {
    /// First position of each sequence, and the number of positions. `[sequences + 1]`
    sequences: Vec<usize>,
    /// First attribute of each position, and the number of attributes. `[positions + 1]`
    positions: Vec<usize>,
    /// `[attributes]`
    attributes: Vec<u32>,
    /// Empty if every value is 1. `[attributes]`
    values: Vec<f32>,
    /// Given scores of the states; empty without them. `[positions][states]`
    scores: Vec<f64>,
    /// States of each row of `scores`.
    states: usize,
}

/// One sequence of a corpus.
#[derive(Clone, Copy, Debug)]
pub struct Observations<'a> {
    /// First attribute of each position, and past the last. `[positions + 1]`
    starts: &'a [usize],
    attributes: &'a [u32],
    values: &'a [f32],
    /// Given scores, or empty. `[positions][states]`
    pub scores: &'a [f64],
}

impl Corpus {
    /// An empty corpus.
    pub fn new() -> Self {
        Self { sequences: vec![0], positions: vec![0], ..Self::default() }
    }

    /// Removes all sequences and keeps the memory.
    pub fn clear(&mut self) {
        self.sequences.truncate(1);
        self.positions.truncate(1);
        self.attributes.clear();
        self.values.clear();
        self.scores.clear();
    }

    /// Adds an attribute to the current position.
    pub fn push(&mut self, attribute: u32, value: f32) {
        if value != 1.0 || !self.values.is_empty() {
            self.values.resize(self.attributes.len(), 1.0);
            self.values.push(value);
        }
        self.attributes.push(attribute);
    }

    /// Ends the current position.
    pub fn end_position(&mut self) {
        self.positions.push(self.attributes.len());
    }

    /// Ends the current sequence.
    pub fn end_sequence(&mut self) {
        self.sequences.push(self.positions.len() - 1);
    }

    /// Adds a sequence without attributes whose scores (`[positions][states]`) are given.
    pub fn push_scores(&mut self, states: usize, scores: &[f64]) {
        assert!(states > 0 && scores.len().is_multiple_of(states), "whole rows of scores");
        self.states = states;
        self.scores.extend_from_slice(scores);
        self.positions.resize(self.positions.len() + scores.len() / states, self.attributes.len());
        self.end_sequence();
    }

    /// Adds a sequence of another corpus.
    pub fn push_sequence(&mut self, other: &Corpus, sequence: usize) {
        let observations = other.sequence(sequence);
        if other.states > 0 {
            return self.push_scores(other.states, observations.scores);
        }
        for position in 0..observations.len() {
            let attributes = observations.attributes(position).iter().enumerate();
            let values = observations.values(position);
            for (at, &attribute) in attributes {
                self.push(attribute, values.get(at).copied().unwrap_or(1.0));
            }
            self.end_position();
        }
        self.end_sequence();
    }

    /// Frees spare memory.
    pub fn shrink(&mut self) {
        self.sequences.shrink_to_fit();
        self.positions.shrink_to_fit();
        self.attributes.shrink_to_fit();
        self.values.shrink_to_fit();
        self.scores.shrink_to_fit();
    }

    /// Number of sequences.
    pub fn len(&self) -> usize {
        self.sequences.len() - 1
    }

    /// Whether there is no sequence.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Number of positions.
    pub fn positions(&self) -> usize {
        self.positions.len() - 1
    }

    /// The first position of a sequence among all positions.
    pub fn first_position(&self, sequence: usize) -> usize {
        self.sequences[sequence]
    }

    /// Number of attributes over all positions.
    pub fn attributes(&self) -> usize {
        self.attributes.len()
    }

    /// The attributes of all positions, one after the other.
    pub(crate) fn all_attributes(&self) -> &[u32] {
        &self.attributes
    }

    /// One sequence.
    pub fn sequence(&self, sequence: usize) -> Observations<'_> {
        let (first, end) = (self.sequences[sequence], self.sequences[sequence + 1]);
        let scores = match self.states {
            0 => &[],
            states => &self.scores[first * states..end * states],
        };
        Observations {
            starts: &self.positions[first..=end],
            attributes: &self.attributes,
            values: &self.values,
            scores,
        }
    }

    /// All sequences in their order.
    pub fn iter(&self) -> impl Iterator<Item = Observations<'_>> {
        (0..self.len()).map(|sequence| self.sequence(sequence))
    }

    /// Drops attributes and renumbers the others. `[attributes]`
    pub fn renumber(&mut self, numbers: &[Option<u32>]) {
        let (mut kept, mut first) = (0, 0);
        for position in 1..self.positions.len() {
            for at in first..self.positions[position] {
                let Some(number) = numbers[self.attributes[at] as usize] else { continue };
                self.attributes[kept] = number;
                if !self.values.is_empty() {
                    self.values[kept] = self.values[at];
                }
                kept += 1;
            }
            first = std::mem::replace(&mut self.positions[position], kept);
        }
        self.attributes.truncate(kept);
        self.values.truncate(kept);
    }
}

impl<'a> Observations<'a> {
    /// Number of positions.
    pub fn len(&self) -> usize {
        self.starts.len() - 1
    }

    /// Whether there is no position.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The attributes of a position.
    #[inline]
    pub fn attributes(&self, position: usize) -> &'a [u32] {
        &self.attributes[self.starts[position]..self.starts[position + 1]]
    }

    /// The range of attributes, within the corpus, of the next `count` positions or as many as
    /// there are.
    #[inline]
    pub(crate) fn range(&self, position: usize, count: usize) -> Range<usize> {
        let end = (position + count).min(self.len());
        self.starts[position]..self.starts[end]
    }

    /// The attributes of all its positions, one after the other.
    #[inline]
    pub fn all_attributes(&self) -> &'a [u32] {
        &self.attributes[self.range(0, self.len())]
    }

    /// Their values; empty if every value is 1.
    #[inline]
    pub fn values(&self, position: usize) -> &'a [f32] {
        match self.values {
            [] => &[],
            values => &values[self.starts[position]..self.starts[position + 1]],
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sequences_are_read_back_as_they_were_pushed() {
        let mut corpus = Corpus::new();
        corpus.push(3, 1.0);
        corpus.push(1, 1.0);
        corpus.end_position();
        corpus.end_position();
        corpus.end_sequence();
        corpus.push(2, 0.5);
        corpus.end_position();
        corpus.end_sequence();
        assert_eq!((corpus.len(), corpus.positions()), (2, 3));
        let (first, second) = (corpus.sequence(0), corpus.sequence(1));
        assert_eq!((first.attributes(0), first.values(0)), (&[3, 1][..], &[1.0, 1.0][..]));
        assert_eq!((first.len(), first.attributes(1)), (2, &[][..]));
        assert_eq!((first.range(1, 9), second.range(0, 1)), (2..2, 2..3));
        assert_eq!((first.all_attributes(), second.all_attributes()), (&[3, 1][..], &[2][..]));
        assert_eq!((second.attributes(0), second.values(0)), (&[2][..], &[0.5][..]));
        corpus.renumber(&[None, Some(0), Some(1), None]);
        let (first, second) = (corpus.sequence(0), corpus.sequence(1));
        assert_eq!((first.attributes(0), second.attributes(0)), (&[0][..], &[1][..]));
        assert_eq!(second.values(0), &[0.5]);
    }
}
