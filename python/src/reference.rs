//! What a caller calls variables, states, scopes and tables by.

use bethe_core::Model;
use numpy::{AllowTypeChange, PyArrayLikeDyn, PyUntypedArrayMethods};
use pyo3::exceptions::{PyIndexError, PyKeyError, PyTypeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::{PyString, PyTuple};

/// The variable with this number or name.
pub fn variable(model: &Model, given: &Bound<'_, PyAny>) -> PyResult<usize> {
    if let Ok(name) = given.cast::<PyString>() {
        let name = name.to_str()?;
        return model
            .variable_named(name)
            .ok_or_else(|| PyKeyError::new_err(format!("no variable is named {name:?}")));
    }
    let found: isize = given.extract().map_err(|_| {
        PyTypeError::new_err(format!("found {given} as a variable, expected its number or name"))
    })?;
    let count = model.variables().len();
    match usize::try_from(found) {
        Ok(variable) if variable < count => Ok(variable),
        _ => Err(PyIndexError::new_err(format!(
            "found variable {found}, expected 0 to {} (there are {count})",
            count.saturating_sub(1)
        ))),
    }
}

/// The state of a variable with this number or name.
pub fn state(model: &Model, variable: usize, given: &Bound<'_, PyAny>) -> PyResult<usize> {
    let states = &model.variables()[variable];
    if let Ok(name) = given.cast::<PyString>() {
        let name = name.to_str()?;
        let named = states.names.iter().flat_map(|names| &names.states).position(|s| s == name);
        return named.ok_or_else(|| {
            PyKeyError::new_err(format!("variable {variable} has no state named {name:?}"))
        });
    }
    let found: isize = given.extract().map_err(|_| {
        PyTypeError::new_err(format!("found {given} as a state, expected its number or name"))
    })?;
    match usize::try_from(found) {
        Ok(state) if state < states.cardinality => Ok(state),
        _ => Err(PyIndexError::new_err(format!(
            "found state {found} of variable {variable}, expected 0 to {}",
            states.cardinality - 1
        ))),
    }
}

/// The variables of a scope: one, or a sequence of them.
pub fn scope(model: &Model, given: &Bound<'_, PyAny>) -> PyResult<Vec<usize>> {
    if given.is_instance_of::<PyString>() || given.extract::<isize>().is_ok() {
        return Ok(vec![variable(model, given)?]);
    }
    given.try_iter()?.map(|item| variable(model, &item?)).collect()
}

/// A name where there is one, else a number.
pub fn variable_name<'py>(
    py: Python<'py>,
    model: &Model,
    variable: usize,
) -> PyResult<Bound<'py, PyAny>> {
    match &model.variables()[variable].names {
        Some(names) => Ok(PyString::new(py, &names.variable).into_any()),
        None => Ok(variable.into_pyobject(py)?.into_any()),
    }
}

/// The same of a variable's state.
pub fn state_name<'py>(
    py: Python<'py>,
    model: &Model,
    variable: usize,
    state: usize,
) -> PyResult<Bound<'py, PyAny>> {
    match &model.variables()[variable].names {
        Some(names) => Ok(PyString::new(py, &names.states[state]).into_any()),
        None => Ok(state.into_pyobject(py)?.into_any()),
    }
}

/// A scope as a tuple of names or numbers.
pub fn scope_name<'py>(
    py: Python<'py>,
    model: &Model,
    scope: &[usize],
) -> PyResult<Bound<'py, PyTuple>> {
    let names: PyResult<Vec<_>> = scope.iter().map(|&v| variable_name(py, model, v)).collect();
    PyTuple::new(py, names?)
}

/// The numbers of a table over a scope, row-major: an array of its shape, or a flat one.
pub fn table(model: &Model, scope: &[usize], given: &Bound<'_, PyAny>) -> PyResult<Vec<f64>> {
    let array: PyArrayLikeDyn<'_, f64, AllowTypeChange> = given.extract().map_err(|why| {
        PyTypeError::new_err(format!("found a table that is not an array of numbers ({why})"))
    })?;
    let shape: Vec<usize> = scope.iter().map(|&v| model.variables()[v].cardinality).collect();
    let cells = shape.iter().try_fold(1usize, |cells, states| cells.checked_mul(*states));
    if array.shape() != shape && !(array.ndim() == 1 && Some(array.len()) == cells) {
        return Err(PyValueError::new_err(format!(
            "found a table of shape {:?} over variables {scope:?}, expected {shape:?}",
            array.shape()
        )));
    }
    // Row-major in memory: one copy without a detour.
    Ok(match array.as_slice() {
        Ok(values) => values.to_vec(),
        Err(_) => array.as_array().iter().copied().collect(),
    })
}
