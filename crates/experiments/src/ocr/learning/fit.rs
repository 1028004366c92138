use std::sync::Arc;

use bethe_learn::optimise::{AdaGrad, Outcome, QuasiNewton, QuasiNewtonSettings, Region};
use rand::SeedableRng;
use rand::rngs::StdRng;
use rand::seq::SliceRandom;

use super::objective::{Examples, Loss, Objective};
use crate::ocr::model::{Field, Model};
use crate::ocr::reader;

/// How a loss over all words is minimised.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Minimisation {
    /// `l2 ‖w‖²` is added for the field's weights.
    pub l2: f64,
    /// `energy_l2 ‖v‖²` is added for those of the energy.
    pub energy_l2: f64,
    /// Iterations, at most.
    pub iterations: usize,
    /// Stops where ten iterations lower the loss by less than this part.
    pub least_decrease: f64,
}

/// How a loss is lowered a few words at a time.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Descent {
    /// `l2 ‖w‖²` is added for the field's weights.
    pub l2: f64,
    /// `energy_l2 ‖v‖²` is added for those of the energy.
    pub energy_l2: f64,
    /// Size of the first step of the field's weights, and of the energy's.
    pub rates: [f64; 2],
    /// Passes over the words.
    pub passes: usize,
    /// Words between two steps.
    pub batch: usize,
    /// The seed of the order of the words.
    pub seed: u64,
}

/// Minimises a loss over some words from a start.
pub fn minimise(
    objective: &Objective,
    which: &[usize],
    start: Vec<f64>,
    settings: &Minimisation,
) -> Vec<f64> {
    let from = objective.first_of_energy();
    let mut value = |parameters: &[f64], gradient: &mut [f64]| {
        let loss = objective.evaluate(which, parameters, gradient);
        let mut penalty = 0.0;
        for (at, (slope, weight)) in gradient.iter_mut().zip(parameters).enumerate() {
            let l2 = if at < from { settings.l2 } else { settings.energy_l2 };
            *slope += 2.0 * l2 * weight;
            penalty += l2 * weight * weight;
        }
        loss + penalty
    };
    let bounded = objective.energy.is_some() && objective.examples.features.len() == 1;
    let quasi_newton = QuasiNewtonSettings {
        region: if bounded { Region::NotNegative { from } } else { Region::Free },
        least_decrease: settings.least_decrease,
        memory: 10,
        ..QuasiNewtonSettings::default()
    };
    let mut minimiser = QuasiNewton::start(quasi_newton, start, &mut value);
    while minimiser.iterations() < settings.iterations
        && minimiser.step(&mut value) == Outcome::Advanced
    {}
    minimiser.weights().to_vec()
}

/// The base model of some words, by maximum likelihood.
pub fn fit_base(
    examples: Examples,
    field: &Arc<Field>,
    which: &[usize],
    settings: &Minimisation,
) -> Model {
    refit_base(examples, &Model::zero(field.clone()), which, settings)
}

/// The same from the weights of a model: one of nearly the same words is near.
pub fn refit_base(
    examples: Examples,
    start: &Model,
    which: &[usize],
    settings: &Minimisation,
) -> Model {
    let field = &start.field;
    let objective = Objective {
        examples,
        field: field.clone(),
        energy: None,
        loss: Loss::Likelihood,
        limits: reader::settings(),
        fixed: None,
    };
    let weights = minimise(&objective, which, start.weights.clone(), settings);
    Model::new(field.clone(), weights)
}

/// Lowers a loss by steps after every few words (Algorithm 3 for the surrogate); the average of the
/// way.
pub fn learn_stochastic(
    objective: &Objective,
    which: &[usize],
    start: Vec<f64>,
    settings: &Descent,
) -> Vec<f64> {
    let from = objective.first_of_energy();
    let lowest = if objective.examples.features.len() == 1 { 0.0 } else { f64::NEG_INFINITY };
    let mut rng = StdRng::seed_from_u64(settings.seed);
    let mut gradient = vec![0.0; start.len()];
    let mut descent = AdaGrad::new(settings.rates[0], start);
    let mut order = which.to_vec();
    for _ in 0..settings.passes {
        order.shuffle(&mut rng);
        for batch in order.chunks(settings.batch) {
            objective.evaluate(batch, &descent.weights, &mut gradient);
            let part = batch.len() as f64 / which.len() as f64;
            descent.begin_step();
            for (at, &slope) in gradient.iter().enumerate() {
                let is_field = at < from;
                let l2 = if is_field { settings.l2 } else { settings.energy_l2 };
                descent.rate = settings.rates[usize::from(!is_field)];
                let slope = slope + part * 2.0 * l2 * descent.weights[at];
                descent.descend(at, slope, if is_field { f64::NEG_INFINITY } else { lowest });
            }
        }
    }
    descent.average()
}
