//! Problems: stated piece by piece, read from files, solved.

use std::ops::ControlFlow;
use std::path::PathBuf;
use std::sync::Arc;

use bethe_core::model::uai::Evidence;
use bethe_core::solve::{Record, SolveError};
use bethe_core::{
    Cancel, Curvature, Energy, Factor, Model, ModelError, Names, Problem as Stated, Records,
    Request, Settings, Variable,
};
use numpy::{IntoPyArray, PyArray2, PyArrayMethods};
use pyo3::exceptions::{PyMemoryError, PyTimeoutError, PyTypeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyList, PyMapping};
use rand::SeedableRng;
use rand::rngs::StdRng;
use rayon::prelude::*;

use crate::answer::Answer;
use crate::energy::{self, Raised};
use crate::options::Options;
use crate::{reference, run, trace};

/// A model over discrete variables, and energies on its marginals.
///
/// `Problem([2, 3])` has variables of two and three states; `Problem({"colour": ["red", "blue"]})`
/// names them.
#[pyclass(module = "pybethe")]
pub struct Problem {
    stated: Arc<Stated>,
    /// What functions of the caller's raised.
    raised: Raised,
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
            let expected = "found variables that are no sequence, expected numbers of states, or \
                            {name: states}";
            for item in variables.try_iter().map_err(|_| PyTypeError::new_err(expected))? {
                let cardinality: usize = item?.extract()?;
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
        let text = std::fs::read(&path)?;
        let in_file = |path: &PathBuf, error: &dyn std::fmt::Display| {
            PyValueError::new_err(format!("{}: {error}", path.display()))
        };
        let mut model = Model::from_uai(&text).map_err(|error| in_file(&path, &error))?;
        if let Some(path) = evidence {
            let read = Evidence::from_uai(&std::fs::read(&path)?);
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
            .add_factor(Factor { scope, log_potentials })
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
        let Options { settings, mut request, jobs, .. } = Options::new(options)?;
        let cancel = Cancel::new();
        request.cancel = cancel.clone();
        let asked = cancel.clone();
        let (stated, variables) = (Arc::clone(&self.stated), self.model().variables().len());
        let work = move || -> Result<Vec<usize>, SolveError> {
            let (_, model) = stated.fit(&settings, &request, &mut bethe_core::solve::Ignore)?;
            let mut drawn = Records::of(&model)?;
            let mut random = StdRng::seed_from_u64(seed);
            let mut states = Vec::with_capacity(records * variables);
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
        let states = ended.result.map_err(|error| self.error(error))?;
        states.into_pyarray(py).reshape([records, variables])
    }

    /// How many variables there are.
    fn __len__(&self) -> usize {
        self.model().variables().len()
    }

    fn __copy__(&self) -> Self {
        Self { stated: Arc::clone(&self.stated), raised: Raised::default() }
    }

    fn __reduce__<'py>(slf: &Bound<'py, Self>) -> PyResult<(Bound<'py, PyAny>, (String,))> {
        let text = slf.borrow().to_json()?;
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
    /// The exception for an error: what a function of the caller's raised goes before.
    fn error(&self, error: SolveError) -> PyErr {
        let raised = self.raised.lock().unwrap_or_else(|held| held.into_inner()).take();
        raised.unwrap_or_else(|| exception(error))
    }
}

/// A variable whose states have names, or a number of them.
fn named(variable: String, states: &Bound<'_, PyAny>) -> PyResult<Variable> {
    let states: Vec<String> = match states.extract::<usize>() {
        Ok(cardinality) => (0..cardinality).map(|state| state.to_string()).collect(),
        Err(_) => states
            .try_iter()?
            .map(|state| Ok(state?.str()?.to_string()))
            .collect::<PyResult<_>>()?,
    };
    Ok(Variable { cardinality: states.len(), names: Some(Names { variable, states }) })
}

fn exception(error: SolveError) -> PyErr {
    match error {
        SolveError::OutOfTime => PyTimeoutError::new_err(error.to_string()),
        SolveError::Model(ModelError::TooWide { .. } | ModelError::TooLarge(_)) => {
            PyMemoryError::new_err(error.to_string())
        }
        _ => value_error(error),
    }
}

/// Solves on a thread of ours. Ctrl-C raises with the best answer so far in `.answer`.
fn solve_one(py: Python<'_>, problem: &Problem, options: Options) -> PyResult<Answer> {
    let Options { settings, mut request, trace, callback, jobs } = options;
    let cancel = Cancel::new();
    request.cancel = cancel.clone();
    let (stated, raised) = (Arc::clone(&problem.stated), Arc::clone(&problem.raised));
    let work = move || observed(&stated, &settings, &request, trace, callback, &raised);
    let pool = run::pool(jobs)?;
    let ended = run::run(py, &pool, &cancel, work)?;
    if let Some(raised) = problem.raised.lock().unwrap_or_else(|held| held.into_inner()).take() {
        return Err(raised);
    }
    let found = ended
        .result
        .map(|(found, records)| Answer::new(Arc::clone(&problem.stated), found, records));
    match (ended.signal, found) {
        (None, found) => found.map_err(exception),
        (Some(signal), found) => {
            signal.value(py).setattr("answer", found.ok())?;
            Err(signal)
        }
    }
}

/// An answer, and every iteration if that was asked for.
type Observed = Result<(bethe_core::Answer, Option<Vec<Record>>), SolveError>;

fn observed(
    problem: &Stated,
    settings: &Settings,
    request: &Request,
    keeps: bool,
    callback: Option<Py<PyAny>>,
    raised: &Raised,
) -> Observed {
    if !keeps && callback.is_none() {
        let found = problem.solve_with(settings, request, &mut bethe_core::solve::Ignore)?;
        return Ok((found, None));
    }
    let mut records = Vec::new();
    let mut observer = |record: &Record, _: &[f64]| {
        if keeps {
            records.push(*record);
        }
        callback.as_ref().map_or(ControlFlow::Continue(()), |callback| {
            Python::attach(|py| match told(py, callback, record) {
                Ok(true) => ControlFlow::Continue(()),
                Ok(false) => ControlFlow::Break(()),
                Err(error) => {
                    let mut first = raised.lock().unwrap_or_else(|held| held.into_inner());
                    first.get_or_insert(error);
                    ControlFlow::Break(())
                }
            })
        })
    };
    let found = problem.solve_with(settings, request, &mut observer)?;
    Ok((found, keeps.then_some(records)))
}

/// Whether to go on, by the callback: all but `False` says yes.
fn told(py: Python<'_>, callback: &Py<PyAny>, record: &Record) -> PyResult<bool> {
    let returned = callback.call1(py, (trace::Record::from(record),))?;
    Ok(returned.extract::<bool>(py).unwrap_or(true))
}

/// Solves a problem, or a list of them on all cores.
///
/// Keywords:
///   solver: auto, rda, mirror-descent, accelerated-rda, adaptive, dual, newton, global
///   tolerance: converged means `gap ≤ tolerance · max(1, |objective|)` (1e-6)
///   max_iterations: 10,000
///   time_limit: seconds
///   returned: best, last, average
///   oracle: auto, exact, trw, loopy
///   marginals: all, nodes, none
///   beta, step_size, step_schedule, smoothness: of the solver they belong to
///   covariance: "measurements" adds error bars
///   map_budget, memory_limit: of the search for the best assignment; bytes
///   trace: keeps every iteration for `.trace` and `.plot()`
///   callback: called with a record after every iteration; `False` stops
///   n_jobs: threads, -1 for all cores
#[pyfunction]
#[pyo3(signature = (problems, **options))]
pub fn solve<'py>(
    problems: &Bound<'py, PyAny>,
    options: Option<&Bound<'py, PyDict>>,
) -> PyResult<Bound<'py, PyAny>> {
    let (py, options) = (problems.py(), Options::new(options)?);
    if let Ok(one) = problems.cast::<Problem>() {
        return Ok(Bound::new(py, solve_one(py, &one.borrow(), options)?)?.into_any());
    }
    Ok(solve_all(py, &listed(problems)?, options)?.into_any())
}

