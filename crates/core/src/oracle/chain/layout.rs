//! How the entries of a transition table lie in memory.
//!
//! A product `y_j = Σ_i x_i e_ij` keeps a panel of `y` in registers and streams the table once, so
//! entries lie in the order in which that loop reads them: panels of up to eight vectors of columns,
//! and within a panel row after row. The sparse layout has panels of one vector and leaves out the
//! rows of a panel in which no transition is allowed.

use super::aligned::Aligned;

/// Vectors of accumulators that fit the registers of every instruction set we dispatch to.
pub(super) const WIDEST_PANEL: usize = 8;

/// Time of a stored sparse vector over that of a dense one, as measured: it loads an entry of `x` of
/// its own, and a quarter of a word of rows.
const SPARSE_PRICE: f64 = 1.8;
/// The same where the dense table is too large for the innermost cache, and waits for the next.
const SPARSE_PRICE_OUTSIDE: f64 = 1.25;
/// Bytes of a table that the innermost cache of common processors holds beside the messages.
pub(super) const INNERMOST_CACHE: usize = 40 << 10;

/// Where each entry of a `[rows][columns]` table is stored.
#[derive(Clone, Debug)]
pub(super) struct Layout {
    pub(super) rows: usize,
    pub(super) columns: usize,
    /// Doubles in a vector of this machine.
    pub(super) lanes: usize,
    pub(super) storage: Storage,
}

#[derive(Clone, Debug)]
pub(super) enum Storage {
    Dense,
    Sparse {
        /// First group of each panel, and the number of groups. `[panels + 1]`
        starts: Vec<u32>,
        /// Rows of the blocks, ascending within a panel, whose last group repeats its last row to
        /// be full; the repeated blocks are zero. `[groups]`
        groups: Vec<Group>,
    },
}

/// Rows of four successive blocks, 16 bits each, in one word: a quarter of the loads.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Group(u64);

impl Group {
    /// Blocks in a group.
    pub(super) const BLOCKS: usize = 4;
    /// Rows that 16 bits tell apart.
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

/// A run of neighbouring columns of one row that is stored in one piece.
pub(super) struct Span {
    pub(super) row: usize,
    pub(super) first_column: usize,
    pub(super) slot: usize,
    pub(super) width: usize,
}

/// Width of the next panel where `remaining` vectors of columns are left: 8, 4, 2 or 1.
#[inline(always)]
pub(super) fn panel_width(remaining: usize) -> usize {
    if remaining >= WIDEST_PANEL { WIDEST_PANEL } else { 1 << remaining.ilog2() }
}

impl Layout {
    pub(super) fn dense(rows: usize, columns: usize, lanes: usize) -> Self {
        Self { rows, columns, lanes, storage: Storage::Dense }
    }

    /// Stores the rows of a panel that have an allowed entry; `None` where there are too many rows.
    pub(super) fn sparse(
        rows: usize,
        columns: usize,
        lanes: usize,
        allowed: impl Fn(usize, usize) -> bool,
    ) -> Option<Self> {
        if rows > Group::MOST_ROWS {
            return None;
        }
        let mut starts = vec![0];
        let mut groups = Vec::new();
        for first in (0..columns).step_by(lanes) {
            let last = columns.min(first + lanes);
            let used = (0..rows).filter(|&row| (first..last).any(|column| allowed(row, column)));
            let used: Vec<usize> = used.collect();
            groups.extend(used.chunks(Group::BLOCKS).map(|rows| {
                Group::new(std::array::from_fn(|block| rows[block.min(rows.len() - 1)]))
            }));
            starts.push(groups.len() as u32);
        }
        Some(Self { rows, columns, lanes, storage: Storage::Sparse { starts, groups } })
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
            Storage::Sparse { groups, .. } => groups.len() * Group::BLOCKS * self.lanes,
        }
    }

    /// Whether a product with this layout is expected to beat one with the dense layout.
    pub(super) fn pays(&self) -> bool {
        let dense = self.rows * self.vectors() * self.lanes;
        let inside = dense * size_of::<f64>() <= INNERMOST_CACHE;
        let price = if inside { SPARSE_PRICE } else { SPARSE_PRICE_OUTSIDE };
        self.slots() as f64 * price < dense as f64
    }

    /// Visits what is stored; the last columns of a span may lie past the table's.
    pub(super) fn for_each_span(&self, mut visit: impl FnMut(Span)) {
        let lanes = self.lanes;
        match &self.storage {
            Storage::Dense => {
                let mut first = 0;
                while first < self.vectors() {
                    let vectors = panel_width(self.vectors() - first);
                    let (first_column, width) = (first * lanes, vectors * lanes);
                    for row in 0..self.rows {
                        let slot = self.rows * first_column + row * width;
                        visit(Span { row, first_column, slot, width });
                    }
                    first += vectors;
                }
            }
            Storage::Sparse { .. } => {
                for panel in 0..self.vectors() {
                    self.for_each_block(panel, |row, slot| {
                        visit(Span { row, first_column: panel * lanes, slot, width: lanes });
                    });
                }
            }
        }
    }

    /// Visits the blocks of a sparse panel: `visit(row, slot)`.
    fn for_each_block(&self, panel: usize, mut visit: impl FnMut(usize, usize)) {
        let Storage::Sparse { starts, groups } = &self.storage else { return };
        let own = starts[panel] as usize..starts[panel + 1] as usize;
        let first = own.start * Group::BLOCKS;
        let mut before = None;
        for (block, row) in groups[own].iter().flat_map(|group| group.rows()).enumerate() {
            if before != Some(row) {
                visit(row, (first + block) * self.lanes);
            }
            before = Some(row);
        }
    }

    /// Visits every stored entry of the table, without padding: `visit(row, column, slot)`.
    pub(super) fn for_each_entry(&self, mut visit: impl FnMut(usize, usize, usize)) {
        self.for_each_span(|span| {
            let width = span.width.min(self.columns - span.first_column);
            for lane in 0..width {
                visit(span.row, span.first_column + lane, span.slot + lane);
            }
        });
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
            Storage::Sparse { .. } => {
                self.for_each_block(vector, |row, slot| visit(row, slot + lane));
            }
        }
    }

    /// Stores `value(row, column)` in this layout, and `padding` past the last column.
    pub(super) fn pack(&self, padding: f64, value: impl Fn(usize, usize) -> f64) -> Aligned {
        let mut packed = Aligned::filled(self.slots(), padding);
        self.for_each_entry(|row, column, slot| packed[slot] = value(row, column));
        packed
    }
}
