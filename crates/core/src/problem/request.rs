use super::CovarianceOf;
use crate::cancel::Cancel;
use crate::memory::MemoryLimit;
use crate::oracle::{Limits, OracleKind, Tables};
use crate::solve::SolveError;

/// What is asked of a problem, whichever solver answers it.
#[derive(Clone, Debug)]
pub struct Request {
    /// How marginals of the base model are computed.
    pub oracle: OracleKind,
    /// Which marginals the answer shows.
    pub marginals: Tables,
    /// Whether the answer shows the tilted potentials ([`Answer::potentials`]) and the tilt
    /// ([`Answer::tilt`]). It is then never an average of iterates, which has none.
    ///
    /// [`Answer::potentials`]: super::Answer::potentials
    /// [`Answer::tilt`]: super::Answer::tilt
    pub potentials: bool,
    /// Of which quantities the answer shows the covariance ([`Answer::covariance`]). Inference is
    /// then exact, and the answer never an average of iterates.
    ///
    /// [`Answer::covariance`]: super::Answer::covariance
    pub covariance: Option<CovarianceOf>,
    /// Most cells of tables that the search for [`Answer::map`] visits, where hard measurements need
    /// one. The same budget gives the same answer.
    ///
    /// [`Answer::map`]: super::Answer::map
    pub map_budget: usize,
    /// How much memory inference may take.
    pub memory_limit: MemoryLimit,
    /// Stops set-up, solver, and the search for the assignment.
    pub cancel: Cancel,
}

impl Request {
    /// The default of [`Request::map_budget`]: seconds at most, on chains and small graphs far less.
    pub const MAP_BUDGET: usize = 100_000_000;

    /// The same with an oracle that can do what is asked for.
    pub(super) fn checked(&self) -> Result<Self, SolveError> {
        if self.covariance.is_some() { self.exact() } else { Ok(self.clone()) }
    }

    /// The same with an exact oracle.
    pub(super) fn exact(&self) -> Result<Self, SolveError> {
        match self.oracle {
            OracleKind::TreeReweighted | OracleKind::Loopy => Err(SolveError::NoCovariance),
            OracleKind::Auto | OracleKind::Exact => {
                Ok(Self { oracle: OracleKind::Exact, ..self.clone() })
            }
        }
    }

    pub(super) fn limits(&self) -> Limits {
        Limits { memory: self.memory_limit, cancel: self.cancel.clone() }
    }
}

impl Default for Request {
    fn default() -> Self {
        Self {
            oracle: OracleKind::Auto,
            marginals: Tables::All,
            potentials: false,
            covariance: None,
            map_budget: Self::MAP_BUDGET,
            memory_limit: MemoryLimit::default(),
            cancel: Cancel::never(),
        }
    }
}
