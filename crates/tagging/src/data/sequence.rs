use std::borrow::Cow;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use super::attributes::{Attributes, is_plain, unescape};
use super::{DataError, Format};

/// The first cell of a line that begins a document.
const DOCUMENT: &str = "-DOCSTART-";

/// One sequence: its unchanged lines, and the places of their cells.
///
/// All text is in one buffer; rows and cells are ranges of it. Rows and columns count from 0,
/// lines of the file from 1.
#[derive(Clone, Debug)]
pub struct Sequence {
    pub(super) path: Arc<Path>,
    text: String,
    rows: Vec<Row>,
    cells: Vec<(u32, u32)>,
}

#[derive(Clone, Copy, Debug)]
struct Row {
    line: usize,
    /// Where its text begins; the next row's beginning, or the end of the buffer, is its end.
    text: u32,
    /// Likewise its first cell.
    cells: u32,
}

/// A sequence that grows cell by cell, whatever characters they have. Errors name its path, and
/// rows as lines.
#[derive(Debug)]
pub struct Growing(Sequence);

impl Growing {
    /// A sequence without rows.
    pub fn new(path: Arc<Path>) -> Self {
        Self(Sequence::new(path))
    }

    /// Begins a row.
    pub fn row(&mut self) {
        let Sequence { text, cells, rows, .. } = &mut self.0;
        rows.push(Row { line: rows.len() + 1, text: text.len() as u32, cells: cells.len() as u32 });
    }

    /// Adds a cell to the last row, which `write` appends to all text before it.
    ///
    /// # Errors
    /// If the text is longer than sequences of files may be (2 GiB).
    pub fn cell(&mut self, write: impl FnOnce(&mut String)) -> Result<(), DataError> {
        let Sequence { text, cells, rows, .. } = &mut self.0;
        let start = text.len();
        write(text);
        if text.len() > Sequence::LIMIT {
            return Err(self.0.too_long(self.0.rows.len()));
        }
        debug_assert!(start <= text.len() && !rows.is_empty(), "a cell of a row");
        cells.push((start as u32, text.len() as u32));
        Ok(())
    }

    /// The sequence.
    pub fn end(self) -> Sequence {
        self.0
    }
}

impl Sequence {
    /// The most text a sequence can hold. A row has at least one byte and at most one cell more
    /// than bytes, so half of the 32-bit range leaves room to count cells.
    pub(super) const LIMIT: usize = (u32::MAX / 2) as usize;

    pub(super) fn new(path: Arc<Path>) -> Self {
        Self { path, text: String::new(), rows: Vec::new(), cells: Vec::new() }
    }

    /// A sequence from text: one row per line, cells separated by tabs. Errors name `path`.
    ///
    /// # Panics
    /// If the rows are longer than sequences of files may be (2 GiB).
    pub fn of_rows(path: Arc<Path>, rows: &str) -> Self {
        assert!(rows.len() <= Self::LIMIT, "found rows of {} bytes", rows.len());
        let mut sequence = Self::new(path);
        for (line, row) in rows.lines().enumerate() {
            sequence.push(line + 1, row, Format::Columns);
        }
        sequence
    }

