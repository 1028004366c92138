//! Files of cells, of counts, and of values of cells.

use std::collections::HashMap;
use std::path::Path;

use bethe_core::MemoryLimit;

use super::table::{Row, Table};
use super::{Cells, Geometry, Observations, TableError};

/// A count, what noise makes of it, and what inference keeps of a cell at a time.
const BYTES_PER_COUNT: f64 = 100.0;

/// Names of the columns of each geometry.
const PLACES: [(Geometry, [&[&str]; 2]); 2] = [
    (Geometry::Plane, [&["x"], &["y"]]),
    (Geometry::Globe, [&["lon", "longitude"], &["lat", "latitude"]]),
];

/// Reads `cell,x,y` or `cell,lon,lat`. If a file has both, `geometry` decides.
pub fn read_cells(
    path: &Path,
    geometry: Option<Geometry>,
    memory: MemoryLimit,
) -> Result<Cells, TableError> {
    let mut table = Table::open(path, memory)?;
    let wanted = |(own, _): &&(Geometry, _)| geometry.is_none_or(|geometry| geometry == *own);
    let found = PLACES.iter().filter(wanted).find_map(|(geometry, [first, second])| {
        Some((*geometry, table.column(first)?, table.column(second)?))
    });
    let (Some(name), Some((geometry, first, second))) = (table.column(&["cell"]), found) else {
        return Err(table.lacks(match geometry {
            None => "cell, x and y, or cell, lon and lat",
            Some(Geometry::Plane) => "cell, x and y",
            Some(Geometry::Globe) => "cell, lon and lat",
        }));
    };
    let mut cells = Vec::new();
    let mut lines: HashMap<String, u64> = HashMap::new();
    while let Some(row) = table.next_row(false)? {
        let cell = row.text(name).to_string();
        if cell.is_empty() {
            return Err(row.unfit(name, "the name of a cell"));
        }
        if lines.insert(cell.clone(), row.line).is_some() {
            return Err(row.repeated(format!("the cell {cell:?}")));
        }
        if geometry == Geometry::Globe && !(-90.0..=90.0).contains(&row.number(second)?) {
            return Err(row.unfit(second, "a latitude between -90 and 90 degrees"));
        }
        cells.push((cell, (row.number(first)?, row.number(second)?)));
    }
    let source = |source| TableError::Cells { path: path.to_path_buf(), source };
    Cells::new(geometry, cells).map_err(source)
}

/// Cells by name, and the file that they are from.
pub(super) struct Names<'a> {
    cells: &'a Cells,
    file: &'a Path,
    index: HashMap<&'a str, usize>,
}

impl<'a> Names<'a> {
    pub fn new(cells: &'a Cells, file: &'a Path) -> Self {
        let index =
            cells.names().iter().enumerate().map(|(cell, name)| (&name[..], cell)).collect();
        Self { cells, file, index }
    }

    fn find(&self, name: &str) -> Option<usize> {
        self.index.get(name).copied()
    }

    /// The cell that a row names.
    pub fn of_row(&self, path: &Path, row: &Row, column: usize) -> Result<usize, TableError> {
        let name = row.text(column);
        self.find(name).ok_or_else(|| self.unknown(path, (row.line, column), name))
    }

    fn unknown(&self, path: &Path, (line, column): (u64, usize), name: &str) -> TableError {
        TableError::UnknownCell {
            path: path.to_path_buf(),
            line,
            column: column + 1,
            name: name.to_string(),
            cells: self.file.to_path_buf(),
            known: self.cells.len(),
        }
    }

    /// The column of each cell in a header whose first column is something else. `[cells]`
    ///
    /// If no column has the name of a cell, a prefix common to all columns, or to all cells, is
    /// dropped: `c0` stands for `0`.
    fn columns(&self, table: &Table) -> Result<Vec<usize>, TableError> {
        let header = &table.header[1..];
        let exact = header.iter().any(|name| self.find(name).is_some());
        let [of_columns, of_cells] =
            [header, self.cells.names()].map(|names| if exact { "" } else { common_prefix(names) });
        let matched = |name: &str| {
            let renamed = || Some(format!("{of_cells}{}", name.strip_prefix(of_columns)?));
            self.find(name).or_else(|| self.find(&renamed()?))
        };
        let mut columns = vec![None; self.cells.len()];
        for (column, name) in header.iter().enumerate().map(|(n, name)| (n + 1, name)) {
            let cell = matched(name).ok_or_else(|| self.unknown(&table.path, (1, column), name))?;
            columns[cell] = Some(column);
        }
        let missing = |cell: usize| self.missing(&table.path, "column", cell);
        columns.into_iter().enumerate().map(|(cell, c)| c.ok_or_else(|| missing(cell))).collect()
    }

