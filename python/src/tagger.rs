//! Trained taggers.

use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use bethe_core::{Cancel, MemoryLimit};
use bethe_tagging::data::Sequence;
use bethe_tagging::score::{Score, UnknownLabels};
use bethe_tagging::train::{Event, GivenScores, Labelled, TrainError, train};
use bethe_tagging::{Input, TagError, TagOptions, Tagged, Tagger, Tagging};
use numpy::{IntoPyArray, PyArray2, PyArrayMethods};
use pyo3::exceptions::{
    PyKeyboardInterrupt, PyMemoryError, PyOSError, PyUserWarning, PyValueError,
};
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyDict, PyString};
use rayon::prelude::*;

use crate::sequences::{self, Given};
use crate::training;
use crate::{files, run};

/// Which frame a warning is about: the one that called `Tagger.evaluate`.
const CALLER: usize = 2;
/// Fewest sequences that a thread takes at once.
const SHARE: usize = 8;

/// A tagger that was trained. `pybethe.Tagger` is the estimator around it.
#[pyclass(frozen, module = "pybethe")]
pub struct TrainedTagger {
    tagger: Tagger,
}

fn value_error(error: impl std::fmt::Display) -> PyErr {
    PyValueError::new_err(error.to_string())
}

/// The best label sequences of a sequence, with their log-probabilities.
type Ranked = Vec<(Vec<String>, f64)>;

/// An error if tokens have more columns than those trained on, which had their label beside them. All
/// rows have as many as the first.
fn check_width(input: &Input, rows: &[Sequence]) -> PyResult<()> {
    let Input::Columns { columns, .. } = input else { return Ok(()) };
    let expected = columns - 1;
    let first = rows.iter().enumerate().find(|(_, rows)| !rows.is_empty());
    match first.map(|(index, rows)| (index, rows.columns(0))) {
        Some((index, found)) if found > expected => Err(PyValueError::new_err(format!(
            "X[{index}][0]: found {found} columns, expected {expected} as in the training data"
        ))),
        _ => Ok(()),
    }
}

#[pymethods]
impl TrainedTagger {
    /// Trains a tagger. `score_labels` are the columns of `X` if that has scores; `tell` is called with
    /// a line about every step.
    #[staticmethod]
    #[pyo3(signature = (x, y, *, score_labels = None, tell = None, n_jobs = None, settings = None))]
    fn train(
        x: &Bound<'_, PyAny>,
        y: &Bound<'_, PyAny>,
        score_labels: Option<Vec<String>>,
        tell: Option<Py<PyAny>>,
        n_jobs: Option<usize>,
        settings: Option<&Bound<'_, PyDict>>,
    ) -> PyResult<Self> {
        let py = x.py();
        let labels = sequences::labels(y)?;
        let given = sequences::sequences(x, Some(&labels))?;
        let mut settings = training::settings(settings, &given)?;
        if score_labels.is_some() && matches!(given, Given::Rows(..)) {
            return Err(PyValueError::new_err(
                "labels name the columns of scores, but X has tokens",
            ));
        }
        let (mut sequences, mut scores) = match given {
            Given::Rows(format, sequences) => {
                settings.format = format;
                (sequences, None)
            }
            Given::Scores(scores, columns) => {
                let Some(names) = score_labels else {
                    return Err(PyValueError::new_err(
                        "X has scores: labels=[…] must name their columns",
                    ));
                };
                sequences::check_columns(&columns, names.len())?;
                (sequences::of_labels(&labels)?, Some(GivenScores { labels: names, scores }))
            }
        };
        // Nothing is learned from sequences without tokens.
        sequences.retain(|sequence| !sequence.is_empty());
        if let Some(given) = &mut scores {
            given.scores.retain(|scores| !scores.is_empty());
        }
        let flag = Arc::new(AtomicBool::new(false));
        settings.interrupt = Some(Arc::clone(&flag));
        let work = move || {
            let mut observe = |event: Event| {
                if let Some(tell) = &tell
                    && !event.is_passing()
                {
                    // What a callback raises must not end a training.
                    let _ = Python::attach(|py| tell.call1(py, (event.to_string(),)).map(drop));
                }
            };
            let labelled = Labelled { sequences: &sequences, scores: scores.as_ref() };
            train(labelled, None, &settings, &mut observe)
        };
        let pool = run::pool(n_jobs)?;
        let ended = run::run(py, &pool, &Cancel::from(flag), work)?;
        match (ended.signal, ended.result) {
            (Some(signal), _) => Err(signal),
            (None, Ok(tagger)) => Ok(Self { tagger }),
            (None, Err(TrainError::Interrupted)) => Err(PyKeyboardInterrupt::new_err(())),
            (None, Err(error)) => Err(value_error(error)),
        }
    }

