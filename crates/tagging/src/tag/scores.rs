//! Scores of labels that come from elsewhere, and labels that are forced.

use super::TagError;
use crate::data::Sequence;
use crate::labels::States;
use crate::model::Tagger;

/// The label that leaves the choice to the tagger when labels are forced.
const UNKNOWN: &str = "_";

impl Tagger {
    /// Forbids all states but those of the labels that the input has.
    pub(super) fn force(
        &self,
        sequence: &Sequence,
        mut scores: Vec<f64>,
    ) -> Result<Vec<f64>, TagError> {
        let path = || sequence.path().display().to_string();
        let states = &self.parts.states;
        let Some(labels) = self.parts.input.labels(sequence) else {
            return Err(TagError::NoLabels { path: path(), line: sequence.line(0) });
        };
        for (t, (row, label)) in scores.chunks_mut(states.len()).zip(&labels).enumerate() {
            if label.is_empty() {
                return Err(TagError::EmptyLabel { path: path(), line: sequence.line(t) });
            }
            if label == UNKNOWN {
                continue;
            }
            let allowed = states.matching(label);
            if allowed.is_empty() {
                let (line, found) = (sequence.line(t), label.to_string());
                return Err(TagError::UnknownLabel { path: path(), line, found });
            }
            for (state, score) in row.iter_mut().enumerate() {
                if !allowed.contains(&state) {
                    *score = f64::NEG_INFINITY;
                }
            }
        }
        Ok(scores)
    }

    /// Scores of states from scores of labels, see [`spread_scores`].
    pub(super) fn spread_scores(&self, scores: &[f64]) -> Vec<f64> {
        spread_scores(&self.parts.states, &self.parts.score_labels, scores)
    }
}

/// The largest score, so that all sums are finite.
pub const MOST_SCORE: f64 = 1e100;

/// A number that is not too large, or `-∞`.
pub(crate) fn is_score(score: f64) -> bool {
    score.abs() <= MOST_SCORE || score == f64::NEG_INFINITY
}

/// Scores of states from scores of labels: a label's score for each of its states; the labels of
/// states that have no score are forbidden.
pub(crate) fn spread_scores(states: &States, labels: &[String], scores: &[f64]) -> Vec<f64> {
    let column = |state: usize| labels.iter().position(|label| label == states.label(state));
    let columns: Vec<Option<usize>> = (0..states.len()).map(column).collect();
    let rows = scores.chunks(labels.len());
    let spread = |row: &[f64], column: &Option<usize>| column.map_or(f64::NEG_INFINITY, |c| row[c]);
    rows.flat_map(|row| columns.iter().map(move |column| spread(row, column))).collect()
}
