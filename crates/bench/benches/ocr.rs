//! Inference of a word under each energy, as ratios to decoding the chain alone.
//!
//! `cargo bench -p bethe-bench --bench ocr [-- --data DIR]` reads `DIR/ocr`, or draws words of its
//! own; a base model is learned from nine tenths of them, and the rest is read over and over.

use std::sync::Arc;

use bethe_bench::time;
use bethe_core::{Method, Norm, Settings};
use bethe_experiments::ocr::data::{Word, read};
use bethe_experiments::ocr::energy::{Energy, Search, Statistic};
use bethe_experiments::ocr::features::Features;
use bethe_experiments::ocr::glyphs::{Drawing, VOCABULARY, draw};
use bethe_experiments::ocr::histories::Histories;
use bethe_experiments::ocr::learning::{Examples, Minimisation, WordFeatures, fit_base};
use bethe_experiments::ocr::lexicon::Lexicon;
use bethe_experiments::ocr::model::{Field, Model};
use bethe_experiments::ocr::reader::{self, Reader};
use bethe_io::results::Table;
use bethe_learn::crf::Scorer;

/// About what learning finds.
const WEIGHT: f64 = 3.0;

fn main() {
    let words = match bethe_bench::data_folder() {
        Some(data) => read(&data.join("ocr/letter.data.gz")).expect("the data set"),
        None => draw(&VOCABULARY, &Drawing { folds: 10, copies: 5, noise: 0.15, seed: 1 }),
    };
    let (test, train): (Vec<usize>, Vec<usize>) =
        (0..words.len()).partition(|&w| words[w].fold == 0);
    let (model, scores) = learn(&words, &train, &test);
    let lexicon = Arc::new(Lexicon::new(train.iter().map(|&word| &words[word].letters[..])));
    let mut base = Reader::new(&model, None, reader::settings());
    let mut plain = || {
        scores.iter().for_each(|scores| {
            std::hint::black_box(base.decode_base(scores));
        })
    };
    let by_score = Reader::new(&model, None, reader::settings());
    let mut lookup = || scores.iter().for_each(|scores| drop(by_score.best_of(&lexicon, scores)));
    let mut energies: Vec<Timed> =
        READERS.iter().map(|reader| reader.timed(&model, &lexicon, &scores)).collect();
    let mut alternatives: Vec<&mut dyn FnMut()> = vec![&mut plain, &mut lookup];
    alternatives.extend(energies.iter_mut().map(|run| run.as_mut() as &mut dyn FnMut()));
    let seconds = time(&mut alternatives);
    let letters = scores.iter().map(Vec::len).sum::<usize>() / 26;
    println!("{} words of {letters} letters", scores.len());
    let names = ["base (Viterbi)", "lexicon"].into_iter().chain(READERS.map(|reader| reader.name));
    let mut table = Table::new("ocr", &["reader", "µs per word", "over Viterbi"]);
    for (name, &taken) in names.zip(&seconds) {
        let microseconds = format!("{:.1}", 1e6 * taken / scores.len() as f64);
        table.push([name.to_string(), microseconds, format!("{:.1}", taken / seconds[0])]);
    }
    print!("\n{table}");
}

/// A run over all words.
type Timed<'a> = Box<dyn FnMut() + 'a>;

/// An energy, and how inference under it goes.
#[derive(Clone, Copy)]
struct Timing {
    name: &'static str,
    statistic: Statistic,
    search: Search,
    norm: Norm,
    method: Method,
}

const UNIGRAMS: Timing = Timing {
    name: "unigram",
    statistic: Statistic::Counts { any_length: false },
    search: Search::Local,
    norm: Norm::L1,
    method: Method::Auto,
};
const WORDS: Timing = Timing { name: "word", statistic: Statistic::Letters, ..UNIGRAMS };
const READERS: [Timing; 8] = [
    Timing { name: "unigram-all", statistic: Statistic::Counts { any_length: true }, ..UNIGRAMS },
    UNIGRAMS,
    Timing { name: "unigram-exact", search: Search::Exact, ..UNIGRAMS },
    Timing { name: "unigram, smoothed", norm: Norm::Huber(0.1), ..UNIGRAMS },
    Timing { name: "unigram, 20 steps of RDA", method: Method::Rda { beta: 0.0 }, ..UNIGRAMS },
    WORDS,
    Timing { name: "word-exact", search: Search::Exact, ..WORDS },
    Timing { name: "word, smoothed", norm: Norm::Huber(0.1), ..WORDS },
];

impl Timing {
    fn timed<'a>(self, model: &Model, lexicon: &Arc<Lexicon>, scores: &'a [Vec<f64>]) -> Timed<'a> {
        let energy = Energy::new(lexicon.clone(), self.statistic, self.search);
        let energy = Energy { norm: self.norm, ..energy };
        let max_iterations = if self.method == Method::Auto { 1000 } else { 20 };
        let limits = Settings { method: self.method, max_iterations, ..reader::settings() };
        let mut reader = Reader::new(model, Some(Arc::new(energy)), limits);
        Box::new(move || {
            for scores in scores {
                let found = reader.infer(scores, WEIGHT);
                reader.decode(&found);
            }
        })
    }
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
