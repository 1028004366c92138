//! Rules: where they come from, and their weights.

use std::sync::Arc;

use bethe_core::solve::SolveError;
use bethe_learn::crf::Crf;
use bethe_learn::energy::{
    CountRules, Examples, Learner, LearnerSettings, Sample, Start, learn as learn_weights,
};

use super::super::labels::States;
use super::super::model::RuleTraining;
use super::super::rules::{Candidates, Compiled, Rule, Weight, most_segments};
use super::super::tag::decode::Decoding;
use super::checkpoint::Checkpoint;
use super::held_out::{HeldOut, path};
use super::joint::Together;
use super::prepared::Prepared;
use super::settings::{RuleSettings, TrainSettings};
use super::{Event, TrainError};

/// A smaller learned weight has no visible effect.
const NEGLIGIBLE: f64 = 1e-3;

/// Rules with their weights, and the base model if it was trained with them.
#[derive(Clone, Debug, Default)]
pub struct LearnedRules {
    /// Those with a weight.
    pub rules: Vec<Rule>,
    /// Weights of those that are not hard. `[rules][features]`
    pub weights: Vec<f64>,
    /// The greatest number of segments of each kind in a training sequence.
    pub(super) most: Vec<u32>,
    pub(super) crf: Option<Crf>,
    /// How labels are chosen under them, as held-out predictions suggest.
    pub decoding: Decoding,
    /// How they were learned.
    pub training: Option<RuleTraining>,
    pub(super) settings: Option<RuleSettings>,
}

/// Learns the weights of rules without a given one.
pub(super) struct LearningStage<'a> {
    pub(super) prepared: &'a Prepared,
    pub(super) crf: &'a Crf,
    pub(super) held_out: &'a HeldOut,
    pub(super) settings: &'a TrainSettings,
    pub(super) checkpoint: &'a Checkpoint,
}

impl LearningStage<'_> {
    pub(super) fn run(
        &self,
        candidates: Candidates,
        observe: &mut dyn FnMut(Event),
    ) -> Result<LearnedRules, TrainError> {
        let states = &self.prepared.states;
        let data = &self.prepared.data;
        let most = most_segments(states, (0..data.len()).map(|sequence| path(data, sequence)));
        let compiled = Compiled::new(&candidates.rules, states, &most)?;
        if candidates.rules.iter().any(|rule| rule.weight == Weight::Learned) {
            self.learn(candidates, compiled, most, observe)
        } else {
            Ok(self.given(candidates, &compiled, most))
        }
    }

    /// Rules that all have a weight.
    fn given(
        &self,
        Candidates { rules, considered }: Candidates,
        compiled: &Compiled,
        most: Vec<u32>,
    ) -> LearnedRules {
        let settings = self.settings.rules;
        let training = RuleTraining {
            generated: considered,
            pruned: rules.len(),
            kept: rules.len(),
            learner: "none: all weights are given".to_string(),
            ..RuleTraining::default()
        };
        LearnedRules {
            rules,
            weights: given(compiled, settings.features.len()),
            most,
            crf: None,
            decoding: settings.decoding.unwrap_or_default(),
            training: Some(training),
            settings: Some(settings),
        }
    }

    fn learn(
        &self,
        Candidates { rules, considered }: Candidates,
        compiled: Compiled,
        most: Vec<u32>,
        observe: &mut dyn FnMut(Event),
    ) -> Result<LearnedRules, TrainError> {
        let Self { prepared, crf, held_out, settings, checkpoint } = *self;
        let RuleSettings { features, learner, penalty, joint, .. } = settings.rules;
        let (pruned, sequences) = (rules.len(), held_out.predictions.len());
        observe(Event::Rules { generated: considered, pruned, sequences });
        let compiled = compiled.with_penalty(penalty);
        let learning = Learning::new(&prepared.states, compiled, held_out, settings);
        let (l1, held_out_f1) = match settings.rules.l1 {
            Some(l1) => (Some(l1), None),
            None => {
                let (l1, f1) = learning.choose_penalty(checkpoint, observe)?;
                (l1, Some(f1))
            }
        };
        checkpoint.go_on()?;
        let all: Vec<usize> = (0..learning.examples.sequences.len()).collect();
        let start = learning.start();
        let mut weights = match l1 {
            Some(l1) => learning.fit(&all, l1, &start, &mut |pass, loss| {
                observe(Event::Pass { pass, loss });
            })?,
            None => start.parameters.clone(),
        };
        let mut together = None;
        if joint && weights.iter().any(|weight| *weight != 0.0) {
            let (learning, rule_weights, l1) = (&learning, &weights[..], l1.unwrap_or(0.0));
            let trained = Together { prepared, crf, learning, rule_weights, l1 }
                .train(checkpoint, observe)?;
            weights = trained.rule_weights;
            together = Some(trained.crf);
        }
        let decoding = match settings.rules.decoding {
            Some(told) => told,
            None => learning.choose_decoding(&all, &weights, observe)?,
        };
        let (rules, weights) = drop_idle(rules, weights, features.len());
        let training = RuleTraining {
            generated: considered,
            pruned,
            kept: rules.len(),
            sequences,
            learner: learner_name(learner).to_string(),
            l1,
            held_out_f1,
        };
        let (crf, training, settings) = (together, Some(training), Some(settings.rules));
        Ok(LearnedRules { rules, weights, most, crf, decoding, training, settings })
    }
}

