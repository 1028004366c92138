//! Drawn letters, read by a chain alone and with a dictionary energy.

use std::fmt::Write;
use std::sync::Arc;

use anyhow::Result;
use bethe_experiments::ocr::data::{Word, spelled};
use bethe_experiments::ocr::energy::{Energy, Search, Statistic};
use bethe_experiments::ocr::experiment::{Sample, Score, contact_sheet};
use bethe_experiments::ocr::features::Features;
use bethe_experiments::ocr::glyphs::{Drawing, VOCABULARY, draw};
use bethe_experiments::ocr::histories::Histories;
use bethe_experiments::ocr::learning::{
    Descent, Examples, Loss, Minimisation, Objective, WordFeatures, fit_base, learn_stochastic,
};
use bethe_experiments::ocr::lexicon::Lexicon;
use bethe_experiments::ocr::model::{Field, Model};
use bethe_experiments::ocr::reader::{self, Reader};
use bethe_learn::crf::Scorer;
use bethe_terminal::Folder;

/// How many words to show.
const SHOWN: usize = 6;
const SHEET: &str = "contact-sheet.svg";

/// Learns to read drawn words, and draws those that the chain alone gets wrong.
pub fn handwriting(out: &Folder) -> Result<String> {
    let words = draw(&VOCABULARY, &Drawing { folds: 2, copies: 12, noise: 0.16, seed: 1 });
    let (train, test): (Vec<usize>, Vec<usize>) =
        (0..words.len()).partition(|&w| words[w].fold == 0);
    let features = Features::pixels();
    let corpus = features.corpus(&words);
    let constant = WordFeatures::constant();
    let examples = Examples { words: &words, corpus: &corpus, features: &constant };
    let field = Arc::new(Field::new(features.len(), Histories::letters()));
    let how = Minimisation { l2: 1.0, energy_l2: 0.0, iterations: 50, least_decrease: 1e-3 };
    let model = fit_base(examples, &field, &train, &how);
    let mut scorer = Scorer::default();
    let scores: Vec<Vec<f64>> =
        corpus.iter().map(|word| model.scores(&mut scorer, word).to_vec()).collect();
    let lexicon = Arc::new(Lexicon::new(train.iter().map(|&word| &words[word].letters[..])));
    let energy = Arc::new(Energy::new(lexicon, Statistic::Letters, Search::Local));
    let objective = Objective {
        examples,
        field,
        energy: Some(energy.clone()),
        loss: Loss::Surrogate,
        limits: reader::settings(),
        fixed: Some((&model, &scores)),
    };
    let descent =
        Descent { l2: 0.0, energy_l2: 0.0, rates: [0.0, 0.5], passes: 3, batch: 8, seed: 0 };
    let weight = learn_stochastic(&objective, &train, vec![1.0], &descent)[0];
    let readings = read(&model, &energy, weight, &scores, &test);
    report(out, &words, &test, &readings, weight)
}

/// Each word as read by the chain alone and with the energy.
fn read(
    model: &Model,
    energy: &Arc<Energy>,
    weight: f64,
    scores: &[Vec<f64>],
    test: &[usize],
) -> Vec<[Vec<u8>; 2]> {
    let mut base = Reader::new(model, None, reader::settings());
    let mut reader = Reader::new(model, Some(energy.clone()), reader::settings());
    let both = test.iter().map(|&word| {
        let states = base.decode_base(&scores[word]).expect("letters forbid nothing");
        let alone = states.iter().map(|&letter| letter as u8).collect();
        let found = reader.infer(&scores[word], weight);
        [alone, reader.decode(&found)]
    });
    both.collect()
}

fn report(
    out: &Folder,
    words: &[Word],
    test: &[usize],
    readings: &[[Vec<u8>; 2]],
    weight: f64,
) -> Result<String> {
    let mut score = [Score::default(); 2];
    let mut samples = Vec::new();
    for (&at, [alone, near]) in test.iter().zip(readings) {
        let word = &words[at];
        score[0].add(alone, &word.letters);
        score[1].add(near, &word.letters);
        if *alone != word.letters && samples.len() < Sample::SHOWN {
            let [base, energy, truth] =
                [alone, near, &word.letters].map(|letters| spelled(letters));
            samples.push(Sample { images: word.images.clone(), base, energy, truth });
        }
    }
    out.text(SHEET, &contact_sheet("drawn letters", &samples))?;
    let mut text = format!(
        "1. Drawn words, and an energy that knows {} words\n\n\
         Letters with a sixth of their pixels wrong, read by a chain, and pulled towards the nearest\n\
         word of a dictionary with a learned weight ({weight:.1}). Words that neither has seen:\n\n",
        VOCABULARY.len()
    );
    writeln!(text, "  {:<28}{:>12}{:>12}", "", "chain alone", "with energy")?;
    let [alone, near] = score;
    let rows = [
        ("right letters, %", alone.accuracy(), near.accuracy()),
        ("words without a mistake, %", alone.word_accuracy(), near.word_accuracy()),
    ];
    for (name, alone, near) in rows {
        writeln!(text, "  {name:<28}{alone:>12.1}{near:>12.1}")?;
    }
    writeln!(text, "\n  {:<15}{:<15}truth", "chain alone", "with energy")?;
    for sample in samples.iter().take(SHOWN) {
        writeln!(text, "  {:<15}{:<15}{}", sample.base, sample.energy, sample.truth)?;
    }
    writeln!(text, "\n  picture: {}/{SHEET}\n", out.path().display())?;
    Ok(text)
}
