//! Flows from counts: how a population moved, from noisy counts per place and time.
//!
//! Individuals move from cell to cell as a Markov chain does. With `μ` the marginals of one
//! individual and `M` of them, the most likely movement of all is (approximate MAP of a collective
//! graphical model)
//!
//! ```text
//! minimise −H(μ) − ⟨θ, μ⟩ + (1/M) Σ_{t,i} −log p(y_{t,i} | M μ_{t,i})
//! ```
//!
//! [`data`] holds cells and counts, [`model`] what movement looks like without counts (`θ`),
//! [`energy`] what a count says, [`infer`] brings them together, [`output`] writes what came of it.

pub mod data;
pub mod energy;
pub mod infer;
pub mod learn;
pub mod model;
pub mod output;
pub mod simulate;
