//! What a solve found.

use std::sync::{Arc, Mutex};

use bethe_core::problem::{EnergyAnswer, TableAnswer};
use bethe_core::{Problem, solve};
use bethe_io::plot::convergence;
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::sync::MutexExt;
use pyo3::types::PyDict;

use crate::html;
use crate::marginals::Tables;
use crate::reference;
use crate::trace::{Picture, Record};

/// The answer to a problem: marginals, the best assignment, and how sure they are.
#[pyclass(frozen, module = "pybethe")]
pub struct Answer {
    pub problem: Arc<Problem>,
    pub found: bethe_core::Answer,
    marginals: Mutex<Held>,
    potentials: Option<Vec<TableAnswer>>,
    records: Option<Vec<solve::Record>>,
}

/// Marginals before and after they were asked for.
enum Held {
    Found(Vec<TableAnswer>),
    Shown(Py<Tables>),
}

impl Answer {
    pub fn new(
        problem: Arc<Problem>,
        mut found: bethe_core::Answer,
        records: Option<Vec<solve::Record>>,
    ) -> Self {
        let marginals = Mutex::new(Held::Found(std::mem::take(&mut found.marginals)));
        let potentials = found.potentials.take();
        Self { problem, found, marginals, potentials, records }
    }
}

/// The best assignment that keeps hard measurements.
#[pyclass(frozen, module = "pybethe")]
pub struct Map {
    problem: Arc<Problem>,
    found: bethe_core::problem::Map,
}

#[pymethods]
impl Map {
    /// The state of every variable, by name where it has one.
    #[getter]
    fn assignment<'py>(&self, py: Python<'py>) -> PyResult<Vec<Bound<'py, PyAny>>> {
        let states = self.found.assignment.iter().enumerate();
        states
            .map(|(v, &state)| reference::state_name(py, self.problem.model(), v, state))
            .collect()
    }

    /// Its score under the potentials and the tilt of all energies but hard ones.
    #[getter]
    fn log_score(&self) -> f64 {
        self.found.log_score
    }

    /// Whether no assignment that keeps hard measurements has a higher score.
    #[getter]
    fn proved(&self) -> bool {
        self.found.proved
    }

    /// An upper bound on the best score.
    #[getter]
    fn bound(&self) -> Option<f64> {
        self.found.bound
    }

    /// Energies that are hard measurements and do not hold.
    #[getter]
    fn violated(&self) -> Vec<usize> {
        self.found.violated.clone()
    }

    fn __getitem__<'py>(&self, given: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyAny>> {
        let variable = reference::variable(self.problem.model(), given)?;
        let state = self.found.assignment[variable];
        reference::state_name(given.py(), self.problem.model(), variable, state)
    }

    fn __len__(&self) -> usize {
        self.found.assignment.len()
    }

    fn __repr__(&self, py: Python<'_>) -> PyResult<String> {
        let states: PyResult<Vec<String>> =
            self.assignment(py)?.iter().map(|s| Ok(s.repr()?.to_string())).collect();
        let (states, score) = (states?.join(", "), self.found.log_score);
        Ok(format!("Map([{states}], log_score={score}, proved={})", python_bool(self.found.proved)))
    }
}

/// A number to seven digits, as Python writes it.
fn seven_digits(number: f64) -> String {
    let rounded: f64 = format!("{number:.6e}").parse().unwrap_or(number);
    format!("{rounded:?}")
}

fn python_bool(truth: bool) -> &'static str {
    if truth { "True" } else { "False" }
}

