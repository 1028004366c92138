//! Where the wind blows to.

use super::TableError;
use super::table::{Row, Table};

/// The points of the compass, clockwise from north.
const COMPASS: [&str; 16] = [
    "N", "NNE", "NE", "ENE", "E", "ESE", "SE", "SSE", "S", "SSW", "SW", "WSW", "W", "WNW", "NW",
    "NNW",
];

/// How a file gives the wind.
#[derive(Clone, Copy)]
pub(super) enum WindColumns {
    /// A point of the compass, `calm`, or degrees clockwise from north.
    Direction(usize),
    /// Components to the east and to the north.
    Components(usize, usize),
}

impl WindColumns {
    pub fn find(table: &Table) -> Option<Self> {
        let components = table.column(&["u"]).zip(table.column(&["v"]));
        let direction = table.column(&["wind"]).map(Self::Direction);
        direction.or(components.map(|(u, v)| Self::Components(u, v)))
    }

    pub fn contains(self, column: usize) -> bool {
        match self {
            Self::Direction(own) => own == column,
            Self::Components(u, v) => [u, v].contains(&column),
        }
    }

    /// A unit vector to the east and north, or `(0, 0)`.
    pub fn read(self, row: &Row) -> Result<(f64, f64), TableError> {
        match self {
            Self::Direction(column) => {
                let expected = "calm, a point of the compass such as NE, or degrees from north";
                let found = direction(row.text(column), || row.decimal(column));
                found.ok_or_else(|| row.unfit(column, expected))
            }
            Self::Components(u, v) => {
                let (east, north) = (row.number(u)?, row.number(v)?);
                let strength = east.hypot(north);
                Ok(if strength > 0.0 { (east / strength, north / strength) } else { (0.0, 0.0) })
            }
        }
    }
}

fn direction(text: &str, degrees: impl Fn() -> Option<f64>) -> Option<(f64, f64)> {
    if text.eq_ignore_ascii_case("calm") {
        return Some((0.0, 0.0));
    }
    let point = COMPASS.iter().position(|name| text.eq_ignore_ascii_case(name));
    // Quarter turns are exact, so that two nights with the same wind share a table.
    if let Some(quarter) = point.filter(|point| point % 4 == 0) {
        return Some([(0.0, 1.0), (1.0, 0.0), (0.0, -1.0), (-1.0, 0.0)][quarter / 4]);
    }
    let degrees = point.map(|point| point as f64 * 22.5).or_else(degrees);
    let radians = degrees?.to_radians();
    Some((radians.sin(), radians.cos()))
}

#[cfg(test)]
mod tests {
    fn direction(text: &str) -> Option<(f64, f64)> {
        super::direction(text, || text.parse().ok().filter(|degrees: &f64| degrees.is_finite()))
    }

    #[test]
    fn names_and_degrees_point_the_same_way() {
        for (name, degrees) in [("N", "0"), ("e", "90"), ("SW", "225"), ("wnw", "292.5")] {
            let ((a, b), (c, d)) = (direction(name).unwrap(), direction(degrees).unwrap());
            assert!((a - c).abs() < 1e-12 && (b - d).abs() < 1e-12, "{name} {degrees}");
        }
        assert_eq!(direction("calm"), Some((0.0, 0.0)));
        for wrong in ["", "north", "inf", "NaN", "EN"] {
            assert_eq!(direction(wrong), None, "{wrong}");
        }
    }
}
