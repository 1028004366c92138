use bethe_learn::energy::Start;

use super::super::super::rules::Rule;
use super::super::rules::Learning;
use super::part::Part;

/// Weights of rules, averaged over parts.
pub(in super::super) struct Average(Vec<(Rule, Vec<f64>)>);

impl Average {
    pub(super) fn of(parts: &[Part], weights: &[Vec<f64>]) -> Self {
        let mut sums: Vec<(Rule, Vec<f64>)> = Vec::new();
        for (part, weights) in parts.iter().zip(weights) {
            for &at in &part.learning.compiled.soft {
                let rule = &part.rules[at];
                let own = part.weight_of(rule, weights).expect("a weight for every soft rule");
                let own = own.iter().map(|weight| weight / parts.len() as f64);
                match sums.iter_mut().find(|(known, _)| known == rule) {
                    Some((_, sum)) => sum.iter_mut().zip(own).for_each(|(sum, own)| *sum += own),
                    None => sums.push((rule.clone(), own.collect())),
                }
            }
        }
        Self(sums)
    }

    /// Moves a start to the averages of rules whose weight is learned.
    pub(super) fn apply(&self, rules: &[Rule], learning: &Learning, start: &mut Start) {
        let features = learning.examples.features();
        for (place, &at) in learning.compiled.soft.iter().enumerate() {
            let first = place * features;
            let known = self.0.iter().find(|(known, _)| *known == rules[at]);
            if let (Some((_, own)), false) = (known, start.fixed[first]) {
                start.parameters[first..first + features].copy_from_slice(own);
            }
        }
    }
}
