//! How the entries of a transition table lie in memory.
//!
//! A product `y_j = Σ_i x_i e_ij` keeps a panel of `y` in registers and streams the table once, so
//! entries lie in the order in which that loop reads them: panels of up to eight vectors of
//! columns, and within a panel row after row. Sparse layouts have panels of one vector. If the
//! machine can permute vectors, each lane [picks](super::picks) rows of its own; otherwise a panel
//! leaves out rows in which none of its columns has an allowed transition.

use std::ops::Range;

use super::aligned::Aligned;
use super::picks::{self, Pick};
use super::transitions::Lists;

/// Vectors of accumulators that fit the registers of every supported instruction set.
pub(super) const WIDEST_PANEL: usize = 8;

/// Time per stored vector, sparse over dense, if the dense table fits the innermost cache and if it
/// does not. Measured at the density where both take equally long: blocks with AVX2, picks with
/// AVX-512.
const BLOCK_PRICE: [f64; 2] = [2.5, 1.6];
const PICK_PRICE: [f64; 2] = [2.9, 2.1];
/// Bytes of a table that fit the innermost cache next to the messages.
const INNERMOST_CACHE: usize = 40 << 10;

/// Where each entry of a `[rows][columns]` table is stored.
#[derive(Clone, Debug)]
pub(super) struct Layout {
    pub(super) rows: usize,
    pub(super) columns: usize,
    /// Doubles per vector on this machine.
    pub(super) lanes: usize,
    pub(super) storage: Storage,
}

#[derive(Clone, Debug)]
pub(super) enum Storage {
    Dense,
    /// The rows of a panel that have an entry.
    Blocks {
        /// First group of each panel, and the number of groups. `[panels + 1]`
        starts: Vec<u32>,
        /// Rows of the blocks, ascending within a panel. The last group of a panel is filled up
        /// with its last row; the extra blocks are zero. `[groups]`
        groups: Vec<Group>,
    },
    /// For each lane of a panel the rows that have an entry.
    Picks {
        /// First pick of each panel, and the number of picks. `[panels + 1]`
        starts: Vec<u32>,
        picks: Vec<Pick>,
    },
}

/// Rows of four successive blocks, 16 bits each, in one word: a quarter of the loads.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Group(u64);

impl Group {
    /// Blocks in a group.
    pub(super) const BLOCKS: usize = 4;
    /// Most rows for 16 bits.
    const MOST_ROWS: usize = 1 << 16;

    fn new(rows: [usize; Self::BLOCKS]) -> Self {
        Self(rows.iter().rev().fold(0, |word, &row| word << 16 | row as u64))
    }

    #[inline(always)]
    pub(super) fn rows(self) -> [usize; Self::BLOCKS] {
        let row = |block: usize| (self.0 >> (16 * block)) as usize & (Self::MOST_ROWS - 1);
        [row(0), row(1), row(2), row(3)]
    }
}

/// Width of the next panel if `remaining` vectors of columns are left: 8, 4, 2 or 1.
#[inline(always)]
pub(super) fn panel_width(remaining: usize) -> usize {
    if remaining >= WIDEST_PANEL { WIDEST_PANEL } else { 1 << remaining.ilog2() }
}

impl Layout {
    pub(super) fn dense(rows: usize, columns: usize, lanes: usize) -> Self {
        Self { rows, columns, lanes, storage: Storage::Dense }
    }

    /// The best sparse layout for vectors of this many lanes, given the rows of the entries in each
    /// column; `None` for too many rows.
    pub(super) fn sparse(
        rows: usize,
        columns: usize,
        lanes: usize,
        rows_of: &Lists,
    ) -> Option<Self> {
        if lanes == picks::MOST_LANES {
            Self::picks(rows, columns, lanes, rows_of)
        } else {
            Self::blocks(rows, columns, lanes, rows_of)
        }
    }

