use std::collections::HashMap;
use std::path::Path;

use bethe_core::MemoryLimit;

use super::read::Names;
use super::table::Table;
use super::{Cells, TableError};

/// A marked individual that was seen twice: time and cell of both sightings.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Pair {
    /// The first sighting.
    pub from: (usize, usize),
    /// The second sighting.
    pub to: (usize, usize),
}

/// Names of the columns, in order.
const COLUMNS: [&[&str]; 4] = [
    &["time_from", "week_from"],
    &["cell_from", "from"],
    &["time_to", "week_to"],
    &["cell_to", "to"],
];

/// Reads `time_from,cell_from,time_to,cell_to`; other columns are ignored. With `some`, individuals
/// that were seen at other times than these are left out, else they are an error.
pub fn read_pairs(
    path: &Path,
    (cells, file): (&Cells, &Path),
    (times, some): (&[String], bool),
    memory: MemoryLimit,
) -> Result<Vec<Pair>, TableError> {
    let mut table = Table::open(path, memory)?;
    let columns = COLUMNS.map(|names| table.column(names));
    let [Some(time_from), Some(cell_from), Some(time_to), Some(cell_to)] = columns else {
        return Err(table.lacks("time_from, cell_from, time_to and cell_to"));
    };
    let names = Names::new(cells, file);
    let index: HashMap<&str, usize> =
        times.iter().enumerate().map(|(time, name)| (&name[..], time)).collect();
    let mut pairs = Vec::new();
    while let Some(row) = table.next_row(false)? {
        let sighting = |time: usize, cell: usize| {
            let at = index.get(row.text(time)).copied();
            if at.is_none() && !some {
                return Err(row.unfit(time, "a time of the observations"));
            }
            Ok(at.zip(Some(names.of_row(path, &row, cell)?)))
        };
        let (from, to) = (sighting(time_from, cell_from)?, sighting(time_to, cell_to)?);
        pairs.extend(from.zip(to).map(|(from, to)| Pair { from, to }));
    }
    match pairs.is_empty() {
        true => Err(TableError::NoRows { path: path.to_path_buf() }),
        false => Ok(pairs),
    }
}
