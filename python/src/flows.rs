//! Movement from counts: what `bethe flows` infers, as arrays.

use std::path::PathBuf;
use std::sync::{Mutex, MutexGuard};

use bethe::flows::{Asked, Inferred, Unanswered};
use bethe_core::Cancel;
use bethe_flows::output::transitions;
use numpy::{IntoPyArray, PyArray1, PyArray2, PyArrayMethods};
use pyo3::exceptions::{PyTimeoutError, PyValueError};
use pyo3::prelude::*;
use rand::rngs::StdRng;
use rand::{Rng, SeedableRng};

use crate::command::in_python;
use crate::run;

/// What `bethe flows` infers with these arguments.
#[pyclass(frozen, module = "pybethe")]
pub struct InferredFlows {
    asked: Asked,
    inferred: Mutex<Inferred>,
}

type Columns<'py, T> = Bound<'py, PyArray1<T>>;
type Table<'py> = Bound<'py, PyArray2<f64>>;

#[pymethods]
impl InferredFlows {
    /// Infers the movement; the arguments are flags of `bethe flows`.
    #[staticmethod]
    #[pyo3(signature = (arguments, *, n_jobs = None))]
    fn infer(py: Python<'_>, arguments: Vec<String>, n_jobs: Option<usize>) -> PyResult<Self> {
        let (pool, cancel) = (run::pool(n_jobs)?, Cancel::new());
        let own = cancel.clone();
        let work = move || -> Result<(Asked, Inferred), Unanswered> {
            let mut asked = Asked::from_arguments(arguments).map_err(Unanswered::Failed)?;
            let inferred = asked.infer(&own, &mut |_| ())?;
            Ok((asked, inferred))
        };
        let ended = run::run(py, &pool, &cancel, work)?;
        if let Some(signal) = ended.signal {
            return Err(signal);
        }
        let (asked, inferred) = ended.result.map_err(|unanswered| match unanswered {
            Unanswered::Interrupted => PyValueError::new_err("it was cancelled"),
            Unanswered::OutOfTime(message) => PyTimeoutError::new_err(in_python(&message)),
            Unanswered::Infeasible(message) => PyValueError::new_err(in_python(&message)),
            Unanswered::Failed(error) => PyValueError::new_err(in_python(&format!("{error:#}"))),
        })?;
        Ok(Self { asked, inferred: Mutex::new(inferred) })
    }

    /// The names of the flags that `infer` takes.
    #[staticmethod]
    fn flags() -> Vec<String> {
        Asked::flags()
    }

    /// The names of the cells.
    #[getter]
    fn cells(&self) -> Vec<String> {
        self.asked.cells().names().to_vec()
    }

    /// The names of the times.
    #[getter]
    fn times(&self) -> Vec<String> {
        self.asked.observed().times().to_vec()
    }

    /// `summary.json`, with warnings about keywords.
    #[getter]
    fn summary(&self) -> PyResult<String> {
        let mut summary = self.held().summary.clone();
        summary.warnings.iter_mut().for_each(|warning| *warning = in_python(warning));
        serde_json::to_string(&summary).map_err(|error| PyValueError::new_err(error.to_string()))
    }

