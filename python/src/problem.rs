//! Problems: stated piece by piece, read from files, solved.

use std::path::PathBuf;
use std::sync::Arc;

use bethe_core::model::uai::Evidence;
use bethe_core::solve::{Ignore, SolveError};
use bethe_core::{
    Cancel, Curvature, Energy, Factor, Model, Names, Problem as Stated, Records, Variable,
};
use numpy::{IntoPyArray, PyArray2, PyArrayMethods};
use pyo3::exceptions::{PyMemoryError, PyTypeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyMapping, PyString};
use rand::SeedableRng;
use rand::rngs::StdRng;

use crate::answer::Answer;
use crate::energy::{self, Raised};
use crate::options::Options;
use crate::solving::{exception, solve_one};
use crate::{files, reference, run};

/// A model over discrete variables, and energies on its marginals.
///
/// `Problem([2, 3])` has variables of two and three states; `Problem({"colour": ["red", "blue"]})`
/// names them.
#[pyclass(module = "pybethe")]
pub struct Problem {
    pub stated: Arc<Stated>,
    /// What functions of the caller's raised.
    pub raised: Raised,
}

impl Problem {
    fn of(stated: Stated) -> Self {
        Self { stated: Arc::new(stated), raised: Raised::default() }
    }

    fn model(&self) -> &Model {
        self.stated.model()
    }

    fn add(&mut self, energy: Energy) -> PyResult<usize> {
        let index = self.stated.energies().len();
        Arc::make_mut(&mut self.stated).add_energy(energy).map_err(value_error)?;
        Ok(index)
    }
}

fn value_error(error: impl std::fmt::Display) -> PyErr {
    PyValueError::new_err(error.to_string())
}

