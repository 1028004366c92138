//! Attributes and labels as numbers, in order of appearance.

use std::borrow::Cow;
use std::sync::Arc;

use bethe_learn::corpus::Corpus;
use bethe_learn::dictionary::Dictionary;
use rustc_hash::FxHashSet;

use super::super::data::Sequence;
use super::super::features::{Extractor, Workspace};
use super::super::input::{Input, in_range};
use super::TrainError;

/// Numbers of attributes and labels, assigned as they appear.
#[derive(Default)]
pub(super) struct Numbering {
    dictionary: Dictionary,
    /// How often each attribute came. `[attributes]`
    counts: Vec<u32>,
    /// The size of the largest value.
    pub(super) largest: f32,
    /// Each label once.
    labels: FxHashSet<Arc<str>>,
    workspace: Workspace,
    /// The numbers of a sequence's attributes that came before it.
    found: Vec<Option<u32>>,
    /// The text of a new attribute.
    text: String,
}

impl Numbering {
    pub(super) fn labels(
        &mut self,
        input: &Input,
        sequence: &Sequence,
    ) -> Result<Vec<Arc<str>>, TrainError> {
        let labels = labels_of(input, sequence)?;
        let shared = labels.iter().map(|label| match self.labels.get(label.as_ref()) {
            Some(known) => known.clone(),
            None => {
                let new: Arc<str> = Arc::from(label.as_ref());
                self.labels.insert(new.clone());
                new
            }
        });
        Ok(shared.collect())
    }

    pub(super) fn attributes(
        &mut self,
        input: &Input,
        extractor: &Extractor,
        sequence: &Sequence,
        corpus: &mut Corpus,
    ) -> Result<(), TrainError> {
        let Self { dictionary, counts, largest, workspace, found, text, .. } = self;
        let extracted = input.extract(extractor, sequence, workspace)?;
        let attributes = extracted.attributes();
        found.clear();
        dictionary.find_all(
            attributes,
            |attribute| attribute.hash(),
            |attribute, text| extracted.is(attribute, text),
            |_, number| found.push(number),
        );
        let mut position = 0;
        for (attribute, known) in attributes.iter().zip(&*found) {
            while position < attribute.position() {
                corpus.end_position();
                position += 1;
            }
            let number = known.unwrap_or_else(|| {
                text.clear();
                extracted.write(attribute, text);
                dictionary.insert(text)
            });
            if number as usize == counts.len() {
                counts.push(0);
            }
            counts[number as usize] += 1;
            let value = in_range(attribute.value());
            *largest = largest.max(value.abs());
            corpus.push(number, value);
        }
        (position..sequence.len()).for_each(|_| corpus.end_position());
        corpus.end_sequence();
        Ok(())
    }

    /// The attributes that are frequent enough, the most frequent first, so that attributes used
    /// together are close in memory; and the new number of each old one.
    pub(super) fn by_frequency(self, min_count: u32) -> (Dictionary, Vec<Option<u32>>) {
        let Self { dictionary, counts, .. } = self;
        let mut order: Vec<usize> = (0..dictionary.len()).collect();
        order.retain(|&number| counts[number] >= min_count);
        order.sort_by_key(|&number| std::cmp::Reverse(counts[number]));
        dictionary.select(&order)
    }
}

/// Labels as texts.
pub(super) fn texts(labels: &[Arc<str>]) -> Vec<&str> {
    labels.iter().map(|label| &**label).collect()
}

fn labels_of<'a>(input: &Input, sequence: &'a Sequence) -> Result<Vec<Cow<'a, str>>, TrainError> {
    let labels = input.labels(sequence);
    let missing = |t: usize| TrainError::NoLabel {
        path: sequence.path().display().to_string(),
        line: sequence.line(t),
    };
    let labels = labels.ok_or_else(|| missing(0))?;
    match labels.iter().position(|label| label.is_empty()) {
        Some(t) => Err(missing(t)),
        None => Ok(labels),
    }
}
