use std::sync::Arc;

use bethe_core::{Norm, Settings};
use bethe_experiments::ocr::energy::{Energy, Search, Statistic};
use bethe_experiments::ocr::features::Features;
use bethe_experiments::ocr::glyphs::{Drawing, draw};
use bethe_experiments::ocr::histories::Histories;
use bethe_experiments::ocr::learning::{
    Examples, Loss, Minimisation, Objective, WordFeatures, fit_base,
};
use bethe_experiments::ocr::lexicon::Lexicon;
use bethe_experiments::ocr::mean_map::MeanMap;
use bethe_experiments::ocr::model::Field;
use bethe_experiments::ocr::reader;

use super::small::numbers;

const WORDS: [&str; 4] = ["cab", "bad", "dab", "ace"];

/// Checks the gradient of a loss against central differences, for some of the parameters.
fn check(loss: Loss, energy: Option<Energy>, memory: usize, mapped: bool) {
    let words = draw(&WORDS, &Drawing { folds: 1, copies: 1, noise: 0.1, seed: 5 });
    let features = Features::pixels();
    let corpus = features.corpus(&words);
    let letters = words.iter().map(|word| &word.letters[..]);
    let histories = match memory {
        1 => Histories::letters(),
        _ => Histories::of_words(memory, letters),
    };
    let field = Arc::new(Field::new(features.len(), histories));
    let of_words = match mapped {
        true => WordFeatures::with_constant(&MeanMap::new(3, 36.0, 1).of_all(&words)),
        false => WordFeatures::constant(),
    };
    let objective = Objective {
        examples: Examples { words: &words, corpus: &corpus, features: &of_words },
        field: field.clone(),
        energy: energy.map(Arc::new),
        loss,
        limits: Settings { tolerance: 1e-10, ..reader::settings() },
        fixed: None,
    };
    let which: Vec<usize> = (0..words.len()).collect();
    let mut parameters = numbers(objective.parameters(), 8);
    parameters.iter_mut().for_each(|weight| *weight *= 0.3);
    let from = objective.first_of_energy();
    if let Some(weight) = parameters.get_mut(from) {
        *weight = 1.3;
    }
    let mut gradient = vec![0.0; parameters.len()];
    objective.evaluate(&which, &parameters, &mut gradient);
    let mut unused = gradient.clone();
    let some =
        (0..from).step_by(97).chain(field.attribute_weights()..from).chain(from..parameters.len());
    for at in some {
        let mut value = |shift: f64| {
            let mut moved = parameters.clone();
            moved[at] += shift;
            objective.evaluate(&which, &moved, &mut unused)
        };
        // Objectives are as near to the optimum as the tolerance says: a shorter step would show
        // that.
        let step = 1e-3;
        let slope = (value(step) - value(-step)) / (2.0 * step);
        // Padding of rows has no slope of its own.
        let is_padding = at < field.attribute_weights() && at % 32 >= 26;
        if !is_padding {
            let off = (slope - gradient[at]).abs();
            assert!(off < 2e-4, "{loss:?}, {at}: {slope} for {}", gradient[at]);
        }
    }
}

fn energy(statistic: Statistic, norm: Norm) -> Option<Energy> {
    let letters: Vec<Vec<u8>> =
        ["cab", "dad", "ace"].map(|word| word.bytes().map(|l| l - b'a').collect()).into();
    let lexicon = Arc::new(Lexicon::new(letters.iter().map(Vec::as_slice)));
    Some(Energy { norm, ..Energy::new(lexicon, statistic, Search::Exact) })
}

#[test]
fn likelihoods_of_letters_and_of_histories_have_the_slopes_they_say() {
    check(Loss::Likelihood, None, 1, false);
    check(Loss::Likelihood, None, 2, false);
    check(Loss::Likelihood, None, 3, false);
}

#[test]
fn the_fenchel_young_loss_has_the_slopes_it_says() {
    let counts = Statistic::Counts { any_length: true };
    check(Loss::FenchelYoung, energy(Statistic::Letters, Norm::L1), 1, false);
    check(Loss::FenchelYoung, energy(counts, Norm::L1), 1, false);
    check(Loss::FenchelYoung, energy(counts, Norm::Huber(0.2)), 1, true);
}

/// For words the tilt is `2ψ` on the letters of the chosen one, so that the surrogate with the
/// answer held is the loss itself as long as the choice stays.
#[test]
fn the_surrogate_has_the_slopes_it_says() {
    check(Loss::Surrogate, energy(Statistic::Letters, Norm::L1), 1, false);
    check(Loss::Surrogate, energy(Statistic::Letters, Norm::L1), 1, true);
}

#[test]
fn a_base_model_learns_drawn_letters() {
    let words = draw(&WORDS, &Drawing { folds: 1, copies: 20, noise: 0.02, seed: 2 });
    let features = Features::pixels();
    let corpus = features.corpus(&words);
    let constant = WordFeatures::constant();
    let examples = Examples { words: &words, corpus: &corpus, features: &constant };
    let field = Arc::new(Field::new(features.len(), Histories::letters()));
    let which: Vec<usize> = (0..words.len()).collect();
    let how = Minimisation { l2: 0.1, energy_l2: 0.0, iterations: 50, least_decrease: 1e-4 };
    let model = fit_base(examples, &field, &which, &how);
    let mut reader = bethe_experiments::ocr::reader::Reader::new(&model, None, reader::settings());
    let mut scorer = bethe_learn::crf::Scorer::default();
    for (at, word) in words.iter().enumerate() {
        let scores = model.scores(&mut scorer, corpus.sequence(at));
        let read: Vec<u8> = reader.decode_base(scores).unwrap().iter().map(|&l| l as u8).collect();
        assert_eq!(read, word.letters);
    }
}