    /// Reads a model file.
    #[staticmethod]
    fn load(path: PathBuf) -> PyResult<Self> {
        // Python's own exception where there is no such file.
        std::fs::File::open(&path).map_err(files::refused(&path))?;
        let limit = run::memory_limit();
        Ok(Self { tagger: Tagger::load_within(&path, limit).map_err(value_error)? })
    }

    /// Reads a model file that is in memory.
    #[staticmethod]
    fn from_bytes(content: &[u8]) -> PyResult<Self> {
        Ok(Self { tagger: Tagger::from_bytes(content).map_err(value_error)? })
    }

    /// The model file as bytes.
    fn to_bytes<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyBytes>> {
        Ok(PyBytes::new(py, &self.tagger.to_bytes().map_err(value_error)?))
    }

    /// Writes the model file, whole or not at all.
    fn save(&self, path: PathBuf) -> PyResult<()> {
        self.tagger.write(&path).map_err(|error| PyOSError::new_err(error.to_string()))
    }

    fn __reduce__<'py>(
        slf: &Bound<'py, Self>,
    ) -> PyResult<(Bound<'py, PyAny>, (Bound<'py, PyBytes>,))> {
        let content = slf.get().to_bytes(slf.py())?;
        Ok((slf.get_type().getattr("from_bytes")?, (content,)))
    }

    /// The labels, in the order of the columns of marginals.
    #[getter]
    fn labels(&self) -> Vec<String> {
        self.tagger.labels().to_vec()
    }

    /// The rules in words, with their weights, the heaviest first; hard ones weigh `inf`.
    #[getter]
    fn rules(&self) -> Vec<(String, f64)> {
        let states = self.tagger.states();
        self.tagger.rules().iter().map(|(rule, weight)| (rule.in_words(states), *weight)).collect()
    }

    /// The best labels of each sequence.
    #[pyo3(signature = (x, *, rules = true, n_jobs = None))]
    fn predict<'py>(
        &self,
        x: &Bound<'py, PyAny>,
        rules: bool,
        n_jobs: Option<usize>,
    ) -> PyResult<Vec<Vec<Bound<'py, PyString>>>> {
        let options = TagOptions { rules, ..TagOptions::default() };
        let tagged = self.tag(x, options, n_jobs)?;
        // One text a label, however often it is given.
        let states = self.tagger.states();
        let names: Vec<Bound<'_, PyString>> =
            (0..states.len()).map(|state| PyString::new(x.py(), states.label(state))).collect();
        let labels =
            |tagged: &Tagged| tagged.best[0].0.iter().map(|&state| names[state].clone()).collect();
        Ok(tagged.iter().map(labels).collect())
    }

    /// The probability of every label at every position: one array per sequence, `[tokens,
    /// labels]`.
    #[pyo3(signature = (x, *, rules = true, n_jobs = None))]
    fn predict_marginals<'py>(
        &self,
        x: &Bound<'py, PyAny>,
        rules: bool,
        n_jobs: Option<usize>,
    ) -> PyResult<Vec<Bound<'py, PyArray2<f64>>>> {
        let options = TagOptions { label_marginals: true, rules, ..TagOptions::default() };
        let labels = self.tagger.labels().len();
        let array = |tagged: Tagged| {
            let tokens = tagged.label_marginals.len() / labels;
            tagged.label_marginals.into_pyarray(x.py()).reshape([tokens, labels])
        };
        self.tag(x, options, n_jobs)?.into_iter().map(array).collect()
    }

    /// The best label sequences of each sequence, with their log-probabilities.
    #[pyo3(signature = (x, n, *, rules = true, n_jobs = None))]
    fn predict_n_best(
        &self,
        x: &Bound<'_, PyAny>,
        n: usize,
        rules: bool,
        n_jobs: Option<usize>,
    ) -> PyResult<Vec<Ranked>> {
        if n == 0 {
            return Err(PyValueError::new_err("n: found 0, expected at least 1"));
        }
        let options = TagOptions { n_best: n, rules, ..TagOptions::default() };
        let ranked = |tagged: &Tagged| {
            tagged.best.iter().map(|(path, score)| (self.names(path), *score)).collect()
        };
        Ok(self.tag(x, options, n_jobs)?.iter().map(ranked).collect())
    }

    /// Which rules pulled at the labels of each sequence, in words, and which labels they changed.
    #[pyo3(signature = (x, *, n_jobs = None))]
    fn explain(&self, x: &Bound<'_, PyAny>, n_jobs: Option<usize>) -> PyResult<Vec<Vec<String>>> {
        let options = TagOptions { explain: true, ..TagOptions::default() };
        let tagged = self.tag(x, options, n_jobs)?;
        Ok(tagged.iter().map(|tagged| self.tagger.explanation(tagged)).collect())
    }

    /// What `bethe evaluate --json` prints: shares of right tokens, sequences and segments.
    fn evaluate<'py>(
        &self,
        py: Python<'py>,
        gold: &Bound<'py, PyAny>,
        predicted: Vec<Vec<String>>,
    ) -> PyResult<Bound<'py, PyAny>> {
        let gold = sequences::labels(gold)?;
        if gold.len() != predicted.len() {
            let (found, expected) = (gold.len(), predicted.len());
            return Err(PyValueError::new_err(format!(
                "found labels of {found} sequences, expected {expected}"
            )));
        }
        let states = self.tagger.states();
        let (mut score, mut unknown) = (Score::new(states.scheme()), UnknownLabels::default());
        for (index, (gold, predicted)) in gold.iter().zip(&predicted).enumerate() {
            sequences::check_length(index, predicted.len(), Some(gold))?;
            let [gold, predicted] = [gold, predicted].map(|labels: &Vec<String>| {
                labels.iter().map(String::as_str).collect::<Vec<&str>>()
            });
            unknown.add(states, &gold, |t| format!("y[{index}][{t}]"));
            score.add(&gold, &predicted);
        }
        unknown.check(self.tagger.labels()).map_err(value_error)?;
        if let Some(text) = unknown.warning() {
            let category = py.get_type::<PyUserWarning>();
            py.import("warnings")?.call_method1("warn", (text, category, CALLER))?;
        }
        let report = serde_json::to_string(&score.report()).map_err(value_error)?;
        py.import("json")?.call_method1("loads", (report,))
    }

    fn __repr__(&self) -> String {
        let (labels, rules) = (self.tagger.labels().len(), self.tagger.rules().len());
        format!("TrainedTagger({labels} labels, {rules} rules)")
    }
}

