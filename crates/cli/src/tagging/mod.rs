//! What the commands with a tagger share: flags, limits on inference, scores, batches of sequences
//! and figures about rules.

mod batches;
mod flags;
mod limits;
mod scores;
mod statistics;

use std::path::Path;

use anyhow::Result;
use bethe_core::MemoryLimit;
use bethe_tagging::{Input, Tagger};
use bethe_terminal::bad_input;

pub use batches::{Batches, Item, SHARE, tag_all};
pub use flags::TaggerFlags;
pub use limits::LimitFlags;
pub use scores::Scores;
pub use statistics::Statistics;

/// Reads a model file that fits into the limit.
pub fn read_tagger(path: &Path, memory: MemoryLimit) -> Result<Tagger> {
    Tagger::load_within(path, memory).map_err(|error| bad_input(error.to_string()))
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