#[pymethods]
impl Problem {
    #[new]
    fn new(variables: &Bound<'_, PyAny>) -> PyResult<Self> {
        let mut model = Model::default();
        if let Ok(mapping) = variables.cast::<PyMapping>() {
            for item in mapping.items()?.iter() {
                let (variable, states): (String, Bound<'_, PyAny>) = item.extract()?;
                model.add_variable(named(variable, &states)?).map_err(value_error)?;
            }
        } else {
            let expected = "found variables that are not a sequence, expected numbers of \
                            states, or {name: states}";
            for item in variables.try_iter().map_err(|_| PyTypeError::new_err(expected))? {
                let cardinality = cardinality(model.variables().len(), &item?)?;
                model.add_variable(Variable { cardinality, names: None }).map_err(value_error)?;
            }
        }
        Ok(Self::of(Stated::new(model, Vec::new()).map_err(value_error)?))
    }

    /// Reads a problem file's text.
    #[staticmethod]
    fn from_json(text: &str) -> PyResult<Self> {
        Ok(Self::of(Stated::from_json(text.as_bytes()).map_err(value_error)?))
    }

    /// Reads a UAI model, and evidence beside it.
    #[staticmethod]
    #[pyo3(signature = (path, evidence = None))]
    fn from_uai(path: PathBuf, evidence: Option<PathBuf>) -> PyResult<Self> {
        let text = std::fs::read(&path).map_err(files::refused(&path))?;
        let in_file = |path: &PathBuf, error: &dyn std::fmt::Display| {
            PyValueError::new_err(format!("{}: {error}", path.display()))
        };
        let mut model = Model::from_uai(&text).map_err(|error| in_file(&path, &error))?;
        if let Some(path) = evidence {
            let text = std::fs::read(&path).map_err(files::refused(&path))?;
            let read = Evidence::from_uai(&text);
            let read = read.map_err(|error| in_file(&path, &error))?;
            let [sample] = read.samples() else {
                let found = read.samples().len();
                return Err(in_file(&path, &format!("found {found} samples, expected one")));
            };
            sample.observe(&mut model).map_err(|error| in_file(&path, &error))?;
        }
        Ok(Self::of(Stated::new(model, Vec::new()).map_err(value_error)?))
    }

    /// The problem as a problem file. Functions of Python cannot be written.
    fn to_json(&self) -> PyResult<String> {
        self.stated.to_json().map_err(value_error)
    }

    /// Adds log-potentials over a scope: an array with one axis per variable. `-inf` forbids a
    /// configuration.
    fn factor(
        &mut self,
        scope: &Bound<'_, PyAny>,
        log_potentials: &Bound<'_, PyAny>,
    ) -> PyResult<()> {
        let scope = reference::scope(self.model(), scope)?;
        let log_potentials = reference::table(self.model(), &scope, log_potentials)?;
        Arc::make_mut(&mut self.stated)
            .add_factor(Factor { scope, log_potentials: Arc::new(log_potentials) })
            .map_err(value_error)
    }

    /// Fixes a variable to a state.
    fn observe(&mut self, variable: &Bound<'_, PyAny>, state: &Bound<'_, PyAny>) -> PyResult<()> {
        let variable = reference::variable(self.model(), variable)?;
        let state = reference::state(self.model(), variable, state)?;
        Arc::make_mut(&mut self.stated).fix(variable, state).map_err(value_error)
    }

    /// Adds `weight · φ(Σ terms·μ + offset)` and returns the number of this energy.
    ///
    /// `terms` maps scopes to coefficients: `{0: [0, 1], (1, 2): [[0, 1], [0, 0]]}`. Penalties φ:
    /// `linear`, `hinge`, `smoothed_hinge`, `squared`, `absolute`, `huber` (`delta=`), `poisson`
    /// (`count=`, `rate=1`); hard: `at_most` (≤ 0) and `equal` (= 0), which take no weight.
    #[pyo3(signature = (terms, *, penalty = "squared", weight = None, offset = 0.0, delta = None, rate = None, count = None))]
    #[allow(clippy::too_many_arguments)] // Keywords of Python.
    fn measure(
        &mut self,
        terms: &Bound<'_, PyAny>,
        penalty: &str,
        weight: Option<f64>,
        offset: f64,
        delta: Option<f64>,
        rate: Option<f64>,
        count: Option<f64>,
    ) -> PyResult<usize> {
        let penalty = energy::penalty(penalty, delta, rate, count)?;
        let weight = energy::weight(penalty, weight)?;
        let terms = energy::terms(self.model(), terms)?;
        self.add(Energy::Measurement { weight, penalty, offset, terms })
    }

    /// Adds a penalty on every cell of a table: `weight · Σ φ(total·μ − target)`. Returns the number
    /// of this energy.
    #[pyo3(signature = (scope, target, *, penalty = "squared", weight = None, total = 1.0, delta = None))]
    fn measure_table(
        &mut self,
        scope: &Bound<'_, PyAny>,
        target: &Bound<'_, PyAny>,
        penalty: &str,
        weight: Option<f64>,
        total: f64,
        delta: Option<f64>,
    ) -> PyResult<usize> {
        let penalty = energy::penalty(penalty, delta, None, None)?;
        let weight = energy::weight(penalty, weight)?;
        let scope = reference::scope(self.model(), scope)?;
        let target = reference::table(self.model(), &scope, target)?;
        self.add(Energy::TableMeasurement { weight, penalty, scope, target, total })
    }

    /// Adds `weight · min_i ‖p_i − Mμ‖`: pulls measurements, the rows of `M`, to the nearest of some
    /// points. Returns the number of this energy.
    #[pyo3(signature = (measurements, points, *, weight = 1.0, norm = "l1", delta = None, cap = None))]
    fn nearest(
        &mut self,
        measurements: &Bound<'_, PyAny>,
        points: &Bound<'_, PyAny>,
        weight: f64,
        norm: &str,
        delta: Option<f64>,
        cap: Option<f64>,
    ) -> PyResult<usize> {
        let norm = energy::norm(norm, delta)?;
        let rows = measurements.try_iter()?;
        let rows: PyResult<_> = rows.map(|row| energy::terms(self.model(), &row?)).collect();
        let points = energy::points(points)?;
        self.add(Energy::Nearest { weight, norm, cap, measurements: rows?, points })
    }

    /// Adds `−⟨θ, ⊗ μ⟩` over variables that share no factor (mean field). Returns the number of this
    /// energy.
    fn product(
        &mut self,
        scope: &Bound<'_, PyAny>,
        log_potentials: &Bound<'_, PyAny>,
    ) -> PyResult<usize> {
        let scope = reference::scope(self.model(), scope)?;
        let log_potentials = reference::table(self.model(), &scope, log_potentials)?;
        self.add(Energy::Product { scope, log_potentials })
    }

    /// Adds a function of Python as an energy. It gets a list of arrays, the marginals of each scope,
    /// and returns its value and a list of gradients. If it is convex and never below `infimum`, give
    /// that: answers then have a gap. Returns the number of this energy.
    #[pyo3(signature = (scopes, function, *, infimum = None, smooth = true))]
    fn energy(
        &mut self,
        scopes: &Bound<'_, PyAny>,
        function: Py<PyAny>,
        infimum: Option<f64>,
        smooth: bool,
    ) -> PyResult<usize> {
        let scopes = scopes.try_iter()?.map(|scope| reference::scope(self.model(), &scope?));
        let scopes: Vec<Vec<usize>> = scopes.collect::<PyResult<_>>()?;
        let curvature = infimum.map_or(Curvature::Unknown, |infimum| Curvature::Convex { infimum });
        let raised = Arc::clone(&self.raised);
        let custom = energy::custom(self.model(), scopes, function, curvature, raised)?;
        self.add(Energy::Custom(if smooth { custom } else { custom.with_kinks() }))
    }

    /// Solves the problem; `help(pybethe.solve)` lists the keywords.
    #[pyo3(signature = (**options))]
    fn solve(&self, py: Python<'_>, options: Option<&Bound<'_, PyDict>>) -> PyResult<Answer> {
        let options = Options::new(options)?;
        solve_one(py, self, options)
    }

    /// Draws records from the model that has the answer's marginals: an array of states,
    /// `[records, variables]`.
    #[pyo3(signature = (records, *, seed = 0, **options))]
    fn sample<'py>(
        &self,
        py: Python<'py>,
        records: usize,
        seed: u64,
        options: Option<&Bound<'py, PyDict>>,
    ) -> PyResult<Bound<'py, PyArray2<usize>>> {
        let Options { settings, mut request, trace, callback, jobs } = Options::new(options)?;
        if trace || callback.is_some() {
            return Err(PyTypeError::new_err("sample takes no trace and no callback"));
        }
        let variables = self.model().variables().len();
        let mut states: Vec<usize> = Vec::new();
        records
            .checked_mul(variables)
            .and_then(|cells| states.try_reserve_exact(cells).ok())
            .ok_or_else(|| PyMemoryError::new_err(format!("{records} records are too many")))?;
        self.raised();
        let cancel = Cancel::new();
        request.cancel = cancel.clone();
        let asked = cancel.clone();
        let stated = Arc::clone(&self.stated);
        let work = move || -> Result<Vec<usize>, SolveError> {
            let (_, model) = stated.fit(&settings, &request, &mut Ignore)?;
            let mut drawn = Records::of(&model)?;
            let mut random = StdRng::seed_from_u64(seed);
            for _ in 0..records {
                if asked.is_cancelled() {
                    return Err(SolveError::Cancelled);
                }
                states.extend(drawn.draw(&mut random));
            }
            Ok(states)
        };
        let pool = run::pool(jobs)?;
        let ended = run::run(py, &pool, &cancel, work)?;
        if let Some(signal) = ended.signal {
            return Err(signal);
        }
        let states = match self.raised() {
            Some(raised) => return Err(raised),
            None => ended.result.map_err(exception)?,
        };
        states.into_pyarray(py).reshape([records, variables])
    }

    /// How many variables there are.
    fn __len__(&self) -> usize {
        self.model().variables().len()
    }

    fn __copy__(&self) -> Self {
        // Functions that are energies of both put what they raise into the same place.
        Self { stated: Arc::clone(&self.stated), raised: Arc::clone(&self.raised) }
    }

    fn __reduce__<'py>(slf: &Bound<'py, Self>) -> PyResult<(Bound<'py, PyAny>, (String,))> {
        let text = slf.try_borrow()?.to_json()?;
        Ok((slf.get_type().getattr("from_json")?, (text,)))
    }

    fn __repr__(&self) -> String {
        format!(
            "Problem({} variables, {} factors, {} energies)",
            self.model().variables().len(),
            self.model().factors().len(),
            self.stated.energies().len()
        )
    }
}

