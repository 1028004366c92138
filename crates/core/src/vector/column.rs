//! Vectors that often hold one value throughout.

use std::ops::{Deref, Range};

use super::{Aligned, Piece};

/// Numbers, one a row; while all are the same, passes read one piece of them again and again, which
/// stays in the cache.
#[derive(Clone, Debug, Default)]
pub(crate) struct Column {
    values: Aligned,
    /// The first value, repeated.
    repeated: Box<Piece>,
    /// Whether there is another.
    varies: bool,
}

impl Column {
    /// Adds one at the end.
    pub fn push(&mut self, value: f64) {
        if self.values.is_empty() {
            self.repeated.0.fill(value);
            self.varies = false;
        }
        self.varies |= value != self.repeated.0[0];
        self.values.push(value);
    }

    /// Replaces all by what `map` makes of another column.
    pub fn refill(&mut self, other: &Self, map: impl Fn(f64) -> f64) {
        if other.varies {
            self.values.clear();
            other.iter().for_each(|&value| self.push(map(value)));
        } else {
            let value = map(other.repeated.0[0]);
            self.values.reset(other.len(), value);
            self.repeated.0.fill(value);
            self.varies = false;
        }
    }

    /// The values of the rows of a piece.
    #[inline(always)]
    pub fn piece(&self, rows: Range<usize>) -> &[f64] {
        if self.varies { &self.values[rows] } else { &self.repeated.0[..rows.len()] }
    }
}

impl Deref for Column {
    type Target = [f64];

    fn deref(&self) -> &[f64] {
        &self.values
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_column_reads_as_what_was_put_in() {
        for values in [vec![], vec![2.0; 300], (0..300).map(|i| f64::from(i / 299)).collect()] {
            let (mut column, mut copy) = (Column::default(), Column::default());
            [1.0, 3.0].into_iter().for_each(|value| copy.push(value));
            values.iter().for_each(|&value| column.push(value));
            copy.refill(&column, |value| value);
            for column in [&column, &copy] {
                assert_eq!(column[..], values);
                for start in (0..values.len()).step_by(super::super::PIECE) {
                    let rows = start..values.len().min(start + super::super::PIECE);
                    assert_eq!(column.piece(rows.clone()), &values[rows]);
                }
            }
        }
    }
}