impl TrainedTagger {
    fn names(&self, path: &[usize]) -> Vec<String> {
        let states = self.tagger.states();
        path.iter().map(|&state| states.label(state).to_string()).collect()
    }

    /// Tags sequences on all threads, in order.
    fn tag(
        &self,
        x: &Bound<'_, PyAny>,
        options: TagOptions,
        n_jobs: Option<usize>,
    ) -> PyResult<Vec<Tagged>> {
        let takes_scores = self.tagger.parts().input == Input::Scores;
        let given = sequences::sequences(x, None)?;
        match (&given, takes_scores) {
            (Given::Scores(scores, _), false) if !scores.is_empty() => {
                return Err(PyValueError::new_err(
                    "X has scores, but the tagger was trained on tokens or attributes",
                ));
            }
            (Given::Rows(_, rows), true) if !rows.is_empty() => {
                return Err(PyValueError::new_err(
                    "the tagger was trained on scores, expected one array per sequence in X",
                ));
            }
            (Given::Rows(format, rows), false)
                if *format != self.tagger.parts().input.format()
                    && rows.iter().any(|rows| !rows.is_empty()) =>
            {
                return Err(PyValueError::new_err(
                    "X has a different kind of tokens from the training data: texts or columns \
                     where it had dicts, or dicts where it had texts or columns",
                ));
            }
            (Given::Rows(_, rows), false) => check_width(&self.tagger.parts().input, rows)?,
            (Given::Scores(_, columns), true) => {
                sequences::check_columns(columns, self.tagger.parts().score_labels.len())?;
            }
            _ => {}
        }
        let pool = run::pool(n_jobs)?;
        let limit: MemoryLimit = run::memory_limit();
        let memory_limit = limit.shared_by(pool.current_num_threads());
        let options = TagOptions { memory_limit, ..options };
        self.tagger.check(&options).map_err(value_error)?;
        let (tagger, cancel) = (self.tagger.clone(), Cancel::new());
        let asked = cancel.clone();
        let work = move || -> Result<Vec<Tagged>, TagError> {
            let stopped = || asked.is_cancelled();
            let memory = || Tagging::new(&tagger);
            let tagged: Vec<_> = match &given {
                Given::Rows(_, rows) => {
                    let tag = |tagging: &mut Tagging, row: &_| match stopped() {
                        true => Ok(Tagged::default()),
                        false => tagging.tag(row, &options),
                    };
                    rows.par_iter().with_min_len(SHARE).map_init(memory, tag).collect()
                }
                Given::Scores(scores, _) => {
                    let tag = |tagging: &mut Tagging, scores: &Vec<f64>| match stopped() {
                        true => Ok(Tagged::default()),
                        false => tagging.tag_scores(scores, &options),
                    };
                    scores.par_iter().with_min_len(SHARE).map_init(memory, tag).collect()
                }
            };
            tagged.into_iter().collect()
        };
        let ended = run::run(x.py(), &pool, &cancel, work)?;
        match ended.signal {
            Some(signal) => Err(signal),
            None => ended.result.map_err(|error| match error {
                TagError::TooLarge { .. } => PyMemoryError::new_err(error.to_string()),
                _ => value_error(error),
            }),
        }
    }
}