impl Problem {
    /// Takes what a function of the caller's raised.
    pub fn raised(&self) -> Option<PyErr> {
        self.raised.lock().unwrap_or_else(|held| held.into_inner()).take()
    }
}

/// A variable's number of states.
fn cardinality(variable: usize, given: &Bound<'_, PyAny>) -> PyResult<usize> {
    given.extract().map_err(|_| {
        let shown = given.repr().map_or_else(|_| "something".into(), |repr| repr.to_string());
        let message =
            format!("found {shown} as the states of variable {variable}, expected their number");
        match given.extract::<isize>() {
            Ok(_) => PyValueError::new_err(message),
            Err(_) => PyTypeError::new_err(message),
        }
    })
}

/// A variable whose states have names, or a number of them.
fn named(variable: String, states: &Bound<'_, PyAny>) -> PyResult<Variable> {
    if states.is_instance_of::<PyString>() {
        return Err(PyTypeError::new_err(format!(
            "found {states} as the states of {variable:?}, expected a list of names or a number"
        )));
    }
    let states: Vec<String> = match states.extract::<usize>() {
        Ok(cardinality) => (0..cardinality).map(|state| state.to_string()).collect(),
        Err(_) => states
            .try_iter()?
            .map(|state| Ok(state?.str()?.to_string()))
            .collect::<PyResult<_>>()?,
    };
    Ok(Variable { cardinality: states.len(), names: Some(Names { variable, states }) })
}
