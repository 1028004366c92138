//! Sequences as Python has them: lists of tokens, of tuples of columns, of dicts of attributes, or
//! arrays of scores.

use std::path::Path;
use std::sync::Arc;

use bethe_tagging::data::{Format, Growing, Sequence, write_attribute};
use numpy::{AllowTypeChange, PyArrayLike2, PyUntypedArrayMethods};
use pyo3::exceptions::{PyTypeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::{PyBool, PyDict, PyString};

/// Sequences, with the kind that all of them have.
pub enum Given {
    /// Rows of cells, or of attributes.
    Rows(Format, Vec<Sequence>),
    /// `[sequences][positions × columns]`, and how many columns each has.
    Scores(Vec<Vec<f64>>, Vec<usize>),
}

/// Labels of sequences. `[sequences][positions]`
pub type Labels = Vec<Vec<String>>;

/// Reads `y`: one list of labels per sequence.
pub fn labels(given: &Bound<'_, PyAny>) -> PyResult<Labels> {
    let of_sequence = |(index, own): (usize, PyResult<Bound<'_, PyAny>>)| {
        let own = own?;
        if own.is_instance_of::<PyString>() {
            return Err(PyTypeError::new_err(format!(
                "found y[{index}] = {own}, expected a list of labels, one per token"
            )));
        }
        own.try_iter()?.map(|label| Ok(label?.str()?.to_string())).collect()
    };
    listed(given, "y", "labels")?.enumerate().map(of_sequence).collect()
}

/// What should be a list of sequences, one by one.
fn listed<'py>(
    given: &Bound<'py, PyAny>,
    name: &str,
    of: &str,
) -> PyResult<Bound<'py, pyo3::types::PyIterator>> {
    given.try_iter().map_err(|_| {
        PyTypeError::new_err(format!("found {name} = {given}, expected a list of lists of {of}"))
    })
}

/// Reads `X`, and labels into a last column if there are any.
pub fn sequences(given: &Bound<'_, PyAny>, labels: Option<&Labels>) -> PyResult<Given> {
    let items: Vec<Bound<'_, PyAny>> = listed(given, "X", "tokens")?.collect::<PyResult<_>>()?;
    if let Some(labels) = labels
        && labels.len() != items.len()
    {
        let (found, expected) = (labels.len(), items.len());
        return Err(PyValueError::new_err(format!(
            "found labels of {found} sequences, expected {expected}"
        )));
    }
    let own = |index: usize| labels.map(|labels| labels[index].as_slice());
    if items.first().is_some_and(is_scores) {
        let scored = |(index, item): (usize, &Bound<'_, PyAny>)| scores(index, item, own(index));
        let scored: Vec<_> = items.iter().enumerate().map(scored).collect::<PyResult<_>>()?;
        let (scores, columns) = scored.into_iter().unzip();
        return Ok(Given::Scores(scores, columns));
    }
    let attributes =
        items.iter().find_map(first_token).is_some_and(|t| t.is_instance_of::<PyDict>());
    let format = if attributes { Format::Attributes } else { Format::Columns };
    let mut columns = None;
    let rows = |(index, item): (usize, &Bound<'_, PyAny>)| {
        rows((index, item), own(index), format, &mut columns)
    };
    Ok(Given::Rows(format, items.iter().enumerate().map(rows).collect::<PyResult<_>>()?))
}

/// Whether it is an array of two axes.
fn is_scores(item: &Bound<'_, PyAny>) -> bool {
    item.getattr("ndim").and_then(|axes| axes.extract::<usize>()).is_ok_and(|axes| axes == 2)
}

fn first_token<'py>(item: &Bound<'py, PyAny>) -> Option<Bound<'py, PyAny>> {
    item.try_iter().ok()?.next()?.ok()
}

fn scores(
    index: usize,
    item: &Bound<'_, PyAny>,
    labels: Option<&[String]>,
) -> PyResult<(Vec<f64>, usize)> {
    let array: PyArrayLike2<'_, f64, AllowTypeChange> = item.extract().map_err(|_| {
        PyTypeError::new_err(format!(
            "found X[{index}] with rows and columns that are not numbers, expected an array of \
             scores; or a list of tokens, each a text, a tuple of columns or a dict"
        ))
    })?;
    check_length(index, array.shape()[0], labels)?;
    Ok((array.as_array().iter().copied().collect(), array.shape()[1]))
}

/// An error unless every array has one column per label.
pub fn check_columns(columns: &[usize], expected: usize) -> PyResult<()> {
    match columns.iter().position(|found| *found != expected) {
        None => Ok(()),
        Some(index) => Err(PyValueError::new_err(format!(
            "X[{index}]: found {} columns, expected {expected}, one per label",
            columns[index]
        ))),
    }
}

