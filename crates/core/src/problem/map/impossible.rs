//! What to do where no configuration keeps all rules.
//!
//! Rules are taken in the order of their energies. A rule that no configuration keeps together with
//! those kept so far is given up. Those that were given up are broken as little as possible in all,
//! each in units of its largest coefficient. Among the configurations that are left, the highest
//! score is best.
//!
//! Each of these is a question that the search answers: the highest of some linear scores under
//! rules. To see whether rules can be kept, all scores are 0. The amount by which a rule that was
//! given up is broken is linear too: `z ≤ 0` is broken by `z` everywhere, and `z = 0` by a table of
//! `|z|` if it reads one table. If it reads several, both sides of 0 are asked.

use std::collections::BTreeMap;
use std::sync::Arc;

use super::counters;
use super::repair::{Configuration, Repair};
use super::rules::{Rule, Term};
use super::scores::Scores;
use super::search::{Budget, Search};
use crate::model::BaseModel;
use crate::oracle::chain::Counted;
use crate::support::Support;

/// Both sides of 0 are asked for at most this many rules.
const MOST_SIDED: usize = 6;

/// Rules that cannot all be kept.
pub(super) struct Impossible<'a> {
    scores: &'a Scores,
    rules: &'a [Rule],
    budget: Budget<'a>,
    /// Scores of 0.
    flat: Scores,
    /// The rules that are kept.
    held: Vec<Rule>,
    /// A configuration that keeps them.
    witness: Vec<usize>,
}

/// The answer to a question.
enum Found {
    Best(Configuration),
    /// No configuration keeps the rules.
    Nothing,
    /// The budget ran out.
    Unknown,
}

impl<'a> Impossible<'a> {
    /// `witness` is a configuration that the model allows.
    pub fn new(
        scores: &'a Scores,
        rules: &'a [Rule],
        budget: Budget<'a>,
        witness: &[usize],
    ) -> Self {
        let flat = linear(&scores.base, None);
        Self { scores, rules, budget, flat, held: Vec::new(), witness: witness.to_vec() }
    }

    /// The best configuration; `None` if the budget does not last.
    pub fn run(mut self) -> Option<Configuration> {
        let given_up = self.keep_in_order()?;
        let mut least = f64::INFINITY;
        let mut questions = Vec::new();
        for mut question in Question::all(&given_up, &self.flat.base)? {
            let scores = linear(&self.flat.base, Some(&question.total.at_most(-1.0, 0.0)));
            match self.ask(&scores, &question.sides) {
                Found::Best(found) => {
                    question.least = question.total.sum(&self.flat, &found.states);
                    least = least.min(question.least);
                    questions.push(question);
                }
                Found::Nothing => {}
                Found::Unknown => return None,
            }
        }
        let mut best: Option<Configuration> = None;
        for Question { total, mut sides, least: own } in questions {
            if own > least + total.tolerance {
                continue;
            }
            sides.extend((!total.terms.is_empty()).then(|| total.at_most(1.0, least)));
            match self.ask(self.scores, &sides) {
                Found::Best(found) => {
                    let is_better = best.as_ref().is_none_or(|best| found.score > best.score);
                    best = if is_better { Some(found) } else { best };
                }
                Found::Nothing => {}
                Found::Unknown => return None,
            }
        }
        best
    }

    /// Keeps every rule that can be kept with those before it; the others.
    fn keep_in_order(&mut self) -> Option<Vec<&'a Rule>> {
        let (rules, flat) = (self.rules, self.flat.clone());
        let mut given_up = Vec::new();
        for rule in rules {
            if rule.least_excess(&flat.base) > 0.0 {
                given_up.push(rule);
                continue;
            }
            if rule.excess(rule.sum(&flat, &self.witness)) > 0.0 {
                match self.ask(&flat, std::slice::from_ref(rule)) {
                    Found::Best(best) => self.witness = best.states,
                    Found::Nothing => {
                        given_up.push(rule);
                        continue;
                    }
                    Found::Unknown => return None,
                }
            }
            self.held.push(rule.clone());
        }
        Some(given_up)
    }

    /// The best configuration at these scores that keeps what is held and more.
    fn ask(&mut self, scores: &Scores, more: &[Rule]) -> Found {
        let rules: Vec<Rule> = self.held.iter().chain(more).cloned().collect();
        let counted = match rules.is_empty() {
            true => None,
            false => counters::decode(scores, &rules, self.budget),
        };
        match counted {
            Some(Counted::Best(path)) => {
                let repair = Repair::new(scores, &rules, self.budget.cancel);
                return Found::Best(repair.judged(&path.assignment));
            }
            Some(Counted::Impossible) => return Found::Nothing,
            Some(Counted::OverBudget { .. }) | None => {}
        }
        let Some(mut search) = Search::new(scores, &rules, self.budget) else {
            return Found::Unknown;
        };
        search.start_at(&self.witness);
        let outcome = search.run(&vec![0.0; rules.len()], f64::INFINITY);
        self.budget.cells = outcome.left;
        match outcome.best {
            _ if !outcome.proved => Found::Unknown,
            best if best.excess == 0.0 => Found::Best(best),
            _ => Found::Nothing,
        }
    }
}

