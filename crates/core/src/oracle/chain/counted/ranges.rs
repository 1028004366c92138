//! Least and greatest totals of the positions before each.

use super::Counter;
use crate::oracle::chain::viterbi::Viterbi;

/// Least and greatest total.
pub(super) type Range = (i64, i64);

/// The range of no assignment.
const NONE: Range = (i64::MAX, i64::MIN);

/// Goes from position to position. The totals before each state follow from those one position
/// earlier, by allowed transitions and states. If these do not change, and the last step moved all
/// totals of a counter equally, the next step does so again.
pub(super) struct Ranges<'a> {
    viterbi: &'a Viterbi<'a>,
    counters: &'a [&'a Counter],
    /// By how much each state moves totals. `[states][counters]`
    increments: Vec<i64>,
    /// The states of the current position that may come before each of the next.
    links: Links,
    /// Before each state of the current position. `[states][counters]`
    before: Vec<Range>,
    /// By how much the last step moved those of every state. `[counters]`
    shifts: Option<Vec<Range>>,
}

/// Lists of states, one for each state.
#[derive(Default)]
struct Links {
    /// Where each list ends.
    ends: Vec<usize>,
    states: Vec<u32>,
}

impl<'a> Ranges<'a> {
    /// Over allowed assignments, each counter on its own. `[positions + 1][counters]`
    pub(super) fn find(viterbi: &'a Viterbi, counters: &'a [&'a Counter]) -> Vec<Range> {
        let positions = &viterbi.sequence.positions;
        let states = positions.first().map_or(1, |first| first.states);
        let of_state = |state: usize| counters.iter().map(move |own| own.increments[state].into());
        let mut ranges = Self {
            viterbi,
            counters,
            increments: (0..states).flat_map(of_state).collect(),
            links: Links::default(),
            before: vec![(0, 0); states * counters.len()],
            shifts: None,
        };
        let mut found = vec![(0, 0); counters.len()];
        for t in 0..positions.len() {
            ranges.step(t);
            let overall = found.len();
            found.resize(overall + counters.len(), NONE);
            for own in ranges.before.chunks_exact(counters.len()) {
                for (overall, own) in found[overall..].iter_mut().zip(own) {
                    *overall = (overall.0.min(own.0), overall.1.max(own.1));
                }
            }
        }
        found
    }

    /// Goes from position `t` to the next.
    fn step(&mut self, t: usize) {
        let count = self.counters.len();
        if !self.is_alike(t) {
            self.shifts = None;
            self.find_links(t);
        }
        if let Some(shifts) = &self.shifts {
            for own in self.before.chunks_exact_mut(count) {
                for (own, shift) in own.iter_mut().zip(shifts).filter(|(own, _)| **own != NONE) {
                    *own = (own.0 + shift.0, own.1 + shift.1);
                }
            }
            return;
        }
        // Totals that include the position's own state, before any link is followed.
        let mut with_own = self.before.clone();
        for (own, step) in with_own.iter_mut().zip(&self.increments).filter(|(o, _)| **o != NONE) {
            *own = (own.0 + step, own.1 + step);
        }
        let mut after = vec![NONE; self.before.len()];
        let mut first = 0;
        for (after, &end) in after.chunks_exact_mut(count).zip(&self.links.ends) {
            for &state in &self.links.states[first..end] {
                let own = &with_own[state as usize * count..][..count];
                for (after, own) in after.iter_mut().zip(own) {
                    *after = (after.0.min(own.0), after.1.max(own.1));
                }
            }
            first = end;
        }
        self.shifts = self.shifts_to(&after, self.delta(t));
        self.before = after;
    }

    /// Lists what may come before each state of the position after `t`.
    fn find_links(&mut self, t: usize) {
        let delta = self.delta(t);
        let Links { ends, states } = &mut self.links;
        ends.clear();
        states.clear();
        let is_last = t + 1 == self.viterbi.sequence.positions.len();
        for next in 0..if is_last { 1 } else { delta.len() } {
            self.viterbi.for_each_before(t, next, |state, log_potential| {
                if delta[state] + log_potential != f64::NEG_INFINITY {
                    states.push(state as u32);
                }
            });
            ends.push(states.len());
        }
    }

    fn delta(&self, t: usize) -> &'a [f64] {
        &self.viterbi.messages.alpha[self.viterbi.sequence.positions[t].states()]
    }