    fn missing(&self, path: &Path, what: &'static str, cell: usize) -> TableError {
        let (path, name) = (path.to_path_buf(), self.cells.name(cell).to_string());
        TableError::MissingCell { path, what, name, cells: self.file.to_path_buf() }
    }
}

/// The common prefix of all names, up to the first digit.
fn common_prefix(names: &[String]) -> &str {
    let Some(first) = names.first() else { return "" };
    let letters = first.find(|c: char| c.is_ascii_digit()).unwrap_or(0);
    let mut prefix = &first[..letters];
    while !names.iter().all(|name| name.starts_with(prefix)) {
        prefix = &prefix[..prefix.char_indices().next_back().map_or(0, |(at, _)| at)];
    }
    prefix
}

/// Reads counts: a column of times, then one for each cell. `cells_path` is where the cells are
/// from.
pub fn read_observations(
    path: &Path,
    cells: &Cells,
    cells_path: &Path,
    memory: MemoryLimit,
) -> Result<Observations, TableError> {
    let mut table = Table::open(path, memory)?;
    let columns = Names::new(cells, cells_path).columns(&table)?;
    let mut observations = Observations::new(cells.len());
    let mut seen = HashMap::new();
    while let Some(row) = table.next_row(true)? {
        let time = row.text(0).to_string();
        if time.is_empty() {
            return Err(row.unfit(0, "the name of a time"));
        }
        // A row may be shorter than the cells that it stands for.
        let counts = (observations.times().len() + 1) as f64 * cells.len() as f64;
        memory
            .check("a table of all cells at all times", BYTES_PER_COUNT * counts)
            .map_err(|error| TableError::TooLarge { path: path.to_path_buf(), error })?;
        if seen.insert(time.clone(), row.line).is_some() {
            return Err(row.repeated(format!("the time {time:?}")));
        }
        let counts: Result<Vec<_>, _> = columns.iter().map(|&c| row.observed(c)).collect();
        observations.push(time, counts?);
    }
    if observations.times().is_empty() {
        return Err(TableError::NoRows { path: path.to_path_buf() });
    }
    Ok(observations)
}

/// Reads one number for each cell: the column `name` of a file with a column `cell`, or its only
/// other column. The numbers are not negative. `[cells]`
pub fn read_cell_values(
    path: &Path,
    name: &'static str,
    cells: &Cells,
    cells_path: &Path,
    memory: MemoryLimit,
) -> Result<Vec<f64>, TableError> {
    let mut table = Table::open(path, memory)?;
    let cell = table.column(&["cell"]);
    let value = table.column(&[name]).or_else(|| {
        let only = table.header.len() == 2;
        cell.filter(|_| only).map(|cell| 1 - cell)
    });
    let (Some(cell), Some(value)) = (cell, value) else {
        return Err(table.lacks(format!("cell and {name}")));
    };
    by_cell(&mut table, &Names::new(cells, cells_path), cell, |row| row.count(value))
}

/// Reads a value for each cell; none may be missing. `[cells]`
pub(super) fn by_cell<T>(
    table: &mut Table,
    names: &Names,
    column: usize,
    read: impl Fn(&Row) -> Result<T, TableError>,
) -> Result<Vec<T>, TableError> {
    let path = table.path.clone();
    let mut values: Vec<Option<T>> = (0..names.cells.len()).map(|_| None).collect();
    while let Some(row) = table.next_row(false)? {
        let cell = names.of_row(&path, &row, column)?;
        if values[cell].is_some() {
            return Err(row.repeated(format!("the cell {:?}", row.text(column))));
        }
        values[cell] = Some(read(&row)?);
    }
    let missing = |cell: usize| names.missing(&path, "row", cell);
    values.into_iter().enumerate().map(|(cell, v)| v.ok_or_else(|| missing(cell))).collect()
}
