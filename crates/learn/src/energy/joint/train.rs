//! Training both kinds of weights together, by the learners of rules.

use bethe_core::solve::SolveError;
use rand::SeedableRng;
use rand::rngs::StdRng;
use rand::seq::SliceRandom;

use super::stochastic::Stochastic;
use super::{Joint, Loss};
use crate::energy::free::Free;
use crate::energy::learner::{Learned, Learner, LearnerSettings, Start, alternate, sparse};
use crate::optimise::{AdaGrad, FirstError, Outcome, QuasiNewton, QuasiNewtonSettings, Region};

/// Steps of the inner problem of Algorithm 2 between two inferences.
const INNER_STEPS: usize = 10;

impl Joint<'_> {
    /// Trains all weights together: Algorithm 3 (`surrogate`) and Algorithm 2 (`surrogate-batch`) of
    /// the paper, or the Fenchel–Young loss. `start` has the weights of the field, then those of rules;
    /// `base_l2` is the squared norm's weight for the former, the settings' `l1` and `l2` are for the
    /// latter. `observe` sees the regularised loss after each pass and returns `false` to stop.
    ///
    /// # Panics
    /// If `start` does not have one number per parameter, or for the perceptron, which has no loss.
    pub fn train(
        &self,
        start: &Start,
        base_l2: f64,
        settings: &LearnerSettings,
        observe: &mut dyn FnMut(usize, f64) -> bool,
    ) -> Result<Learned, SolveError> {
        let first = self.structure.weights();
        assert_eq!(start.parameters.len(), start.fixed.len(), "which parameters are fixed");
        assert!(first <= start.parameters.len(), "weights of the field, then of rules");
        let training = Training { joint: self, first, fixed: &start.fixed, base_l2, settings };
        let parameters = start.parameters.clone();
        match settings.learner {
            Learner::FenchelYoung => training.convex(parameters, observe),
            Learner::SurrogateBatch => training.alternating(parameters, observe),
            Learner::Surrogate => training.stochastic(parameters, observe),
            Learner::Perceptron => panic!("the perceptron learns weights of rules alone"),
        }
    }
}

pub(super) struct Training<'a> {
    pub(super) joint: &'a Joint<'a>,
    /// Where the weights of rules begin.
    pub(super) first: usize,
    /// `[parameters]`
    pub(super) fixed: &'a [bool],
    pub(super) base_l2: f64,
    pub(super) settings: &'a LearnerSettings,
}

