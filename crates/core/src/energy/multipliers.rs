//! Multipliers of rows, as those of the energies that a person stated.

use std::ops::Range;

use super::bind::{Slot, is_whole};
use super::{Energies, Energy, Measurements};
use crate::model::BaseModel;

impl Measurements {
    /// `w_j φ_j′(z_j)`, at kinks one of the slopes, 0 for hard constraints. `[rows]`
    pub fn slopes(&self, marginals: &[f64]) -> Vec<f64> {
        let slope = |row: usize| {
            self.weights()[row] * self.penalty(row).derivative(self.rows().measure(row, marginals))
        };
        (0..self.len()).map(slope).collect()
    }
}

/// A row that states a hard constraint.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct HardRow {
    /// Which of the stated energies it belongs to.
    pub energy: usize,
    /// The row of [`Energies::measurements`].
    pub row: usize,
}

/// The rows that one stated measurement became.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct StatedRow {
    pub row: usize,
    /// The row that says that `z` is not negative: `−z ≤ 0`.
    pub negated: Option<usize>,
}

impl Energies {
    /// The rows of each measurement that an energy states, one per cell for a table in the stated
    /// order; none without a weight, and for energies that are not convex measurements.
    pub(crate) fn stated_rows(
        &self,
        base: &BaseModel,
        index: usize,
        energy: &Energy,
    ) -> Vec<StatedRow> {
        let Slot::Rows(rows) = &self.slots[index] else { return Vec::new() };
        let mut found: Vec<StatedRow> = Vec::with_capacity(rows.len());
        for row in rows.clone() {
            match found.last_mut() {
                Some(last) if self.negated.binary_search(&row).is_ok() => last.negated = Some(row),
                _ => found.push(StatedRow { row, negated: None }),
            }
        }
        let Energy::TableMeasurement { penalty, scope, .. } = energy else { return found };
        let map = base.locate(scope).expect("every scope was added to the model");
        if found.is_empty() || !is_whole(base, &map, *penalty) {
            return found;
        }
        let places = map.places().into_iter();
        places.map(|place| found[place.expect("a whole table has every cell")]).collect()
    }

    /// The rows of hard constraints, in the order stated. That what a Poisson penalty counts is not
    /// negative is none: that row belongs to a soft penalty.
    pub fn hard_rows(&self) -> impl Iterator<Item = HardRow> + '_ {
        self.slots.iter().enumerate().flat_map(move |(energy, slot)| {
            let rows = match slot {
                Slot::Rows(rows) => rows.clone(),
                Slot::Nearest(_) | Slot::Other(_) | Slot::Negative(..) => 0..0,
            };
            let is_hard = |row: &usize| {
                let hard = self.measurements.penalty(*row).is_hard();
                hard && self.negated.binary_search(row).is_err()
            };
            rows.filter(is_hard).map(move |row| HardRow { energy, row })
        })
    }

    /// The multipliers of each stated energy that is a measurement, or one per cell of a table in
    /// the stated order, given those of all rows of [`Energies::measurements`]. `[energies]`
    ///
    /// # Panics
    /// If `stated` are not the energies that were bound.
    pub fn stated_multipliers(
        &self,
        base: &BaseModel,
        stated: &[Energy],
        of_rows: &[f64],
        marginals: &[f64],
    ) -> Vec<Option<Vec<f64>>> {
        let of_slot = |(slot, energy): (&Slot, &Energy)| {
            let cells = match energy {
                Energy::Measurement { .. } => 1,
                Energy::TableMeasurement { target, .. } => target.len(),
                Energy::Product { .. } | Energy::Nearest { .. } | Energy::Custom(_) => return None,
            };
            let own = match slot {
                Slot::Rows(rows) => self.joined(rows.clone(), of_rows),
                Slot::Negative(_, alone) => alone.slopes(marginals),
                Slot::Nearest(_) | Slot::Other(_) => unreachable!("measurements have rows"),
            };
            // Without a weight there is no row.
            if own.is_empty() { Some(vec![0.0; cells]) } else { Some(ordered(base, energy, own)) }
        };
        assert_eq!(self.slots.len(), stated.len(), "the energies that were bound");
        self.slots.iter().zip(stated).map(of_slot).collect()
    }

    /// One multiplier per stated measurement: that `z` is not negative may have a row of its own.
    fn joined(&self, rows: Range<usize>, of_rows: &[f64]) -> Vec<f64> {
        let mut joined: Vec<f64> = Vec::with_capacity(rows.len());
        for row in rows {
            match joined.last_mut() {
                Some(last) if self.negated.binary_search(&row).is_ok() => *last -= of_rows[row],
                _ => joined.push(of_rows[row]),
            }
        }
        joined
    }
}

/// Multipliers of cells in the stated order: whole tables are bound in the base table's.
fn ordered(base: &BaseModel, energy: &Energy, own: Vec<f64>) -> Vec<f64> {
    let Energy::TableMeasurement { penalty, scope, .. } = energy else { return own };
    let map = base.locate(scope).expect("every scope was added to the model");
    if is_whole(base, &map, *penalty) { map.scatter(&own) } else { own }
}
