//! The models that are offered, by name.

use std::path::Path;

use anyhow::Result;
use bethe_cite::{Dialect, Parser};
use bethe_core::MemoryLimit;
use bethe_tagging::labels::leaf_segments;
use bethe_tagging::{Input, Tagger};
use bethe_terminal::bad_input;
use serde_json::{Value, json};

use super::failure::Failure;
use crate::tagging::read_tagger;

/// The name of the built-in model.
const BUILT_IN: &str = "references";

/// A model.
pub struct Model {
    name: String,
    pub tagger: Tagger,
    /// The parser, if the model reads plain text.
    pub parser: Option<Parser>,
}

/// All of them; the built-in one is the first.
pub struct Models(Vec<Model>);

impl Models {
    /// The built-in model and those of some files.
    pub fn read(paths: &[impl AsRef<Path>], memory: MemoryLimit) -> Result<Self> {
        let built_in = Parser::embedded().clone();
        let tagger = built_in.tagger().clone();
        let mut models = vec![Model { name: BUILT_IN.to_string(), tagger, parser: Some(built_in) }];
        for path in paths.iter().map(AsRef::as_ref) {
            let name = path.file_stem().unwrap_or_default().to_string_lossy().into_owned();
            if models.iter().any(|model| model.name == name) {
                return Err(bad_input(format!(
                    "--model {}: found another model named {name:?}, expected files of different \
                     names",
                    path.display()
                )));
            }
            let tagger = read_tagger(path, memory)?;
            let dialect = Dialect::of(&tagger, None).ok();
            let parser = dialect.map(|dialect| Parser::new(&tagger, dialect));
            models.push(Model { name, tagger, parser });
        }
        Ok(Self(models))
    }

    /// The model of this name; the built-in one without a name.
    pub fn find(&self, name: Option<&str>) -> Result<&Model, Failure> {
        let name = name.unwrap_or(BUILT_IN);
        self.0.iter().find(|model| model.name == name).ok_or_else(|| {
            let known: Vec<&str> = self.0.iter().map(|model| model.name.as_str()).collect();
            Failure::invalid(format!("model: found {name:?}, expected one of {}", known.join(", ")))
        })
    }

    /// What there is, for pages and programs.
    pub fn listed(&self) -> Value {
        json!({ "models": self.0.iter().map(Model::described).collect::<Vec<_>>() })
    }
}

impl Model {
    /// The parser of plain text.
    pub fn reader(&self) -> Result<&Parser, Failure> {
        self.parser.as_ref().ok_or_else(|| {
            Failure::invalid(format!(
                "model: {:?} does not read plain text; give columns",
                self.name
            ))
        })
    }

    /// The parser, if its labels mean fields of references.
    pub fn citing(&self) -> Result<&Parser, Failure> {
        let parser = self.reader()?;
        match parser.meanings().has_fields() {
            true => Ok(parser),
            false => Err(Failure::invalid(format!(
                "model: the labels of {:?} are not fields of references, such as author and title",
                self.name
            ))),
        }
    }

    fn described(&self) -> Value {
        let parts = self.tagger.parts();
        let (reads, columns) = match (&parts.input, &self.parser) {
            (Input::Columns { columns, .. }, Some(_)) => ("text", *columns),
            (Input::Columns { columns, .. }, None) => ("columns", *columns),
            (Input::Attributes, _) => ("attributes", 0),
            (Input::Scores, _) => ("scores", 0),
        };
        json!({
            "name": self.name,
            "built_in": self.name == BUILT_IN,
            "reads": reads,
            "columns": columns,
            "cites": self.citing().is_ok(),
            "labels": self.tagger.labels(),
            "fields": self.fields(),
            "rules": self.tagger.rules().len(),
        })
    }

    /// The names of segments that a person can give to tokens.
    fn fields(&self) -> Vec<String> {
        let states = self.tagger.states();
        let mut names: Vec<String> = Vec::new();
        for label in self.tagger.labels() {
            for segment in leaf_segments(states.scheme(), &[label.as_str()]) {
                let can_be_given = states.segment_labels(segment.name, 1).is_some();
                if can_be_given && !names.iter().any(|name| name == segment.name) {
                    names.push(segment.name.to_string());
                }
            }
        }
        names
    }
}
