//! Passes that take long look at a token now and then.

use crate::cancel::Cancel;

/// This many transitions are read in a few milliseconds, or in some tens of them in the log domain.
pub(super) const MOST_CELLS: usize = 1 << 21;

/// Looks at a token once in [`MOST_CELLS`].
pub(super) struct Watch<'a> {
    cancel: &'a Cancel,
    cells: usize,
}

impl<'a> Watch<'a> {
    pub(super) fn new(cancel: &'a Cancel) -> Self {
        Self { cancel, cells: 0 }
    }

    /// Whether to stop before this much work.
    #[inline(always)]
    pub(super) fn stops_before(&mut self, cells: usize) -> bool {
        self.cells += cells;
        self.cells >= MOST_CELLS && self.looks()
    }

    #[cold]
    fn looks(&mut self) -> bool {
        self.cells = 0;
        self.cancel.is_cancelled()
    }
}
