//! Which table of the base model each position and each link is.

use super::sequence::Sequence;

/// Where a table of the base model lies in the chain.
#[derive(Clone, Copy, Debug)]
pub(super) enum TableAt {
    /// The node table of this position.
    Position(usize),
    /// The table between `position` and the next; `transposed` where its rows are the next's
    /// states.
    Link { position: usize, transposed: bool },
}

/// Tables `0..positions` are node tables, those after them are links.
#[derive(Clone, Debug, Default)]
pub(super) struct Numbering {
    /// Position of each variable. `[variables]`
    pub(super) position_of: Vec<usize>,
    /// Variable at each position. `[positions]`
    pub(super) variable_at: Vec<usize>,
    /// Position before each edge table, and whether the table is transposed. `[edge tables]`
    pub(super) links: Vec<(usize, bool)>,
}

impl Numbering {
    /// Numbers variables by position, and links that are not free in their order.
    pub(super) fn in_order(&mut self, sequence: &Sequence) {
        let positions = &sequence.positions;
        self.position_of.clear();
        self.position_of.extend(0..positions.len());
        self.variable_at.clear();
        self.variable_at.extend(0..positions.len());
        self.links.clear();
        let linked = positions.iter().enumerate().filter(|(_, p)| p.table.is_some());
        self.links.extend(linked.map(|(t, _)| (t, false)));
    }

    /// The state of each variable, given that of each position.
    pub(super) fn by_variable(&self, states: &[usize]) -> Vec<usize> {
        self.position_of.iter().map(|&position| states[position]).collect()
    }

    /// # Panics
    /// If there is no such table.
    pub(super) fn locate(&self, table: usize) -> TableAt {
        match self.position_of.get(table) {
            Some(&position) => TableAt::Position(position),
            None => {
                let (position, transposed) = self.links[table - self.position_of.len()];
                TableAt::Link { position, transposed }
            }
        }
    }
}
