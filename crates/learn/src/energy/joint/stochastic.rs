//! Steps along the gradients of a few sequences.

use bethe_core::solve::SolveError;

use super::train::Training;
use super::{Loss, Objective, Part};
use crate::crf::Visits;
use crate::energy::learner::penalised;
use crate::optimise::AdaGrad;

/// Gradients of the surrogate likelihood of a few sequences at a time. Only weights of their
/// attributes, of transitions and of rules are touched.
pub(super) struct Stochastic<'a> {
    training: &'a Training<'a>,
    visits: Visits,
    part: Part,
}

impl<'a> Stochastic<'a> {
    pub fn new(training: &'a Training<'a>) -> Self {
        let joint = training.joint;
        let batch = training.settings.batch.max(1);
        let visits = Visits::new(joint.corpus, joint.structure.rows().len(), batch);
        let gradient = vec![0.0; training.fixed.len()];
        Self { training, visits, part: Part { loss: 0.0, gradient } }
    }

    /// Moves along the gradient of some sequences; returns their loss before.
    pub fn step(&mut self, batch: &[usize], descent: &mut AdaGrad) -> Result<f64, SolveError> {
        let Self { training, visits, part } = self;
        let joint = training.joint;
        let point = joint.point(&descent.weights);
        part.loss = 0.0;
        let surrogate = Objective::Of(Loss::Surrogate);
        joint.add(batch.iter().copied(), &point, surrogate, part)?;
        drop(point);
        descent.begin_step();
        let (rows, base_l2) = (joint.structure.rows(), training.base_l2);
        visits.touch(joint.corpus, batch);
        for &attribute in visits.touched() {
            let decay = 2.0 * base_l2 / visits.expected(attribute);
            // Weights of pairs never seen stay zero and are not visited.
            for (_, weight) in rows.attribute(attribute as usize) {
                let slope = part.gradient[weight] + decay * descent.weights[weight];
                descent.descend(weight, slope, f64::NEG_INFINITY);
            }
            part.gradient[rows.weights_of(attribute)].fill(0.0);
        }
        let share = batch.len() as f64 / joint.corpus.len() as f64;
        for weight in rows.weights()..training.first {
            let slope = part.gradient[weight] + 2.0 * share * base_l2 * descent.weights[weight];
            descent.descend(weight, slope, f64::NEG_INFINITY);
        }
        let lowest = training.lowest();
        for at in (training.first..part.gradient.len()).filter(|&at| !training.fixed[at]) {
            let settings = training.settings;
            if let Some(slope) = penalised(part.gradient[at], descent.weights[at], share, settings)
            {
                descent.descend(at, slope, lowest);
            }
        }
        part.gradient[rows.weights()..].fill(0.0);
        Ok(part.loss)
    }
}
