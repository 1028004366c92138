//! Non-local energies `L(μ)`: any function of the marginals.
//!
//! [`Energy`] is what a person states, over variables of a [`Model`]; [`Energies`] is the sum of
//! them bound to a base model, in support coordinates, sorted by what a solver can do with each:
//!
//! * [`Measurements`] `Σ_j w_j φ_j(a_j·μ + b_j)`: convex, with conjugates, so they have a dual.
//! * [`Nearest`] `w·min_i ‖p_i − Mμ‖`: a minimum of convex pieces, each a set of measurements.
//! * every other [`EnergyFunction`]: products (mean field), a user's closure, and measurements
//!   with negative weight. Solvers see their value and gradient only.

mod agreement;
mod bind;
mod build;
mod custom;
mod error;
mod kind;
mod layout;
mod measurement;
mod multipliers;
mod nearest;
mod passes;
mod penalty;
mod product;
mod rows;
mod squared_tables;

pub use bind::Energies;
pub use build::count;
pub use custom::CustomEnergy;
pub use error::{EnergyError, EnergyFault};
pub(crate) use kind::{Kind, OfKind, Pairing, clip, specialised};
pub use measurement::Measurements;
pub use multipliers::HardRow;
pub(crate) use multipliers::StatedRow;
pub use nearest::{Nearest, Norm};
pub use passes::Valued;
pub use penalty::Penalty;
pub use product::Product;
pub use rows::Rows;
pub(crate) use rows::{Run, Sum};
pub(crate) use squared_tables::SquaredTables;

use crate::model::Model;

/// A linear function of one table's marginals.
#[derive(Clone, Debug, PartialEq)]
pub struct Term {
    /// The variables, in the order of the table's axes.
    pub scope: Vec<usize>,
    /// Row-major, last variable fastest. `[states of the scope]`
    pub coefficients: Vec<f64>,
}

/// One energy over the variables of a model.
#[derive(Clone, Debug)]
pub enum Energy {
    /// `weight · φ(Σ terms·μ + offset)`
    Measurement {
        /// Any finite number; a negative one makes the problem non-convex (except for `linear`).
        /// Hard constraints take 1.
        weight: f64,
        /// The function `φ`.
        penalty: Penalty,
        /// Added to the terms.
        offset: f64,
        /// What is measured.
        terms: Vec<Term>,
    },
    /// `weight · Σ_y φ(total·μ(y) − target(y))` over the configurations `y` of a scope: one
    /// measurement per cell, kept as a table.
    TableMeasurement {
        /// As that of a measurement.
        weight: f64,
        /// The function `φ`.
        penalty: Penalty,
        /// The variables, in the order of the table's axes.
        scope: Vec<usize>,
        /// Row-major, last variable fastest. `[states of the scope]`
        target: Vec<f64>,
        /// What the marginals are multiplied by, positive: the number of records for targets that
        /// are counts, 1 for targets that are probabilities.
        total: f64,
    },
    /// `−⟨θ, ⊗_n μ_n⟩`: a factor seen through the product of its variables' marginals.
    Product {
        /// The variables, in the order of the table's axes.
        scope: Vec<usize>,
        /// `θ`, finite, row-major.
        log_potentials: Vec<f64>,
    },
    /// `weight · min(cap, min_i ‖p_i − Mμ‖)`
    Nearest {
        /// Any finite number; `min` makes the problem non-convex anyway.
        weight: f64,
        /// How far a measurement is from a point.
        norm: Norm,
        /// The distance never counts for more than this.
        cap: Option<f64>,
        /// The rows of `M`. `[measurements][terms]`
        measurements: Vec<Vec<Term>>,
        /// `[points][measurements]`
        points: Vec<Vec<f64>>,
    },
    /// A user's own function.
    Custom(CustomEnergy),
}

/// What is known of an energy as a function of the marginals.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Curvature {
    /// Convex, and at least this much everywhere (`-∞` where no bound is known).
    Convex {
        /// A lower bound on its value.
        infimum: f64,
    },
    /// Anything.
    Unknown,
}

/// A function of the marginals on a support, with its gradient.
pub trait EnergyFunction: Send {
    /// Returns the value at `marginals` and *adds* the gradient there to `gradient`.
    ///
    /// `+∞` is a valid value (outside the energy's domain; the gradient is then unspecified). A
    /// gradient that is wrong makes solvers stop short or report false certificates.
    fn evaluate(&mut self, marginals: &[f64], gradient: &mut [f64]) -> f64;

    /// Whether it is convex. A false claim makes certificates false; `Unknown` merely forgoes them.
    fn curvature(&self) -> Curvature;

