use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;

use bethe_core::oracle::ChainModel;
use bethe_learn::attributes::Attributes;
use bethe_learn::corpus::Observations;
use bethe_learn::crf::Crf;
use serde::{Deserialize, Serialize};

use super::features::Extractor;
use super::input::Input;
use super::labels::States;
use super::rule_training::RuleTraining;
use super::rules::{Compiled, Rule, RuleError, RulePenalty};
use super::tag::decode::Decoding;

/// A trained tagger: a conditional random field, and rules with weights on top of it.
///
/// Immutable, and cheap to clone: clones share all of it. Every thread that tags brings a
/// [`Tagging`](super::Tagging).
#[derive(Clone, Debug)]
pub struct Tagger {
    pub(super) parts: Arc<Parts>,
    pub(super) compiled: Arc<Compiled>,
    /// The chain of the field's states.
    pub(super) plain: Arc<ChainModel>,
    /// The chain that rules are inferred on: with the memory they need.
    pub(super) wide: Arc<ChainModel>,
    pub(super) labels: Arc<Labels>,
}

/// Labels as people know them: a state of the chain has one, and a label may have several states.
#[derive(Clone, Debug)]
pub(super) struct Labels {
    pub(super) names: Vec<String>,
    /// The label of each state; none where scores are given and its label has none. `[states]`
    pub(super) of_states: Vec<Option<usize>>,
}

impl Labels {
    /// The labels that scores are given for, else those of the states in their order.
    fn new(states: &States, score_labels: &[String]) -> Self {
        let mut names = score_labels.to_vec();
        let mut place: HashMap<String, usize> = HashMap::new();
        for (at, name) in names.iter().enumerate() {
            place.entry(name.clone()).or_insert(at);
        }
        for state in (0..states.len()).filter(|_| score_labels.is_empty()) {
            let label = states.label(state);
            if !place.contains_key(label) {
                place.insert(label.to_string(), names.len());
                names.push(label.to_string());
            }
        }
        let of_states = (0..states.len()).map(|state| place.get(states.label(state)).copied());
        Self { of_states: of_states.collect(), names }
    }
}

/// The parts of a tagger, as stored in its file.
#[derive(Clone, Debug)]
pub struct Parts {
    /// Where attributes and labels are found.
    pub input: Input,
    /// Labels of the columns of given scores, if the tagger reads scores.
    pub score_labels: Vec<String>,
    /// The template and the lexicons.
    pub extractor: Extractor,
    /// The attributes.
    pub attributes: Attributes,
    /// Labels.
    pub states: States,
    /// The base model.
    pub crf: Crf,
    /// The rules.
    pub rules: Vec<Rule>,
    /// Which of them say the same: the place of the first of its group for each; empty if unknown.
    pub rule_groups: Vec<usize>,
    /// The greatest number of segments of each kind in a training sequence; empty without rules.
    pub most_segments: Vec<u32>,
    /// Weights of those that are not hard, `[rules][weight features]`.
    pub rule_weights: Vec<f64>,
    /// The features that these depend on.
    pub weight_features: WeightFeatures,
    /// The cost of a broken rule, times its weight.
    pub penalty: RulePenalty,
    /// How labels are chosen under soft rules.
    pub decoding: Decoding,
    /// How it was trained.
    pub training: Training,
    /// What else the file states, by name, for programs that build on taggers: how text was split,
    /// where the data came from.
    pub annotations: BTreeMap<String, String>,
}

/// Rules that say the same of nearly all labels.
#[derive(Clone, Debug, PartialEq)]
pub struct RuleGroup<'a> {
    /// The place of the first among the tagger's rules.
    pub leader: usize,
    /// What they weigh together.
    pub weight: f64,
    /// The heaviest first.
    pub rules: Vec<(&'a Rule, f64)>,
}

/// How a tagger was trained; the same for the same data and settings.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Training {
    /// The version of the program.
    pub version: String,
    /// Training sequences.
    pub sequences: usize,
    /// Training tokens.
    pub tokens: usize,
    /// How the base model was trained.
    pub base: String,
    /// Its loss at the end.
    pub loss: f64,
    /// Iterations.
    pub iterations: usize,
    /// F1 on the development data, if there were any.
    pub dev_f1: Option<f64>,
    /// How the rules were learned.
    pub rules: Option<RuleTraining>,
}

/// Features that the weights of rules depend on.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", tag = "kind")]
pub enum WeightFeatures {
    /// Nothing: each rule has one weight.
    #[default]
    Constant,
    /// How long the sequence is.
    Length,
    /// The mean over positions of random Fourier features of their attributes.
    Fourier {
        /// How many.
        count: usize,
        /// Seed of the random directions.
        seed: u64,
    },
}

impl WeightFeatures {
    /// The most random features of a sequence; more would take too long.
    pub const MOST: usize = 100_000;

    /// Number of features.
    pub fn len(self) -> usize {
        match self {
            Self::Constant => 1,
            Self::Length => 2,
            Self::Fourier { count, .. } => 1 + count,
        }
    }

    /// Whether there is none, which cannot be.
    pub fn is_empty(self) -> bool {
        false
    }

