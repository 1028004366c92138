//! How well predicted labels agree with the true ones.
//!
//! A predicted segment is correct if the gold labels have the same tokens under the same name.
//! Precision is correct / predicted, recall is correct / gold, F1 = 2 correct / (predicted + gold);
//! if the denominator is 0, so is the ratio. Segments are those of the last tags, as conlleval
//! counts them ([`leaf_segments`]); for hierarchical labels, those of every level ([`segments`])
//! are counted too. Tokens are compared in [`canonical`] form: an equivalent label is right.

mod bootstrap;
mod counts;
mod report;
mod unknown;

use std::collections::{BTreeMap, HashSet};

pub use bootstrap::paired_bootstrap;
pub use counts::SequenceCounts;
pub use report::{LabelReport, Report};
pub use unknown::{OtherLabels, UnknownLabels};

use super::labels::{Scheme, Segment, canonical, leaf_segments, segments};

/// Counts of right labels and segments over sequences.
#[derive(Clone, Debug, PartialEq)]
pub struct Score {
    scheme: Scheme,
    tokens: usize,
    right_tokens: usize,
    right_sequences: usize,
    per_sequence: Vec<SequenceCounts>,
    per_label: BTreeMap<String, SequenceCounts>,
    all_per_sequence: Vec<SequenceCounts>,
    hierarchical: bool,
}

impl Score {
    /// Nothing counted yet.
    pub fn new(scheme: Scheme) -> Self {
        Self {
            scheme,
            tokens: 0,
            right_tokens: 0,
            right_sequences: 0,
            per_sequence: Vec::new(),
            per_label: BTreeMap::new(),
            all_per_sequence: Vec::new(),
            hierarchical: false,
        }
    }

    /// Counts one sequence.
    ///
    /// # Panics
    ///
    /// If there is not one predicted label per gold label.
    pub fn add(&mut self, gold: &[&str], predicted: &[&str]) {
        assert_eq!(gold.len(), predicted.len(), "predicted labels and gold labels");
        self.add_tokens(gold, predicted);
        self.add_leaves(gold, predicted);
        let (gold, predicted) = (segments(self.scheme, gold), segments(self.scheme, predicted));
        self.hierarchical |= gold.iter().chain(&predicted).any(|segment| segment.level > 0);
        self.all_per_sequence.push(SequenceCounts {
            correct: common(&gold, &predicted).count(),
            predicted: predicted.len(),
            gold: gold.len(),
        });
    }

    fn add_tokens(&mut self, gold: &[&str], predicted: &[&str]) {
        let pairs = canonical(self.scheme, gold).into_iter().zip(canonical(self.scheme, predicted));
        let right = pairs.filter(|(gold, predicted)| gold.label == predicted.label).count();
        self.tokens += gold.len();
        self.right_tokens += right;
        self.right_sequences += usize::from(right == gold.len());
    }

    fn add_leaves(&mut self, gold: &[&str], predicted: &[&str]) {
        let gold = leaf_segments(self.scheme, gold);
        let predicted = leaf_segments(self.scheme, predicted);
        let mut correct = 0;
        for segment in common(&gold, &predicted) {
            self.of_label(segment.name).correct += 1;
            correct += 1;
        }
        gold.iter().for_each(|segment| self.of_label(segment.name).gold += 1);
        predicted.iter().for_each(|segment| self.of_label(segment.name).predicted += 1);
        let (predicted, gold) = (predicted.len(), gold.len());
        self.per_sequence.push(SequenceCounts { correct, predicted, gold });
    }

    fn of_label(&mut self, name: &str) -> &mut SequenceCounts {
        if !self.per_label.contains_key(name) {
            self.per_label.insert(name.to_string(), SequenceCounts::default());
        }
        self.per_label.get_mut(name).expect("it was just inserted")
    }

    /// Adds the sequences of another score.
    pub fn extend(&mut self, other: Self) {
        self.tokens += other.tokens;
        self.right_tokens += other.right_tokens;
        self.right_sequences += other.right_sequences;
        self.per_sequence.extend(other.per_sequence);
        self.all_per_sequence.extend(other.all_per_sequence);
        self.hierarchical |= other.hierarchical;
        for (name, counts) in other.per_label {
            *self.per_label.entry(name).or_default() += counts;
        }
    }

    /// The number of tokens.
    pub fn tokens(&self) -> usize {
        self.tokens
    }

    /// The share of tokens whose label is right.
    pub fn token_accuracy(&self) -> f64 {
        counts::ratio(self.right_tokens, self.tokens)
    }

    /// The share of sequences whose labels are all right.
    pub fn sequence_accuracy(&self) -> f64 {
        counts::ratio(self.right_sequences, self.per_sequence.len())
    }

    /// The segments of the last tags, over all sequences.
    pub fn leaf(&self) -> SequenceCounts {
        self.per_sequence.iter().copied().sum()
    }

    /// The segments of every level; the same as [`leaf`](Self::leaf) for flat labels.
    pub fn all(&self) -> SequenceCounts {
        self.all_per_sequence.iter().copied().sum()
    }

    /// Whether any label was hierarchical.
    pub fn hierarchical(&self) -> bool {
        self.hierarchical
    }

    /// The segments of the last tags, by name.
    pub fn per_label(&self) -> &BTreeMap<String, SequenceCounts> {
        &self.per_label
    }

    /// The segments of the last tags, by sequence, in the order in which they were added.
    pub fn per_sequence(&self) -> &[SequenceCounts] {
        &self.per_sequence
    }

    /// The segments of every level, by sequence.
    pub fn all_per_sequence(&self) -> &[SequenceCounts] {
        &self.all_per_sequence
    }
}

/// The predicted segments that are correct.
fn common<'a>(
    gold: &[Segment<'a>],
    predicted: &[Segment<'a>],
) -> impl Iterator<Item = Segment<'a>> {
    let gold: HashSet<Segment<'a>> = gold.iter().copied().collect();
    predicted.iter().copied().filter(move |segment| gold.contains(segment))
}
