use super::Problem;
use crate::cancel::Cancel;
use crate::energy::Energies;
use crate::model::{BaseModel, ModelError};
use crate::oracle::{Oracle, OracleKind, bind};
use crate::solve::{SolveError, Task, check_finite};

/// A problem ready to solve: canonical model, bound energies, oracle.
pub struct BoundProblem {
    /// The canonical form of the model.
    pub base: BaseModel,
    /// The energies in support coordinates.
    pub energies: Energies,
    /// An oracle for it.
    pub oracle: Box<dyn Oracle>,
}

impl BoundProblem {
    /// What [`solve`](crate::solve::solve()) takes.
    pub fn task(&mut self) -> Task<'_> {
        let (lowest_score, score_size) = (self.base.lowest_score(), self.base.score_size());
        Task { lowest_score, score_size, ..Task::new(self.oracle.as_mut(), &mut self.energies) }
    }
}

impl Problem {
    /// Checks whether the problem can be solved, without solving it.
    ///
    /// # Errors
    /// As [`Problem::bind_to`], and if every configuration is forbidden or sums overflow.
    pub fn check_solvable(&self, oracle: OracleKind) -> Result<BoundProblem, SolveError> {
        let bound = self.bind_to(oracle, &Cancel::never());
        let mut bound = bound.map_err(|error| self.blamed(error.into()))?;
        let width = bound.energies.support().len();
        let base = bound.oracle.tilted(&vec![0.0; width], &mut vec![0.0; width]);
        check_finite(base, &bound.energies).map_err(|error| self.blamed(error))?;
        Ok(bound)
    }

    /// Distinguishes impossible evidence from a model that forbids everything.
    pub(super) fn blamed(&self, error: SolveError) -> SolveError {
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
    ///
    /// # Errors
    /// If the model is too wide for exact inference, or allows nothing.
    pub fn bind(&self) -> Result<BoundProblem, ModelError> {
        self.bind_to(OracleKind::Exact, &Cancel::never())
    }

    /// The same with an oracle of another kind. The oracle keeps the token, and calls of it stop
    /// too once it is cancelled.
    ///
    /// # Errors
    /// If inference is to be exact and the model is too wide, if it allows nothing, or
    /// [`ModelError::Cancelled`].
    pub fn bind_to(&self, oracle: OracleKind, cancel: &Cancel) -> Result<BoundProblem, ModelError> {
        let go_on = || if cancel.is_cancelled() { Err(ModelError::Cancelled) } else { Ok(()) };
        go_on()?;
        let base = BaseModel::new(&self.model, Energies::scopes(&self.energies))?;
        go_on()?;
        let energies = Energies::bind(&base, &self.energies);
        go_on()?;
        let oracle = bind(oracle, &base, energies.support(), cancel)?;
        go_on()?;
        Ok(BoundProblem { base, energies, oracle })
    }
}
