//! How many iterations inference takes, reference by reference.

use bethe_core::oracle::{Chain, Oracle, Tables};
use bethe_core::solve::Returned;
use bethe_core::support::Support;
use bethe_core::{Method, Penalty, Settings};
use bethe_learn::energy::{CountRules, Decoded, Inference, SoftDual};
use rayon::prelude::*;

use bethe_tagging::Tagger;
use bethe_tagging::train::Prediction;

/// Iterations that a solver has to converge in, as in the paper.
pub(super) const CAP: usize = 40;
/// What converged means: the objective is proven to be this near to its minimum, in nats.
const GAP: f64 = 1e-4;
/// What it means for RDA as printed: no marginal moved by more.
const MOVEMENT: f64 = 1e-3;
/// A rule is active where it moves the score of some state by this much, in nats.
const PULL: f64 = 0.1;
/// Rules here are soft and smooth, which every solver serves.
const SERVED: &str = "soft rules with a smooth penalty";

/// What inference took for one reference.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Effort {
    /// Iterations, at most [`CAP`].
    pub iterations: usize,
    /// Oracle calls, that for the base model included.
    pub calls: usize,
    /// Whether it converged within [`CAP`] iterations and, except for RDA as printed, calls.
    pub converged: bool,
    /// Whether some rule pulls at the answer.
    pub active: bool,
}

/// A solver and when it has converged.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Run {
    /// The dual, until the gap is small.
    Auto,
    /// Algorithm 1, until the gap is small.
    Rda,
    /// Algorithm 1, until marginals hardly move.
    RdaByMovement,
}

impl Run {
    /// All of them.
    pub const ALL: [Self; 3] = [Self::RdaByMovement, Self::Rda, Self::Auto];

    /// The solver's name.
    pub fn solver(self) -> &'static str {
        match self {
            Self::Auto => "auto",
            Self::Rda | Self::RdaByMovement => "rda",
        }
    }

    /// When it has converged.
    pub fn end(self) -> &'static str {
        match self {
            Self::Auto | Self::Rda => "gap at most 1e-4",
            Self::RdaByMovement => "marginals move by at most 1e-3",
        }
    }

    /// Both in one.
    pub fn name(self) -> String {
        let printed = if self == Self::RdaByMovement { " as printed" } else { "" };
        format!("{}{printed}, {}", self.solver(), self.end())
    }
}

/// Caps on iterations that the first figure is about.
pub(super) const CAPS: [usize; 9] = [1, 2, 3, 5, 7, 10, 15, 20, 40];

/// How inference goes under the rules of a model.
pub(super) struct Look {
    pub model: &'static str,
    /// All-level F1 for each of [`Answer::ALL`], at each of [`CAPS`].
    pub capped: Vec<Vec<f64>>,
    /// What each way to converge took for each reference.
    pub efforts: Vec<Efforts>,
}

/// What a solver that is stopped early answers.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Answer {
    /// Algorithm 1, its last iterate: the paper's figure.
    RdaLast,
    /// Algorithm 1, the best point it has seen.
    Rda,
    /// The dual.
    Auto,
}

impl Answer {
    /// All of them.
    pub const ALL: [Self; 3] = [Self::RdaLast, Self::Rda, Self::Auto];

    /// For people.
    pub fn name(self) -> &'static str {
        match self {
            Self::RdaLast => "rda, last iterate",
            Self::Rda => "rda, best iterate",
            Self::Auto => "auto",
        }
    }

    /// The solver, and which of its points is the answer.
    pub fn settings(self) -> (Method, Returned) {
        let rda = Method::Rda { beta: 0.0 };
        match self {
            Self::RdaLast => (rda, Returned::Last),
            Self::Rda => (rda, Returned::Best),
            Self::Auto => (Method::Auto, Returned::Best),
        }
    }
}

/// What a way to converge took for each reference.
pub(super) struct Efforts {
    pub run: Run,
    pub all: Vec<Effort>,
}

/// Means over some references.
pub(super) struct Mean {
    pub references: usize,
    pub iterations: f64,
    pub calls: f64,
    /// The share that converged, in percent.
    pub converged: f64,
}

impl Efforts {
    /// Means over all references, or over those with an active rule.
    pub fn mean(&self, only_active: bool) -> Mean {
        let shown: Vec<&Effort> =
            self.all.iter().filter(|effort| effort.active || !only_active).collect();
        let mean = |of: fn(&Effort) -> f64| {
            shown.iter().map(|effort| of(effort)).sum::<f64>() / shown.len().max(1) as f64
        };
        Mean {
            references: shown.len(),
            iterations: mean(|effort| effort.iterations as f64),
            calls: mean(|effort| effort.calls as f64),
            converged: mean(|effort| 100.0 * f64::from(u8::from(effort.converged))),
        }
    }
}

