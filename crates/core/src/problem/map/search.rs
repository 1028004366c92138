//! The best configuration that keeps the rules, by branch and bound.
//!
//! A node has taken states from some variables. Its relaxation bounds all configurations that are
//! left; the highest bound is branched on first. A node is closed if its bound does not exceed the
//! best score so far, or if rules leave it nothing. With no open node the best is proved; else the
//! highest open bound is one on the optimum. No clock decides, so that the same problem gives the
//! same answer, unless it is cancelled.

use std::cmp::Ordering;
use std::collections::BinaryHeap;
use std::rc::Rc;

use super::domains::Domains;
use super::prices::Descent;
use super::relaxation::Relaxation;
use super::repair::{Configuration, Repair};
use super::rules::Rule;
use super::scores::Scores;
use crate::cancel::Cancel;

/// Price steps at the root, and at other nodes.
const ROOT_STEPS: usize = 80;
const STEPS: usize = 8;
/// There is a search if the budget is enough for this many steps.
const LEAST_STEPS: usize = 16;
/// Relaxed configurations that are repaired at the root; other nodes repair one.
const REPAIRS: usize = 10;
/// What a node costs beside its cells, in cells: it bounds their number, and so memory.
const NODE: usize = 1 << 8;
/// A node is closed if its bound exceeds the best score by at most this and …
const MARGIN: f64 = 1e-9;
/// … this share of the size of scores.
const RELATIVE_MARGIN: f64 = 1e-12;

/// How long to search.
#[derive(Clone, Copy)]
pub(super) struct Budget<'a> {
    /// Most cells of tables to visit.
    pub cells: usize,
    pub cancel: &'a Cancel,
}

/// The outcome of a search.
pub(super) struct Outcome {
    /// The best found: one that keeps all rules, if any does.
    pub best: Configuration,
    /// No configuration that keeps all rules scores more; `-∞` if none keeps them.
    pub bound: f64,
    /// Whether nothing better exists: no better one that keeps all rules, or none if this does not.
    pub proved: bool,
    /// What is left of the budget, in cells.
    pub left: usize,
}

struct Node {
    bound: f64,
    depth: usize,
    order: usize,
    decision: Option<usize>,
    prices: Rc<[f64]>,
}

/// One branch: the variable has this state, or has lost it.
struct Decision {
    parent: Option<usize>,
    variable: usize,
    state: usize,
    is_fixed: bool,
}

pub(super) struct Search<'a> {
    scores: &'a Scores,
    rules: &'a [Rule],
    repair: Repair<'a>,
    relaxation: Relaxation<'a>,
    all: Domains,
    open: BinaryHeap<Node>,
    decisions: Vec<Decision>,
    best: Configuration,
    repaired: Vec<usize>,
    /// How much each variable of a rule has to say, 0 for the others. `[variables]`
    influence: Vec<f64>,
    /// What looking at every rule costs, in cells.
    propagation: usize,
    /// Below every score.
    lowest: f64,
    /// Cells that may still be visited.
    left: usize,
    cancel: &'a Cancel,
    margin: f64,
}

impl<'a> Search<'a> {
    /// `None` if a single node would cost too much.
    pub fn new(scores: &'a Scores, rules: &'a [Rule], budget: Budget<'a>) -> Option<Self> {
        let most = budget.cells / LEAST_STEPS;
        let terms = rules.iter().flat_map(|rule| &rule.terms);
        let cells = terms.map(|term| scores.base.tables[term.table].log_potentials.len());
        let propagation: usize = cells.sum();
        if propagation > most {
            return None;
        }
        let relaxation = Relaxation::new(scores, rules, most, budget.cancel)?;
        let repair = Repair::new(scores, rules, budget.cancel);
        let mut influence = vec![0.0; scores.base.variables()];
        for (rule, scale) in rules.iter().zip(repair.scales()) {
            for term in &rule.terms {
                let largest = term.entries.iter().map(|(_, a)| a.abs()).fold(0.0, f64::max);
                for axis in &scores.axes[term.table] {
                    influence[axis.variable] += largest * scale;
                }
            }
        }
        let margin = MARGIN + RELATIVE_MARGIN * scores.size;
        let best = Configuration { states: Vec::new(), score: 0.0, excess: f64::INFINITY };
        Some(Self {
            scores,
            rules,
            repair,
            relaxation,
            all: Domains::of(scores),
            open: BinaryHeap::new(),
            decisions: Vec::new(),
            best,
            repaired: Vec::new(),
            influence,
            propagation,
            lowest: scores.lowest() - 1.0 - 2.0 * margin,
            left: budget.cells,
            cancel: budget.cancel,
            margin,
        })
    }

