//! The n best assignments: `score(y) = max score − Σ_t regret_t(y_t | y_{t+1})`.
//!
//! The forward pass of decoding, `δ`, gives the cost of each predecessor of a state compared with
//! the best one: `regret_t(i | j) = max_k (δ_t(k) + θ(k, j)) − (δ_t(i) + θ(i, j)) ≥ 0`. An
//! assignment is determined by the positions at which it pays a regret, from the end. So each
//! assignment found opens those that deviate from it once more, further ahead, and the cheapest
//! open one is the next best. Only as many stay open as are still wanted: `O(T·K)` time per
//! assignment.

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
    /// The `count` best distinct assignments at `θ + tilt`, best first; fewer if fewer are allowed.
    ///
    /// The first is that of [`Oracle::decode`]. The order of equal scores depends only on the chain
    /// and the tilt. Use it to rerank candidates, or to see how close the runners-up are. For the
    /// best assignment that obeys a rule on counts, which may be far down this list, use
    /// [`Chain::decode_counted`].
    ///
    /// The cost is one decoding, plus for each assignment a look at every transition into it, and
    /// its memory. Invalidates what [`Oracle::visit_marginals`] reads.
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
    /// The best score minus its own.
    loss: f64,
    /// `[positions]`
    states: Vec<usize>,
}

/// An open assignment: another's states after `position`, `state` there, and the best states
/// before.
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
        // Ties in the order of finding, so that the result is deterministic.
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
    /// How many assignments are wanted.
    count: usize,
    found: Vec<Found>,
    /// The cheapest deviations, as many as are still wanted.
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

    /// Completes an assignment with the best states before position `end`; other choices stay open.
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

    /// Losses below this are worth keeping.
    fn limit(&self, wanted: usize) -> f64 {
        match self.waiting.last() {
            _ if wanted == 0 => f64::NEG_INFINITY,
            Some(last) if self.waiting.len() >= wanted => last.loss,
            _ => f64::INFINITY,
        }
    }
}
