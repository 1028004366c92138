//! Tagging sequences under global rules.
//!
//! [`data`] reads files one sequence at a time, [`features`] turns them into attributes, [`labels`]
//! turns labels into segments and into the states of a chain, and [`rules`] limit how many segments
//! there are. [`train`] makes a [`Tagger`] from these; [`score`] compares predicted labels with the
//! right ones.

mod compact;
pub mod data;
pub mod features;
mod file;
mod input;
pub mod labels;
mod model;
mod rule_training;
pub mod rules;
pub mod score;
mod scored;
mod stored_text;
mod tag;
pub mod train;

pub use file::{ContentFault, ModelError};
pub use input::{Input, InputError, Vocabulary};
pub use model::{Parts, RuleGroup, Tagger, Training, WeightFeatures};
pub use rule_training::{HeldOutGain, NoRules, RuleTraining};
pub use scored::{ScoredError, states_of};
pub use tag::decode::{Decoding, HardRules};
pub use tag::{Active, MOST_SCORE, Summary, TagError, TagOptions, Tagged, Tagging};
