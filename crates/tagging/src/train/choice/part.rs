//! A part of the held-out sequences that rules of the others are judged on.

use bethe_core::solve::SolveError;
use bethe_learn::energy::{Inference, Inferred, RuledInference, Sample, Start, log_gains};
use rayon::prelude::*;

use super::super::super::rules::{Occurrences, Rule};
use super::super::super::score::{Score, SequenceCounts};
use super::super::super::tag::TagOptions;
use super::super::super::tag::decode::{Decoder, Decoding};
use super::super::held_out::Prediction;
use super::super::rules::{Learning, rough_inference};

/// Share of the true sequences that keep a rule that is as good as certain.
const NEARLY_ALL: f64 = 0.99;

/// A part, the sequences outside it, and what is learned from these.
pub(super) struct Part<'a> {
    pub(super) own: Vec<usize>,
    pub(super) others: Vec<usize>,
    /// Rules that the others suggest.
    pub(super) rules: Vec<Rule>,
    pub(super) learning: Learning<'a>,
    /// Those that nearly all of the others keep.
    pub(super) certain: Vec<Rule>,
    /// All sequences.
    pub(super) known: &'a [&'a Prediction],
    /// The weights so far.
    pub(super) start: Start,
}

/// What became of a sequence's labels.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(super) struct Outcome {
    /// Segments of every level.
    pub(super) counts: SequenceCounts,
    /// Whether every label is right.
    pub(super) whole: bool,
    /// Whether the labels break a rule that is as good as certain.
    pub(super) breaks: bool,
}

/// The rules that nearly all of these sequences keep.
pub(super) fn certain(rules: &[Rule], learning: &Learning, of: &[&Prediction]) -> Vec<Rule> {
    let truths: Vec<Occurrences> =
        of.iter().map(|one| Occurrences::of(learning.states, &one.truth)).collect();
    let is_certain = |rule: &&Rule| {
        let kept = truths.iter().filter(|truth| rule.holds(truth)).count();
        kept as f64 >= NEARLY_ALL * truths.len() as f64
    };
    rules.iter().filter(is_certain).cloned().collect()
}

impl Part<'_> {
    /// What weights (`[rules][features]`) say about a rule; nothing if the others do not suggest it.
    pub(super) fn weight_of<'w>(&self, rule: &Rule, weights: &'w [f64]) -> Option<&'w [f64]> {
        let features = self.learning.examples.features();
        let mut soft = self.learning.compiled.soft.iter();
        let place = soft.position(|&at| self.rules[at] == *rule)?;
        weights.get(place * features..)?.get(..features)
    }

    /// Learns from the others under an L1 penalty: from the weights so far on, if the answer does not
    /// depend on the start, and else from where the weights of all sequences start.
    pub(super) fn fit(&mut self, l1: f64) -> Result<(), SolveError> {
        if !self.learning.is_convex() {
            self.start = self.learning.start();
        }
        self.start.parameters = self.learning.fit(&self.others, l1, &self.start, &mut |_, _| ())?;
        Ok(())
    }

    /// How much more likely weights make the truth of each own sequence, in nats.
    pub(super) fn gains(&self, parameters: &[f64]) -> Result<Vec<f64>, SolveError> {
        let settings = rough_inference();
        let ruled = RuledInference::new(&self.learning.rules, &settings);
        let sample = Sample { examples: self.learning.examples, which: &self.own };
        log_gains(sample, ruled, parameters)
    }

    /// Decodes the own sequences under weights.
    pub(super) fn outcomes(
        &self,
        parameters: &[f64],
        decoding: Decoding,
    ) -> Result<Vec<Outcome>, SolveError> {
        let Learning { states, compiled, rules, examples, .. } = &self.learning;
        let memory = || {
            let none = vec![0.0; rules.soft.len()];
            Inference::new(examples.models[0].clone(), rules.clone(), none)
        };
        let decode = |inference: &mut Inference, &at: &usize| {
            let weights = examples.sequences[at].weights(parameters);
            let decoder = Decoder { compiled, weights: &weights, decoding, count: 1 };
            self.path(inference, decoder, at)
        };
        let paths: Result<Vec<Vec<usize>>, SolveError> =
            self.own.par_iter().map_init(memory, decode).collect();
        let mut score = Score::new(states.scheme());
        let mut outcomes = Vec::with_capacity(self.own.len());
        for (&at, path) in self.own.iter().zip(&paths?) {
            let one = self.known[at];
            let truth: Vec<&str> = one.labels.iter().map(String::as_str).collect();
            let found: Vec<&str> = path.iter().map(|&state| states.label(state)).collect();
            score.add(&truth, &found);
            let occurrences = Occurrences::of(states, path);
            outcomes.push(Outcome {
                counts: *score.all_per_sequence().last().expect("it was just added"),
                whole: *path == one.truth,
                breaks: self.certain.iter().any(|rule| !rule.holds(&occurrences)),
            });
        }
        Ok(outcomes)
    }

    /// The states of a sequence. Where the base model keeps all rules its own labels are the answer.
    fn path(
        &self,
        inference: &mut Inference,
        decoder: Decoder,
        at: usize,
    ) -> Result<Vec<usize>, SolveError> {
        let Learning { compiled, examples, .. } = &self.learning;
        let (example, predicted) = (&examples.sequences[at], &self.known[at].predicted);
        let settings = TagOptions::default().inference;
        inference.set_model(&examples.models[example.model]);
        inference.set_weights(decoder.weights.to_vec());
        if let Some(base) = &example.base {
            let found = inference.run_from(&example.scores, base, None, &settings)?;
            if is_base(&found) && decoder.is_kept_by(&compiled.space.path(predicted.clone())) {
                return Ok(predicted.clone());
            }
        }
        // Where scores forbid every path, nothing is found.
        let none = || vec![0; predicted.len()];
        let Some(found) = inference.run(&example.scores, &settings)? else { return Ok(none()) };
        let (best, _) = decoder.best(inference.chain(), &found);
        let field =
            |path: &[usize]| path.iter().map(|&state| compiled.space.state(state)).collect();
        Ok(best.first().map_or_else(none, |(path, _)| field(path)))
    }
}

/// Whether the base model's answer is the answer.
fn is_base(found: &Inferred) -> bool {
    found.iterations == 0 && found.tilt.iter().all(|tilt| *tilt == 0.0)
}
