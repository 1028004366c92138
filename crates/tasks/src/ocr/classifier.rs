//! Words as classes: which word of the right length has such pictures, all of them at once?
//!
//! Multinomial logistic regression on a word's [mean map](super::mean_map), one for each length, as only
//! words of a reading's own length come into question.

use bethe_learn::corpus::Corpus;
use bethe_learn::crf::{Likelihood, Scorer, Structure, Transitions};
use bethe_learn::optimise::{Outcome, QuasiNewton, Settings};

use super::data::Word;
use super::lexicon::Lexicon;

/// How a classifier is trained.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ClassifierSettings {
    /// Features of the mean map that are used.
    pub features: usize,
    /// `l2 ‖w‖²` is added to the loss.
    pub l2: f64,
    /// Iterations, at most.
    pub iterations: usize,
}

/// A classifier of words.
pub struct Classifier {
    features: usize,
    /// `[lengths]`
    by_length: Vec<Option<Classes>>,
}

/// The words of one length.
struct Classes {
    words: Vec<Vec<u8>>,
    structure: Structure,
    weights: Vec<f64>,
}

impl Classifier {
    /// Learns from some words, given the mean maps of all. `[words][features]`
    pub fn train(
        words: &[Word],
        maps: &[Vec<f64>],
        which: &[usize],
        settings: &ClassifierSettings,
    ) -> Self {
        let lexicon = Lexicon::new(which.iter().map(|&word| &words[word].letters[..]));
        let longest = lexicon.words().iter().map(Vec::len).max().unwrap_or(0);
        let by_length = (0..=longest).map(|length| {
            let classes: Vec<Vec<u8>> = lexicon
                .of_length(length)
                .iter()
                .map(|&word| lexicon.words()[word].clone())
                .collect();
            let own: Vec<usize> =
                which.iter().copied().filter(|&word| words[word].letters.len() == length).collect();
            let examples = own.iter().map(|&word| (&maps[word][..], &words[word].letters[..]));
            (!classes.is_empty()).then(|| Classes::train(classes, examples, settings))
        });
        Self { features: settings.features, by_length: by_length.collect() }
    }

    /// The class of a word of this length with this mean map, if there is one.
    pub fn classify(&self, length: usize, map: &[f64]) -> Option<&[u8]> {
        let classes = self.by_length.get(length)?.as_ref()?;
        let corpus = corpus(std::iter::once(&map[..self.features]));
        let mut scorer = Scorer::default();
        let scores = scorer.scores(&classes.structure, &classes.weights, corpus.sequence(0));
        let best =
            (0..scores.len()).max_by(|&a, &b| scores[a].total_cmp(&scores[b]).then(b.cmp(&a)));
        best.map(|best| &classes.words[best][..])
    }
}

impl Classes {
    fn train<'a>(
        words: Vec<Vec<u8>>,
        examples: impl Iterator<Item = (&'a [f64], &'a [u8])> + Clone,
        settings: &ClassifierSettings,
    ) -> Self {
        let states = words.len();
        // A constant comes first.
        let attributes = 1 + settings.features;
        let ends: Vec<u32> = (1..=attributes).map(|end| (end * states) as u32).collect();
        let pairs = (0..attributes).flat_map(|_| 0..states as u16).collect();
        let none = Transitions { forbidden: vec![false; states * states], weighted: Vec::new() };
        let anywhere = (vec![false; states], vec![false; states]);
        let structure = Structure::new(states, (&ends, pairs), none, anywhere);
        let structure = structure.expect("every attribute has every class");
        let corpus = corpus(examples.clone().map(|(map, _)| &map[..settings.features]));
        let class = |letters: &[u8]| {
            let place = words.iter().position(|word| word == letters);
            place.expect("a class for every word learned from") as u16
        };
        let truth: Vec<u16> = examples.map(|(_, letters)| class(letters)).collect();
        let mut likelihood = Likelihood::new(&structure, &corpus, &truth);
        let mut objective = |weights: &[f64], gradient: &mut [f64]| {
            let loss = likelihood.evaluate(weights, gradient);
            let slopes = gradient.iter_mut().zip(weights);
            slopes.for_each(|(slope, weight)| *slope += 2.0 * settings.l2 * weight);
            loss + settings.l2 * weights.iter().map(|weight| weight * weight).sum::<f64>()
        };
        let start = vec![0.0; structure.weights()];
        let stops = Settings { least_decrease: 1e-3, ..Settings::default() };
        let mut minimiser = QuasiNewton::start(stops, start, &mut objective);
        while minimiser.iterations() < settings.iterations
            && minimiser.step(&mut objective) == Outcome::Advanced
        {}
        let weights = minimiser.weights().to_vec();
        Self { words, structure, weights }
    }
}

/// Sequences of one position each, with these features and a constant.
fn corpus<'a>(maps: impl Iterator<Item = &'a [f64]>) -> Corpus {
    let mut corpus = Corpus::new();
    for map in maps {
        corpus.push(0, 1.0);
        for (feature, &value) in map.iter().enumerate() {
            corpus.push(1 + feature as u32, value as f32);
        }
        corpus.end_position();
        corpus.end_sequence();
    }
    corpus
}
