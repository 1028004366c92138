//! Files of counts: a column for each cell, or a row for each count.

use std::collections::{HashMap, HashSet};
use std::path::Path;

use bethe_core::MemoryLimit;

use super::calendar;
use super::places::Places;
use super::read::{CELL_NAMES, Names, PLACES};
use super::table::{Row, Table};
use super::{Cells, Geometry, Observations, TableError};

/// A count, what noise makes of it, and what inference keeps of a cell at a time.
const BYTES_PER_COUNT: f64 = 100.0;

/// Names of the columns of a long file, the best first.
const TIMES: [&str; 9] =
    ["time", "t", "date", "datetime", "day", "week", "month", "year", "period"];
const COUNTS: [&str; 9] =
    ["count", "counts", "value", "n", "z", "number", "abundance", "individuals", "observed"];

/// What a pair of a time and a cell without a row in a long file means.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Unlisted {
    /// Nobody counted.
    Unobserved,
    /// Nobody was there.
    Zero,
}

/// How a file of counts is laid out.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Layout {
    /// A row for each time, a column for each cell.
    Wide,
    /// A row for each count.
    Long {
        /// Pairs of a time and a cell without a row.
        unlisted: usize,
    },
}

/// Reads counts. A wide file has a column of times, then one for each cell; a long file has a
/// column for the time, one for the cell (or two for its coordinates) and one for the count.
/// `cells_path` is where the cells are from.
pub fn read_observations(
    path: &Path,
    (cells, cells_path): (&Cells, &Path),
    unlisted: Unlisted,
    memory: MemoryLimit,
) -> Result<(Observations, Layout), TableError> {
    let mut table = Table::open(path, memory)?;
    let names = Names::new(cells, cells_path);
    let fits = |times: usize| {
        let counts = times as f64 * cells.len() as f64;
        memory
            .check("a table of all cells at all times", BYTES_PER_COUNT * counts)
            .map_err(|error| TableError::TooLarge { path: path.to_path_buf(), error })
    };
    let read = match LongColumns::find(&table, &names) {
        Some(columns) => long(&mut table, &names, &columns, (unlisted, &fits))?,
        None => (wide(&mut table, &names, &fits)?, Layout::Wide),
    };
    if read.0.times().is_empty() {
        return Err(TableError::NoRows { path: path.to_path_buf() });
    }
    Ok(read)
}

/// Refuses more times than fit into memory.
type Fits<'a> = &'a dyn Fn(usize) -> Result<(), TableError>;

fn wide(table: &mut Table, names: &Names, fits: Fits) -> Result<Observations, TableError> {
    let columns = names.columns(table)?;
    let mut observations = Observations::new(names.cells.len());
    let mut seen = HashSet::new();
    while let Some(row) = table.next_row(true)? {
        let time = time_of(&row, 0)?;
        // A row may be shorter than the cells that it stands for.
        fits(observations.times().len() + 1)?;
        if !seen.insert(time.clone()) {
            return Err(row.repeated(format!("the time {time:?}")));
        }
        let counts: Result<Vec<_>, _> = columns.iter().map(|&c| row.observed(c)).collect();
        observations.push(time, counts?);
    }
    Ok(observations)
}

fn time_of(row: &Row, column: usize) -> Result<String, TableError> {
    match row.text(column) {
        "" => Err(row.unfit(column, "the name of a time")),
        time => Ok(time.to_string()),
    }
}

/// The columns of a long file.
struct LongColumns {
    time: usize,
    cell: CellColumn,
    count: usize,
}

enum CellColumn {
    Named(usize),
    At(usize, usize),
}

impl LongColumns {
    /// `None` if a column has the name of a cell: then the file is wide.
    fn find(table: &Table, names: &Names) -> Option<Self> {
        let time = table.preferred(&TIMES)?;
        let count = table.preferred(&COUNTS)?;
        let named = table.preferred(&CELL_NAMES).map(CellColumn::Named);
        let cell = named.or_else(|| {
            // Rasters have x and y for degrees too.
            let own = PLACES
                .iter()
                .filter(|(own, _)| *own == names.cells.geometry() || *own == Geometry::Plane);
            own.rev().find_map(|(_, [first, second])| {
                Some(CellColumn::At(table.column(first)?, table.column(second)?))
            })
        })?;
        let others = table.header.iter().enumerate().filter(|(column, _)| *column != time);
        let is_wide = others.into_iter().any(|(_, name)| names.find(name).is_some());
        (!is_wide).then_some(Self { time, cell, count })
    }
}

fn long(
    table: &mut Table,
    names: &Names,
    columns: &LongColumns,
    (meaning, fits): (Unlisted, Fits),
) -> Result<(Observations, Layout), TableError> {
    let (path, cells) = (table.path.clone(), names.cells.len());
    let places = matches!(columns.cell, CellColumn::At(..)).then(|| Places::new(names.cells));
    let mut index: HashMap<String, usize> = HashMap::new();
    let mut times: Vec<(String, Vec<Option<Option<f64>>>)> = Vec::new();
    while let Some(row) = table.next_row(false)? {
        let time = time_of(&row, columns.time)?;
        let cell = match (&columns.cell, &places) {
            (CellColumn::At(first, second), Some(places)) => {
                let found = (row.number(*first)?, row.number(*second)?);
                let (path, line) = (path.clone(), row.line);
                let (cells, known) = (names.file.to_path_buf(), names.cells.len());
                let unknown = TableError::NoCellThere { path, line, found, cells, known };
                places.find(found).ok_or(unknown)?
            }
            (CellColumn::Named(column) | CellColumn::At(column, _), _) => {
                names.of_row(&path, &row, *column)?
            }
        };
        let count = row.observed(columns.count)?;
        let at = match index.get(&time) {
            Some(&at) => at,
            None => {
                fits(times.len() + 1)?;
                index.insert(time.clone(), times.len());
                times.push((time, vec![None; cells]));
                times.len() - 1
            }
        };
        let (time, counts) = &mut times[at];
        if counts[cell].replace(count).is_some() {
            let name = names.cells.name(cell);
            return Err(row.repeated(format!("the cell {name:?} at the time {time:?}")));
        }
    }
    calendar::sort(&mut times);
    let listed = times.iter().flat_map(|(_, counts)| counts).flatten().count();
    let mut observations = Observations::new(cells);
    let unlisted = times.len() * cells - listed;
    let otherwise = (meaning == Unlisted::Zero).then_some(0.0);
    for (time, counts) in times {
        observations.push(time, counts.into_iter().map(|count| count.unwrap_or(otherwise)));
    }
    Ok((observations, Layout::Long { unlisted }))
}
