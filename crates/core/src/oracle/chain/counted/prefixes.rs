//! Totals of the positions before each position: possible ranges, and those of the best prefix.

use std::cell::{Ref, RefCell};

use super::Counter;
use super::ranges::{Range, Ranges};
use crate::oracle::chain::sequence::Position;
use crate::oracle::chain::viterbi::Viterbi;

/// Totals of the positions before each, over allowed assignments.
pub(super) struct Prefixes<'a> {
    viterbi: &'a Viterbi<'a>,
    counters: &'a [&'a Counter],
    /// States of a position.
    states: usize,
    /// Least and greatest. `[positions + 1][counters]`
    ranges: Vec<Range>,
    /// Sum of the greatest positive increments of all positions. `[counters]`
    rises: Vec<i64>,
    best: RefCell<Best>,
}

/// Totals of the best assignment before each state, computed on demand. Few are ever needed.
struct Best {
    /// `[positions + 1][states]`
    known: Vec<bool>,
    /// `[positions + 1][states][counters]`
    totals: Vec<i64>,
}

impl<'a> Prefixes<'a> {
    pub(super) fn new(viterbi: &'a Viterbi<'a>, counters: &'a [&'a Counter]) -> Self {
        let positions = &viterbi.sequence.positions;
        let (count, states) = (counters.len(), positions.first().map_or(1, |first| first.states));
        let places = (positions.len() + 1) * states;
        let mut best = Best { known: vec![false; places], totals: vec![0; places * count] };
        best.known[..states].fill(true);
        let rise = |counter: &&Counter| {
            let at = |position: &Position| {
                let delta = &viterbi.messages.alpha[position.states()];
                let allowed = counter.increments.iter().zip(delta);
                let allowed = allowed.filter(|(_, delta)| **delta != f64::NEG_INFINITY);
                i64::from(allowed.map(|(&step, _)| step).max().unwrap_or(0).max(0))
            };
            positions.iter().map(at).sum()
        };
        Self {
            viterbi,
            counters,
            states,
            ranges: Ranges::find(viterbi, counters),
            rises: counters.iter().map(rise).collect(),
            best: RefCell::new(best),
        }
    }

    /// Least and greatest totals of all positions before this one. `[counters]`
    pub(super) fn ranges(&self, position: usize) -> &[Range] {
        &self.ranges[position * self.counters.len()..][..self.counters.len()]
    }

    /// The totals of the best assignment of all positions before this one, in this state.
    /// `[counters]`
    pub(super) fn best(&self, position: usize, state: usize) -> Ref<'_, [i64]> {
        self.best.borrow_mut().find(self, position, state);
        let (place, count) = (position * self.states + state, self.counters.len());
        Ref::map(self.best.borrow(), |best| &best.totals[place * count..][..count])
    }

    /// Whether a counter bounds its total only from above, and one falling step is enough to obey
    /// whatever else rises. Then totals beyond the bound are equivalent.
    pub(super) fn one_step_repairs(&self, c: usize, counter: &Counter) -> bool {
        let fall = counter.increments.iter().filter(|step| **step < 0).max();
        let fall = fall.map(|&step| i64::from(step));
        counter.lowest == i64::MIN
            && counter.highest < i64::MAX
            && fall.is_some_and(|fall| self.rises[c] + fall <= counter.highest)
    }
}

impl Best {
    /// Computes the totals before a state, and those of all states on the way there.
    fn find(&mut self, prefixes: &Prefixes, position: usize, state: usize) {
        let (states, count) = (prefixes.states, prefixes.counters.len());
        if self.known[position * states + state] {
            return;
        }
        let (mut first, mut way) = (position, vec![state]);
        while !self.known[first * states + way[way.len() - 1]] {
            first -= 1;
            way.push(prefixes.viterbi.best_before(first, way[way.len() - 1]).0);
        }
        for t in first..position {
            let [next, state] = [way.len() - 2, way.len() - 1].map(|at| way[at]);
            way.pop();
            let (from, to) = (t * states + state, (t + 1) * states + next);
            for (c, counter) in prefixes.counters.iter().enumerate() {
                let total = self.totals[from * count + c] + i64::from(counter.increments[state]);
                self.totals[to * count + c] = total;
            }
            self.known[to] = true;
        }
    }
}
