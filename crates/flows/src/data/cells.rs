use thiserror::Error;

/// Mean radius of the Earth in kilometres.
const EARTH: f64 = 6371.0088;
/// Relative rounding error of a distance: 0.4 − 0.3 is more than 0.1.
const ROUNDING: f64 = 1e-9;
/// Coordinates beyond this are not places; squares of their differences must stay finite.
const FARTHEST: f64 = 1e100;

/// What the two coordinates of a cell are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Geometry {
    /// `x` and `y` of a plane; distances are in their units.
    Plane,
    /// Degrees of longitude and latitude; distances are in kilometres.
    Globe,
}

/// The places that individuals move between.
#[derive(Clone, Debug, PartialEq)]
pub struct Cells {
    names: Vec<String>,
    /// `[cells]`
    places: Vec<(f64, f64)>,
    geometry: Geometry,
}

/// Why cells are not valid.
#[derive(Clone, Debug, Error, PartialEq)]
pub enum CellError {
    /// None at all.
    #[error("found no cells, expected at least one")]
    Empty,
    /// Two with the same name.
    #[error("found the cell {name:?} twice, expected each once")]
    Repeated {
        /// The name.
        name: String,
    },
    /// A coordinate that is not a number, or off the globe.
    #[error("cell {name:?}: found the coordinates {found:?}, expected {expected}")]
    Place {
        /// The cell.
        name: String,
        /// What it has.
        found: (f64, f64),
        /// What is allowed.
        expected: &'static str,
    },
}

impl Cells {
    /// Cells by name and place.
    pub fn new(
        geometry: Geometry,
        cells: impl IntoIterator<Item = (String, (f64, f64))>,
    ) -> Result<Self, CellError> {
        let (names, places): (Vec<String>, Vec<_>) = cells.into_iter().unzip();
        if names.is_empty() {
            return Err(CellError::Empty);
        }
        let mut seen = std::collections::HashSet::new();
        for (name, &(x, y)) in names.iter().zip(&places) {
            if !seen.insert(name) {
                return Err(CellError::Repeated { name: name.clone() });
            }
            let (fits, expected) = match geometry {
                Geometry::Plane => (
                    x.abs() <= FARTHEST && y.abs() <= FARTHEST,
                    "two numbers between -1e100 and 1e100",
                ),
                Geometry::Globe => (
                    (-180.0..=360.0).contains(&x) && (-90.0..=90.0).contains(&y),
                    "a longitude between -180 and 360 and a latitude between -90 and 90 degrees",
                ),
            };
            if !fits {
                return Err(CellError::Place { name: name.clone(), found: (x, y), expected });
            }
        }
        Ok(Self { names, places, geometry })
    }

    /// A grid of `columns × rows` unit cells, column by column from the lower left corner, named
    /// `Cell1`, `Cell2` and so on.
    pub fn grid(columns: usize, rows: usize) -> Self {
        let places = (0..columns).flat_map(|x| (0..rows).map(move |y| (x as f64, y as f64)));
        let named = places.enumerate().map(|(i, place)| (format!("Cell{}", i + 1), place));
        Self::new(Geometry::Plane, named).expect("a grid has cells, each once")
    }

    /// How many.
    pub fn len(&self) -> usize {
        self.names.len()
    }

    /// Always false: there is at least one cell.
    pub fn is_empty(&self) -> bool {
        self.names.is_empty()
    }

    /// What the coordinates are.
    pub fn geometry(&self) -> Geometry {
        self.geometry
    }

    /// The name of a cell.
    pub fn name(&self, cell: usize) -> &str {
        &self.names[cell]
    }

    /// The names, in order.
    pub fn names(&self) -> &[String] {
        &self.names
    }

    /// The coordinates of a cell.
    pub fn place(&self, cell: usize) -> (f64, f64) {
        self.places[cell]
    }

    /// The cell with a name.
    pub fn find(&self, name: &str) -> Option<usize> {
        self.names.iter().position(|own| own == name)
    }

    /// The distance of two cells; along the great circle on the globe.
    pub fn distance(&self, from: usize, to: usize) -> f64 {
        let ((x, y), (u, v)) = (self.places[from], self.places[to]);
        match self.geometry {
            Geometry::Plane => (u - x).hypot(v - y),
            Geometry::Globe => {
                let half = |a: f64, b: f64| ((b - a).to_radians() / 2.0).sin().powi(2);
                let across = y.to_radians().cos() * v.to_radians().cos() * half(x, u);
                2.0 * EARTH * (half(y, v) + across).min(1.0).sqrt().asin()
            }
        }
    }

