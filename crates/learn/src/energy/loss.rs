use std::sync::Arc;

use bethe_core::solve::SolveError;
use bethe_core::support::Support;
use bethe_core::{Oracle, Settings};
use rayon::prelude::*;

use super::examples::{Example, Examples, Sample};
use super::inference::{Inference, Inferred};
use super::memory::Memory;
use super::rules::{CountRule, CountRules};

/// Sequences per group: sums are taken within a group, then over groups in order.
pub(super) const GROUP: usize = 32;

/// A loss of rule weights, with its gradient.
///
/// The weight of rule `j` for a sequence with features `f` is `ψ_j = v_j·f`; if it is below zero,
/// the rule does not apply there. With `n` the true and `n*` the inferred counts, `z` and `z*` the
/// rule's values:
///
/// | loss | value | `∂/∂ψ_j` |
/// | --- | --- | --- |
/// | Fenchel–Young | `−F* − ⟨θ, S(y)⟩ + L_ψ(n)` | `φ(z) − φ(z*)` |
/// | surrogate | `A(θ + δ*) − ⟨θ + δ*, S(y)⟩`, `δ* = −∇L(μ*)` | `φ′(z*)·(z − z*)` |
///
/// The first is convex in `ψ` and this is its gradient. The second is the negative log-likelihood
/// of the locally fitted model `Q`, and this is its gradient where `μ*` is held fixed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Loss {
    /// The Fenchel–Young loss.
    FenchelYoung,
    /// The surrogate likelihood of the paper's Algorithms 2 and 3.
    Surrogate,
}

/// Rules, and how sequences are inferred under them.
#[derive(Clone, Copy, Debug)]
pub struct RuledInference<'a> {
    /// The rules.
    pub rules: &'a Arc<CountRules>,
    /// The solver, and when it stops.
    pub settings: &'a Settings,
    /// What inference begins with, if what it ended with is remembered.
    pub memory: Option<&'a Memory>,
}

impl<'a> RuledInference<'a> {
    /// Inference that begins at the base model.
    pub fn new(rules: &'a Arc<CountRules>, settings: &'a Settings) -> Self {
        Self { rules, settings, memory: None }
    }
}

/// Rules with the parameters of their weights.
#[derive(Clone, Copy)]
struct Weighted<'a> {
    ruled: RuledInference<'a>,
    /// `v`. `[rules][features]`
    parameters: &'a [f64],
}

/// How much more likely the rules make the truth of each sequence, in nats: the log-loss of the base
/// model minus that of the tilted chain, `A(θ) − A(θ + δ) + ⟨δ, S(y)⟩`. Defined for kinked penalties
/// too, and finite where the base model forbids the truth. `[sequences]`
pub fn log_gains(
    sample: Sample,
    ruled: RuledInference,
    parameters: &[f64],
) -> Result<Vec<f64>, SolveError> {
    let weighted = Weighted { ruled, parameters };
    let gain = |inference: &mut Inference, &at: &usize| {
        let truth = &sample.examples.sequences[at].truth;
        let found = weighted.infer(inference, sample, at)?;
        Ok(found.map_or(0.0, |found| {
            found.base.log_partition - found.log_partition + dot(&found.tilt, truth)
        }))
    };
    let memory = || fresh(sample.examples, ruled.rules);
    sample.which.par_iter().map_init(memory, gain).collect()
}

/// A value and a gradient, `[rules][features]`.
pub(super) struct Slope {
    pub(super) value: f64,
    pub(super) gradient: Vec<f64>,
}

