//! The best configuration under hard measurements.
//!
//! Expectations meet hard measurements on average; a configuration keeps a rule or breaks it. So
//! `map` is the configuration with the highest score among those that keep every rule:
//!
//! ```text
//! max { ⟨θ + δ_s, y⟩ : z_j(y) ≤ 0 or = 0 for every hard measurement j }
//! ```
//!
//! with `δ_s` the tilt of the other energies. The multipliers of hard measurements are not in the
//! score; they are the prices that a search starts from. Without hard measurements the oracle
//! decodes. With them, plain decoding may keep them all; a chain's decoder keeps counts; else a
//! branch and bound search does.
//!
//! Where no configuration keeps all of them, as many as possible are kept in their order, and the
//! others broken as little as possible.

mod counters;
mod domains;
mod impossible;
mod prices;
mod relaxation;
mod repair;
mod rules;
mod scores;
mod search;
mod solution;

use super::answer::Map;
use crate::cancel::Cancel;
use crate::energy::{Energies, HardRow};
use crate::model::BaseModel;
use crate::oracle::chain::Counted;
use crate::oracle::{Exactness, Oracle};
use crate::solve::{Solution, Status};
use impossible::Impossible;
use repair::{Configuration, Repair};
use rules::Rule;
use scores::{Scores, sum_of_highest};
use search::{Budget, Outcome, Search};
use solution::Relaxed;

/// A bound proves a score if it exceeds it by at most this share of it.
const PROVED: f64 = 1e-9;

/// Cells that are visited to repair an assignment, even if there is no budget for a search.
const LEAST_CELLS: usize = 1 << 20;

/// What decoding starts from.
pub(super) struct Decoding<'a> {
    pub base: &'a BaseModel,
    pub energies: &'a mut Energies,
    pub oracle: &'a mut dyn Oracle,
    pub solution: &'a Solution,
    /// Most cells of tables that a search visits.
    pub cells: usize,
    /// Ends a search.
    pub cancel: &'a Cancel,
}

