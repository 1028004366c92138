//! Cells by their coordinates.

use std::collections::HashMap;

use super::{Cells, Geometry};

/// Coordinates that differ by less than this part of the distance between neighbours are the same:
/// files round them.
const ROUNDING: f64 = 0.01;

/// Finds the cell at a place. Longitudes may count from -180 or from 0.
pub(super) struct Places<'a> {
    cells: &'a Cells,
    step: f64,
    index: HashMap<(i64, i64), Vec<usize>>,
}

impl<'a> Places<'a> {
    pub fn new(cells: &'a Cells) -> Self {
        let step = ROUNDING * cells.coordinate_spacing();
        let mut index: HashMap<_, Vec<usize>> = HashMap::new();
        for cell in 0..cells.len() {
            let place = on_one_turn(cells, step, cells.place(cell));
            index.entry(key(step, place)).or_default().push(cell);
        }
        Self { cells, step, index }
    }

    /// The nearest cell within rounding.
    pub fn find(&self, place: (f64, f64)) -> Option<usize> {
        let (x, y) = on_one_turn(self.cells, self.step, place);
        let (a, b) = key(self.step, (x, y));
        let off = |&cell: &usize| {
            let (u, v) = on_one_turn(self.cells, self.step, self.cells.place(cell));
            (u - x).abs().max((v - y).abs())
        };
        let around = (-1..=1).flat_map(|i| (-1..=1).map(move |j| (i, j)));
        let keys = around.map(|(i, j)| (a.saturating_add(i), b.saturating_add(j)));
        let near = keys.filter_map(|key| self.index.get(&key)).flatten();
        let nearest = near.min_by(|p, q| off(p).total_cmp(&off(q)))?;
        (off(nearest) <= self.step).then_some(*nearest)
    }
}

/// Turns begin a step before the meridian, so that rounding does not separate cells on it.
fn on_one_turn(cells: &Cells, step: f64, (x, y): (f64, f64)) -> (f64, f64) {
    match cells.geometry() {
        Geometry::Globe => ((x + step).rem_euclid(360.0), y),
        Geometry::Plane => (x, y),
    }
}

fn key(step: f64, (x, y): (f64, f64)) -> (i64, i64) {
    ((x / step).round() as i64, (y / step).round() as i64)
}
