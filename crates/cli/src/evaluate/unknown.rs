//! Labels of a file that the model does not have.

use std::collections::BTreeMap;

use bethe_tagging::Tagger;
use bethe_tagging::data::Sequence;
use bethe_terminal::{counted, shown};

/// How many labels a message names.
const NAMED: usize = 5;
/// What is outside of all segments, in nearly all label sets.
const OUTSIDE: &str = "O";

/// Which true labels the model can give, and which it cannot.
#[derive(Default)]
pub struct UnknownLabels {
    /// Tokens with labels that the model has, except those outside of all segments.
    known: usize,
    /// Tokens of each other label.
    unknown: BTreeMap<String, usize>,
    /// The first of them: the label, the file and the line.
    first: Option<(String, String)>,
    tokens: usize,
}

impl UnknownLabels {
    /// Counts the labels of a sequence.
    pub fn add(&mut self, tagger: &Tagger, sequence: &Sequence, labels: &[&str]) {
        self.tokens += labels.len();
        for (t, &label) in labels.iter().enumerate() {
            if !tagger.states().matching(label).is_empty() {
                self.known += usize::from(label != OUTSIDE);
                continue;
            }
            *self.unknown.entry(label.to_string()).or_default() += 1;
            self.first.get_or_insert_with(|| {
                let place = format!("{}:{}", sequence.path().display(), sequence.line(t));
                (label.to_string(), place)
            });
        }
    }

    /// How many tokens each has.
    pub fn counts(&self) -> &BTreeMap<String, usize> {
        &self.unknown
    }

    /// A message if the model has none of the labels: a comparison would say nothing.
    pub fn refusal(&self, tagger: &Tagger) -> Option<String> {
        let (label, place) = self.first.as_ref().filter(|_| self.known == 0)?;
        let own = tagger.labels();
        let more = if own.len() > NAMED { ", …" } else { "" };
        let own: Vec<&str> = own.iter().take(NAMED).map(String::as_str).collect();
        Some(format!(
            "{place}: found the label {label:?}; the model has none of the labels of this file, \
             expected some of {}{more}. Is the file for another model, or is its label in another \
             column than in the training file?",
            own.join(", ")
        ))
    }

    /// A warning if the model lacks some of them.
    pub fn warning(&self) -> Option<String> {
        let (label, place) = self.first.as_ref()?;
        let tokens: usize = self.unknown.values().sum();
        Some(format!(
            "warning: {} of {} have {} that the model does not have and so never gives, first {} in \
             {place}",
            counted(tokens, "token"),
            self.tokens,
            counted(self.unknown.len(), "label"),
            shown(label)
        ))
    }
}
