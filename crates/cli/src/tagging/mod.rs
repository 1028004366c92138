//! What the commands that use a tagger share: flags, limits on inference, scores from elsewhere,
//! batches of sequences, and figures about rules.

mod batches;
mod flags;
mod limits;
mod scores;
mod statistics;

use std::path::Path;

use anyhow::Result;
use bethe_tagging::{Input, Tagger};
use bethe_terminal::bad_input;

pub use batches::{Batches, Item, SHARE, tag_all};
pub use flags::TaggerFlags;
pub use limits::LimitFlags;
pub use scores::Scores;
pub use statistics::Statistics;

/// Reads a model file.
pub fn read_tagger(path: &Path) -> Result<Tagger> {
    Tagger::load(path).map_err(|error| bad_input(error.to_string()))
}

/// The scores that a model of scores needs, and that no other model takes.
fn read_scores(tagger: &Tagger, model: &Path, path: Option<&Path>) -> Result<Option<Scores>> {
    let takes_scores = tagger.parts().input == Input::Scores;
    match path {
        None if takes_scores => Err(bad_input(format!(
            "--scores: found none, expected a file: {} was trained on scores",
            model.display()
        ))),
        Some(_) if !takes_scores => Err(bad_input(format!(
            "--scores: found with {}, expected a model that was trained on scores",
            model.display()
        ))),
        Some(path) => Scores::read(path, tagger.parts().score_labels.len()).map(Some),
        None => Ok(None),
    }
}
