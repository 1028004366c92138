//! Flows from counts: how a population moved, from noisy counts per place and time.
//!
//! Individuals move from cell to cell as a Markov chain. With `μ` the marginals of one individual
//! and `M` individuals, the most likely movement (approximate MAP of a collective graphical model)
//! is
//!
//! ```text
//! minimise −H(μ) − ⟨θ, μ⟩ + (1/M) Σ_{t,i} −log p(y_{t,i} | M μ_{t,i})
//! ```
//!
//! [`data`] holds cells and counts, [`model`] the movement without counts (`θ`), [`energy`] the
//! terms of the counts. [`infer`] brings them together, and [`output`] writes the result.

pub mod birdflow;
pub mod data;
pub mod energy;
pub mod infer;
pub mod learn;
pub mod model;
pub mod output;
pub mod simulate;
pub mod uncertainty;
pub mod validate;
