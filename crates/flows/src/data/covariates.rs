//! Covariates of times, cells and pairs of cells.

use std::collections::HashMap;
use std::path::Path;
use std::sync::Arc;

use bethe_core::MemoryLimit;

use super::read::{Names, by_cell};
use super::table::Table;
use super::wind::WindColumns;
use super::{Cells, TableError};
use crate::model::FeatureKind;

/// A property of moves from a file, under the name used by features.
#[derive(Clone, Debug, PartialEq)]
pub struct Covariate {
    /// `wind`, or the name of the column.
    pub name: String,
    /// Its values.
    pub kind: FeatureKind,
}

/// Reads covariates of the steps that begin at `times`. The header says what they belong to: `from`
/// and `to` to pairs of cells, `cell` to cells, `wind` (or `u` and `v`) to times.
pub fn read_covariates(
    path: &Path,
    (cells, cells_path): (&Cells, &Path),
    times: &[String],
    memory: MemoryLimit,
) -> Result<Vec<Covariate>, TableError> {
    let mut table = Table::open(path, memory)?;
    let names = Names::new(cells, cells_path);
    let pair = table.column(&["from"]).zip(table.column(&["to"]));
    if let Some((from, to)) = pair {
        return pairs(&mut table, &names, (from, to), times);
    }
    if let Some(cell) = table.column(&["cell"]) {
        return destinations(&mut table, &names, cell);
    }
    match WindColumns::find(&table) {
        Some(columns) => winds(&mut table, columns, times),
        None => {
            Err(table
                .lacks("time and wind, time, u and v, cell and others, or from, to and others"))
        }
    }
}

fn winds(
    table: &mut Table,
    columns: WindColumns,
    times: &[String],
) -> Result<Vec<Covariate>, TableError> {
    let path = table.path.clone();
    let time = table.column(&["time"]).unwrap_or(0);
    if columns.contains(time) {
        return Err(table.lacks("a column of times beside the wind"));
    }
    let mut by_time = HashMap::new();
    while let Some(row) = table.next_row(false)? {
        let time = row.text(time).to_string();
        let what = format!("the time {time:?}");
        if by_time.insert(time, columns.read(&row)?).is_some() {
            return Err(row.repeated(what));
        }
    }
    let missing =
        |time: &String| TableError::MissingTime { path: path.clone(), time: time.clone() };
    let of_time = |time| by_time.get(time).copied().ok_or_else(|| missing(time));
    let winds: Result<Vec<_>, _> = times.iter().map(of_time).collect();
    Ok(vec![Covariate { name: "wind".to_string(), kind: FeatureKind::Wind(winds?.into()) }])
}

/// The columns that are not keys.
fn values_of(table: &Table, keys: &[Option<usize>]) -> Result<Vec<usize>, TableError> {
    let columns = (0..table.header.len()).filter(|column| !keys.contains(&Some(*column)));
    let columns: Vec<usize> = columns.collect();
    if columns.is_empty() {
        return Err(table.lacks("a column of values beside them"));
    }
    Ok(columns)
}

fn destinations(
    table: &mut Table,
    names: &Names,
    cell: usize,
) -> Result<Vec<Covariate>, TableError> {
    let columns = values_of(table, &[Some(cell)])?;
    let header = table.header.clone();
    let rows: Vec<Vec<f64>> = by_cell(table, names, cell, |row| {
        columns.iter().map(|&column| row.number(column)).collect()
    })?;
    let covariate = |(place, &column): (usize, &usize)| Covariate {
        name: header[column].clone(),
        kind: FeatureKind::Destination(rows.iter().map(|row| row[place]).collect()),
    };
    Ok(columns.iter().enumerate().map(covariate).collect())
}

/// Values of the pairs of cells at one step.
type Pairs = Vec<(usize, usize, f64)>;

fn pairs(
    table: &mut Table,
    names: &Names,
    (from, to): (usize, usize),
    times: &[String],
) -> Result<Vec<Covariate>, TableError> {
    let time = table.column(&["time"]);
    let columns = values_of(table, &[Some(from), Some(to), time])?;
    let (path, header) = (table.path.clone(), table.header.clone());
    let steps: HashMap<&str, usize> =
        times.iter().enumerate().map(|(step, time)| (&time[..], step)).collect();
    let count = if time.is_some() { times.len() } else { 1 };
    let mut tables: Vec<Vec<Pairs>> = vec![vec![Vec::new(); count]; columns.len()];
    let mut seen = HashMap::new();
    while let Some(row) = table.next_row(false)? {
        let pair = (names.of_row(&path, &row, from)?, names.of_row(&path, &row, to)?);
        let at = time.map(|time| row.text(time));
        let what = || format!("the move from {:?} to {:?}", row.text(from), row.text(to));
        if seen.insert((at.map(str::to_string), pair), row.line).is_some() {
            return Err(
                row.repeated(what() + &at.map_or(String::new(), |at| format!(" at {at:?}")))
            );
        }
        let step = at.map_or(Some(0), |at| steps.get(at).copied());
        for (tables, &column) in tables.iter_mut().zip(&columns) {
            let value = row.number(column)?;
            // Times at which no step begins are skipped.
            if let Some(step) = step {
                tables[step].push((pair.0, pair.1, value));
            }
        }
    }
    if let Some(time) = times.first()
        && tables.iter().flatten().all(Vec::is_empty)
    {
        return Err(TableError::MissingTime { path, time: time.clone() });
    }
    let mut covariates = Vec::with_capacity(columns.len());
    for (column, mut tables) in columns.into_iter().zip(tables) {
        tables.iter_mut().for_each(|table| table.sort_by_key(|&(from, to, _)| (from, to)));
        let kind = FeatureKind::Pairs(Arc::from(tables));
        covariates.push(Covariate { name: header[column].clone(), kind });
    }
    Ok(covariates)
}
