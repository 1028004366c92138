use std::ops::Range;
use std::sync::Arc;

use bethe_core::Settings;
use bethe_core::oracle::ChainModel;
use bethe_core::oracle::chain::TransitionCounts;
use bethe_core::solve::SolveError;
use rayon::prelude::*;

use super::inference::{Inference, Inferred};
use super::rules::CountRules;
use super::space::Space;
use crate::corpus::{Corpus, Observations};
use crate::crf::{Residual, Scorer, Structure, cut};

/// Pieces of the corpus, for any number of threads.
const PIECES: usize = 8;

/// The Fenchel–Young loss of a field and of rules on top of it, in the weights of both.
///
/// ```text
/// Σ −F*(θ, ψ) − ⟨θ, S(y)⟩ + L_ψ(S(y))        ∂/∂θ = μ* − S(y)        ∂/∂ψ_j = φ(z_j) − φ(z_j*)
/// ```
///
/// Jointly convex if every rule has one weight. Parameters are those of the field, then `v`
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

/// The result of one piece of the corpus.
struct Part {
    loss: f64,
    gradient: Vec<f64>,
}

impl Joint<'_> {
    /// The loss; its gradient overwrites `gradient`. An error where the solver cannot serve the
    /// rules.
    pub fn evaluate(&self, parameters: &[f64], gradient: &mut [f64]) -> Result<f64, SolveError> {
        let (weights, rule_parameters) = parameters.split_at(self.structure.weights());
        let table = self.structure.transition_table(weights);
        let model = Arc::new(self.space.chain_model(&table));
        let point = Point { weights, rule_parameters, table, model };
        let pieces = cut(self.corpus, PIECES.min(self.corpus.len()).max(1));
        let parts: Result<Vec<Part>, SolveError> =
            pieces.into_par_iter().map(|piece| self.piece(piece, &point)).collect();
        gradient.fill(0.0);
        let mut loss = 0.0;
        for part in parts? {
            loss += part.loss;
            gradient.iter_mut().zip(part.gradient).for_each(|(sum, own)| *sum += own);
        }
        self.structure.rows().for_each_unseen(|weight| gradient[weight] = 0.0);
        Ok(loss)
    }

    fn piece(&self, sequences: Range<usize>, point: &Point) -> Result<Part, SolveError> {
        let Self { structure, corpus, space, rules, .. } = *self;
        let Point { weights, rule_parameters, table, model } = point;
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
            let ruled = RuledSequence::new(self, observations, rule_parameters);
            inference.set_weights(ruled.weights());
            let Some(found) = inference.run(&wide, &self.inference)? else { continue };
            nodes.resize(wide.len(), 0.0);
            inference.chain().accumulate(&mut nodes, &mut counts);
            residual.load(space, &nodes, truth, states);
            residual.add_gradient(structure, observations, slopes);
            part.loss += -found.objective - score;
            part.loss += ruled.add(self, truth, &found, rule_slopes);
        }
        counts.take(model, |from, to, count| {
            observed[space.state(from) * states + space.state(to)] -= count;
        });
        let transition_slopes = &mut slopes[structure.rows().weights()..];
        let weighted = &structure.transitions().weighted;
        for (slope, &(from, to)) in transition_slopes.iter_mut().zip(weighted) {
            *slope = -observed[usize::from(from) * states + usize::from(to)];
        }
        Ok(part)
    }
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

    /// What the rules cost at the truth; adds the slopes of their weights, `[rules][features]`.
    fn add(&self, joint: &Joint, truth: &[u16], found: &Inferred, slopes: &mut [f64]) -> f64 {
        let (space, rules, features) = (joint.space, joint.rules, &self.features);
        let mut true_counts = vec![0.0; space.len()];
        for state in space.path(truth.iter().map(|&state| usize::from(state))) {
            true_counts[state] += 1.0;
        }
        let mut cost = 0.0;
        for (at, (rule, &weight)) in rules.soft.iter().zip(&self.signed).enumerate() {
            if weight < 0.0 {
                continue;
            }
            let truth = rules.penalty.value(rule.measure(&true_counts));
            let inferred = rules.penalty.value(rule.measure(&found.counts));
            cost += weight * truth;
            let own = &mut slopes[at * features.len()..][..features.len()];
            own.iter_mut().zip(features).for_each(|(slope, f)| *slope += (truth - inferred) * f);
        }
        cost
    }
}