    /// Leaves out the rows of a panel that have no entry.
    pub(super) fn blocks(
        rows: usize,
        columns: usize,
        lanes: usize,
        rows_of: &Lists,
    ) -> Option<Self> {
        if rows > Group::MOST_ROWS {
            return None;
        }
        let mut starts = vec![0];
        let mut groups = Vec::new();
        for first in (0..columns).step_by(lanes) {
            let own = first..columns.min(first + lanes);
            let mut used: Vec<u32> = own.flat_map(|column| rows_of.list(column)).copied().collect();
            used.sort_unstable();
            used.dedup();
            groups.extend(used.chunks(Group::BLOCKS).map(|rows| {
                Group::new(std::array::from_fn(|block| rows[block.min(rows.len() - 1)] as usize))
            }));
            starts.push(groups.len() as u32);
        }
        Some(Self { rows, columns, lanes, storage: Storage::Blocks { starts, groups } })
    }

    /// Leaves out forbidden entries, lane by lane.
    pub(super) fn picks(
        rows: usize,
        columns: usize,
        lanes: usize,
        rows_of: &Lists,
    ) -> Option<Self> {
        let vectors = rows.div_ceil(lanes);
        if vectors > Pick::MOST_VECTORS {
            return None;
        }
        let mut starts = vec![0];
        let mut all = Vec::new();
        for first in (0..columns).step_by(lanes) {
            let mut pattern = vec![[0; picks::MOST_LANES]; vectors];
            for column in first..columns.min(first + lanes) {
                for &row in rows_of.list(column) {
                    pattern[row as usize / lanes][column - first] |= 1 << (row as usize % lanes);
                }
            }
            all.extend(picks::schedule(lanes, pattern));
            starts.push(all.len() as u32);
        }
        Some(Self { rows, columns, lanes, storage: Storage::Picks { starts, picks: all } })
    }

    pub(super) fn is_dense(&self) -> bool {
        matches!(self.storage, Storage::Dense)
    }

    /// Vectors of columns.
    #[inline(always)]
    pub(super) fn vectors(&self) -> usize {
        self.columns.div_ceil(self.lanes)
    }

    /// Number of stored doubles, padding included.
    pub(super) fn slots(&self) -> usize {
        match &self.storage {
            Storage::Dense => self.rows * self.vectors() * self.lanes,
            Storage::Blocks { groups, .. } => groups.len() * Group::BLOCKS * self.lanes,
            Storage::Picks { picks, .. } => picks.len() * Pick::STEPS * self.lanes,
        }
    }

    /// Whether the innermost cache holds all of it. Then the transpose gets a layout of its own,
    /// which avoids sums across lanes. Larger tables are better stored once.
    pub(super) fn is_small(&self) -> bool {
        self.slots() * size_of::<f64>() <= INNERMOST_CACHE
    }

    /// Whether a product with this layout is expected to beat one with the dense layout.
    pub(super) fn pays(&self) -> bool {
        let dense = self.rows * self.vectors() * self.lanes;
        let [inside, outside] = match self.storage {
            Storage::Dense => return false,
            Storage::Blocks { .. } => BLOCK_PRICE,
            Storage::Picks { .. } => PICK_PRICE,
        };
        let price = if dense * size_of::<f64>() <= INNERMOST_CACHE { inside } else { outside };
        self.slots() as f64 * price < dense as f64
    }

    /// Visits every stored entry of the table, without padding: `visit(row, column, slot)`.
    pub(super) fn for_each_entry(&self, mut visit: impl FnMut(usize, usize, usize)) {
        let lanes = self.lanes;
        match &self.storage {
            Storage::Dense => self.for_each_run(|row, columns, slot| {
                for (lane, column) in columns.enumerate() {
                    visit(row, column, slot + lane);
                }
            }),
            Storage::Blocks { .. } | Storage::Picks { .. } => {
                for panel in 0..self.vectors() {
                    self.for_each_in_panel(panel, |row, lane, slot| {
                        visit(row, panel * lanes + lane, slot);
                    });
                }
            }
        }
    }

