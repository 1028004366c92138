//! What may come before a position, and what would.

use super::Counter;
use super::ranges::{Range, Ranges};
use crate::oracle::chain::viterbi::Viterbi;

/// Totals of the positions before each, over allowed assignments.
pub(super) struct Prefixes {
    counters: usize,
    /// States of a position.
    states: usize,
    /// Least and greatest. `[positions + 1][counters]`
    ranges: Vec<Range>,
    /// That of the best assignment before a state; after the last position before none.
    /// `[positions + 1][states][counters]`
    best: Vec<i64>,
    /// Sum of the greatest positive increments of all positions. `[counters]`
    rises: Vec<i64>,
}

impl Prefixes {
    pub(super) fn new(viterbi: &Viterbi, counters: &[&Counter]) -> Self {
        let positions = &viterbi.sequence.positions;
        let (count, states) = (counters.len(), positions.first().map_or(1, |first| first.states));
        let mut prefixes = Self {
            counters: count,
            states,
            ranges: Ranges::find(viterbi, counters),
            best: vec![0; (positions.len() + 1) * states * count],
            rises: vec![0; count],
        };
        for t in 0..positions.len() {
            prefixes.step(viterbi, counters, t);
        }
        prefixes
    }

    /// Goes from position `t` to the next.
    fn step(&mut self, viterbi: &Viterbi, counters: &[&Counter], t: usize) {
        let (count, positions) = (self.counters, &viterbi.sequence.positions);
        let delta = &viterbi.messages.alpha[positions[t].states()];
        let nexts = if t + 1 < positions.len() { self.states } else { 1 };
        for next in 0..nexts {
            let (state, _) = viterbi.best_before(t, next);
            let (from, to) = (t * self.states + state, (t + 1) * self.states + next);
            for (c, counter) in counters.iter().enumerate() {
                let total = self.best[from * count + c] + i64::from(counter.increments[state]);
                self.best[to * count + c] = total;
            }
        }
        for (rise, counter) in self.rises.iter_mut().zip(counters) {
            let allowed = counter.increments.iter().zip(delta);
            let allowed = allowed.filter(|(_, delta)| **delta != f64::NEG_INFINITY);
            *rise += i64::from(allowed.map(|(&step, _)| step).max().unwrap_or(0).max(0));
        }
    }

    /// Least and greatest totals of all positions before this one. `[counters]`
    pub(super) fn ranges(&self, position: usize) -> &[Range] {
        &self.ranges[position * self.counters..][..self.counters]
    }

    /// The totals of the best assignment of all positions before this one, in this state. `[counters]`
    pub(super) fn best(&self, position: usize, state: usize) -> &[i64] {
        &self.best[(position * self.states + state) * self.counters..][..self.counters]
    }

    /// Whether a counter bounds its total from above only, and one falling step keeps it there whatever
    /// else rises: then totals beyond the bound differ in nothing.
    pub(super) fn one_step_repairs(&self, c: usize, counter: &Counter) -> bool {
        let fall = counter.increments.iter().filter(|step| **step < 0).max();
        let fall = fall.map(|&step| i64::from(step));
        counter.lowest == i64::MIN
            && counter.highest < i64::MAX
            && fall.is_some_and(|fall| self.rises[c] + fall <= counter.highest)
    }
}