    /// A sequence from cells, whatever characters they have. Errors name `path`, and rows as lines.
    ///
    /// # Errors
    /// If the text is longer than sequences of files may be (2 GiB).
    pub fn of_cells<'a, Cells>(
        path: Arc<Path>,
        rows: impl IntoIterator<Item = Cells>,
    ) -> Result<Self, DataError>
    where
        Cells: IntoIterator<Item = &'a str>,
    {
        let mut sequence = Growing::new(path);
        for row in rows {
            sequence.row();
            for cell in row {
                sequence.cell(|text| text.push_str(cell))?;
            }
        }
        Ok(sequence.end())
    }

    /// The memory it takes.
    pub fn bytes(&self) -> f64 {
        let text = self.text.len() as f64;
        text + (self.rows.len() * size_of::<Row>()) as f64
            + (self.cells.len() * size_of::<(u32, u32)>()) as f64
    }

    /// What a row adds to that.
    pub(super) fn bytes_of_row(row: &str) -> f64 {
        let cells = 1 + row.bytes().filter(|byte| matches!(byte, b'\t' | b' ')).count();
        row.len() as f64 + (cells * size_of::<(u32, u32)>()) as f64
    }

    /// Bytes of text that still fit.
    pub(super) fn room(&self) -> usize {
        Self::LIMIT - self.text.len()
    }

    /// Appends a row that fits the [room](Self::room); returns its number of cells.
    pub(super) fn push(&mut self, line: usize, row: &str, format: Format) -> usize {
        let base = self.text.len();
        let first = self.cells.len();
        self.text.push_str(row);
        self.rows.push(Row { line, text: base as u32, cells: first as u32 });
        let tabs = format == Format::Attributes || row.contains('\t');
        let separator = if tabs { '\t' } else { ' ' };
        let mut start = base;
        for cell in row.split(separator) {
            if tabs || !cell.is_empty() {
                let own = if format == Format::Columns { without_spaces(cell) } else { cell };
                let begin = start + (own.as_ptr() as usize - cell.as_ptr() as usize);
                self.cells.push((begin as u32, (begin + own.len()) as u32));
            }
            start += cell.len() + 1;
        }
        self.cells.len() - first
    }

    /// The number of rows, which is never 0 in a sequence that was read.
    pub fn len(&self) -> usize {
        self.rows.len()
    }

    /// Whether there is no row.
    pub fn is_empty(&self) -> bool {
        self.rows.is_empty()
    }

    /// Whether it is the line that CoNLL-2003 has before each document, and no sequence of tokens.
    pub fn begins_document(&self) -> bool {
        self.len() == 1 && self.cell(0, 0) == Some(DOCUMENT)
    }

    /// The file it is from, as it was given.
    pub fn path(&self) -> &Path {
        &self.path
    }

    pub(super) fn path_buf(&self) -> PathBuf {
        self.path.to_path_buf()
    }

    /// The line of the file in which row `t` is.
    pub fn line(&self, t: usize) -> usize {
        self.rows[t].line
    }

    /// Row `t` as it was in the file, without its line end.
    pub fn row(&self, t: usize) -> &str {
        let end = self.rows.get(t + 1).map_or(self.text.len(), |next| next.text as usize);
        &self.text[self.rows[t].text as usize..end]
    }

    /// The number of cells of row `t`.
    pub fn columns(&self, t: usize) -> usize {
        self.row_cells(t).len()
    }

    /// A cell of row `t`, or nothing if the row is shorter.
    pub fn cell(&self, t: usize, column: usize) -> Option<&str> {
        let &(start, end) = self.row_cells(t).get(column)?;
        Some(self.text(start, end))
    }

    pub(super) fn text(&self, start: u32, end: u32) -> &str {
        &self.text[start as usize..end as usize]
    }

    /// The label of row `t` of an attribute file, without escapes; empty if there is none.
    pub fn attribute_label(&self, t: usize) -> Cow<'_, str> {
        unescape(self.cell(t, 0).unwrap_or_default())
    }

    /// The attributes of row `t` of an attribute file: names without escapes, and values.
    pub fn attributes(&self, t: usize) -> Attributes<'_> {
        Attributes::new(self, t)
    }

    /// Visits the attributes of row `t` of an attribute file, like [`attributes`](Self::attributes)
    /// but faster for many.
    #[inline]
    pub fn visit_attributes(
        &self,
        t: usize,
        mut visit: impl FnMut(&str, f64),
    ) -> Result<(), DataError> {
        for &(start, end) in self.row_cells(t).iter().skip(1) {
            let field = self.text(start, end);
            match is_plain(field.as_bytes()) {
                true if field.is_empty() => (),
                true => visit(field, 1.0),
                false => {
                    let (name, value) = Attributes::new(self, t).parse(field)?;
                    visit(&name, value);
                }
            }
        }
        Ok(())
    }

    pub(super) fn row_cells(&self, t: usize) -> &[(u32, u32)] {
        let end = self.rows.get(t + 1).map_or(self.cells.len(), |next| next.cells as usize);
        &self.cells[self.rows[t].cells as usize..end]
    }

    pub(super) fn too_long(&self, line: usize) -> DataError {
        DataError::TooLong { path: self.path_buf(), line, limit: Self::LIMIT }
    }
}

/// A cell without spaces next to the tabs around it; a cell of spaces only is kept.
fn without_spaces(cell: &str) -> &str {
    let own = cell.trim_matches(' ');
    if own.is_empty() { cell } else { own }
}
