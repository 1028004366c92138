//! Squared errors of whole tables, and nothing else.

use std::ops::Range;

use super::agreement::{Agreement, Lay};
use super::{Energies, Penalty};

/// Probabilities sum to 1. The sizes of targets that sum to more than this are mostly noise: the
/// nearest distribution has next to nothing there.
const DROWNED: f64 = 100.0;

/// Rows that measure the cells of a table, one by one.
#[derive(Clone, Debug)]
pub(crate) struct MeasuredTable {
    pub rows: Range<usize>,
    pub lay: Lay,
}

/// The energy `Σ_i W_i/2·(μ_i − p̄_i)² + constant` over all coordinates of a support, where the
/// targets `p̄` agree.
#[derive(Clone, Debug)]
pub(crate) struct SquaredTables {
    /// `W`. `[support]`
    pub weights: Vec<f64>,
    /// `1/W`. `[support]`
    pub inverse_weights: Vec<f64>,
    /// `p̄`. `[support]`
    pub targets: Vec<f64>,
    pub constant: f64,
    agreement: Agreement,
    is_even: bool,
    /// `W(p̄ − p)`, where `p` are the targets as stated: a tilt that changes no distribution.
    /// `[support]`
    agreeing: Vec<f64>,
    stated: Vec<StatedTable>,
}

/// A table as it was stated: what its rows have of the weights and targets of their cells.
#[derive(Clone, Debug)]
struct StatedTable {
    rows: Range<usize>,
    /// First coordinate.
    start: usize,
    /// `a`, of every row.
    total: f64,
    /// Its part of the weight of a cell.
    share: f64,
    /// Its weight times what its targets are below those of all tables of these cells; empty if
    /// there are no others. `[rows]`
    below: Vec<f64>,
}

impl Energies {
    /// Whether the energies are squared errors of whole tables that cover all there is to see, and
    /// how many cells are in tables that are drowned in noise.
    fn squared_table_cells(&self) -> Option<[usize; 2]> {
        let measurements = &self.measurements;
        let alone = self.nearest.is_empty() && self.others.is_empty() && !self.tables.is_empty();
        let squared = |row: usize| measurements.penalty(row) == Penalty::Squared;
        if !alone || !(0..measurements.len()).all(squared) {
            return None;
        }
        let mut covered = vec![false; self.support().len()];
        let (mut rows, mut drowned) = (0, 0);
        for MeasuredTable { rows: own, lay } in &self.tables {
            covered[lay.start..lay.start + lay.cells()].fill(true);
            rows += own.len();
            self.table_weight(own)?;
            let sizes = own.clone().map(|row| measurements.rows().offset(row).abs()).sum::<f64>();
            drowned += if sizes > DROWNED * self.total(own.start) { own.len() } else { 0 };
        }
        (rows == measurements.len() && covered.into_iter().all(|seen| seen))
            .then_some([rows, drowned])
    }

    /// Whether some measured tables share a variable: also where they are the same.
    pub(crate) fn tables_overlap(&self) -> bool {
        let mut seen = rustc_hash::FxHashMap::default();
        self.tables.iter().enumerate().any(|(number, table)| {
            let other = |v: &usize| *seen.entry(*v).or_insert(number) != number;
            table.lay.scope.iter().any(other)
        })
    }

    /// Whether the energies are squared errors of whole tables, most cells of which are measured
    /// well enough to tell them from an even distribution's.
    pub(crate) fn has_telling_tables(&self) -> bool {
        self.squared_table_cells().is_some_and(|[all, drowned]| 2 * drowned < all)
    }

    /// The weight of a table's rows as one of probabilities, if they all have the same.
    fn table_weight(&self, rows: &Range<usize>) -> Option<f64> {
        let weights = &self.measurements.weights()[rows.clone()];
        let total = self.total(rows.start);
        let weight = weights[0] * total * total;
        let is_usable = weight.is_normal() && (1.0 / weight).is_finite();
        (is_usable && weights.iter().all(|weight| *weight == weights[0])).then_some(weight)
    }

