//! A problem, from statement to answer: `minimise −H(μ) − ⟨θ, μ⟩ + L(μ)`.
//!
//! [`Problem`] is a model with energies on it. It is bound (canonical model, energies on their
//! support, an oracle), solved, and answered in the variables and factors that were stated.
//! [`mod@file`] reads and writes it as JSON, [`uai`] writes answers as the UAI competitions have
//! them. [`Problem::fit`] gives the model that an answer comes from, [`Records`] draws from one;
//! [`Problem::solve_differentiable`] gives an answer with its derivatives.

mod answer;
mod apart;
mod binding;
mod covariance;
mod differentiable;
pub mod file;
mod fitted;
mod map;
mod request;
mod solving;
pub mod uai;

pub use answer::{Answer, EnergyAnswer, Map, TableAnswer};
pub use binding::BoundProblem;
pub use covariance::{CovarianceOf, Covariances, Quantity, QuantityOf};
pub use differentiable::{Differentiable, EnergyGradients, Gradients};
pub use fitted::Records;
pub use request::Request;

use thiserror::Error;

use crate::energy::{Energy, EnergyError};
use crate::model::uai::{Sample, UaiError};
use crate::model::{Factor, Model, ModelError};

/// A model and the energies on it.
#[derive(Clone, Debug)]
pub struct Problem {
    model: Model,
    energies: Vec<Energy>,
}

/// An energy that does not fit the model.
#[derive(Clone, Debug, Error, PartialEq)]
#[error("energies[{index}]{}{error}", if error.place.is_empty() { "" } else { "." })]
pub struct ProblemError {
    /// Which energy.
    pub index: usize,
    /// What is wrong with it.
    pub error: EnergyError,
}

impl Problem {
    /// A problem whose energies were checked against the model.
    pub fn new(model: Model, energies: Vec<Energy>) -> Result<Self, ProblemError> {
        for (index, energy) in energies.iter().enumerate() {
            energy.check(&model).map_err(|error| ProblemError { index, error })?;
        }
        Ok(Self { model, energies })
    }

    /// A problem whose energies are known to fit.
    fn from_checked(model: Model, energies: Vec<Energy>) -> Self {
        Self { model, energies }
    }

    /// Adds energies that are known to fit.
    fn extend_checked(&mut self, energies: Vec<Energy>) {
        self.energies.extend(energies);
    }

    /// The model.
    pub fn model(&self) -> &Model {
        &self.model
    }

    /// The energies.
    pub fn energies(&self) -> &[Energy] {
        &self.energies
    }

    /// Adds a factor to the model.
    ///
    /// # Errors
    /// As [`Model::push_factor`].
    pub fn add_factor(&mut self, factor: Factor) -> Result<(), ModelError> {
        self.model.push_factor(factor)
    }

    /// Adds an energy.
    ///
    /// # Errors
    /// If it does not fit the model.
    pub fn add_energy(&mut self, energy: Energy) -> Result<(), ProblemError> {
        let index = self.energies.len();
        energy.check(&self.model).map_err(|error| ProblemError { index, error })?;
        self.energies.push(energy);
        Ok(())
    }

    /// Fixes a variable to a state.
    ///
    /// # Errors
    /// As [`Model::observe`].
    pub fn fix(&mut self, variable: usize, state: usize) -> Result<(), ModelError> {
        self.model.observe(variable, state)
    }

    /// Fixes the variables that a sample of evidence observes.
    pub fn observe(&mut self, sample: &Sample) -> Result<(), UaiError> {
        sample.observe(&mut self.model)
    }
}
