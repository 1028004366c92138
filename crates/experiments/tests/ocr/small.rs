//! Small models and lexicons, with everything enumerable.

use std::sync::Arc;

use bethe_core::{
    Energy as Stated, Method, Model as Graph, Norm, Problem, Request, Settings, Term,
};
use bethe_experiments::ocr::data::LETTERS;
use bethe_experiments::ocr::energy::{Energy, Statistic};
use bethe_experiments::ocr::histories::Histories;
use bethe_experiments::ocr::lexicon::{Lexicon, counts};
use bethe_experiments::ocr::model::{Field, Model};
use rand::rngs::StdRng;
use rand::{Rng, SeedableRng};

/// Numbers between −1 and 1.
pub fn numbers(count: usize, seed: u64) -> Vec<f64> {
    let mut rng = StdRng::seed_from_u64(seed);
    (0..count).map(|_| rng.random_range(-1.0..1.0)).collect()
}

/// A model over letters of one attribute, with random transitions.
pub fn model(seed: u64) -> Model {
    let field = Arc::new(Field::new(1, Histories::letters()));
    let weights = numbers(field.weights(), seed);
    Model::new(field, weights)
}

/// Scores of letters, with some letters favoured.
pub fn scores(length: usize, seed: u64) -> Vec<f64> {
    let mut scores = numbers(length * LETTERS, seed);
    for (t, row) in scores.chunks_mut(LETTERS).enumerate() {
        for letter in 0..4 {
            row[(letter * (t + 1) + seed as usize) % 6] += 2.0;
        }
    }
    scores
}

/// Words of the first few letters.
pub fn lexicon(words: &[&[u8]]) -> Arc<Lexicon> {
    Arc::new(Lexicon::new(words.iter().copied()))
}

/// The same problem, stated over variables and factors.
pub fn problem(model: &Model, scores: &[f64], energy: &Energy, weight: f64) -> Problem {
    let length = scores.len() / LETTERS;
    let mut graph = Graph::new(&vec![LETTERS; length]).unwrap();
    for (t, row) in scores.chunks(LETTERS).enumerate() {
        graph.add_factor(&[t], row).unwrap();
    }
    for t in 1..length {
        graph.add_factor(&[t - 1, t], &model.table).unwrap();
    }
    let term = |t: usize, letter: usize| {
        let mut coefficients = vec![0.0; LETTERS];
        coefficients[letter] = 1.0;
        Term { scope: vec![t], coefficients }
    };
    let words = energy.lexicon.words().iter();
    let any = energy.statistic == Statistic::Counts { any_length: true };
    let words: Vec<&Vec<u8>> = words.filter(|word| any || word.len() == length).collect();
    let (measurements, points): (Vec<Vec<Term>>, Vec<Vec<f64>>) = match energy.statistic {
        Statistic::Counts { .. } => (
            (0..LETTERS).map(|k| (0..length).map(|t| term(t, k)).collect()).collect(),
            words.iter().map(|word| counts(word)).collect(),
        ),
        Statistic::Letters => (
            (0..length * LETTERS).map(|c| vec![term(c / LETTERS, c % LETTERS)]).collect(),
            words.iter().map(|word| bethe_experiments::ocr::energy::indicators(word)).collect(),
        ),
    };
    let scale = if let Norm::Huber(delta) = energy.norm { delta } else { 1.0 };
    let stated = Stated::Nearest {
        weight: weight / scale,
        norm: energy.norm,
        cap: energy.cap.map(|cap| cap * scale),
        measurements,
        points,
    };
    Problem::new(graph, vec![stated]).unwrap()
}

/// The least objective over all words, with a certificate of the core's.
pub fn optimum(problem: &Problem) -> f64 {
    let settings = Settings { method: Method::Global, tolerance: 1e-9, ..Settings::default() };
    let (request, mut observer) = (Request::default(), bethe_core::solve::Ignore);
    let answer = problem.solve_with(&settings, &request, &mut observer).unwrap();
    assert!(answer.gap.unwrap() < 1e-5, "{:?}", answer.gap);
    answer.objective.unwrap()
}

/// Every assignment of a length, with its score.
pub fn assignments(model: &Model, scores: &[f64]) -> Vec<(Vec<u8>, f64)> {
    let length = scores.len() / LETTERS;
    let all = (0..LETTERS.pow(length as u32)).map(|mut number| {
        let mut letters = vec![0u8; length];
        for letter in &mut letters {
            *letter = (number % LETTERS) as u8;
            number /= LETTERS;
        }
        letters
    });
    let path = |letters: &[u8]| letters.iter().map(|&l| u16::from(l)).collect::<Vec<_>>();
    all.map(|letters| {
        let score = model.score(scores, &path(&letters));
        (letters, score)
    })
    .collect()
}
