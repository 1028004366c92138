//! Ising grids: a classic graph that soon becomes too wide, and every kind of inference on it.
//!
//! Mean field is a special case of this project's problem: the base model keeps the couplings of a
//! forest, [`Base`], and the others enter as `product` energies of marginals.

mod comparison;
mod grid;

pub use comparison::{Comparison, Entry, compare};
pub use grid::{Base, Couplings, Grid};
