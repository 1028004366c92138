//! Gradients of a batch, each sequence's own.

use numpy::{IntoPyArray, PyArray2, PyArray3, PyArrayMethods};
use pyo3::prelude::*;

/// Gradients in scores, transitions, weights, offsets and coefficients, as Python gets them. The first
/// axis of each is that of the sequences.
pub type Arrays<'py> = (
    Bound<'py, PyArray3<f64>>,
    Option<Bound<'py, PyArray3<f64>>>,
    Bound<'py, PyArray2<f64>>,
    Bound<'py, PyArray2<f64>>,
    Bound<'py, PyArray3<f64>>,
);

/// Which rules of each sequence have a mark. `[sequences, rules]`
pub type Marks<'py> = Bound<'py, PyArray2<bool>>;

/// The same with marks of rules that are at the border of what they do, and of rules that hold what
/// others hold as well.
pub type MarkedArrays<'py> = (
    Bound<'py, PyArray3<f64>>,
    Option<Bound<'py, PyArray3<f64>>>,
    Bound<'py, PyArray2<f64>>,
    Bound<'py, PyArray2<f64>>,
    Bound<'py, PyArray3<f64>>,
    Marks<'py>,
    Marks<'py>,
);

/// The sizes of a batch.
#[derive(Clone, Copy, Debug)]
pub struct Sizes {
    pub sequences: usize,
    pub positions: usize,
    pub labels: usize,
    pub rules: usize,
    pub has_transitions: bool,
}

/// Gradients of all sequences, one after another.
pub struct Gradients {
    sizes: Sizes,
    /// `[sequences][positions][labels]`
    scores: Vec<f64>,
    /// `[sequences][labels][labels]`, or nothing.
    transitions: Vec<f64>,
    /// `[sequences][rules]`
    weights: Vec<f64>,
    /// `[sequences][rules]`
    offsets: Vec<f64>,
    /// `[sequences][rules][labels]`
    coefficients: Vec<f64>,
}

/// The gradients of one sequence.
pub struct Own<'a> {
    /// `[positions][labels]`
    pub scores: &'a mut [f64],
    /// `[labels][labels]`, or nothing.
    pub transitions: &'a mut [f64],
    /// `[rules]`
    pub weights: &'a mut [f64],
    /// `[rules]`
    pub offsets: &'a mut [f64],
    /// `[rules][labels]`
    pub coefficients: &'a mut [f64],
}

impl Gradients {
    pub fn new(sizes: Sizes) -> Self {
        let Sizes { sequences, positions, labels, rules, has_transitions } = sizes;
        let links = if has_transitions { labels * labels } else { 0 };
        Self {
            sizes,
            scores: vec![0.0; sequences * positions * labels],
            transitions: vec![0.0; sequences * links],
            weights: vec![0.0; sequences * rules],
            offsets: vec![0.0; sequences * rules],
            coefficients: vec![0.0; sequences * rules * labels],
        }
    }

    pub fn of<'a>(&'a mut self, sequence: usize) -> Own<'a> {
        let sequences = self.sizes.sequences;
        let own = |all: &'a mut Vec<f64>| {
            let size = all.len() / sequences;
            &mut all[sequence * size..(sequence + 1) * size]
        };
        Own {
            scores: own(&mut self.scores),
            transitions: own(&mut self.transitions),
            weights: own(&mut self.weights),
            offsets: own(&mut self.offsets),
            coefficients: own(&mut self.coefficients),
        }
    }

    pub fn arrays(self, py: Python<'_>) -> PyResult<Arrays<'_>> {
        let Sizes { sequences, positions, labels, rules, has_transitions } = self.sizes;
        let links = [sequences, labels, labels];
        let transitions = has_transitions.then(|| self.transitions.into_pyarray(py).reshape(links));
        Ok((
            self.scores.into_pyarray(py).reshape([sequences, positions, labels])?,
            transitions.transpose()?,
            self.weights.into_pyarray(py).reshape([sequences, rules])?,
            self.offsets.into_pyarray(py).reshape([sequences, rules])?,
            self.coefficients.into_pyarray(py).reshape([sequences, rules, labels])?,
        ))
    }
}

/// Marks of rules, listed for each sequence.
pub fn marks<'py>(
    py: Python<'py>,
    rules: usize,
    listed: &[impl AsRef<[usize]>],
) -> PyResult<Marks<'py>> {
    let mut marks = vec![false; listed.len() * rules];
    for (sequence, own) in listed.iter().enumerate() {
        own.as_ref().iter().for_each(|rule| marks[sequence * rules + rule] = true);
    }
    marks.into_pyarray(py).reshape([listed.len(), rules])
}

/// Adds to sums.
pub fn add(sums: &mut [f64], own: &[f64]) {
    sums.iter_mut().zip(own).for_each(|(sum, own)| *sum += own);
}
