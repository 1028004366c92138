use std::sync::Arc;

use bethe_core::{Method, Norm, Settings};
use bethe_io::plot::{Chart, curves};
use bethe_learn::crf::Scorer;

use super::fold::Learned;
use super::rows::Pictured;
use crate::ocr::energy::Energy;
use crate::ocr::reader::Reader;

/// Iterations after which a reading is looked at.
const ITERATIONS: [usize; 10] = [0, 1, 2, 3, 4, 6, 8, 12, 20, 30];
/// The width of the smoothed norm.
const SMOOTHED: f64 = 0.1;

/// Draws how accuracy grows with the iterations of Bethe-RDA (the paper's Algorithm 1).
pub(super) fn accuracy_against_iterations(pictured: &Pictured) -> String {
    let x = ITERATIONS.map(|iterations| iterations as f64);
    let mut series: Vec<(&str, Vec<Option<f64>>)> = Vec::new();
    let kinds = [
        ("unigram", &pictured.unigram, Norm::L1),
        ("unigram, smoothed", &pictured.unigram, Norm::Huber(SMOOTHED)),
        ("word", &pictured.word, Norm::L1),
        ("word, smoothed", &pictured.word, Norm::Huber(SMOOTHED)),
    ];
    for (name, learned, norm) in kinds {
        let energy = Arc::new(Energy { norm, ..(*learned.energy).clone() });
        let accuracies =
            ITERATIONS.map(|iterations| accuracy(pictured, learned, &energy, iterations));
        series.push((name, accuracies.map(Some).to_vec()));
    }
    curves(&Chart {
        title: "Accuracy against iterations",
        note: &format!(
            "right letters of fold {}, Bethe-RDA stopped early; smoothed: huber with δ = {SMOOTHED}",
            pictured.fold.number
        ),
        across: "iterations",
        up: "right letters, %",
        x: &x,
        series: &series,
    })
}

/// Right letters in percent, if inference stops after this many iterations.
fn accuracy(
    pictured: &Pictured,
    learned: &Learned,
    energy: &Arc<Energy>,
    iterations: usize,
) -> f64 {
    let method = Method::Rda { beta: 0.0 };
    // Nothing else is to stop it.
    let limits = Settings {
        method,
        tolerance: f64::MIN_POSITIVE,
        max_iterations: iterations.max(1),
        ..Settings::default()
    };
    let mut reader = Reader::new(&learned.model, Some(energy.clone()), limits);
    let weight = if iterations == 0 { 0.0 } else { learned.parameters[0].max(0.0) };
    let mut scorer = Scorer::default();
    let score = pictured.fold.score(|word| {
        let scores = learned.model.scores(&mut scorer, pictured.base.corpus.sequence(word));
        let found = reader.infer(scores, weight);
        (reader.decode(&found), 0.0)
    });
    score.accuracy()
}
