//! Training the base model.

use std::borrow::Cow;

use bethe_learn::corpus::Corpus;
use bethe_learn::crf::{Likelihood, Sharing, Stochastic, Structure};
use bethe_learn::optimise::{AdaGrad, Outcome, QuasiNewton, QuasiNewtonSettings, Region};
use rand::SeedableRng;
use rand::rngs::StdRng;
use rand::seq::SliceRandom;
use rayon::prelude::*;

use super::checkpoint::{Checkpoint, Current, Progress, Running, RunningOptimiser};
use super::pool::Pool;
use super::resumed::Sizes;
use super::settings::{BaseSettings, Optimiser};
use super::{Event, TrainError};

/// Iterations between two evaluations on the development data.
const LOOK_EVERY: usize = 5;

/// A base model that is trained.
#[derive(Clone, Debug)]
pub(super) struct Fitted {
    pub(super) weights: Vec<f64>,
    pub(super) loss: f64,
    pub(super) iterations: usize,
}

/// The best weights on development data so far.
#[derive(Clone, Debug)]
pub(super) struct BestOnDev {
    pub(super) weights: Vec<f64>,
    pub(super) f1: f64,
    /// Evaluations on development data since then.
    pub(super) since: usize,
}

/// Which of how many base models is trained.
#[derive(Clone, Copy)]
pub(super) struct Turn {
    pub(super) model: usize,
    pub(super) models: usize,
}

/// F1 on development data at some weights.
pub(super) type Judge<'a> = &'a dyn Fn(&[f64]) -> f64;

/// What to train on, and with.
pub(super) struct Fit<'a> {
    pub(super) structure: &'a Structure,
    pub(super) sharing: Option<&'a Sharing>,
    pub(super) corpus: &'a Corpus,
    /// `[positions]`
    pub(super) truth: &'a [u16],
    pub(super) settings: &'a BaseSettings,
    pub(super) pool: &'a Pool,
    pub(super) seed: u64,
    /// F1 on development data at some weights.
    pub(super) judge: Option<Judge<'a>>,
}

/// What is known after an iteration: its number, the loss, F1 on development data.
pub(super) type Look<'a> = &'a mut dyn FnMut(usize, f64, Option<f64>);

