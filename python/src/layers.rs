//! Layers for neural networks: chains of scores under rules, in batches, with their gradients.
//!
//! A batch is `[sequences, positions, labels]`; a sequence may be shorter than the batch. A rule is a
//! penalty on `z = Σ_t coefficients·μ_t + offset`, the same for every sequence.

use std::sync::{Arc, Mutex};

use bethe_core::problem::{EnergyGradients, Gradients as Marked, TableAnswer};
use bethe_core::solve::{Ignore, SolveError};
use bethe_core::{
    Answer, Cancel, Differentiable, Energy, Factor, Model, Penalty, Problem, Request, Settings,
    Term,
};
use numpy::{
    AllowTypeChange, IntoPyArray, PyArray1, PyArray3, PyArrayLike2, PyArrayLike3, PyArrayMethods,
    PyUntypedArrayMethods,
};
use pyo3::exceptions::{PyRuntimeError, PyValueError};
use pyo3::prelude::*;
use pyo3::sync::MutexExt;
use rayon::prelude::*;

use crate::gradients::{Arrays, Gradients, MarkedArrays, Own, Sizes, add, marks};
use crate::{energy, run};

/// What counts as zero, beside offsets.
const ROUNDING: f64 = 1e-9;

/// A penalty on an expected, weighted count of labels.
#[derive(Clone, Debug)]
struct CountRule {
    /// `[labels]`
    coefficients: Vec<f64>,
    penalty: Penalty,
    weight: f64,
    offset: f64,
}

/// What all sequences of a batch share, and their scores.
#[derive(Clone, Debug)]
struct Batch {
    positions: usize,
    labels: usize,
    /// `[sequences][positions][labels]`
    scores: Vec<f64>,
    /// `[sequences]`
    lengths: Vec<usize>,
    /// `[labels][labels]`, from the label before to the label after.
    transitions: Option<Arc<Vec<f64>>>,
    rules: Vec<CountRule>,
}

impl Batch {
    fn sequences(&self) -> usize {
        self.lengths.len()
    }

    fn sizes(&self) -> Sizes {
        Sizes {
            sequences: self.sequences(),
            positions: self.positions,
            labels: self.labels,
            rules: self.rules.len(),
            has_transitions: self.transitions.is_some(),
        }
    }

    /// The scores of a sequence, those of padding left out. `[positions][labels]`
    fn scores_of(&self, sequence: usize) -> &[f64] {
        let start = sequence * self.positions * self.labels;
        &self.scores[start..start + self.lengths[sequence] * self.labels]
    }

    /// A sequence as a problem: a factor per position, then one per link.
    fn problem(&self, sequence: usize) -> Result<Problem, String> {
        let length = self.lengths[sequence];
        let mut model = Model::new(&vec![self.labels; length]).map_err(|e| e.to_string())?;
        for (t, scores) in self.scores_of(sequence).chunks(self.labels).enumerate() {
            model.add_factor(&[t], scores).map_err(|e| e.to_string())?;
        }
        if let Some(transitions) = &self.transitions {
            for t in 1..length {
                let log_potentials = Arc::clone(transitions);
                let factor = Factor { scope: vec![t - 1, t], log_potentials };
                model.push_factor(factor).map_err(|e| e.to_string())?;
            }
        }
        let energies = self.rules.iter().map(|rule| {
            let term = |t| Term { scope: vec![t], coefficients: rule.coefficients.clone() };
            Energy::Measurement {
                weight: rule.weight,
                penalty: rule.penalty,
                offset: rule.offset,
                terms: (0..length).map(term).collect(),
            }
        });
        Problem::new(model, energies.collect()).map_err(|e| e.to_string())
    }

