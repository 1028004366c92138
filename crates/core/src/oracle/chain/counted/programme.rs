//! The dynamic programme over (state, totals of some counters), from the last position to the
//! first.
//!
//! Going backwards, an entry's loss is the sum of its regrets (see `n_best.rs`): the exact amount
//! by which the best assignment with these states is worse than decoding's, ignoring counters. So
//! it is a lower bound on the cost of obeying. If the best completion of an entry happens to obey,
//! nothing better comes from it. Entries are dropped if no continuation can obey, if an assignment
//! is known to be as good, or if there is no room. The least loss of the latter is remembered: an
//! assignment that costs less is proved to be the best.
//!
//! With prices on counts, losses are those of decoding with prices. An assignment that obeys then
//! costs its loss plus the slack of its totals, both below the same ceiling.

use super::Counter;
use super::layer::SETTLED;
use super::multipliers::{Multipliers, slack};
use super::pass::{Found, NOTHING, Pass, Room};
use super::prefixes::Prefixes;
use crate::cancel::Cancel;
use crate::oracle::chain::viterbi::Viterbi;

/// Entries kept per position in the first pass, whose answer prunes later passes.
const FIRST_WIDTH: usize = 8;
/// Factor by which passes widen, so that all together cost little more than the last.
const WIDENING: usize = 8;
/// Entries of the largest pass without prices. Most rules need small changes only, and finding them
/// costs less than finding good prices.
const MOST_WITHOUT_PRICES: usize = 1 << 14;
/// The assumed cost of each unit by which the best completion breaks a counter.
const UNIT_COST: f64 = 1.0;
/// Practically infinite: obeying comes first.
const OBEYING_FIRST: f64 = 1e6;

/// The best assignment found, and whether there is none better.
#[derive(Debug)]
pub(super) struct Answer {
    pub(super) best: Option<Found>,
    pub(super) proved: bool,
}

/// Solves for some counters.
pub(super) struct Solve<'a, 'v> {
    pub(super) viterbi: &'a mut Viterbi<'v>,
    pub(super) counters: &'a [&'a Counter],
    pub(super) budget: usize,
    /// Sees everything found that obeys the counters.
    pub(super) found: &'a mut dyn FnMut(&Found),
    pub(super) cancel: &'a Cancel,
}

impl Solve<'_, '_> {
    /// The best that obeys; `incumbent` does.
    pub(super) fn run(mut self, incumbent: Option<Found>) -> Answer {
        if !self.viterbi.shift.is_empty() {
            self.viterbi.shift.clear();
            self.viterbi.run();
        }
        let mut answer = Answer { best: incumbent, proved: false };
        self.without_prices(&mut answer);
        if !answer.proved {
            self.with_prices(&mut answer);
        }
        answer
    }

    /// Narrow passes. Also proves infeasibility of bounds that are out of reach on their own.
    fn without_prices(&mut self, answer: &mut Answer) {
        let prices = vec![0.0; self.counters.len()];
        let programme = Programme::new(self.viterbi, self.counters, prices, self.cancel);
        if programme.is_hopeless() {
            answer.proved = true;
            return;
        }
        let most = self.budget.min(MOST_WITHOUT_PRICES);
        let rooms = self.rooms(most).map(|room| (room, UNIT_COST));
        programme.run(self.budget, rooms, answer, self.found);
    }

    /// Passes at prices that make decoding almost obey.
    pub(super) fn with_prices(&mut self, answer: &mut Answer) {
        let Self { viterbi, counters, found, cancel, .. } = self;
        let prefixes = Prefixes::new(viterbi, counters);
        let numbered = counters.iter().enumerate();
        let priceless: Vec<bool> =
            numbered.map(|(c, counter)| prefixes.one_step_repairs(c, counter)).collect();
        let prices = Multipliers::find(viterbi, counters, &priceless, cancel, |assignment| {
            let better = answer.best.as_ref().is_none_or(|best| assignment.score > best.score);
            if better && counters.iter().all(|counter| counter.allows(&assignment.states)) {
                found(assignment);
                answer.best = Some(assignment.clone());
            }
        });
        let rooms = self.rooms(self.budget).chain([Room::Share]).map(|room| (room, UNIT_COST));
        let programme = Programme::new(self.viterbi, self.counters, prices, self.cancel);
        programme.run(self.budget, rooms, answer, self.found);
        if !answer.proved && answer.best.is_none() {
            programme.run(self.budget, [(Room::Share, OBEYING_FIRST)], answer, self.found);
        }
    }

    /// Passes of growing width with a limited number of entries.
    fn rooms(&self, most: usize) -> impl Iterator<Item = Room> + use<> {
        let length = self.viterbi.sequence.positions.len();
        let widths = std::iter::successors(Some(FIRST_WIDTH), |width| width.checked_mul(WIDENING));
        widths.take_while(move |width| width.saturating_mul(length) <= most).map(Room::Each)
    }
}