impl Fit<'_> {
    /// Trains a base model, or goes on where a checkpoint stopped: the mean of
    /// the members of the pool, with that of their losses, and all their iterations.
    pub(super) fn run(
        &self,
        Turn { model, models }: Turn,
        checkpoint: &mut Checkpoint,
        observe: &mut dyn FnMut(Event),
    ) -> Result<Fitted, TrainError> {
        let members = self.pool.members();
        let weights = vec![0.0; self.structure.weights()];
        let mut mean = Fitted { weights, loss: 0.0, iterations: 0 };
        for member in 0..members {
            let model = model * members + member;
            let fitted = match checkpoint.done(model) {
                Some(done) => {
                    done.check(self.sizes())?;
                    done
                }
                None => {
                    let view = self.pool.view(member, self.corpus);
                    let corpus = view.as_ref().unwrap_or(self.corpus);
                    let max_iterations = self.settings.max_iterations;
                    let models = models * members;
                    let mut look = |iteration, loss, dev_f1| {
                        let event = Event::Iteration {
                            model,
                            models,
                            iteration,
                            max_iterations,
                            loss,
                            dev_f1,
                        };
                        observe(event)
                    };
                    let fitted = Fit { corpus, ..*self }.member(checkpoint, &mut look)?;
                    checkpoint.finish(&fitted)?;
                    fitted
                }
            };
            let Fitted { weights, loss, iterations } = fitted;
            let sums = mean.weights.iter_mut().zip(weights);
            sums.for_each(|(sum, weight)| *sum += weight / members as f64);
            mean.loss += loss / members as f64;
            mean.iterations += iterations;
        }
        Ok(mean)
    }

    /// Trains one member of the pool.
    fn member(&self, checkpoint: &mut Checkpoint, look: Look) -> Result<Fitted, TrainError> {
        let current = checkpoint.take_current();
        current.as_ref().map_or(Ok(()), |current| current.check(self.sizes()))?;
        match self.settings.optimiser {
            Optimiser::QuasiNewton => self.quasi_newton(current, checkpoint, look),
            Optimiser::AdaGrad => self.adagrad(current, checkpoint, look),
        }
    }

    fn quasi_newton(
        &self,
        current: Option<Current>,
        checkpoint: &mut Checkpoint,
        look: Look,
    ) -> Result<Fitted, TrainError> {
        let BaseSettings { l1, l2, least_decrease, max_iterations, .. } = *self.settings;
        let mut likelihood = Likelihood::new(self.structure, self.corpus, self.truth);
        let mut slopes = vec![0.0; self.sharing.map_or(0, |_| self.structure.weights())];
        let mut objective = |parameters: &[f64], gradient: &mut [f64]| {
            let loss = match self.sharing {
                None => likelihood.evaluate(parameters, gradient),
                Some(sharing) => {
                    let loss = likelihood.evaluate(&self.weights(parameters), &mut slopes);
                    sharing.write_gradient(&slopes, gradient);
                    loss
                }
            };
            loss + add_l2(l2, parameters, gradient)
        };
        let region = if l1 > 0.0 { Region::L1 { coefficient: l1, from: 0 } } else { Region::Free };
        let settings =
            QuasiNewtonSettings { region, least_decrease, ..QuasiNewtonSettings::default() };
        let (mut minimiser, mut best) = match current {
            Some(Current { progress: Progress::QuasiNewton(state), best }) => {
                (QuasiNewton::resume(settings, state), best)
            }
            _ => {
                let zeros = vec![0.0; self.sizes().parameters];
                (QuasiNewton::start(settings, zeros, &mut objective), None)
            }
        };
        while minimiser.iterations() < max_iterations {
            let outcome = minimiser.step(&mut objective);
            let iteration = minimiser.iterations();
            let due = iteration.is_multiple_of(LOOK_EVERY) || outcome != Outcome::Advanced;
            let weights = || self.weights(minimiser.weights());
            let f1 = self.judge.filter(|_| due).map(|judge| judge(&weights()));
            look(iteration, minimiser.value(), f1);
            let ends =
                f1.is_some_and(|f1| worse(&mut best, f1, &weights()) > self.settings.patience);
            if ends || outcome != Outcome::Advanced {
                break;
            }
            let optimiser = RunningOptimiser::QuasiNewton(&minimiser);
            checkpoint.note(Running { optimiser, best: best.as_ref() })?;
        }
        let last = || self.weights(minimiser.weights()).into_owned();
        let weights = best.map_or_else(last, |best| best.weights);
        let (loss, iterations) = (minimiser.value(), minimiser.iterations());
        Ok(Fitted { weights, loss, iterations })
    }

    fn sizes(&self) -> Sizes {
        let weights = self.structure.weights();
        Sizes { parameters: self.sharing.map_or(weights, Sharing::parameters), weights }
    }

    /// The weights of parameters; the same if they are not shared.
    fn weights<'p>(&self, parameters: &'p [f64]) -> Cow<'p, [f64]> {
        self.sharing.map_or(Cow::Borrowed(parameters), |sharing| {
            let mut weights = vec![0.0; self.structure.weights()];
            sharing.write_weights(parameters, &mut weights);
            Cow::Owned(weights)
        })
    }

    fn adagrad(
        &self,
        current: Option<Current>,
        checkpoint: &mut Checkpoint,
        look: Look,
    ) -> Result<Fitted, TrainError> {
        let BaseSettings { l2, rate, max_iterations, least_decrease, .. } = *self.settings;
        let mut stochastic = Stochastic::new(self.structure, self.corpus, self.truth, l2);
        let (mut descent, mut passes, mut loss, mut best) = match current {
            Some(Current { progress: Progress::AdaGrad(descent, passes, loss), best }) => {
                (descent, passes, loss, best)
            }
            _ => (AdaGrad::new(rate, vec![0.0; self.structure.weights()]), 0, f64::INFINITY, None),
        };
        while passes < max_iterations {
            // The order of a pass depends on its number only, so that a resumed run repeats it.
            let mut rng = StdRng::seed_from_u64(self.seed ^ (passes as u64) << 32);
            let mut order: Vec<usize> = (0..self.corpus.len()).collect();
            order.shuffle(&mut rng);
            let before = loss;
            loss = stochastic.epoch(&order, &mut descent);
            passes += 1;
            let f1 = self.judge.map(|judge| judge(&descent.average()));
            look(passes, loss, f1);
            let ends = f1.is_some_and(|f1| {
                worse(&mut best, f1, &descent.average()) > self.settings.patience
            });
            // A pass is worth about ten iterations on all the data.
            if ends || before - loss < 10.0 * least_decrease * loss.abs() && before >= loss {
                break;
            }
            let optimiser = RunningOptimiser::AdaGrad(&descent, passes, loss);
            checkpoint.note(Running { optimiser, best: best.as_ref() })?;
        }
        let weights = best.map_or_else(|| descent.average(), |best| best.weights);
        Ok(Fitted { weights, loss, iterations: passes })
    }
}

/// Keeps the better weights; returns the number of evaluations without better ones.
fn worse(best: &mut Option<BestOnDev>, f1: f64, weights: &[f64]) -> usize {
    match best {
        Some(best) if f1 < best.f1 => {
            best.since += 1;
            best.since
        }
        _ => {
            *best = Some(BestOnDev { weights: weights.to_vec(), f1, since: 0 });
            0
        }
    }
}

/// `l2 ‖w‖²`; its gradient is added.
pub(super) fn add_l2(l2: f64, weights: &[f64], gradient: &mut [f64]) -> f64 {
    if l2 == 0.0 {
        return 0.0;
    }
    const CHUNK: usize = 1 << 14;
    let parts: Vec<f64> = gradient
        .par_chunks_mut(CHUNK)
        .zip(weights.par_chunks(CHUNK))
        .map(|(gradient, weights)| {
            let mut square = 0.0;
            for (slope, weight) in gradient.iter_mut().zip(weights) {
                *slope += 2.0 * l2 * weight;
                square += weight * weight;
            }
            square
        })
        .collect();
    l2 * parts.into_iter().sum::<f64>()
}
