//! A field and rules on top of it, in the weights of both.

mod stochastic;
mod train;

use std::sync::Arc;

use bethe_core::oracle::ChainModel;
use bethe_core::oracle::chain::TransitionCounts;
use bethe_core::solve::SolveError;
use bethe_core::{Oracle, Settings};
use rayon::prelude::*;

use super::inference::Inference;
use super::loss::Loss;
use super::rules::{CountRule, CountRules};
use super::space::Space;
use crate::corpus::{Corpus, Observations};
use crate::crf::{Residual, Scorer, Structure, cut};

/// Pieces of the corpus, for any number of threads.
const PIECES: usize = 8;

/// The losses of a field and of rules on top of it, in the weights of both.
///
/// ```text
/// Fenchel–Young   Σ −F*(θ, ψ) − ⟨θ, S(y)⟩ + L_ψ(S(y))   ∂/∂θ = μ* − S(y)   ∂/∂ψ_j = φ(z_j) − φ(z_j*)
/// surrogate       Σ A(θ + δ*) − ⟨θ + δ*, S(y)⟩          ∂/∂θ = μ* − S(y)   ∂/∂ψ_j = φ′(z_j*)·(z_j − z_j*)
/// ```
///
/// The first is jointly convex if every rule has one weight. The gradient of the second is that with
/// the slopes `φ′(z*)` held fixed. Parameters are those of the field, then `v` (`[rules][features]`).
pub struct Joint<'a> {
    /// The field.
    pub structure: &'a Structure,
    /// The sequences.
    pub corpus: &'a Corpus,
    /// Their true states. `[positions]`
    pub truth: &'a [u16],
    /// The states of the chain that rules are inferred on.
    pub space: &'a Space,
    /// The rules.
    pub rules: &'a Arc<CountRules>,
    /// Features that weights of rules depend on; the first is the constant 1.
    pub features: &'a (dyn Fn(Observations) -> Vec<f64> + Sync),
    /// How sequences are inferred under rules.
    pub inference: Settings,
}

/// Where the loss is evaluated: the parameters, and what follows from them for every sequence.
struct Point<'a> {
    /// Of the field.
    weights: &'a [f64],
    /// `v`. `[rules][features]`
    rule_parameters: &'a [f64],
    /// Log-potentials of transitions. `[states][states]`
    table: Vec<f64>,
    model: Arc<ChainModel>,
}

/// What is summed over sequences.
#[derive(Clone, Copy)]
enum Objective<'a> {
    /// A loss where rules are inferred.
    Of(Loss),
    /// The surrogate likelihood with the slopes `φ′(z*)` of every sequence held fixed.
    Fixed(&'a [Vec<f64>]),
}

/// Sums over some sequences.
struct Part {
    loss: f64,
    /// Of the field, then of the rules.
    gradient: Vec<f64>,
}

/// What one thread needs.
struct Scratch {
    inference: Inference,
    scorer: Scorer,
    residual: Residual,
    /// Node scores and node marginals of the chain. `[positions][states of the chain]`
    wide: Vec<f64>,
    nodes: Vec<f64>,
    /// Of transitions: expected, and observed less those. The latter is `[states][states]`.
    counts: TransitionCounts,
    observed: Vec<f64>,
}

impl Scratch {
    fn new(joint: &Joint, point: &Point) -> Self {
        let none = vec![0.0; joint.rules.soft.len()];
        let states = joint.structure.states();
        Self {
            inference: Inference::new(point.model.clone(), joint.rules.clone(), none),
            scorer: Scorer::default(),
            residual: Residual::default(),
            wide: Vec::new(),
            nodes: Vec::new(),
            counts: TransitionCounts::new(&point.model),
            observed: vec![0.0; states * states],
        }
    }
}