    /// Runs work for every sequence that has a position, on all threads.
    fn each<T: Send>(
        &self,
        work: impl Fn(usize, Problem) -> Result<T, String> + Sync,
    ) -> Result<Vec<Option<T>>, String> {
        let one = |sequence: usize| match self.lengths[sequence] {
            0 => Ok(None),
            _ => {
                let found = self.problem(sequence).and_then(|problem| work(sequence, problem));
                found.map(Some).map_err(|error| format!("sequence {sequence}: {error}"))
            }
        };
        (0..self.sequences()).into_par_iter().map(one).collect()
    }
}

/// A rule as Python states it: coefficients, penalty, weight, offset, δ of a Huber penalty.
type GivenRule = (Vec<f64>, String, Option<f64>, f64, Option<f64>);

fn batch(
    scores: &Bound<'_, PyAny>,
    lengths: Vec<usize>,
    transitions: Option<&Bound<'_, PyAny>>,
    rules: Vec<GivenRule>,
) -> PyResult<Batch> {
    let scores: PyArrayLike3<'_, f64, AllowTypeChange> = scores.extract()?;
    let &[sequences, positions, labels] = scores.shape() else {
        return Err(PyValueError::new_err("scores: expected [sequences, positions, labels]"));
    };
    if lengths.len() != sequences || lengths.iter().any(|length| *length > positions) {
        return Err(PyValueError::new_err(format!(
            "found {} lengths, expected {sequences}, none above {positions}",
            lengths.len()
        )));
    }
    let transitions = transitions.map(|given| -> PyResult<Arc<Vec<f64>>> {
        let given: PyArrayLike2<'_, f64, AllowTypeChange> = given.extract()?;
        if given.shape() != [labels, labels] {
            return Err(PyValueError::new_err(format!(
                "found transitions of shape {:?}, expected [{labels}, {labels}]",
                given.shape()
            )));
        }
        Ok(Arc::new(given.as_array().iter().copied().collect()))
    });
    let rule = |(index, given): (usize, GivenRule)| {
        let (coefficients, penalty, weight, offset, delta) = given;
        if coefficients.len() != labels {
            return Err(PyValueError::new_err(format!(
                "rule {index}: found {} coefficients, expected {labels}, one per label",
                coefficients.len()
            )));
        }
        let penalty = energy::penalty(&penalty, delta, None, None)?;
        if let Some(found) = weight.filter(|weight| *weight < 0.0) {
            return Err(PyValueError::new_err(format!(
                "rule {index}: found the weight {found}, expected at least 0"
            )));
        }
        Ok(CountRule { coefficients, penalty, weight: energy::weight(penalty, weight)?, offset })
    };
    Ok(Batch {
        positions,
        labels,
        scores: scores.as_array().iter().copied().collect(),
        lengths,
        transitions: transitions.transpose()?,
        rules: rules.into_iter().enumerate().map(rule).collect::<PyResult<_>>()?,
    })
}

/// How each sequence is solved. Only what is proved can be differentiated.
fn ask(batch: &Batch, tolerance: f64, cancel: &Cancel) -> PyResult<(Settings, Request)> {
    let settings = Settings { tolerance, ..Settings::default() };
    settings.check().map_err(|error| PyValueError::new_err(error.to_string()))?;
    let marginals = match batch.transitions {
        Some(_) => bethe_core::Tables::All,
        None => bethe_core::Tables::Nodes,
    };
    let memory_limit = run::memory_limit();
    Ok((
        settings,
        Request { marginals, memory_limit, cancel: cancel.clone(), ..Request::default() },
    ))
}

/// Gives sums over sequences back to Python, or raises.
fn finished<T>(py: Python<'_>, ended: run::Ended<Result<T, String>>) -> PyResult<T> {
    match ended.signal {
        Some(signal) => Err(signal),
        None => py.check_signals().and(ended.result.map_err(PyValueError::new_err)),
    }
}

/// The tables of nodes among an answer's, and those of links: nodes come first, then the factors of
/// nodes, then those of links.
fn nodes(tables: &[TableAnswer], length: usize) -> impl Iterator<Item = f64> + '_ {
    tables[..length].iter().flat_map(|table| table.values.iter().copied())
}

