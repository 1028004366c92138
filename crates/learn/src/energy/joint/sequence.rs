//! One sequence under rules whose weights are learned with the field's.

use bethe_core::Oracle;
use bethe_core::solve::SolveError;

use super::Joint;
use crate::corpus::Observations;
use crate::energy::inference::Inference;
use crate::energy::space::Space;

/// How often each state of the chain occurs in the truth.
pub(super) fn true_counts(space: &Space, truth: &[u16]) -> Vec<f64> {
    let mut counts = vec![0.0; space.len()];
    for state in space.path(truth.iter().map(|&state| usize::from(state))) {
        counts[state] += 1.0;
    }
    counts
}

/// A sequence under a tilt of its states.
pub(super) struct Tilted {
    /// `F`, where rules were inferred.
    pub(super) objective: f64,
    pub(super) log_partition: f64,
    pub(super) tilt: Vec<f64>,
    pub(super) counts: Vec<f64>,
}

/// What the rules of one sequence depend on, and the weights that come of it.
pub(super) struct RuledSequence {
    features: Vec<f64>,
    /// `v·f`; below zero a rule is as good as absent. `[rules]`
    signed: Vec<f64>,
}

impl RuledSequence {
    pub(super) fn new(joint: &Joint, observations: Observations, rule_parameters: &[f64]) -> Self {
        let features = (joint.features)(observations);
        let own = rule_parameters.chunks(features.len());
        let dot = |own: &[f64]| own.iter().zip(&features).map(|(v, f)| v * f).sum::<f64>();
        let signed = own.map(dot).collect();
        Self { features, signed }
    }

    pub(super) fn weights(&self) -> Vec<f64> {
        self.signed.iter().map(|weight| weight.max(0.0)).collect()
    }

    /// Tilts the chain: by inference, or by weights times fixed slopes. `None` where the scores forbid
    /// every assignment.
    pub(super) fn tilt(
        &self,
        joint: &Joint,
        fixed: Option<&[f64]>,
        inference: &mut Inference,
        scores: &[f64],
    ) -> Result<Option<Tilted>, SolveError> {
        let Some(slopes) = fixed else {
            inference.set_weights(self.weights());
            let found = inference.run(scores, &joint.inference)?;
            return Ok(found.map(|found| {
                let (objective, log_partition) = (found.objective, found.log_partition);
                Tilted { objective, log_partition, tilt: found.tilt, counts: found.counts }
            }));
        };
        let mut tilt = vec![0.0; joint.rules.states];
        for ((rule, weight), slope) in joint.rules.soft.iter().zip(self.weights()).zip(slopes) {
            rule.coefficients.iter().for_each(|&(state, a)| tilt[state] -= weight * slope * a);
        }
        inference.load(scores);
        let mut counts = vec![0.0; tilt.len()];
        let log_partition = inference.chain().tilted(&tilt, &mut counts);
        let is_possible = log_partition > f64::NEG_INFINITY;
        let objective = f64::NAN;
        Ok(is_possible.then_some(Tilted { objective, log_partition, tilt, counts }))
    }

    /// What the rules cost at the truth; adds the slopes of the Fenchel–Young loss in their weights,
    /// `[rules][features]`.
    pub(super) fn add_values(
        &self,
        joint: &Joint,
        truth: &[f64],
        tilted: &Tilted,
        slopes: &mut [f64],
    ) -> f64 {
        let mut cost = 0.0;
        for (at, (rule, &weight)) in joint.rules.soft.iter().zip(&self.signed).enumerate() {
            let value = |counts: &[f64]| joint.rules.penalty.value(rule.measure(counts));
            if weight >= 0.0 {
                cost += weight * value(truth);
                self.add_to(at, value(truth) - value(&tilted.counts), slopes);
            }
        }
        cost
    }

    /// Adds the slopes of the surrogate loss, with `φ′(z*)` as it is here or as it was fixed.
    pub(super) fn add_slopes(
        &self,
        joint: &Joint,
        truth: &[f64],
        tilted: &Tilted,
        (fixed, slopes): (Option<&[f64]>, &mut [f64]),
    ) {
        for (at, (rule, &weight)) in joint.rules.soft.iter().zip(&self.signed).enumerate() {
            let inferred = rule.measure(&tilted.counts);
            let slope =
                fixed.map_or_else(|| joint.rules.penalty.derivative(inferred), |fixed| fixed[at]);
            if weight >= 0.0 {
                self.add_to(at, slope * (rule.measure(truth) - inferred), slopes);
            }
        }
    }

    /// Adds a multiple of the features to the slopes of a rule's weights.
    fn add_to(&self, rule: usize, factor: f64, slopes: &mut [f64]) {
        let own = &mut slopes[rule * self.features.len()..][..self.features.len()];
        own.iter_mut().zip(&self.features).for_each(|(slope, f)| *slope += factor * f);
    }
}
