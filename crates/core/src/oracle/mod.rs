//! Marginal oracles: `δ ↦ (μ(θ + δ), A(θ + δ))` and MAP at `θ + δ`.
//!
//! All implement [`Oracle`] and differ in the graphs they serve: [`BruteForce`] enumerates (tests),
//! [`Chain`] serves unions of paths, [`JunctionTree`] every graph of small treewidth,
//! [`MessagePassing`] every graph, by pseudo-marginals. [`exact`] picks the chain kernel if the
//! model is a chain, else the junction tree. [`bind`] picks by name.

mod brute_force;
pub mod chain;
mod junction_tree;
mod message_passing;

pub use brute_force::BruteForce;
pub(crate) use chain::FEW_STATES;
pub use chain::{Chain, ChainModel};
pub use junction_tree::{JunctionTree, Sampler};
pub use message_passing::MessagePassing;

use crate::cancel::Cancel;
use crate::memory::MemoryLimit;
use crate::model::{BaseModel, ModelError};
use crate::support::Support;

/// How exact an oracle's latest answer is, and so which certificates hold.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Exactness {
    /// Marginals and log-partition are those of the model.
    Exact,
    /// Marginals are those of the tree-reweighted relaxation, a convex problem of its own; the
    /// log-partition is an upper bound on its log-partition, which is one on the model's.
    TreeReweighted {
        /// An upper bound on the log-partition minus the value of the marginals,
        /// `⟨θ + δ, μ⟩ + H(μ)`. The marginals are feasible, but may not be the best.
        slack: f64,
        /// The least appearance probability of a table: errors of tables are bounded with it.
        least_appearance: f64,
        /// Whether messages stopped changing.
        is_settled: bool,
    },
    /// Marginals and log-partition are those of a fixed point of belief propagation, if it is
    /// settled, and nothing is proved of them.
    Bethe {
        /// Whether messages stopped changing.
        is_settled: bool,
    },
}

impl Exactness {
    /// The entropy that is used, as answers call it.
    pub fn name(self) -> &'static str {
        match self {
            Self::Exact => "exact",
            Self::TreeReweighted { .. } => "tree-reweighted",
            Self::Bethe { .. } => "bethe",
        }
    }

    /// An upper bound on the latest log-partition minus the value of the marginals.
    pub fn slack(self) -> f64 {
        match self {
            Self::TreeReweighted { slack, .. } => slack,
            Self::Exact | Self::Bethe { .. } => 0.0,
        }
    }

    /// Whether messages settled, if there are any.
    pub fn is_settled(self) -> Option<bool> {
        match self {
            Self::TreeReweighted { is_settled, .. } | Self::Bethe { is_settled } => {
                Some(is_settled)
            }
            Self::Exact => None,
        }
    }

    /// Whether lower bounds and proofs from log-partitions hold.
    pub fn certifies(self) -> bool {
        !matches!(self, Self::Bethe { .. })
    }

    /// The factor from `√(gap/2)`, which bounds the error of single variables' marginals, to a
    /// bound for every table.
    pub fn widening(self) -> f64 {
        match self {
            Self::TreeReweighted { least_appearance, .. } => least_appearance.sqrt().recip(),
            Self::Exact | Self::Bethe { .. } => 1.0,
        }
    }
}

/// Which oracle to use.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum OracleKind {
    /// Exact if that fits into memory, else tree-reweighted.
    #[default]
    Auto,
    /// Exact, or an error.
    Exact,
    /// [`MessagePassing::tree_reweighted`]
    TreeReweighted,
    /// [`MessagePassing::loopy`]
    Loopy,
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
/// The immutable parts (structure, cached exponentials) are shared between oracles; an oracle
/// itself belongs to one thread. Tilts are flat vectors over the support's coordinates. They are
/// finite: with an infinite or NaN entry the answers are unspecified (but nothing panics).
pub trait Oracle: Send {
    /// How exact the latest answer is. A wrong claim makes solvers report false certificates.
    fn exactness(&self) -> Exactness;

    /// The support the oracle was bound to.
    fn support(&self) -> &Support;

    /// Writes the marginals of `θ + tilt` on the support and returns the log-partition
    /// (`-∞` if every configuration is forbidden; the marginals are then unspecified), or what
    /// [`Oracle::exactness`] says it is.
    ///
    /// Marginals are non-negative, sum to the number of tables in each block, and are exactly zero
    /// where the model forbids a state. No call of an exact oracle allocates after the first.
    ///
    /// NaN is the answer of a call that was cancelled; the marginals are then unspecified.
    fn tilted(&mut self, tilt: &[f64], marginals: &mut [f64]) -> f64;

    /// Visits the marginals of whole tables at the tilt of the latest [`Oracle::tilted`] call, in
    /// ascending order of the tables. Outside the solver's loop: this may cost more than the call.
    /// `visit` may take a table out of its vector, so that large ones are not copied.
    fn visit_marginals(&mut self, tables: Tables, visit: &mut dyn FnMut(usize, &mut Vec<f64>));