    fn total(&self, row: usize) -> f64 {
        self.measurements.rows().entries(row).map(|(_, coefficient)| coefficient).sum()
    }
}

impl SquaredTables {
    /// The energies in this form, if [`Energies::has_telling_tables`].
    pub fn new(energies: &Energies) -> Self {
        let width = energies.support().len();
        let (mut weights, mut targets) = (vec![0.0; width], vec![0.0; width]);
        let (rows, mut lays) = (energies.measurements.rows(), Vec::<Lay>::new());
        let mut squares = 0.0;
        for MeasuredTable { rows: own, lay } in &energies.tables {
            let total = energies.total(own.start);
            let weight = energies.table_weight(own).expect("one weight for a table");
            if weights[lay.start] == 0.0 {
                lays.push(lay.clone());
            }
            // Several measurements of a cell are one of their mean.
            for (cell, row) in (lay.start..).zip(own.clone()) {
                let target = -rows.offset(row) / total;
                weights[cell] += weight;
                let apart = target - targets[cell];
                targets[cell] += weight / weights[cell] * apart;
                squares += 0.5 * weight * apart * (target - targets[cell]);
            }
        }
        let stated_tables = energies.tables.iter().map(|MeasuredTable { rows: own, lay }| {
            let total = energies.total(own.start);
            let weight = energies.table_weight(own).expect("one weight for a table");
            let share = weight / weights[lay.start];
            let below =
                |(cell, row): (usize, usize)| weight * (targets[cell] + rows.offset(row) / total);
            let below = if share == 1.0 {
                Vec::new()
            } else {
                (lay.start..).zip(own.clone()).map(below).collect()
            };
            StatedTable { rows: own.clone(), start: lay.start, total, share, below }
        });
        let stated_tables: Vec<StatedTable> = stated_tables.collect();
        let of_tables: Vec<f64> = lays.iter().map(|lay| weights[lay.start]).collect();
        let mut agreement = Agreement::new(lays, &of_tables);
        let stated = targets.clone();
        agreement.project(&mut targets, 1.0);
        let apart = weights.iter().zip(stated.iter().zip(&targets));
        squares += apart.map(|(w, (p, agreed))| 0.5 * w * (p - agreed).powi(2)).sum::<f64>();
        let inputs = weights.iter().zip(targets.iter().zip(&stated));
        let agreeing = inputs.map(|(w, (agreed, p))| w * (agreed - p)).collect();
        Self {
            agreeing,
            stated: stated_tables,
            inverse_weights: weights.iter().map(|weight| 1.0 / weight).collect(),
            is_even: weights.iter().all(|weight| *weight == weights[0]),
            weights,
            targets,
            constant: squares,
            agreement,
        }
    }

    /// Appends the multiplier of every row. They tilt the model by `−Σ λ_j a_j`, which differs from
    /// this tilt by one that changes no distribution, and are `w_j z_j` at the optimum.
    pub fn multipliers(&self, tilt: &[f64], into: &mut Vec<f64>) {
        let from = into.len();
        into.resize(from + self.stated.iter().map(|table| table.rows.len()).sum::<usize>(), 0.0);
        for StatedTable { rows, start, total, share, below } in &self.stated {
            let inputs = self.agreeing[*start..].iter().zip(&tilt[*start..]);
            let own = &mut into[from + rows.start..from + rows.end];
            for (place, (multiplier, (agreeing, tilt))) in own.iter_mut().zip(inputs).enumerate() {
                let below = below.get(place).copied().unwrap_or(0.0);
                *multiplier = (share * (agreeing - tilt) + below) / total;
            }
        }
    }

    /// Projects a step in tilts on those that multiples `W_i` of tables that agree, and sum to 0,
    /// lead to: what it loses changes no distribution.
    pub fn project_tilt(&mut self, tilt: &mut [f64]) {
        if !self.is_even {
            tilt.iter_mut().zip(&self.inverse_weights).for_each(|(t, inverse)| *t *= inverse);
        }
        self.agreement.project(tilt, 0.0);
        if !self.is_even {
            tilt.iter_mut().zip(&self.weights).for_each(|(t, weight)| *t *= weight);
        }
    }
}
