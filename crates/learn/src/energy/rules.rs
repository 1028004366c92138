use bethe_core::energy::Measurements;
use bethe_core::solve::SolveError;
use bethe_core::{Method, Penalty, Settings};

/// A rule on counts of states, as a linear function of them: `z = offset + Σ_k a_k n_k`, kept where
/// `z ≥ 1`.
#[derive(Clone, Debug, PartialEq)]
pub struct CountRule {
    /// States, ascending, with their coefficients.
    pub coefficients: Vec<(usize, f64)>,
    /// Added to them.
    pub offset: f64,
}

impl CountRule {
    /// `Σ a n ≤ bound`, as the argument of a hinge: `z = 1 + bound − Σ a n`.
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

    /// Whether an assignment with these counts keeps the rule.
    pub fn holds(&self, counts: &[f64]) -> bool {
        self.measure(counts) >= 1.0 - 1e-9
    }
}

/// Rules that share a penalty: `Σ_j ψ_j φ(z_j)` for those with a weight, `z_j ≥ 1` for hard ones.
#[derive(Clone, Debug, PartialEq)]
pub struct CountRules {
    /// States of the chain.
    pub states: usize,
    /// `φ`, decreasing: [`Penalty::SmoothedHinge`] or [`Penalty::Hinge`].
    pub penalty: Penalty,
    /// Rules with a weight.
    pub soft: Vec<CountRule>,
    /// Rules that must hold in expectation.
    pub hard: Vec<CountRule>,
}

impl CountRules {
    /// Whether a solver supports these rules, whatever their weights and the sequence are.
    pub fn check(&self, settings: &Settings) -> Result<(), SolveError> {
        settings.check()?;
        let unserved = |energy, expected| {
            Err(SolveError::Unserved { solver: settings.method.name(), energy, expected })
        };
        let has_kinks = self.penalty == Penalty::Hinge && !self.soft.is_empty();
        match settings.method {
            Method::Auto | Method::Dual | Method::Newton => Ok(()),
            _ if !self.hard.is_empty() => unserved("hard rules", "auto, dual or newton"),
            Method::Adaptive | Method::AcceleratedRda { .. } if has_kinks => unserved(
                "rules with the penalty hinge",
                "auto, dual, newton, rda or mirror-descent",
            ),
            _ => Ok(()),
        }
    }

    /// The energy for sequences of at most `longest` positions, without rules of weight zero.
    pub fn measurements(&self, weights: &[f64], longest: usize) -> Measurements {
        let mut measurements = Measurements::default();
        let soft = self.soft.iter().zip(weights).filter(|(_, weight)| **weight > 0.0);
        for (rule, &weight) in soft {
            push(&mut measurements, rule, Side::Above, longest);
            measurements.push(weight, self.penalty);
        }
        for rule in &self.hard {
            // 1 − z ≤ 0
            push(&mut measurements, rule, Side::Below, longest);
            measurements.push(1.0, Penalty::AtMost);
        }
        measurements
    }

    /// Whether all slopes of the energy vanish at these counts and all hard rules hold. Then the
    /// base model is the answer.
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

/// What is measured of a rule.
enum Side {
    /// `z`
    Above,
    /// `1 − z`
    Below,
}

fn push(measurements: &mut Measurements, rule: &CountRule, side: Side, longest: usize) {
    let (sign, offset) = match side {
        Side::Above => (1.0, rule.offset),
        Side::Below => (-1.0, 1.0 - rule.offset),
    };
    let entries = rule.coefficients.iter().map(|&(state, a)| (state, sign * a));
    let ends =
        entries.clone().fold((0.0f64, 0.0f64), |(low, high), (_, a)| (low.min(a), high.max(a)));
    let longest = longest as f64;
    let range = (offset + longest * ends.0, offset + longest * ends.1);
    measurements.rows_mut().push(entries, &[offset], range);
}
