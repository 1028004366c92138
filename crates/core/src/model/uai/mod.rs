//! The text formats of the UAI inference competitions: models (`MARKOV`, `BAYES`) and evidence.
//! Results are written by [`problem::uai`](crate::problem::uai).
//!
//! Words are separated by any white space. A table holds factors, not their logarithms: zero
//! becomes `-∞` and forbids a configuration. Rows of `BAYES` tables need not sum to one. Some
//! files go on after their end: the rest is [`Ignored`], which is reported but is not an error.
//!
//! ```
//! use bethe_core::model::uai::Evidence;
//! use bethe_core::{Model, Problem};
//!
//! let mut model = Model::from_uai(b"MARKOV 2  2 2  1  2 0 1  4  1 2 3 4")?;
//! Evidence::from_uai(b"1 0 1")?.samples()[0].observe(&mut model)?;
//! let answer = Problem::new(model, vec![])?.solve()?;
//! assert!((answer.log_partition - 7f64.ln()).abs() < 1e-12);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod error;
mod evidence;
mod ignored;
mod model;
mod words;

pub use error::UaiError;
pub use evidence::{Evidence, Sample};
pub use ignored::Ignored;
pub use model::read_model;
