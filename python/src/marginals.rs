//! Tables of an answer as arrays.

use std::sync::{Arc, Mutex};

use bethe_core::Model;
use bethe_core::problem::TableAnswer;
use numpy::{IntoPyArray, PyArrayDyn, PyArrayMethods};
use pyo3::exceptions::PyKeyError;
use pyo3::prelude::*;
use pyo3::sync::MutexExt;
use pyo3::types::PyTuple;

use crate::reference;

/// Numbers over the states of variables: marginals, potentials or tilts.
///
/// `tables[variable]` is the array of a variable, by its number or name; `tables[a, b]` that of
/// several, with one axis each, in the order asked for. Iterating goes through the single variables.
#[pyclass(frozen, module = "pybethe")]
pub struct Tables {
    problem: Arc<bethe_core::Problem>,
    scopes: Vec<Vec<usize>>,
    /// A table becomes an array when it is asked for. `[scopes]`
    tables: Mutex<Vec<Slot>>,
}

enum Slot {
    Numbers(Vec<f64>),
    Array(Py<PyArrayDyn<f64>>),
}

impl Tables {
    pub fn new(problem: Arc<bethe_core::Problem>, found: Vec<TableAnswer>) -> Self {
        let (scopes, tables) =
            found.into_iter().map(|table| (table.scope, Slot::Numbers(table.values))).unzip();
        Self { problem, scopes, tables: Mutex::new(tables) }
    }

    /// The tables as numbers, whether they became arrays or not.
    pub fn numbers(&self, py: Python<'_>) -> PyResult<Vec<TableAnswer>> {
        let tables = self.tables.lock_py_attached(py).unwrap_or_else(|held| held.into_inner());
        let table = |(scope, slot): (&Vec<usize>, &Slot)| {
            let values = match slot {
                Slot::Numbers(numbers) => numbers.clone(),
                Slot::Array(array) => array.bind(py).to_vec()?,
            };
            Ok(TableAnswer { scope: scope.clone(), values })
        };
        self.scopes.iter().zip(tables.iter()).map(table).collect()
    }

    /// Where each variable's own table is. A factor over a single variable has the same one again.
    pub fn singles(&self) -> Vec<usize> {
        let mut seen = vec![false; self.model().variables().len()];
        let is_first = |&index: &usize| {
            let scope = &self.scopes[index];
            scope.len() == 1 && !std::mem::replace(&mut seen[scope[0]], true)
        };
        (0..self.scopes.len()).filter(is_first).collect()
    }

    fn model(&self) -> &Model {
        self.problem.model()
    }

    fn array<'py>(&self, py: Python<'py>, index: usize) -> PyResult<Bound<'py, PyArrayDyn<f64>>> {
        let mut tables = self.tables.lock_py_attached(py).unwrap_or_else(|held| held.into_inner());
        let numbers = match &mut tables[index] {
            Slot::Array(array) => return Ok(array.bind(py).clone()),
            Slot::Numbers(numbers) => std::mem::take(numbers),
        };
        let variables = self.model().variables();
        let shape: Vec<usize> =
            self.scopes[index].iter().map(|&v| variables[v].cardinality).collect();
        let array = numbers.into_pyarray(py).reshape(shape)?;
        tables[index] = Slot::Array(array.clone().unbind());
        Ok(array)
    }
}

#[pymethods]
impl Tables {
    /// The array of a variable, or of several.
    fn __getitem__<'py>(&self, given: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyArrayDyn<f64>>> {
        let (py, scope) = (given.py(), reference::scope(self.model(), given)?);
        // The tables of all variables come first, if there are any.
        if let [variable] = scope[..]
            && self.scopes.get(variable) == Some(&scope)
        {
            return self.array(py, variable);
        }
        if let Some(index) = self.scopes.iter().position(|own| *own == scope) {
            return self.array(py, index);
        }
        let mut sorted = scope.clone();
        sorted.sort_unstable();
        let is_same = |own: &Vec<usize>| {
            let mut own = own.clone();
            own.sort_unstable();
            own == sorted
        };
        let index = self.scopes.iter().position(is_same).ok_or_else(|| {
            PyKeyError::new_err(format!(
                "no table over {given}; there is one per variable and factor that was asked for"
            ))
        })?;
        let axes: Vec<usize> = scope
            .iter()
            .map(|v| {
                self.scopes[index].iter().position(|own| own == v).expect("the same variables")
            })
            .collect();
        self.array(py, index)?.permute(Some(axes))
    }

    /// How many single variables there are.
    fn __len__(&self) -> usize {
        self.singles().len()
    }

    /// The arrays of the single variables.
    fn __iter__<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        let singles = self.singles().into_iter();
        let arrays: PyResult<Vec<_>> = singles.map(|index| self.array(py, index)).collect();
        Ok(PyTuple::new(py, arrays?)?.try_iter()?.into_any())
    }

    /// The scopes that have a table, as tuples of names or numbers.
    #[getter]
    fn scopes<'py>(&self, py: Python<'py>) -> PyResult<Vec<Bound<'py, PyTuple>>> {
        self.scopes.iter().map(|scope| reference::scope_name(py, self.model(), scope)).collect()
    }

    fn __repr__(&self) -> String {
        format!("Tables({} tables; index by variable or scope)", self.scopes.len())
    }
}