    /// Cells with the coordinates of an earlier one, each after the first one there.
    pub fn at_same_place(&self) -> Vec<(usize, usize)> {
        let mut order: Vec<usize> = (0..self.len()).collect();
        let place = |cell: usize| {
            let (x, y) = self.places[cell];
            // Longitudes may count from -180 or from 0.
            if self.geometry == Geometry::Globe { (x.rem_euclid(360.0), y) } else { (x, y) }
        };
        let by_place = |&a: &usize, &b: &usize| {
            let ((x, y), (u, v)) = (place(a), place(b));
            x.total_cmp(&u).then(y.total_cmp(&v))
        };
        order.sort_by(by_place);
        let same = order.chunk_by(|&a, &b| place(a) == place(b));
        let mut pairs: Vec<(usize, usize)> =
            same.flat_map(|own| own[1..].iter().map(|&other| (own[0], other))).collect();
        pairs.sort_unstable_by_key(|&(_, other)| other);
        pairs
    }

    /// The direction from one cell to another as a unit vector, east and north; on the globe, the
    /// initial direction. `None` if both are at the same place.
    pub fn direction(&self, from: usize, to: usize) -> Option<(f64, f64)> {
        let ((x, y), (u, v)) = (self.places[from], self.places[to]);
        let (east, north) = match self.geometry {
            Geometry::Plane => (u - x, v - y),
            Geometry::Globe => {
                let (y, v, across) = (y.to_radians(), v.to_radians(), (u - x).to_radians());
                let north = y.cos() * v.sin() - y.sin() * v.cos() * across.cos();
                (across.sin() * v.cos(), north)
            }
        };
        let length = east.hypot(north);
        (length > 0.0).then(|| (east / length, north / length))
    }

    /// The cells within reach of each, including itself, ascending. Cells at exactly the reach
    /// count despite rounding. `[cells]`
    pub fn within(&self, reach: f64) -> Vec<Vec<usize>> {
        self.within_most(reach, usize::MAX).expect("there are fewer pairs of cells than numbers")
    }

    /// The same, unless that is more than this many moves in all.
    pub fn within_most(&self, reach: f64, most: usize) -> Option<Vec<Vec<usize>>> {
        let mut moves = 0;
        let reach = reach * (1.0 + ROUNDING);
        let mut order: Vec<usize> = (0..self.len()).collect();
        order.sort_by(|&a, &b| self.places[a].1.total_cmp(&self.places[b].1));
        // No two cells farther apart than this in their second coordinate are within reach.
        let span = match self.geometry {
            Geometry::Plane => reach,
            Geometry::Globe => (reach / EARTH).to_degrees(),
        } * (1.0 + ROUNDING);
        let mut near = vec![Vec::new(); self.len()];
        for (at, &cell) in order.iter().enumerate() {
            near[cell].push(cell);
            moves += 1;
            let below = |&&other: &&usize| self.places[other].1 - self.places[cell].1 <= span;
            for &other in order[at + 1..].iter().take_while(below) {
                if self.distance(cell, other) <= reach {
                    near[cell].push(other);
                    near[other].push(cell);
                    moves += 2;
                    if moves > most {
                        return None;
                    }
                }
            }
        }
        near.iter_mut().for_each(|cells| cells.sort_unstable());
        Some(near)
    }

    /// Whether at least half of the cells have another one within reach.
    pub fn has_neighbours_within(&self, reach: f64) -> bool {
        reach * (1.0 + ROUNDING) >= self.spacing()
    }

    /// The [spacing](Self::spacing) in the unit of the second coordinate: degrees on the globe.
    pub fn coordinate_spacing(&self) -> f64 {
        match self.geometry {
            Geometry::Plane => self.spacing(),
            Geometry::Globe => (self.spacing() / EARTH).to_degrees(),
        }
    }

