use std::iter::Sum;
use std::ops::AddAssign;

/// Segments of one sequence, or of several: sums of these are again such counts.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct SequenceCounts {
    /// Predicted, and in the gold labels.
    pub correct: usize,
    /// Segments in the predicted labels.
    pub predicted: usize,
    /// Segments in the gold labels.
    pub gold: usize,
}

impl SequenceCounts {
    /// The share of the predicted segments that are correct.
    pub fn precision(self) -> f64 {
        ratio(self.correct, self.predicted)
    }

    /// The share of the gold segments that were found.
    pub fn recall(self) -> f64 {
        ratio(self.correct, self.gold)
    }

    /// The harmonic mean of the two.
    pub fn f1(self) -> f64 {
        ratio(2 * self.correct, self.predicted + self.gold)
    }
}

impl AddAssign for SequenceCounts {
    fn add_assign(&mut self, other: Self) {
        self.correct += other.correct;
        self.predicted += other.predicted;
        self.gold += other.gold;
    }
}

impl Sum for SequenceCounts {
    fn sum<I: Iterator<Item = Self>>(counts: I) -> Self {
        counts.fold(Self::default(), |mut total, count| {
            total += count;
            total
        })
    }
}

pub(super) fn ratio(part: usize, whole: usize) -> f64 {
    if whole == 0 { 0.0 } else { part as f64 / whole as f64 }
}
