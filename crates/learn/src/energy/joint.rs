use std::ops::Range;
use std::sync::Arc;

use bethe_core::oracle::ChainModel;
use bethe_core::oracle::chain::TransitionCounts;
use rayon::prelude::*;

use super::inference::{Inference, Limits};
use super::rules::Rules;
use super::space::Space;
use crate::corpus::{Corpus, Observations};
use crate::crf::{Residual, Scorer, Structure, cut};

/// Pieces that the corpus is cut into, whatever the number of threads.
const PIECES: usize = 8;

/// The Fenchel–Young loss of a field and of rules on top of it, in the weights of both.
///
/// ```text
/// Σ −F*(θ, ψ) − ⟨θ, S(y)⟩ + L_ψ(S(y))        ∂/∂θ = μ* − S(y)        ∂/∂ψ_j = φ(z_j) − φ(z_j*)
/// ```
///
/// Jointly convex where every rule has one weight. Parameters are those of the field, then `v`
/// (`[rules][features]`).
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
    pub rules: &'a Arc<Rules>,
    /// What the weights of rules depend on, a constant 1 first.
    pub features: &'a (dyn Fn(Observations) -> Vec<f64> + Sync),
    /// When inference stops.
    pub limits: Limits,
}

/// What one piece of the corpus comes to.
struct Part {
    loss: f64,
    gradient: Vec<f64>,
}

impl Joint<'_> {
    /// The loss; its gradient overwrites `gradient`.
    pub fn evaluate(&self, parameters: &[f64], gradient: &mut [f64]) -> f64 {
        let (weights, rule_parameters) = parameters.split_at(self.structure.weights());
        let table = self.structure.transition_table(weights);
        let model = Arc::new(self.space.chain_model(&table));
        let pieces = cut(self.corpus, PIECES.min(self.corpus.len()).max(1));
        let parts: Vec<Part> = pieces
            .into_par_iter()
            .map(|piece| self.piece(piece, &model, &table, weights, rule_parameters))
            .collect();
        gradient.fill(0.0);
        let mut loss = 0.0;
        for part in parts {
            loss += part.loss;
            gradient.iter_mut().zip(part.gradient).for_each(|(sum, own)| *sum += own);
        }
        self.structure.rows().for_each_unseen(|weight| gradient[weight] = 0.0);
        loss
    }

    fn piece(
        &self,
        sequences: Range<usize>,
        model: &Arc<ChainModel>,
        table: &[f64],
        weights: &[f64],
        rule_parameters: &[f64],
    ) -> Part {
        let Self { structure, corpus, space, rules, .. } = *self;
        let states = structure.states();
        let mut part =
            Part { loss: 0.0, gradient: vec![0.0; weights.len() + rule_parameters.len()] };
        let (slopes, rule_slopes) = part.gradient.split_at_mut(weights.len());
        let none = vec![0.0; rules.soft.len()];
        let mut inference = Inference::new(model.clone(), rules.clone(), none);
        let mut counts = TransitionCounts::new(model);
        let mut observed = vec![0.0; states * states];
        let (mut scorer, mut residual) = (Scorer::default(), Residual::default());
        let (mut wide, mut nodes) = (Vec::new(), Vec::new());
        for sequence in sequences {
            let observations = corpus.sequence(sequence);
            let truth = &self.truth[corpus.first_position(sequence)..][..observations.len()];
            if truth.is_empty() {
                continue;
            }
            let scores = scorer.scores(structure, weights, observations);
            let rows = scores.chunks(states).zip(truth);
            let mut score: f64 = rows.map(|(row, &state)| row[usize::from(state)]).sum();
            for pair in truth.windows(2) {
                let cell = usize::from(pair[0]) * states + usize::from(pair[1]);
                score += table[cell];
                observed[cell] += 1.0;
            }
            space.widen(scores, &mut wide);
            let features = (self.features)(observations);
            let own = rule_parameters.chunks(features.len());
            let dot = |own: &[f64]| own.iter().zip(&features).map(|(v, f)| v * f).sum::<f64>();
            let signed: Vec<f64> = own.map(dot).collect();
            inference.set_weights(signed.iter().map(|weight| weight.max(0.0)).collect());
            let Some(found) = inference.run(&wide, &self.limits) else { continue };
            nodes.resize(wide.len(), 0.0);
            inference.chain().accumulate(&mut nodes, &mut counts);
            residual.load(space, &nodes, truth, states);
            residual.add_gradient(structure, observations, slopes);
            let mut true_counts = vec![0.0; space.len()];
            for state in space.path(truth.iter().map(|&state| usize::from(state))) {
                true_counts[state] += 1.0;
            }
            part.loss += -found.objective - score;
            for (at, (rule, &weight)) in rules.soft.iter().zip(&signed).enumerate() {
                if weight < 0.0 {
                    continue;
                }
                let truth = rules.penalty.value(rule.measure(&true_counts));
                let inferred = rules.penalty.value(rule.measure(&found.counts));
                part.loss += weight * truth;
                let own = &mut rule_slopes[at * features.len()..][..features.len()];
                own.iter_mut()
                    .zip(&features)
                    .for_each(|(slope, f)| *slope += (truth - inferred) * f);
            }
        }
        counts.take(model, |from, to, count| {
            observed[space.state(from) * states + space.state(to)] -= count;
        });
        let transition_slopes = &mut slopes[structure.rows().weights()..];
        let weighted = &structure.transitions().weighted;
        for (slope, &(from, to)) in transition_slopes.iter_mut().zip(weighted) {
            *slope = -observed[usize::from(from) * states + usize::from(to)];
        }
        part
    }
}
