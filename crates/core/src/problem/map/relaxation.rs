//! Rules as prices: an upper bound on the best score that keeps them.
//!
//! ```text
//! U(λ) = max_y (score(y) − Σ_j λ_j z_j(y)),   λ_j ≥ 0 where z_j ≤ 0 is the rule
//! ```
//!
//! One max-product pass of an exact oracle gives it. States that a branch has lost are priced out.

use super::domains::Domains;
use super::rules::Rule;
use super::scores::Scores;
use crate::cancel::Cancel;
use crate::memory::MemoryLimit;
use crate::oracle::{Chain, JunctionTree, Limits, Oracle};
use crate::support::Support;

/// The price of a lost state, in sizes of a score: whatever else a configuration gains is less.
const LOST: f64 = 1e18;
/// The share of a sum's size that rounding may take from a bound.
const ROUNDING: f64 = 1e-13;
/// No price adds more than this to a score, in sizes of a score.
const HIGHEST_PRICE: f64 = 1e9;

pub(super) struct Relaxation<'a> {
    rules: &'a [Rule],
    oracle: Box<dyn Oracle>,
    /// First coordinate of each table that is priced. `[tables]`
    start: Vec<Option<usize>>,
    tilt: Vec<f64>,
    /// Size of a score, at least 1.
    size: f64,
    /// The size of each rule's sum. `[rules]`
    rule_sizes: Vec<f64>,
    /// What a pass costs, in cells.
    pub cost: usize,
}

impl<'a> Relaxation<'a> {
    /// `None` if a pass would visit too many cells, or numbers are too large to price anything.
    pub fn new(
        scores: &Scores,
        rules: &'a [Rule],
        most_cells: usize,
        cancel: &Cancel,
    ) -> Option<Self> {
        let base = &scores.base;
        let mut is_priced = vec![false; base.tables.len()];
        is_priced[..base.variables()].fill(true);
        for term in rules.iter().flat_map(|rule| &rule.terms) {
            is_priced[term.table] = true;
        }
        let mut support = Support::new();
        let mut start = vec![None; base.tables.len()];
        for (table, own) in base.tables.iter().enumerate().filter(|(table, _)| is_priced[*table]) {
            start[table] = Some(support.len());
            support.add(vec![table], own.log_potentials.len());
        }
        let size = scores.size.max(1.0);
        if !(LOST * size * (1.0 + base.variables() as f64)).is_finite() {
            return None;
        }
        let (oracle, cells): (Box<dyn Oracle>, usize) = match Chain::from_base(base, &support) {
            Some(chain) => (Box::new(chain), scores.cells()),
            None => {
                let memory = MemoryLimit::of(8 * most_cells as u64);
                let limits = Limits { memory, cancel: cancel.clone() };
                let tree = JunctionTree::within(base, &support, &limits).ok()?;
                let cells = |clique: &[usize]| -> usize {
                    clique.iter().map(|&variable| base.cardinalities[variable]).product()
                };
                let cells = tree.cliques().map(cells).sum();
                (Box::new(tree), cells)
            }
        };
        let entries = rules.iter().flat_map(|rule| &rule.terms).map(|term| term.entries.len());
        let cost = cells + support.len() + entries.sum::<usize>();
        let rule_sizes = rules.iter().map(sum_size).collect();
        let tilt = vec![0.0; support.len()];
        (cost <= most_cells).then_some(Self { rules, oracle, start, tilt, size, rule_sizes, cost })
    }

    /// The highest price of a rule that makes sense.
    pub fn highest_price(&self, rule: usize) -> f64 {
        HIGHEST_PRICE * self.size / self.rule_sizes[rule].max(f64::MIN_POSITIVE)
    }

    /// Writes a configuration that is best at these prices, and returns a bound on the score of all
    /// that keep the rules; `-∞` if none is left.
    pub fn solve(&mut self, domains: &Domains, prices: &[f64], states: &mut [usize]) -> f64 {
        let lost = -LOST * self.size;
        self.tilt.fill(0.0);
        let (mut constant, mut size) = (0.0, self.size);
        for ((rule, &price), rule_size) in self.rules.iter().zip(prices).zip(&self.rule_sizes) {
            if price == 0.0 {
                continue;
            }
            constant -= price * rule.offset;
            size += price.abs() * rule_size;
            for term in &rule.terms {
                let start = self.start[term.table].expect("tables of rules are priced");
                for &(cell, coefficient) in term.entries.iter() {
                    self.tilt[start + cell] -= price * coefficient;
                }
            }
        }
        for variable in 0..states.len() {
            let start = self.start[variable].expect("every variable is priced");
            for state in (0..domains.states(variable)).filter(|&s| !domains.allows(variable, s)) {
                self.tilt[start + state] = lost;
            }
        }
        let score = self.oracle.decode(&self.tilt, states);
        if score < 0.5 * lost {
            return f64::NEG_INFINITY;
        }
        score + constant + ROUNDING * size
    }
}

/// The size of what a rule sums up.
fn sum_size(rule: &Rule) -> f64 {
    let largest = |entries: &[(usize, f64)]| entries.iter().map(|e| e.1.abs()).fold(0.0, f64::max);
    rule.offset.abs() + rule.terms.iter().map(|term| largest(&term.entries)).sum::<f64>()
}