impl Decoding<'_> {
    /// The best configuration that keeps hard measurements, or the best found.
    pub fn map(mut self) -> Map {
        if !self.energies.measurements.has_hard() {
            return self.without_rules();
        }
        let hard: Vec<HardRow> = self.energies.hard_rows().collect();
        if hard.is_empty() {
            return self.without_rules();
        }
        let tilt = self.soft_tilt(&hard);
        let rules = self.rules(&hard);
        let Outcome { best, bound, proved, .. } = self.best(&rules, &tilt);
        let counts = self.counts(&best.states);
        let bound = if proved && best.excess == 0.0 { best.score } else { bound };
        Map {
            assignment: self.base.complete(&best.states),
            log_score: best.score,
            proved,
            bound: Some(bound).filter(|bound| bound.is_finite()),
            violated: self.violated(&hard, &counts),
        }
    }

    /// A most probable configuration, as the oracle decodes it.
    fn without_rules(&mut self) -> Map {
        let Self { base, energies, oracle, solution, .. } = self;
        let mut states = vec![0; base.variables()];
        let log_score = oracle.decode(&solution.tilt, &mut states);
        let bound = if oracle.exactness() == Exactness::Exact {
            log_score
        } else {
            let sum = sum_of_highest(base, energies.support(), &solution.tilt);
            let certifies = oracle.exactness().certifies();
            if certifies { sum.min(solution.log_partition) } else { sum }
        };
        Map {
            assignment: base.complete(&states),
            log_score,
            proved: is_proved(log_score, bound),
            bound: Some(bound).filter(|bound| bound.is_finite()),
            violated: Vec::new(),
        }
    }

    /// The rules that can be broken.
    fn rules(&self, hard: &[HardRow]) -> Vec<Rule> {
        let rules = hard.iter().map(|hard| Rule::new(hard.row, self.energies).expect("a hard row"));
        rules.filter(|rule| !rule.terms.is_empty() || rule.excess(rule.offset) > 0.0).collect()
    }

    /// The best configuration that keeps the rules, at scores with this tilt.
    fn best(&mut self, rules: &[Rule], tilt: &[f64]) -> Outcome {
        let is_hopeless = self.solution.status == Status::Infeasible
            || rules.iter().any(|rule| rule.least_excess(self.base) > 0.0);
        if self.oracle.exactness() != Exactness::Exact {
            return self.best_repaired(rules, tilt, is_hopeless);
        }
        let mut states = vec![0; self.base.variables()];
        let score = self.oracle.decode(tilt, &mut states);
        let counts = self.counts(&states);
        let rows = self.energies.measurements.rows();
        let keeps = |rule: &Rule| rule.excess(rows.measure(rule.row, &counts)) == 0.0;
        let mut left = self.cells;
        if rules.iter().all(keeps) {
            let best = Configuration { states, score, excess: 0.0 };
            return Outcome { best, bound: score, proved: true, left };
        }
        let scores = Scores::new(self.base, self.energies.support(), tilt);
        if !is_hopeless {
            let found = self.searched(&scores, rules, tilt, &states);
            let is_impossible = found.proved && found.best.excess > 0.0;
            if !is_impossible {
                return found;
            }
            left = found.left;
        }
        let budget = Budget { cells: left, cancel: self.cancel };
        match Impossible::new(&scores, rules, budget, &states).run() {
            Some(best) => {
                let best = Repair::new(&scores, rules, self.cancel).judged(&best.states);
                Outcome { best, bound: f64::NEG_INFINITY, proved: true, left }
            }
            None => self.best_repaired(rules, tilt, true),
        }
    }

    /// The best configuration that keeps the rules by a search, which starts at some states.
    fn searched(
        &mut self,
        scores: &Scores,
        rules: &[Rule],
        tilt: &[f64],
        states: &[usize],
    ) -> Outcome {
        let budget = Budget { cells: self.cells, cancel: self.cancel };
        let judged = |states: &[usize]| Repair::new(scores, rules, budget.cancel).judged(states);
        let (proved, left) = (true, budget.cells);
        let mut start = states.to_vec();
        match counters::decode(scores, rules, budget) {
            Some(Counted::Best(path)) => {
                let best = judged(&path.assignment);
                return Outcome { bound: best.score, best, proved, left };
            }
            Some(Counted::Impossible) => {
                return Outcome { best: judged(states), bound: f64::NEG_INFINITY, proved, left };
            }
            Some(Counted::OverBudget { best: Some(path) }) => start = path.assignment,
            Some(Counted::OverBudget { best: None }) | None => {}
        }
        let Some(mut search) = Search::new(scores, rules, budget) else {
            return self.best_repaired(rules, tilt, false);
        };
        let relaxed = self.relaxed(rules, tilt);
        search.start_at(&start);
        search.start_at(&relaxed.states);
        search.run(&relaxed.prices, relaxed.bound)
    }

    /// The best that repairing finds without a search, from what is best at the solution's prices.
    fn best_repaired(&mut self, rules: &[Rule], tilt: &[f64], is_hopeless: bool) -> Outcome {
        let scores = Scores::new(self.base, self.energies.support(), tilt);
        let Relaxed { states, bound, .. } = self.relaxed(rules, tilt);
        let bound = if is_hopeless { f64::NEG_INFINITY } else { bound };
        let mut left = self.cells.max(LEAST_CELLS);
        let best = Repair::new(&scores, rules, self.cancel).run(&states, &mut left);
        let proved = best.excess == 0.0 && is_proved(best.score, bound);
        Outcome { best, bound, proved, left }
    }

    /// How often each cell of the support is taken. `[support]`
    fn counts(&self, states: &[usize]) -> Vec<f64> {
        let support = self.energies.support();
        let mut counts = vec![0.0; support.len()];
        for block in support.blocks() {
            for &table in &block.tables {
                let scope = &self.base.tables[table].scope;
                let cell = scope.iter().fold(0, |cell, &variable| {
                    cell * self.base.cardinalities[variable] + states[variable]
                });
                counts[block.start + cell] += 1.0;
            }
        }
        counts
    }

    /// The stated energies that a configuration breaks.
    fn violated(&self, hard: &[HardRow], counts: &[f64]) -> Vec<usize> {
        let rows = self.energies.measurements.rows();
        let breaks = |hard: &&HardRow| {
            let rule = Rule::new(hard.row, self.energies).expect("a hard row");
            rule.excess(rows.measure(hard.row, counts)) > 0.0
        };
        let mut violated: Vec<usize> = hard.iter().filter(breaks).map(|hard| hard.energy).collect();
        violated.dedup();
        violated
    }
}

/// Whether nothing is better by more than rounding.
fn is_proved(score: f64, bound: f64) -> bool {
    bound <= score + PROVED * score.abs().max(1.0)
}
