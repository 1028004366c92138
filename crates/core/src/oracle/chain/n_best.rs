//! The best assignments, not only the best one: `score(y) = max score − Σ_t regret_t(y_t |
//! y_{t+1})`.
//!
//! The way there of decoding, `δ`, tells for every state before a given one what it costs to choose
//! it instead of the best: `regret_t(i | j) = max_k (δ_t(k) + θ(k, j)) − (δ_t(i) + θ(i, j)) ≥ 0`.
//! An assignment is named by the positions where it pays a regret, from the end; so each one found
//! opens those that deviate from it once more, further ahead, and the cheapest waiting is the next
//! best. No more are kept waiting than are still wanted: `O(T·K)` time for each assignment.

use std::cmp::{Ordering, Reverse};
use std::collections::BTreeSet;

use super::oracle::{Chain, Forward};
use super::viterbi::Viterbi;
use crate::oracle::Oracle;

#[cfg(test)]
mod tests;

/// An assignment and its score.
#[derive(Clone, Debug, PartialEq)]
pub struct Path {
    /// State of each variable, as [`Oracle::decode`] numbers them. `[variables]`
    pub assignment: Vec<usize>,
    /// `⟨θ + tilt, assignment⟩`, as [`Oracle::decode`] returns it.
    pub score: f64,
}

impl Chain {
    /// The `count` best distinct assignments at `θ + tilt`, best first; fewer where fewer are
    /// allowed.
    ///
    /// The first is that of [`Oracle::decode`]. Assignments of equal scores come in an order that
    /// depends on nothing but the chain and the tilt. Use it to rerank candidates, or to see how
    /// close the runners-up are; for the best assignment that obeys a rule on counts, which may be
    /// far down this list, use [`Chain::decode_counted`].
    ///
    /// Takes a decoding, and for each assignment the time to look at every transition into it, and
    /// its own memory. Invalidates what [`Oracle::visit_marginals`] reads.
    ///
    /// # Panics
    /// If `tilt` is not of the support's length.
    pub fn n_best(&mut self, tilt: &[f64], count: usize) -> Vec<Path> {
        assert_eq!(tilt.len(), self.support().len(), "coordinates of the tilt");
        let Some(Forward { viterbi, numbering, constant }) = self.forward(tilt) else {
            return Vec::new();
        };
        let best = viterbi.trace_back(|_, _| {}) + constant;
        if count == 0 || best == f64::NEG_INFINITY {
            return Vec::new();
        }
        let found = Search::new(&viterbi, count).run();
        let path = |Found { loss, states }: Found| Path {
            assignment: numbering.by_variable(&states),
            score: best - loss,
        };
        found.into_iter().map(path).collect()
    }
}

/// An assignment that was found.
struct Found {
    /// What it scores less than the best.
    loss: f64,
    /// `[positions]`
    states: Vec<usize>,
}

/// An assignment that is known to exist: another's states after `position`, `state` there, and what
/// is best before.
#[derive(Clone, Copy)]
struct Deviation {
    loss: f64,
    /// The other, by its place among those found.
    from: usize,
    position: usize,
    state: usize,
}

impl Ord for Deviation {
    fn cmp(&self, other: &Self) -> Ordering {
        // In the order of finding, so that one of equal loss never takes another's place.
        let place = |own: &Self| (own.from, Reverse(own.position), own.state);
        self.loss.total_cmp(&other.loss).then_with(|| place(self).cmp(&place(other)))
    }
}

impl PartialOrd for Deviation {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl PartialEq for Deviation {
    fn eq(&self, other: &Self) -> bool {
        self.cmp(other) == Ordering::Equal
    }
}

impl Eq for Deviation {}

struct Search<'a> {
    viterbi: &'a Viterbi<'a>,
    /// How many assignments are asked for.
    count: usize,
    found: Vec<Found>,
    /// The cheapest deviations, as many as assignments are wanted besides those found.
    waiting: BTreeSet<Deviation>,
    /// States before one state, with their regrets.
    regrets: Vec<(usize, f64)>,
}

impl<'a> Search<'a> {
    fn new(viterbi: &'a Viterbi<'a>, count: usize) -> Self {
        Self { viterbi, count, found: vec![], waiting: BTreeSet::new(), regrets: vec![] }
    }

    fn run(mut self) -> Vec<Found> {
        let length = self.viterbi.sequence.positions.len();
        self.complete(Found { loss: 0.0, states: vec![0; length] }, length);
        while self.found.len() < self.count
            && let Some(Deviation { loss, from, position, state }) = self.waiting.pop_first()
        {
            let mut states = self.found[from].states.clone();
            states[position] = state;
            self.complete(Found { loss, states }, position);
        }
        self.found
    }

    /// Goes on with what is best before position `end`; whatever else is possible there waits.
    fn complete(&mut self, mut path: Found, end: usize) {
        let (from, wanted) = (self.found.len(), self.count - self.found.len() - 1);
        while self.waiting.len() > wanted {
            self.waiting.pop_last();
        }
        let mut limit = self.limit(wanted);
        for position in (0..end).rev() {
            let next = path.states.get(position + 1).copied().unwrap_or(0);
            self.viterbi.regrets(position, next, &mut self.regrets);
            let best = self.regrets.iter().position(|&(_, regret)| regret == 0.0).unwrap_or(0);
            path.states[position] = self.regrets.get(best).map_or(0, |&(state, _)| state);
            for (place, &(state, regret)) in self.regrets.iter().enumerate() {
                let loss = path.loss + regret;
                if place == best || loss >= limit {
                    continue;
                }
                self.waiting.insert(Deviation { loss, from, position, state });
                if self.waiting.len() > wanted {
                    self.waiting.pop_last();
                    limit = self.limit(wanted);
                }
            }
        }
        self.found.push(path);
    }

    /// Losses below this are worth waiting for.
    fn limit(&self, wanted: usize) -> f64 {
        match self.waiting.last() {
            _ if wanted == 0 => f64::NEG_INFINITY,
            Some(last) if self.waiting.len() >= wanted => last.loss,
            _ => f64::INFINITY,
        }
    }
}
