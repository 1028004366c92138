//! What the energies read.
//!
//! A support is a list of blocks. A block stands for one table of the base model, or for the *sum*
//! of several tables of equal size (the counts of labels over all positions, say). Tilts, gradients
//! and the marginals that an oracle returns are flat vectors over the blocks: a block's tilt is
//! added to each of its tables, and its marginals are the sum over them. What no energy reads has
//! no coordinate and costs nothing in a solver's loop.

use rustc_hash::FxHashSet;

/// A table, or the sum of several tables of one size.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Block {
    /// Indices of the tables that share this block, ascending; no table is in two blocks.
    pub tables: Vec<usize>,
    /// First coordinate.
    pub start: usize,
    /// Number of coordinates: the cells of each of the tables.
    pub len: usize,
}

impl Block {
    /// The block's coordinates in a support vector.
    pub fn range(&self) -> std::ops::Range<usize> {
        self.start..self.start + self.len
    }
}

/// The blocks that energies read, and their layout in one flat vector.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Support {
    blocks: Vec<Block>,
    len: usize,
    tables: FxHashSet<usize>,
}

impl Support {
    /// An empty support: no energy, no tilt.
    pub fn new() -> Self {
        Self::default()
    }

    /// Adds a block for the sum of `tables`, each with `cells` cells, and returns its index.
    ///
    /// # Panics
    /// If `tables` is empty or holds a table that is already in the support.
    pub fn add(&mut self, mut tables: Vec<usize>, cells: usize) -> usize {
        assert!(!tables.is_empty(), "a block needs a table");
        tables.sort_unstable();
        for &table in &tables {
            assert!(self.tables.insert(table), "table {table} is in two blocks");
        }
        self.blocks.push(Block { tables, start: self.len, len: cells });
        self.len += cells;
        self.blocks.len() - 1
    }

    /// The blocks in the order of their coordinates.
    pub fn blocks(&self) -> &[Block] {
        &self.blocks
    }

    /// Number of coordinates.
    pub fn len(&self) -> usize {
        self.len
    }

    /// Whether there is no coordinate.
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// The block each table belongs to, if any. `[tables]`
    pub fn block_of_table(&self, tables: usize) -> Vec<Option<usize>> {
        let mut block_of = vec![None; tables];
        for (index, block) in self.blocks.iter().enumerate() {
            for &table in &block.tables {
                block_of[table] = Some(index);
            }
        }
        block_of
    }
}
