use std::ops::Range;

use bethe_core::oracle::chain::TransitionCounts;
use rayon::prelude::*;

use super::residual::{Point, Worker};
use super::rows::Placed;
use super::structure::Structure;
use crate::corpus::Corpus;

/// Pieces of the corpus, for any number of threads. Sums are taken within a piece, then over pieces
/// in order, so results do not depend on threads. Each running thread has a gradient of its own.
const PIECES: usize = 8;
/// Fewest positions of a piece.
const POSITIONS_IN_A_PIECE: usize = 2048;

/// `−Σ log p(y | x)` over a corpus, with its gradient.
pub struct Likelihood<'a> {
    structure: &'a Structure,
    corpus: &'a Corpus,
    /// The true states. `[positions]`
    truth: &'a [u16],
    /// Places of the corpus's attributes. `[attributes]`
    places: Vec<u32>,
    /// The sequences of each piece.
    pieces: Vec<Range<usize>>,
    lanes: Vec<Lane>,
}

/// Scratch memory for a piece, and its results.
#[derive(Default)]
struct Lane {
    worker: Worker,
    gradient: Vec<f64>,
    loss: f64,
}

impl<'a> Likelihood<'a> {
    /// The likelihood of the true states, `[positions]` of the corpus.
    ///
    /// # Panics
    /// If there is not one state for every position.
    pub fn new(structure: &'a Structure, corpus: &'a Corpus, truth: &'a [u16]) -> Self {
        assert_eq!(truth.len(), corpus.positions(), "a state for every position");
        let count = (corpus.positions() / POSITIONS_IN_A_PIECE).clamp(1, PIECES);
        let mut places = Vec::new();
        structure.rows().write_places(corpus.all_attributes(), &mut places);
        let pieces = cut(corpus, count);
        Self { structure, corpus, truth, places, pieces, lanes: Vec::new() }
    }

    /// The loss at `weights`; its gradient overwrites `gradient`. Runs on the threads of the
    /// current pool.
    pub fn evaluate(&mut self, weights: &[f64], gradient: &mut [f64]) -> f64 {
        let Self { structure, corpus, truth, places, pieces, lanes } = self;
        let point = Point::new(structure, weights);
        let together = rayon::current_num_threads().min(pieces.len());
        lanes.resize_with(together, Lane::default);
        gradient.fill(0.0);
        let mut loss = 0.0;
        for pieces in pieces.chunks(together) {
            let lanes = &mut lanes[..pieces.len()];
            lanes.par_iter_mut().zip(pieces).for_each(|(lane, piece)| {
                lane.run(&point, corpus, places, truth, piece.clone());
            });
            const CHUNK: usize = 1 << 14;
            gradient.par_chunks_mut(CHUNK).enumerate().for_each(|(chunk, gradient)| {
                let range = chunk * CHUNK..chunk * CHUNK + gradient.len();
                for lane in &*lanes {
                    for (sum, own) in gradient.iter_mut().zip(&lane.gradient[range.clone()]) {
                        *sum += own;
                    }
                }
            });
            // In order, so that the sum does not depend on the number of threads.
            lanes.iter().for_each(|lane| loss += lane.loss);
        }
        structure.rows().for_each_unseen(|weight| gradient[weight] = 0.0);
        loss
    }
}

impl Lane {
    fn run(
        &mut self,
        point: &Point,
        corpus: &Corpus,
        places: &[u32],
        truth: &[u16],
        sequences: Range<usize>,
    ) {
        self.gradient.clear();
        self.gradient.resize(point.structure.weights(), 0.0);
        self.loss = 0.0;
        let mut counts = TransitionCounts::new(&point.model);
        let mut observed = vec![0.0; point.structure.states() * point.structure.states()];
        for sequence in sequences {
            let observations = corpus.sequence(sequence);
            let truth = &truth[corpus.first_position(sequence)..][..observations.len()];
            if truth.is_empty() {
                continue;
            }
            let placed = Placed::of(corpus, sequence, places);
            self.loss += self.worker.infer(point, placed, truth, &mut counts);
            self.worker.add_gradient(point.structure, placed, &mut self.gradient);
            add_transitions(point.structure, truth, &mut observed);
        }
        write_transitions(point, &mut counts, &mut observed, &mut self.gradient);
    }
}

/// Counts the transitions of an assignment. `[states][states]`
pub(super) fn add_transitions(structure: &Structure, truth: &[u16], observed: &mut [f64]) {
    for pair in truth.windows(2) {
        observed[usize::from(pair[0]) * structure.states() + usize::from(pair[1])] += 1.0;
    }
}

/// Writes expected minus observed transitions to the gradient of their weights; `observed` is
/// overwritten.
pub(super) fn write_transitions(
    point: &Point,
    counts: &mut TransitionCounts,
    observed: &mut [f64],
    gradient: &mut [f64],
) {
    let structure = point.structure;
    let states = structure.states();
    counts.take(&point.model, |from, to, count| observed[from * states + to] -= count);
    let slopes = &mut gradient[structure.rows().weights()..];
    for (slope, &(from, to)) in slopes.iter_mut().zip(&structure.transitions().weighted) {
        *slope = -observed[usize::from(from) * states + usize::from(to)];
    }
}

/// Cuts a corpus into runs of sequences with about equally many positions.
pub(crate) fn cut(corpus: &Corpus, count: usize) -> Vec<Range<usize>> {
    let mut first = 0;
    let piece = |piece: usize| {
        let until = (piece + 1) * corpus.positions() / count;
        let mut end = first;
        while end < corpus.len() && (piece + 1 == count || corpus.first_position(end) < until) {
            end += 1;
        }
        std::mem::replace(&mut first, end)..end
    };
    (0..count).map(piece).collect()
}
