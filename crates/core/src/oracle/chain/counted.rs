//! The best assignment under hard rules on counts:
//!
//! ```text
//! max ⟨θ + tilt, y⟩   where   lowest_c ≤ Σ_t increments_c(y_t) ≤ highest_c   for every counter c
//! ```
//!
//! Counters are added as they are broken: decoding that breaks none is optimal; otherwise the ones
//! it broke join those that a dynamic programme over (state, totals) keeps. Where that is too much
//! work, prices on what is counted (Lagrange multipliers) first bring decoding close to obeying;
//! then few totals are left that could be better.

mod layer;
mod multipliers;
mod pass;
mod prefixes;
mod programme;
mod ranges;
#[cfg(test)]
mod tests;

use super::n_best::Path;
use super::oracle::{Chain, Forward};
use super::viterbi::Viterbi;
use crate::cancel::Cancel;
use crate::oracle::Oracle;
use pass::Found;
use programme::{Answer, Solve};

/// A rule on a count: each position adds the increment of its state, and the total over all
/// positions lies within `lowest..=highest`. Nothing obeys where `lowest > highest`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Counter {
    /// What a position in this state adds. `[states]`
    pub increments: Vec<i32>,
    /// Least total allowed; `i64::MIN` for any.
    pub lowest: i64,
    /// Greatest total allowed; `i64::MAX` for any.
    pub highest: i64,
}

impl Counter {
    /// The total of an assignment.
    pub fn total(&self, assignment: &[usize]) -> i64 {
        assignment.iter().map(|&state| i64::from(self.increments[state])).sum()
    }

    /// Whether an assignment obeys the rule.
    pub fn allows(&self, assignment: &[usize]) -> bool {
        (self.lowest..=self.highest).contains(&self.total(assignment))
    }
}

/// The outcome of [`Chain::decode_counted`].
#[derive(Clone, Debug, PartialEq)]
pub enum Counted {
    /// No assignment that obeys every counter scores more than this one.
    Best(Path),
    /// No allowed assignment obeys every counter.
    Impossible,
    /// Neither was proved within the budget.
    OverBudget {
        /// An assignment that obeys every counter, if one was found; perhaps not the best.
        best: Option<Path>,
    },
}

impl Chain {
    /// The best assignment at `θ + tilt` whose every counter's total is allowed.
    ///
    /// Use it for hard rules on whole sequences: at most one `title`, at least one verb, as many
    /// opening as closing brackets (increments `+1` and `−1`). Rules that cost rather than forbid
    /// are energies, and belong to a solver. Counts run over the chain's own variables: those that
    /// a base model has left out, observed or of one state, add nothing.
    ///
    /// The work grows with the number of totals at one position that might still be the best: few
    /// where prices on counts bring decoding close to obeying, however far off it was. Beside
    /// tables of the size positions × states × counters, at most `budget` entries (position, state,
    /// totals) of 8 bytes are stored at a time; where that is not enough for a proof, the most
    /// promising ones are kept, which in practice finds an assignment that obeys. Invalidates what
    /// [`Oracle::visit_marginals`] reads.
    ///
    /// # Panics
    /// If `tilt` is not of the support's length, or a position does not have as many states as each
    /// counter has increments.
    pub fn decode_counted(&mut self, tilt: &[f64], counters: &[Counter], budget: usize) -> Counted {
        self.decode_counted_until(tilt, counters, budget, &Cancel::never())
    }

    /// The same, but returns what there is once it is cancelled: [`Counted::OverBudget`].
    ///
    /// # Panics
    /// As [`Chain::decode_counted`].
    pub fn decode_counted_until(
        &mut self,
        tilt: &[f64],
        counters: &[Counter],
        budget: usize,
        cancel: &Cancel,
    ) -> Counted {
        assert_eq!(tilt.len(), self.support().len(), "coordinates of the tilt");
        let Some(Forward { mut viterbi, numbering, constant }) = self.forward(tilt) else {
            return Counted::Impossible;
        };
        for position in &viterbi.sequence.positions {
            for counter in counters {
                assert_eq!(counter.increments.len(), position.states, "increments of a counter");
            }
        }
        if constant == f64::NEG_INFINITY {
            return Counted::Impossible;
        }
        let path = |found: Found| Path {
            score: found.score + constant,
            assignment: numbering.by_variable(&found.states),
        };
        match search(&mut viterbi, counters, budget, cancel) {
            Answer { best: Some(found), proved: true } => Counted::Best(path(found)),
            Answer { best: None, proved: true } => Counted::Impossible,
            Answer { best, proved: false } => Counted::OverBudget { best: best.map(path) },
        }
    }
}

/// Adds counters until the best assignment breaks none.
fn search(viterbi: &mut Viterbi, counters: &[Counter], budget: usize, cancel: &Cancel) -> Answer {
    let mut active = vec![false; counters.len()];
    // The best that obeys every counter, also those that are not active.
    let mut incumbent: Option<Found> = None;
    let mut latest = Answer { best: Some(Found::decoded(viterbi)), proved: true };
    loop {
        let Some(found) = &latest.best else { return latest };
        let obeys = |counter: &Counter| counter.allows(&found.states);
        if counters.iter().all(obeys) {
            return latest;
        }
        for (active, counter) in active.iter_mut().zip(counters) {
            *active |= !obeys(counter);
        }
        let taken: Vec<&Counter> =
            counters.iter().zip(&active).filter(|(_, active)| **active).map(|(c, _)| c).collect();
        let known = incumbent.clone();
        let mut keep = |found: &Found| {
            let better = incumbent.as_ref().is_none_or(|known| found.score > known.score);
            if better && counters.iter().all(|counter| counter.allows(&found.states)) {
                incumbent = Some(found.clone());
            }
        };
        let solve = Solve { viterbi, counters: &taken, budget, found: &mut keep, cancel };
        latest = solve.run(known);
    }
}