/// Getters that hand on a field of the answer.
macro_rules! fields {
    ($($(#[doc = $doc:literal])+ $name:ident: $type:ty),* $(,)?) => {
        #[pymethods]
        impl Answer {
            $(
                $(#[doc = $doc])+
                #[getter]
                fn $name(&self) -> $type {
                    self.found.$name.clone()
                }
            )*
        }
    };
}

fields! {
    /// The solver that found the answer.
    solver: &'static str,
    /// The oracle that was used.
    oracle: &'static str,
    /// Which entropy was used: `exact`, `tree-reweighted` or `bethe`.
    entropy: &'static str,
    /// The memory of its tables in bytes.
    memory_estimate: u64,
    /// Iterations done.
    iterations: usize,
    /// Oracle calls done.
    oracle_calls: usize,
    /// Products with the covariance done.
    products: usize,
    /// Time the solver took.
    seconds: f64,
    /// `F` at the answer; `None` if the problem is infeasible.
    objective: Option<f64>,
    /// A lower bound on the optimum, if there is one.
    lower_bound: Option<f64>,
    /// An upper bound on `objective − optimum`, in nats, if there is one.
    gap: Option<f64>,
    /// Bounds the error of every marginal.
    marginal_error_bound: Option<f64>,
    /// Which of the solver's points this is.
    returned: &'static str,
    /// `A(θ + δ)` at the answer.
    log_partition: f64,
    /// `A(θ)`
    base_log_partition: f64,
    /// An upper bound on `A(θ)`, if that is not exact.
    log_partition_bound: Option<f64>,
    /// Whether message passing settled, if it was used.
    messages_settled: Option<bool>,
}

#[pymethods]
impl Answer {
    /// How the solve ended: `converged`, `stationary`, `iteration_limit`, `rounding_limit`,
    /// `time_limit`, `stopped` or `infeasible`.
    #[getter]
    fn status(&self) -> &'static str {
        self.found.status.name()
    }

    /// The probability of every state of a variable or scope.
    #[getter]
    fn marginals(&self, py: Python<'_>) -> PyResult<Py<Tables>> {
        let mut held = self.marginals.lock_py_attached(py).unwrap_or_else(|held| held.into_inner());
        let found = match &mut *held {
            Held::Shown(tables) => return Ok(tables.clone_ref(py)),
            Held::Found(found) => std::mem::take(found),
        };
        let tables = Py::new(py, Tables::new(Arc::clone(&self.problem), found))?;
        *held = Held::Shown(tables.clone_ref(py));
        Ok(tables)
    }

    /// The best single assignment that keeps hard measurements.
    #[getter]
    fn map(&self) -> Map {
        Map { problem: Arc::clone(&self.problem), found: self.found.map.clone() }
    }

    /// The weighted value of each energy, in the order they were stated.
    #[getter]
    fn energies(&self) -> Vec<Option<f64>> {
        self.found.energies.iter().map(|energy| energy.value).collect()
    }

    /// How strongly each measurement pulls: one list per energy, `None` for other energies.
    #[getter]
    fn multipliers(&self) -> Vec<Option<Vec<f64>>> {
        let of = |energy: &EnergyAnswer| energy.multipliers.clone();
        self.found.energies.iter().map(of).collect()
    }

    /// `θ + δ` for each scope that the energies tilt; `None` for an average of iterates.
    #[getter]
    fn potentials(&self) -> Option<Tables> {
        let found = self.potentials.clone()?;
        Some(Tables::new(Arc::clone(&self.problem), found))
    }

    /// `δ` for each scope that the energies tilt: the marginals are those of the model with potentials
    /// `θ + δ`. `None` for an average of iterates.
    #[getter]
    fn tilt(&self) -> Option<Tables> {
        let found = self.found.tilt.clone()?;
        Some(Tables::new(Arc::clone(&self.problem), found))
    }

    /// Every iteration, if `trace=True` was asked for.
    #[getter]
    fn trace(&self) -> Option<Vec<Record>> {
        self.records.as_ref().map(|records| records.iter().map(Record::from).collect())
    }

    /// The covariance of measurements, if it was asked for.
    #[getter]
    fn covariance<'py>(&self, py: Python<'py>) -> PyResult<Option<Bound<'py, PyDict>>> {
        let Some(found) = &self.found.covariance else { return Ok(None) };
        let shown = PyDict::new(py);
        let quantities = found.quantities.iter();
        let deviations: Vec<f64> = quantities.clone().map(|q| q.deviation).collect();
        let inferred: Vec<Option<f64>> = quantities.clone().map(|q| q.inferred_deviation).collect();
        shown.set_item("values", quantities.map(|q| q.value).collect::<Vec<f64>>())?;
        shown.set_item("deviations", deviations)?;
        shown.set_item("inferred_deviations", inferred)?;
        shown.set_item("distribution", found.distribution.clone())?;
        shown.set_item("inferred", found.inferred.clone())?;
        Ok(Some(shown))
    }

    /// Draws objective, bound and gap over iterations and time. Needs `trace=True`.
    fn plot(&self) -> PyResult<Picture> {
        let records = self.records.as_ref().ok_or_else(|| {
            PyValueError::new_err("there is no trace to draw: solve with trace=True")
        })?;
        Ok(Picture { svg: convergence(&format!("solver {}", self.found.solver), records) })
    }

    /// The answer as `bethe solve` prints it.
    fn to_json(&self, py: Python<'_>) -> PyResult<String> {
        let mut whole = self.found.clone();
        whole.marginals = self.marginals(py)?.get().numbers(py)?;
        Ok(whole.to_json(self.problem.model()))
    }

    fn _repr_html_(&self, py: Python<'_>) -> PyResult<String> {
        let tables = self.marginals(py)?;
        let numbers = tables.get().numbers(py)?;
        let single: Vec<_> =
            tables.get().singles().into_iter().map(|index| numbers[index].clone()).collect();
        Ok(html::answer(self.problem.model(), &self.found, &single))
    }

    fn __repr__(&self) -> String {
        let number = |given: Option<f64>| given.map_or("None".into(), seven_digits);
        format!(
            "Answer(status='{}', objective={}, gap={}, solver='{}')",
            self.found.status.name(),
            number(self.found.objective),
            number(self.found.gap),
            self.found.solver
        )
    }
}
