//! Weight and cap for an open vocabulary, chosen by hiding some of the visible words as well.

use super::{Hidden, Pull};
use crate::ocr::experiment::fold::{Fitted, Fold};
use crate::ocr::experiment::{Recipe, Score};
use crate::ocr::reader::{self, Reader};

/// Held-out words, read by a model that has seen none of two choices of words.
pub(super) struct Trial<'a> {
    hidden: [usize; 2],
    pub base: Fitted<'a>,
    readings: Vec<Reading>,
}

/// A held-out word.
struct Reading {
    /// The choice that it belongs to.
    choice: Option<usize>,
    /// As the base model reads it.
    base: Score,
    /// As the energy reads it that has no cap. `[weights]`
    under: Vec<Pulled>,
}

/// A reading under an energy without a cap.
struct Pulled {
    /// The energy with a cap has the base model's answer from here downwards, and above it this
    /// one: it is `(F + A)/ψ`, where `F = ψ·cap − A` is what the base model's answer costs.
    least_cap: f64,
    score: Score,
}

impl<'a> Trial<'a> {
    /// Learns from a fold whose training part has none of the hidden words, and reads its test
    /// part.
    pub fn new(fold: &Fold<'a>, choices: &[Hidden], hidden: [usize; 2]) -> Self {
        let recipe = &fold.settings.recipe;
        let base = fold.fit(&fold.data.pixels, &recipe.pixels);
        let mut reader = Reader::new(&base.model, Some(fold.open_energy(None)), reader::settings());
        let mut read = |word: usize| {
            let (truth, scores) = (&fold.data.words[word].letters, &base.scores[word]);
            let score = |letters: &[u8]| {
                let mut score = Score::default();
                score.add(letters, truth);
                score
            };
            let log_partition = reader.infer_base(scores);
            let states = reader.decode_base(scores).expect("letters forbid nothing");
            let letters: Vec<u8> = states.iter().map(|&letter| letter as u8).collect();
            let under = recipe.open_weights.iter().map(|&weight| {
                let found = reader.infer(scores, weight);
                let least_cap = (found.objective + log_partition) / weight;
                Pulled { least_cap, score: score(&reader.decode(&found)) }
            });
            let under = under.collect();
            let choice = choices.iter().position(|words| words.contains(truth));
            Reading { choice, base: score(&letters), under }
        };
        let readings = fold.test.iter().map(|&word| read(word)).collect();
        Self { hidden, base, readings }
    }

    /// Whether this choice is hidden.
    pub fn hides(&self, choice: usize) -> bool {
        self.hidden.contains(&choice)
    }

    /// How words outside a choice are read with one of the weights and a cap.
    fn score(&self, choice: usize, weight: usize, cap: Option<f64>) -> Score {
        let mut sum = Score::default();
        for reading in self.readings.iter().filter(|reading| reading.choice != Some(choice)) {
            let pulled = &reading.under[weight];
            let within = cap.is_none_or(|cap| pulled.least_cap < cap);
            sum.join(if within { &pulled.score } else { &reading.base });
        }
        sum
    }
}

/// The weight without a cap, and weight and cap, that read the words outside a choice best over
/// trials that hide this choice and another.
pub(super) fn tune(recipe: &Recipe, choice: usize, trials: &[&Trial]) -> [Pull; 2] {
    let best = |caps: &[Option<f64>]| {
        let mut best = (None, Pull { weight: recipe.open_weights[0], cap: caps[0] });
        for (at, &weight) in recipe.open_weights.iter().enumerate() {
            for &cap in caps {
                let mut sum = Score::default();
                trials.iter().for_each(|trial| sum.join(&trial.score(choice, at, cap)));
                if best.0.is_none_or(|right| sum.right > right) {
                    best = (Some(sum.right), Pull { weight, cap });
                }
            }
        }
        best.1
    };
    let caps: Vec<Option<f64>> = recipe.open_caps.iter().map(|&cap| Some(cap)).collect();
    [best(&[None]), best(&caps)]
}

#[cfg(test)]
mod tests {
    use bethe_core::Norm;

    use super::super::{choices, without};
    use super::*;
    use crate::ocr::experiment::{Data, Settings};
    use crate::ocr::glyphs::{Drawing, VOCABULARY, draw};

    #[test]
    fn a_trial_reads_as_the_capped_energy_does() {
        let words = draw(&VOCABULARY, &Drawing { folds: 3, copies: 2, noise: 0.15, seed: 2 });
        for norm in [Norm::L1, Norm::Huber(0.1)] {
            let recipe = Recipe {
                mean_map_features: 2,
                classifier_features: vec![2],
                open_weights: vec![0.5, 2.0],
                ..Recipe::default()
            };
            let settings = Settings { folds: vec![0], seeds: 1, norm, recipe };
            let data = Data::new(&words, &settings);
            let outer = Fold::new(&data, &settings, 0);
            let choices = choices(&outer.lexicon, 0);
            let visible = without(&data, &outer.train, &choices[1]);
            let visible = without(&data, &visible, &choices[3]);
            let fold = Fold::of_parts(&data, &settings, 0, visible, outer.test.clone());
            let trial = Trial::new(&fold, &choices, [1, 3]);
            assert!(trial.hides(3) && !trial.hides(2));
            // All words but those of a choice.
            let test = without(&data, &outer.test, &choices[1]);
            let fold = Fold::of_parts(&data, &settings, 0, fold.train.clone(), test);
            let mut seen = Vec::new();
            for (at, weight) in [0.5, 2.0].into_iter().enumerate() {
                for cap in [None, Some(0.5), Some(2.0), Some(4.0)] {
                    let expected = fold.test_pull(&trial.base, Pull { weight, cap });
                    let found = trial.score(1, at, cap);
                    assert_eq!((found.right, found.words), (expected.right, expected.words));
                    seen.push(found.right);
                }
            }
            seen.dedup();
            assert!(seen.len() > 2, "caps matter: {seen:?}");
        }
    }
}
