//! Small random fields.

#![allow(dead_code)]

use bethe_learn::corpus::Corpus;
use bethe_learn::crf::{AttributeStates, Borders, Structure, Transitions};
use rand::rngs::StdRng;
use rand::{Rng, SeedableRng};

/// A corpus with the truth, and a structure with every weight that the truth has a use for.
pub struct Example {
    pub corpus: Corpus,
    pub truth: Vec<u16>,
    pub structure: Structure,
}

/// Sequences whose first attribute leans to the true state; real values, empty positions and
/// sequences, a forbidden transition, first and last states that are forbidden.
pub fn example(seed: u64, states: usize, sequences: usize) -> Example {
    let mut rng = StdRng::seed_from_u64(seed);
    let attributes = 40;
    let mut corpus = Corpus::new();
    let mut truth = Vec::new();
    let mut lists = vec![Vec::new(); attributes];
    let mut seen = Vec::new();
    let forbidden = |from: usize, to: usize| states > 2 && from + 1 == to && to == states - 1;
    let may_start = |state: usize| states == 1 || state != 1;
    let may_end = |state: usize| states < 3 || state != 2;
    for _ in 0..sequences {
        let length = rng.random_range(0..9);
        let mut before: Option<usize> = None;
        for t in 0..length {
            let state = loop {
                let state = rng.random_range(0..states);
                let follows = before.is_none_or(|before| !forbidden(before, state));
                if follows && (t > 0 || may_start(state)) && (t + 1 < length || may_end(state)) {
                    break state;
                }
            };
            if let Some(before) = before {
                seen.push((before as u16, state as u16));
            }
            for _ in 0..rng.random_range(0..4) {
                let attribute =
                    if rng.random_bool(0.5) { state } else { rng.random_range(0..attributes) };
                let value = if rng.random_bool(0.7) { 1.0 } else { rng.random_range(-1.0..2.0) };
                corpus.push(attribute as u32, value);
                lists[attribute].push(state as u16);
            }
            corpus.end_position();
            truth.push(state as u16);
            before = Some(state);
        }
        corpus.end_sequence();
    }
    for list in lists.iter_mut().chain([&mut Vec::new()]) {
        list.sort_unstable();
        list.dedup();
    }
    seen.sort_unstable();
    seen.dedup();
    let forbidden =
        (0..states * states).map(|cell| forbidden(cell / states, cell % states)).collect();
    let borders = Borders {
        not_first: (0..states).map(|state| !may_start(state)).collect(),
        not_last: (0..states).map(|state| !may_end(state)).collect(),
    };
    let transitions = Transitions { forbidden, weighted: seen };
    let mut attributes = AttributeStates::default();
    for list in lists {
        attributes.states.extend(list);
        attributes.ends.push(attributes.states.len() as u32);
    }
    let structure = Structure::new(states, attributes, transitions, borders).unwrap();
    Example { corpus, truth, structure }
}

/// Random weights, zero where they must stay so.
pub fn random_weights(seed: u64, structure: &Structure) -> Vec<f64> {
    let mut rng = StdRng::seed_from_u64(seed);
    let mut weights: Vec<f64> =
        (0..structure.weights()).map(|_| rng.random_range(-1.0..1.0)).collect();
    structure.rows().for_each_unseen(|weight| weights[weight] = 0.0);
    weights
}

/// A pool of some threads.
pub fn pool(threads: usize) -> rayon::ThreadPool {
    rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap()
}
