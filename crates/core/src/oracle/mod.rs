//! Marginal oracles: `δ ↦ (μ(θ + δ), A(θ + δ))` and MAP at `θ + δ`.
//!
//! All share [`Oracle`] and differ in the graphs they serve: [`BruteForce`] enumerates (tests),
//! [`Chain`] serves unions of paths, [`JunctionTree`] every graph of small treewidth. [`exact`]
//! picks: the chain kernel where the model is a chain, else the junction tree.

mod brute_force;
pub mod chain;
mod junction_tree;

pub use brute_force::BruteForce;
pub use chain::{Chain, ChainModel};
pub use junction_tree::{JunctionTree, Sampler};

use crate::model::{BaseModel, ModelError};
use crate::support::Support;

/// What an oracle's log-partition is worth, and so which certificates may be claimed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Exactness {
    /// Marginals and log-partition are those of the model.
    Exact,
}

/// Which tables of the base model to visit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Tables {
    /// Every table.
    All,
    /// The tables of single variables, `0..variables`.
    Nodes,
    /// None.
    None,
}

/// A base model, bound to a support, with the scratch memory to answer queries on it.
///
/// The immutable parts (structure, cached exponentials) are shared between oracles; an oracle itself
/// belongs to one thread. Tilts are flat vectors over the support's coordinates. They are finite:
/// with an infinite or NaN entry the answers are unspecified (but nothing panics).
pub trait Oracle: Send {
    /// What the answers are worth. A wrong claim here makes solvers report false certificates.
    fn exactness(&self) -> Exactness;

    /// The support the oracle was bound to.
    fn support(&self) -> &Support;

    /// Writes the marginals of `θ + tilt` on the support and returns the log-partition
    /// (`-∞` where every configuration is forbidden; the marginals are then unspecified).
    ///
    /// Marginals are non-negative, sum to the number of tables in each block, and are exactly zero
    /// where the model forbids a state. No call allocates after the first.
    fn tilted(&mut self, tilt: &[f64], marginals: &mut [f64]) -> f64;

    /// Visits the marginals of whole tables at the tilt of the latest [`Oracle::tilted`] call, in
    /// ascending order of the tables. Outside the solver's loop: this may cost more than the call.
    fn visit_marginals(&mut self, tables: Tables, visit: &mut dyn FnMut(usize, &[f64]));

    /// Writes a most probable assignment of the base variables at `θ + tilt` and returns its score
    /// (`-∞` where every configuration is forbidden). Invalidates what `visit_marginals` reads.
    fn decode(&mut self, tilt: &[f64], assignment: &mut [usize]) -> f64;
}

/// The exact oracle for a model: the chain kernel if it is a union of paths, else a junction tree.
pub fn exact(base: &BaseModel, support: &Support) -> Result<Box<dyn Oracle>, ModelError> {
    match Chain::from_base(base, support) {
        Some(chain) => Ok(Box::new(chain)),
        None => Ok(Box::new(JunctionTree::new(base, support)?)),
    }
}
