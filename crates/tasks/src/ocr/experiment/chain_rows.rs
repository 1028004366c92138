//! Rows without an energy: chains with a longer memory, and the classifier.

use std::time::Instant;

use super::fold::{Fitted, Fold};
use super::inner::split;
use super::{Desk, Score, Stopped};
use crate::ocr::classifier::{Classifier, ClassifierSettings};
use crate::ocr::histories::Histories;
use crate::ocr::learning::Minimisation;

/// Iterations of a classifier, at most.
const ITERATIONS: usize = 100;

impl Fold<'_> {
    /// Chains over histories of two and three letters.
    pub fn chains(&self, desk: &Desk, base: &Fitted, how: &Minimisation) -> Result<(), Stopped> {
        for (name, memory) in [("trigram", 2), ("fourgram", 3)] {
            self.busy(desk, &format!("the {name} chain"))?;
            let words = self.lexicon.words().iter().map(Vec::as_slice);
            let histories = Histories::of_words(memory, words);
            let fitted = self.refit(base.corpus, &base.model.over(histories), how);
            desk.take(self.number, name, self.test_base(&fitted))?;
        }
        Ok(())
    }

    /// Words as classes; the number of random features is tuned on a fold inside training.
    pub fn classifier(&self, desk: &Desk) -> Result<(), Stopped> {
        self.busy(desk, "the classifier")?;
        let recipe = &self.settings.recipe;
        let (train, held_out) = split(self.data, &self.train, self.number);
        for maps in &self.data.maps {
            let settings = |features: usize| {
                let l2 = recipe.classifier_l2;
                ClassifierSettings { features, l2, iterations: ITERATIONS }
            };
            let accuracy = |features: usize| {
                let trained = Classifier::train(self.data.words, maps, &train, &settings(features));
                self.classified(&trained, maps, &held_out).accuracy()
            };
            let tried = recipe.classifier_features.iter().map(|&count| (accuracy(count), count));
            let best = tried.max_by(|a, b| a.0.total_cmp(&b.0).then(b.1.cmp(&a.1)));
            let features = best.expect("a number of features to try").1;
            let trained =
                Classifier::train(self.data.words, maps, &self.train, &settings(features));
            let score = self.classified(&trained, maps, &self.test);
            desk.take(self.number, "classifier", score)?;
        }
        Ok(())
    }

    fn classified(&self, classifier: &Classifier, maps: &[Vec<f64>], which: &[usize]) -> Score {
        let mut score = Score::default();
        for &at in which {
            let truth = &self.data.words[at].letters;
            let start = Instant::now();
            // Where no class has this length, nothing is read.
            let read = classifier.classify(truth.len(), &maps[at]).unwrap_or(&[]);
            score.seconds += start.elapsed().as_secs_f64();
            score.add(read, truth);
        }
        score
    }
}
