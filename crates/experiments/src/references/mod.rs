//! The model of references that ships with `bethe-cite`: its data, how they are labelled, how it is
//! trained, and how good it is on references that it has not seen.

mod data;
mod duplicates;
mod folds;
mod generated;
mod guideline;
mod judge;
mod model;
mod tables;

use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use bethe_io::results::Table;
use bethe_tagging::{TagOptions, Tagger, train};

pub use data::{Piece, Reference, Source};
pub use folds::split;
pub use guideline::harmonised;
pub use judge::{ASPECTS, Failure, Judged, Line};
pub use model::ModelSettings;
pub use tables::{TABLES, entries};

use crate::citation::ExperimentError;

/// What happens on the way.
#[derive(Clone, Debug, PartialEq)]
pub enum Event {
    /// Something new begins.
    Stage(String),
    /// A model is being trained.
    Training(train::Event),
}

/// Settings of the experiment.
#[derive(Clone, Debug)]
pub struct ReferencesSettings {
    /// How the model is trained.
    pub model: ModelSettings,
    /// Parts for cross-validation; 0 for none.
    pub folds: usize,
}

impl ReferencesSettings {
    /// Those of the model that ships.
    pub fn shipped(interrupt: Option<Arc<AtomicBool>>) -> Self {
        let base = train::BaseSettings {
            max_iterations: 60,
            l1: 0.05,
            l2: 0.01,
            ..train::BaseSettings::default()
        };
        let model = ModelSettings {
            template: model::template(),
            base,
            min_count: 2,
            rules: true,
            interrupt,
        };
        Self { model, folds: 4 }
    }
}

/// How many references are made up for the model that ships.
pub const GENERATED: usize = 2000;
/// Their seed.
const SEED: u64 = 22;

/// All references to train on: both sets, labelled by the guideline, each once, and made-up ones.
pub fn references(data: &Path, generated: usize) -> Result<Vec<Reference>, ExperimentError> {
    let all: Vec<Reference> = data::read(data)?.iter().map(harmonised).collect();
    let mut all = duplicates::without_duplicates(all);
    all.extend(generated::generated(generated, SEED));
    Ok(all)
}

/// The model of all references.
pub fn build(
    references: &[Reference],
    settings: &ModelSettings,
    observe: &mut dyn FnMut(Event),
) -> Result<Tagger, ExperimentError> {
    observe(Event::Stage(format!("training on {} references", references.len())));
    settings.train(references, &mut |event| observe(Event::Training(event)))
}

/// How good models are on references of one source that they have not seen.
#[derive(Clone, Debug, PartialEq)]
pub struct Measured {
    /// The source.
    pub source: Source,
    /// The model as it ships.
    pub judged: Judged,
    /// The same without its rules.
    pub without_rules: Judged,
}

/// How good models are on parts that they have not seen, by source.
pub fn cross_validate(
    references: &[Reference],
    settings: &ReferencesSettings,
    observe: &mut dyn FnMut(Event),
) -> Result<Vec<Measured>, ExperimentError> {
    let mut all: Vec<Measured> = Vec::new();
    let without = TagOptions { rules: false, ..TagOptions::default() };
    for fold in 0..settings.folds {
        observe(Event::Stage(format!("fold {} of {}", fold + 1, settings.folds)));
        let (test, train) = folds::split(references, settings.folds, fold);
        let tagger = settings.model.train(&train, &mut |event| observe(Event::Training(event)))?;
        let parser = model::parser(&tagger);
        for source in Source::LABELLED {
            let own: Vec<Reference> =
                test.iter().filter(|reference| reference.source == source).cloned().collect();
            let judged = Judged::of(&parser, &own, &TagOptions::default())?;
            let without_rules = Judged::of(&parser, &own, &without)?;
            observe(Event::Stage(format!(
                "{}: {:.2} % whole, {:.2} % without rules",
                source.name(),
                judged.whole(),
                without_rules.whole()
            )));
            match all.iter_mut().find(|known| known.source == source) {
                Some(sum) => {
                    sum.judged.extend(judged);
                    sum.without_rules.extend(without_rules);
                }
                None => all.push(Measured { source, judged, without_rules }),
            }
        }
    }
    Ok(all)
}

/// The tables of a cross-validation.
pub fn tables(measured: &[Measured]) -> Vec<Table> {
    tables::tables(measured)
}
