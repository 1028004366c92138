//! The fitted model of a solved problem: `θ + δ`, without energies.

use rand::Rng;

use super::{Answer, Problem, Request};
use crate::model::{BaseModel, Model, ModelError};
use crate::oracle::{JunctionTree, Limits, OracleKind, Sampler};
use crate::solve::{Observer, Settings, SolveError};
use crate::support::Support;

impl Problem {
    /// Solves the problem exactly, as [`Problem::solve_with`] does, and gives the model that has the
    /// answer's marginals: the factors stated, and a factor for each table that the energies tilt.
    /// An average of iterates has no such model, and is never the answer.
    ///
    /// # Errors
    /// As [`Problem::solve_with`], and if the request is not for exact inference: only exact
    /// marginals are those of a model.
    pub fn fit(
        &self,
        settings: &Settings,
        request: &Request,
        observer: &mut dyn Observer,
    ) -> Result<(Answer, Model), SolveError> {
        let oracle = match request.oracle {
            OracleKind::Auto | OracleKind::Exact => OracleKind::Exact,
            OracleKind::TreeReweighted | OracleKind::Loopy => return Err(SolveError::Unfitted),
        };
        let request = Request { oracle, ..request.clone() };
        let solved = self.run(settings, &request, true, observer)?;
        let mut model = self.model().clone();
        for (scope, tilt) in solved.tilts() {
            model.add_factor(&scope, tilt)?;
        }
        Ok((solved.answer(self, &request)?, model))
    }
}

/// Draws records from a model.
#[derive(Clone, Debug)]
pub struct Records {
    base: BaseModel,
    sampler: Sampler,
    states: Vec<usize>,
}

impl Records {
    /// Prepares to draw from a model, exactly.
    ///
    /// # Errors
    /// If the model is too wide for exact inference, or forbids every configuration.
    pub fn of(model: &Model) -> Result<Self, ModelError> {
        Self::within(model, &Limits::default())
    }

    /// The same with other limits.
    ///
    /// # Errors
    /// As [`Records::of`], and [`ModelError::Cancelled`].
    pub fn within(model: &Model, limits: &Limits) -> Result<Self, ModelError> {
        let base = BaseModel::new(model, [])?;
        let mut tree = JunctionTree::within(&base, &Support::new(), limits)?;
        let sampler = tree.sampler(&[]).ok_or_else(|| match limits.cancel.is_cancelled() {
            true => ModelError::Cancelled,
            false => ModelError::AllForbidden,
        })?;
        let states = vec![0; base.variables()];
        Ok(Self { base, sampler, states })
    }

    /// Draws one record: the states of all variables.
    pub fn draw(&mut self, random: &mut impl Rng) -> Vec<usize> {
        self.sampler.draw(random, &mut self.states);
        self.base.complete(&self.states)
    }
}
