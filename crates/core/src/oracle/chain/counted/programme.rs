//! The dynamic programme over (state, totals of some counters), from the last position to the first.
//!
//! Going back, an entry's loss is the sum of its regrets (see `n_best.rs`): the exact amount by which
//! the best assignment with these states is worse than decoding's, counters aside, and so a lower
//! bound on what obeying them costs. An entry is done with once no continuation can break a counter:
//! then the best one completes it at no further loss. Entries are left out where no continuation can
//! obey, where a completed assignment is known to be as good, or where there is no room. The least
//! loss of the latter is remembered: what is completed for less is proved to be the best.

use super::Counter;
use super::layer::SETTLED;
use super::pass::{Found, NOTHING, Pass, Room};
use crate::oracle::chain::viterbi::Viterbi;

/// Entries kept for each position in the first pass, whose answer prunes the passes after it.
const FIRST_WIDTH: usize = 8;
/// By how much passes widen: then all of them together cost little more than the last.
const WIDENING: usize = 8;

/// The best assignment found, and whether there is none better.
#[derive(Debug)]
pub(super) struct Answer {
    pub(super) best: Option<Found>,
    pub(super) proved: bool,
}

pub(super) struct Programme<'a> {
    pub(super) viterbi: &'a Viterbi<'a>,
    pub(super) counters: &'a [&'a Counter],
    /// Least and greatest total of all positions before each. `[positions + 1][counters]`
    before: Vec<(i64, i64)>,
    /// States of one class have the same increments. `[states]`
    pub(super) class_of: Vec<usize>,
    /// A state of each class.
    pub(super) classes: Vec<usize>,
}

/// What adding a position does to the totals of those after it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Verdict {
    /// A counter is broken, whatever comes before.
    Broken,
    /// None is, whatever comes before.
    Settled,
    Open,
}

impl<'a> Programme<'a> {
    pub(super) fn new(viterbi: &'a Viterbi<'a>, counters: &'a [&'a Counter]) -> Self {
        let positions = &viterbi.sequence.positions;
        let mut before = vec![(0, 0); counters.len()];
        for (t, position) in positions.iter().enumerate() {
            let delta = &viterbi.messages.alpha[position.states()];
            for (c, counter) in counters.iter().enumerate() {
                let reachable = counter.increments.iter().zip(delta);
                let reachable = reachable.filter(|(_, delta)| **delta != f64::NEG_INFINITY);
                let (mut least, mut most) = (i64::MAX, i64::MIN);
                for (&increment, _) in reachable {
                    (least, most) = (least.min(increment.into()), most.max(increment.into()));
                }
                let (low, high) = before[t * counters.len() + c];
                before.push((low + least, high + most));
            }
        }
        let mut classes: Vec<usize> = Vec::new();
        let states = positions.first().map_or(0, |position| position.states);
        let alike = |a: usize, b: usize| {
            counters.iter().all(|counter| counter.increments[a] == counter.increments[b])
        };
        let mut class = |state: usize| {
            classes.iter().position(|&other| alike(state, other)).unwrap_or_else(|| {
                classes.push(state);
                classes.len() - 1
            })
        };
        let class_of = (0..states).map(&mut class).collect();
        Self { viterbi, counters, before, class_of, classes }
    }

    /// Passes of growing width until one is proved, then one with all room there is, then one that
    /// shares it. `incumbent` obeys the counters; every better one is shown to `found`.
    pub(super) fn solve(
        &self,
        budget: usize,
        incumbent: Option<Found>,
        mut found: impl FnMut(&Found),
    ) -> Answer {
        let length = self.viterbi.sequence.positions.len();
        let budget = budget.min(NOTHING as usize);
        let widths = std::iter::successors(Some(FIRST_WIDTH), |width| width.checked_mul(WIDENING));
        let narrow = widths.take_while(|width| width.saturating_mul(length) <= budget);
        let rooms = narrow.map(Room::Each).chain([Room::All, Room::Share]);
        let mut answer = Answer { best: incumbent, proved: false };
        for room in rooms {
            let bound = answer.best.as_ref().map_or(f64::INFINITY, |best| best.loss);
            let mut pass = Pass::new(self, budget, bound);
            pass.run(room);
            answer.proved = pass.proves();
            if let Some(better) = pass.found() {
                found(&better);
                answer.best = Some(better);
            }
            if answer.proved {
                break;
            }
        }
        answer
    }

    /// Adds a state of `class` at `position` to the totals of what follows, and marks those that are
    /// settled; no class stands for the end, `position` for the number of positions.
    pub(super) fn advance(
        &self,
        position: usize,
        class: Option<usize>,
        totals: &mut [i64],
    ) -> Verdict {
        let before = &self.before[position * self.counters.len()..];
        let mut settled = true;
        for ((total, counter), &(least, most)) in totals.iter_mut().zip(self.counters).zip(before) {
            if *total == SETTLED {
                continue;
            }
            if let Some(class) = class {
                *total += i64::from(counter.increments[self.classes[class]]);
            }
            let (lowest, highest) = (counter.lowest, counter.highest);
            if *total + most < lowest || *total + least > highest || lowest > highest {
                return Verdict::Broken;
            }
            if *total + least >= lowest && *total + most <= highest {
                *total = SETTLED;
            } else {
                settled = false;
            }
        }
        if settled { Verdict::Settled } else { Verdict::Open }
    }
}
