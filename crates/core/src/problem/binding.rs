use super::Problem;
use crate::cancel::Cancel;
use crate::energy::Energies;
use crate::memory::MemoryLimit;
use crate::model::{BaseModel, ModelError};
use crate::oracle::{BoundOracle, Limits, Oracle, OracleKind, bind};
use crate::solve::{SolveError, Task, check_finite};

/// Model, canonical form, scratch and answer of a single variable, per state.
const BYTES_PER_STATE: f64 = 50.0;
/// A table of the model, which its canonical form shares, and its marginals, per cell.
const BYTES_PER_CELL: f64 = 16.0;

/// A problem ready to solve: canonical model, bound energies, oracle.
pub struct BoundProblem {
    /// The canonical form of the model.
    pub base: BaseModel,
    /// The energies in support coordinates.
    pub energies: Energies,
    /// An oracle for it.
    pub oracle: Box<dyn Oracle>,
    /// What answers call it.
    pub oracle_name: &'static str,
    /// The memory of its tables in bytes, by estimate.
    pub oracle_bytes: f64,
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
    pub fn check_solvable(
        &self,
        oracle: OracleKind,
        memory: MemoryLimit,
    ) -> Result<BoundProblem, SolveError> {
        let bound = self.bind_within(oracle, &Limits { memory, ..Limits::default() });
        let mut bound = bound.map_err(|error| self.blamed(error.into(), memory))?;
        let width = bound.energies.support().len();
        let base = bound.oracle.tilted(&vec![0.0; width], &mut vec![0.0; width]);
        check_finite(base, &bound.energies).map_err(|error| self.blamed(error, memory))?;
        Ok(bound)
    }

    /// Distinguishes impossible evidence from a model that forbids everything.
    pub(super) fn blamed(&self, error: SolveError, memory: MemoryLimit) -> SolveError {
        let nothing = SolveError::Model(ModelError::AllForbidden);
        if error != nothing || self.model.observed().iter().all(Option::is_none) {
            return error;
        }
        let model = self.model.clone().without_observations();
        match (Self { model, energies: Vec::new() }).check_solvable(OracleKind::Auto, memory) {
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
    /// If exact inference is asked for and the model is too wide, if it allows nothing, or
    /// [`ModelError::Cancelled`].
    pub fn bind_to(&self, oracle: OracleKind, cancel: &Cancel) -> Result<BoundProblem, ModelError> {
        let limits = Limits { cancel: cancel.clone(), ..Limits::default() };
        self.bind_within(oracle, &limits)
    }

    /// The same with another limit on memory.
    ///
    /// # Errors
    /// As [`Problem::bind_to`], and if the model does not fit into the limit with any oracle.
    pub fn bind_within(
        &self,
        oracle: OracleKind,
        limits: &Limits,
    ) -> Result<BoundProblem, ModelError> {
        let Limits { memory, cancel } = limits;
        let go_on = || if cancel.is_cancelled() { Err(ModelError::Cancelled) } else { Ok(()) };
        go_on()?;
        BaseModel::check_states(&self.model)?;
        memory.check("the model", self.estimated_bytes())?;
        let base = BaseModel::new(&self.model, Energies::scopes(&self.energies))?;
        go_on()?;
        let energies = Energies::bind(&base, &self.energies);
        go_on()?;
        let bound = bind(oracle, &base, energies.support(), limits)?;
        go_on()?;
        let BoundOracle { oracle, name: oracle_name, bytes: oracle_bytes } = bound;
        Ok(BoundProblem { base, energies, oracle, oracle_name, oracle_bytes })
    }

    /// What the model takes on its own: its tables, their canonical form and the answer.
    fn estimated_bytes(&self) -> f64 {
        let states = self.model.variables().iter().map(|v| v.cardinality as f64);
        let cells = self.model.factors().iter().map(|factor| factor.log_potentials.len() as f64);
        BYTES_PER_STATE * states.sum::<f64>() + BYTES_PER_CELL * cells.sum::<f64>()
    }
}