impl Training<'_> {
    /// Adds the regularisers to a loss and its gradient, unless the region does.
    fn regularise(&self, parameters: &[f64], gradient: &mut [f64]) -> f64 {
        let LearnerSettings { l1, l2, .. } = *self.settings;
        // Without the orthant-wise region, weights are not negative wherever L1 counts.
        let l1 = if self.lowest() == 0.0 { l1 } else { 0.0 };
        let mut sum = 0.0;
        for (at, (&weight, slope)) in parameters.iter().zip(gradient).enumerate() {
            let (l1, l2) = if at < self.first { (0.0, self.base_l2) } else { (l1, l2) };
            sum += l1 * weight + l2 * weight * weight;
            *slope += l1 + 2.0 * l2 * weight;
        }
        sum
    }

    /// All regularisers, whether the region adds one or not.
    fn penalty(&self, parameters: &[f64]) -> f64 {
        let LearnerSettings { l1, l2, .. } = *self.settings;
        let (base, rules) = parameters.split_at(self.first);
        let base: f64 = base.iter().map(|weight| self.base_l2 * weight * weight).sum();
        let of_rule = |weight: &f64| l1 * weight.abs() + l2 * weight * weight;
        base + rules.iter().map(of_rule).sum::<f64>()
    }

    /// Weights of rules that are constant stay at zero or above; those that depend on features are cut
    /// off there.
    pub(super) fn lowest(&self) -> f64 {
        let is_constant = self.fixed.len() == self.first + self.joint.rules.soft.len();
        if is_constant { 0.0 } else { f64::NEG_INFINITY }
    }

    fn minimiser(&self, free: &Free) -> QuasiNewtonSettings {
        let (from, coefficient) = (free.among(self.first), self.settings.l1);
        let region = match self.lowest() {
            0.0 => Region::NotNegative { from },
            _ if coefficient > 0.0 => Region::L1 { coefficient, from },
            _ => Region::Free,
        };
        let least_decrease = self.settings.least_decrease;
        QuasiNewtonSettings { region, least_decrease, ..QuasiNewtonSettings::default() }
    }

    fn convex(
        &self,
        start: Vec<f64>,
        observe: &mut dyn FnMut(usize, f64) -> bool,
    ) -> Result<Learned, SolveError> {
        let failed = FirstError::default();
        let mut free = Free::new(self.fixed, start);
        let (own, minimiser) = (free.own(), self.minimiser(&free));
        let mut objective = |own: &[f64], gradient: &mut [f64]| {
            free.evaluate(own, gradient, |all, slopes| {
                let loss = self.joint.evaluate(Loss::FenchelYoung, all, slopes);
                failed.value(loss) + self.regularise(all, slopes)
            })
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

    /// Algorithm 2: slopes of all sequences by inference, then steps on the surrogate likelihood.
    fn alternating(
        &self,
        start: Vec<f64>,
        observe: &mut dyn FnMut(usize, f64) -> bool,
    ) -> Result<Learned, SolveError> {
        let mut unused = vec![0.0; start.len()];
        let mut value = |parameters: &[f64]| {
            let loss = self.joint.evaluate(Loss::Surrogate, parameters, &mut unused)?;
            Ok(loss + self.penalty(parameters))
        };
        let mut fit = |parameters: &[f64]| self.fit_surrogate(parameters);
        alternate(start, self.settings, &mut value, &mut fit, observe)
    }

    /// Some steps on the surrogate likelihood with slopes held fixed as they are at `parameters`.
    fn fit_surrogate(&self, parameters: &[f64]) -> Result<Vec<f64>, SolveError> {
        let fitted = self.joint.slopes(parameters)?;
        let failed = FirstError::default();
        let mut free = Free::new(self.fixed, parameters.to_vec());
        let (own, minimiser) = (free.own(), self.minimiser(&free));
        let mut objective = |own: &[f64], gradient: &mut [f64]| {
            free.evaluate(own, gradient, |all, slopes| {
                let loss = self.joint.evaluate_fixed(&fitted, all, slopes);
                failed.value(loss) + self.regularise(all, slopes)
            })
        };
        let mut minimiser = QuasiNewton::start(minimiser, own, &mut objective);
        for _ in 0..INNER_STEPS {
            if minimiser.step(&mut objective) != Outcome::Advanced {
                break;
            }
        }
        failed.check()?;
        Ok(free.with(minimiser.weights()).to_vec())
    }

    /// Algorithm 3: a step along the gradient of the surrogate likelihood after each inference. The
    /// answer is the average of all points.
    fn stochastic(
        &self,
        start: Vec<f64>,
        observe: &mut dyn FnMut(usize, f64) -> bool,
    ) -> Result<Learned, SolveError> {
        let mut rng = StdRng::seed_from_u64(self.settings.seed);
        let mut descent = AdaGrad::new(self.settings.rate, start);
        // The start is a good one: what hardly slopes there hardly moves.
        descent.squares.fill(1.0);
        let mut steps = Stochastic::new(self);
        let mut order: Vec<usize> = (0..self.joint.corpus.len()).collect();
        let mut losses = Vec::new();
        for pass in 1..=self.settings.passes {
            order.shuffle(&mut rng);
            let mut loss = 0.0;
            for batch in order.chunks(self.settings.batch.max(1)) {
                loss += steps.step(batch, &mut descent)?;
            }
            losses.push(loss + self.penalty(&descent.weights));
            if !observe(pass, losses[pass - 1]) {
                break;
            }
        }
        let mut parameters = descent.average();
        if self.settings.l1 > 0.0 {
            let (first, fixed) = (self.first, &self.fixed[self.first..]);
            sparse(&mut parameters[first..], &descent.weights[first..], fixed);
        }
        Ok(Learned { parameters, losses })
    }
}