    /// The features of a sequence: a constant 1 first.
    pub fn of(self, observations: Observations) -> Vec<f64> {
        let length = observations.len().max(1) as f64;
        match self {
            Self::Constant => vec![1.0],
            // Around 0 for sequences of about 20 positions.
            Self::Length => vec![1.0, length.ln() - 3.0],
            Self::Fourier { count, seed } => {
                let mut features = vec![0.0; 1 + count];
                features[0] = 1.0;
                for (d, feature) in features.iter_mut().enumerate().skip(1) {
                    let shift = std::f64::consts::TAU * uniform(seed, u64::MAX, d as u64);
                    let wave = |t: usize| {
                        let along = observations.attributes(t).iter();
                        let along = along.map(|&a| normal(seed, u64::from(a), d as u64));
                        (along.sum::<f64>() + shift).cos()
                    };
                    *feature = (0..observations.len()).map(wave).sum::<f64>() / length;
                }
                features
            }
        }
    }
}

/// A pseudo-random number between 0 and 1, from three numbers.
fn uniform(seed: u64, a: u64, b: u64) -> f64 {
    let mut state = seed ^ a.wrapping_mul(0x9e37_79b9_7f4a_7c15) ^ b.rotate_left(32);
    for _ in 0..3 {
        state = (state ^ (state >> 29)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        state ^= state >> 32;
    }
    (state >> 11) as f64 / (1u64 << 53) as f64
}

/// Typical number of attributes per position; directions are scaled so that waves differ between
/// positions.
const TYPICAL_ATTRIBUTES: f64 = 30.0;

/// A pseudo-random normal number, from three numbers.
fn normal(seed: u64, a: u64, b: u64) -> f64 {
    let radius = (-2.0 * uniform(seed, a, b).max(f64::MIN_POSITIVE).ln()).sqrt();
    let angle = std::f64::consts::TAU * uniform(seed ^ 0x5bd1_e995, a, b);
    radius * angle.cos() / TYPICAL_ATTRIBUTES.sqrt()
}

impl Tagger {
    /// A tagger from its parts.
    pub fn new(parts: Parts) -> Result<Self, RuleError> {
        let none = vec![0; parts.states.kinds().len()];
        let most = if parts.rules.is_empty() { &none } else { &parts.most_segments };
        let compiled = Compiled::new(&parts.rules, &parts.states, most)?;
        let compiled = compiled.with_penalty(parts.penalty);
        let plain = parts.crf.chain_model();
        let wide = match compiled.space.is_plain() {
            true => plain.clone(),
            false => {
                let table = parts.crf.structure.transition_table(&parts.crf.weights);
                Arc::new(compiled.space.chain_model(&table))
            }
        };
        let labels = Labels::new(&parts.states, &parts.score_labels);
        let (parts, compiled, labels) = (parts.into(), compiled.into(), labels.into());
        Ok(Self { parts, compiled, plain, wide, labels })
    }

    /// Its parts.
    pub fn parts(&self) -> &Parts {
        &self.parts
    }

    /// Its labels, in the order of
    /// [`Tagged::label_marginals`](crate::Tagged::label_marginals): as scores of labels have them
    /// where these are given, else as the training data first have them.
    pub fn labels(&self) -> &[String] {
        &self.labels.names
    }

    /// The states behind its labels.
    pub fn states(&self) -> &States {
        &self.parts.states
    }

    /// The rules with their weights for a typical sequence (`∞` for hard ones), the heaviest first.
    pub fn rules(&self) -> Vec<(&Rule, f64)> {
        let Parts { rules, rule_weights, weight_features, .. } = &*self.parts;
        let mut weights = vec![f64::INFINITY; rules.len()];
        let constant = rule_weights.chunks(weight_features.len()).map(|own| own[0].max(0.0));
        for (&rule, weight) in self.compiled.soft.iter().zip(constant) {
            weights[rule] = weight;
        }
        let mut rules: Vec<(&Rule, f64)> = rules.iter().zip(weights).collect();
        rules.sort_by(|a, b| b.1.total_cmp(&a.1));
        rules
    }

    /// As [`rules`](Self::rules), those that say the same together; the heaviest groups first.
    pub fn rule_groups(&self) -> Vec<RuleGroup<'_>> {
        let mut groups: Vec<RuleGroup> = Vec::new();
        for (rule, weight) in self.rules() {
            let place = self.parts.rules.iter().position(|own| std::ptr::eq(own, rule));
            let leader = self.group_of(place.expect("a rule of its own"));
            match groups.iter_mut().find(|group| group.leader == leader) {
                Some(group) => {
                    group.weight += weight;
                    group.rules.push((rule, weight));
                }
                None => groups.push(RuleGroup { leader, weight, rules: vec![(rule, weight)] }),
            }
        }
        groups.sort_by(|a, b| b.weight.total_cmp(&a.weight));
        groups
    }

    /// The place of the first of the rules that say the same as one.
    pub fn group_of(&self, rule: usize) -> usize {
        self.parts.rule_groups.get(rule).copied().unwrap_or(rule)
    }

    /// The weights of soft rules for a sequence.
    pub(super) fn weights_for(&self, observations: Observations) -> Vec<f64> {
        self.weights_at(&self.parts.weight_features.of(observations))
    }

    /// The weights of soft rules for a sequence with these weight features.
    pub fn weights_at(&self, features: &[f64]) -> Vec<f64> {
        let own = self.parts.rule_weights.chunks(features.len());
        let dot = |own: &[f64]| own.iter().zip(features).map(|(v, f)| v * f).sum::<f64>();
        own.map(|own| dot(own).max(0.0)).collect()
    }

    /// Its rules in the form for inference.
    pub fn compiled(&self) -> &Compiled {
        &self.compiled
    }

    /// The chain that rules are inferred on.
    pub fn wide(&self) -> &Arc<ChainModel> {
        &self.wide
    }
}