/// Solves problems on all cores, each as `solve` does, with the same keywords.
///
/// If one fails, `.index` of the exception says which; `.answers` has what there is.
#[pyfunction]
#[pyo3(signature = (problems, **options))]
pub fn solve_many<'py>(
    problems: &Bound<'py, PyAny>,
    options: Option<&Bound<'py, PyDict>>,
) -> PyResult<Bound<'py, PyList>> {
    solve_all(problems.py(), &listed(problems)?, Options::new(options)?)
}

fn listed(problems: &Bound<'_, PyAny>) -> PyResult<Vec<Py<Problem>>> {
    let items = problems.try_iter();
    items
        .and_then(|items| items.map(|item| Ok(item?.cast_into::<Problem>()?.unbind())).collect())
        .map_err(|_| PyTypeError::new_err("expected a Problem, or a list of them"))
}

/// Solves problems on all threads. If one fails, `.index` of the exception says which. That of
/// Ctrl-C too has in `.answers` what there is.
fn solve_all<'py>(
    py: Python<'py>,
    problems: &[Py<Problem>],
    options: Options,
) -> PyResult<Bound<'py, PyList>> {
    let Options { settings, mut request, trace, callback, jobs } = options;
    let cancel = Cancel::new();
    let pool = run::pool(jobs)?;
    request.cancel = cancel.clone();
    request.memory_limit = request.memory_limit.shared_by(pool.current_num_threads());
    let stated: Vec<(Arc<Stated>, Raised)> = problems
        .iter()
        .map(|problem| {
            let problem = problem.borrow(py);
            (Arc::clone(&problem.stated), Arc::clone(&problem.raised))
        })
        .collect();
    let callback = callback.map(Arc::new);
    let own = stated.clone();
    let work = move || -> Vec<Observed> {
        let solved = own.par_iter().map(|(stated, raised)| {
            let callback = callback.as_deref().map(|c| Python::attach(|py| c.clone_ref(py)));
            observed(stated, &settings, &request, trace, callback, raised)
        });
        solved.collect()
    };
    let ended = run::run(py, &pool, &cancel, work)?;
    let (mut answers, mut failure) = (Vec::new(), ended.signal);
    for (index, (found, (stated, raised))) in ended.result.into_iter().zip(stated).enumerate() {
        let raised = raised.lock().unwrap_or_else(|held| held.into_inner()).take();
        let error = match (raised, found) {
            (None, Ok((found, records))) => {
                answers.push(Some(Bound::new(py, Answer::new(stated, found, records))?));
                continue;
            }
            (Some(raised), _) => raised,
            (None, Err(error)) => exception(error),
        };
        answers.push(None);
        if failure.is_none() {
            error.value(py).setattr("index", index)?;
            failure = Some(error);
        }
    }
    let answers = PyList::new(py, answers)?;
    match failure {
        None => Ok(answers),
        Some(failure) => {
            failure.value(py).setattr("answers", answers)?;
            Err(failure)
        }
    }
}
