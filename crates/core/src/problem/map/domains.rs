//! Which states each variable still has, and which of them rules take away.

use super::rules::{Rule, Term};
use super::scores::Scores;

/// Rounds over all rules, at most: what later ones would take away, branching does.
const ROUNDS: usize = 8;

/// The states that are left.
#[derive(Clone, Debug)]
pub(super) struct Domains {
    /// First state of each variable in `allowed`, and the end. `[variables + 1]`
    first: Vec<usize>,
    /// `[variables][states]`
    allowed: Vec<bool>,
    /// How many are left. `[variables]`
    left: Vec<usize>,
}

impl Domains {
    /// All states that their own tables allow.
    pub fn of(scores: &Scores) -> Self {
        let variables = scores.base.variables();
        let (mut first, mut allowed) = (vec![0], Vec::new());
        let mut left = Vec::with_capacity(variables);
        for table in &scores.base.tables[..variables] {
            let own = table.log_potentials.iter().map(|&score| score > f64::NEG_INFINITY);
            left.push(own.clone().filter(|allowed| *allowed).count());
            allowed.extend(own);
            first.push(allowed.len());
        }
        Self { first, allowed, left }
    }

    pub fn allows(&self, variable: usize, state: usize) -> bool {
        self.allowed[self.first[variable] + state]
    }

    /// How many states a variable has left.
    pub fn left(&self, variable: usize) -> usize {
        self.left[variable]
    }

    pub fn states(&self, variable: usize) -> usize {
        self.first[variable + 1] - self.first[variable]
    }

    pub fn remove(&mut self, variable: usize, state: usize) {
        let allowed = &mut self.allowed[self.first[variable] + state];
        self.left[variable] -= usize::from(std::mem::replace(allowed, false));
    }

    pub fn fix(&mut self, variable: usize, state: usize) {
        for other in (0..self.states(variable)).filter(|&other| other != state) {
            self.remove(variable, other);
        }
    }

    /// Takes away states that would break a rule whatever the others are. False if nothing is left.
    pub fn propagate(&mut self, scores: &Scores, rules: &[Rule]) -> bool {
        if self.left.contains(&0) {
            return false;
        }
        for _ in 0..ROUNDS {
            let before: usize = self.left.iter().sum();
            if !rules.iter().all(|rule| self.apply(scores, rule)) {
                return false;
            }
            if self.left.iter().sum::<usize>() == before {
                return true;
            }
        }
        true
    }

    fn apply(&mut self, scores: &Scores, rule: &Rule) -> bool {
        let mut ranges = Vec::with_capacity(rule.terms.len());
        let (mut low, mut high) = (rule.offset, rule.offset);
        for term in &rule.terms {
            let range = self.range(scores, term);
            if range.low > range.high {
                return false;
            }
            (low, high) = (low + range.low, high + range.high);
            ranges.push(range);
        }
        let too_low = rule.is_equality && high < -rule.tolerance;
        if low > rule.tolerance || too_low {
            return false;
        }
        if high <= rule.tolerance && (!rule.is_equality || low >= -rule.tolerance) {
            return true;
        }
        for (term, range) in rule.terms.iter().zip(ranges) {
            // What the others leave room for.
            let most = rule.tolerance - (low - range.low);
            let least =
                if rule.is_equality { -rule.tolerance - (high - range.high) } else { f64::MIN };
            if range.high <= most && range.low >= least {
                continue;
            }
            if !self.keep_supported(scores, term, Range { low: least, high: most }) {
                return false;
            }
        }
        true
    }

    /// The least and the greatest that a table can still add; `low > high` if no cell is left.
    fn range(&self, scores: &Scores, term: &Term) -> Range {
        let mut range = Range { low: f64::INFINITY, high: f64::NEG_INFINITY };
        self.each_cell(scores, term, |_, coefficient| {
            range.low = range.low.min(coefficient);
            range.high = range.high.max(coefficient);
        });
        range
    }

    /// Keeps the states that some cell with a coefficient in this range has.
    fn keep_supported(&mut self, scores: &Scores, term: &Term, range: Range) -> bool {
        let axes = &scores.axes[term.table];
        let mut supported: Vec<Vec<bool>> =
            axes.iter().map(|axis| vec![false; self.states(axis.variable)]).collect();
        self.each_cell(scores, term, |cell, coefficient| {
            if (range.low..=range.high).contains(&coefficient) {
                for (supported, axis) in supported.iter_mut().zip(axes) {
                    let states = supported.len();
                    supported[cell / axis.stride % states] = true;
                }
            }
        });
        for (supported, axis) in supported.iter().zip(axes) {
            let lost = (0..supported.len()).filter(|&state| !supported[state]);
            lost.for_each(|state| self.remove(axis.variable, state));
        }
        axes.iter().all(|axis| self.left(axis.variable) > 0)
    }

    /// Visits the cells of a term's table that are left, with their coefficients.
    fn each_cell(&self, scores: &Scores, term: &Term, mut visit: impl FnMut(usize, f64)) {
        let axes = &scores.axes[term.table];
        let mut entries = term.entries.iter().peekable();
        for (cell, score) in scores.base.tables[term.table].log_potentials.iter().enumerate() {
            while entries.next_if(|(entry, _)| *entry < cell).is_some() {}
            let is_left = |variable: usize, stride: usize| {
                self.allows(variable, cell / stride % self.states(variable))
            };
            if *score > f64::NEG_INFINITY && axes.iter().all(|a| is_left(a.variable, a.stride)) {
                let own = entries.peek().filter(|(entry, _)| *entry == cell);
                visit(cell, own.map_or(0.0, |(_, a)| *a));
            }
        }
    }
}

/// From the least to the greatest.
#[derive(Clone, Copy, Debug)]
struct Range {
    low: f64,
    high: f64,
}
