use std::ops::Range;

use bethe_core::oracle::chain::TransitionCounts;
use rayon::prelude::*;

use super::residual::{Point, Worker};
use super::structure::Structure;
use crate::corpus::Corpus;

/// Pieces that the corpus is cut into, whatever the number of threads: sums over sequences are taken
/// within a piece, then over pieces in their order.
const PIECES: usize = 8;
/// Fewest positions that are worth a piece, with a gradient of its own.
const POSITIONS_IN_A_PIECE: usize = 2048;

/// `−Σ log p(y | x)` over a corpus, with its gradient.
pub struct Likelihood<'a> {
    structure: &'a Structure,
    corpus: &'a Corpus,
    /// The true states. `[positions]`
    truth: &'a [u16],
    pieces: Vec<Piece>,
}

/// Some sequences, and the memory to go through them.
struct Piece {
    sequences: Range<usize>,
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
        let piece = |sequences| Piece {
            sequences,
            worker: Worker::default(),
            gradient: vec![0.0; structure.weights()],
            loss: 0.0,
        };
        let pieces = cut(corpus, count).into_iter().map(piece).collect();
        Self { structure, corpus, truth, pieces }
    }

    /// The loss at `weights`; its gradient overwrites `gradient`. Runs on the threads of the current
    /// pool.
    pub fn evaluate(&mut self, weights: &[f64], gradient: &mut [f64]) -> f64 {
        let Self { structure, corpus, truth, pieces } = self;
        let point = Point::new(structure, weights);
        pieces.par_iter_mut().for_each(|piece| piece.run(&point, corpus, truth));
        const CHUNK: usize = 1 << 14;
        gradient.par_chunks_mut(CHUNK).enumerate().for_each(|(chunk, gradient)| {
            let range = chunk * CHUNK..chunk * CHUNK + gradient.len();
            gradient.copy_from_slice(&pieces[0].gradient[range.clone()]);
            for piece in &pieces[1..] {
                for (sum, own) in gradient.iter_mut().zip(&piece.gradient[range.clone()]) {
                    *sum += own;
                }
            }
        });
        structure.rows().for_each_unseen(|weight| gradient[weight] = 0.0);
        pieces.iter().map(|piece| piece.loss).sum()
    }
}

impl Piece {
    fn run(&mut self, point: &Point, corpus: &Corpus, truth: &[u16]) {
        self.gradient.fill(0.0);
        self.loss = 0.0;
        let mut counts = TransitionCounts::new(&point.model);
        let mut observed = vec![0.0; point.structure.states() * point.structure.states()];
        for sequence in self.sequences.clone() {
            let observations = corpus.sequence(sequence);
            let truth = &truth[corpus.first_position(sequence)..][..observations.len()];
            if truth.is_empty() {
                continue;
            }
            self.loss += self.worker.infer(point, observations, truth, &mut counts);
            self.worker.add_gradient(point.structure, observations, &mut self.gradient);
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

/// Writes expected less observed transitions to the gradient of their weights; `observed` is used up.
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

/// Cuts a corpus into runs of sequences with about as many positions each.
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
