use std::sync::Arc;

use crate::data::Cells;

/// Wind directions, one per step: unit vectors to the east and north; `(0, 0)` for no wind.
/// `[steps]`
pub type Winds = Arc<[(f64, f64)]>;

/// A property of moves, and its weight in their log-potentials.
#[derive(Clone, Debug, PartialEq)]
pub struct Feature {
    /// The name in files and flags.
    pub name: String,
    /// Its value for a move.
    pub kind: FeatureKind,
    /// Its weight.
    pub weight: f64,
}

/// The value of a feature for a move from one cell to another at a step.
#[derive(Clone, Debug, PartialEq)]
pub enum FeatureKind {
    /// This value if the cell stays the same, else 0.
    Stay(f64),
    /// The distance.
    Distance,
    /// The distance in these units, to a power.
    Power {
        /// The unit of distance.
        unit: f64,
        /// The power.
        exponent: f64,
    },
    /// Four times the density of a log-normal distribution with parameters 1 and 1 at the distance;
    /// 0 for staying. (How far birds like to fly, in the simulator of the public challenge data.)
    Stride,
    /// The cosine of the angle to a cell; 0 for staying and in that cell.
    Goal(usize),
    /// The cosine of the angle to where the wind blows; 0 for staying and without wind.
    Wind(Winds),
    /// A value of the destination cell. `[cells]`
    Destination(Arc<[f64]>),
    /// A value of each pair of cells, 0 for pairs that are not there, by step where there is more
    /// than one table. `[tables]`, the moves of each sorted by cells
    Pairs(Arc<[Vec<(usize, usize, f64)>]>),
}

impl FeatureKind {
    /// The value for a move at a step.
    pub fn value(&self, cells: &Cells, step: usize, (from, to): (usize, usize)) -> f64 {
        match self {
            Self::Stay(value) => f64::from(from == to) * value,
            Self::Distance => cells.distance(from, to),
            Self::Power { .. } if from == to => 0.0,
            Self::Power { unit, exponent } => (cells.distance(from, to) / unit).powf(*exponent),
            Self::Stride => stride(cells.distance(from, to)),
            Self::Goal(goal) => cosine(cells.direction(from, to), cells.direction(from, *goal)),
            Self::Wind(winds) => cosine(cells.direction(from, to), Some(winds[step])),
            Self::Destination(values) => values[to],
            Self::Pairs(tables) => {
                let table = &tables[step.min(tables.len() - 1)];
                let found = table.binary_search_by(|(f, t, _)| (f, t).cmp(&(&from, &to)));
                found.map_or(0.0, |place| table[place].2)
            }
        }
    }

    /// A number that is equal for steps with equal values.
    pub(super) fn step_kind(&self, step: usize) -> usize {
        match self {
            Self::Wind(winds) => {
                let same = |wind: &&(f64, f64)| **wind == winds[step];
                winds.iter().take(step).position(|wind| same(&wind)).unwrap_or(step)
            }
            Self::Pairs(tables) => step.min(tables.len() - 1),
            _ => 0,
        }
    }

    /// How many steps it is known for, if not for all.
    pub fn steps(&self) -> Option<usize> {
        match self {
            Self::Wind(winds) => Some(winds.len()),
            Self::Pairs(tables) if tables.len() > 1 => Some(tables.len()),
            _ => None,
        }
    }
}

fn stride(distance: f64) -> f64 {
    if distance == 0.0 {
        return 0.0;
    }
    let scale = 4.0 / (distance * std::f64::consts::TAU.sqrt());
    scale * (-(distance.ln() - 1.0).powi(2) / 2.0).exp()
}

fn cosine(a: Option<(f64, f64)>, b: Option<(f64, f64)>) -> f64 {
    a.zip(b).map_or(0.0, |((x, y), (u, v))| x * u + y * v)
}
