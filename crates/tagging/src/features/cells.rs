/// A sequence as a table of text: one row per position, one cell per column.
pub trait Cells {
    /// The number of positions.
    fn len(&self) -> usize;

    /// The text at a position below [`len`](Self::len), `None` where the row has no such column.
    ///
    /// The answer must stay the same while a sequence is visited; it may be asked for repeatedly.
    fn cell(&self, position: usize, column: usize) -> Option<&str>;

    /// Whether there are no positions.
    fn is_empty(&self) -> bool {
        self.len() == 0
    }
}

impl<Text: AsRef<str>> Cells for [Vec<Text>] {
    fn len(&self) -> usize {
        <[Vec<Text>]>::len(self)
    }

    fn cell(&self, position: usize, column: usize) -> Option<&str> {
        self[position].get(column).map(AsRef::as_ref)
    }
}

impl<Text: AsRef<str>> Cells for Vec<Vec<Text>> {
    fn len(&self) -> usize {
        Vec::len(self)
    }

    fn cell(&self, position: usize, column: usize) -> Option<&str> {
        self.as_slice().cell(position, column)
    }
}