fn links(tables: &[TableAnswer]) -> impl Iterator<Item = &TableAnswer> {
    tables.iter().filter(|table| table.scope.len() == 2)
}

/// Marginals of a batch under rules, and how they change.
#[pyclass(frozen, module = "pybethe")]
pub struct Projection {
    batch: Batch,
    jobs: Option<usize>,
    /// `None` for sequences without positions.
    solved: Mutex<Vec<Option<Differentiable>>>,
}

#[pymethods]
impl Projection {
    #[new]
    #[pyo3(signature = (scores, lengths, transitions, rules, *, tolerance = 1e-10, n_jobs = None))]
    fn new(
        scores: &Bound<'_, PyAny>,
        lengths: Vec<usize>,
        transitions: Option<&Bound<'_, PyAny>>,
        rules: Vec<GivenRule>,
        tolerance: f64,
        n_jobs: Option<usize>,
    ) -> PyResult<Self> {
        let (py, batch) = (scores.py(), batch(scores, lengths, transitions, rules)?);
        let cancel = Cancel::new();
        let (settings, request) = ask(&batch, tolerance, &cancel)?;
        let own = batch.clone();
        let work = move || {
            own.each(|_, problem| {
                let found = problem.solve_differentiable(&settings, &request, &mut Ignore);
                found.map_err(|error: SolveError| error.to_string())
            })
        };
        let pool = run::pool(n_jobs)?;
        let solved = finished(py, run::run(py, &pool, &cancel, work)?)?;
        Ok(Self { batch, jobs: n_jobs, solved: Mutex::new(solved) })
    }

    /// `[sequences, positions, labels]`, zero where there is padding.
    #[getter]
    fn marginals<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyArray3<f64>>> {
        let Batch { positions, labels, .. } = self.batch;
        let mut marginals = vec![0.0; self.batch.scores.len()];
        let solved = self.solved.lock_py_attached(py).unwrap_or_else(|held| held.into_inner());
        for (sequence, found) in solved.iter().enumerate() {
            let Some(found) = found else { continue };
            let start = sequence * positions * labels;
            let own = nodes(&found.answer().marginals, self.batch.lengths[sequence]);
            marginals[start..].iter_mut().zip(own).for_each(|(to, from)| *to = from);
        }
        marginals.into_pyarray(py).reshape([self.batch.sequences(), positions, labels])
    }

