use std::collections::BTreeMap;
use std::sync::Arc;

use bethe_learn::attributes::Attributes;
use bethe_learn::crf::{AttributeStates, Crf, Structure, Transitions};
use bethe_learn::dictionary::Dictionary;
use thiserror::Error;

use super::features::{Extractor, Lexicons};
use super::input::Input;
use super::labels::{LabelError, Scheme, States};
use super::model::{Parts, Tagger, Training, WeightFeatures};
use super::rules::{Rule, RuleError, RulePenalty, Weight};
use super::tag::decode::Decoding;

/// Why labels and rules are not a tagger.
#[derive(Debug, Error)]
pub enum ScoredError {
    /// Invalid labels.
    #[error(transparent)]
    Labels(#[from] LabelError),
    /// Rules that are wrong.
    #[error(transparent)]
    Rules(#[from] RuleError),
    /// A table of the wrong size, or with entries that are not log-potentials.
    #[error("found {found} transition scores, expected {expected} (-∞ forbids a transition)")]
    Transitions {
        /// How many finite ones or `-∞` there are.
        found: usize,
        /// Labels squared.
        expected: usize,
    },
    /// A rule whose weight would have to be learned.
    #[error(
        "rule {rule} has no weight, expected a given weight or a hard rule: nothing is learned here"
    )]
    NoWeight {
        /// The rule, from 0.
        rule: usize,
    },
}

/// The states of a list of labels; an inside label comes with a sequence in which it is valid.
pub fn states_of(scheme: Scheme, labels: &[&str]) -> Result<States, LabelError> {
    let name = |label: &str| label.split_once('-').map(|(_, name)| name.to_string());
    let sequences: Vec<Vec<String>> = labels
        .iter()
        .map(|&label| match (scheme, label.split_once('-').map(|(role, _)| role), name(label)) {
            (Scheme::Bio, Some("I"), Some(name)) => vec![format!("B-{name}"), label.to_string()],
            (Scheme::Iobes | Scheme::Bilou, Some("B" | "E" | "L"), Some(name)) => {
                vec![format!("B-{name}"), format!("E-{name}")]
            }
            (Scheme::Iobes | Scheme::Bilou, Some("I"), Some(name)) => {
                vec![format!("B-{name}"), label.to_string(), format!("E-{name}")]
            }
            _ => vec![label.to_string()],
        })
        .collect();
    States::learn(
        scheme,
        sequences.iter().map(|labels| labels.iter().map(String::as_str).collect::<Vec<_>>()),
    )
}

impl Tagger {
    /// A tagger for your own scores, for example from a neural network: labels in the order of the
    /// scores' columns, transition scores (`[labels][labels]`, or empty for none), and rules that
    /// are hard or have given weights.
    /// [`Tagging::tag_scores`](super::Tagging::tag_scores) tags.
    pub fn of_scores(
        states: States,
        labels: &[&str],
        transitions: &[f64],
        rules: Vec<Rule>,
    ) -> Result<Self, ScoredError> {
        let expected = labels.len() * labels.len();
        let valid =
            transitions.iter().filter(|t| t.is_finite() || **t == f64::NEG_INFINITY).count();
        if !transitions.is_empty() && (transitions.len() != expected || valid != expected) {
            return Err(ScoredError::Transitions { found: valid, expected });
        }
        let count = states.len();
        let column = |state: usize| labels.iter().position(|label| *label == states.label(state));
        let columns: Vec<Option<usize>> = (0..count).map(column).collect();
        let score = |from: usize, to: usize| match (columns[from], columns[to]) {
            _ if transitions.is_empty() => 0.0,
            (Some(from), Some(to)) => transitions[from * labels.len() + to],
            _ => 0.0,
        };
        let cells = || (0..count * count).map(|cell| (cell / count, cell % count));
        let allowed = |from, to| states.may_follow(from, to) && score(from, to) > f64::NEG_INFINITY;
        let forbidden: Vec<bool> = cells().map(|(from, to)| !allowed(from, to)).collect();
        let open: Vec<(usize, usize)> = cells().filter(|&(from, to)| allowed(from, to)).collect();
        let weighted = open.iter().map(|&(from, to)| (from as u16, to as u16)).collect();
        let (none, transitions) = (AttributeStates::default(), Transitions { forbidden, weighted });
        let structure = Structure::new(count, none, transitions, states.borders())
            .expect("transitions between states");
        let weights = open.iter().map(|&(from, to)| score(from, to)).collect();
        let mut rule_weights = Vec::new();
        for (at, rule) in rules.iter().enumerate() {
            match rule.weight {
                Weight::Given(weight) => rule_weights.push(weight),
                Weight::Hard => (),
                Weight::Learned => return Err(ScoredError::NoWeight { rule: at }),
            }
        }
        let template = "B".parse().expect("transitions alone");
        let kinds = states.kinds().len();
        Ok(Self::new(Parts {
            input: Input::Scores,
            score_labels: labels.iter().map(|label| label.to_string()).collect(),
            extractor: Extractor::new(template, Lexicons::default()),
            attributes: Attributes::Named(Dictionary::default()),
            states,
            crf: Crf { structure: Arc::new(structure), weights },
            rules,
            rule_groups: Vec::new(),
            // Without data, M is 1: an implication reads "with at least one".
            most_segments: vec![1; kinds],
            rule_weights,
            weight_features: WeightFeatures::Constant,
            penalty: RulePenalty::default(),
            decoding: Decoding::default(),
            training: Training::default(),
            annotations: BTreeMap::new(),
        })?)
    }
}