    /// Repairs a configuration, to have one.
    pub fn start_at(&mut self, states: &[usize]) {
        let found = self.repair.judged(states);
        if self.best.states.is_empty() {
            self.best = found;
        }
        self.repair(states);
    }

    /// Searches from these prices, given a bound on all configurations.
    pub fn run(mut self, prices: &[f64], bound: f64) -> Outcome {
        let highest = |rule: usize| self.relaxation.highest_price(rule);
        let price = |(rule, &price): (usize, &f64)| {
            let lowest = if self.rules[rule].is_equality { -highest(rule) } else { 0.0 };
            if price.is_finite() { price.clamp(lowest, highest(rule)) } else { 0.0 }
        };
        let prices: Vec<f64> = prices.iter().enumerate().map(price).collect();
        let (depth, order, decision) = (0, 0, None);
        self.open.push(Node { bound, depth, order, decision, prices: prices.into() });
        while let Some(node) = self.open.pop() {
            if node.bound <= self.cut() {
                self.open.clear();
            } else if self.is_over() {
                self.open.push(node);
                break;
            } else {
                self.expand(&node);
            }
        }
        let kept = if self.best.excess == 0.0 { self.best.score } else { f64::NEG_INFINITY };
        let highest = self.open.peek().map_or(kept, |node| node.bound.max(kept));
        let (proved, left) = (self.open.is_empty(), self.left);
        Outcome { proved, best: self.best, bound: highest, left }
    }

    fn is_over(&self) -> bool {
        self.left == 0 || self.cancel.is_cancelled()
    }

    fn spend(&mut self, cells: usize) {
        self.left = self.left.saturating_sub(cells);
    }

    /// The least that a bound may come to while something that keeps the rules is left: the best
    /// score so far, or one that no configuration is below.
    fn floor(&self) -> f64 {
        if self.best.excess == 0.0 { self.best.score } else { self.lowest }
    }

    /// Nodes whose bound is not above are closed.
    fn cut(&self) -> f64 {
        self.floor() + self.margin
    }

    fn offer(&mut self, found: Configuration) {
        if found.is_better(&self.best) && found.score > f64::NEG_INFINITY {
            self.best = found;
        }
    }

    fn domains(&self, mut decision: Option<usize>) -> Domains {
        let mut domains = self.all.clone();
        while let Some(index) = decision {
            let Decision { parent, variable, state, is_fixed } = self.decisions[index];
            if is_fixed {
                domains.fix(variable, state);
            } else {
                domains.remove(variable, state);
            }
            decision = parent;
        }
        domains
    }

