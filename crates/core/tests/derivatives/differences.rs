//! Gradients against finite differences of whole solves.

use bethe_core::problem::{EnergyGradients, Gradients, TableAnswer};
use bethe_core::solve::{Ignore, Returned};
use bethe_core::{Energy, Model, Problem, Request, Settings};
use rand::Rng;
use rand::rngs::StdRng;

/// As far as rounding allows.
pub fn exact() -> Settings {
    let returned = Returned::Last;
    Settings { tolerance: 1e-18, max_iterations: 400, returned, ..Settings::default() }
}

/// One number of a problem.
#[derive(Clone, Copy, Debug)]
pub enum Number {
    Potential { factor: usize, cell: usize },
    Weight { energy: usize },
    Offset { energy: usize },
    Coefficient { energy: usize, term: usize, cell: usize },
    Target { energy: usize, cell: usize },
    Total { energy: usize },
}

impl Number {
    /// The problem with this number moved.
    pub fn moved(self, problem: &Problem, by: f64) -> Problem {
        let (old, mut energies) = (problem.model(), problem.energies().to_vec());
        let cardinalities: Vec<usize> = old.variables().iter().map(|v| v.cardinality).collect();
        let mut model = Model::new(&cardinalities).unwrap();
        for (index, factor) in old.factors().iter().enumerate() {
            let mut values = factor.log_potentials.to_vec();
            if let Self::Potential { factor, cell } = self
                && factor == index
            {
                values[cell] += by;
            }
            model.add_factor(&factor.scope, &values).unwrap();
        }
        for (variable, state) in old.observed().iter().enumerate() {
            if let Some(state) = state {
                model.observe(variable, *state).unwrap();
            }
        }
        match (self, self.energy().map(|energy| &mut energies[energy])) {
            (Self::Weight { .. }, Some(Energy::Measurement { weight, .. })) => *weight += by,
            (Self::Weight { .. }, Some(Energy::TableMeasurement { weight, .. })) => *weight += by,
            (Self::Offset { .. }, Some(Energy::Measurement { offset, .. })) => *offset += by,
            (Self::Coefficient { term, cell, .. }, Some(Energy::Measurement { terms, .. })) => {
                terms[term].coefficients[cell] += by;
            }
            (Self::Target { cell, .. }, Some(Energy::TableMeasurement { target, .. })) => {
                target[cell] += by;
            }
            (Self::Total { .. }, Some(Energy::TableMeasurement { total, .. })) => *total += by,
            _ => {}
        }
        Problem::new(model, energies).unwrap()
    }

    fn energy(self) -> Option<usize> {
        match self {
            Self::Potential { .. } => None,
            Self::Weight { energy }
            | Self::Offset { energy }
            | Self::Coefficient { energy, .. }
            | Self::Target { energy, .. }
            | Self::Total { energy } => Some(energy),
        }
    }

    /// The gradient in it.
    pub fn of(self, problem: &Problem, found: &Gradients) -> f64 {
        let own = self.energy().map(|energy| &found.energies[energy]);
        match (self, own) {
            (Self::Potential { factor, cell }, _) => {
                found.potentials[problem.model().variables().len() + factor].values[cell]
            }
            (Self::Weight { .. }, Some(EnergyGradients::Measurement { weight, .. })) => *weight,
            (Self::Weight { .. }, Some(EnergyGradients::TableMeasurement { weight, .. })) => {
                *weight
            }
            (Self::Offset { .. }, Some(EnergyGradients::Measurement { offset, .. })) => *offset,
            (
                Self::Coefficient { term, cell, .. },
                Some(EnergyGradients::Measurement { coefficients, .. }),
            ) => coefficients[term][cell],
            (Self::Target { cell, .. }, Some(EnergyGradients::TableMeasurement { target, .. })) => {
                target[cell]
            }
            (Self::Total { .. }, Some(EnergyGradients::TableMeasurement { total, .. })) => *total,
            other => panic!("{other:?}"),
        }
    }
}

