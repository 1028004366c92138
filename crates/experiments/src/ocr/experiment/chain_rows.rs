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

    /// Words as classes; the kernel's width and the number of random features are tuned on a fold
    /// inside training, the width with the most of them: a narrow kernel needs many.
    pub fn classifier(&self, desk: &Desk) -> Result<(), Stopped> {
        self.busy(desk, "the classifier")?;
        let recipe = &self.settings.recipe;
        let (train, held_out) = split(self.data, &self.train, self.number, 0);
        let learn = |maps: &[Vec<f64>], which: &[usize], features: usize| {
            let l2 = recipe.classifier_l2;
            let settings = ClassifierSettings { features, l2, iterations: ITERATIONS };
            Classifier::train(self.data.words, maps, which, &settings)
        };
        for widths in &self.data.maps {
            let accuracy = |maps: &Vec<Vec<f64>>, features: usize| {
                self.classified(&learn(maps, &train, features), maps, &held_out).accuracy()
            };
            let counts = &recipe.classifier_features;
            let most = counts.iter().copied().max().expect("a number of features to try");
            let tried = widths.iter().map(|maps| (accuracy(maps, most), maps));
            let first = |best: (f64, _), next: (f64, _)| if next.0 > best.0 { next } else { best };
            let maps = tried.reduce(first).expect("a width to try").1;
            let tried = counts.iter().map(|&count| (accuracy(maps, count), count));
            let best = tried.max_by(|a, b| a.0.total_cmp(&b.0).then(b.1.cmp(&a.1)));
            let features = best.expect("a number of features to try").1;
            let score = self.classified(&learn(maps, &self.train, features), maps, &self.test);
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
