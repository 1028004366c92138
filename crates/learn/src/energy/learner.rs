use std::sync::Arc;

use bethe_core::Settings;
use bethe_core::solve::SolveError;
use rand::SeedableRng;
use rand::rngs::StdRng;
use rand::seq::SliceRandom;

use super::examples::Sample;
use super::free::Free;
use super::inference::Inference;
use super::loss::{Loss, RuledInference, Surrogate};
use super::memory::Memory;
use super::perceptron::perceptron;
use super::rules::CountRules;
use crate::optimise::{AdaGrad, FirstError, Outcome, QuasiNewton, QuasiNewtonSettings, Region};

/// How the weights of rules are learned.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Learner {
    /// Algorithm 3: a stochastic step on the surrogate likelihood after each inference.
    Surrogate,
    /// Algorithm 2: inference for all sequences, then the surrogate likelihood with `μ*` fixed.
    SurrogateBatch,
    /// The Fenchel–Young loss over all sequences: convex, minimised to its optimum.
    FenchelYoung,
    /// An averaged perceptron on labels by soft dual decomposition, see
    /// [`SoftDual`](super::SoftDual).
    Perceptron,
}

/// Settings of a learner.
#[derive(Clone, Debug, PartialEq)]
pub struct LearnerSettings {
    /// The learner.
    pub learner: Learner,
    /// Adds `l1 Σ |v|` to the loss over all sequences.
    pub l1: f64,
    /// Adds `l2 Σ v²`.
    pub l2: f64,
    /// Most passes over the sequences.
    pub passes: usize,
    /// Stops when a pass lowers the loss by less than this part of it; not for stochastic steps.
    pub least_decrease: f64,
    /// Size of the first stochastic step.
    pub rate: f64,
    /// Sequences per stochastic step, at least 1.
    pub batch: usize,
    /// Seed for the order of stochastic steps.
    pub seed: u64,
    /// How sequences are inferred under rules.
    pub inference: Settings,
}

impl Default for LearnerSettings {
    fn default() -> Self {
        Self {
            learner: Learner::FenchelYoung,
            l1: 0.5,
            l2: 0.0,
            passes: 50,
            least_decrease: 1e-5,
            rate: 0.5,
            batch: 1,
            seed: 0,
            inference: Inference::default_settings(),
        }
    }
}

/// Learned weights.
#[derive(Clone, Debug, PartialEq)]
pub struct Learned {
    /// `v`. `[rules][features]`
    pub parameters: Vec<f64>,
    /// The regularised loss after each pass.
    pub losses: Vec<f64>,
}

/// Steps of the inner problem of Algorithm 2 between two inferences.
const INNER_STEPS: usize = 10;
/// Most halvings of a step.
const MOST_HALVINGS: i32 = 8;
/// A step that promises this part of what a pass should bring is not worth a trial: inference is not
/// that exact. First steps, before any curvature is known, may promise little and lead far.
const WORTHLESS: f64 = 0.01;
/// An averaged weight below this part of the largest is noise of stochastic steps.
const NOISE: f64 = 0.01;

/// Where learning starts.
#[derive(Clone, Debug, PartialEq)]
pub struct Start {
    /// `v`. `[rules][features]`
    pub parameters: Vec<f64>,
    /// Which of them stay fixed; empty for none. `[rules][features]`
    pub fixed: Vec<bool>,
}

/// Learns the weights of the soft rules from sequences. `observe` sees the loss after each pass and
/// returns `false` to stop. An error where the solver does not support the rules.
///
/// # Panics
/// If `start` does not have one number per rule and feature.
pub fn learn(
    sample: Sample,
    rules: &Arc<CountRules>,
    start: &Start,
    settings: &LearnerSettings,
    observe: &mut dyn FnMut(usize, f64) -> bool,
) -> Result<Learned, SolveError> {
    let features = sample.examples.features();
    assert_eq!(start.parameters.len(), rules.soft.len() * features, "a start");
    let memory = &Memory::new(sample.examples.sequences.len());
    let ruled = RuledInference { rules, settings: &settings.inference, memory: Some(memory) };
    let task = Task { sample, ruled, fixed: &start.fixed, settings };
    let parameters = start.parameters.clone();
    match settings.learner {
        Learner::Surrogate => task.stochastic(parameters, observe),
        Learner::SurrogateBatch => task.alternating(parameters, observe),
        Learner::FenchelYoung => task.convex(parameters, observe),
        Learner::Perceptron => perceptron(sample, rules, start, settings, observe),
    }
}

struct Task<'a> {
    sample: Sample<'a>,
    ruled: RuledInference<'a>,
    fixed: &'a [bool],
    settings: &'a LearnerSettings,
}

