//! Rules that count states along a chain, which its decoder keeps exactly.

use super::rules::{Rule, Term, multiple};
use super::scores::Scores;
use super::search::Budget;
use crate::oracle::Chain;
use crate::oracle::chain::{Counted, Counter};
use crate::support::Support;

/// Most entries of the decoder, 8 bytes each.
const MOST_ENTRIES: usize = 1 << 20;

/// The best configuration that keeps rules which count alike at every position; `None` if the model
/// is not a chain, or the rules do not.
pub(super) fn decode(scores: &Scores, rules: &[Rule], budget: Budget) -> Option<Counted> {
    let base = &scores.base;
    let states = *base.cardinalities.first()?;
    if base.cardinalities.iter().any(|&other| other != states) {
        return None;
    }
    let counters: Option<Vec<Counter>> =
        rules.iter().map(|rule| counter(rule, base.variables(), states)).collect();
    let counters = counters?;
    let mut chain = Chain::from_base(base, &Support::new())?;
    let entries = MOST_ENTRIES.min(budget.cells);
    Some(chain.decode_counted_until(&[], &counters, entries, budget.cancel))
}

/// A rule as a counter over this many variables with this many states.
fn counter(rule: &Rule, variables: usize, states: usize) -> Option<Counter> {
    let first: &Term = rule.terms.first()?;
    let alike =
        |(variable, term): (usize, &Term)| term.table == variable && term.entries == first.entries;
    if rule.terms.len() != variables || !rule.terms.iter().enumerate().all(alike) {
        return None;
    }
    let unit = rule.unit()?;
    let mut increments = vec![0; states];
    for &(state, coefficient) in first.entries.iter() {
        increments[state] = multiple(coefficient, unit)?;
    }
    // `unit · total + offset ≤ 0`, up to rounding.
    let (most, slack) = (-rule.offset / unit, rule.tolerance / unit);
    let (lowest, highest) = ((most - slack).ceil(), (most + slack).floor());
    if lowest.abs().max(highest.abs()) > i64::MAX as f64 / 2.0 {
        return None;
    }
    let lowest = if rule.is_equality { lowest as i64 } else { i64::MIN };
    Some(Counter { increments, lowest, highest: highest as i64 })
}
