//! The paper's first experiment: fields of references, by a chain with rules on top.
//!
//! [`run`] trains and scores every model of the table on `citation/umass`, and the best of them by
//! cross-validation on `citation/cora` and `citation/anystyle`. All choices (attributes,
//! regularisers, which rules, their penalty) were made by cross-validation inside train and dev.

mod convergence;
mod data;
mod error;
mod families;
mod figures;
mod flat;
mod page;
mod recipe;
mod report;
mod table;
mod trial;
mod umass;

use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

pub use data::Splits;
pub use error::ExperimentError;
pub use families::Family;
pub use page::TABLES;
pub use table::Row;

use bethe_io::results::Table;
use bethe_tagging::train;
use recipe::Recipe;

/// Settings of the experiment.
#[derive(Clone, Debug, Default)]
pub struct ExperimentSettings {
    /// Seed for folds, stochastic steps and resamples.
    pub seed: u64,
    /// Most iterations of training a base model; `None` for the recipe's.
    pub max_iterations: Option<usize>,
    /// The experiment stops soon after this is set.
    pub interrupt: Option<Arc<AtomicBool>>,
}

/// What happens during the experiment.
#[derive(Clone, Debug, PartialEq)]
pub enum Event {
    /// Something new begins.
    Stage(String),
    /// A model is being trained.
    Training(train::Event),
    /// A model was scored.
    Row(Row),
    /// Missing data, and what is left out for it.
    Skipped(String),
}

/// A file of the report.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct File {
    /// Its name.
    pub name: String,
    /// Its content.
    pub content: String,
}

/// The result of the experiment.
#[derive(Clone, Debug, PartialEq)]
pub struct Report {
    /// The table.
    pub rows: Vec<Row>,
    /// The table for people.
    pub text: String,
    /// All files, the table as JSON last.
    pub files: Vec<File>,
    /// Those of [`TABLES`] for which all data were there.
    pub tables: Vec<Table>,
}

/// References with flat labels.
const FLAT: [FlatSet; 2] = [
    FlatSet { name: "cora", file: "cora.conll" },
    FlatSet { name: "anystyle", file: "core.conll" },
];

struct FlatSet {
    name: &'static str,
    file: &'static str,
}

/// What came out for one of them.
struct Flat {
    name: &'static str,
    rows: Vec<Row>,
}

/// Runs the experiment on the folder that holds `citation/`. Runs on the threads of the current
/// pool; the result does not depend on how many.
pub fn run(
    data: &Path,
    settings: &ExperimentSettings,
    observe: &mut dyn FnMut(Event),
) -> Result<Report, ExperimentError> {
    let folder = data.join("citation");
    let splits = Splits::read(&folder.join("umass"))?;
    // Errors in files show before minutes of training.
    let mut flat = Vec::new();
    for FlatSet { name, file } in FLAT {
        let path = folder.join(name).join(file);
        if path.exists() {
            flat.push((name, flat::read_enough(&path)?));
        } else {
            let missing = path.display();
            observe(Event::Skipped(format!("{missing} is missing; no table for {name}")));
        }
    }
    let recipe = Recipe::new(&folder.join("lexicons"), settings, observe)?;
    let umass = umass::run(&splits, &recipe, observe)?;
    let mut others = Vec::new();
    for (name, references) in flat {
        others.push(Flat { name, rows: flat::run(name, references, &recipe, observe)? });
    }
    Ok(report::write(umass, &others))
}
