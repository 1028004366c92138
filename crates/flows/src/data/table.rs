//! CSV files, row after row.

use std::cell::Cell;
use std::collections::HashSet;
use std::io::{BufRead, Chain, Cursor, Read};
use std::path::{Path, PathBuf};

use super::TableError;
use bethe_core::MemoryLimit;
use bethe_io::{is_utf16, open_within, without_mark};

/// What is kept of a row: names, places among names and numbers.
const BYTES_PER_ROW: f64 = 256.0;

/// Separators of values, the likeliest first.
const SEPARATORS: [u8; 3] = [b',', b';', b'\t'];

/// The first line without its byte-order mark, and the others.
type Source = Chain<Cursor<Vec<u8>>, Box<dyn BufRead + Send>>;

/// A CSV file with a header. Values are trimmed of white space.
///
/// Values stand between commas, semicolons or tabs, whichever the header has most of. Unless they
/// are commas, numbers may have a decimal comma.
pub(super) struct Table {
    pub path: PathBuf,
    pub header: Vec<String>,
    reader: csv::Reader<Source>,
    record: csv::StringRecord,
    /// The decimal mark: a comma, a point, or not known yet.
    decimal: Cell<Option<char>>,
    separator: u8,
    memory: MemoryLimit,
    rows: f64,
}

impl Table {
    /// Opens a file, or standard input for `-`, and reads its header. Its text must fit into the
    /// limit.
    pub fn open(path: &Path, memory: MemoryLimit) -> Result<Self, TableError> {
        let mut file = open_within(path, memory)?;
        let path = path.to_path_buf();
        let mut start = Vec::new();
        if let Err(error) = file.read_until(b'\n', &mut start) {
            return Err(failed(&path, error.into()));
        }
        if is_utf16(&start) {
            return Err(TableError::Utf16 { path });
        }
        let start = without_mark(&start).to_vec();
        let separator = separator(&start);
        let mut reader = csv::ReaderBuilder::new()
            .flexible(true)
            .delimiter(separator)
            .has_headers(false)
            .trim(csv::Trim::All)
            .from_reader(Cursor::new(start).chain(file));
        let mut record = csv::StringRecord::new();
        match reader.read_record(&mut record) {
            Ok(true) => {}
            Ok(false) => return Err(TableError::Empty { path }),
            Err(error) => return Err(failed(&path, error)),
        }
        let header: Vec<String> = record.iter().map(|name| name.trim().to_string()).collect();
        let mut seen = HashSet::new();
        for (column, name) in header.iter().enumerate() {
            if !seen.insert(name) {
                if is_numbers(&header) {
                    return Err(TableError::NoHeader { path });
                }
                let (column, name) = (column + 1, name.clone());
                return Err(TableError::RepeatedColumn { path, column, name });
            }
        }
        let decimal = Cell::new((separator == b',').then_some('.'));
        Ok(Self { path, header, reader, record, decimal, separator, memory, rows: 0.0 })
    }

    /// The column of one of some names, whatever their case.
    pub fn column(&self, names: &[&str]) -> Option<usize> {
        let fits = |own: &String| names.iter().any(|name| own.eq_ignore_ascii_case(name));
        self.header.iter().position(fits)
    }

    /// The column of the first of some names that is there.
    pub fn preferred(&self, names: &[&str]) -> Option<usize> {
        names.iter().find_map(|name| self.column(&[name]))
    }

    /// A header without what was looked for.
    pub fn lacks(&self, expected: impl Into<String>) -> TableError {
        let (path, found) = (self.path.clone(), self.header.clone());
        TableError::Columns { path, found, expected: expected.into() }
    }

    /// The next row that is not blank. Rows have as many values as the header; with `alone`, a row
    /// may also have only its first value.
    pub fn next_row(&mut self, alone: bool) -> Result<Option<Row<'_>>, TableError> {
        loop {
            match self.reader.read_record(&mut self.record) {
                Ok(true) if self.record.iter().all(str::is_empty) => {}
                Ok(true) => break,
                Ok(false) => return Ok(None),
                Err(error) => return Err(failed(&self.path, error)),
            }
        }
        self.rows += 1.0;
        self.memory
            .check("what the rows hold", BYTES_PER_ROW * self.rows)
            .map_err(|error| TableError::TooLarge { path: self.path.clone(), error })?;
        let line = self.record.position().map_or(0, csv::Position::line);
        let (found, expected) = (self.record.len(), self.header.len());
        if found != expected && !(alone && found == 1) {
            let (path, separator) = (self.path.clone(), self.separator);
            return Err(TableError::Ragged { path, line, found, expected, separator });
        }
        let Self { path, header, record, decimal, separator, .. } = self;
        Ok(Some(Row { path, header, record, decimal, separator: *separator, line }))
    }
}

/// Whether a first line has numbers, behind a time, where a header has names.
pub(super) fn is_numbers(header: &[String]) -> bool {
    let number = |name: &String| name.replacen(',', ".", 1).parse::<f64>().is_ok();
    header.len() > 1 && header[1..].iter().all(number)
}

