//! Rules: where they come from, and their weights.

use std::sync::Arc;

use bethe_core::Settings;
use bethe_core::solve::SolveError;
use bethe_learn::crf::Crf;
use bethe_learn::energy::{
    CountRules, Examples, Inference, Learner, LearnerSettings, Sample, Start,
    learn as learn_weights,
};

use super::super::labels::States;
use super::super::rule_training::{NoRules, RuleTraining};
use super::super::rules::{Candidates, Compiled, Rule, RulePenalty, Weight, alike, most_segments};
use super::super::tag::decode::Decoding;
use super::checkpoint::Checkpoint;
use super::choice::{Average, Choice, Chosen, Proposal, fit};
use super::held_out::{HeldOut, Prediction, path};
use super::joint::Together;
use super::prepared::Prepared;
use super::settings::{RuleSettings, TrainSettings};
use super::{Event, TrainError};

/// Most passes of learning that only tells penalties apart.
const ROUGH: usize = 15;
/// A smaller learned weight has no visible effect.
const NEGLIGIBLE: f64 = 1e-3;

/// Rules with their weights, and the base model if it was trained with them.
#[derive(Clone, Debug, Default)]
pub struct LearnedRules {
    /// Those with a weight.
    pub rules: Vec<Rule>,
    /// Which of them say the same, see [`alike`].
    pub groups: Vec<usize>,
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
        proposal: &Proposal,
        observe: &mut dyn FnMut(Event),
    ) -> Result<LearnedRules, TrainError> {
        match proposal {
            Proposal::Fixed(candidates) if !candidates.rules.iter().any(is_learned) => {
                self.given(candidates)
            }
            _ => self.learn(proposal, observe),
        }
    }

    /// Rules that all have a weight.
    fn given(&self, candidates: &Candidates) -> Result<LearnedRules, TrainError> {
        let settings = self.settings.rules;
        let rules = candidates.rules.clone();
        let compiled = Compiled::new(&rules, &self.prepared.states, &self.most())?;
        let training = RuleTraining {
            generated: candidates.considered,
            pruned: rules.len(),
            kept: rules.len(),
            learner: "none: all weights are given".to_string(),
            ..RuleTraining::default()
        };
        Ok(LearnedRules {
            rules,
            groups: Vec::new(),
            weights: given(&compiled, settings.features.len()),
            most: self.most(),
            crf: None,
            decoding: settings.decoding.unwrap_or_default(),
            training: Some(training),
            settings: Some(settings),
        })
    }

    /// The greatest number of segments of each kind.
    fn most(&self) -> Vec<u32> {
        let Prepared { states, data, .. } = self.prepared;
        most_segments(states, (0..data.len()).map(|sequence| path(data, sequence)))
    }

    /// Weights of some rules, to be learned from examples.
    pub(super) fn learning<'a>(
        &'a self,
        rules: &[Rule],
        examples: &'a Examples,
        care: Care,
    ) -> Result<Learning<'a>, TrainError> {
        let states = &self.prepared.states;
        let compiled = Compiled::new(rules, states, &self.most())?;
        let compiled = compiled.with_penalty(self.settings.rules.penalty);
        let rules = compiled.rules.clone();
        Ok(Learning { states, compiled, rules, examples, settings: self.settings, care })
    }

    fn learn(
        &self,
        proposal: &Proposal,
        observe: &mut dyn FnMut(Event),
    ) -> Result<LearnedRules, TrainError> {
        let Self { prepared, held_out, settings, checkpoint, .. } = *self;
        let known: Vec<&Prediction> = held_out.known().collect();
        let Candidates { rules, considered } = proposal.rules(&prepared.states, &known);
        let (pruned, sequences) = (rules.len(), known.len());
        observe(Event::Rules { generated: considered, pruned, sequences });
        let mut training = RuleTraining {
            generated: considered,
            pruned,
            sequences,
            learner: learner_name(settings.rules.learner).to_string(),
            ..RuleTraining::default()
        };
        if rules.is_empty() {
            training.refused = Some(NoRules::NoneBroken);
            return Ok(LearnedRules { training: Some(training), ..LearnedRules::default() });
        }
        let space = Compiled::new(&rules, &prepared.states, &self.most())?.space;
        let mut examples = held_out.examples(&space);
        examples.infer_bases();
        let learning = self.learning(&rules, &examples, Care::Thorough)?;
        let RuleSettings { l1, decoding, .. } = settings.rules;
        let chosen = match (l1, decoding) {
            (Some(l1), Some(decoding)) => Chosen { l1: Ok(l1), decoding, gain: None, about: None },
            _ => Choice::new(self, proposal, &examples, &known)?.run(observe)?,
        };
        checkpoint.go_on()?;
        training.held_out = chosen.gain;
        training.l1 = chosen.l1.ok();
        training.refused = chosen.l1.err();
        let penalty = training.l1.map(|l1| (l1, chosen.about.as_ref()));
        let (weights, crf) = self.weights(&learning, &rules, penalty, observe)?;
        let (rules, weights) = drop_idle(rules, weights, settings.rules.features.len());
        let groups = alike(&rules, &prepared.states, known.iter().map(|one| &one.predicted));
        training.kept = rules.len();
        let (training, settings, most) = (Some(training), Some(settings.rules), self.most());
        let decoding = chosen.decoding;
        Ok(LearnedRules { rules, groups, weights, most, crf, decoding, training, settings })
    }

    /// The weights of all sequences under a penalty, given ones alone without; and the base model, if
    /// it is trained together with them.
    fn weights(
        &self,
        learning: &Learning,
        rules: &[Rule],
        penalty: Option<(f64, Option<&Average>)>,
        observe: &mut dyn FnMut(Event),
    ) -> Result<(Vec<f64>, Option<Crf>), TrainError> {
        let Self { prepared, crf, settings, checkpoint, .. } = *self;
        let Some((l1, about)) = penalty else { return Ok((learning.start().parameters, None)) };
        let weights = fit(learning, rules, (l1, about), observe)?;
        if !settings.rules.joint || weights.iter().all(|weight| *weight == 0.0) {
            return Ok((weights, None));
        }
        let together = Together { prepared, crf, learning, rule_weights: &weights, l1 };
        let trained = together.train(checkpoint, observe)?;
        Ok((trained.rule_weights, Some(trained.crf)))
    }
}