    /// Whether the gradient is continuous where the value is finite.
    fn is_smooth(&self) -> bool;
}

impl Energy {
    /// A measurement of one penalty, with offset 0.
    pub fn measurement(weight: f64, penalty: Penalty, terms: Vec<Term>) -> Self {
        Self::Measurement { weight, penalty, offset: 0.0, terms }
    }

    /// Its penalty, if it is one on measurements.
    pub fn penalty(&self) -> Option<Penalty> {
        match self {
            Self::Measurement { penalty, .. } | Self::TableMeasurement { penalty, .. } => {
                Some(*penalty)
            }
            Self::Product { .. } | Self::Nearest { .. } | Self::Custom(_) => None,
        }
    }

    /// Checks the energy against the variables of a model.
    pub fn check(&self, model: &Model) -> Result<(), EnergyError> {
        match self {
            Self::Measurement { weight, penalty, offset, terms } => {
                finite(*weight).map_err(|e| e.at("weight"))?;
                finite(*offset).map_err(|e| e.at("offset"))?;
                check_penalty(*penalty).map_err(|e| e.at("penalty"))?;
                check_terms(model, terms)
            }
            Self::TableMeasurement { weight, penalty, scope, target, total } => {
                finite(*weight).map_err(|e| e.at("weight"))?;
                check_penalty(*penalty).map_err(|e| e.at("penalty"))?;
                model.check_table(scope, target.len()).map_err(EnergyFault::from)?;
                all_finite(target).map_err(|e| e.at("target"))?;
                positive(*total).map_err(|e| e.at("total"))
            }
            Self::Product { scope, log_potentials } => {
                model.check_table(scope, log_potentials.len()).map_err(EnergyFault::from)?;
                all_finite(log_potentials).map_err(|e| e.at("log_potentials"))
            }
            Self::Nearest { weight, norm, cap, measurements, points } => {
                finite(*weight).map_err(|e| e.at("weight"))?;
                if let Norm::Huber(delta) = norm {
                    positive(*delta).map_err(|e| e.at("norm.huber"))?;
                }
                if let Some(cap) = cap {
                    not_negative(*cap).map_err(|e| e.at("cap"))?;
                }
                for (j, terms) in measurements.iter().enumerate() {
                    check_terms(model, terms).map_err(|e| e.at(&format!("measurements[{j}]")))?;
                }
                if points.is_empty() {
                    return Err(EnergyFault::NoPoints.at("points"));
                }
                for (i, point) in points.iter().enumerate() {
                    let place = format!("points[{i}]");
                    if point.len() != measurements.len() {
                        let expected = measurements.len();
                        return Err(
                            EnergyFault::PointSize { expected, found: point.len() }.at(&place)
                        );
                    }
                    all_finite(point).map_err(|e| e.at(&place))?;
                }
                Ok(())
            }
            Self::Custom(custom) => custom.check(model),
        }
    }
}

fn check_terms(model: &Model, terms: &[Term]) -> Result<(), EnergyError> {
    for (i, term) in terms.iter().enumerate() {
        let at = |fault: EnergyFault| fault.at(&format!("terms[{i}]"));
        model
            .check_table(&term.scope, term.coefficients.len())
            .map_err(|e| at(EnergyFault::from(e)))?;
        all_finite(&term.coefficients)
            .map_err(|e| e.at("coefficients").at(&format!("terms[{i}]")))?;
    }
    Ok(())
}

fn check_penalty(penalty: Penalty) -> Result<(), EnergyError> {
    match penalty {
        Penalty::Huber { delta } => positive(delta).map_err(|e| e.at("delta")),
        Penalty::Poisson { rate, count } => {
            positive(rate).map_err(|e| e.at("rate"))?;
            not_negative(count).map_err(|e| e.at("count"))
        }
        _ => Ok(()),
    }
}

fn finite(found: f64) -> Result<(), EnergyFault> {
    if found.is_finite() { Ok(()) } else { Err(EnergyFault::NotFinite { found }) }
}

fn positive(found: f64) -> Result<(), EnergyFault> {
    if found.is_finite() && found > 0.0 { Ok(()) } else { Err(EnergyFault::NotPositive { found }) }
}

fn not_negative(found: f64) -> Result<(), EnergyFault> {
    if found.is_finite() && found >= 0.0 { Ok(()) } else { Err(EnergyFault::Negative { found }) }
}

fn all_finite(values: &[f64]) -> Result<(), EnergyError> {
    for (i, &found) in values.iter().enumerate() {
        finite(found).map_err(|e| e.at(&format!("[{i}]")))?;
    }
    Ok(())
}
