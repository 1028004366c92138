//! Configurations that keep the rules, by changing one variable, or two, at a time.

use super::rules::Rule;
use super::scores::{Around, Scores};
use crate::cancel::Cancel;

/// Pairs of changes are tried if there are at most this many single ones.
const MOST_FOR_PAIRS: usize = 48;

/// Cells that are visited even if the search was cancelled: it takes some milliseconds.
const LEAST_CELLS: usize = 1 << 20;

/// A configuration, its score, and what the rules say of it.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Configuration {
    pub states: Vec<usize>,
    pub score: f64,
    /// By how much rules are broken, each in units of its largest coefficient; 0 if all are kept.
    pub excess: f64,
}

impl Configuration {
    /// Whether it keeps more of the rules than another, or as much and scores more.
    pub fn is_better(&self, other: &Self) -> bool {
        self.excess < other.excess || self.excess == other.excess && self.score > other.score
    }
}

/// How rules and tables are connected.
pub(super) struct Repair<'a> {
    scores: &'a Scores,
    rules: &'a [Rule],
    /// Rules that read a table, each with the place of its term. `[tables]`
    readers: Vec<Vec<Reader>>,
    /// One over the largest coefficient of each rule. `[rules]`
    scales: Vec<f64>,
    /// What looking at every single change costs, in cells.
    cost: usize,
    cancel: &'a Cancel,
}

#[derive(Clone, Copy)]
struct Reader {
    rule: usize,
    term: usize,
}

/// A change of one variable.
#[derive(Clone, Copy, Debug)]
struct Change {
    variable: usize,
    state: usize,
}

/// A configuration under repair.
struct Current {
    states: Vec<usize>,
    score: f64,
    /// What each rule sums up to. `[rules]`
    sums: Vec<f64>,
    excess: f64,
    /// Sums of rules that a change touches, and which have been touched.
    changed: Vec<(usize, f64)>,
}

/// What a change would do.
#[derive(Clone, Copy, Debug)]
struct Effect {
    score: f64,
    excess: f64,
}

impl<'a> Repair<'a> {
    pub fn new(scores: &'a Scores, rules: &'a [Rule], cancel: &'a Cancel) -> Self {
        let mut readers = vec![Vec::new(); scores.base.tables.len()];
        for (index, rule) in rules.iter().enumerate() {
            for (term, own) in rule.terms.iter().enumerate() {
                readers[own.table].push(Reader { rule: index, term });
            }
        }
        let of_variable = |variable: usize| {
            let read = |around: &Around| 1 + readers[around.table].len();
            let around: usize = scores.around[variable].iter().map(read).sum();
            around * scores.base.cardinalities[variable]
        };
        let cost = (0..scores.base.variables()).map(of_variable).sum();
        let scales = rules.iter().map(|rule| 1.0 / rule.largest()).collect();
        Self { scores, rules, scales, readers, cost, cancel }
    }

    /// One over the largest coefficient of each rule. `[rules]`
    pub fn scales(&self) -> &[f64] {
        &self.scales
    }

    /// A configuration and what the rules say of it.
    pub fn judged(&self, states: &[usize]) -> Configuration {
        self.judged_by(states, &self.sums(states))
    }

    /// The same, given what the rules sum up to.
    pub fn judged_by(&self, states: &[usize], sums: &[f64]) -> Configuration {
        let excess = sums.iter().enumerate().map(|(rule, &sum)| self.excess(rule, sum)).sum();
        Configuration { states: states.to_vec(), score: self.scores.of(states), excess }
    }

    /// What each rule sums up to. `[rules]`
    pub fn sums(&self, states: &[usize]) -> Vec<f64> {
        self.rules.iter().map(|rule| rule.sum(self.scores, states)).collect()
    }

    fn current(&self, states: &[usize]) -> Current {
        let sums = self.sums(states);
        let Configuration { states, score, excess } = self.judged_by(states, &sums);
        Current { states, score, sums, excess, changed: Vec::new() }
    }

    fn excess(&self, rule: usize, sum: f64) -> f64 {
        self.scales[rule] * self.rules[rule].excess(sum)
    }