impl LearnedRules {
    /// None, and why.
    pub(super) fn refused(why: NoRules) -> Self {
        let training = RuleTraining { refused: Some(why), ..RuleTraining::default() };
        Self { training: Some(training), ..Self::default() }
    }
}

fn is_learned(rule: &Rule) -> bool {
    rule.weight == Weight::Learned
}

/// The name of the learner on the command line.
fn learner_name(learner: Learner) -> &'static str {
    match learner {
        Learner::Surrogate => "surrogate",
        Learner::SurrogateBatch => "surrogate-batch",
        Learner::FenchelYoung => "fenchel-young",
        Learner::Perceptron => "perceptron",
    }
}

/// Whether the learner works with the penalty. The gradient of the Fenchel–Young loss uses only
/// values of the penalty; those of the surrogates use its slope at the answer, which may be a kink.
/// Soft dual decomposition is about costs that are linear in the violation.
pub(super) fn check(settings: &RuleSettings) -> Result<(), TrainError> {
    let RuleSettings { learner, penalty, decoding, joint, .. } = *settings;
    let by_slopes = matches!(learner, Learner::Surrogate | Learner::SurrogateBatch);
    let (name, found) = (learner_name(learner), penalty.name());
    if by_slopes && !penalty.is_smooth() {
        return Err(TrainError::KinkedPenalty { penalty: found, learner: name });
    }
    if penalty != RulePenalty::Hinge {
        if learner == Learner::Perceptron {
            return Err(TrainError::NotTheHinge { what: "the learner perceptron", found });
        }
        if decoding == Some(Decoding::SoftDual) {
            return Err(TrainError::NotTheHinge { what: "the decoding soft-dd", found });
        }
    }
    match joint && learner == Learner::Perceptron {
        true => Err(TrainError::NotTogether { learner: name }),
        false => Ok(()),
    }
}

/// Weights of rules, of which some are given.
pub(super) struct Learning<'a> {
    pub(super) states: &'a States,
    pub(super) compiled: Compiled,
    /// The rules, and which of them have a weight to be learned.
    pub(super) rules: Arc<CountRules>,
    pub(super) examples: &'a Examples,
    pub(super) settings: &'a TrainSettings,
    pub(super) care: Care,
}

/// How exactly weights are learned.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Care {
    /// Enough to tell penalties apart.
    Rough,
    /// To the optimum.
    Thorough,
}

impl Learning<'_> {
    /// The start of learning: given weights stay, the others are zero.
    pub(super) fn start(&self) -> Start {
        let features = self.examples.features();
        let fixed = self.compiled.given.iter().flat_map(|given| vec![given.is_some(); features]);
        Start { parameters: given(&self.compiled, features), fixed: fixed.collect() }
    }

    /// Whether weights do not depend on where learning starts.
    pub(super) fn is_convex(&self) -> bool {
        self.settings.rules.learner == Learner::FenchelYoung
    }

    pub(super) fn learner(&self, l1: f64) -> LearnerSettings {
        let default = LearnerSettings::default();
        let passes = self.settings.rules.passes;
        let (least_decrease, inference, passes) = match self.care {
            Care::Rough => (10.0 * default.least_decrease, rough_inference(), passes.min(ROUGH)),
            Care::Thorough => (default.least_decrease, default.inference, passes),
        };
        LearnerSettings {
            learner: self.settings.rules.learner,
            least_decrease,
            inference,
            l1,
            passes,
            batch: self.settings.rules.batch,
            seed: self.settings.seed,
            ..default
        }
    }

    /// Learns weights from some of the sequences. `[rules][features]` The penalty is that of all: of
    /// a part of them it is as much less as their loss is.
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
        let share = which.len() as f64 / self.examples.sequences.len().max(1) as f64;
        let sample = Sample { examples: self.examples, which };
        let learner = self.learner(share * l1);
        let learned = learn_weights(sample, &self.rules, start, &learner, &mut pass)?;
        Ok(learned.parameters)
    }
}

/// Inference that is exact enough to tell penalties apart.
pub(super) fn rough_inference() -> Settings {
    let default = Inference::default_settings();
    Settings { tolerance: 10.0 * default.tolerance, max_iterations: 40, ..default }
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
