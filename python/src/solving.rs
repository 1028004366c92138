//! Solving one problem, or many on all threads.

use std::ops::ControlFlow;
use std::sync::Arc;

use bethe_core::solve::{Record, SolveError};
use bethe_core::{Cancel, ModelError, Problem as Stated, Request, Settings};
use pyo3::exceptions::{PyMemoryError, PyTimeoutError, PyTypeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyList};
use rayon::prelude::*;

use crate::answer::Answer;
use crate::energy::Raised;
use crate::options::Options;
use crate::problem::Problem;
use crate::{run, trace};

/// The exception for an error of a solve.
pub fn exception(error: SolveError) -> PyErr {
    match error {
        SolveError::OutOfTime => PyTimeoutError::new_err(error.to_string()),
        SolveError::Model(ModelError::TooWide { .. } | ModelError::TooLarge(_)) => {
            PyMemoryError::new_err(error.to_string())
        }
        _ => PyValueError::new_err(error.to_string()),
    }
}

/// Solves on a thread of ours. Ctrl-C raises with the best answer so far in `.answer`.
pub fn solve_one(py: Python<'_>, problem: &Problem, options: Options) -> PyResult<Answer> {
    let Options { settings, mut request, trace, callback, jobs } = options;
    let cancel = Cancel::new();
    request.cancel = cancel.clone();
    problem.raised();
    let (stated, raised) = (Arc::clone(&problem.stated), Arc::clone(&problem.raised));
    let work = move || observed(&stated, &settings, &request, trace, callback, &raised);
    let pool = run::pool(jobs)?;
    let ended = run::run(py, &pool, &cancel, work)?;
    let raised = problem.raised();
    let found = ended
        .result
        .map(|(found, records)| Answer::new(Arc::clone(&problem.stated), found, records));
    match (ended.signal, raised) {
        (None, None) => found.map_err(exception),
        (None, Some(raised)) => Err(raised),
        (Some(signal), _) => {
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
        return Ok(Bound::new(py, solve_one(py, &*one.try_borrow()?, options)?)?.into_any());
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
    let expected = || PyTypeError::new_err("expected a Problem, or a list of them");
    let items = problems.try_iter().map_err(|_| expected())?;
    items.map(|item| Ok(item?.cast_into::<Problem>().map_err(|_| expected())?.unbind())).collect()
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
    let mut stated: Vec<(Arc<Stated>, Raised)> = Vec::with_capacity(problems.len());
    for problem in problems {
        let problem = problem.try_borrow(py)?;
        problem.raised();
        stated.push((Arc::clone(&problem.stated), Arc::clone(&problem.raised)));
    }
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
