//! An open vocabulary: a fifth of the words is hidden from training and lexicon, but not from the
//! test.

mod trial;

use std::sync::Arc;

use rand::SeedableRng;
use rand::rngs::StdRng;
use rand::seq::SliceRandom;

use super::fold::{Fitted, Fold, Learned};
use super::inner::split;
use super::{Data, Desk, Score, Settings, Stopped};
use crate::ocr::energy::{Energy, Search, Statistic};
use crate::ocr::lexicon::Lexicon;
use trial::{Trial, tune};

/// Disjoint choices of hidden words.
const CHOICES: usize = 5;

/// Words that are hidden together.
type Hidden = Vec<Vec<u8>>;

/// A weight, and perhaps a cap.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Pull {
    weight: f64,
    cap: Option<f64>,
}

/// Runs the rows on one fold, for each choice of hidden words; each row's score is over all of
/// them.
pub(super) fn run(
    data: &Data,
    settings: &Settings,
    test: usize,
    desk: &Desk,
) -> Result<(), Stopped> {
    let outer = Fold::new(data, settings, test);
    for seed in 0..settings.seeds as u64 {
        let choices = choices(&outer.lexicon, seed);
        let trials = trials(&outer, &choices, desk)?;
        for (at, hidden) in choices.iter().enumerate() {
            outer.busy(desk, &format!("open vocabulary, {} of {}", at + 1, choices.len()))?;
            let visible = without(data, &outer.train, hidden);
            if visible.is_empty() {
                continue;
            }
            let fold = Fold::of_parts(data, settings, test, visible, outer.test.clone());
            let own: Vec<&Trial> = trials.iter().filter(|trial| trial.hides(at)).collect();
            for (model, score) in rows(&fold, at, &own) {
                desk.take(test, model, score)?;
            }
        }
    }
    Ok(())
}

/// Disjoint parts of a lexicon, of about the same size.
fn choices(lexicon: &Lexicon, seed: u64) -> Vec<Hidden> {
    let mut words = lexicon.words().to_vec();
    words.shuffle(&mut StdRng::seed_from_u64(seed));
    let mut choices = vec![Vec::new(); CHOICES.min(words.len())];
    for (at, word) in words.into_iter().enumerate() {
        choices[at % CHOICES].push(word);
    }
    choices
}

/// The words of a list that are not hidden.
fn without(data: &Data, which: &[usize], hidden: &[Vec<u8>]) -> Vec<usize> {
    let is_visible = |word: &usize| !hidden.contains(&data.words[*word].letters);
    which.iter().copied().filter(is_visible).collect()
}

/// Two choices hidden at a time, one training fold held out: with either of the two as the words
/// that a test hides, the other stands for words that it has and training has not.
fn trials<'a>(
    outer: &Fold<'a>,
    choices: &[Hidden],
    desk: &Desk,
) -> Result<Vec<Trial<'a>>, Stopped> {
    let (train, held_out) = split(outer.data, &outer.train, outer.number, 0);
    let mut trials = Vec::new();
    for second in 1..choices.len() {
        for first in 0..second {
            outer.busy(desk, &format!("words hidden twice, {} pairs so far", trials.len()))?;
            let visible = without(outer.data, &train, &choices[first]);
            let visible = without(outer.data, &visible, &choices[second]);
            if !visible.is_empty() {
                let Fold { data, settings, number, .. } = *outer;
                let fold = Fold::of_parts(data, settings, number, visible, held_out.clone());
                trials.push(Trial::new(&fold, choices, [first, second]));
            }
        }
    }
    Ok(trials)
}

fn rows(fold: &Fold, choice: usize, trials: &[&Trial]) -> Vec<(&'static str, Score)> {
    let recipe = &fold.settings.recipe;
    let pixels = &fold.data.pixels;
    let base = match trials.first() {
        Some(trial) => fold.refit(&pixels.1, &trial.base.model, &recipe.pixels),
        None => fold.fit(pixels, &recipe.pixels),
    };
    let [word, capped] = tune(recipe, choice, trials);
    vec![
        ("open-base", fold.test_base(&base)),
        ("open-lexicon", fold.test_lexicon(&base, &fold.lexicon)),
        ("open-word", fold.test_pull(&base, word)),
        ("open-capped", fold.test_pull(&base, capped)),
    ]
}

impl Fold<'_> {
    /// How the energy of words reads with a given weight and cap.
    fn test_pull(&self, base: &Fitted, pull: Pull) -> Score {
        let energy = self.open_energy(pull.cap);
        let model = base.model.clone();
        let learned = Learned { model, energy, parameters: vec![pull.weight] };
        self.test(base.corpus, &learned, &self.data.constant)
    }

    fn open_energy(&self, cap: Option<f64>) -> Arc<Energy> {
        let own = Energy::new(self.lexicon.clone(), Statistic::Letters, Search::Exact);
        Arc::new(Energy { norm: self.settings.norm, cap, ..own })
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Mutex;

    use bethe_core::Norm;

    use super::*;
    use crate::ocr::experiment::{Recipe, Table};
    use crate::ocr::glyphs::{Drawing, draw};

    /// Words of a few letters, so that those that are hidden have none that the others lack.
    const WORDS: [&str; 15] = [
        "stone", "onset", "train", "resin", "tears", "ratio", "noise", "arise", "stair", "saint",
        "tenor", "arson", "toner", "rinse", "siren",
    ];

    #[test]
    fn a_cap_reads_known_words_and_others_best() {
        let words = draw(&WORDS, &Drawing { folds: 3, copies: 4, noise: 0.08, seed: 3 });
        let recipe =
            Recipe { mean_map_features: 2, classifier_features: vec![2], ..Recipe::default() };
        let settings = Settings { folds: vec![0], seeds: 1, norm: Norm::L1, recipe };
        let data = Data::new(&words, &settings);
        let mut ignore = |_| true;
        let desk = Desk(Mutex::new((Table::new(), &mut ignore)));
        run(&data, &settings, 0, &desk).unwrap();
        let rows = desk.into_table().rows();
        let [base, lexicon, capped] = ["open-base", "open-lexicon", "open-capped"]
            .map(|model| rows.iter().find(|row| row.model == model).unwrap().mean);
        assert!(capped > base + 5.0, "{capped} for {base}");
        assert!(capped > lexicon + 2.0, "{capped} for {lexicon}");
    }
}
