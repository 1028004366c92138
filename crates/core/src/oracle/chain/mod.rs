//! Exact marginals on chains, by forward–backward.
//!
//! ```text
//! p(y) ∝ Π_t w_t(y_t) Π_t e_t(y_t, y_{t+1})        w = exp(θ_node + tilt), e = exp(θ_edge)
//! μ_t(k) ∝ α_t(k) β_t(k)      α_t = w_t ∘ e_{t−1}ᵀ α_{t−1}      β_t = e_t (w_{t+1} ∘ β_{t+1})
//! ```
//!
//! A [`ChainModel`] keeps the exponentials of transition tables for all sequences and threads,
//! since tilts rarely touch them. A [`Chain`] adds the node scores of one sequence, a support and
//! scratch. Messages are scaled products: two matrix–vector products per position. If potentials
//! are so extreme that this could lose probability, the call is answered in the log domain: the same
//! products, of exponentials of log-messages, and sums of logarithms where these are not enough.

mod counted;
mod covariance;
mod edges;
mod expectations;
mod forward_backward;
mod layout;
mod log_domain;
mod marginals;
mod model;
mod multiply;
mod n_best;
mod node_tilts;
mod numbering;
mod oracle;
mod paths;
mod picks;
mod product;
mod sample;
mod sequence;
mod smoother;
mod spans;
mod table;
mod temperature;
mod tilts;
mod transitions;
mod viterbi;
mod watch;

use crate::model::BaseModel;
use crate::vector::{aligned, exponential};

#[doc(hidden)]
pub mod bench;
#[cfg(test)]
mod tests;

pub use counted::{Counted, Counter};
pub use expectations::TransitionCounts;
pub use model::{ChainModel, Link};
pub use n_best::Path;
pub use oracle::Chain;
pub(crate) use smoother::FEW_STATES;
#[doc(hidden)]
pub use table::Storage;
pub use transitions::Transitions;

/// Doubles per cell of a transition table: as stated, and its exponentials both ways.
const NUMBERS_PER_CELL: f64 = 3.0;
/// Doubles per state of a position: scores, messages both ways, marginals.
const NUMBERS_PER_STATE: f64 = 6.0;

/// The memory of the tables of a chain, in bytes.
pub(super) fn estimated_bytes(base: &BaseModel) -> f64 {
    let (nodes, edges) = base.tables.split_at(base.variables());
    let cells = |tables: &[crate::model::Table]| -> f64 {
        tables.iter().map(|table| table.log_potentials.len() as f64).sum()
    };
    let numbers = NUMBERS_PER_STATE * cells(nodes) + NUMBERS_PER_CELL * cells(edges);
    numbers * size_of::<f64>() as f64
}
