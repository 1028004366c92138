//! Tagging sequences under global rules.
//!
//! [`data`] reads files one sequence at a time, [`features`] turns them into attributes, [`labels`]
//! turns labels into segments and into the states of a chain, [`rules`] are constraints on how many
//! segments there are. A [`Tagger`] is what [`train`] makes of all that; [`score`] compares
//! predicted labels with the right ones.

pub mod data;
mod decode;
pub mod features;
mod file;
mod input;
pub mod labels;
mod model;
pub mod rules;
pub mod score;
mod scored;
mod tag;
mod tag_error;
pub mod train;

pub use decode::{Decoding, HardRules};
pub use file::{ContentFault, ModelError};
pub use input::{Input, InputError};
pub use model::{Parts, RuleTraining, Tagger, Training, WeightFeatures};
pub use scored::{ScoredError, states_of};
pub use tag::{Active, MOST_SCORE, Summary, TagOptions, Tagged, Tagging};
pub use tag_error::TagError;