    /// Gradients of `⟨v, marginals⟩` in scores, transitions, weights, offsets and coefficients, for `v`
    /// of the marginals' shape; which rules are at a border, and which hold what others do.
    fn pullback<'py>(&self, py: Python<'py>, v: &Bound<'py, PyAny>) -> PyResult<MarkedArrays<'py>> {
        let v: PyArrayLike3<'_, f64, AllowTypeChange> = v.extract()?;
        let Batch { positions, labels, .. } = self.batch;
        if v.shape() != [self.batch.sequences(), positions, labels] {
            return Err(PyValueError::new_err(format!(
                "found a direction of shape {:?}, expected that of the marginals",
                v.shape()
            )));
        }
        let v: Vec<f64> = v.as_array().iter().copied().collect();
        let mut held = self.solved.lock_py_attached(py).unwrap_or_else(|held| held.into_inner());
        let solved: &mut Vec<Option<Differentiable>> = &mut held;
        let size = positions * labels;
        let pool = run::pool(self.jobs)?;
        let pulled: Result<Vec<_>, String> = py.detach(|| {
            pool.install(|| {
                let items = solved.par_iter_mut().zip(v.par_chunks(size.max(1)));
                let pull = |(found, v): (&mut Option<Differentiable>, &[f64])| match found {
                    None => Ok(None),
                    Some(found) => {
                        let direction: Vec<TableAnswer> = (0..found.answer().map.assignment.len())
                            .map(|t| TableAnswer {
                                scope: vec![t],
                                values: v[t * labels..(t + 1) * labels].to_vec(),
                            })
                            .collect();
                        found.pullback(&direction).map(Some).map_err(|e| e.to_string())
                    }
                };
                items.map(pull).collect()
            })
        });
        let mut gradients = Gradients::new(self.batch.sizes());
        let pulled = pulled.map_err(PyRuntimeError::new_err)?;
        for (sequence, pulled) in pulled.iter().enumerate() {
            let Some(pulled) = pulled else { continue };
            let own = gradients.of(sequence);
            let scores = nodes(&pulled.potentials, self.batch.lengths[sequence]);
            own.scores.iter_mut().zip(scores).for_each(|(to, from)| *to = from);
            for link in links(&pulled.potentials) {
                add(own.transitions, &link.values);
            }
            for (rule, energy) in pulled.energies.iter().enumerate() {
                let EnergyGradients::Measurement { weight, offset, coefficients } = energy else {
                    continue;
                };
                own.weights[rule] += weight;
                own.offsets[rule] += offset;
                for position in coefficients {
                    add(&mut own.coefficients[rule * labels..(rule + 1) * labels], position);
                }
            }
        }
        let listed = |list: fn(&Marked) -> &[usize]| -> Vec<&[usize]> {
            pulled.iter().map(|own| own.as_ref().map_or(&[][..], |own| list(own))).collect()
        };
        let rules = self.batch.rules.len();
        let ties = marks(py, rules, &listed(|own| &own.ties))?;
        let repeated = marks(py, rules, &listed(|own| &own.repeated))?;
        let (scores, transitions, weights, offsets, coefficients) = gradients.arrays(py)?;
        Ok((scores, transitions, weights, offsets, coefficients, ties, repeated))
    }
}

/// The Fenchel–Young loss of labels, and its gradients in scores, transitions, weights and offsets.
///
/// `labels` is `[sequences][positions]`; padding is ignored. Returns the loss of every sequence, and its
/// gradients.
#[pyfunction]
#[pyo3(signature = (scores, lengths, labels, transitions, rules, *, tolerance = 1e-8, n_jobs = None))]
pub fn fenchel_young<'py>(
    scores: &Bound<'py, PyAny>,
    lengths: Vec<usize>,
    labels: Vec<Vec<usize>>,
    transitions: Option<&Bound<'py, PyAny>>,
    rules: Vec<GivenRule>,
    tolerance: f64,
    n_jobs: Option<usize>,
) -> PyResult<(Bound<'py, PyArray1<f64>>, Arrays<'py>)> {
    let (py, batch) = (scores.py(), batch(scores, lengths, transitions, rules)?);
    check_labels(&batch, &labels)?;
    let cancel = Cancel::new();
    let (settings, request) = ask(&batch, tolerance, &cancel)?;
    let own = batch.clone();
    let truth = labels.clone();
    let work = move || {
        own.each(|sequence, problem| {
            let answer = problem.solve_with(&settings, &request, &mut Ignore);
            let answer = answer.map_err(|error| error.to_string())?;
            let loss = loss(&own, sequence, &truth[sequence], &answer)?;
            Ok((loss, answer))
        })
    };
    let pool = run::pool(n_jobs)?;
    let solved = finished(py, run::run(py, &pool, &cancel, work)?)?;
    let mut losses = vec![0.0; batch.sequences()];
    let mut gradients = Gradients::new(batch.sizes());
    for (sequence, found) in solved.iter().enumerate() {
        let Some((loss, answer)) = found else { continue };
        losses[sequence] = *loss;
        let truth = &labels[sequence][..batch.lengths[sequence]];
        fill(gradients.of(sequence), &batch, truth, answer);
    }
    Ok((losses.into_pyarray(py), gradients.arrays(py)?))
}