/// Some numbers of every kind.
pub fn numbers(problem: &Problem, rng: &mut StdRng) -> Vec<Number> {
    let mut found = Vec::new();
    for _ in 0..3 {
        let factor = rng.random_range(0..problem.model().factors().len());
        let values = &problem.model().factors()[factor].log_potentials;
        let cell = rng.random_range(0..values.len());
        if values[cell].is_finite() {
            found.push(Number::Potential { factor, cell });
        }
    }
    for (energy, stated) in problem.energies().iter().enumerate() {
        match stated {
            Energy::Measurement { terms, penalty, .. } => {
                let term = rng.random_range(0..terms.len());
                let cell = rng.random_range(0..terms[term].coefficients.len());
                found.extend([
                    Number::Offset { energy },
                    Number::Coefficient { energy, term, cell },
                ]);
                if !penalty.is_hard() {
                    found.push(Number::Weight { energy });
                }
            }
            Energy::TableMeasurement { target, .. } => {
                let cell = rng.random_range(0..target.len());
                found.extend([
                    Number::Target { energy, cell },
                    Number::Total { energy },
                    Number::Weight { energy },
                ]);
            }
            _ => {}
        }
    }
    found
}

/// What was compared, and where solves did not tell.
#[derive(Clone, Copy, Debug, Default)]
pub struct Checked {
    pub compared: usize,
    pub unreliable: usize,
    pub worst: f64,
}

impl Checked {
    pub fn add(&mut self, other: Self) {
        self.compared += other.compared;
        self.unreliable += other.unreliable;
        self.worst = self.worst.max(other.worst);
    }
}

fn value(problem: &Problem, v: &[TableAnswer]) -> f64 {
    let answer = problem.solve_with(&exact(), &Request::default(), &mut Ignore).unwrap();
    let tables = answer.marginals.iter().zip(v);
    tables.flat_map(|(m, v)| m.values.iter().zip(&v.values)).map(|(m, v)| m * v).sum()
}

/// The slope of `⟨v, μ*⟩` in a number, and how far two step sizes are apart.
pub fn slope(problem: &Problem, number: Number, v: &[TableAnswer]) -> (f64, f64) {
    let at = |by: f64| value(&number.moved(problem, by), v);
    let half = |step: f64| (at(step) - at(-step)) / (2.0 * step);
    let [near, middle, far] = [1e-3, 2e-3, 4e-3].map(half);
    let (fine, coarse) = ((4.0 * near - middle) / 3.0, (4.0 * middle - far) / 3.0);
    let best = (16.0 * fine - coarse) / 15.0;
    (best, (fine - coarse).abs())
}

/// A random `v` for all marginals.
pub fn weights(answer: &bethe_core::Answer, rng: &mut StdRng) -> Vec<TableAnswer> {
    let tables = answer.marginals.iter();
    tables
        .map(|table| TableAnswer {
            scope: table.scope.clone(),
            values: table.values.iter().map(|_| rng.random_range(-1.0..1.0)).collect(),
        })
        .collect()
}

/// Compares gradients in some numbers of every kind with differences of solves.
pub fn check(case: &str, problem: &Problem, rng: &mut StdRng) -> Checked {
    let mut solved =
        problem.solve_differentiable(&exact(), &Request::default(), &mut Ignore).unwrap();
    let v = weights(solved.answer(), rng);
    let status = solved.answer().status;
    let found = solved.pullback(&v).unwrap_or_else(|error| panic!("{case}: {error}"));
    let mut checked = Checked::default();
    for number in numbers(problem, rng) {
        let (expected, apart) = slope(problem, number, &v);
        let scale = 1.0 + expected.abs();
        checked.compared += 1;
        // A step crossed a border, or the solves ended in rounding.
        if apart > 2e-6 * scale {
            checked.unreliable += 1;
            continue;
        }
        let off = (number.of(problem, &found) - expected).abs() / scale;
        assert!(
            off < 1e-6,
            "{case}, {status:?}, {number:?}: {} for {expected} ± {apart:e}, ties {:?}",
            number.of(problem, &found),
            found.ties
        );
        checked.worst = checked.worst.max(off);
    }
    checked
}
