//! The paper's third experiment: every solver and a general interior-point solver on the same
//! problems, flows against the truth, weights learned from counts, real birds.

mod accuracy;
mod birds;
mod challenge;
mod files;
mod instance;
mod interior_point;
mod nonlinear;
mod page;
mod report;
mod run;
mod stopwatch;
mod trial;

pub use accuracy::Accuracy;
pub use birds::Birds;
pub use challenge::{Challenge, ChallengeError};
pub use files::FileError;
pub(crate) use files::{read_seasons, read_truth};
pub(crate) use instance::REACH;
pub use instance::{Instance, Variation, hard_set};
pub use interior_point::{Formulation, InteriorPoint, Posed};
pub use nonlinear::solve_by_nonlinear_bp;
pub use page::TABLES;
pub use run::{Options, Report, run};
pub use trial::Row;
