//! Joint training of the base model's weights and the rules' weights.

use bethe_learn::crf::Crf;
use bethe_learn::energy::{Inference, Joint};
use bethe_learn::optimise::{FirstError, Outcome, QuasiNewton, QuasiNewtonSettings, Region};

use super::base::add_l2;
use super::checkpoint::Checkpoint;
use super::prepared::Prepared;
use super::rules::Learning;
use super::{Event, TrainError};

/// Where training together starts: a base model and rules that were trained apart.
pub(super) struct Together<'a> {
    pub(super) prepared: &'a Prepared,
    pub(super) crf: &'a Crf,
    pub(super) learning: &'a Learning<'a>,
    /// `[rules][features]`
    pub(super) rule_weights: &'a [f64],
    /// The penalty on weights of rules.
    pub(super) l1: f64,
}

/// What training together comes to.
pub(super) struct Trained {
    pub(super) crf: Crf,
    /// `[rules][features]`
    pub(super) rule_weights: Vec<f64>,
}

impl Together<'_> {
    /// Goes on with all weights together, by the Fenchel–Young loss of the training data.
    pub(super) fn train(
        &self,
        checkpoint: &Checkpoint,
        observe: &mut dyn FnMut(Event),
    ) -> Result<Trained, TrainError> {
        let Self { prepared, crf, learning, rule_weights, l1 } = *self;
        let settings = learning.settings;
        let features = settings.rules.features;
        let joint = Joint {
            structure: &prepared.structure,
            corpus: &prepared.data.corpus,
            truth: &prepared.data.truth,
            space: &learning.compiled.space,
            rules: &learning.rules,
            features: &|observations| features.of(observations),
            inference: Inference::default_settings(),
        };
        let (first, fixed) = (crf.weights.len(), learning.start().fixed);
        let (l2, failed) = (settings.base.l2, FirstError::default());
        let mut objective = |parameters: &[f64], gradient: &mut [f64]| {
            let mut loss = failed.value(joint.evaluate(parameters, gradient));
            let (weights, rules) = parameters.split_at(first);
            let (slopes, rule_slopes) = gradient.split_at_mut(first);
            loss += add_l2(l2, weights, slopes);
            for ((slope, weight), &fixed) in rule_slopes.iter_mut().zip(rules).zip(&fixed) {
                let size = if *weight < 0.0 { -l1 } else { l1 };
                *slope = if fixed { 0.0 } else { *slope + size };
                loss += l1 * weight.abs();
            }
            loss
        };
        let region = match features.len() {
            1 => Region::NotNegative { from: first },
            _ => Region::Free,
        };
        let minimiser =
            QuasiNewtonSettings { region, least_decrease: 1e-5, ..QuasiNewtonSettings::default() };
        let start = [&crf.weights, rule_weights].concat();
        let mut minimiser = QuasiNewton::start(minimiser, start, &mut objective);
        failed.check()?;
        for pass in 1..=settings.rules.passes {
            checkpoint.go_on()?;
            let outcome = minimiser.step(&mut objective);
            failed.check()?;
            if outcome != Outcome::Advanced {
                break;
            }
            observe(Event::Pass { pass, loss: minimiser.value() });
        }
        let (weights, rules) = minimiser.weights().split_at(first);
        let crf = Crf { structure: crf.structure.clone(), weights: weights.to_vec() };
        Ok(Trained { crf, rule_weights: rules.to_vec() })
    }
}