/// What stands most often between the values of a header, outside of quotation marks.
fn separator(header: &[u8]) -> u8 {
    let mut found = [0; SEPARATORS.len()];
    let mut quoted = false;
    for byte in header {
        quoted ^= *byte == b'"';
        if let Some(own) = SEPARATORS.iter().position(|own| own == byte && !quoted) {
            found[own] += 1;
        }
    }
    // Of equal numbers the first wins.
    let most = (0..SEPARATORS.len()).rev().max_by_key(|&own| found[own]).unwrap_or(0);
    SEPARATORS[most]
}

fn failed(path: &Path, error: csv::Error) -> TableError {
    let path = path.to_path_buf();
    let line = error.position().map_or(1, csv::Position::line);
    match error.into_kind() {
        csv::ErrorKind::Utf8 { .. } => TableError::NotUtf8 { path, line },
        csv::ErrorKind::Io(source) => match source.get_ref().and_then(|inner| inner.downcast_ref())
        {
            Some(&error) => TableError::TooLarge { path, error },
            None => TableError::Read { path, line, source },
        },
        other => {
            TableError::Read { path, line, source: std::io::Error::other(format!("{other:?}")) }
        }
    }
}

/// One row of a table.
#[derive(Clone, Copy)]
pub(super) struct Row<'a> {
    path: &'a Path,
    header: &'a [String],
    record: &'a csv::StringRecord,
    decimal: &'a Cell<Option<char>>,
    separator: u8,
    pub line: u64,
}

impl Row<'_> {
    /// The value in a column; empty if the row ends before.
    pub fn text(&self, column: usize) -> &str {
        self.record.get(column).unwrap_or_default()
    }

    /// A finite number.
    pub fn number(&self, column: usize) -> Result<f64, TableError> {
        self.parse(column, "a finite number", |_| true)
    }

    /// A finite number of at least 0.
    pub fn count(&self, column: usize) -> Result<f64, TableError> {
        self.parse(column, "a number of at least 0", |number| number >= 0.0)
    }

    /// The same, or nothing for an empty value and for `NA`.
    pub fn observed(&self, column: usize) -> Result<Option<f64>, TableError> {
        match self.text(column) {
            "" | "NA" => Ok(None),
            _ => {
                let expected = "a number of at least 0, or nothing or NA where it was not observed";
                self.parse(column, expected, |number| number >= 0.0).map(Some)
            }
        }
    }

    /// The number in a column, if it is one. Decimals follow a point or, where no comma separates
    /// values, a comma; one file has only one of them, as `1.234` may be meant as a thousand.
    pub fn decimal(&self, column: usize) -> Option<f64> {
        let text = self.text(column);
        let point = text.chars().find(|c| matches!(c, '.' | ','));
        if point.is_some() && self.decimal.get().or(point) != point {
            return None;
        }
        let number = match point {
            Some(',') => text.replacen(',', ".", 1).parse(),
            _ => text.parse(),
        };
        let number = number.ok().filter(|number: &f64| number.is_finite())?;
        self.decimal.set(self.decimal.get().or(point));
        Some(number)
    }

    fn parse(
        &self,
        column: usize,
        expected: &'static str,
        fits: impl Fn(f64) -> bool,
    ) -> Result<f64, TableError> {
        let number = self.decimal(column).filter(|number| fits(*number));
        number.ok_or_else(|| self.unfit(column, self.advice(column).unwrap_or(expected)))
    }

    /// A hint for a spreadsheet's number that is written differently from the others in this file.
    fn advice(&self, column: usize) -> Option<&'static str> {
        let text = self.text(column);
        let is_like_one = |c: char| c.is_ascii_digit() || matches!(c, '.' | ',' | '-');
        if !text.contains(['.', ',']) || !text.chars().all(is_like_one) {
            return None;
        }
        match self.decimal.get() {
            Some('.') if self.separator == b',' && text.contains(',') => Some(
                "a number with a decimal point; for decimal commas, separate values with semicolons",
            ),
            Some('.') if text.contains(',') => {
                Some("a decimal point as in the numbers before, and no commas between thousands")
            }
            Some(',') if text.contains('.') => {
                Some("a decimal comma as in the numbers before, and no points between thousands")
            }
            None if text.contains('.') && text.contains(',') => {
                Some("one decimal comma or point, and nothing between thousands")
            }
            _ => None,
        }
    }

    /// A value that does not fit.
    pub fn unfit(&self, column: usize, expected: &'static str) -> TableError {
        TableError::Value {
            path: self.path.to_path_buf(),
            line: self.line,
            column: self.header[column].clone(),
            found: self.text(column).to_string(),
            expected,
        }
    }

    /// A second row for the same thing.
    pub fn repeated(&self, what: impl Into<String>) -> TableError {
        TableError::Repeated { path: self.path.to_path_buf(), line: self.line, what: what.into() }
    }
}
