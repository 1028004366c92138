//! Learning: conditional random fields, and weights of global energies on top of them.
//!
//! * [`corpus`]: sequences of positions, each a list of attributes; [`dictionary`] numbers them,
//!   [`hashed`] without keeping their names.
//! * [`crf`]: `p(y | x) ∝ exp(Σ_t Σ_a x_ta w_a(y_t) + Σ_t w(y_t, y_{t+1}))`, its likelihood and
//!   gradient.
//! * [`optimise`]: limited-memory quasi-Newton with L1 or L2, stochastic gradients, bounded
//!   weights.
//! * [`energy`]: rules on counts of states, inference under them, and their weights `ψ ≥ 0`.
//! * [`archive`]: named tensors and JSON metadata in one file.
//!
//! Results do not depend on the number of threads: work is cut into fixed pieces, and sums over
//! pieces are taken in order.

pub mod archive;
pub mod attributes;
pub mod corpus;
pub mod crf;
pub mod dictionary;
pub mod energy;
pub mod fingerprint;
pub mod hashed;
pub mod optimise;
