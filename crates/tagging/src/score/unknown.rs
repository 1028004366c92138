use std::collections::BTreeMap;

use bethe_io::shown;
use thiserror::Error;

use crate::labels::{States, canonical};

/// So many labels are named in a message.
const NAMED: usize = 5;
/// What is outside of all segments, in nearly all label sets.
const OUTSIDE: &str = "O";

/// Which true labels a model can give, and which it cannot.
#[derive(Clone, Debug, Default)]
pub struct UnknownLabels {
    /// Tokens with labels that the model has, but for those outside of all segments.
    known: usize,
    /// Tokens of each other label.
    unknown: BTreeMap<String, usize>,
    /// The first of them: the label, and where it is.
    first: Option<(String, String)>,
    tokens: usize,
}

/// True labels of which a model has none: a comparison would say nothing.
#[derive(Clone, Debug, Error, PartialEq, Eq)]
#[error(
    "{place}: found the label {label:?}; the model has none of the labels there, expected some of {}. \
     Is this the data of another model, or the label in another column than in the training data?",
    listed(expected)
)]
pub struct OtherLabels {
    /// Where the first of them is.
    pub place: String,
    /// The first of them.
    pub label: String,
    /// The labels of the model.
    pub expected: Vec<String>,
}

impl UnknownLabels {
    /// Counts the labels of a sequence; `place` says where a token is.
    pub fn add(&mut self, states: &States, labels: &[&str], place: impl Fn(usize) -> String) {
        self.tokens += labels.len();
        let canonical = canonical(states.scheme(), labels);
        for (t, (&label, token)) in labels.iter().zip(canonical).enumerate() {
            // An equivalent label is right, see `Score`.
            if [label, &token.label].iter().any(|label| !states.matching(label).is_empty()) {
                self.known += usize::from(label != OUTSIDE);
                continue;
            }
            *self.unknown.entry(label.to_string()).or_default() += 1;
            self.first.get_or_insert_with(|| (label.to_string(), place(t)));
        }
    }

    /// How many tokens each has.
    pub fn counts(&self) -> &BTreeMap<String, usize> {
        &self.unknown
    }

    /// An error if the model has none of the labels; `own` are the model's.
    pub fn check(&self, own: &[String]) -> Result<(), OtherLabels> {
        match self.first.clone().filter(|_| self.known == 0) {
            Some((label, place)) => Err(OtherLabels { place, label, expected: own.to_vec() }),
            None => Ok(()),
        }
    }

    /// What to warn of if the model lacks some of them.
    pub fn warning(&self) -> Option<String> {
        let (label, place) = self.first.as_ref()?;
        Some(format!(
            "{} of {} have {} that the model does not know and can never predict, first {} in {place}",
            counted(self.unknown.values().sum(), "token"),
            self.tokens,
            counted(self.unknown.len(), "label"),
            shown(label)
        ))
    }
}

fn counted(count: usize, what: &str) -> String {
    if count == 1 { format!("1 {what}") } else { format!("{count} {what}s") }
}

fn listed(labels: &[String]) -> String {
    let more = if labels.len() > NAMED { ", …" } else { "" };
    labels[..labels.len().min(NAMED)].join(", ") + more
}
