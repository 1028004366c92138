use std::ops::Range;

use super::Kind;
use crate::vector::{Aligned, Column, PIECE, Piece};

/// How the rows of a run read the marginals.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Reading {
    /// One entry each, in columns that follow one another.
    Consecutive,
    /// One entry each, anywhere.
    Single,
    /// Any number of entries.
    Sparse,
}

/// Consecutive rows that are evaluated together: one kind of penalty, one way of reading.
#[derive(Clone, Debug)]
pub(crate) struct Run {
    pub rows: Range<usize>,
    pub kind: Kind,
    reading: Reading,
    /// Whether no offset is larger in its parts than as a whole.
    plain: bool,
    /// The table that its rows are of, if they are.
    table: Option<usize>,
    /// Rows of tables before it, of which nothing is stored.
    skipped: usize,
}

impl Run {
    /// In pieces of at most this many rows.
    #[inline(always)]
    pub fn pieces(&self, size: usize) -> impl Iterator<Item = Run> {
        let piece = move |start: usize| start..self.rows.end.min(start + size);
        self.rows.clone().step_by(size).map(move |start| Run { rows: piece(start), ..*self })
    }
}

/// Runs, in pieces of at most [`PIECE`] rows.
#[inline(always)]
pub(crate) fn pieces(runs: &[Run]) -> impl Iterator<Item = Run> {
    runs.iter().flat_map(|run| run.pieces(PIECE))
}

/// A run of consecutive columns that is broken off before this length is read like any other.
const SHORT: usize = 16;

/// Linear functions `z_j = a_j·μ + b_j` of the support's marginals: sparse rows, and whole tables
/// of rows that read one cell each, of which only the offsets are stored.
#[derive(Clone, Debug)]
pub struct Rows {
    /// First entry of each row, and the end of the last. `[sparse rows + 1]`
    starts: Vec<usize>,
    /// Support coordinate of each entry, ascending within a row. `[entries]`
    columns: Vec<usize>,
    /// `[entries]`
    coefficients: Column,
    /// `b`. `[rows]`
    offsets: Aligned,
    /// Sum of the sizes of what `b` is the sum of: its rounding follows it. `[sparse rows]`
    offset_sizes: Aligned,
    /// Least and greatest value that a row can take over allowed states. `[sparse rows]`
    ranges: Vec<(f64, f64)>,
    /// In the order of their rows.
    tables: Vec<TableRows>,
}

/// Rows `z_j = a·μ_j + b_j` of consecutive cells.
#[derive(Clone, Debug)]
struct TableRows {
    rows: Range<usize>,
    /// What the first row reads.
    column: usize,
    /// `a`, positive.
    coefficient: f64,
    /// The same again and again.
    repeated: Box<Piece>,
    /// Rows of tables before it.
    skipped: usize,
}

/// Where what is known of a row is stored.
enum Stored<'a> {
    Sparse(usize),
    /// The table, and the cell of it.
    Table(&'a TableRows, usize),
}

/// A sum, and that of the sizes of its terms.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Sum {
    pub value: f64,
    pub size: f64,
}

impl Default for Rows {
    fn default() -> Self {
        Self {
            starts: vec![0],
            columns: Vec::new(),
            coefficients: Column::default(),
            offsets: Aligned::default(),
            offset_sizes: Aligned::default(),
            ranges: Vec::new(),
            tables: Vec::new(),
        }
    }
}

impl Rows {
    /// Adds a row of `(coordinate, coefficient)` entries, ascending, and an offset that is the sum
    /// of parts; `range` bounds the row's values.
    pub fn push(
        &mut self,
        entries: impl IntoIterator<Item = (usize, f64)>,
        offset_parts: &[f64],
        range: (f64, f64),
    ) {
        for (column, coefficient) in entries.into_iter().filter(|&(_, a)| a != 0.0) {
            self.columns.push(column);
            self.coefficients.push(coefficient);
        }
        self.starts.push(self.columns.len());
        self.offsets.push(offset_parts.iter().sum());
        self.offset_sizes.push(offset_parts.iter().map(|p| p.abs()).sum());
        self.ranges.push(range);
    }

    /// Adds a row `coefficient·μ + offset` for each of the cells from `column` on, one per offset.
    ///
    /// # Panics
    /// If the coefficient is not positive.
    pub(crate) fn push_table(&mut self, column: usize, coefficient: f64, offsets: &[f64]) {
        assert!(coefficient > 0.0, "the coefficient of a table");
        let rows = self.len()..self.len() + offsets.len();
        let goes_on = |table: &&mut TableRows| {
            let next = table.column + table.rows.len();
            table.rows.end == rows.start && next == column && table.coefficient == coefficient
        };
        if let Some(table) = self.tables.last_mut().filter(goes_on) {
            table.rows.end = rows.end;
        } else {
            let repeated = Box::new(Piece([coefficient; PIECE]));
            let skipped = self.skipped();
            self.tables.push(TableRows { rows, column, coefficient, repeated, skipped });
        }
        offsets.iter().for_each(|&offset| self.offsets.push(offset));
    }