impl Task<'_> {
    /// Constant weights can be kept from falling below zero. Weights that depend on features are
    /// cut off at zero instead.
    fn region(&self) -> Region {
        match self.sample.examples.features() {
            1 => Region::NotNegative { from: 0 },
            _ if self.settings.l1 > 0.0 => Region::L1 { coefficient: self.settings.l1, from: 0 },
            _ => Region::Free,
        }
    }

    /// Adds the regulariser to a loss, unless the region does.
    fn regularise(&self, parameters: &[f64], gradient: &mut [f64]) -> f64 {
        let LearnerSettings { l1, l2, .. } = *self.settings;
        let l1 = if matches!(self.region(), Region::NotNegative { .. }) { l1 } else { 0.0 };
        for (slope, weight) in gradient.iter_mut().zip(parameters) {
            *slope += l1 + 2.0 * l2 * weight;
        }
        parameters.iter().map(|weight| l1 * weight + l2 * weight * weight).sum()
    }

    fn convex(
        &self,
        start: Vec<f64>,
        observe: &mut dyn FnMut(usize, f64) -> bool,
    ) -> Result<Learned, SolveError> {
        let failed = FirstError::default();
        let mut free = Free::new(self.fixed, start);
        let own = free.own();
        let mut objective = |own: &[f64], gradient: &mut [f64]| {
            free.evaluate(own, gradient, |all, slopes| {
                let loss = Loss::FenchelYoung.evaluate(self.sample, self.ruled, all, slopes);
                failed.value(loss) + self.regularise(all, slopes)
            })
        };
        let minimiser = QuasiNewtonSettings {
            region: self.region(),
            gradient_tolerance: 1e-4,
            least_decrease: self.settings.least_decrease,
            period: 3,
            memory: 10,
            noise: WORTHLESS * self.settings.least_decrease,
        };
        let mut minimiser = QuasiNewton::start(minimiser, own, &mut objective);
        failed.check()?;
        let mut losses = vec![minimiser.value()];
        for pass in 1..=self.settings.passes {
            let outcome = minimiser.step(&mut objective);
            failed.check()?;
            losses.push(minimiser.value());
            if outcome != Outcome::Advanced || !observe(pass, minimiser.value()) {
                break;
            }
        }
        Ok(Learned { parameters: free.with(minimiser.weights()).to_vec(), losses })
    }

    /// The paper's alternation, see [`alternate`].
    fn alternating(
        &self,
        start: Vec<f64>,
        observe: &mut dyn FnMut(usize, f64) -> bool,
    ) -> Result<Learned, SolveError> {
        let mut unused = vec![0.0; start.len()];
        let mut value = |parameters: &[f64]| {
            let loss = Loss::Surrogate.evaluate(self.sample, self.ruled, parameters, &mut unused);
            loss.map(|loss| loss + self.penalty(parameters))
        };
        let mut fit = |parameters: &[f64]| self.fit_surrogate(parameters);
        alternate(start, self.settings, &mut value, &mut fit, observe)
    }

    /// Some steps on the surrogate likelihood with `μ*` fixed as it is at `parameters`.
    fn fit_surrogate(&self, parameters: &[f64]) -> Result<Vec<f64>, SolveError> {
        let fitted = Surrogate::fit(self.sample, self.ruled, parameters)?;
        let mut free = Free::new(self.fixed, parameters.to_vec());
        let own = free.own();
        let mut objective = |own: &[f64], gradient: &mut [f64]| {
            free.evaluate(own, gradient, |all, slopes| {
                let loss = fitted.evaluate(self.sample, self.ruled.rules, all, slopes);
                loss + self.regularise(all, slopes)
            })
        };
        let settings =
            QuasiNewtonSettings { region: self.region(), ..QuasiNewtonSettings::default() };
        let mut minimiser = QuasiNewton::start(settings, own, &mut objective);
        for _ in 0..INNER_STEPS {
            if minimiser.step(&mut objective) != Outcome::Advanced {
                break;
            }
        }
        Ok(free.with(minimiser.weights()).to_vec())
    }

    /// The regulariser, whether the region adds it or not.
    fn penalty(&self, parameters: &[f64]) -> f64 {
        let LearnerSettings { l1, l2, .. } = *self.settings;
        parameters.iter().map(|weight| l1 * weight.abs() + l2 * weight * weight).sum()
    }

    fn stochastic(
        &self,
        start: Vec<f64>,
        observe: &mut dyn FnMut(usize, f64) -> bool,
    ) -> Result<Learned, SolveError> {
        let Sample { examples, which } = self.sample;
        let mut rng = StdRng::seed_from_u64(self.settings.seed);
        let lowest = match self.region() {
            Region::NotNegative { .. } => 0.0,
            _ => f64::NEG_INFINITY,
        };
        let part = 1.0 / which.len().max(1) as f64;
        let mut descent = AdaGrad::new(self.settings.rate, start);
        let mut gradient = vec![0.0; descent.weights.len()];
        let (mut order, mut losses) = (which.to_vec(), Vec::new());
        for pass in 1..=self.settings.passes {
            order.shuffle(&mut rng);
            let mut loss = 0.0;
            for batch in order.chunks(self.settings.batch.max(1)) {
                let weights = descent.weights.clone();
                let batch = Sample { examples, which: batch };
                loss += Loss::Surrogate.evaluate(batch, self.ruled, &weights, &mut gradient)?;
                descent.begin_step();
                let part = part * batch.which.len() as f64;
                let is_free = |at: usize| !self.fixed.get(at).is_some_and(|fixed| *fixed);
                for (at, (&slope, &weight)) in gradient.iter().zip(&weights).enumerate() {
                    if !is_free(at) {
                        continue;
                    }
                    if let Some(slope) = penalised(slope, weight, part, self.settings) {
                        descent.descend(at, slope, lowest);
                    }
                }
            }
            losses.push(loss + self.penalty(&descent.weights));
            if !observe(pass, losses[pass - 1]) {
                break;
            }
        }
        Ok(Learned { parameters: self.sparse_average(&descent), losses })
    }

    /// The average of the iterates without the weights that the L1 penalty holds at zero. Every
    /// weight that ever moved has an average that is not quite zero.
    fn sparse_average(&self, descent: &AdaGrad) -> Vec<f64> {
        let mut average = descent.average();
        if self.settings.l1 > 0.0 {
            sparse(&mut average, &descent.weights, self.fixed);
        }
        average
    }
}

