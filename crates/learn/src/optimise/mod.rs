//! Minimisers.
//!
//! [`QuasiNewton`] is for whole corpora: limited-memory BFGS for smooth objectives, the
//! orthant-wise variant for an added L1 norm, and the same idea for weights that must not be
//! negative. [`AdaGrad`] takes one small batch at a time and touches only its weights.

mod adagrad;
mod direction;
mod first_error;
mod quasi_newton;
mod region;
mod vectors;

pub use adagrad::AdaGrad;
pub use first_error::FirstError;
pub use quasi_newton::{Outcome, QuasiNewton, QuasiNewtonSettings, State};
pub use region::Region;
