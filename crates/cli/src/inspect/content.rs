//! What a model holds, as data.

use bethe_tagging::labels::{Role, States};
use bethe_tagging::rules::{Rule, RulePenalty, Weight};
use bethe_tagging::{Decoding, Input, Tagger, Training, WeightFeatures};
use serde::Serialize;

/// All that `bethe inspect` shows.
#[derive(Serialize)]
pub struct Content<'a> {
    pub scheme: &'static str,
    pub states: Vec<String>,
    pub input: &'a Input,
    pub score_labels: &'a [String],
    pub attributes: usize,
    pub weights: usize,
    pub template: String,
    pub lexicons: Vec<Lexicon<'a>>,
    pub training: &'a Training,
    pub weight_features: WeightFeatures,
    pub penalty: RulePenalty,
    pub decoding: Decoding,
    /// The heaviest first.
    #[serde(rename = "constraints")]
    pub rules: Vec<ShownRule>,
    /// The strongest of each state.
    pub strongest: Vec<Strongest<'a>>,
    /// The strongest from each state.
    pub transitions: Vec<Transition>,
}

#[derive(Serialize)]
pub struct Lexicon<'a> {
    pub name: &'a str,
    pub entries: usize,
}

#[derive(Serialize)]
pub struct ShownRule {
    /// In words.
    pub rule: String,
    /// For a typical sequence; nothing for hard rules.
    pub weight: Option<f64>,
    /// `learned`, `given` or `hard`.
    pub source: &'static str,
    /// A heavier rule that says the same, if there is one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub same_as: Option<String>,
}

#[derive(Serialize)]
pub struct Strongest<'a> {
    pub state: String,
    pub attributes: Vec<Weighted<'a>>,
}

#[derive(Serialize)]
pub struct Weighted<'a> {
    pub attribute: &'a str,
    pub weight: f64,
}

#[derive(Serialize)]
pub struct Transition {
    pub from: String,
    pub to: String,
    pub weight: f64,
}

impl<'a> Content<'a> {
    /// What this tagger holds, with the `top` strongest weights of each state.
    pub fn of(tagger: &'a Tagger, top: usize) -> Self {
        let parts = tagger.parts();
        let lists = parts.extractor.lexicons().lists();
        Self {
            scheme: parts.states.scheme().name(),
            states: (0..parts.states.len()).map(|state| name(&parts.states, state)).collect(),
            input: &parts.input,
            score_labels: &parts.score_labels,
            attributes: parts.attributes.len(),
            weights: parts.crf.structure.free_weights(),
            template: parts.extractor.template().to_string(),
            lexicons: lists.map(|(name, all)| Lexicon { name, entries: all.len() }).collect(),
            training: &parts.training,
            weight_features: parts.weight_features,
            penalty: parts.penalty,
            decoding: parts.decoding,
            rules: rules(tagger),
            strongest: strongest(tagger, top),
            transitions: transitions(tagger, top),
        }
    }
}

/// A state's label, with its roles if other states have the same label.
fn name(states: &States, state: usize) -> String {
    let label = states.label(state);
    if states.matching(label).len() <= 1 {
        return label.to_string();
    }
    let roles = (0..).map(|level| states.role(state, level)).take_while(|r| *r != Role::Outside);
    let roles: Vec<&str> = roles.map(Role::name).collect();
    format!("{label} ({})", roles.join(":"))
}

fn rules(tagger: &Tagger) -> Vec<ShownRule> {
    let words = |rule: &Rule| rule.in_words(tagger.states());
    let heavier: Vec<(&Rule, String)> = tagger
        .rule_groups()
        .into_iter()
        .flat_map(|group| {
            let first = words(group.rules[0].0);
            group.rules.into_iter().skip(1).map(move |(rule, _)| (rule, first.clone()))
        })
        .collect();
    let same = |rule: &Rule| heavier.iter().find(|(own, _)| std::ptr::eq(*own, rule));
    let shown = |(rule, weight): (&Rule, f64)| ShownRule {
        same_as: same(rule).map(|(_, first)| first.clone()),
        rule: rule.in_words(tagger.states()),
        weight: weight.is_finite().then_some(weight),
        source: match rule.weight {
            Weight::Learned => "learned",
            Weight::Given(_) => "given",
            Weight::Hard => "hard",
        },
    };
    tagger.rules().into_iter().map(shown).collect()
}

fn strongest(tagger: &Tagger, top: usize) -> Vec<Strongest<'_>> {
    let parts = tagger.parts();
    let rows = parts.crf.structure.rows();
    // [states]
    let mut all: Vec<Vec<(f64, usize)>> = vec![Vec::new(); parts.states.len()];
    for attribute in 0..rows.len() {
        for (state, at) in rows.attribute(attribute) {
            let own = &mut all[usize::from(state)];
            own.push((parts.crf.weights[at], attribute));
            // Drop all but the strongest from time to time.
            if own.len() > top.saturating_mul(2).saturating_add(1024) {
                keep(own, top);
            }
        }
    }
    let of_state = |(state, mut own): (usize, Vec<(f64, usize)>)| {
        keep(&mut own, top);
        // Hashed attributes have no names to show.
        let weighted = |(weight, attribute)| {
            Some(Weighted { attribute: parts.attributes.name(attribute)?, weight })
        };
        let attributes = own.into_iter().filter_map(weighted).collect();
        Strongest { state: name(&parts.states, state), attributes }
    };
    all.into_iter().enumerate().map(of_state).collect()
}

/// The greatest weights, the greatest first.
fn keep(weighted: &mut Vec<(f64, usize)>, top: usize) {
    weighted.sort_by(|a, b| b.0.total_cmp(&a.0).then(a.1.cmp(&b.1)));
    weighted.truncate(top);
}

fn transitions(tagger: &Tagger, top: usize) -> Vec<Transition> {
    let parts = tagger.parts();
    let states = parts.states.len();
    let weighted = &parts.crf.structure.transitions().weighted;
    let table = parts.crf.structure.transition_table(&parts.crf.weights);
    let mut all: Vec<Vec<(f64, usize)>> = vec![Vec::new(); states];
    for (from, to) in weighted.iter().map(|&(from, to)| (usize::from(from), usize::from(to))) {
        all[from].push((table[from * states + to], to));
    }
    let name = |state| name(&parts.states, state);
    let from = |(from, mut own): (usize, Vec<(f64, usize)>)| {
        keep(&mut own, top);
        own.into_iter().map(move |(weight, to)| Transition {
            from: name(from),
            to: name(to),
            weight,
        })
    };
    all.into_iter().enumerate().flat_map(from).collect()
}
