//! A field and rules on top of it, in the weights of both.

mod sequence;
mod stochastic;
mod train;

use std::sync::Arc;

use bethe_core::Settings;
use bethe_core::oracle::ChainModel;
use bethe_core::oracle::chain::TransitionCounts;
use bethe_core::solve::SolveError;
use rayon::prelude::*;

use super::inference::Inference;
use super::loss::Loss;
use super::rules::{CountRule, CountRules};
use super::space::Space;
use crate::corpus::{Corpus, Observations};
use crate::crf::{Residual, Scorer, Structure, cut};
use sequence::{RuledSequence, true_counts};

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
    /// The weights of the field.
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
    /// The gradient in the weights of the field, then in those of the rules.
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
    /// A loss; its gradient overwrites `gradient`. An error where the solver does not support the
    /// rules.
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
