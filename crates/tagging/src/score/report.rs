use std::collections::BTreeMap;

use serde::Serialize;

use super::{Score, SequenceCounts};

/// A score as `bethe evaluate --json` prints it. Every ratio is between 0 and 1.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Report {
    /// The number of tokens.
    pub tokens: usize,
    /// The share of tokens whose label is right.
    pub token_accuracy: f64,
    /// The share of sequences without a mistake.
    pub sequence_accuracy: f64,
    /// Precision of the segments of the last tags.
    pub precision: f64,
    /// Recall of the segments of the last tags.
    pub recall: f64,
    /// F1 of the segments of the last tags.
    pub f1: f64,
    /// Of the segments of every level, if labels are hierarchical.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub all_f1: Option<f64>,
    /// The segments of the last tags, by name.
    pub per_label: BTreeMap<String, LabelReport>,
}

/// The scores of one kind of segment.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct LabelReport {
    /// The share of the predicted segments that are correct.
    pub precision: f64,
    /// The share of the gold segments that were found.
    pub recall: f64,
    /// The harmonic mean of the two.
    pub f1: f64,
    /// The number of gold segments.
    pub support: usize,
}

impl Score {
    /// The score in the form in which it is printed.
    pub fn report(&self) -> Report {
        let leaf = self.leaf();
        let of_label = |(name, &counts): (&String, &SequenceCounts)| {
            let (precision, recall) = (counts.precision(), counts.recall());
            let report = LabelReport { precision, recall, f1: counts.f1(), support: counts.gold };
            (name.clone(), report)
        };
        Report {
            tokens: self.tokens(),
            token_accuracy: self.token_accuracy(),
            sequence_accuracy: self.sequence_accuracy(),
            precision: leaf.precision(),
            recall: leaf.recall(),
            f1: leaf.f1(),
            all_f1: self.hierarchical().then(|| self.all().f1()),
            per_label: self.per_label().iter().map(of_label).collect(),
        }
    }
}