impl Joint<'_> {
    /// A loss; its gradient overwrites `gradient`. An error where the solver cannot serve the rules.
    pub fn evaluate(
        &self,
        loss: Loss,
        parameters: &[f64],
        gradient: &mut [f64],
    ) -> Result<f64, SolveError> {
        self.sum(Objective::Of(loss), parameters, gradient)
    }

    /// The surrogate likelihood with slopes held fixed, the inner problem of Algorithm 2; its gradient
    /// overwrites `gradient`. Convex, and without inference under rules.
    pub fn evaluate_fixed(
        &self,
        slopes: &[Vec<f64>],
        parameters: &[f64],
        gradient: &mut [f64],
    ) -> Result<f64, SolveError> {
        self.sum(Objective::Fixed(slopes), parameters, gradient)
    }

    /// `φ′(z*)` of every rule, by inference. `[sequences][rules]`
    pub fn slopes(&self, parameters: &[f64]) -> Result<Vec<Vec<f64>>, SolveError> {
        let point = self.point(parameters);
        let rules = self.rules;
        let of_one = |scratch: &mut Scratch, sequence: usize| {
            let observations = self.corpus.sequence(sequence);
            let none = vec![0.0; rules.soft.len()];
            if observations.is_empty() {
                return Ok(none);
            }
            let scores = scratch.scorer.scores(self.structure, point.weights, observations);
            self.space.widen(scores, &mut scratch.wide);
            let ruled = RuledSequence::new(self, observations, point.rule_parameters);
            scratch.inference.set_weights(ruled.weights());
            let found = scratch.inference.run(&scratch.wide, &self.inference)?;
            Ok(found.map_or(none, |found| {
                let slope =
                    |rule: &CountRule| rules.penalty.derivative(rule.measure(&found.counts));
                rules.soft.iter().map(slope).collect()
            }))
        };
        let sequences = (0..self.corpus.len()).into_par_iter();
        sequences.map_init(|| Scratch::new(self, &point), of_one).collect()
    }

    fn point<'p>(&self, parameters: &'p [f64]) -> Point<'p> {
        let (weights, rule_parameters) = parameters.split_at(self.structure.weights());
        let table = self.structure.transition_table(weights);
        let model = Arc::new(self.space.chain_model(&table));
        Point { weights, rule_parameters, table, model }
    }

    fn sum(
        &self,
        objective: Objective,
        parameters: &[f64],
        gradient: &mut [f64],
    ) -> Result<f64, SolveError> {
        let point = self.point(parameters);
        let pieces = cut(self.corpus, PIECES.min(self.corpus.len()).max(1));
        let piece = |sequences: std::ops::Range<usize>| {
            let mut part = Part { loss: 0.0, gradient: vec![0.0; parameters.len()] };
            self.add(sequences, &point, objective, &mut part).map(|()| part)
        };
        let parts: Result<Vec<Part>, SolveError> = pieces.into_par_iter().map(piece).collect();
        gradient.fill(0.0);
        let mut loss = 0.0;
        for part in parts? {
            loss += part.loss;
            gradient.iter_mut().zip(part.gradient).for_each(|(sum, own)| *sum += own);
        }
        self.structure.rows().for_each_unseen(|weight| gradient[weight] = 0.0);
        Ok(loss)
    }

    /// Adds some sequences to a sum.
    fn add(
        &self,
        sequences: impl Iterator<Item = usize>,
        point: &Point,
        objective: Objective,
        part: &mut Part,
    ) -> Result<(), SolveError> {
        let mut scratch = Scratch::new(self, point);
        for sequence in sequences {
            if !self.corpus.sequence(sequence).is_empty() {
                self.add_one(sequence, point, objective, &mut scratch, part)?;
            }
        }
        let Scratch { counts, observed, .. } = &mut scratch;
        let (space, states) = (self.space, self.structure.states());
        counts.take(&point.model, |from, to, count| {
            observed[space.state(from) * states + space.state(to)] -= count;
        });
        let slopes = &mut part.gradient[self.structure.rows().weights()..];
        let weighted = &self.structure.transitions().weighted;
        for (slope, &(from, to)) in slopes.iter_mut().zip(weighted) {
            *slope -= observed[usize::from(from) * states + usize::from(to)];
        }
        Ok(())
    }

    fn add_one(
        &self,
        sequence: usize,
        point: &Point,
        objective: Objective,
        scratch: &mut Scratch,
        part: &mut Part,
    ) -> Result<(), SolveError> {
        let Self { structure, corpus, space, .. } = *self;
        let Scratch { inference, scorer, residual, wide, nodes, counts, observed } = scratch;
        let states = structure.states();
        let observations = corpus.sequence(sequence);
        let truth = &self.truth[corpus.first_position(sequence)..][..observations.len()];
        let scores = scorer.scores(structure, point.weights, observations);
        let rows = scores.chunks(states).zip(truth);
        let mut score: f64 = rows.map(|(row, &state)| row[usize::from(state)]).sum();
        let cells =
            truth.windows(2).map(|pair| usize::from(pair[0]) * states + usize::from(pair[1]));
        cells.clone().for_each(|cell| score += point.table[cell]);
        space.widen(scores, wide);
        let ruled = RuledSequence::new(self, observations, point.rule_parameters);
        let (slopes, rule_slopes) = part.gradient.split_at_mut(point.weights.len());
        let fixed = match objective {
            Objective::Of(_) => None,
            Objective::Fixed(slopes) => Some(&slopes[sequence][..]),
        };
        let Some(tilted) = ruled.tilt(self, fixed, inference, wide)? else { return Ok(()) };
        cells.for_each(|cell| observed[cell] += 1.0);
        nodes.resize(wide.len(), 0.0);
        inference.chain().accumulate(nodes, counts);
        residual.load(space, nodes, truth, states);
        residual.add_gradient(structure, observations, slopes);
        let true_counts = true_counts(space, truth);
        part.loss -= score;
        part.loss += match objective {
            Objective::Of(Loss::FenchelYoung) => {
                -tilted.objective + ruled.add_values(self, &true_counts, &tilted, rule_slopes)
            }
            _ => {
                ruled.add_slopes(self, &true_counts, &tilted, (fixed, rule_slopes));
                let pull = tilted.tilt.iter().zip(&true_counts).map(|(tilt, count)| tilt * count);
                tilted.log_partition - pull.sum::<f64>()
            }
        };
        Ok(())
    }
}

