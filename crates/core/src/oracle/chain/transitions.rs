use std::borrow::Cow;
use std::ops::Range;

use super::table::Extent;
use crate::model::ModelError;

/// Log-potentials of the allowed transitions between two positions, row by row. Memory follows
/// their number, not the number of pairs of states.
#[derive(Clone, Debug, PartialEq)]
pub struct Transitions {
    /// States after.
    to: usize,
    /// First entry of each row, and the end of the last. `[from + 1]`
    starts: Vec<usize>,
    /// States after, ascending within a row. `[entries]`
    columns: Vec<u32>,
    /// `[entries]`
    log_potentials: Vec<f64>,
}

impl Transitions {
    /// An empty table with `to` states after.
    pub fn new(to: usize) -> Self {
        Self { to, starts: vec![0], columns: Vec::new(), log_potentials: Vec::new() }
    }

    /// The allowed entries of row-major log-potentials, `[from][to]`.
    pub(super) fn of_dense(to: usize, log_potentials: &[f64]) -> Self {
        let mut transitions = Self::new(to);
        for row in log_potentials.chunks(to) {
            let entries = row.iter().copied().enumerate();
            transitions.push_row(entries.filter(|(_, value)| *value > f64::NEG_INFINITY));
        }
        transitions
    }

    /// Adds a state before, with the states that may follow it and their log-potentials; all others
    /// are forbidden.
    ///
    /// # Panics
    /// If the states that follow are not ascending or out of range.
    pub fn push_row(&mut self, entries: impl IntoIterator<Item = (usize, f64)>) {
        let first = self.columns.len();
        for (column, log_potential) in entries {
            let ascending = self.columns[first..].last().is_none_or(|&last| column > last as usize);
            assert!(ascending && column < self.to, "state {column} after, of {}", self.to);
            self.columns.push(column as u32);
            self.log_potentials.push(log_potential);
        }
        self.starts.push(self.columns.len());
    }

    /// Numbers of states before and after.
    pub fn shape(&self) -> (usize, usize) {
        (self.starts.len() - 1, self.to)
    }

    /// Number of allowed transitions.
    pub fn len(&self) -> usize {
        self.columns.len()
    }

    /// Whether no transition is allowed.
    pub fn is_empty(&self) -> bool {
        self.columns.is_empty()
    }

    /// The states that may follow one, ascending, and their log-potentials.
    pub fn row(&self, from: usize) -> (&[u32], &[f64]) {
        let entries = self.entries(from);
        (&self.columns[entries.clone()], &self.log_potentials[entries])
    }

    /// The log-potentials of a row, to change them.
    pub fn row_mut(&mut self, from: usize) -> &mut [f64] {
        let entries = self.entries(from);
        &mut self.log_potentials[entries]
    }

    /// The index of a transition among all allowed ones, row by row; `None` if it is forbidden.
    pub fn find(&self, from: usize, to: usize) -> Option<usize> {
        let place = self.row(from).0.binary_search(&(to as u32)).ok()?;
        Some(self.starts[from] + place)
    }

    pub(super) fn at(&self, from: usize, to: usize) -> f64 {
        self.find(from, to).map_or(f64::NEG_INFINITY, |place| self.log_potentials[place])
    }

    /// All log-potentials, row-major. `[from][to]`
    pub(super) fn dense(&self) -> Cow<'_, [f64]> {
        let (from, to) = self.shape();
        if self.len() == from * to {
            return Cow::Borrowed(&self.log_potentials);
        }
        let mut dense = vec![f64::NEG_INFINITY; from * to];
        for (from, row) in dense.chunks_mut(to).enumerate() {
            let (columns, log_potentials) = self.row(from);
            columns.iter().zip(log_potentials).for_each(|(&to, &value)| row[to as usize] = value);
        }
        Cow::Owned(dense)
    }

    /// The range of the log-potentials.
    pub(super) fn extent(&self) -> Result<Extent, ModelError> {
        let mut extent = Extent::of(&self.log_potentials)?;
        let (from, to) = self.shape();
        extent.forbids |= self.len() < from * to;
        Ok(extent)
    }

    /// The states before each state after. `[to]`
    pub(super) fn transposed(&self) -> Lists {
        let mut starts = vec![0; self.to + 1];
        self.columns.iter().for_each(|&column| starts[column as usize + 1] += 1);
        for column in 0..self.to {
            starts[column + 1] += starts[column];
        }
        let mut next = starts.clone();
        let mut rows = vec![0; self.columns.len()];
        for from in 0..self.shape().0 {
            for &column in self.row(from).0 {
                rows[next[column as usize]] = from as u32;
                next[column as usize] += 1;
            }
        }
        Lists { starts, members: rows }
    }

    /// The states after each state before. `[from]`
    pub(super) fn lists(&self) -> Lists {
        Lists { starts: self.starts.clone(), members: self.columns.clone() }
    }

    fn entries(&self, from: usize) -> Range<usize> {
        self.starts[from]..self.starts[from + 1]
    }
}

/// Ascending numbers, in lists.
pub(super) struct Lists {
    starts: Vec<usize>,
    members: Vec<u32>,
}

impl Lists {
    pub(super) fn list(&self, index: usize) -> &[u32] {
        &self.members[self.starts[index]..self.starts[index + 1]]
    }
}
