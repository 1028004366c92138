//! How a tagger is trained, by keyword: the words are the flags of `bethe train`, checked as those are.

use bethe_tagging::data::Format;
use bethe_tagging::train::TrainSettings;
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::{PyBool, PyDict};

use crate::command;
use crate::sequences::Given;

/// The settings of a call. One that has no effect on such sequences is an error.
pub fn settings(given: Option<&Bound<'_, PyDict>>, sequences: &Given) -> PyResult<TrainSettings> {
    // The files that the command would read and write.
    let mut arguments: Vec<String> = ["X", "--model=model"].map(str::to_string).to_vec();
    match sequences {
        Given::Scores(..) => arguments.extend(["--scores=X", "--labels=y"].map(str::to_string)),
        Given::Rows(Format::Attributes, _) => arguments.push("--format=attributes".to_string()),
        Given::Rows(Format::Columns, _) => {}
    }
    for (name, value) in given.into_iter().flatten() {
        let flag = format!("--{}", name.str()?.to_string().replace('_', "-"));
        match value.cast::<PyBool>() {
            Ok(truth) if !truth.is_true() => {}
            Ok(_) => arguments.push(flag),
            Err(_) => arguments.push(format!("{flag}={}", value.str()?)),
        }
    }
    let settings = bethe::train::settings(arguments);
    settings.map_err(|error| PyValueError::new_err(command::in_python(&format!("{error:#}"))))
}