    /// Visits the entries of a dense layout that lie side by side: `visit(row, columns, first
    /// slot)`.
    fn for_each_run(&self, mut visit: impl FnMut(usize, Range<usize>, usize)) {
        let mut first = 0;
        while first < self.vectors() {
            let vectors = panel_width(self.vectors() - first);
            let (start, width) = (first * self.lanes, vectors * self.lanes);
            for row in 0..self.rows {
                let columns = start..self.columns.min(start + width);
                visit(row, columns, self.rows * start + row * width);
            }
            first += vectors;
        }
    }

    /// Visits the entries of a sparse panel: `visit(row, lane, slot)`.
    fn for_each_in_panel(&self, panel: usize, mut visit: impl FnMut(usize, usize, usize)) {
        let lanes = self.lanes;
        match &self.storage {
            Storage::Dense => unreachable!("dense panels have another shape"),
            Storage::Blocks { starts, groups } => {
                let own = starts[panel] as usize..starts[panel + 1] as usize;
                let first = own.start * Group::BLOCKS;
                let columns = lanes.min(self.columns - panel * lanes);
                let mut before = None;
                for (block, row) in groups[own].iter().flat_map(|group| group.rows()).enumerate() {
                    if before != Some(row) {
                        (0..columns)
                            .for_each(|lane| visit(row, lane, (first + block) * lanes + lane));
                    }
                    before = Some(row);
                }
            }
            Storage::Picks { starts, picks } => {
                let own = starts[panel] as usize..starts[panel + 1] as usize;
                for (index, pick) in own.clone().zip(&picks[own]) {
                    pick.for_each_entry(lanes, |step, lane, row| {
                        visit(row, lane, (index * Pick::STEPS + step) * lanes + lane);
                    });
                }
            }
        }
    }

    /// Visits the stored entries of one column: `visit(row, slot)`.
    pub(super) fn for_each_in_column(&self, column: usize, mut visit: impl FnMut(usize, usize)) {
        let (vector, lane) = (column / self.lanes, column % self.lanes);
        match &self.storage {
            Storage::Dense => {
                let (mut first, mut width) = (0, panel_width(self.vectors()));
                while first + width <= vector {
                    first += width;
                    width = panel_width(self.vectors() - first);
                }
                let start = (self.rows * first + vector - first) * self.lanes + lane;
                for row in 0..self.rows {
                    visit(row, start + row * width * self.lanes);
                }
            }
            Storage::Blocks { .. } => {
                self.for_each_in_panel(vector, |row, own, slot| {
                    if own == lane {
                        visit(row, slot);
                    }
                });
            }
            Storage::Picks { starts, picks } => {
                let own = starts[vector] as usize..starts[vector + 1] as usize;
                for (index, pick) in own.clone().zip(&picks[own]) {
                    for step in 0..Pick::STEPS {
                        if let Some(row) = pick.row(self.lanes, step, lane) {
                            visit(row, (index * Pick::STEPS + step) * self.lanes + lane);
                        }
                    }
                }
            }
        }
    }

    /// Visits the entries of one row of a dense layout: `visit(column, slot)`.
    pub(super) fn for_each_in_row(&self, row: usize, mut visit: impl FnMut(usize, usize)) {
        let mut first = 0;
        while first < self.vectors() {
            let vectors = panel_width(self.vectors() - first);
            let (start, width) = (first * self.lanes, vectors * self.lanes);
            let slot = self.rows * start + row * width;
            for column in start..self.columns.min(start + width) {
                visit(column, slot + column - start);
            }
            first += vectors;
        }
    }

    /// Stores `value(row, column)` in this layout, and `padding` elsewhere.
    pub(super) fn pack(&self, padding: f64, value: impl Fn(usize, usize) -> f64) -> Aligned {
        let mut packed = Aligned::filled(self.slots(), padding);
        self.for_each_entry(|row, column, slot| packed[slot] = value(row, column));
        packed
    }
}
