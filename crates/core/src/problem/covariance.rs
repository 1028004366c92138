//! Error bars: the covariance of what energies measure, or of the states of some variables.

use super::apart::{Apart, Lies, Linear};
use super::solving::Solved;
use super::{Problem, Request};
use crate::derivative::{Derivative, DerivativeError};
use crate::energy::Energy;
use crate::model::ModelError;
use crate::oracle::Limits;
use crate::solve::{SolveError, Status};

/// Of which quantities to show the covariance.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum CovarianceOf {
    /// Of every measurement, and of every cell of a measured table.
    Measurements,
    /// Of every state of these variables.
    Variables(Vec<usize>),
}

/// The covariance of some quantities, in two senses.
#[derive(Clone, Debug, PartialEq)]
pub struct Covariances {
    /// In the order of rows and columns.
    pub quantities: Vec<Quantity>,
    /// How the quantities vary from one draw of the answer's distribution to the next: `A C Aᵀ`.
    pub distribution: Vec<Vec<f64>>,
    /// How uncertain their values are, given what the energies measure: `A J Aᵀ`. Less than
    /// `distribution`, since the measurements were seen. For a population of `M` that was measured,
    /// the covariance of counts is `M` times this. `None` where the answer has no derivative:
    /// energies are not convex measurements, or the answer is not proved.
    pub inferred: Option<Vec<Vec<f64>>>,
}

/// A quantity with error bars.
#[derive(Clone, Debug, PartialEq)]
pub struct Quantity {
    /// What it is.
    pub of: QuantityOf,
    /// Its value at the answer: what a measurement's terms sum up to, or a probability.
    pub value: f64,
    /// The standard deviation of one draw.
    pub deviation: f64,
    /// The standard deviation of what was inferred, see [`Covariances::inferred`].
    pub inferred_deviation: Option<f64>,
}

/// What a quantity is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum QuantityOf {
    /// The terms of a measurement.
    Measurement {
        /// Which energy.
        energy: usize,
    },
    /// A cell of a measured table, times its total.
    Cell {
        /// Which energy.
        energy: usize,
        /// Which cell of its target.
        cell: usize,
    },
    /// The probability of a state.
    State {
        /// The variable.
        variable: usize,
        /// Its state.
        state: usize,
    },
}

/// Numbers a pair of quantities takes: one of each matrix.
const NUMBERS_PER_PAIR: usize = 2;

impl Solved {
    /// The covariance, if it is asked for and there is something to vary.
    pub(super) fn covariance(
        &self,
        problem: &Problem,
        request: &Request,
    ) -> Result<Option<Covariances>, SolveError> {
        match &request.covariance {
            Some(of) if self.solution.status != Status::Infeasible => {
                self.covariances(problem, request, of).map(Some)
            }
            _ => Ok(None),
        }
    }

    fn covariances(
        &self,
        problem: &Problem,
        request: &Request,
        of: &CovarianceOf,
    ) -> Result<Covariances, SolveError> {
        let variables = problem.model().variables().len();
        let mut shown = Vec::new();
        if let CovarianceOf::Variables(chosen) = of {
            if let Some(&found) = chosen.iter().find(|&&variable| variable >= variables) {
                return Err(ModelError::UnknownVariable { found, variables }.into());
            }
            shown.extend(chosen.iter().filter_map(|&v| self.bound.base.table_of(&[v])));
        }
        let limits = Limits { memory: request.memory_limit, cancel: self.cancel.clone() };
        let failed = |error: ModelError| match (&error, self.cancel.cause()) {
            (ModelError::Cancelled, Some(cause)) => self.clock.error(cause),
            _ => error.into(),
        };
        let mut apart = Apart::new(self, problem, &shown, &limits).map_err(failed)?;
        let named = quantities(problem, &apart, of);
        let pairs = (named.len() * named.len() * NUMBERS_PER_PAIR * size_of::<f64>()) as f64;
        request.memory_limit.check("the covariance", pairs).map_err(|e| failed(e.into()))?;
        apart.covariances(named).ok_or_else(|| failed(ModelError::Cancelled))
    }
}

/// What is asked for, as functions of marginals.
fn quantities(problem: &Problem, apart: &Apart, of: &CovarianceOf) -> Vec<(QuantityOf, Linear)> {
    let mut found = Vec::new();
    match of {
        CovarianceOf::Variables(variables) => {
            for &variable in variables {
                for (state, at) in apart.places(&[variable]).into_iter().enumerate() {
                    found.push((QuantityOf::State { variable, state }, Linear::cell(at, 1.0)));
                }
            }
        }
        CovarianceOf::Measurements => {
            for (energy, stated) in problem.energies().iter().enumerate() {
                match stated {
                    Energy::Measurement { terms, .. } => {
                        found.push((QuantityOf::Measurement { energy }, apart.terms(terms)));
                    }
                    Energy::TableMeasurement { scope, total, .. } => {
                        let cells = apart.places(scope).into_iter().enumerate();
                        found.extend(cells.map(|(cell, at): (usize, Lies)| {
                            (QuantityOf::Cell { energy, cell }, Linear::cell(at, *total))
                        }));
                    }
                    Energy::Product { .. } | Energy::Nearest { .. } | Energy::Custom(_) => {}
                }
            }
        }
    }
    found
}

impl Apart {
    /// None if it is cancelled.
    fn covariances(&mut self, named: Vec<(QuantityOf, Linear)>) -> Option<Covariances> {
        let functions: Vec<&Linear> = named.iter().map(|(_, function)| function).collect();
        let width = self.marginals.len();
        let distribution = symmetric(&functions, width, |direction, product| {
            self.second_order().covariance(direction, product);
            Some(())
        })?;
        let inferred = match &self.derivative {
            Err(_) => None,
            Ok(derivative) => {
                let oracle = self.oracle.as_mut();
                let mut cancelled = false;
                let found = symmetric(&functions, width, |direction, product| {
                    let found = Derivative::inferred(derivative, oracle, direction);
                    cancelled |= matches!(found, Err(DerivativeError::Cancelled));
                    product.copy_from_slice(&found.ok()?);
                    Some(())
                });
                if cancelled {
                    return None;
                }
                found
            }
        };
        let deviation = |matrix: &[Vec<f64>], at: usize| matrix[at][at].max(0.0).sqrt();
        let quantities = named.iter().enumerate().map(|(at, (of, function))| Quantity {
            of: *of,
            value: function.along(&self.marginals) + function.constant,
            deviation: deviation(&distribution, at),
            inferred_deviation: inferred.as_ref().map(|matrix| deviation(matrix, at)),
        });
        let quantities = quantities.collect();
        Some(Covariances { quantities, distribution, inferred })
    }
}

/// `A M Aᵀ` for a symmetric `M` that is known by its products; none if a product is.
fn symmetric(
    functions: &[&Linear],
    width: usize,
    mut multiply: impl FnMut(&[f64], &mut [f64]) -> Option<()>,
) -> Option<Vec<Vec<f64>>> {
    let mut matrix = vec![vec![0.0; functions.len()]; functions.len()];
    let (mut direction, mut product) = (vec![0.0; width], vec![0.0; width]);
    for (row, function) in functions.iter().enumerate() {
        direction.fill(0.0);
        function.entries.iter().for_each(|&(at, a)| direction[at] += a);
        multiply(&direction, &mut product)?;
        for (column, other) in functions[..=row].iter().enumerate() {
            let value = other.along(&product);
            if value.is_nan() {
                return None;
            }
            (matrix[row][column], matrix[column][row]) = (value, value);
        }
    }
    Some(matrix)
}
