use crate::cancel::Cancel;
use crate::oracle::{OracleKind, Tables};

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
    /// Stops set-up and solver.
    pub cancel: Cancel,
}

impl Default for Request {
    fn default() -> Self {
        Self {
            oracle: OracleKind::Auto,
            marginals: Tables::All,
            potentials: false,
            cancel: Cancel::never(),
        }
    }
}
