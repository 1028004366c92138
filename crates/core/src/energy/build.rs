//! The common energies in few words.

use super::{CustomEnergy, Energy, Norm, Penalty, Term};
use crate::model::{Model, ModelError};

impl Term {
    /// The probability that a variable is in a state.
    ///
    /// # Errors
    /// If the model has no such variable, or the variable no such state.
    pub fn indicator(model: &Model, variable: usize, state: usize) -> Result<Self, ModelError> {
        let variables = model.variables().len();
        let unknown = ModelError::UnknownVariable { found: variable, variables };
        let states = model.variables().get(variable).ok_or(unknown)?.cardinality;
        if state >= states {
            return Err(ModelError::UnknownState { variable, found: state, states });
        }
        let mut coefficients = vec![0.0; states];
        coefficients[state] = 1.0;
        Ok(Self { scope: vec![variable], coefficients })
    }
}

/// The expected number of these variables that are in these states.
///
/// ```
/// use bethe_core::{Energy, Model, Problem, count};
///
/// let model = Model::new(&[3, 3])?;
/// let ones = count(&model, [(0, 1), (1, 1)])?;
/// let answer = Problem::new(model, vec![Energy::at_most(0.5, ones)])?.solve()?;
/// assert!(answer.marginal(0)[1] + answer.marginal(1)[1] <= 0.5 + 1e-6);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// # Errors
/// As [`Term::indicator`].
pub fn count(
    model: &Model,
    states: impl IntoIterator<Item = (usize, usize)>,
) -> Result<Vec<Term>, ModelError> {
    states.into_iter().map(|(variable, state)| Term::indicator(model, variable, state)).collect()
}

/// With `s = Σ terms·μ`, an expectation.
impl Energy {
    /// `s ≤ limit`
    pub fn at_most(limit: f64, terms: Vec<Term>) -> Self {
        Self::Measurement { weight: 1.0, penalty: Penalty::AtMost, offset: -limit, terms }
    }

    /// `s ≥ limit`
    pub fn at_least(limit: f64, mut terms: Vec<Term>) -> Self {
        terms.iter_mut().flat_map(|term| &mut term.coefficients).for_each(|c| *c = -*c);
        Self::Measurement { weight: 1.0, penalty: Penalty::AtMost, offset: limit, terms }
    }

    /// `s = value`
    pub fn equal(value: f64, terms: Vec<Term>) -> Self {
        Self::Measurement { weight: 1.0, penalty: Penalty::Equal, offset: -value, terms }
    }

    /// `weight · ½(s − target)²`: a noisy observation of `s`, whose variance is `1/weight`.
    pub fn squared(weight: f64, target: f64, terms: Vec<Term>) -> Self {
        Self::Measurement { weight, penalty: Penalty::Squared, offset: -target, terms }
    }

    /// `weight · |s − target|`: either `s` is at the target, or the weight is not enough for it.
    pub fn absolute(weight: f64, target: f64, terms: Vec<Term>) -> Self {
        Self::Measurement { weight, penalty: Penalty::Absolute, offset: -target, terms }
    }

    /// A rule that may be broken at a price: up to `limit` it is free, from one more on each further
    /// one costs `weight`, and in between the slope grows from nothing (`smoothed_hinge`).
    pub fn prefer_at_most(weight: f64, limit: f64, mut terms: Vec<Term>) -> Self {
        terms.iter_mut().flat_map(|term| &mut term.coefficients).for_each(|c| *c = -*c);
        let penalty = Penalty::SmoothedHinge;
        Self::Measurement { weight, penalty, offset: 1.0 + limit, terms }
    }

    /// `weight · min_i ‖p_i − Mμ‖₁`: pulls measurements, the rows of `M`, towards the nearest of
    /// some points (`[points][measurements]`).
    pub fn nearest(weight: f64, measurements: Vec<Vec<Term>>, points: Vec<Vec<f64>>) -> Self {
        Self::Nearest { weight, norm: Norm::L1, cap: None, measurements, points }
    }

    /// `−⟨θ, ⊗_n μ_n⟩`: a factor as mean field sees it, row-major over `scope`.
    pub fn product(scope: &[usize], log_potentials: &[f64]) -> Self {
        Self::Product { scope: scope.to_vec(), log_potentials: log_potentials.to_vec() }
    }
}

impl From<CustomEnergy> for Energy {
    fn from(energy: CustomEnergy) -> Self {
        Self::Custom(energy)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Problem;

    fn solved(energy: impl FnOnce(Vec<Term>) -> Energy) -> f64 {
        let model = Model::new(&[2, 2]).unwrap();
        let ones = count(&model, [(0, 1), (1, 1)]).unwrap();
        let answer = Problem::new(model, vec![energy(ones)]).unwrap().solve().unwrap();
        answer.marginal(0)[1] + answer.marginal(1)[1]
    }

    #[test]
    fn limits_and_targets_are_of_the_sum_of_terms() {
        // Without an energy the sum is 1.
        let close = |found: f64, expected: f64| assert!((found - expected).abs() < 1e-3, "{found}");
        close(solved(|ones| Energy::at_most(0.4, ones)), 0.4);
        close(solved(|ones| Energy::at_most(1.4, ones)), 1.0);
        close(solved(|ones| Energy::at_least(1.4, ones)), 1.4);
        close(solved(|ones| Energy::at_least(0.4, ones)), 1.0);
        close(solved(|ones| Energy::equal(1.7, ones)), 1.7);
        close(solved(|ones| Energy::squared(1e6, 1.2, ones)), 1.2);
        close(solved(|ones| Energy::absolute(50.0, 0.3, ones)), 0.3);
        close(solved(|ones| Energy::prefer_at_most(1e4, 1.0, ones)), 1.0);
        close(solved(|ones| Energy::prefer_at_most(1e4, 0.0, ones)), 0.0);
    }

    #[test]
    fn what_the_model_lacks_has_no_indicator() {
        let model = Model::new(&[2, 3]).unwrap();
        let found = ModelError::UnknownVariable { found: 2, variables: 2 };
        assert_eq!(count(&model, [(0, 1), (2, 0)]).unwrap_err(), found);
        let found = ModelError::UnknownState { variable: 0, found: 2, states: 2 };
        assert_eq!(Term::indicator(&model, 0, 2).unwrap_err(), found);
    }
}