impl Loss {
    /// The loss over some sequences, and its gradient in `v` (`[rules][features]`).
    pub fn evaluate(
        self,
        sample: Sample,
        ruled: RuledInference,
        parameters: &[f64],
        gradient: &mut [f64],
    ) -> Result<f64, SolveError> {
        let (Sample { examples, which }, weighted) = (sample, Weighted { ruled, parameters });
        let groups: Result<Vec<Slope>, SolveError> = which
            .par_chunks(GROUP)
            .map(|group| {
                let mut inference = fresh(examples, ruled.rules);
                let mut slope = Slope { value: 0.0, gradient: vec![0.0; parameters.len()] };
                for &at in group {
                    let example = &examples.sequences[at];
                    let found = weighted.infer(&mut inference, sample, at)?;
                    if let Some(found) = found {
                        self.add(ruled.rules, example, parameters, &found, &mut slope);
                    }
                }
                Ok(slope)
            })
            .collect();
        Ok(join(groups?, gradient))
    }

    /// Adds one sequence's part.
    fn add(
        self,
        rules: &CountRules,
        example: &Example,
        parameters: &[f64],
        found: &Inferred,
        slope: &mut Slope,
    ) {
        let penalty = rules.penalty;
        if example.truth_score > f64::NEG_INFINITY {
            slope.value -= example.truth_score;
        }
        slope.value += match self {
            Self::FenchelYoung => -found.objective,
            Self::Surrogate => found.log_partition - dot(&found.tilt, &example.truth),
        };
        let features = &example.features;
        let of_rules =
            parameters.chunks(features.len()).zip(slope.gradient.chunks_mut(features.len()));
        for (rule, (own, gradient)) in rules.soft.iter().zip(of_rules) {
            let weight = dot(own, features);
            if weight < 0.0 {
                continue;
            }
            let (truth, inferred) = (rule.measure(&example.truth), rule.measure(&found.counts));
            let part = match self {
                Self::FenchelYoung => {
                    slope.value += weight * penalty.value(truth);
                    penalty.value(truth) - penalty.value(inferred)
                }
                Self::Surrogate => penalty.derivative(inferred) * (truth - inferred),
            };
            add_scaled(part, features, gradient);
        }
    }
}

/// The surrogate likelihood with `μ*` held fixed, the inner problem of Algorithm 2: a convex
/// log-linear model in `ψ`, without inference under rules.
pub struct Surrogate {
    /// `φ′(z*)` of the rules, if not zero. `[sequences]`
    slopes: Vec<Slopes>,
}

/// Rules of a sequence, each with a slope.
type Slopes = Vec<(u32, f64)>;

impl Surrogate {
    /// Infers `μ*` at the given parameters.
    pub fn fit(
        sample: Sample,
        ruled: RuledInference,
        parameters: &[f64],
    ) -> Result<Self, SolveError> {
        let (Sample { examples, which }, rules) = (sample, ruled.rules);
        let weighted = Weighted { ruled, parameters };
        let groups: Result<Vec<Vec<Slopes>>, SolveError> = which
            .par_chunks(GROUP)
            .map(|group| {
                let mut inference = fresh(examples, rules);
                let of_one = |&at: &usize| {
                    let found = weighted.infer(&mut inference, sample, at)?;
                    let Some(found) = found else {
                        return Ok(Vec::new());
                    };
                    let slope = |(at, rule): (usize, &CountRule)| {
                        let slope = rules.penalty.derivative(rule.measure(&found.counts));
                        (slope != 0.0).then_some((at as u32, slope))
                    };
                    Ok(rules.soft.iter().enumerate().filter_map(slope).collect())
                };
                group.iter().map(of_one).collect()
            })
            .collect();
        Ok(Self { slopes: groups?.into_iter().flatten().collect() })
    }

    /// The loss over its sequences, and its gradient in `v`.
    pub fn evaluate(
        &self,
        sample: Sample,
        rules: &Arc<CountRules>,
        parameters: &[f64],
        gradient: &mut [f64],
    ) -> f64 {
        let Sample { examples, which } = sample;
        let slopes: Vec<usize> = (0..which.len()).collect();
        let groups: Vec<Slope> = slopes
            .par_chunks(GROUP)
            .map(|group| {
                let mut inference = fresh(examples, rules);
                let mut slope = Slope { value: 0.0, gradient: vec![0.0; parameters.len()] };
                for &at in group {
                    let example = &examples.sequences[which[at]];
                    inference.set_model(&examples.models[example.model]);
                    let slopes = &self.slopes[at];
                    let tilted = Tilted { rules, slopes, example };
                    tilted.add(parameters, &mut inference, &mut slope);
                }
                slope
            })
            .collect();
        join(groups, gradient)
    }
}