    /// Writes a most probable assignment of the base variables at `θ + tilt` and returns its score
    /// (`-∞` if every configuration is forbidden). Invalidates what `visit_marginals` reads. An
    /// oracle that is not exact writes the best assignment it finds.
    fn decode(&mut self, tilt: &[f64], assignment: &mut [usize]) -> f64;

    /// The derivative of the latest answer, if this oracle knows it.
    fn second_order(&mut self) -> Option<&mut dyn Covariance> {
        None
    }
}

/// Products with the covariance `C` of the statistics on the support: how marginals change with the
/// tilt, `C = ∂μ/∂δ`.
pub trait Covariance {
    /// Writes `C·direction` at the tilt of the latest [`Oracle::tilted`] call, for about the price
    /// of such a call. `C` is symmetric and positive semidefinite. NaN is the answer of a product
    /// that was cancelled.
    ///
    /// # Panics
    /// If no call has answered since the oracle was made or decoded.
    fn covariance(&mut self, direction: &[f64], product: &mut [f64]);

    /// Divides the model's own potentials by `heat`, at least 1, from the next call on; whether this
    /// oracle can. Methods that cool a problem down change weights alone where it cannot, which is
    /// merely slower. The messages of the latest call are lost.
    fn warm(&mut self, _heat: f64) -> bool {
        false
    }

    /// An approximate inverse of `C + diag(shift)` at the tilt of the latest call, symmetric and
    /// positive; it gives 0 where the shift is infinite. `None` merely makes solvers slower.
    fn inverse(&mut self, _shift: &[f64]) -> Option<Inverse> {
        None
    }
}

/// Writes the product of a matrix with its first argument to the second.
pub type Inverse = Box<dyn FnMut(&[f64], &mut [f64])>;

/// Limits on binding an oracle.
#[derive(Clone, Debug)]
pub struct Limits {
    /// The memory of its tables.
    pub memory: MemoryLimit,
    /// Stops set-up, and calls that take long. The oracle keeps it.
    pub cancel: Cancel,
}

impl Default for Limits {
    fn default() -> Self {
        Self { memory: MemoryLimit::default(), cancel: Cancel::never() }
    }
}

/// An oracle, its name, and what its tables take.
pub struct BoundOracle {
    /// The oracle.
    pub oracle: Box<dyn Oracle>,
    /// `chain`, `junction-tree`, `trw` or `loopy`.
    pub name: &'static str,
    /// The memory of its tables in bytes, by estimate.
    pub bytes: f64,
}

/// The exact oracle for a model: the chain kernel if it is a union of paths, else a junction tree.
///
/// # Errors
/// If it needs more than the default [`MemoryLimit`].
pub fn exact(base: &BaseModel, support: &Support) -> Result<Box<dyn Oracle>, ModelError> {
    Ok(exact_within(base, support, &Limits::default())?.oracle)
}

fn exact_within(
    base: &BaseModel,
    support: &Support,
    limits: &Limits,
) -> Result<BoundOracle, ModelError> {
    if base.tables.iter().all(|table| table.scope.len() <= 2) {
        let bytes = chain::estimated_bytes(base);
        limits.memory.check("the model", bytes)?;
        if let Some(chain) = Chain::from_base_until(base, support, &limits.cancel)? {
            return Ok(BoundOracle { oracle: Box::new(chain), name: "chain", bytes });
        }
    }
    let tree = JunctionTree::within(base, support, limits)?;
    let bytes = tree.estimated_bytes();
    Ok(BoundOracle { oracle: Box::new(tree), name: "junction-tree", bytes })
}

/// The oracle of a kind for a model.
///
/// # Errors
/// If it would take more memory than the limit, or [`ModelError::Cancelled`].
pub fn bind(
    kind: OracleKind,
    base: &BaseModel,
    support: &Support,
    limits: &Limits,
) -> Result<BoundOracle, ModelError> {
    let is_reweighted = match kind {
        OracleKind::Exact => return exact_within(base, support, limits),
        OracleKind::Auto => match exact_within(base, support, limits) {
            Err(ModelError::TooWide { .. }) => true,
            found => return found,
        },
        OracleKind::TreeReweighted => true,
        OracleKind::Loopy => false,
    };
    let bytes = message_passing::estimated_bytes(base);
    limits.memory.check("message passing", bytes)?;
    let cancel = &limits.cancel;
    Ok(if is_reweighted {
        let oracle = Box::new(MessagePassing::tree_reweighted_until(base, support, cancel));
        BoundOracle { oracle, name: "trw", bytes }
    } else {
        let oracle = Box::new(MessagePassing::loopy_until(base, support, cancel));
        BoundOracle { oracle, name: "loopy", bytes }
    })
}
