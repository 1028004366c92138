//! How much learned rules help with default settings: on few references and on many, on
//! distorted text, and on sets where there is little to gain.
//!
//! Every row compares a base model with the same model under the rules that the automatic choice
//! finds in the same training data. Nothing is chosen on test data.

mod comparison;
mod noise;
mod sets;
mod tables;

use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use bethe_io::results::Table;
use bethe_tagging::data::Sequence;
use bethe_tagging::train;

use crate::citation::ExperimentError;
pub use comparison::Comparison;
use comparison::Trainer;
use noise::Noise;
use sets::{References, Split};
pub use tables::TABLES;

/// Settings of the experiment.
#[derive(Clone, Debug)]
pub struct RulesSettings {
    /// Sizes of the training sets that are drawn from the UMass references.
    pub sizes: Vec<usize>,
    /// How many are drawn of each size.
    pub subsets: usize,
    /// Which sets: `umass`, `anystyle`, `chunks`, `parts-of-speech`; all if empty.
    pub sets: Vec<String>,
    /// Seed for draws, folds and resamples.
    pub seed: u64,
    /// Most iterations of training a base model; `None` for the default.
    pub max_iterations: Option<usize>,
    /// The experiment stops soon after this is set.
    pub interrupt: Option<Arc<AtomicBool>>,
}

/// Names of the sets.
pub const SETS: [&str; 4] = ["umass", "anystyle", "chunks", "parts-of-speech"];

/// What happens during the experiment.
#[derive(Clone, Debug, PartialEq)]
pub enum Event {
    /// Something new begins.
    Stage(String),
    /// A model is being trained.
    Training(train::Event),
    /// A row is complete.
    Row(Box<Row>),
    /// Missing data, and what is left out for it.
    Skipped(String),
}

/// A row: what is compared, and what came out.
#[derive(Clone, Debug, PartialEq)]
pub struct Row {
    /// The training data.
    pub training: String,
    /// The features of the base model.
    pub features: &'static str,
    /// The test data.
    pub test: String,
    /// What came out.
    pub comparison: Comparison,
}

/// The result of the experiment.
#[derive(Clone, Debug, PartialEq)]
pub struct Report {
    /// All rows.
    pub rows: Vec<Row>,
    /// The tables for people.
    pub tables: Vec<Table>,
}

/// Runs the experiment on the folder that holds `citation/` and `conll2000/`.
pub fn run(
    data: &Path,
    settings: &RulesSettings,
    observe: &mut dyn FnMut(Event),
) -> Result<Report, ExperimentError> {
    let trainer = Trainer::new(settings);
    let mut rows = Vec::new();
    let wanted = |set: &str| settings.sets.is_empty() || settings.sets.iter().any(|own| own == set);
    if wanted("umass") {
        umass(data, &trainer, observe, &mut rows)?;
    }
    for set in SETS.into_iter().skip(1).filter(|set| wanted(set)) {
        match sets::splits(data, set, settings.seed)? {
            Some(splits) => {
                let tests = |split: &Split| vec![split.test.clone()];
                let compared = compare(&trainer, set, &splits, &tests, observe)?;
                push(&mut rows, observe, set, "default", [(set.to_string(), compared)])?;
            }
            None => observe(Event::Skipped(format!("no data for {set}; its row is left out"))),
        }
    }
    let tables = tables::tables(&rows);
    Ok(Report { rows, tables })
}

/// The learning curve, and distorted test references at every size.
fn umass(
    data: &Path,
    trainer: &Trainer,
    observe: &mut dyn FnMut(Event),
    rows: &mut Vec<Row>,
) -> Result<(), ExperimentError> {
    let Some(references) = References::read(data)? else {
        observe(Event::Skipped("no data for umass; its tables are left out".to_string()));
        return Ok(());
    };
    for features in ["default", "simple"] {
        for &size in &trainer.settings.sizes {
            let size = size.min(references.train.len());
            let splits = references.subsets(size, trainer.settings);
            let kinds: &[Noise] = if features == "default" { &Noise::ALL } else { &[Noise::None] };
            let tests = |split: &Split| {
                kinds
                    .iter()
                    .map(|noise| noise.distort(&split.test, trainer.settings.seed))
                    .collect()
            };
            let training = format!("{size} references");
            let trainer = trainer.with_features(features);
            let compared = compare_all(&trainer, &training, &splits, &tests, observe)?;
            let named = kinds.iter().map(|noise| noise.name().to_string()).zip(compared);
            push(rows, observe, &training, features, named)?;
        }
    }
    Ok(())
}

fn push(
    rows: &mut Vec<Row>,
    observe: &mut dyn FnMut(Event),
    training: &str,
    features: &'static str,
    compared: impl IntoIterator<Item = (String, Comparison)>,
) -> Result<(), ExperimentError> {
    for (test, comparison) in compared {
        let row = Row { training: training.to_string(), features, test, comparison };
        observe(Event::Row(Box::new(row.clone())));
        rows.push(row);
    }
    Ok(())
}

/// Test sets of a split.
type Tests<'a> = &'a dyn Fn(&Split) -> Vec<Vec<Sequence>>;

fn compare(
    trainer: &Trainer,
    name: &str,
    splits: &[Split],
    tests: Tests,
    observe: &mut dyn FnMut(Event),
) -> Result<Comparison, ExperimentError> {
    Ok(compare_all(trainer, name, splits, tests, observe)?.swap_remove(0))
}

/// One comparison for each test set, over all splits.
fn compare_all(
    trainer: &Trainer,
    name: &str,
    splits: &[Split],
    tests: Tests,
    observe: &mut dyn FnMut(Event),
) -> Result<Vec<Comparison>, ExperimentError> {
    let mut all: Vec<Comparison> = Vec::new();
    for (at, split) in splits.iter().enumerate() {
        observe(Event::Stage(format!("{name}: {} of {}", at + 1, splits.len())));
        let own = trainer.compare(&split.train, &tests(split), observe)?;
        match all.is_empty() {
            true => all = own,
            false => all.iter_mut().zip(own).for_each(|(sum, own)| sum.extend(own)),
        }
    }
    Ok(all)
}