/// How often each state of the chain occurs in the truth.
fn true_counts(space: &Space, truth: &[u16]) -> Vec<f64> {
    let mut counts = vec![0.0; space.len()];
    for state in space.path(truth.iter().map(|&state| usize::from(state))) {
        counts[state] += 1.0;
    }
    counts
}

/// A sequence under a tilt of its states.
struct Tilted {
    /// `F`, where rules were inferred.
    objective: f64,
    log_partition: f64,
    tilt: Vec<f64>,
    counts: Vec<f64>,
}

/// What the rules of one sequence depend on, and the weights that come of it.
struct RuledSequence {
    features: Vec<f64>,
    /// `v·f`; below zero a rule is as good as absent. `[rules]`
    signed: Vec<f64>,
}

impl RuledSequence {
    fn new(joint: &Joint, observations: Observations, rule_parameters: &[f64]) -> Self {
        let features = (joint.features)(observations);
        let own = rule_parameters.chunks(features.len());
        let dot = |own: &[f64]| own.iter().zip(&features).map(|(v, f)| v * f).sum::<f64>();
        let signed = own.map(dot).collect();
        Self { features, signed }
    }

    fn weights(&self) -> Vec<f64> {
        self.signed.iter().map(|weight| weight.max(0.0)).collect()
    }

    /// Tilts the chain: by inference, or by weights times fixed slopes. `None` where the scores forbid
    /// every assignment.
    fn tilt(
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
    fn add_values(&self, joint: &Joint, truth: &[f64], tilted: &Tilted, slopes: &mut [f64]) -> f64 {
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
    fn add_slopes(
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
