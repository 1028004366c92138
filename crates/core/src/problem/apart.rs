//! An answer in which every table has coordinates of its own.
//!
//! Solvers see tables that all energies read alike as one sum. A gradient in one coefficient, or the
//! covariance of one table with another, needs them apart.

use super::Problem;
use super::solving::Solved;
use crate::derivative::{Derivative, DerivativeError, Place, certified_gap};
use crate::energy::{Energies, Term};
use crate::model::{BaseModel, ModelError};
use crate::oracle::{BoundOracle, Covariance, Limits, Oracle, OracleKind, bind};

/// An exact answer, its oracle, and its derivative if it has one.
pub(super) struct Apart {
    pub base: BaseModel,
    pub energies: Energies,
    pub oracle: Box<dyn Oracle>,
    /// `[support]`
    pub marginals: Vec<f64>,
    pub derivative: Result<Derivative, DerivativeError>,
    /// First coordinate of each table that is in the support. `[tables]`
    starts: Vec<Option<usize>>,
}

/// Where a cell of a table over model variables lies.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Lies {
    /// At this coordinate.
    At(usize),
    /// All its variables are observed to be in its states.
    Certain,
    /// It contradicts what is observed.
    Impossible,
}

/// A linear function of marginals.
#[derive(Clone, Debug, Default)]
pub(super) struct Linear {
    /// Coordinates and their coefficients.
    pub entries: Vec<(usize, f64)>,
    /// What observed variables add.
    pub constant: f64,
}

impl Linear {
    /// A multiple of the marginal of one cell.
    pub fn cell(at: Lies, coefficient: f64) -> Self {
        match at {
            Lies::At(coordinate) => {
                Self { entries: vec![(coordinate, coefficient)], constant: 0.0 }
            }
            Lies::Certain => Self { entries: Vec::new(), constant: coefficient },
            Lies::Impossible => Self::default(),
        }
    }

    /// Its value at a vector, without the constant.
    pub fn along(&self, vector: &[f64]) -> f64 {
        self.entries.iter().map(|&(at, a)| a * vector[at]).sum()
    }
}

impl Apart {
    /// Tables of the base model that are shown, and those that energies read.
    ///
    /// # Errors
    /// If another oracle does not fit into the limits.
    pub fn new(
        solved: &Solved,
        problem: &Problem,
        shown: &[usize],
        limits: &Limits,
    ) -> Result<Self, ModelError> {
        let base = solved.bound.base.clone();
        let energies = Energies::bind_apart(&base, problem.energies(), shown);
        let bound = bind(OracleKind::Exact, &base, energies.support(), limits)?;
        let BoundOracle { mut oracle, .. } = bound;
        let support = energies.support();
        let mut starts = vec![None; base.tables.len()];
        for block in support.blocks() {
            block.tables.iter().for_each(|&table| starts[table] = Some(block.start));
        }
        let (mut tilt, mut marginals) = (vec![0.0; support.len()], vec![0.0; support.len()]);
        let solution = &solved.solution;
        for block in solved.bound.energies.support().blocks() {
            for start in block.tables.iter().filter_map(|&table| starts[table]) {
                tilt[start..start + block.len].copy_from_slice(&solution.tilt[block.range()]);
            }
        }
        if oracle.tilted(&tilt, &mut marginals).is_nan() {
            return Err(ModelError::Cancelled);
        }
        let exactness = solved.bound.oracle.exactness();
        let gap = certified_gap(exactness, &solved.bound.energies, solution);
        let derivative = gap.and_then(|gap| {
            let (tilt, marginals) = (&tilt[..], &marginals[..]);
            let place = Place { tilt, marginals, multipliers: &solution.multipliers, gap };
            Derivative::at(oracle.as_mut(), &energies, place)
        });
        Ok(Self { base, energies, oracle, marginals, derivative, starts })
    }

    /// The first coordinate of a table.
    pub fn start(&self, table: usize) -> Option<usize> {
        self.starts[table]
    }

    /// The covariance of an exact oracle.
    pub fn second_order(&mut self) -> &mut dyn Covariance {
        self.oracle.second_order().expect("exact oracles have one")
    }

    /// A measurement's terms, without its offset. Terms over tables that nothing reads are 0.
    pub fn terms(&self, terms: &[Term]) -> Linear {
        let mut linear = Linear::default();
        for term in terms {
            for (place, &coefficient) in
                self.places(&term.scope).into_iter().zip(&term.coefficients)
            {
                match place {
                    Lies::At(coordinate) => linear.entries.push((coordinate, coefficient)),
                    Lies::Certain => linear.constant += coefficient,
                    Lies::Impossible => {}
                }
            }
        }
        linear
    }

    /// Where each cell of a table over model variables lies.
    pub fn places(&self, scope: &[usize]) -> Vec<Lies> {
        let map = self.base.locate(scope).expect("the scope of an energy has its table");
        let start = map.table.map(|table| self.starts[table]);
        let of = |place: Option<usize>| match (start, place) {
            (_, None) | (Some(None), _) => Lies::Impossible,
            (None, Some(_)) => Lies::Certain,
            (Some(Some(start)), Some(place)) => Lies::At(start + place),
        };
        map.places().into_iter().map(of).collect()
    }
}