    /// Breaks less of the rules as long as changes do, cheapest first; then raises the score among
    /// those that keep as much. Uses up `budget`, in cells.
    pub fn run(&self, states: &[usize], budget: &mut usize) -> Configuration {
        let mut current = self.current(states);
        let start = *budget;
        while current.score > f64::NEG_INFINITY
            && !(self.cancel.is_cancelled() && start - *budget >= LEAST_CELLS)
            && let Some(change) = self.best_change(&mut current, budget)
        {
            for Change { variable, state } in change {
                current.states[variable] = state;
            }
            // Summed anew, so that nothing drifts.
            current = self.current(&current.states);
        }
        let Current { states, score, excess, .. } = current;
        Configuration { states, score, excess }
    }

    /// The best change of one variable, or of two if none of one is an improvement.
    fn best_change(&self, current: &mut Current, budget: &mut usize) -> Option<Vec<Change>> {
        *budget = budget.checked_sub(self.cost)?;
        let start = Effect { score: current.score, excess: current.excess };
        let mut best = Best::new(start, self.scores.size);
        for change in self.changes() {
            let effect = self.effect(current, change);
            best.offer(effect, || vec![change]);
        }
        if best.change.is_some() || self.changes().count() > MOST_FOR_PAIRS {
            return best.change;
        }
        for first in self.changes().collect::<Vec<_>>() {
            if first.state == current.states[first.variable] {
                continue;
            }
            *budget = budget.checked_sub(self.cost)?;
            let mut states = current.states.clone();
            states[first.variable] = first.state;
            let mut between = self.current(&states);
            if between.score == f64::NEG_INFINITY {
                continue;
            }
            for second in self.changes().filter(|second| second.variable > first.variable) {
                best.offer(self.effect(&mut between, second), || vec![first, second]);
            }
        }
        best.change
    }

    fn changes(&self) -> impl Iterator<Item = Change> + '_ {
        let cardinalities = self.scores.base.cardinalities.iter().enumerate();
        cardinalities.flat_map(|(variable, &states)| {
            (0..states).map(move |state| Change { variable, state })
        })
    }

    /// What a change would do to score and rules.
    fn effect(&self, current: &mut Current, Change { variable, state }: Change) -> Effect {
        let Current { states, score, sums, excess, changed } = current;
        let (mut score, mut excess) = (*score, *excess);
        changed.clear();
        for &Around { table, stride } in &self.scores.around[variable] {
            let potentials = &self.scores.base.tables[table].log_potentials;
            let before = self.scores.cell(table, states);
            let after = before - states[variable] * stride + state * stride;
            score += potentials[after] - potentials[before];
            for &Reader { rule, term } in &self.readers[table] {
                let term = &self.rules[rule].terms[term];
                let difference = term.coefficient(after) - term.coefficient(before);
                if difference != 0.0 {
                    changed.push((rule, difference));
                }
            }
        }
        changed.sort_unstable_by_key(|(rule, _)| *rule);
        for of_rule in changed.chunk_by(|a, b| a.0 == b.0) {
            let (rule, difference) = (of_rule[0].0, of_rule.iter().map(|c| c.1).sum::<f64>());
            excess += self.excess(rule, sums[rule] + difference) - self.excess(rule, sums[rule]);
        }
        Effect { score, excess }
    }
}

/// The best change so far.
struct Best {
    start: Effect,
    /// The least that counts as a gain, of score.
    margin: f64,
    /// What the change is worth: score per unit of excess, or score.
    worth: f64,
    change: Option<Vec<Change>>,
}

/// The least that counts as less excess.
const LESS: f64 = 1e-9;

impl Best {
    fn new(start: Effect, size: f64) -> Self {
        Self { start, margin: 1e-12 * size.max(1.0), worth: f64::NEG_INFINITY, change: None }
    }

    fn offer(&mut self, effect: Effect, change: impl FnOnce() -> Vec<Change>) {
        let Effect { score, excess } = self.start;
        let (gain, less) = (effect.score - score, excess - effect.excess);
        let worth = if excess > LESS {
            if less <= LESS || gain == f64::NEG_INFINITY {
                return;
            }
            // What costs nothing, or gains, goes by how much it repairs.
            if gain < 0.0 { gain / less } else { gain + less }
        } else {
            if less < -LESS || gain <= self.margin {
                return;
            }
            gain
        };
        if worth > self.worth {
            (self.worth, self.change) = (worth, Some(change()));
        }
    }
}