    fn expand(&mut self, node: &Node) {
        let mut domains = self.domains(node.decision);
        self.spend(NODE + self.propagation);
        if !domains.propagate(self.scores, self.rules) {
            return;
        }
        let scales = self.repair.scales().to_vec();
        let mut descent = Descent::new(self.rules, &scales, node.prices.to_vec(), node.bound);
        let mut seen = Seen::new(self.influence.len());
        let mut states = vec![0; self.influence.len()];
        let is_root = node.decision.is_none();
        for step in 0..if is_root { ROOT_STEPS } else { STEPS } {
            let value = self.relaxation.solve(&domains, &descent.prices, &mut states);
            self.spend(self.relaxation.cost);
            if value == f64::NEG_INFINITY {
                return;
            }
            let sums = self.repair.sums(&states);
            let found = self.repair.judged_by(&states, &sums);
            self.offer(found);
            if step < if is_root { REPAIRS } else { 1 } {
                self.repair(&states);
            }
            descent.record(value, &states, sums, self.floor());
            if descent.lowest.bound <= self.cut() {
                return;
            }
            seen.add(&states);
            let floor = self.floor();
            if self.is_over() || !descent.step(floor, |rule| self.relaxation.highest_price(rule)) {
                break;
            }
        }
        let lowest = descent.lowest;
        let children = Children { bound: lowest.bound, prices: lowest.prices.into() };
        self.branch(node, &domains, &seen, &lowest.states, children);
    }

    fn repair(&mut self, states: &[usize]) {
        if self.repaired != states {
            self.repaired.clear();
            self.repaired.extend_from_slice(states);
            let found = self.repair.run(states, &mut self.left);
            self.offer(found);
        }
    }

    /// Branches on a variable of a rule: on one whose state prices change, if there is any.
    fn branch(
        &mut self,
        node: &Node,
        domains: &Domains,
        seen: &Seen,
        states: &[usize],
        Children { bound, prices }: Children,
    ) {
        let is_free = |v: &usize| self.influence[*v] > 0.0 && domains.left(*v) > 1;
        let rank = |v: usize| (seen.changes[v], self.influence[v]);
        let free = (0..states.len()).filter(is_free);
        let chosen = free.reduce(|a, b| {
            let ((changes, influence), (other_changes, other)) = (rank(a), rank(b));
            let order = changes.cmp(&other_changes).then(influence.total_cmp(&other));
            if order == Ordering::Less { b } else { a }
        });
        let Some(variable) = chosen else {
            // Rules have nothing left to say: what is best without prices is best.
            let mut states = states.to_vec();
            self.relaxation.solve(domains, &vec![0.0; self.rules.len()], &mut states);
            let found = self.repair.judged(&states);
            self.offer(found);
            return;
        };
        let state = states[variable];
        for is_fixed in [false, true] {
            self.decisions.push(Decision { parent: node.decision, variable, state, is_fixed });
            self.open.push(Node {
                bound,
                depth: node.depth + 1,
                order: self.decisions.len(),
                decision: Some(self.decisions.len() - 1),
                prices: Rc::clone(&prices),
            });
        }
    }
}

/// What a node's children start from.
struct Children {
    bound: f64,
    prices: Rc<[f64]>,
}

/// How often prices changed the state of each variable.
struct Seen {
    latest: Vec<usize>,
    /// `[variables]`
    changes: Vec<usize>,
}

impl Seen {
    fn new(variables: usize) -> Self {
        Self { latest: Vec::new(), changes: vec![0; variables] }
    }

    fn add(&mut self, states: &[usize]) {
        for ((changes, before), now) in self.changes.iter_mut().zip(&self.latest).zip(states) {
            *changes += usize::from(before != now);
        }
        self.latest.clear();
        self.latest.extend_from_slice(states);
    }
}

impl Node {
    /// Highest bound first; deeper ones, then later ones, where bounds are equal.
    fn rank(&self, other: &Self) -> Ordering {
        let place = |node: &Self| (node.depth, node.order);
        self.bound.total_cmp(&other.bound).then_with(|| place(self).cmp(&place(other)))
    }
}

impl Ord for Node {
    fn cmp(&self, other: &Self) -> Ordering {
        self.rank(other)
    }
}

impl PartialOrd for Node {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl PartialEq for Node {
    fn eq(&self, other: &Self) -> bool {
        self.cmp(other) == Ordering::Equal
    }
}

impl Eq for Node {}