pub(super) struct Programme<'a> {
    pub(super) viterbi: &'a Viterbi<'a>,
    pub(super) counters: &'a [&'a Counter],
    pub(super) cancel: &'a Cancel,
    prices: Vec<f64>,
    /// No assignment that obeys scores more.
    ceiling: f64,
    prefixes: Prefixes<'a>,
    /// Whether one step is enough to obey again. `[counters]`
    one_step: Vec<bool>,
    /// States of one class have the same increments. `[states]`
    pub(super) class_of: Vec<usize>,
    /// A state of each class.
    pub(super) classes: Vec<usize>,
}

/// The outcome of an entry's best completion.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Completion {
    /// It obeys, and costs this much besides the loss.
    Obeys(f64),
    /// It breaks counters by this many units.
    Breaks(f64),
}

impl<'a> Programme<'a> {
    fn new(
        viterbi: &'a Viterbi<'a>,
        counters: &'a [&'a Counter],
        prices: Vec<f64>,
        cancel: &'a Cancel,
    ) -> Self {
        let prefixes = Prefixes::new(viterbi, counters);
        let decoded = Found::decoded(viterbi);
        let cost = |(counter, price): (&&Counter, &f64)| {
            slack(counter, *price, counter.total(&decoded.states))
        };
        let ceiling = decoded.score + counters.iter().zip(&prices).map(cost).sum::<f64>();
        let numbered = counters.iter().enumerate();
        let one_step = numbered.map(|(c, counter)| prefixes.one_step_repairs(c, counter)).collect();
        let (class_of, classes) = classes(counters);
        Self { viterbi, counters, cancel, prices, ceiling, prefixes, one_step, class_of, classes }
    }

    /// Passes with the room given until one is proved.
    fn run(
        &self,
        budget: usize,
        rooms: impl IntoIterator<Item = (Room, f64)>,
        answer: &mut Answer,
        found: &mut dyn FnMut(&Found),
    ) {
        for (room, unit_cost) in rooms {
            let best = answer.best.as_ref();
            let bound = best.map_or(f64::INFINITY, |best| self.ceiling - best.score);
            let mut pass = Pass::new(self, budget.min(NOTHING as usize), bound, unit_cost);
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
    }

    /// Whether a counter's bounds are out of reach.
    fn is_hopeless(&self) -> bool {
        let length = self.viterbi.sequence.positions.len();
        self.advance(length, None, &mut vec![0; self.counters.len()]).is_none()
    }

    /// Adds a state of `class` at `position` to the totals of what follows, and marks settled ones.
    /// No class stands for the end, where `position` is the number of positions. `None` if a
    /// counter is broken whatever comes before.
    pub(super) fn advance(
        &self,
        position: usize,
        class: Option<usize>,
        totals: &mut [i64],
    ) -> Option<()> {
        let before = self.prefixes.ranges(position);
        for (c, (total, counter)) in totals.iter_mut().zip(self.counters).enumerate() {
            if *total == SETTLED {
                continue;
            }
            if let Some(class) = class {
                *total += i64::from(counter.increments[self.classes[class]]);
            }
            let ((least, most), &Counter { lowest, highest, .. }) = (before[c], *counter);
            if *total + most < lowest || *total + least > highest || lowest > highest {
                return None;
            }
            if *total + least >= lowest && *total + most <= highest && self.prices[c] == 0.0 {
                *total = SETTLED;
            } else if self.one_step[c] && *total > highest {
                *total = highest + 1;
            }
        }
        Some(())
    }

    /// The outcome of the best states before `position`, with `state` there and these totals from
    /// there on.
    pub(super) fn completion(&self, position: usize, state: usize, totals: &[i64]) -> Completion {
        let best = self.prefixes.best(position, state);
        let (mut cost, mut units) = (0.0, 0.0);
        for (c, &counter) in self.counters.iter().enumerate() {
            if totals[c] == SETTLED {
                continue;
            }
            let total = totals[c] + best[c];
            let off =
                (counter.lowest.saturating_sub(total)).max(total.saturating_sub(counter.highest));
            if off <= 0 {
                cost += slack(counter, self.prices[c], total);
            } else {
                units += if self.one_step[c] { 1.0 } else { off as f64 };
            }
        }
        if units > 0.0 { Completion::Breaks(units) } else { Completion::Obeys(cost) }
    }
}

/// The class of each state, and a state of each class.
fn classes(counters: &[&Counter]) -> (Vec<usize>, Vec<usize>) {
    let mut classes: Vec<usize> = Vec::new();
    let states = counters.first().map_or(0, |counter| counter.increments.len());
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
    (class_of, classes)
}