/// Rows that have labels only, beside scores.
pub fn of_labels(labels: &Labels) -> PyResult<Vec<Sequence>> {
    let path: Arc<Path> = Path::new("y").into();
    let sequence = |labels: &Vec<String>| {
        let rows = labels.iter().map(|label| [label.as_str()]);
        Sequence::of_cells(Arc::clone(&path), rows)
            .map_err(|error| PyValueError::new_err(error.to_string()))
    };
    labels.iter().map(sequence).collect()
}

/// An error unless there is one label per token.
pub fn check_length(index: usize, tokens: usize, labels: Option<&[String]>) -> PyResult<()> {
    match labels {
        Some(labels) if labels.len() != tokens => Err(PyValueError::new_err(format!(
            "sequence {index}: found {tokens} tokens and {} labels, expected one label per token",
            labels.len()
        ))),
        _ => Ok(()),
    }
}

/// One sequence, whose rows have their cells as an attribute file or a column file has them. All rows
/// have as many columns as the first of all sequences.
fn rows(
    (index, item): (usize, &Bound<'_, PyAny>),
    labels: Option<&[String]>,
    format: Format,
    columns: &mut Option<usize>,
) -> PyResult<Sequence> {
    if item.is_instance_of::<PyString>() {
        return Err(PyTypeError::new_err(format!(
            "found X[{index}] = {:?}, expected a list of tokens, not a text",
            item.str()?.to_string()
        )));
    }
    let tokens: Vec<Bound<'_, PyAny>> = item.try_iter()?.collect::<PyResult<_>>()?;
    check_length(index, tokens.len(), labels)?;
    let mut rows = Growing::new(Path::new(&format!("X[{index}]")).into());
    for (position, token) in tokens.iter().enumerate() {
        rows.row();
        let label = labels.map(|labels| labels[position].as_str());
        let place = || format!("X[{index}][{position}]");
        match format {
            Format::Attributes => {
                attribute(&mut rows, &[label.unwrap_or_default()], 1.0)?;
                attributes(token, place, &mut rows)?;
            }
            Format::Columns => {
                let found = cells(token, place, &mut rows)?;
                let expected = *columns.get_or_insert(found);
                if found != expected {
                    return Err(PyValueError::new_err(format!(
                        "columns of {}: found {found}, expected {expected} as in the first token",
                        place()
                    )));
                }
                label.map_or(Ok(()), |label| cell(&mut rows, label))?;
            }
        }
    }
    Ok(rows.end())
}

fn cell(rows: &mut Growing, text: &str) -> PyResult<()> {
    let written = rows.cell(|row| row.push_str(text));
    written.map_err(|error| PyValueError::new_err(error.to_string()))
}

fn attribute(rows: &mut Growing, name: &[&str], value: f64) -> PyResult<()> {
    let written = rows.cell(|row| write_attribute(row, name, value));
    written.map_err(|error| PyValueError::new_err(error.to_string()))
}

/// A token: one cell, or several columns. How many it has.
fn cells(
    token: &Bound<'_, PyAny>,
    place: impl Fn() -> String,
    rows: &mut Growing,
) -> PyResult<usize> {
    if let Ok(text) = token.cast::<PyString>() {
        return cell(rows, &text.to_string_lossy()).map(|()| 1);
    }
    if token.is_instance_of::<PyDict>() {
        return Err(PyTypeError::new_err(format!(
            "found a dict at {}, expected text as in the tokens before",
            place()
        )));
    }
    let columns = token.try_iter().map_err(|_| {
        PyTypeError::new_err(format!(
            "found {token} at {}, expected a text, a tuple of columns or a dict of attributes",
            place()
        ))
    })?;
    let mut count = 0;
    for column in columns {
        cell(rows, &column?.str()?.to_string_lossy())?;
        count += 1;
    }
    Ok(count)
}

/// Attributes as CRFsuite's Python packages have them: numbers are values, true is 1, false leaves
/// the attribute out, text is part of the name.
fn attributes(
    token: &Bound<'_, PyAny>,
    place: impl Fn() -> String,
    rows: &mut Growing,
) -> PyResult<()> {
    let expected =
        |_| PyTypeError::new_err(format!("found {token} at {}, expected a dict", place()));
    for (name, value) in token.cast::<PyDict>().map_err(expected)?.iter() {
        let name = name.str()?;
        let name = name.to_string_lossy();
        if let Ok(text) = value.cast::<PyString>() {
            attribute(rows, &[&name, ":", &text.to_string_lossy()], 1.0)?;
        } else if let Ok(truth) = value.cast::<PyBool>() {
            if truth.is_true() {
                attribute(rows, &[&name], 1.0)?;
            }
        } else if let Ok(number) = value.extract::<f64>() {
            attribute(rows, &[&name], number)?;
        } else if let Ok(texts) = value.try_iter() {
            for text in texts {
                attribute(rows, &[&name, ":", &text?.str()?.to_string_lossy()], 1.0)?;
            }
        } else {
            return Err(PyTypeError::new_err(format!(
                "found {value} for {name:?} at {}, expected a number, a text or a bool",
                place()
            )));
        }
    }
    Ok(())
}
