//! Inference of a word under each energy, as ratios to decoding the chain alone.
//!
//! `cargo bench -p bethe-bench --bench ocr [-- --data DIR]` reads `DIR/ocr`, or draws words of its
//! own; a base model is learned from nine tenths of them, and the rest is read over and over.

use std::sync::Arc;

use bethe_bench::{Verdicts, time};
use bethe_core::{Method, Norm};
use bethe_experiments::ocr::data::{Word, read};
use bethe_experiments::ocr::energy::{Energy, Search, Statistic};
use bethe_experiments::ocr::features::Features;
use bethe_experiments::ocr::glyphs::{Drawing, VOCABULARY, draw};
use bethe_experiments::ocr::histories::Histories;
use bethe_experiments::ocr::learning::{Examples, Minimisation, WordFeatures, fit_base};
use bethe_experiments::ocr::lexicon::Lexicon;
use bethe_experiments::ocr::model::{Field, Model};
use bethe_experiments::ocr::reader::{Limits, Reader};
use bethe_learn::crf::Scorer;

/// About what learning finds.
const WEIGHT: f64 = 3.0;
const UNIGRAM: Statistic = Statistic::Counts { any_length: false };
const UNIGRAM_ALL: Statistic = Statistic::Counts { any_length: true };
const WORD: Statistic = Statistic::Letters;

fn main() {
    let words = match bethe_bench::data_folder() {
        Some(data) => read(&data.join("ocr/letter.data.gz")).expect("the data set"),
        None => draw(&VOCABULARY, &Drawing { folds: 10, copies: 5, noise: 0.15, seed: 1 }),
    };
    let (test, train): (Vec<usize>, Vec<usize>) =
        (0..words.len()).partition(|&w| words[w].fold == 0);
    let (model, scores) = learn(&words, &train, &test);
    let lexicon = Arc::new(Lexicon::new(train.iter().map(|&word| &words[word].letters[..])));
    let mut base = Reader::new(&model, None, Limits::default());
    let mut plain = || {
        scores.iter().for_each(|scores| {
            std::hint::black_box(base.decode_base(scores));
        })
    };
    let by_score = Reader::new(&model, None, Limits::default());
    let mut lookup = || scores.iter().for_each(|scores| drop(by_score.best_of(&lexicon, scores)));
    type Timed<'a> = (&'a str, Box<dyn FnMut() + 'a>);
    let mut energies: Vec<Timed> = Vec::new();
    for (name, statistic, search, norm, method) in [
        ("unigram-all", UNIGRAM_ALL, Search::Local, Norm::L1, Method::Auto),
        ("unigram", UNIGRAM, Search::Local, Norm::L1, Method::Auto),
        ("unigram-exact", UNIGRAM, Search::Exact, Norm::L1, Method::Auto),
        ("unigram, smoothed", UNIGRAM, Search::Local, Norm::Huber(0.1), Method::Auto),
        ("unigram, 20 steps of RDA", UNIGRAM, Search::Local, Norm::L1, Method::Rda { beta: 0.0 }),
        ("word", WORD, Search::Local, Norm::L1, Method::Auto),
        ("word-exact", WORD, Search::Exact, Norm::L1, Method::Auto),
        ("word, smoothed", WORD, Search::Local, Norm::Huber(0.1), Method::Auto),
    ] {
        let energy = Energy { norm, ..Energy::new(lexicon.clone(), statistic, search) };
        let max_iterations = if method == Method::Auto { 1000 } else { 20 };
        let limits = Limits { method, max_iterations, ..Limits::default() };
        let mut reader = Reader::new(&model, Some(Arc::new(energy)), limits);
        let scores = &scores;
        let run = move || {
            for scores in scores {
                let found = reader.infer(scores, WEIGHT);
                reader.decode(&found);
            }
        };
        energies.push((name, Box::new(run)));
    }
    let mut alternatives: Vec<&mut dyn FnMut()> = vec![&mut plain, &mut lookup];
    alternatives.extend(energies.iter_mut().map(|(_, run)| &mut **run as &mut dyn FnMut()));
    let seconds = time(&mut alternatives);
    let names =
        ["base (Viterbi)", "lexicon"].into_iter().chain(energies.iter().map(|(name, _)| *name));
    println!(
        "{} words of {} letters",
        scores.len(),
        scores.iter().map(Vec::len).sum::<usize>() / 26
    );
    println!("  {:<32}{:>12}{:>12}", "", "µs a word", "ratio");
    let mut ratios = Vec::new();
    for (name, &taken) in names.zip(&seconds) {
        let ratio = taken / seconds[0];
        println!("  {name:<32}{:>12.1}{ratio:>12.1}", 1e6 * taken / scores.len() as f64);
        ratios.push((name, ratio));
    }
    let ratio = |name: &str| ratios.iter().find(|(known, _)| *known == name).map_or(0.0, |r| r.1);
    let mut verdicts = Verdicts::default();
    // A prototype's: 24, 84 and 67 µs where Viterbi took 4.5.
    verdicts.at_most("word over Viterbi", ratio("word"), 5.3);
    verdicts.at_most("word-exact over Viterbi", ratio("word-exact"), 18.7);
    verdicts.at_most("unigram over Viterbi", ratio("unigram"), 14.9);
    verdicts.print();
}

/// A base model of some words, and its scores of others.
fn learn(words: &[Word], train: &[usize], test: &[usize]) -> (Model, Vec<Vec<f64>>) {
    let features = Features::pixels();
    let corpus = features.corpus(words);
    let constant = WordFeatures::constant();
    let examples = Examples { words, corpus: &corpus, features: &constant };
    let field = Arc::new(Field::new(features.len(), Histories::letters()));
    let how = Minimisation { l2: 1.0, energy_l2: 0.0, iterations: 60, least_decrease: 1e-3 };
    let model = fit_base(examples, &field, train, &how);
    let mut scorer = Scorer::default();
    let scores = test
        .iter()
        .map(|&word| model.scores(&mut scorer, corpus.sequence(word)).to_vec())
        .collect();
    (model, scores)
}