    /// Where cells are in space, from their middle, in units of the [spacing](Self::spacing). `[cells]`
    pub(crate) fn positions(&self) -> Vec<[f64; 3]> {
        let in_space = |&(x, y): &(f64, f64)| match self.geometry {
            Geometry::Plane => [x, y, 0.0],
            Geometry::Globe => {
                let (x, y) = (x.to_radians(), y.to_radians());
                [y.cos() * x.cos(), y.cos() * x.sin(), y.sin()].map(|axis| EARTH * axis)
            }
        };
        let mut positions: Vec<[f64; 3]> = self.places.iter().map(in_space).collect();
        let (number, spacing) = (self.len() as f64, self.spacing());
        for axis in 0..3 {
            let mean = positions.iter().map(|position| position[axis] / number).sum::<f64>();
            positions.iter_mut().for_each(|own| own[axis] = (own[axis] - mean) / spacing);
        }
        positions
    }

    /// The median distance from a cell to its nearest neighbour; 1 for a single cell.
    pub fn spacing(&self) -> f64 {
        let mut order: Vec<usize> = (0..self.len()).collect();
        order.sort_by(|&a, &b| self.places[a].1.total_cmp(&self.places[b].1));
        let along = |a: usize, b: usize| {
            let off = (self.places[a].1 - self.places[b].1).abs();
            if self.geometry == Geometry::Globe { off.to_radians() * EARTH } else { off }
        };
        let nearest = |at: usize| {
            let cell = order[at];
            let mut least = f64::INFINITY;
            let sides: [&mut dyn Iterator<Item = &usize>; 2] =
                [&mut order[at + 1..].iter(), &mut order[..at].iter().rev()];
            for side in sides {
                for &other in side {
                    if along(cell, other) >= least {
                        break;
                    }
                    let distance = self.distance(cell, other);
                    if distance > 0.0 {
                        least = least.min(distance);
                    }
                }
            }
            least
        };
        let mut distances: Vec<f64> = (0..self.len()).map(nearest).collect();
        distances.sort_by(f64::total_cmp);
        let middle = [(distances.len() - 1) / 2, distances.len() / 2].map(|at| distances[at]);
        let median = middle.iter().sum::<f64>() / 2.0;
        if median.is_finite() { median } else { 1.0 }
    }
}

#[cfg(test)]
mod tests {
    use super::{Cells, Geometry};

    fn line(places: &[f64]) -> Cells {
        let named = places.iter().enumerate().map(|(n, &x)| (n.to_string(), (x, 0.0)));
        Cells::new(Geometry::Plane, named).unwrap()
    }

    #[test]
    fn directions_and_distances_of_any_places_are_numbers() {
        let far = line(&[-1e100, 0.0, 1e100]);
        assert_eq!(far.direction(0, 2), Some((1.0, 0.0)));
        assert_eq!(far.distance(0, 2), 2e100);
        let named = [("a".to_string(), (1e101, 0.0))];
        let message = Cells::new(Geometry::Plane, named).unwrap_err().to_string();
        assert!(message.contains("expected two numbers between -1e100 and 1e100"), "{message}");
    }

    #[test]
    fn cells_at_the_same_place_are_found() {
        assert_eq!(line(&[0.0, 1.0, 0.0, 2.0, 1.0, 0.0]).at_same_place(), [(0, 2), (1, 4), (0, 5)]);
        assert!(line(&[0.0, 1.0]).at_same_place().is_empty());
        let named = [("a", -170.0), ("b", 190.0)].map(|(name, lon)| (name.to_string(), (lon, 5.0)));
        assert_eq!(Cells::new(Geometry::Globe, named).unwrap().at_same_place(), [(0, 1)]);
    }

    #[test]
    fn the_grain_is_the_median_of_the_nearest_distances() {
        assert_eq!(line(&[0.0, 1.0, 11.0, 31.0]).spacing(), 5.5);
        assert_eq!(line(&[0.0, 1.0, 11.0]).spacing(), 1.0);
        assert_eq!(line(&[3.0]).spacing(), 1.0);
    }

    #[test]
    fn neighbours_at_the_reach_are_within_it_wherever_they_are() {
        for (origin, step) in [(0.0, 0.1), (5.0, 0.1), (0.0, 0.7), (1e6, 0.3)] {
            let places: Vec<f64> = (0..10).map(|n| origin + f64::from(n) * step).collect();
            let near = line(&places).within(step);
            assert_eq!(near.iter().map(Vec::len).sum::<usize>(), 28, "{origin} {step}");
        }
    }
}
