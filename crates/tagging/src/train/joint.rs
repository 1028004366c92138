//! The base model's weights and those of the rules together.

use bethe_learn::crf::Crf;
use bethe_learn::energy::{Joint, Limits};
use bethe_learn::optimise::{Outcome, QuasiNewton, Region, Settings};

use super::base::add_l2;
use super::checkpoint::Checkpoint;
use super::prepared::Prepared;
use super::rules::Learning;
use super::{Event, TrainError};

/// Goes on with the base model's weights and those of the rules together, by the Fenchel–Young loss
/// of the training data.
pub(super) fn train_together(
    prepared: &Prepared,
    crf: &Crf,
    learning: &Learning,
    (rule_weights, l1): (&[f64], f64),
    checkpoint: &Checkpoint,
    observe: &mut dyn FnMut(Event),
) -> Result<(Vec<f64>, Vec<f64>), TrainError> {
    let settings = learning.settings;
    let features = settings.rules.features;
    let joint = Joint {
        structure: &prepared.structure,
        corpus: &prepared.data.corpus,
        truth: &prepared.data.truth,
        space: &learning.compiled.space,
        rules: &learning.rules,
        features: &|observations| features.of(observations),
        limits: Limits::default(),
    };
    let (first, fixed) = (crf.weights.len(), learning.start().fixed);
    let l2 = settings.base.l2;
    let mut objective = |parameters: &[f64], gradient: &mut [f64]| {
        let mut loss = joint.evaluate(parameters, gradient);
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
    let minimiser = Settings { region, least_decrease: 1e-5, ..Settings::default() };
    let start = [&crf.weights, rule_weights].concat();
    let mut minimiser = QuasiNewton::start(minimiser, start, &mut objective);
    for pass in 1..=settings.rules.passes {
        checkpoint.go_on()?;
        if minimiser.step(&mut objective) != Outcome::Advanced {
            break;
        }
        observe(Event::Pass { pass, loss: minimiser.value() });
    }
    let (weights, rules) = minimiser.weights().split_at(first);
    Ok((weights.to_vec(), rules.to_vec()))
}
