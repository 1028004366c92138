//! References in plain text to entries.

use std::path::PathBuf;

use bethe_cite::{Keys, Parsed, Parser, Parsing, SameAuthors, bibtex, csl, fields, ris};
use bethe_core::Cancel;
use bethe_tagging::{TagError, TagOptions};
use pyo3::exceptions::{PyUserWarning, PyValueError};
use pyo3::prelude::*;
use rayon::prelude::*;
use serde_json::{Value, json};

use crate::run;

/// Fewest references that a thread takes at once.
const SHARE: usize = 8;

/// Entries of references, one each: text in `bibtex` and `ris`, a list in `csl-json` and `json`, as JSON.
#[pyfunction]
#[pyo3(signature = (lines, format, *, model = None, n_jobs = None))]
pub fn entries(
    py: Python<'_>,
    lines: Vec<String>,
    format: &str,
    model: Option<PathBuf>,
    n_jobs: Option<usize>,
) -> PyResult<String> {
    let write = writer(format)?;
    let parser = match model {
        None => Parser::embedded().clone(),
        Some(path) => {
            std::fs::File::open(&path)?;
            Parser::load(path).map_err(|error| PyValueError::new_err(error.to_string()))?
        }
    };
    let (pool, cancel) = (run::pool(n_jobs)?, Cancel::new());
    let options = TagOptions { marginals: true, ..TagOptions::default() };
    let asked = cancel.clone();
    let work = move || -> Result<Vec<Option<Parsed>>, TagError> {
        let parse = |parsing: &mut Parsing, line: &String| match asked.is_cancelled() {
            true => Ok(None),
            false => parsing.parse(line, &options).map(Some),
        };
        let lines = lines.par_iter().with_min_len(SHARE);
        lines.map_init(|| Parsing::new(&parser), parse).collect()
    };
    let ended = run::run(py, &pool, &cancel, work)?;
    if let Some(signal) = ended.signal {
        return Err(signal);
    }
    let parsed = ended.result.map_err(|error| PyValueError::new_err(error.to_string()))?;
    let (mut same, mut keys) = (SameAuthors::default(), Keys::default());
    let mut written = Vec::with_capacity(parsed.len());
    for (index, mut parsed) in parsed.into_iter().flatten().enumerate() {
        if let Some(why) = parsed.refused {
            let message = std::ffi::CString::new(format!("reference {index}: {why}"))?;
            PyErr::warn(py, &py.get_type::<PyUserWarning>(), &message, 2)?;
        }
        same.fill(&mut parsed.entry);
        let key = keys.unique(&parsed.entry.key());
        written.push(write(&parsed, &key));
    }
    Ok(match format {
        "bibtex" => written.join("\n"),
        "ris" => written.concat(),
        _ => format!("[{}]", written.join(",")),
    })
}

/// How one entry is written.
fn writer(format: &str) -> PyResult<fn(&Parsed, &str) -> String> {
    match format {
        "bibtex" => Ok(|parsed, key| bibtex(&parsed.entry, key)),
        "ris" => Ok(|parsed, key| ris(&parsed.entry, key)),
        "csl-json" => Ok(|parsed, key| csl(&parsed.entry, key).to_string()),
        "json" => Ok(|parsed, key| record(parsed, key).to_string()),
        _ => Err(PyValueError::new_err(format!(
            "found format {format:?}, expected bibtex, csl-json, json or ris"
        ))),
    }
}

fn record(parsed: &Parsed, key: &str) -> Value {
    json!({
        "key": key,
        "type": parsed.entry.kind.name(),
        "fields": fields(&parsed.entry),
        "text": parsed.text,
        "confidence": parsed.confidence.as_ref().map(|confidence| confidence.entry),
    })
}
