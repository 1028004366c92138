//! Files of cells and of values of cells.

use std::collections::HashMap;
use std::path::Path;

use bethe_core::MemoryLimit;

use super::table::{Row, Table, is_numbers};
use super::{Cells, Geometry, TableError};

/// Names of a column of cells, the best first.
pub(super) const CELL_NAMES: [&str; 8] =
    ["cell", "place", "site", "location", "station", "zone", "region", "area"];

/// Names of the columns of each geometry.
pub(super) const PLACES: [(Geometry, [&[&str]; 2]); 2] = [
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
    let (Some(name), Some((geometry, first, second))) = (table.preferred(&CELL_NAMES), found)
    else {
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
        if geometry == Geometry::Globe && !(-180.0..=360.0).contains(&row.number(first)?) {
            return Err(row.unfit(first, "a longitude between -180 and 360 degrees"));
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
    pub cells: &'a Cells,
    pub file: &'a Path,
    index: HashMap<&'a str, usize>,
}

impl<'a> Names<'a> {
    pub fn new(cells: &'a Cells, file: &'a Path) -> Self {
        let index =
            cells.names().iter().enumerate().map(|(cell, name)| (&name[..], cell)).collect();
        Self { cells, file, index }
    }

    pub fn find(&self, name: &str) -> Option<usize> {
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
            is_header: false,
        }
    }

    /// The column of each cell in a header whose first column is something else. `[cells]`
    ///
    /// If no column has the name of a cell, a prefix common to all columns, or to all cells, is
    /// dropped: `c0` stands for `0`.
    pub fn columns(&self, table: &Table) -> Result<Vec<usize>, TableError> {
        let header = &table.header[1..];
        let exact = header.iter().any(|name| self.find(name).is_some());
        let [of_columns, of_cells] =
            [header, self.cells.names()].map(|names| if exact { "" } else { common_prefix(names) });
        let matched = |name: &str| {
            let renamed = || Some(format!("{of_cells}{}", name.strip_prefix(of_columns)?));
            self.find(name).or_else(|| self.find(&renamed()?))
        };
        let mut columns = vec![None; self.cells.len()];
        let names_a_cell = header.iter().any(|name| matched(name).is_some());
        if !names_a_cell && is_numbers(&table.header) {
            return Err(TableError::NoHeader { path: table.path.clone() });
        }
        for (column, name) in header.iter().enumerate().map(|(n, name)| (n + 1, name)) {
            let cell = matched(name).ok_or_else(|| {
                let mut error = self.unknown(&table.path, (1, column), name);
                if let TableError::UnknownCell { is_header, .. } = &mut error {
                    *is_header = !names_a_cell;
                }
                error
            })?;
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
