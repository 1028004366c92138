//! An open vocabulary: a fifth of the words is hidden from training and from the lexicon, and the test
//! has all of them.

use std::sync::Arc;

use rand::SeedableRng;
use rand::rngs::StdRng;
use rand::seq::SliceRandom;
use rayon::prelude::*;

use super::fold::{Fitted, Fold, Learned};
use super::inner::split;
use super::{Data, Desk, Score, Settings, Stopped};
use crate::ocr::energy::{Energy, Search, Statistic};
use crate::ocr::lexicon::Lexicon;

/// Disjoint choices of hidden words.
const CHOICES: usize = 5;

/// Runs the rows on one fold, for each choice of hidden words; each row's score is over all of them.
pub(super) fn run(
    data: &Data,
    settings: &Settings,
    test: usize,
    desk: &mut Desk,
) -> Result<(), Stopped> {
    let outer = Fold::new(data, settings, test);
    for seed in 0..settings.seeds as u64 {
        for (at, hidden) in choices(&outer.lexicon, seed).iter().enumerate() {
            outer.busy(desk, &format!("open vocabulary, {} of {CHOICES}", at + 1))?;
            let visible = without(data, &outer.train, hidden);
            if visible.is_empty() {
                continue;
            }
            let fold = Fold::of_parts(data, settings, test, (visible, outer.test.clone()));
            for (model, score) in rows(&fold, seed) {
                desk.take(test, model, score)?;
            }
        }
    }
    Ok(())
}

/// Disjoint parts of a lexicon, of about the same size.
fn choices(lexicon: &Lexicon, seed: u64) -> Vec<Vec<Vec<u8>>> {
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

fn rows(fold: &Fold, seed: u64) -> Vec<(&'static str, Score)> {
    let recipe = &fold.settings.recipe;
    let base = fold.fit(&fold.data.pixels, &recipe.pixels);
    let (word, capped) = tune(fold, seed);
    vec![
        ("open-base", fold.test_base(&base)),
        ("open-lexicon", fold.test_lexicon(&base, &fold.lexicon)),
        ("open-word", fold.test_pull(&base, word)),
        ("open-capped", fold.test_pull(&base, capped)),
    ]
}

/// A weight, and perhaps a cap.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Pull {
    weight: f64,
    cap: Option<f64>,
}

/// The weight without a cap, and weight and cap, that read a held-out fold best if a fifth of the words
/// that may be seen is hidden once more.
fn tune(outer: &Fold, seed: u64) -> (Pull, Pull) {
    let (train, held_out) = split(outer.data, &outer.train, outer.number);
    let hidden = &choices(&outer.lexicon, seed ^ 0x5eed)[0];
    let visible = without(outer.data, &train, hidden);
    let train = if visible.is_empty() { train } else { visible };
    let inner = Fold::of_parts(outer.data, outer.settings, outer.number, (train, held_out));
    let recipe = &outer.settings.recipe;
    let base = inner.fit(&outer.data.pixels, &recipe.pixels);
    let caps = || std::iter::once(None).chain(recipe.open_caps.iter().map(|&cap| Some(cap)));
    let weights = recipe.open_weights.iter();
    let tried: Vec<Pull> =
        weights.flat_map(|&weight| caps().map(move |cap| Pull { weight, cap })).collect();
    let accuracies: Vec<f64> =
        tried.par_iter().map(|&pull| inner.test_pull(&base, pull).accuracy()).collect();
    let best = |with_cap: bool| {
        let mut best = (f64::NEG_INFINITY, tried[0]);
        for (&accuracy, &pull) in accuracies.iter().zip(&tried) {
            if pull.cap.is_some() == with_cap && accuracy > best.0 {
                best = (accuracy, pull);
            }
        }
        best.1
    };
    (best(false), best(true))
}

impl Fold<'_> {
    /// How the energy of words reads with a given weight and cap.
    fn test_pull(&self, base: &Fitted, pull: Pull) -> Score {
        let energy = Energy {
            norm: self.settings.norm,
            cap: pull.cap,
            ..Energy::new(self.lexicon.clone(), Statistic::Letters, Search::Exact)
        };
        let model = base.model.clone();
        let learned = Learned { model, energy: Arc::new(energy), parameters: vec![pull.weight] };
        self.test(base.corpus, &learned, &self.data.constant)
    }
}