/// Makes averages of iterates zero where the last iterate is, or that are hardly anything beside the
/// largest.
pub(super) fn sparse(average: &mut [f64], last: &[f64], fixed: &[bool]) {
    let largest = average.iter().fold(0.0, |largest: f64, weight| largest.max(weight.abs()));
    for (at, weight) in average.iter_mut().enumerate() {
        let is_free = !fixed.get(at).is_some_and(|fixed| *fixed);
        if is_free && (last[at] == 0.0 || weight.abs() < NOISE * largest) {
            *weight = 0.0;
        }
    }
}

/// The slope of a loss in a weight of rules with its part of the penalties; nothing where the L1
/// penalty holds a weight at zero: what rounding leaves of the two would be a whole step.
pub(super) fn penalised(
    slope: f64,
    weight: f64,
    part: f64,
    settings: &LearnerSettings,
) -> Option<f64> {
    let LearnerSettings { l1, l2, .. } = *settings;
    let pull = match weight {
        w if w > 0.0 => l1,
        w if w < 0.0 => -l1,
        _ if slope.abs() <= part * l1 => return None,
        _ if slope < 0.0 => l1,
        _ => -l1,
    };
    Some(slope + part * (pull + 2.0 * l2 * weight))
}

/// From parameters to better ones.
type Fit<'a> = dyn FnMut(&[f64]) -> Result<Vec<f64>, SolveError> + 'a;

/// Algorithm 2: from the parameters to those that `fit` finds with slopes held fixed, as far as the
/// `value` falls. Otherwise it can oscillate or diverge, since `μ*` moves with the parameters.
pub(super) fn alternate(
    start: Vec<f64>,
    settings: &LearnerSettings,
    value: &mut dyn FnMut(&[f64]) -> Result<f64, SolveError>,
    fit: &mut Fit,
    observe: &mut dyn FnMut(usize, f64) -> bool,
) -> Result<Learned, SolveError> {
    let mut parameters = start;
    let mut losses = vec![value(&parameters)?];
    for pass in 1..=settings.passes {
        let before = losses[pass - 1];
        let target = fit(&parameters)?;
        let mut reached = None;
        for halvings in 0..MOST_HALVINGS {
            let step = 0.5f64.powi(halvings);
            let moved = parameters.iter().zip(&target).map(|(from, to)| from + step * (to - from));
            let moved: Vec<f64> = moved.collect();
            let after = value(&moved)?;
            if after < before {
                reached = Some((moved, after));
                break;
            }
        }
        let Some((moved, after)) = reached else { break };
        parameters = moved;
        losses.push(after);
        if before - after <= settings.least_decrease * before.abs() || !observe(pass, after) {
            break;
        }
    }
    Ok(Learned { parameters, losses })
}
