//! The places of cells in a picture.

use std::collections::HashSet;

use crate::data::{Cells, Geometry};

/// Cells on a plane, `x` to the right and `y` down, within a box.
pub(super) struct Map {
    /// `[cells]`
    pub places: Vec<(f64, f64)>,
    /// Width and height.
    pub size: (f64, f64),
    /// Side or diameter of a cell.
    pub cell: f64,
    /// Whether cells are squares of a grid; circles otherwise.
    pub is_grid: bool,
    /// Where degrees are, for cells on the globe.
    pub degrees: Option<Degrees>,
}

/// `x = (longitude − west) · across` and `y = (north − latitude) · down`.
pub(super) struct Degrees {
    pub west: f64,
    pub north: f64,
    pub across: f64,
    pub down: f64,
}

/// Cells on a plane.
struct Plane {
    /// `[cells]`
    places: Vec<(f64, f64)>,
    /// The distance between neighbours.
    spacing: f64,
    /// The first longitude, and the length of a degree of longitude, on the globe.
    globe: Option<(f64, f64)>,
}

impl Map {
    /// Fits the cells into a box of this size, as large as possible.
    pub fn new(cells: &Cells, (width, height): (f64, f64)) -> Self {
        let Plane { places, spacing, globe } = plane(cells);
        let side = |place: fn(&(f64, f64)) -> f64| {
            let values = places.iter().map(place);
            let low = values.clone().fold(f64::INFINITY, f64::min);
            (low, values.fold(f64::NEG_INFINITY, f64::max) - low)
        };
        let ((left, across), (bottom, up)) = (side(|place| place.0), side(|place| place.1));
        let scale = (width / (across + spacing)).min(height / (up + spacing));
        let place = |(x, y): &(f64, f64)| {
            ((x - left + 0.5 * spacing) * scale, (up - (y - bottom) + 0.5 * spacing) * scale)
        };
        let degrees = globe.map(|(first, shrink)| Degrees {
            west: first + (left - 0.5 * spacing) / shrink,
            north: bottom + up + 0.5 * spacing,
            across: scale * shrink,
            down: scale,
        });
        Self {
            degrees,
            is_grid: is_grid(&places, spacing),
            places: places.iter().map(place).collect(),
            size: ((across + spacing) * scale, (up + spacing) * scale),
            cell: spacing * scale,
        }
    }
}

fn plane(cells: &Cells) -> Plane {
    let places: Vec<(f64, f64)> = (0..cells.len()).map(|cell| cells.place(cell)).collect();
    if cells.geometry() == Geometry::Plane {
        return Plane { places, spacing: cells.coordinate_spacing(), globe: None };
    }
    let first = first_longitude(places.iter().map(|place| place.0));
    let middle = places.iter().map(|place| place.1).sum::<f64>() / places.len() as f64;
    let shrink = middle.to_radians().cos().max(0.1);
    let flat = |(lon, lat): (f64, f64)| ((lon - first).rem_euclid(360.0) * shrink, lat);
    Plane {
        places: places.into_iter().map(flat).collect(),
        spacing: cells.coordinate_spacing(),
        globe: Some((first, shrink)),
    }
}

/// The longitude after the widest gap: cells on both sides of the date line stay together.
fn first_longitude(longitudes: impl Iterator<Item = f64>) -> f64 {
    let mut sorted: Vec<f64> = longitudes.map(|lon| lon.rem_euclid(360.0)).collect();
    sorted.sort_by(f64::total_cmp);
    let last = sorted[sorted.len() - 1] - 360.0;
    let before = std::iter::once(last).chain(sorted.iter().copied());
    let gaps = sorted.iter().zip(before).map(|(lon, before)| (lon - before, *lon));
    gaps.max_by(|a, b| a.0.total_cmp(&b.0)).map_or(0.0, |(_, lon)| lon)
}

/// Whether most cells have a neighbour to the side and one above or below, both at exactly the
/// spacing.
fn is_grid(places: &[(f64, f64)], spacing: f64) -> bool {
    const STEPS: f64 = 10.0;
    // Places so far apart are on no grid that can be seen.
    const FARTHEST: f64 = 1e15;
    let step = |along: f64| (along / spacing * STEPS).round().clamp(-FARTHEST, FARTHEST) as i64;
    let key = |x: f64, y: f64| (step(x), step(y));
    let taken: HashSet<(i64, i64)> = places.iter().map(|&(x, y)| key(x, y)).collect();
    let near = |x: f64, y: f64| {
        let (a, b) = key(x, y);
        (-1..=1).any(|i| (-1..=1).any(|j| taken.contains(&(a + i, b + j))))
    };
    let aligned = |&&(x, y): &&(f64, f64)| {
        (near(x - spacing, y) || near(x + spacing, y))
            && (near(x, y - spacing) || near(x, y + spacing))
    };
    let in_line = |place: fn(&(f64, f64)) -> f64| {
        places.iter().all(|own| (place(own) - place(&places[0])).abs() < 0.1 * spacing)
    };
    let line = in_line(|place| place.0) || in_line(|place| place.1);
    line || places.iter().filter(aligned).count() * 10 >= places.len() * 7
}
