use bethe_core::derivative::DerivativeError;
use bethe_core::solve::SolveError;
use bethe_core::{Oracle, solve_positive};
use rayon::prelude::*;
use thiserror::Error;

use super::examples::{Example, Sample};
use super::inference::{Inference, Inferred};
use super::loss::{GROUP, RuledInference, add_scaled, fresh, prepare};
use super::rules::CountRule;

/// An inverse this many times larger than a weight's own information gives says that others
/// explain all of it.
const EXPLAINED: f64 = 1e9;

/// How much sequences say about the weights of rules: the curvature of the Fenchel–Young loss.
///
/// With `z*` the values of rules and `J` the covariance of counts under them, the part of one
/// sequence is `φ′(z_j*) φ′(z_k*) a_j·J a_k`. It is the Fisher information of `ψ` where the energy is
/// linear in the counts; elsewhere, as the loss does, it takes the energy of expected counts for
/// the expected energy.
#[derive(Clone, Debug, PartialEq)]
pub struct Information {
    /// Symmetric, positive semidefinite, `n × n` for `n` numbers `[rules][features]`.
    pub matrix: Vec<f64>,
    /// `n`
    pub size: usize,
}

/// Why there is no information.
#[derive(Clone, Debug, Error, PartialEq)]
pub enum InformationError {
    /// Inference failed.
    #[error(transparent)]
    Solve(#[from] SolveError),
    /// A sequence's answer has no derivative.
    #[error("sequence {}: {error}", sequence + 1)]
    Derivative {
        /// Which sequence, from 0.
        sequence: usize,
        /// Why not.
        error: DerivativeError,
    },
}

impl Information {
    /// The information in some sequences at weights `v` (`[rules][features]`). Costs an inference
    /// and, for each rule that pulls, two products with a covariance.
    ///
    /// # Errors
    /// If the solver does not support the rules, or an answer is not proved.
    pub fn of(
        sample: Sample,
        ruled: RuledInference,
        parameters: &[f64],
    ) -> Result<Self, InformationError> {
        let Sample { examples, which } = sample;
        let size = parameters.len();
        let groups: Result<Vec<Vec<f64>>, InformationError> = which
            .par_chunks(GROUP)
            .map(|group| {
                let mut inference = fresh(examples, ruled.rules);
                let mut matrix = vec![0.0; size * size];
                for &sequence in group {
                    let example = &examples.sequences[sequence];
                    prepare(&mut inference, examples, example, parameters);
                    let Some(found) = inference.run(&example.scores, ruled.settings)? else {
                        continue;
                    };
                    let one = One { ruled, example, parameters, found: &found };
                    let failed = |error| InformationError::Derivative { sequence, error };
                    one.add(&mut inference, &mut matrix).map_err(failed)?;
                }
                Ok(matrix)
            })
            .collect();
        let mut matrix = vec![0.0; size * size];
        groups?.iter().for_each(|group| add_scaled(1.0, group, &mut matrix));
        Ok(Self { matrix, size })
    }

    /// The standard error of each weight that is not zero, if the loss has an L2 penalty `l2 Σ v²`;
    /// `None` for weights at zero, and for those that the sequences say nothing about.
    pub fn standard_errors(&self, parameters: &[f64], l2: f64) -> Vec<Option<f64>> {
        let free: Vec<usize> = (0..self.size).filter(|&at| parameters[at] != 0.0).collect();
        let n = free.len();
        let mut matrix = Vec::with_capacity(n * n);
        for &row in &free {
            for &column in &free {
                let own = if row == column { 2.0 * l2 } else { 0.0 };
                matrix.push(self.matrix[row * self.size + column] + own);
            }
        }
        let greatest = (0..n).map(|at| matrix[at * n + at]).fold(0.0, f64::max);
        let mut errors = vec![None; self.size];
        for (place, &at) in free.iter().enumerate() {
            let known = matrix[place * n + place];
            let mut column = vec![0.0; n];
            column[place] = 1.0;
            solve_positive(&mut matrix.clone(), &mut column, greatest * f64::EPSILON);
            let is_told = known > 0.0 && column[place] * known < EXPLAINED;
            errors[at] = is_told.then(|| column[place].sqrt());
        }
        errors
    }
}

/// One sequence.
struct One<'a> {
    ruled: RuledInference<'a>,
    example: &'a Example,
    parameters: &'a [f64],
    found: &'a Inferred,
}

impl One<'_> {
    fn add(&self, inference: &mut Inference, matrix: &mut [f64]) -> Result<(), DerivativeError> {
        let Self { ruled: RuledInference { rules, .. }, example, parameters, found } = self;
        let features = &example.features;
        let own = |rule: usize| &parameters[rule * features.len()..][..features.len()];
        let slope = |rule: &CountRule| rules.penalty.derivative(rule.measure(&found.counts));
        // As in the loss: below zero a rule does not apply, and says nothing.
        let applies = |rule: &usize| {
            let weight: f64 = own(*rule).iter().zip(features).map(|(v, f)| v * f).sum();
            weight >= 0.0 && slope(&rules.soft[*rule]) != 0.0
        };
        let pulling: Vec<usize> = (0..rules.soft.len()).filter(applies).collect();
        if pulling.is_empty() {
            return Ok(());
        }
        let derivative = inference.derivative(found)?;
        let width = parameters.len();
        for &first in &pulling {
            let mut direction = vec![0.0; rules.states];
            let rule = &rules.soft[first];
            rule.coefficients.iter().for_each(|&(state, a)| direction[state] += a);
            let oracle: &mut dyn Oracle = inference.chain();
            let moved = derivative.inferred(oracle, &direction)?;
            for &second in &pulling {
                let other = &rules.soft[second];
                let along: f64 = other.coefficients.iter().map(|&(s, a)| a * moved[s]).sum();
                let part = slope(rule) * slope(other) * along;
                for (at, f) in features.iter().enumerate() {
                    let row = (first * features.len() + at) * width;
                    let target = &mut matrix[row + second * features.len()..][..features.len()];
                    add_scaled(part * f, features, target);
                }
            }
        }
        Ok(())
    }
}
