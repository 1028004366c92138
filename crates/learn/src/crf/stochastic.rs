use bethe_core::oracle::chain::TransitionCounts;
use rayon::prelude::*;

use super::likelihood::{add_transitions, write_transitions};
use super::residual::{Point, Worker};
use super::rows::Placed;
use super::structure::Structure;
use super::visits::Visits;
use crate::corpus::Corpus;
use crate::optimise::AdaGrad;

/// Sequences per batch.
const BATCH: usize = 16;

/// Stochastic gradients of `−Σ log p(y | x) + l2 ‖w‖²`, a batch of sequences at a time.
pub struct Stochastic<'a> {
    structure: &'a Structure,
    corpus: &'a Corpus,
    /// `[positions]`
    truth: &'a [u16],
    /// Places of the corpus's attributes. `[attributes]`
    places: Vec<u32>,
    l2: f64,
    /// Each batch pays its share of the penalty.
    visits: Visits,
    gradient: Vec<f64>,
    workers: Vec<Worker>,
}

impl<'a> Stochastic<'a> {
    /// Gradients over a corpus whose true states are `truth`. `[positions]`
    pub fn new(structure: &'a Structure, corpus: &'a Corpus, truth: &'a [u16], l2: f64) -> Self {
        assert_eq!(truth.len(), corpus.positions(), "a state for every position");
        let mut places = Vec::new();
        structure.rows().write_places(corpus.all_attributes(), &mut places);
        Self {
            structure,
            corpus,
            truth,
            places,
            l2,
            visits: Visits::new(corpus, structure.rows().len(), BATCH),
            gradient: vec![0.0; structure.weights()],
            workers: (0..BATCH).map(|_| Worker::default()).collect(),
        }
    }

    /// Processes the sequences in the given order; returns `−Σ log p(y | x)` along the way.
    pub fn epoch(&mut self, order: &[usize], descent: &mut AdaGrad) -> f64 {
        order.chunks(BATCH).map(|batch| self.step(batch, descent)).sum()
    }

    fn step(&mut self, batch: &[usize], descent: &mut AdaGrad) -> f64 {
        let Self { structure, corpus, truth, .. } = *self;
        let truth_of = |sequence: usize| {
            &truth[corpus.first_position(sequence)..][..corpus.sequence(sequence).len()]
        };
        let places = &self.places;
        let point = Point::new(structure, &descent.weights);
        let inferred = self.workers[..batch.len()].par_iter_mut().zip(batch);
        let parts: Vec<(f64, TransitionCounts)> = inferred
            .map(|(worker, &sequence)| {
                let mut counts = TransitionCounts::new(&point.model);
                let truth = truth_of(sequence);
                match truth.is_empty() {
                    true => (0.0, counts),
                    false => {
                        let placed = Placed::of(corpus, sequence, places);
                        (worker.infer(&point, placed, truth, &mut counts), counts)
                    }
                }
            })
            .collect();
        self.visits.touch(corpus, batch);
        let transitions = structure.rows().weights();
        let mut loss = 0.0;
        let mut slopes = vec![0.0; structure.weights() - transitions];
        let mut observed = vec![0.0; structure.states() * structure.states()];
        for ((worker, &sequence), (part, mut counts)) in
            self.workers.iter_mut().zip(batch).zip(parts)
        {
            if truth_of(sequence).is_empty() {
                continue;
            }
            let placed = Placed::of(corpus, sequence, &self.places);
            worker.add_gradient(structure, placed, &mut self.gradient);
            add_transitions(structure, truth_of(sequence), &mut observed);
            write_transitions(&point, &mut counts, &mut observed, &mut self.gradient);
            observed.fill(0.0);
            for (sum, own) in slopes.iter_mut().zip(&self.gradient[transitions..]) {
                *sum += own;
            }
            loss += part;
        }
        drop(point);
        self.descend(batch.len(), &slopes, descent);
        loss
    }

    /// A step along the gradient of a batch; `slopes` are those of transitions.
    fn descend(&mut self, batch: usize, slopes: &[f64], descent: &mut AdaGrad) {
        let rows = self.structure.rows();
        descent.begin_step();
        let per_visit = 2.0 * self.l2;
        for &attribute in self.visits.touched() {
            let decay = per_visit / self.visits.expected(attribute);
            // Weights of pairs never seen stay zero and are not visited.
            for (_, weight) in rows.attribute(attribute as usize) {
                let slope = self.gradient[weight] + decay * descent.weights[weight];
                descent.descend(weight, slope, f64::NEG_INFINITY);
            }
            self.gradient[rows.weights_of(attribute)].fill(0.0);
        }
        let decay = per_visit * batch as f64 / self.corpus.len() as f64;
        for (at, slope) in slopes.iter().enumerate() {
            let weight = rows.weights() + at;
            let slope = slope + decay * descent.weights[weight];
            descent.descend(weight, slope, f64::NEG_INFINITY);
        }
    }
}
