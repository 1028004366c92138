//! What the commands with a tagger share: flags, limits on inference, scores, batches of sequences
//! and figures about rules.

mod batches;
mod flags;
mod limits;
mod progress;
mod scores;
mod statistics;
mod text;

use std::path::Path;

use anyhow::Result;
use bethe_core::MemoryLimit;
use bethe_tagging::labels::States;
use bethe_tagging::{Input, RuleGroup, Tagger};
use bethe_terminal::bad_input;

use crate::kind::refuse_all_but_models;

pub use batches::{Batches, Item, SHARE, tag_all};
pub use flags::{ModelComesFirst, TaggerFlags};
pub use limits::LimitFlags;
pub use progress::FileProgress;
pub use scores::Scores;
pub use statistics::Statistics;
pub use text::Tokens;

/// Reads a model file that fits into the limit.
pub fn read_tagger(path: &Path, memory: MemoryLimit) -> Result<Tagger> {
    refuse_all_but_models(path)?;
    Tagger::load_within(path, memory).map_err(|error| bad_input(error.to_string()))
}

/// Rules that say the same, as the heaviest of them in words and what all weigh.
pub fn in_words(group: &RuleGroup, states: &States) -> String {
    let words = group.rules[0].0.in_words(states);
    let weight = match group.weight.is_finite() {
        true => format!("{:.3}", group.weight),
        false => "hard".to_string(),
    };
    match group.rules.len() - 1 {
        0 => format!("{words}: {weight}"),
        1 => format!("{words}: {weight}, with a rule that says the same"),
        others => format!("{words}: {weight}, with {others} rules that say the same"),
    }
}

/// The scores, which a model trained on scores needs and no other model takes.
fn read_scores(
    tagger: &Tagger,
    model: &Path,
    path: Option<&Path>,
    memory: MemoryLimit,
) -> Result<Option<Scores>> {
    let takes_scores = tagger.parts().input == Input::Scores;
    match path {
        None if takes_scores => Err(bad_input(format!(
            "{} was trained on scores; give a file with --scores",
            model.display()
        ))),
        Some(_) if !takes_scores => Err(bad_input(format!(
            "--scores: {} was not trained on scores; leave the flag out",
            model.display()
        ))),
        Some(path) => Scores::read(path, tagger.parts().score_labels.len(), memory).map(Some),
        None => Ok(None),
    }
}