/// What inference takes for every reference.
pub(super) fn efforts(tagger: &Tagger, predictions: &[Prediction], run: Run) -> Vec<Effort> {
    let compiled = tagger.compiled();
    let rules = compiled.rules.clone();
    let memory = || {
        let none = vec![0.0; rules.soft.len()];
        (Inference::new(tagger.wide().clone(), rules.clone(), none), Vec::new())
    };
    let measure = |(inference, wide): &mut (Inference, Vec<f64>), one: &Prediction| {
        compiled.space.widen(&one.scores, wide);
        let weights = tagger.weights_at(&one.features);
        inference.set_weights(weights.clone());
        let weighted = Weighted { rules: &rules, weights: &weights };
        let mut effort = by_gap(inference, weighted, wide, run)?;
        if run == Run::RdaByMovement {
            let moved = by_movement(inference.chain(), weighted, wide);
            effort.iterations = moved.unwrap_or(CAP);
            effort.calls = effort.iterations + 1;
            effort.converged = moved.is_some();
        }
        Some(effort)
    };
    let of_one = |memory: &mut _, one: &Prediction| measure(memory, one);
    let efforts: Vec<Option<Effort>> = predictions.par_iter().map_init(memory, of_one).collect();
    efforts.into_iter().flatten().collect()
}

/// What soft dual decomposition takes for every reference: decodings, and whether labels are proven
/// best.
pub(super) fn decodings(tagger: &Tagger, predictions: &[Prediction]) -> Vec<Effort> {
    let compiled = tagger.compiled();
    let rules = &compiled.rules;
    let memory = || {
        let none = vec![0.0; rules.soft.len()];
        let inference = Inference::new(tagger.wide().clone(), rules.clone(), none);
        (inference, SoftDual::new(rules), Vec::new())
    };
    let measure = |(inference, dual, wide): &mut (Inference, SoftDual, Vec<f64>),
                   one: &Prediction| {
        compiled.space.widen(&one.scores, wide);
        inference.load(wide);
        let Decoded { decodings: calls, proved: converged, .. } =
            dual.decode(inference.chain(), &tagger.weights_at(&one.features));
        Effort { iterations: calls, calls, converged, active: calls > 1 }
    };
    predictions.par_iter().map_init(memory, measure).collect()
}

/// Rules with their weights for one reference.
#[derive(Clone, Copy)]
struct Weighted<'a> {
    rules: &'a CountRules,
    weights: &'a [f64],
}

/// Runs a solver until the gap is small; nothing where the scores forbid every assignment.
fn by_gap(
    inference: &mut Inference,
    Weighted { rules, weights }: Weighted,
    scores: &[f64],
    run: Run,
) -> Option<Effort> {
    // The tolerance is relative to the objective, which the first run finds.
    let exact = Settings { tolerance: 1e-8, max_iterations: 1000, ..Settings::default() };
    let exact = inference.run(scores, &exact).expect(SERVED)?;
    let pulls = rules
        .soft
        .iter()
        .zip(weights)
        .map(|(rule, weight)| -weight * rules.penalty.derivative(rule.measure(&exact.counts)));
    let active = pulls.fold(0.0, f64::max) >= PULL;
    let method = if run == Run::Auto { Method::Auto } else { Method::Rda { beta: 0.0 } };
    let tolerance = GAP / exact.objective.abs().max(1.0);
    let limits =
        Settings { method, tolerance, polish: false, max_iterations: CAP, ..Settings::default() };
    let found = inference.run(scores, &limits).expect(SERVED)?;
    let within = run != Run::Auto || found.oracle_calls <= CAP;
    let converged = within && found.gap.is_some_and(|gap| gap <= GAP * (1.0 + 1e-6));
    Some(Effort { iterations: found.iterations, calls: found.oracle_calls, converged, active })
}

/// Algorithm 1 as printed, with the gradient at the marginals before: `δ_t = −mean gradient`. The
/// iterations until no node marginal moves by more than [`MOVEMENT`]; nothing if that is not within
/// [`CAP`].
fn by_movement(chain: &mut Chain, weighted: Weighted, scores: &[f64]) -> Option<usize> {
    let states = weighted.rules.states;
    let mut support = Support::new();
    support.add((0..scores.len() / states).collect(), states);
    chain.load(scores, support).expect("scores are numbers or -∞");
    let (mut tilt, mut sum, mut counts) = (vec![0.0; states], vec![0.0; states], vec![0.0; states]);
    let [mut before, mut after] = [vec![0.0; scores.len()], vec![0.0; scores.len()]];
    marginals(chain, &tilt, &mut counts, &mut before);
    for iteration in 1..=CAP {
        weighted.add_gradient(&counts, &mut sum);
        for (tilt, sum) in tilt.iter_mut().zip(&sum) {
            *tilt = -sum / iteration as f64;
        }
        marginals(chain, &tilt, &mut counts, &mut after);
        let moved = before.iter().zip(&after).map(|(a, b)| (a - b).abs()).fold(0.0, f64::max);
        if moved <= MOVEMENT {
            return Some(iteration);
        }
        std::mem::swap(&mut before, &mut after);
    }
    None
}

/// Counts and node marginals at a tilt.
fn marginals(chain: &mut Chain, tilt: &[f64], counts: &mut [f64], nodes: &mut [f64]) {
    chain.tilted(tilt, counts);
    let states = counts.len();
    chain.visit_marginals(Tables::Nodes, &mut |t, marginal| {
        nodes[t * states..][..states].copy_from_slice(marginal);
    });
}

impl Weighted<'_> {
    /// `Σ_j ψ_j φ′(z_j) a_j`
    fn add_gradient(self, counts: &[f64], sum: &mut [f64]) {
        let penalty: Penalty = self.rules.penalty;
        for (rule, weight) in self.rules.soft.iter().zip(self.weights) {
            let slope = weight * penalty.derivative(rule.measure(counts));
            for &(state, coefficient) in &rule.coefficients {
                sum[state] += slope * coefficient;
            }
        }
    }
}
