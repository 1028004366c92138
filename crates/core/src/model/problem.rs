use thiserror::Error;

use super::uai::{Sample, UaiError};
use super::{BaseModel, Model, ModelError};
use crate::energy::{Energies, Energy, EnergyError};
use crate::oracle::{Oracle, OracleKind, bind};
use crate::solve::{SolveError, check_finite};

/// A model and the energies on it: `minimise −H(μ) − ⟨θ, μ⟩ + L(μ)`.
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

/// A problem made ready to solve: canonical model, bound energies, oracle.
pub struct BoundProblem {
    /// The canonical form of the model.
    pub base: BaseModel,
    /// The energies in support coordinates.
    pub energies: Energies,
    /// An oracle for it.
    pub oracle: Box<dyn Oracle>,
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
    pub(super) fn from_checked(model: Model, energies: Vec<Energy>) -> Self {
        Self { model, energies }
    }

    /// Adds energies that are known to fit.
    pub(super) fn extend_checked(&mut self, energies: Vec<Energy>) {
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

    /// Fixes the variables that a sample of evidence observes.
    pub fn observe(&mut self, sample: &Sample) -> Result<(), UaiError> {
        sample.observe(&mut self.model)
    }

    /// Whether the problem can be solved at all, short of solving it.
    ///
    /// # Errors
    /// As [`Problem::bind_to`], and if every configuration is forbidden or sums overflow.
    pub fn check_solvable(&self, oracle: OracleKind) -> Result<BoundProblem, SolveError> {
        let mut bound = self.bind_to(oracle).map_err(|error| self.blamed(error.into()))?;
        let width = bound.energies.support().len();
        let base = bound.oracle.tilted(&vec![0.0; width], &mut vec![0.0; width]);
        check_finite(base, &bound.energies).map_err(|error| self.blamed(error))?;
        Ok(bound)
    }

    /// Tells evidence that cannot be from a model that allows nothing anyway.
    pub(crate) fn blamed(&self, error: SolveError) -> SolveError {
        let nothing = SolveError::Model(ModelError::AllForbidden);
        if error != nothing || self.model.observed().iter().all(Option::is_none) {
            return error;
        }
        let model = self.model.clone().without_observations();
        match (Self { model, energies: Vec::new() }).check_solvable(OracleKind::Auto) {
            Err(same) if same == nothing => same,
            _ => ModelError::ImpossibleEvidence.into(),
        }
    }

    /// Canonical model, bound energies and the exact oracle for them.
    pub fn bind(&self) -> Result<BoundProblem, ModelError> {
        self.bind_to(OracleKind::Exact)
    }

    /// The same with an oracle of another kind.
    pub fn bind_to(&self, oracle: OracleKind) -> Result<BoundProblem, ModelError> {
        let base = BaseModel::new(&self.model, Energies::scopes(&self.energies))?;
        let energies = Energies::bind(&base, &self.energies);
        let oracle = bind(oracle, &base, energies.support())?;
        Ok(BoundProblem { base, energies, oracle })
    }
}
