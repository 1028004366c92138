//! References in plain text to entries.

use std::path::PathBuf;
use std::sync::Mutex;

use bethe_cite::{
    Entry, Keys, Labelled, Parsed, Parser, Parsing, SameAuthors, bibtex, csl, fields, ris,
};
use bethe_core::Cancel;
use bethe_tagging::{TagError, TagOptions};
use pyo3::exceptions::{PyUserWarning, PyValueError};
use pyo3::prelude::*;
use rayon::prelude::*;
use serde_json::{Value, json};

use crate::{files, run};

/// Fewest references that a thread takes at once.
const SHARE: usize = 8;

/// What a line says on its own: its text, its labels with spaces between them, how sure its entry
/// is, and why it was not labelled.
type Read = (String, Option<String>, Option<f64>, Option<String>);

/// Where a model is.
#[derive(FromPyObject)]
enum Model {
    Content(Vec<u8>),
    File(PathBuf),
}

/// A bibliography that grows line by line. Lines are read one by one, in any process; they become
/// entries in their order, since keys differ and a dash stands for the authors before.
#[pyclass(frozen, module = "pybethe")]
pub struct Bibliography {
    parser: Parser,
    writing: Mutex<Writing>,
}

struct Writing {
    write: fn(&Line, &str) -> String,
    same: SameAuthors,
    keys: Keys,
    lines: usize,
}

/// What is written about a line.
struct Line {
    entry: Entry,
    text: String,
    confidence: Option<f64>,
    refused: Option<String>,
}

#[pymethods]
impl Bibliography {
    #[new]
    #[pyo3(signature = (format, model = None))]
    fn new(format: &str, model: Option<Model>) -> PyResult<Self> {
        let write = writer(format)?;
        let told = |error: bethe_cite::ParserError| PyValueError::new_err(error.to_string());
        let parser = match model {
            None => Parser::embedded().clone(),
            Some(Model::Content(content)) => Parser::from_bytes(&content).map_err(told)?,
            Some(Model::File(path)) => {
                std::fs::File::open(&path).map_err(files::refused(&path))?;
                Parser::load(path).map_err(told)?
            }
        };
        let writing =
            Writing { write, same: SameAuthors::default(), keys: Keys::default(), lines: 0 };
        Ok(Self { parser, writing: Mutex::new(writing) })
    }

    /// Entries of references, one each.
    #[pyo3(signature = (lines, *, n_jobs = None))]
    fn cite(
        &self,
        py: Python<'_>,
        lines: Vec<String>,
        n_jobs: Option<usize>,
    ) -> PyResult<Vec<String>> {
        let parsed = self.parsed(py, lines, n_jobs)?;
        self.written(py, parsed.into_iter().map(Line::from))
    }

    /// What each line says on its own, for `add`, here or in another process.
    #[pyo3(signature = (lines, *, n_jobs = None))]
    fn read(
        &self,
        py: Python<'_>,
        lines: Vec<String>,
        n_jobs: Option<usize>,
    ) -> PyResult<Vec<Read>> {
        let parsed = self.parsed(py, lines, n_jobs)?;
        let labels = |parsed: &Parsed| {
            let tagged = parsed.tagged.as_ref()?;
            Some(self.parser.labels(tagged).collect::<Vec<_>>().join(" "))
        };
        let row = |parsed: Parsed| {
            let labels = labels(&parsed);
            let line = Line::from(parsed);
            (line.text, labels, line.confidence, line.refused)
        };
        Ok(parsed.into_iter().map(row).collect())
    }

    /// Entries of the next lines, as `read` returned them.
    fn add(&self, py: Python<'_>, lines: Vec<Read>) -> PyResult<Vec<String>> {
        let lines: PyResult<Vec<Line>> = lines.into_iter().map(|read| self.line(read)).collect();
        self.written(py, lines?.into_iter())
    }
}

impl Bibliography {
    fn parsed(
        &self,
        py: Python<'_>,
        lines: Vec<String>,
        n_jobs: Option<usize>,
    ) -> PyResult<Vec<Parsed>> {
        let (pool, cancel) = (run::pool(n_jobs)?, Cancel::new());
        let options = TagOptions { marginals: true, ..TagOptions::default() };
        let (parser, asked) = (self.parser.clone(), cancel.clone());
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
        Ok(parsed.into_iter().flatten().collect())
    }

    /// A line that was read, assembled again.
    fn line(&self, (text, labels, confidence, refused): Read) -> PyResult<Line> {
        let Some(labels) = labels else {
            return Ok(Line { entry: Entry::unparsed(&text), text, confidence, refused });
        };
        let (tokens, labels) =
            (self.parser.tokens(&text), labels.split(' ').collect::<Vec<&str>>());
        if labels.len() != tokens.len() {
            return Err(PyValueError::new_err(format!(
                "found {} labels for {} tokens, expected lines that this model read",
                labels.len(),
                tokens.len()
            )));
        }
        let labelled = Labelled { text: &text, tokens: &tokens, labels: &labels };
        let entry = Entry::new(labelled, self.parser.meanings());
        Ok(Line { entry, text, confidence, refused })
    }

    fn written(
        &self,
        py: Python<'_>,
        lines: impl ExactSizeIterator<Item = Line>,
    ) -> PyResult<Vec<String>> {
        let (mut entries, mut warnings) = (Vec::with_capacity(lines.len()), Vec::new());
        {
            let mut writing = self.writing.lock().unwrap_or_else(|held| held.into_inner());
            let Writing { write, same, keys, lines: before } = &mut *writing;
            for mut line in lines {
                if let Some(why) = &line.refused {
                    warnings.push(format!("reference {before}: {why}"));
                }
                *before += 1;
                same.fill(&mut line.entry);
                let key = keys.unique(&line.entry.key());
                entries.push(write(&line, &key));
            }
        }
        // A warning may run code of Python, which may come back here.
        for warning in warnings {
            let message = std::ffi::CString::new(warning)?;
            PyErr::warn(py, &py.get_type::<PyUserWarning>(), &message, 2)?;
        }
        Ok(entries)
    }
}

impl From<Parsed> for Line {
    fn from(parsed: Parsed) -> Self {
        let confidence = parsed.confidence.map(|confidence| confidence.entry);
        let refused = parsed.refused.map(|why| why.to_string());
        Self { entry: parsed.entry, text: parsed.text, confidence, refused }
    }
}

/// How one entry is written.
fn writer(format: &str) -> PyResult<fn(&Line, &str) -> String> {
    match format {
        "bibtex" => Ok(|line, key| bibtex(&line.entry, key)),
        "ris" => Ok(|line, key| ris(&line.entry, key)),
        "csl-json" => Ok(|line, key| csl(&line.entry, key).to_string()),
        "json" => Ok(|line, key| record(line, key).to_string()),
        _ => Err(PyValueError::new_err(format!(
            "found format {format:?}, expected bibtex, csl-json, json or ris"
        ))),
    }
}

fn record(line: &Line, key: &str) -> Value {
    json!({
        "key": key,
        "type": line.entry.kind.name(),
        "fields": fields(&line.entry),
        "text": line.text,
        "confidence": line.confidence,
    })
}