/// How little can the rules that were given up be broken?
struct Question {
    /// What they are broken by, in all.
    total: Rule,
    /// On which sides of 0.
    sides: Vec<Rule>,
    /// The least that it comes to.
    least: f64,
}

impl Question {
    /// One for each choice of sides; `None` if those are too many.
    fn all(given_up: &[&Rule], base: &BaseModel) -> Option<Vec<Self>> {
        let (sided, plain): (Vec<&Rule>, Vec<&Rule>) =
            given_up.iter().partition(|rule| rule.is_equality && rule.terms.len() > 1);
        if sided.len() > MOST_SIDED {
            return None;
        }
        let question = |choice: usize| {
            let mut total = Total::default();
            for rule in &plain {
                if rule.is_equality { total.add_sizes(rule, base) } else { total.add(rule, 1.0) }
            }
            let mut sides = Vec::new();
            for (place, rule) in sided.iter().enumerate() {
                let sign = if choice >> place & 1 == 0 { 1.0 } else { -1.0 };
                sides.push(rule.at_most(-sign, 0.0));
                total.add(rule, sign);
            }
            Self { total: total.rule(), sides, least: f64::INFINITY }
        };
        Some((0..1 << sided.len()).map(question).collect())
    }
}

/// A sum of rules, each in units of its largest coefficient.
#[derive(Default)]
struct Total {
    offset: f64,
    tolerance: f64,
    /// By table, then by cell.
    coefficients: BTreeMap<usize, BTreeMap<usize, f64>>,
}

impl Total {
    /// Adds what a rule sums up to.
    fn add(&mut self, rule: &Rule, sign: f64) {
        let scale = sign / rule.largest();
        self.offset += scale * rule.offset;
        self.tolerance += rule.tolerance / rule.largest();
        for term in &rule.terms {
            let cells = self.coefficients.entry(term.table).or_default();
            for &(cell, coefficient) in term.entries.iter() {
                *cells.entry(cell).or_default() += scale * coefficient;
            }
        }
    }

    /// Adds the size of what a rule over one table sums up to.
    fn add_sizes(&mut self, rule: &Rule, base: &BaseModel) {
        let scale = 1.0 / rule.largest();
        self.tolerance += scale * rule.tolerance;
        let Some(term) = rule.terms.first() else { return };
        let cells = self.coefficients.entry(term.table).or_default();
        for cell in 0..base.tables[term.table].log_potentials.len() {
            let size = (rule.offset + term.coefficient(cell)).abs();
            *cells.entry(cell).or_default() += scale * size;
        }
    }

    fn rule(self) -> Rule {
        let terms = self.coefficients.into_iter();
        let terms =
            terms.map(|(table, cells)| Term { table, entries: cells.into_iter().collect() });
        let Self { offset, tolerance, .. } = self;
        Rule { row: 0, is_equality: false, offset, terms: terms.collect(), tolerance }
    }
}

/// What a rule sums up to as a score, up to its offset; 0 without a rule. What is forbidden stays so.
fn linear(base: &BaseModel, rule: Option<&Rule>) -> Scores {
    let mut base = base.clone();
    base.constant = 0.0;
    for table in &mut base.tables {
        let cells = Arc::make_mut(&mut table.log_potentials).iter_mut();
        cells.filter(|score| score.is_finite()).for_each(|score| *score = 0.0);
    }
    for term in rule.into_iter().flat_map(|rule| &rule.terms) {
        let cells = Arc::make_mut(&mut base.tables[term.table].log_potentials);
        term.entries.iter().for_each(|&(cell, coefficient)| cells[cell] += coefficient);
    }
    Scores::new(&base, &Support::new(), &[])
}