/// The gradients of the loss of one sequence: what is expected less what is true.
fn fill(own: Own<'_>, batch: &Batch, truth: &[usize], answer: &Answer) {
    let expected = nodes(&answer.marginals, truth.len());
    own.scores.iter_mut().zip(expected).for_each(|(to, from)| *to = from);
    for (t, &label) in truth.iter().enumerate() {
        own.scores[t * batch.labels + label] -= 1.0;
    }
    if batch.transitions.is_some() {
        for link in links(&answer.marginals) {
            add(own.transitions, &link.values);
        }
        for pair in truth.windows(2) {
            own.transitions[pair[0] * batch.labels + pair[1]] -= 1.0;
        }
    }
    for (index, rule) in batch.rules.iter().enumerate() {
        let z = measured(rule, truth);
        if !rule.penalty.is_hard() {
            let inferred = inferred(rule, answer, truth.len());
            own.weights[index] = rule.penalty.value(z) - rule.penalty.value(inferred);
        }
        let pull = answer.energies[index].multipliers.as_ref().map_or(0.0, |own| own[0]);
        let slope = rule.weight * rule.penalty.derivative(z);
        own.offsets[index] = slope - pull;
        // `∂/∂a = w φ′(z_y) S(y) − λ μ`
        let coefficients = &mut own.coefficients[index * batch.labels..][..batch.labels];
        for (label, sum) in coefficients.iter_mut().enumerate() {
            let count = truth.iter().filter(|own| **own == label).count() as f64;
            let expected = answer.marginals[..truth.len()].iter().map(|table| table.values[label]);
            *sum = slope * count - pull * expected.sum::<f64>();
        }
    }
}

fn check_labels(batch: &Batch, labels: &[Vec<usize>]) -> PyResult<()> {
    if labels.len() != batch.sequences() {
        return Err(PyValueError::new_err(format!(
            "found labels of {} sequences, expected {}",
            labels.len(),
            batch.sequences()
        )));
    }
    for (sequence, (own, &length)) in labels.iter().zip(&batch.lengths).enumerate() {
        let wrong = own.iter().take(length).find(|label| **label >= batch.labels);
        if own.len() < length || wrong.is_some() {
            return Err(PyValueError::new_err(format!(
                "sequence {sequence}: expected {length} labels from 0 to {}",
                batch.labels.saturating_sub(1)
            )));
        }
    }
    Ok(())
}

/// What a rule measures of labels.
fn measured(rule: &CountRule, labels: &[usize]) -> f64 {
    labels.iter().map(|&label| rule.coefficients[label]).sum::<f64>() + rule.offset
}

/// What it measures of marginals.
fn inferred(rule: &CountRule, answer: &Answer, length: usize) -> f64 {
    let counts = answer.marginals[..length].iter();
    let own = counts.flat_map(|table| table.values.iter().zip(&rule.coefficients));
    own.map(|(probability, coefficient)| probability * coefficient).sum::<f64>() + rule.offset
}

/// `−F* − ⟨θ, S(y)⟩ + L(S(y))`
fn loss(batch: &Batch, sequence: usize, labels: &[usize], answer: &Answer) -> Result<f64, String> {
    let labels = &labels[..batch.lengths[sequence]];
    let scores = batch.scores_of(sequence).chunks(batch.labels).zip(labels);
    let mut score: f64 = scores.map(|(scores, &label)| scores[label]).sum();
    if let Some(transitions) = &batch.transitions {
        let links = labels.windows(2).map(|pair| transitions[pair[0] * batch.labels + pair[1]]);
        score += links.sum::<f64>();
    }
    let mut energy = 0.0;
    for (index, rule) in batch.rules.iter().enumerate() {
        let z = measured(rule, labels);
        if rule.penalty.violation(z) > ROUNDING * (1.0 + rule.offset.abs()) {
            return Err(format!("the labels break hard rule {index}: their loss is infinite"));
        }
        if !rule.penalty.is_hard() {
            energy += rule.weight * rule.penalty.value(z);
        }
    }
    let objective = answer.objective.ok_or("the hard rules contradict each other")?;
    Ok(energy - score - objective)
}
