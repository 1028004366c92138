//! Simulated maps: a flock that crosses them in a year, at BirdFlow's default weights.

use bethe_flows::birdflow::Weights;
use bethe_flows::data::{Cells, Geometry, Observations};
use bethe_flows::infer::FlowError;
use serde::Serialize;

use super::birds::fitted;

const WEEKS: usize = 52;
/// The distance of neighbours in metres.
const SPACING: f64 = 50_000.0;

/// A simulated map, certified.
#[derive(Clone, Debug, Serialize)]
pub struct Large {
    /// Number of cells.
    pub cells: usize,
    /// BirdFlow's loss.
    pub loss: f64,
    /// The certified gap over the objective.
    pub relative_gap: f64,
    /// Oracle calls.
    pub calls: usize,
    /// Seconds.
    pub seconds: f64,
}

/// Solves BirdFlow's problem on a map of about this many cells.
pub(super) fn certify(number: usize) -> Result<Large, FlowError> {
    let columns = ((number as f64 * 0.75).sqrt().round() as usize).max(1);
    let rows = number.div_ceil(columns);
    let (cells, shares) = (map(columns, rows), year(columns, rows));
    let own = fitted(("made", &Weights::default()), (&cells, &shares))?;
    let (loss, relative_gap) = (own.loss, own.relative_gap);
    Ok(Large { cells: cells.len(), loss, relative_gap, calls: own.calls, seconds: own.seconds })
}

fn map(columns: usize, rows: usize) -> Cells {
    let places = (0..columns).flat_map(|x| (0..rows).map(move |y| (x, y)));
    let named = places.map(|(x, y)| (format!("{x}-{y}"), (SPACING * x as f64, SPACING * y as f64)));
    Cells::new(Geometry::Plane, named).expect("a map has cells, each once")
}

/// Weekly distributions: two flocks that go north in spring and south in autumn, one farther west.
fn year(columns: usize, rows: usize) -> Observations {
    let mut shares = Observations::new(columns * rows);
    for week in 0..WEEKS {
        let season = (std::f64::consts::TAU * week as f64 / WEEKS as f64).cos();
        let flock = |west: f64, far: f64, width: f64| {
            let (x, y) = (west * columns as f64, (0.5 - far * season) * rows as f64);
            move |column: usize, row: usize| {
                let (dx, dy) = (column as f64 - x, row as f64 - y);
                (-(dx * dx + dy * dy) / (2.0 * width * width)).exp()
            }
        };
        let size = columns.min(rows) as f64;
        let (first, second) = (flock(0.35, 0.3, 0.12 * size), flock(0.7, 0.2, 0.08 * size));
        let places = (0..columns).flat_map(|x| (0..rows).map(move |y| (x, y)));
        let raw: Vec<f64> = places
            .map(|(x, y)| first(x, y) + 0.5 * second(x, y))
            .map(|density| if density > 1e-4 { density } else { 0.0 })
            .collect();
        let total: f64 = raw.iter().sum();
        shares.push((week + 1).to_string(), raw.into_iter().map(|own| Some(own / total)));
    }
    shares
}