/// A sequence under a tilt that the weights of rules scale.
struct Tilted<'a> {
    rules: &'a CountRules,
    slopes: &'a [(u32, f64)],
    example: &'a Example,
}

impl Tilted<'_> {
    /// Adds the sequence's part of the loss.
    fn add(&self, parameters: &[f64], inference: &mut Inference, slope: &mut Slope) {
        let Self { rules, slopes, example } = *self;
        let features = &example.features;
        let own = |rule: u32| &parameters[rule as usize * features.len()..][..features.len()];
        let mut tilt = vec![0.0; rules.states];
        for &(rule, derivative) in slopes {
            let weight = dot(own(rule), features).max(0.0);
            for &(state, a) in &rules.soft[rule as usize].coefficients {
                tilt[state] -= weight * derivative * a;
            }
        }
        let mut support = Support::new();
        support.add((0..example.scores.len() / rules.states).collect(), rules.states);
        let chain = inference.chain();
        chain.load(&example.scores, support).expect("scores are numbers or -∞");
        let mut counts = vec![0.0; rules.states];
        let log_partition = chain.tilted(&tilt, &mut counts);
        if log_partition == f64::NEG_INFINITY {
            return;
        }
        slope.value += log_partition - dot(&tilt, &example.truth);
        if example.truth_score > f64::NEG_INFINITY {
            slope.value -= example.truth_score;
        }
        for &(at, derivative) in slopes {
            if dot(own(at), features) >= 0.0 {
                let rule = &rules.soft[at as usize];
                let part = derivative * (rule.measure(&example.truth) - rule.measure(&counts));
                let gradient = &mut slope.gradient[at as usize * features.len()..];
                add_scaled(part, features, gradient);
            }
        }
    }
}

pub(super) fn fresh(examples: &Examples, rules: &Arc<CountRules>) -> Inference {
    Inference::new(examples.models[0].clone(), rules.clone(), vec![0.0; rules.soft.len()])
}

/// Switches inference to the model and weights of a sequence.
pub(super) fn prepare(
    inference: &mut Inference,
    examples: &Examples,
    example: &Example,
    parameters: &[f64],
) {
    inference.set_model(&examples.models[example.model]);
    inference.set_weights(example.weights(parameters));
}

impl Weighted<'_> {
    /// Infers a sequence under the weights that it has.
    fn infer(
        self,
        inference: &mut Inference,
        sample: Sample,
        at: usize,
    ) -> Result<Option<Inferred>, SolveError> {
        let example = &sample.examples.sequences[at];
        prepare(inference, sample.examples, example, self.parameters);
        let RuledInference { settings, memory, .. } = self.ruled;
        let Some(base) = &example.base else { return inference.run(&example.scores, settings) };
        let Some(memory) = memory else {
            return inference.run_from(&example.scores, base, None, settings).map(Some);
        };
        let start = memory.start(at, inference.weights());
        let found = inference.run_from(&example.scores, base, start.as_deref(), settings)?;
        memory.keep(at, inference.weights(), &found.multipliers);
        Ok(Some(found))
    }
}

fn join(groups: Vec<Slope>, gradient: &mut [f64]) -> f64 {
    gradient.fill(0.0);
    let mut value = 0.0;
    for group in groups {
        value += group.value;
        add_scaled(1.0, &group.gradient, gradient);
    }
    value
}

fn dot(a: &[f64], b: &[f64]) -> f64 {
    a.iter().zip(b).map(|(a, b)| a * b).sum()
}

pub(super) fn add_scaled(factor: f64, values: &[f64], out: &mut [f64]) {
    out.iter_mut().zip(values).for_each(|(out, value)| *out += factor * value);
}
