//! Joint training of the base model's weights and the rules' weights.

use bethe_learn::crf::Crf;
use bethe_learn::energy::{Inference, Joint, LearnerSettings, Start};

use super::checkpoint::Checkpoint;
use super::prepared::Prepared;
use super::rules::Learning;
use super::{Event, TrainError};

/// Where joint training starts: a base model and rules that were trained separately.
pub(super) struct Together<'a> {
    pub(super) prepared: &'a Prepared,
    pub(super) crf: &'a Crf,
    pub(super) learning: &'a Learning<'a>,
    /// `[rules][features]`
    pub(super) rule_weights: &'a [f64],
    /// The penalty on weights of rules.
    pub(super) l1: f64,
}

/// The result of joint training.
pub(super) struct Trained {
    pub(super) crf: Crf,
    /// `[rules][features]`
    pub(super) rule_weights: Vec<f64>,
}

impl Together<'_> {
    /// Goes on with all weights together on the training data, by the learner of the rules.
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
        let first = crf.weights.len();
        let start = Start {
            parameters: [&crf.weights, rule_weights].concat(),
            fixed: [vec![false; first], learning.start().fixed].concat(),
        };
        let learner = LearnerSettings { rate: settings.base.rate, ..learning.learner(l1) };
        let mut stopped = Ok(());
        let learned = joint.train(&start, settings.base.l2, &learner, &mut |pass, loss| {
            observe(Event::Pass { pass, loss });
            stopped = checkpoint.go_on();
            stopped.is_ok()
        })?;
        stopped?;
        let (weights, rules) = learned.parameters.split_at(first);
        let crf = Crf { structure: crf.structure.clone(), weights: weights.to_vec() };
        Ok(Trained { crf, rule_weights: rules.to_vec() })
    }
}
