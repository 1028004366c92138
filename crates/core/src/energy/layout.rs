//! Which tables energies see, where each lies in the support, and rows in its coordinates.

use rustc_hash::FxHashMap;

use super::{Energy, Rows, Term};
use crate::model::BaseModel;
use crate::support::Support;

/// A linear function over base tables: the sum of a list of terms.
pub(super) struct LinearRow {
    /// Ascending tables, each with its coefficients in the base table's order.
    pub(super) tables: Vec<(usize, Vec<f64>)>,
    /// The offset, and what fixed variables add to it.
    pub(super) offset_parts: Vec<f64>,
}

pub(super) fn linear_rows(base: &BaseModel, energy: &Energy) -> Vec<LinearRow> {
    match energy {
        Energy::Measurement { terms, offset, .. } => vec![linear_row(base, terms, *offset)],
        Energy::Nearest { measurements, .. } => {
            measurements.iter().map(|terms| linear_row(base, terms, 0.0)).collect()
        }
        _ => Vec::new(),
    }
}

fn linear_row(base: &BaseModel, terms: &[Term], offset: f64) -> LinearRow {
    let mut offset_parts = vec![offset];
    let mut tables: FxHashMap<usize, Vec<f64>> = FxHashMap::default();
    for term in terms {
        let map = base.locate(&term.scope).expect("every term's scope was added to the model");
        let Some(table) = map.table else {
            offset_parts.push(map.gather(&term.coefficients, 1)[0]);
            continue;
        };
        let size = base.tables[table].log_potentials.len();
        let own = map.gather(&term.coefficients, size);
        let sum = tables.entry(table).or_insert_with(|| vec![0.0; size]);
        sum.iter_mut().zip(own).for_each(|(sum, own)| *sum += own);
    }
    let mut tables: Vec<(usize, Vec<f64>)> = tables
        .into_iter()
        .filter(|(_, coefficients)| coefficients.iter().any(|&c| c != 0.0))
        .collect();
    tables.sort_unstable_by_key(|(table, _)| *table);
    LinearRow { tables, offset_parts }
}

/// Tables that some energy sees one by one, not only through sums, in the order in which energies
/// do: rows of one table after another then read one column after another.
pub(super) fn whole_tables(base: &BaseModel, energies: &[Energy]) -> Vec<usize> {
    let mut whole = Vec::new();
    let mut marked = vec![false; base.tables.len()];
    let mut mark = |scope: &[usize]| {
        if let Some(table) = base.table_of(scope)
            && !std::mem::replace(&mut marked[table], true)
        {
            whole.push(table);
        }
    };
    for energy in energies {
        match energy {
            Energy::Product { scope, .. } => scope.iter().for_each(|&v| mark(&[v])),
            Energy::Custom(custom) => custom.scopes.iter().for_each(|scope| mark(scope)),
            Energy::TableMeasurement { scope, weight, .. } if *weight != 0.0 => mark(scope),
            Energy::TableMeasurement { .. }
            | Energy::Measurement { .. }
            | Energy::Nearest { .. } => {}
        }
    }
    whole
}

/// A multiple of the marginal of one cell of a table, and an offset. Where the cell contradicts what
/// is observed, or is forbidden, the marginal is 0.
pub(super) struct CellRow {
    /// None where every variable is observed.
    pub(super) table: Option<usize>,
    /// None where the cell contradicts that.
    pub(super) cell: Option<usize>,
    pub(super) multiple: f64,
    pub(super) offset: f64,
}

/// The support, and where each table lies in it.
pub(super) struct Layout {
    pub(super) support: Support,
    /// First coordinate of each table's block (0 for tables outside). `[tables]`
    pub(super) start: Vec<usize>,
}

impl Layout {
    pub(super) fn new(base: &BaseModel, linear: &[LinearRow], whole: Vec<usize>) -> Self {
        // Tables share a block if every row reads them alike: compare all they are read with.
        let mut reading: Vec<Vec<u64>> = vec![Vec::new(); base.tables.len()];
        for (index, row) in linear.iter().enumerate() {
            for (table, coefficients) in &row.tables {
                reading[*table].push(index as u64);
                reading[*table].extend(coefficients.iter().map(|c| c.to_bits()));
            }
        }
        let mut groups: Vec<Vec<usize>> = Vec::new();
        for table in whole {
            reading[table].clear();
            groups.push(vec![table]);
        }
        let mut group_of: FxHashMap<(usize, Vec<u64>), usize> = FxHashMap::default();
        for (table, reading) in reading.into_iter().enumerate() {
            if !reading.is_empty() {
                let size = base.tables[table].log_potentials.len();
                let group = *group_of.entry((size, reading)).or_insert(groups.len());
                if group == groups.len() {
                    groups.push(Vec::new());
                }
                groups[group].push(table);
            }
        }
        let mut layout = Self { support: Support::new(), start: vec![0; base.tables.len()] };
        for tables in groups {
            let size = base.tables[tables[0]].log_potentials.len();
            for &table in &tables {
                layout.start[table] = layout.support.len();
            }
            layout.support.add(tables, size);
        }
        layout
    }

    /// Adds a row for one cell.
    pub(super) fn push_cell(&self, base: &BaseModel, row: CellRow, rows: &mut Rows) {
        let CellRow { table, cell, multiple, offset } = row;
        match (table, cell) {
            (Some(table), Some(cell)) if base.tables[table].log_potentials[cell].is_finite() => {
                let entry = (self.start[table] + cell, multiple);
                rows.push([entry], &[offset], (offset, offset + multiple));
            }
            // Every variable is fixed, to the states of this cell.
            (None, Some(_)) => {
                let sum = offset + multiple;
                rows.push([], &[offset, multiple], (sum, sum));
            }
            _ => rows.push([], &[offset], (offset, offset)),
        }
    }

    /// Adds a row, in support coordinates, with the range of its values over allowed states.
    pub(super) fn push(&self, row: &LinearRow, base: &BaseModel, rows: &mut Rows) {
        let offset: f64 = row.offset_parts.iter().sum();
        let (mut low, mut high) = (offset, offset);
        let mut entries: FxHashMap<usize, f64> = FxHashMap::default();
        for (table, coefficients) in &row.tables {
            let allowed = base.tables[*table].log_potentials.iter().zip(coefficients);
            let allowed =
                allowed.filter(|(potential, _)| **potential > f64::NEG_INFINITY).map(|(_, &c)| c);
            let (least, greatest) =
                allowed.fold((f64::INFINITY, f64::NEG_INFINITY), |(l, g), c| (l.min(c), g.max(c)));
            low += least.min(greatest);
            high += greatest.max(least);
            // A cell that is forbidden in every table of its block has marginal 0 whatever happens.
            let start = self.start[*table];
            for (cell, &coefficient) in coefficients.iter().enumerate() {
                if coefficient != 0.0 && base.tables[*table].log_potentials[cell].is_finite() {
                    entries.insert(start + cell, coefficient);
                }
            }
        }
        let mut entries: Vec<(usize, f64)> = entries.into_iter().collect();
        entries.sort_unstable_by_key(|&(column, _)| column);
        rows.push(entries, &row.offset_parts, (low, high));
    }
}