/// The name of the learner on the command line.
fn learner_name(learner: Learner) -> &'static str {
    match learner {
        Learner::Surrogate => "surrogate",
        Learner::SurrogateBatch => "surrogate-batch",
        Learner::FenchelYoung => "fenchel-young",
    }
}

/// Whether the learner works with the penalty. The gradient of the Fenchel–Young loss uses only
/// values of the penalty; those of the surrogates use its slope at the answer, which may be a kink.
pub(super) fn check(settings: &RuleSettings) -> Result<(), TrainError> {
    let RuleSettings { learner, penalty, .. } = *settings;
    if penalty.is_smooth() || learner == Learner::FenchelYoung {
        return Ok(());
    }
    let (penalty, learner) = (penalty.name(), learner_name(learner));
    Err(TrainError::KinkedPenalty { penalty, learner })
}

/// Weights of rules, of which some are given.
pub(super) struct Learning<'a> {
    pub(super) states: &'a States,
    pub(super) compiled: Compiled,
    /// The rules, and which of them have a weight to be learned.
    pub(super) rules: Arc<CountRules>,
    pub(super) examples: Examples,
    pub(super) held_out: &'a HeldOut,
    pub(super) settings: &'a TrainSettings,
}

impl<'a> Learning<'a> {
    fn new(
        states: &'a States,
        compiled: Compiled,
        held_out: &'a HeldOut,
        settings: &'a TrainSettings,
    ) -> Self {
        let examples = held_out.examples(&compiled.space);
        let rules = compiled.rules.clone();
        Self { states, compiled, rules, examples, held_out, settings }
    }

    /// The start of learning: given weights stay, the others are zero.
    pub(super) fn start(&self) -> Start {
        let features = self.examples.features();
        let fixed = self.compiled.given.iter().flat_map(|given| vec![given.is_some(); features]);
        Start { parameters: given(&self.compiled, features), fixed: fixed.collect() }
    }

    fn learner(&self, l1: f64) -> LearnerSettings {
        LearnerSettings {
            learner: self.settings.rules.learner,
            l1,
            passes: self.settings.rules.passes,
            seed: self.settings.seed,
            ..LearnerSettings::default()
        }
    }

    /// Learns weights from some of the sequences. `[rules][features]`
    pub(super) fn fit(
        &self,
        which: &[usize],
        l1: f64,
        start: &Start,
        observe: &mut dyn FnMut(usize, f64),
    ) -> Result<Vec<f64>, SolveError> {
        let mut pass = |pass, loss| {
            observe(pass, loss);
            true
        };
        let sample = Sample { examples: &self.examples, which };
        let learned = learn_weights(sample, &self.rules, start, &self.learner(l1), &mut pass)?;
        Ok(learned.parameters)
    }
}

/// Given weights, as constants; 0 for those to be learned. `[rules][features]`
fn given(compiled: &Compiled, features: usize) -> Vec<f64> {
    let own = |given: &Option<f64>| {
        let mut own = vec![0.0; features];
        own[0] = given.unwrap_or(0.0);
        own
    };
    compiled.given.iter().flat_map(own).collect()
}

/// Drops rules whose learned weight is zero.
fn drop_idle(rules: Vec<Rule>, weights: Vec<f64>, features: usize) -> (Vec<Rule>, Vec<f64>) {
    let mut own = weights.chunks(features);
    let (mut kept, mut kept_weights) = (Vec::new(), Vec::new());
    for rule in rules {
        if rule.weight == Weight::Hard {
            kept.push(rule);
            continue;
        }
        let own = own.next().expect("a weight for every soft rule");
        let idle = own.iter().all(|weight| weight.abs() < NEGLIGIBLE);
        if rule.weight == Weight::Learned && idle {
            continue;
        }
        kept.push(rule);
        kept_weights.extend_from_slice(own);
    }
    (kept, kept_weights)
}