    /// Individuals, and their standard errors where they are known. `[times, cells]`
    fn counts<'py>(&self, py: Python<'py>) -> PyResult<(Table<'py>, Option<Table<'py>>)> {
        let held = self.held();
        let errors = held.errors.as_ref().map(|errors| self.by_cell(py, errors.counts.clone()));
        Ok((self.by_cell(py, held.counts.clone())?, errors.transpose()?))
    }

    /// What was counted, `nan` where nothing was, and what was expected. `[times, cells]`
    fn fitted<'py>(&self, py: Python<'py>) -> PyResult<(Table<'py>, Table<'py>)> {
        let counts = self.asked.observed();
        let all = (0..counts.times().len()).flat_map(|time| counts.at(time));
        let observed: Vec<f64> = all.map(|count| count.unwrap_or(f64::NAN)).collect();
        let expected = self.asked.expected(&self.held());
        Ok((self.by_cell(py, observed)?, self.by_cell(py, expected)?))
    }

    /// Steps, cells before and after, individuals, and standard errors where they are known.
    #[allow(clippy::type_complexity)] // Columns of a table.
    fn flows<'py>(
        &self,
        py: Python<'py>,
    ) -> (
        Columns<'py, usize>,
        Columns<'py, usize>,
        Columns<'py, usize>,
        Columns<'py, f64>,
        Option<Columns<'py, f64>>,
    ) {
        let ([mut steps, mut from, mut to], mut counts) = (<[Vec<usize>; 3]>::default(), vec![]);
        let mut errors: Vec<f64> = Vec::new();
        let known = py.detach(|| {
            let mut held = self.held();
            self.asked.moves(&mut held, |step, moves, own| {
                steps.extend(moves.iter().map(|_| step));
                from.extend(moves.iter().map(|own| own.from));
                to.extend(moves.iter().map(|own| own.to));
                counts.extend(moves.iter().map(|own| own.count));
                errors.extend(own);
            });
            held.errors.is_some()
        });
        let [steps, from, to] = [steps, from, to].map(|own| own.into_pyarray(py));
        (steps, from, to, counts.into_pyarray(py), known.then(|| errors.into_pyarray(py)))
    }

    /// Individuals that came from other cells and that went to others. `[steps, cells]`
    fn net<'py>(&self, py: Python<'py>) -> PyResult<(Table<'py>, Table<'py>)> {
        let movements = py.detach(|| self.asked.moves(&mut self.held(), |_, _, _| ()));
        Ok((self.by_cell(py, movements.arrivals)?, self.by_cell(py, movements.departures)?))
    }

    /// Steps, cells before and after, and the probability of going there.
    #[allow(clippy::type_complexity)] // Columns of a table.
    fn transitions<'py>(
        &self,
        py: Python<'py>,
    ) -> PyResult<(Columns<'py, usize>, Columns<'py, usize>, Columns<'py, usize>, Columns<'py, f64>)>
    {
        let ([mut steps, mut from, mut to], mut shares) = (<[Vec<usize>; 3]>::default(), vec![]);
        py.detach(|| {
            let mut held = self.held();
            let counts = held.counts.clone();
            let cells = self.asked.cells().len();
            transitions((&mut held.flows, &counts), cells, &mut |step, moves| {
                steps.extend(moves.iter().map(|_| step));
                from.extend(moves.iter().map(|own| own.from));
                to.extend(moves.iter().map(|own| own.to));
                shares.extend(moves.iter().map(|own| own.count));
                Ok(())
            })
        })?;
        let [steps, from, to] = [steps, from, to].map(|own| own.into_pyarray(py));
        Ok((steps, from, to, shares.into_pyarray(py)))
    }

    /// The times after the last one, and individuals. `[times, cells]`
    fn forecast<'py>(&self, py: Python<'py>) -> PyResult<(Vec<String>, Table<'py>)> {
        let (times, forecast) = self.asked.forecast(&mut self.held());
        Ok((times, self.by_cell(py, forecast)?))
    }

    /// Where individuals of a cell at a time were before and are after. `[times, cells]`
    fn given<'py>(
        &self,
        py: Python<'py>,
        time: usize,
        cell: usize,
    ) -> PyResult<Option<Table<'py>>> {
        let (times, cells) = (self.asked.observed().times().len(), self.asked.cells().len());
        if time >= times || cell >= cells {
            return Err(PyValueError::new_err(format!(
                "found time {time} and cell {cell}, expected below {times} and {cells}"
            )));
        }
        let held = self.held();
        let number = held.counts[time * cells + cell];
        let shares = py.detach(|| held.flows.given(time, cell));
        let numbers = shares.map(|own| own.iter().map(|share| share * number).collect());
        numbers.map(|numbers| self.by_cell(py, numbers)).transpose()
    }

    /// Routes of individuals, drawn at random: numbers of cells. `[routes, times]`
    fn routes<'py>(
        &self,
        py: Python<'py>,
        number: usize,
        seed: u64,
    ) -> PyResult<Bound<'py, PyArray2<usize>>> {
        let held = self.held();
        let mut random = StdRng::seed_from_u64(seed);
        let mut drawn: Vec<usize> = Vec::new();
        (0..number).for_each(|_| drawn.extend(held.flows.sample(&mut || random.random())));
        drawn.into_pyarray(py).reshape([number, held.flows.times()])
    }

    /// The map, as a self-contained page.
    fn page(&self, py: Python<'_>) -> String {
        py.detach(|| self.asked.page(&mut self.held()))
    }

    /// Writes what `bethe flows --out` writes. Returns the names of the files.
    fn save(&self, py: Python<'_>, folder: PathBuf) -> PyResult<Vec<String>> {
        py.detach(|| self.asked.save(&mut self.held(), &folder))
            .map_err(|error| PyValueError::new_err(in_python(&format!("{error:#}"))))
    }
}

impl InferredFlows {
    fn held(&self) -> MutexGuard<'_, Inferred> {
        self.inferred.lock().unwrap_or_else(|held| held.into_inner())
    }

    /// Rows of as many values as there are cells.
    fn by_cell<'py>(&self, py: Python<'py>, values: Vec<f64>) -> PyResult<Table<'py>> {
        let cells = self.asked.cells().len();
        let rows = values.len() / cells;
        values.into_pyarray(py).reshape([rows, cells])
    }
}
