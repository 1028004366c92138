//! Keywords of a call, each read once and checked.

use pyo3::exceptions::{PyTypeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::PyDict;

/// The keywords of a call. `None` counts as not given.
pub struct Keywords<'a, 'py>(Option<&'a Bound<'py, PyDict>>);

impl<'a, 'py> Keywords<'a, 'py> {
    /// The keywords of a call, which must be among these.
    pub fn new(given: Option<&'a Bound<'py, PyDict>>, known: &[&str]) -> PyResult<Self> {
        for key in given.into_iter().flat_map(|given| given.keys()) {
            let key: String = key.extract()?;
            if !known.contains(&key.as_str()) {
                return Err(PyTypeError::new_err(format!(
                    "found keyword {key:?}, expected one of {}",
                    known.join(", ")
                )));
            }
        }
        Ok(Self(given))
    }

    /// How many threads: `None` for all cores.
    pub fn jobs(&self) -> PyResult<Option<usize>> {
        match self.get::<i64>("n_jobs")? {
            None | Some(-1) => Ok(None),
            Some(jobs) if jobs > 0 => Ok(usize::try_from(jobs).ok()),
            Some(found) => Err(PyValueError::new_err(format!(
                "n_jobs: found {found}, expected at least 1, or -1 for all cores"
            ))),
        }
    }

    fn item(&self, word: &str) -> PyResult<Option<Bound<'py, PyAny>>> {
        let item = self.0.map(|given| given.get_item(word)).transpose()?.flatten();
        Ok(item.filter(|item| !item.is_none()))
    }

    /// Whether it was given.
    pub fn has(&self, word: &str) -> PyResult<bool> {
        Ok(self.item(word)?.is_some())
    }

    /// Its value.
    pub fn get<T: for<'b> FromPyObject<'b, 'py>>(&self, word: &str) -> PyResult<Option<T>> {
        let Some(item) = self.item(word)? else { return Ok(None) };
        match item.extract() {
            Ok(value) => Ok(Some(value)),
            Err(error) => {
                let error: PyErr = error.into();
                let text = error.value(item.py()).to_string();
                Err(PyTypeError::new_err(format!("{word}: found {item}: {text}")))
            }
        }
    }

    /// One of several words; the first is the default.
    pub fn choice<T: Clone>(&self, word: &str, choices: &[(&str, T)]) -> PyResult<T> {
        Ok(self.optional_choice(word, choices)?.unwrap_or_else(|| choices[0].1.clone()))
    }

    /// One of several words, if it was given.
    pub fn optional_choice<T: Clone>(
        &self,
        word: &str,
        choices: &[(&str, T)],
    ) -> PyResult<Option<T>> {
        let Some(found) = self.get::<String>(word)? else { return Ok(None) };
        if let Some((_, choice)) = choices.iter().find(|(name, _)| *name == found) {
            return Ok(Some(choice.clone()));
        }
        let names: Vec<&str> = choices.iter().map(|(name, _)| *name).collect();
        Err(PyValueError::new_err(format!("found {word}={found:?}, expected {}", names.join(", "))))
    }
}
