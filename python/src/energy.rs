//! Energies as Python states them.

use std::sync::{Arc, Mutex};

use bethe_core::{Curvature, CustomEnergy, Model, Norm, Penalty, Term};
use numpy::{AllowTypeChange, PyArray1, PyArrayLikeDyn, PyArrayMethods};
use pyo3::exceptions::{PyTypeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyList};

use crate::reference;

/// The penalties by name, with the numbers that some of them need.
pub fn penalty(
    name: &str,
    delta: Option<f64>,
    rate: Option<f64>,
    count: Option<f64>,
) -> PyResult<Penalty> {
    let needed = |given: Option<f64>, word: &str| {
        given.ok_or_else(|| PyValueError::new_err(format!("penalty {name:?} needs {word}=")))
    };
    let penalty = match name {
        "linear" => Penalty::Linear,
        "hinge" => Penalty::Hinge,
        "smoothed_hinge" => Penalty::SmoothedHinge,
        "squared" => Penalty::Squared,
        "absolute" => Penalty::Absolute,
        "huber" => Penalty::Huber { delta: needed(delta, "delta")? },
        "poisson" => Penalty::Poisson { rate: rate.unwrap_or(1.0), count: needed(count, "count")? },
        "at_most" => Penalty::AtMost,
        "equal" => Penalty::Equal,
        _ => {
            return Err(PyValueError::new_err(format!(
                "found penalty {name:?}, expected linear, hinge, smoothed_hinge, squared, absolute, \
                 huber, poisson, at_most or equal"
            )));
        }
    };
    let unused = [
        ("delta", delta.is_some() && !matches!(penalty, Penalty::Huber { .. })),
        ("rate", rate.is_some() && !matches!(penalty, Penalty::Poisson { .. })),
        ("count", count.is_some() && !matches!(penalty, Penalty::Poisson { .. })),
    ];
    match unused.iter().find(|(_, unused)| *unused) {
        Some((word, _)) => Err(PyValueError::new_err(format!("penalty {name:?} has no {word}"))),
        None => Ok(penalty),
    }
}

/// A weight, which hard penalties do not have.
pub fn weight(penalty: Penalty, given: Option<f64>) -> PyResult<f64> {
    match given {
        Some(_) if penalty.is_hard() => {
            Err(PyValueError::new_err("hard penalties (at_most, equal) take no weight"))
        }
        _ => Ok(given.unwrap_or(1.0)),
    }
}

/// Terms as a mapping from scopes to coefficients, or as pairs of them.
pub fn terms(model: &Model, given: &Bound<'_, PyAny>) -> PyResult<Vec<Term>> {
    let pairs = match given.cast::<PyDict>() {
        Ok(mapping) => mapping.items().into_any(),
        Err(_) => given.clone(),
    };
    let no_mapping = |_| {
        PyTypeError::new_err(
            "found terms that are not a mapping, expected {scope: coefficients}, such as {0: [0, \
             1]}",
        )
    };
    let items = pairs.try_iter().map_err(no_mapping)?;
    let term = |item: PyResult<Bound<'_, PyAny>>| {
        let pair = item?.extract().map_err(no_mapping)?;
        let (scope, coefficients): (Bound<'_, PyAny>, Bound<'_, PyAny>) = pair;
        let scope = reference::scope(model, &scope)?;
        let coefficients = reference::table(model, &scope, &coefficients)?;
        Ok(Term { scope, coefficients })
    };
    items.map(term).collect()
}

/// Rows of numbers: a matrix, or a list of lists.
pub fn points(given: &Bound<'_, PyAny>) -> PyResult<Vec<Vec<f64>>> {
    given.try_iter()?.map(|row| row?.extract()).collect()
}

/// `"l1"`, or a Huber norm by its `δ`.
pub fn norm(given: &str, delta: Option<f64>) -> PyResult<Norm> {
    match (given, delta) {
        ("l1", None) => Ok(Norm::L1),
        ("huber", Some(delta)) => Ok(Norm::Huber(delta)),
        ("l1", Some(_)) => Err(PyValueError::new_err("norm \"l1\" has no delta")),
        ("huber", None) => Err(PyValueError::new_err("norm \"huber\" needs delta=")),
        _ => Err(PyValueError::new_err(format!("found norm {given:?}, expected l1 or huber"))),
    }
}

/// The first exception that a function of the caller's raised.
pub type Raised = Arc<Mutex<Option<PyErr>>>;

/// A Python function of the marginals of some tables, as an energy. It gets one array per scope and
/// returns its value and one gradient per scope.
pub fn custom(
    model: &Model,
    scopes: Vec<Vec<usize>>,
    function: Py<PyAny>,
    curvature: Curvature,
    raised: Raised,
) -> PyResult<CustomEnergy> {
    let mut shapes = Vec::new();
    for scope in &scopes {
        if scope.is_empty() {
            return Err(PyValueError::new_err("found an empty scope, expected variables"));
        }
        let shape: Vec<usize> = scope.iter().map(|&v| model.variables()[v].cardinality).collect();
        shapes.push(shape);
    }
    let evaluate = move |marginals: &[f64], gradient: &mut [f64]| {
        Python::attach(|py| match call(py, &function, &shapes, marginals, gradient) {
            Ok(value) => value,
            Err(error) => {
                let mut first = raised.lock().unwrap_or_else(|held| held.into_inner());
                first.get_or_insert(error);
                f64::NAN
            }
        })
    };
    Ok(CustomEnergy::new(scopes, curvature, evaluate))
}

fn call(
    py: Python<'_>,
    function: &Py<PyAny>,
    shapes: &[Vec<usize>],
    marginals: &[f64],
    gradient: &mut [f64],
) -> PyResult<f64> {
    let tables = PyList::empty(py);
    let mut start = 0;
    for shape in shapes {
        let cells: usize = shape.iter().product();
        let flat = PyArray1::from_slice(py, &marginals[start..start + cells]);
        tables.append(flat.reshape(shape.clone())?)?;
        start += cells;
    }
    let returned = function.call1(py, (tables,))?;
    let (value, gradients): (f64, Vec<Bound<'_, PyAny>>) =
        returned.bind(py).extract().map_err(|_| {
            PyTypeError::new_err(
                "an energy returns its value and a list of gradients, one array per scope",
            )
        })?;
    if gradients.len() != shapes.len() {
        return Err(PyValueError::new_err(format!(
            "an energy returned {} gradients, expected {}, one per scope",
            gradients.len(),
            shapes.len()
        )));
    }
    let mut start = 0;
    for (own, shape) in gradients.iter().zip(shapes) {
        let own: PyArrayLikeDyn<'_, f64, AllowTypeChange> = own.extract()?;
        let own = own.as_array();
        if own.shape() != shape {
            return Err(PyValueError::new_err(format!(
                "an energy returned a gradient of shape {:?}, expected {shape:?}",
                own.shape()
            )));
        }
        let cells = own.len();
        gradient[start..start + cells]
            .iter_mut()
            .zip(own.iter())
            .for_each(|(to, from)| *to = *from);
        start += cells;
    }
    Ok(value)
}
