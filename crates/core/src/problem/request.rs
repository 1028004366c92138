use crate::cancel::Cancel;
use crate::memory::MemoryLimit;
use crate::oracle::{Limits, OracleKind, Tables};

/// What is asked of a problem, whichever solver answers it.
#[derive(Clone, Debug)]
pub struct Request {
    /// How marginals of the base model are computed.
    pub oracle: OracleKind,
    /// Which marginals the answer shows.
    pub marginals: Tables,
    /// Whether the answer shows the tilted potentials ([`Answer::potentials`]). It is then never an
    /// average of iterates, which has none.
    ///
    /// [`Answer::potentials`]: super::Answer::potentials
    pub potentials: bool,
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
            map_budget: Self::MAP_BUDGET,
            memory_limit: MemoryLimit::default(),
            cancel: Cancel::never(),
        }
    }
}
