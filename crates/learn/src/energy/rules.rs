use bethe_core::Penalty;
use bethe_core::energy::Measurements;

/// A linear function of counts of states: `z = offset + Σ_k a_k n_k`.
#[derive(Clone, Debug, PartialEq)]
pub struct Rule {
    /// States, ascending, with their coefficients.
    pub coefficients: Vec<(usize, f64)>,
    /// Added to them.
    pub offset: f64,
}

impl Rule {
    /// `Σ a n ≤ bound`, as the argument of a hinge: 1 more than what is left of the bound.
    pub fn at_most(bound: f64, coefficients: impl IntoIterator<Item = (usize, f64)>) -> Self {
        let mut coefficients: Vec<(usize, f64)> =
            coefficients.into_iter().map(|(state, a)| (state, -a)).collect();
        coefficients.sort_unstable_by_key(|&(state, _)| state);
        Self { coefficients, offset: 1.0 + bound }
    }

    /// `z`
    #[inline]
    pub fn measure(&self, counts: &[f64]) -> f64 {
        self.coefficients.iter().fold(self.offset, |sum, &(state, a)| sum + a * counts[state])
    }

    /// Whether an assignment with these counts keeps to the rule.
    pub fn holds(&self, counts: &[f64]) -> bool {
        self.measure(counts) >= 1.0 - 1e-9
    }
}

/// Rules that share a penalty: `Σ_j ψ_j φ(z_j)` for those with a weight, `z_j ≥ 1` for hard ones.
#[derive(Clone, Debug, PartialEq)]
pub struct Rules {
    /// States of the chain.
    pub states: usize,
    /// `φ`, decreasing: [`Penalty::SmoothedHinge`] or [`Penalty::Hinge`].
    pub penalty: Penalty,
    /// Rules with a weight.
    pub soft: Vec<Rule>,
    /// Rules that must hold, in expectation.
    pub hard: Vec<Rule>,
}

impl Rules {
    /// The energy for sequences of at most `longest` positions; rules without weight are not in it.
    pub fn measurements(&self, weights: &[f64], longest: usize) -> Measurements {
        let mut measurements = Measurements::default();
        let soft = self.soft.iter().zip(weights).filter(|(_, weight)| **weight > 0.0);
        for (rule, &weight) in soft {
            push(&mut measurements, rule, (1.0, rule.offset), longest);
            measurements.push(weight, self.penalty);
        }
        for rule in &self.hard {
            // 1 − z ≤ 0
            push(&mut measurements, rule, (-1.0, 1.0 - rule.offset), longest);
            measurements.push(1.0, Penalty::AtMost);
        }
        measurements
    }

    /// Whether all of the energy's slopes vanish at these counts, and all hard rules hold: the base
    /// model is the answer then.
    pub fn is_content(&self, weights: &[f64], counts: &[f64]) -> bool {
        let mut soft = self.soft.iter().zip(weights).filter(|(_, weight)| **weight > 0.0);
        soft.all(|(rule, _)| self.penalty.derivative(rule.measure(counts)) == 0.0)
            && self.hard.iter().all(|rule| rule.measure(counts) >= 1.0)
    }

    /// `Σ_j ψ_j φ(z_j)`
    pub fn energy(&self, weights: &[f64], counts: &[f64]) -> f64 {
        let soft = self.soft.iter().zip(weights).filter(|(_, weight)| **weight > 0.0);
        soft.map(|(rule, weight)| weight * self.penalty.value(rule.measure(counts))).sum()
    }
}

fn push(measurements: &mut Measurements, rule: &Rule, (sign, offset): (f64, f64), longest: usize) {
    let entries = rule.coefficients.iter().map(|&(state, a)| (state, sign * a));
    let ends =
        entries.clone().fold((0.0f64, 0.0f64), |(low, high), (_, a)| (low.min(a), high.max(a)));
    let longest = longest as f64;
    let range = (offset + longest * ends.0, offset + longest * ends.1);
    measurements.rows_mut().push(entries, &[offset], range);
}
