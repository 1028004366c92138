//! Linear-chain conditional random fields.
//!
//! ```text
//! p(y | x) ∝ exp(Σ_t score_t(y_t) + Σ_t w(y_t, y_{t+1}))      score_t(k) = Σ_a x_ta w_a(k)
//! ```
//!
//! [`Structure`] says which weights exist (one per attribute and state seen together, one per seen
//! transition) and what is forbidden. A [`Crf`] adds the weights. Training minimises
//! [`Likelihood`] in the weights, or in parameters that states share ([`Sharing`]). Tagging starts
//! from [`Scorer`].

mod likelihood;
mod residual;
mod rows;
mod scores;
mod sharing;
mod stochastic;
mod structure;
mod visits;

pub use likelihood::Likelihood;
pub(crate) use likelihood::cut;
pub use residual::Residual;
pub use rows::{AttributeRows, MOST_STATES};
pub use scores::Scorer;
pub use sharing::Sharing;
pub use stochastic::Stochastic;
pub use structure::{AttributeStates, Borders, Structure, StructureFault, Transitions};
pub(crate) use visits::Visits;

use std::sync::Arc;

use bethe_core::oracle::ChainModel;

/// A conditional random field: a structure and its weights.
#[derive(Clone, Debug)]
pub struct Crf {
    /// The meaning of the weights.
    pub structure: Arc<Structure>,
    /// The weights, in the order of [`Structure`].
    pub weights: Vec<f64>,
}

impl Crf {
    /// The shared part of the chains of all sequences.
    pub fn chain_model(&self) -> Arc<ChainModel> {
        Arc::new(self.structure.chain_model(&self.weights))
    }

    /// The same model without zero weights and without attributes that have no others; and the new
    /// number of each attribute, if it has one.
    pub fn pruned(&self) -> (Self, Vec<Option<u32>>) {
        let (structure, weights, numbers) = self.structure.pruned(&self.weights);
        (Self { structure: Arc::new(structure), weights }, numbers)
    }
}
