//! The paper's handwriting experiment: nine folds train, one tests, in turn.
//!
//! [`run`] goes through the folds and the rows of the table. `open` hides words from training, so
//! that a reader meets unknown ones. All tuning is inside the training folds.

mod chain_rows;
mod fold;
mod inner;
mod iterations;
mod open;
mod recipe;
mod rows;
mod score;
mod share;
mod sheet;
mod table;

use iterations::accuracy_against_iterations;
pub use recipe::{Recipe, Start, Variant};
pub use score::Score;
pub use sheet::{Sample, contact_sheet};
pub use table::{MODELS, Row, TABLE, Table};

use std::sync::{Mutex, MutexGuard};

use bethe_core::Norm;
use bethe_learn::corpus::Corpus;

use super::data::Word;
use super::features::Features;
use super::learning::WordFeatures;
use super::mean_map::MeanMap;
use fold::Fold;
use share::share;

/// What to run.
#[derive(Clone, Debug, PartialEq)]
pub struct Settings {
    /// Folds to test on.
    pub folds: Vec<usize>,
    /// Runs with other random numbers, at least 1.
    pub seeds: usize,
    /// How distances from words are taken.
    pub norm: Norm,
    /// How models are learned.
    pub recipe: Recipe,
}

/// What happens.
#[derive(Clone, Debug, PartialEq)]
pub enum Event {
    /// A row was tested on a fold.
    Tested {
        /// The fold.
        fold: usize,
        /// The row.
        model: String,
        /// How it did.
        score: Score,
    },
    /// Something else takes time.
    Busy(String),
}

/// Sees what happens, and says whether to go on.
pub type Observe<'a> = dyn FnMut(Event) -> bool + Send + 'a;

/// The observer said to stop.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("stopped")]
pub struct Stopped;

/// What came out.
pub struct Report {
    /// The rows.
    pub table: Table,
    /// A picture: accuracy against iterations, on the first fold.
    pub iterations: String,
    /// A picture: words that the base model gets wrong, from the first fold.
    pub sheet: String,
}

/// All words, with everything about them that does not depend on a fold.
struct Data<'a> {
    words: &'a [Word],
    pixels: (Features, Corpus),
    pairs: (Features, Corpus),
    constant: WordFeatures,
    /// What the classifier sees. `[seeds][widths][words][features]`
    maps: Vec<Vec<Vec<Vec<f64>>>>,
    /// What `ψ` depends on in rows with a mean map. `[seeds]`
    mapped: Vec<WordFeatures>,
}

impl<'a> Data<'a> {
    fn new(words: &'a [Word], settings: &Settings) -> Self {
        let with_corpus = |features: Features| {
            let corpus = features.corpus(words);
            (features, corpus)
        };
        let recipe = &settings.recipe;
        let most = recipe.classifier_features.iter().copied().max().unwrap_or(0);
        let map = |count: usize, width: f64, seed: usize| {
            MeanMap::new(count, width, seed as u64).of_all(words)
        };
        let widths = |seed| -> Vec<Vec<Vec<f64>>> {
            recipe.classifier_widths.iter().map(|&width| map(most, width, seed)).collect()
        };
        let (count, width) = (recipe.mean_map_features, recipe.mean_map_width);
        let mapped = |seed| WordFeatures::with_constant(&map(count, width, seed));
        Self {
            words,
            pixels: with_corpus(Features::pixels()),
            pairs: with_corpus(Features::pairs()),
            constant: WordFeatures::constant(),
            mapped: (0..settings.seeds).map(mapped).collect(),
            maps: (0..settings.seeds).map(widths).collect(),
        }
    }
}

/// Collects scores from folds that are worked on at the same time, and passes them on.
struct Desk<'a, 'b>(Mutex<(Table, &'a mut Observe<'b>)>);

impl<'a, 'b> Desk<'a, 'b> {
    /// Takes the score of a row on a fold; rows that are run with several seeds come several times.
    fn take(&self, fold: usize, model: &str, score: Score) -> Result<(), Stopped> {
        self.lock().0.add(model, fold, score);
        self.tell(Event::Tested { fold, model: model.to_string(), score })
    }

    fn tell(&self, event: Event) -> Result<(), Stopped> {
        if (self.lock().1)(event) { Ok(()) } else { Err(Stopped) }
    }

    fn lock(&self) -> MutexGuard<'_, (Table, &'a mut Observe<'b>)> {
        self.0.lock().expect("no panic while it was held")
    }

    fn into_table(self) -> Table {
        self.0.into_inner().expect("no panic while it was held").0
    }
}

/// Runs the whole experiment.
///
/// # Panics
/// If a fold to test on holds no word, or all of them.
pub fn run(words: &[Word], settings: &Settings, observe: &mut Observe) -> Result<Report, Stopped> {
    let desk = Desk(Mutex::new((Table::new(), observe)));
    desk.tell(Event::Busy("features of all pictures".to_string()))?;
    let data = Data::new(words, settings);
    let pictures = share(&settings.folds, |&test| {
        let pictured = Fold::new(&data, settings, test).run(&desk)?;
        if test != settings.folds[0] {
            return Ok(None);
        }
        desk.tell(Event::Busy("accuracy against iterations".to_string()))?;
        Ok(Some((accuracy_against_iterations(&pictured), pictured.sheet(test))))
    })?;
    share(&settings.folds, |&test| open::run(&data, settings, test, &desk))?;
    let (iterations, sheet) = pictures.into_iter().flatten().next().expect("a fold to test on");
    Ok(Report { table: desk.into_table(), iterations, sheet })
}