    /// Rows of tables so far.
    fn skipped(&self) -> usize {
        self.tables.last().map_or(0, |table| table.skipped + table.rows.len())
    }

    /// Where a row is stored.
    #[inline]
    fn stored(&self, row: usize) -> Stored<'_> {
        let after = self.tables.partition_point(|table| table.rows.start <= row);
        match self.tables[..after].last() {
            None => Stored::Sparse(row),
            Some(table) if row < table.rows.end => Stored::Table(table, row - table.rows.start),
            Some(table) => Stored::Sparse(row - table.skipped - table.rows.len()),
        }
    }

    /// Whether every row is one of a table.
    pub(crate) fn are_of_tables(&self) -> bool {
        self.skipped() == self.len()
    }

    /// Number of rows.
    pub fn len(&self) -> usize {
        self.offsets.len()
    }

    /// Whether there is no row.
    pub fn is_empty(&self) -> bool {
        self.offsets.is_empty()
    }

    /// The offset `b` of a row.
    #[inline]
    pub fn offset(&self, row: usize) -> f64 {
        self.offsets[row]
    }

    /// `|b|`, or more where `b` is a sum whose parts cancel.
    #[inline]
    pub fn offset_size(&self, row: usize) -> f64 {
        match self.stored(row) {
            Stored::Sparse(row) => self.offset_sizes[row],
            Stored::Table(..) => self.offsets[row].abs(),
        }
    }

    /// Bounds on the values of a row.
    pub fn range(&self, row: usize) -> (f64, f64) {
        match self.stored(row) {
            Stored::Sparse(row) => self.ranges[row],
            Stored::Table(table, _) => (self.offsets[row], self.offsets[row] + table.coefficient),
        }
    }

    /// The entries of a row.
    #[inline]
    pub fn entries(&self, row: usize) -> impl Iterator<Item = (usize, f64)> + '_ {
        let (range, cell) = match self.stored(row) {
            Stored::Sparse(row) => (self.starts[row]..self.starts[row + 1], None),
            Stored::Table(table, cell) => (0..0, Some((table.column + cell, table.coefficient))),
        };
        let columns = self.columns[range.clone()].iter().copied();
        columns.zip(self.coefficients[range].iter().copied()).chain(cell)
    }

    /// `a_j·μ + b_j`
    #[inline]
    pub fn measure(&self, row: usize, marginals: &[f64]) -> f64 {
        self.entries(row).fold(self.offsets[row], |sum, (c, a)| sum + a * marginals[c])
    }

    /// The same, with the sizes of what is summed up.
    #[inline]
    pub(crate) fn sum(&self, row: usize, marginals: &[f64]) -> Sum {
        let start = Sum { value: self.offset(row), size: self.offset_size(row) };
        self.entries(row).fold(start, |Sum { value, size }, (c, a)| {
            let part = a * marginals[c];
            Sum { value: value + part, size: size + part.abs() }
        })
    }

    /// Adds `factor · a_j` to `target`.
    #[inline]
    pub fn add_row(&self, row: usize, factor: f64, target: &mut [f64]) {
        if factor != 0.0 {
            self.entries(row).for_each(|(c, a)| target[c] += factor * a);
        }
    }

    /// The measurements of a run's rows, a piece at most, and the sizes of what they sum up; `buffer`
    /// is scratch.
    #[inline(always)]
    pub(crate) fn measure_run(
        &self,
        run: &Run,
        marginals: &[f64],
        [buffer, measured, sizes]: [&mut [f64]; 3],
    ) {
        let found = measured.iter_mut().zip(sizes);
        let gathered = self.gather(run, marginals, buffer);
        if let (Some(marginals), Some(coefficients)) = (gathered, self.coefficients(run)) {
            let (offsets, offset_sizes) = self.offsets(run);
            let offsets = offsets.iter().zip(offset_sizes);
            let inputs = marginals.iter().zip(coefficients).zip(offsets);
            found.zip(inputs).for_each(|((z, size), ((m, a), (b, b_size)))| {
                let part = a * m;
                (*z, *size) = (b + part, b_size.abs() + part.abs());
            });
        } else {
            found.zip(run.rows.clone()).for_each(|((z, size), row)| {
                let Sum { value, size: found } = self.sum(row, marginals);
                (*z, *size) = (value, found);
            });
        }
    }

    /// Adds `Σ_j factor_j · a_j` over a run's rows to `target`.
    #[inline(always)]
    pub(crate) fn add_run(&self, run: &Run, factors: &[f64], target: &mut [f64]) {
        let rows = run.rows.clone();
        let coefficients = self.coefficients(run).unwrap_or_default();
        match run.reading {
            Reading::Consecutive => {
                let first = self.first_column(run);
                let target = &mut target[first..first + rows.len()];
                for ((t, a), f) in target.iter_mut().zip(coefficients).zip(factors) {
                    *t += f * a;
                }
            }
            Reading::Single => {
                let columns = &self.columns[self.entries_of(run)];
                for ((&c, a), f) in columns.iter().zip(coefficients).zip(factors) {
                    target[c] += f * a;
                }
            }
            Reading::Sparse => {
                for (row, &factor) in rows.zip(factors) {
                    self.add_row(row, factor, target);
                }
            }
        }
    }

    /// What the first row of a run of single columns reads.
    #[inline(always)]
    fn first_column(&self, run: &Run) -> usize {
        match run.table {
            Some(table) => {
                let table = &self.tables[table];
                table.column + (run.rows.start - table.rows.start)
            }
            None => self.columns[self.entries_of(run).start],
        }
    }

    /// What the one column of each of a run's rows holds, gathered in `buffer` where need be;
    /// `None` if rows have more entries, or none.
    #[inline(always)]
    pub(crate) fn gather<'a>(
        &self,
        run: &Run,
        values: &'a [f64],
        buffer: &'a mut [f64],
    ) -> Option<&'a [f64]> {
        match run.reading {
            Reading::Consecutive => {
                let first = self.first_column(run);
                Some(&values[first..first + run.rows.len()])
            }
            Reading::Single => {
                let columns = &self.columns[self.entries_of(run)];
                buffer.iter_mut().zip(columns).for_each(|(value, &c)| *value = values[c]);
                Some(&buffer[..columns.len()])
            }
            Reading::Sparse => None,
        }
    }

    /// The coefficients of a piece whose rows have one entry each.
    #[inline(always)]
    pub(crate) fn coefficients(&self, run: &Run) -> Option<&[f64]> {
        let single = matches!(run.reading, Reading::Consecutive | Reading::Single);
        single.then(|| match run.table {
            Some(table) => &self.tables[table].repeated.0[..run.rows.len()],
            None => self.coefficients.piece(self.entries_of(run)),
        })
    }

    /// The offsets of a run's rows, and numbers of their sizes.
    #[inline(always)]
    pub(crate) fn offsets(&self, run: &Run) -> (&[f64], &[f64]) {
        let offsets = &self.offsets[run.rows.clone()];
        // What is read twice need not be fetched twice.
        let sizes = run.rows.start - run.skipped..run.rows.end - run.skipped;
        (offsets, if run.plain { offsets } else { &self.offset_sizes[sizes] })
    }

    /// The entries of a run of sparse rows.
    #[inline(always)]
    fn entries_of(&self, run: &Run) -> Range<usize> {
        self.starts[run.rows.start - run.skipped]..self.starts[run.rows.end - run.skipped]
    }

    /// Adds the last `count` rows, which are of the last table, under penalties of this kind, to
    /// the runs of all before them.
    pub(crate) fn extend_table(&self, runs: &mut Vec<Run>, count: usize, kind: Kind) {
        let last = self.tables.len() - 1;
        let table = &self.tables[last];
        let rows = table.rows.end - count..table.rows.end;
        let alike = |run: &&mut Run| run.table == Some(last) && run.kind == kind;
        if let Some(run) = runs.last_mut().filter(alike) {
            run.rows.end = rows.end;
            return;
        }
        runs.push(Run {
            rows,
            kind,
            reading: Reading::Consecutive,
            plain: true,
            table: Some(last),
            skipped: table.skipped,
        });
    }

    /// Adds the last row, under a penalty of this kind, to the runs of all before it.
    pub(crate) fn extend(&self, runs: &mut Vec<Run>, kind: Kind) {
        let row = self.len() - 1;
        let plain = self.offset_size(row) == self.offset(row).abs();
        let skipped = self.skipped();
        let stored = row - skipped;
        let is_single = self.starts[stored + 1] - self.starts[stored] == 1;
        let reading = if is_single { Reading::Consecutive } else { Reading::Sparse };
        if let Some(run) = runs.last_mut().filter(|run| run.kind == kind && run.table.is_none()) {
            let goes_on = matches!(self.columns[..], [.., before, last] if last == before + 1);
            let joined = match (run.reading, reading) {
                (Reading::Consecutive, Reading::Consecutive) if goes_on => Some(reading),
                (Reading::Consecutive, Reading::Consecutive) if run.rows.len() < SHORT => {
                    Some(Reading::Single)
                }
                (Reading::Single, Reading::Consecutive) => Some(Reading::Single),
                (before, own) => {
                    Some(own).filter(|own| *own == before && *own != Reading::Consecutive)
                }
            };
            if let Some(joined) = joined {
                (run.rows.end, run.reading) = (row + 1, joined);
                run.plain &= plain;
                return;
            }
        }
        let rows = row..row + 1;
        runs.push(Run { rows, kind, reading, plain, table: None, skipped });
    }

    /// A copy of a row of other rows, shifted by `shift`.
    pub fn push_shifted(&mut self, other: &Rows, row: usize, shift: f64) {
        let (low, high) = other.range(row);
        let parts = [other.offset(row), shift];
        self.push(other.entries(row), &parts, (low + shift, high + shift));
        let size = self.offset_sizes.last_mut().expect("a row was just pushed");
        *size = size.max(other.offset_size(row) + shift.abs());
    }
}