    /// Whether the same states and transitions are allowed from position `t` as from the one before
    /// it.
    fn is_alike(&self, t: usize) -> bool {
        let (positions, links) = (&self.viterbi.sequence.positions, &self.viterbi.tilts.links);
        let is_inner = t > 0 && t + 1 < positions.len();
        is_inner
            && positions[t - 1].table == positions[t].table
            && links[t - 1] == links[t]
            && self
                .delta(t - 1)
                .iter()
                .zip(self.delta(t))
                .all(|(before, own)| (*before == f64::NEG_INFINITY) == (*own == f64::NEG_INFINITY))
    }

    /// How far `after` moved for every allowed state, if equally.
    fn shifts_to(&self, after: &[Range], delta: &[f64]) -> Option<Vec<Range>> {
        let count = self.counters.len();
        let rows = self.before.chunks_exact(count).zip(after.chunks_exact(count)).zip(delta);
        let mut allowed =
            rows.filter(|(_, delta)| **delta != f64::NEG_INFINITY).map(|(rows, _)| rows);
        let moved = |(before, after): (&Range, &Range)| match after {
            &NONE => None,
            after => Some((after.0 - before.0, after.1 - before.1)),
        };
        let (before, after) = allowed.next()?;
        let shifts: Vec<Range> = before.iter().zip(after).map(moved).collect::<Option<_>>()?;
        let is_same = |(before, after): (&[Range], &[Range])| {
            before.iter().zip(after).zip(&shifts).all(|(pair, shift)| moved(pair) == Some(*shift))
        };
        allowed.all(is_same).then_some(shifts)
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use rand::rngs::StdRng;
    use rand::{Rng, SeedableRng};

    use super::*;
    use crate::oracle::chain::{Chain, ChainModel};
    use crate::support::Support;

    const FORBIDDEN: f64 = f64::NEG_INFINITY;

    /// Ranges by listing every beginning that is allowed and can go on.
    fn listed(
        table: &[f64],
        scores: &[f64],
        (length, states): (usize, usize),
        counter: &Counter,
    ) -> Vec<Range> {
        let mut ranges = vec![(0, 0)];
        let mut beginnings: Vec<(Option<usize>, i64)> = vec![(None, 0)];
        for t in 0..length {
            let mut longer = Vec::new();
            for &(last, total) in &beginnings {
                for state in (0..states).filter(|state| scores[t * states + state] > FORBIDDEN) {
                    if last.is_none_or(|last| table[last * states + state] > FORBIDDEN) {
                        longer.push((Some(state), total + i64::from(counter.increments[state])));
                    }
                }
            }
            let row = |state: usize| &table[state * states..][..states];
            let goes_on = |&&(last, _): &&(Option<usize>, i64)| {
                let last = last.expect("a state");
                t + 1 == length || row(last).iter().any(|potential| *potential > FORBIDDEN)
            };
            let totals = || longer.iter().filter(goes_on).map(|&(_, total)| total);
            ranges.push((totals().min().unwrap_or(NONE.0), totals().max().unwrap_or(NONE.1)));
            beginnings = longer;
        }
        ranges
    }

    #[test]
    fn shortcuts_find_what_a_list_does() {
        let shape @ (length, states) = (9, 3);
        let mut rng = StdRng::seed_from_u64(5);
        let mut compared = 0;
        for round in 0..300 {
            let share = [0.0, 0.05, 0.2][round % 3];
            let mut entry = |_| match rng.random_bool(share) {
                true => FORBIDDEN,
                false => rng.random_range(-2.0..2.0),
            };
            let mut table: Vec<f64> = (0..states * states).map(&mut entry).collect();
            let scores: Vec<f64> = (0..length * states).map(&mut entry).collect();
            if round % 2 == 0 {
                table[rng.random_range(0..states * states)] = FORBIDDEN;
            }
            let increments = (0..states).map(|_| rng.random_range(-2..=2)).collect();
            let counter = Counter { increments, lowest: 0, highest: 0 };
            let model = Arc::new(ChainModel::homogeneous(states, &table).unwrap());
            let mut chain = Chain::new(model, &scores, Support::new()).unwrap();
            let Some(forward) = chain.forward(&[]) else { continue };
            let found = Ranges::find(&forward.viterbi, &[&counter]);
            assert_eq!(found, listed(&table, &scores, shape, &counter), "round {round}");
            compared += 1;
        }
        assert!(compared > 200, "{compared} chains");
    }
}
