//! Hard measurements as rules that a configuration keeps or breaks.

use std::rc::Rc;

use rustc_hash::FxHashMap;

use super::scores::Scores;
use crate::energy::{Energies, Penalty, Rows};
use crate::model::BaseModel;
use crate::support::Block;

/// Sums of coefficients are compared up to this share of their size.
const ROUNDING: f64 = 1e-9;
/// Sums that are this much closer than the tolerance count as one.
const FINENESS: f64 = 1e-3;
/// How far multiples of a coefficient may be from whole numbers, as a share of them.
const WHOLE: f64 = 1e-9;
/// Larger multiples are not looked at.
const LARGEST_MULTIPLE: f64 = 1e9;
/// The sums that a rule may come to are listed up to this many.
const MOST_SUMS: usize = 1 << 10;

/// `Σ terms + offset ≤ 0`, or `= 0`, over the configurations of a base model.
#[derive(Clone, Debug)]
pub(super) struct Rule {
    /// The row of the measurements that it comes from.
    pub row: usize,
    pub is_equality: bool,
    pub offset: f64,
    /// Ascending tables.
    pub terms: Vec<Term>,
    /// The rule is kept if it is off by at most this.
    pub tolerance: f64,
}

/// Ascending cells of a table with their coefficients.
type Entries = Rc<[(usize, f64)]>;

/// What one table adds to a rule.
#[derive(Clone, Debug)]
pub(super) struct Term {
    pub table: usize,
    /// Other cells add nothing. Tables of one block share them.
    pub entries: Entries,
}

impl Term {
    /// What a cell of the table adds.
    pub fn coefficient(&self, cell: usize) -> f64 {
        let found = self.entries.binary_search_by_key(&cell, |(cell, _)| *cell);
        found.map_or(0.0, |place| self.entries[place].1)
    }
}

impl Rule {
    /// `None` for a row that is not a hard constraint.
    pub fn new(row: usize, energies: &Energies) -> Option<Self> {
        let (measurements, blocks) = (&energies.measurements, energies.support().blocks());
        let is_equality = match measurements.penalty(row) {
            Penalty::AtMost => false,
            Penalty::Equal => true,
            _ => return None,
        };
        let mut terms = Vec::new();
        let rows = measurements.rows();
        for (block, entries) in by_block(rows, row, blocks) {
            let tables = blocks[block].tables.iter();
            terms.extend(tables.map(|&table| Term { table, entries: Rc::clone(&entries) }));
        }
        terms.sort_by_key(|term| term.table);
        let largest = |term: &Term| term.entries.iter().map(|(_, a)| a.abs()).fold(0.0, f64::max);
        let size = rows.offset_size(row) + terms.iter().map(largest).sum::<f64>();
        let (offset, tolerance) = (rows.offset(row), ROUNDING * size);
        let mut rule = Self { row, is_equality, offset, terms, tolerance };
        rule.tighten();
        Some(rule)
    }

    /// Sums of whole numbers that are at most 2.5 are at most 2: this makes bounds at prices
    /// sharper.
    fn tighten(&mut self) {
        if let Some(unit) = self.unit().filter(|_| !self.is_equality) {
            let most = ((self.tolerance - self.offset) / unit).floor();
            if most.abs() <= LARGEST_MULTIPLE {
                self.offset = 0.0 - unit * most;
            }
        }
    }

    /// The least coefficient, if all others are multiples of it.
    pub fn unit(&self) -> Option<f64> {
        let coefficients = || self.terms.iter().flat_map(|term| term.entries.iter().map(|e| e.1));
        let unit = coefficients().map(f64::abs).reduce(f64::min)?;
        coefficients().all(|a| multiple(a, unit).is_some()).then_some(unit)
    }

    /// By how much a sum breaks the rule; 0 if it keeps it.
    pub fn excess(&self, sum: f64) -> f64 {
        let off = if self.is_equality { sum.abs() } else { sum.max(0.0) };
        if off <= self.tolerance { 0.0 } else { off }
    }

    /// The largest coefficient, or 1 if there is none.
    pub fn largest(&self) -> f64 {
        let entries = self.terms.iter().flat_map(|term| term.entries.iter());
        let largest = entries.map(|(_, a)| a.abs()).fold(0.0, f64::max);
        if largest > 0.0 { largest } else { 1.0 }
    }

    /// What the rule sums up to.
    pub fn sum(&self, scores: &Scores, states: &[usize]) -> f64 {
        let terms = self.terms.iter();
        terms.fold(self.offset, |sum, term| sum + term.coefficient(scores.cell(term.table, states)))
    }

    /// The rule `sign · sum ≤ level`.
    pub fn at_most(&self, sign: f64, level: f64) -> Self {
        let times_sign = |term: &Term| Term {
            table: term.table,
            entries: term.entries.iter().map(|&(cell, a)| (cell, sign * a)).collect(),
        };
        let terms = self.terms.iter().map(times_sign).collect();
        Self { is_equality: false, offset: sign * self.offset - level, terms, ..*self }
    }

    /// The least by which some choice of cells, one of each table, breaks the rule. That may be less
    /// than what any configuration does: tables share variables. Where there are too many sums to
    /// tell, the range of all sums is looked at.
    pub fn least_excess(&self, base: &BaseModel) -> f64 {
        if let [term] = &self.terms[..] {
            let others = base.tables[term.table].log_potentials.len() > term.entries.len();
            let all = term.entries.iter().map(|&(_, a)| a).chain(others.then_some(0.0));
            return all.map(|a| self.excess(self.offset + a)).fold(f64::INFINITY, f64::min);
        }
        let step = (FINENESS * self.tolerance).max(f64::MIN_POSITIVE);
        let mut sums = vec![self.offset];
        let (mut low, mut high) = (self.offset, self.offset);
        for term in &self.terms {
            let own = coefficients(term, base);
            let Some((least, greatest)) = own.first().copied().zip(own.last().copied()) else {
                return f64::INFINITY;
            };
            (low, high) = (low + least, high + greatest);
            if sums.len() * own.len() <= MOST_SUMS * MOST_SUMS {
                let all = sums.iter().flat_map(|sum| own.iter().map(move |a| sum + a));
                let by_place: FxHashMap<i64, f64> =
                    all.map(|sum| ((sum / step).round() as i64, sum)).collect();
                sums = by_place.into_values().collect();
            }
            if sums.len() > MOST_SUMS {
                sums = Vec::new();
            }
        }
        if sums.is_empty() {
            return self.excess(if self.is_equality { 0f64.clamp(low, high) } else { low });
        }
        sums.iter().map(|&sum| self.excess(sum)).fold(f64::INFINITY, f64::min)
    }
}

/// How many units a coefficient is, if that is a whole number.
pub(super) fn multiple(coefficient: f64, unit: f64) -> Option<i32> {
    let (exact, nearest) = (coefficient / unit, (coefficient / unit).round());
    let is_whole = (exact - nearest).abs() <= WHOLE * nearest.abs();
    (is_whole && nearest.abs() <= LARGEST_MULTIPLE).then_some(nearest as i32)
}

/// The entries of a row, by the block that they read.
fn by_block(rows: &Rows, row: usize, blocks: &[Block]) -> Vec<(usize, Entries)> {
    let mut parts: Vec<(usize, Vec<(usize, f64)>)> = Vec::new();
    for (column, coefficient) in rows.entries(row) {
        let block = blocks.partition_point(|block| block.start <= column) - 1;
        let entry = (column - blocks[block].start, coefficient);
        match parts.last_mut().filter(|(last, _)| *last == block) {
            Some((_, entries)) => entries.push(entry),
            None => parts.push((block, vec![entry])),
        }
    }
    parts.into_iter().map(|(block, entries)| (block, entries.into())).collect()
}

/// The different coefficients of a table's allowed cells, ascending.
fn coefficients(term: &Term, base: &BaseModel) -> Vec<f64> {
    let cells = base.tables[term.table].log_potentials.iter().enumerate();
    let allowed = cells.filter(|(_, potential)| **potential > f64::NEG_INFINITY);
    let mut entries = term.entries.iter().peekable();
    let mut found: Vec<f64> = Vec::new();
    for (cell, _) in allowed {
        while entries.next_if(|(entry, _)| *entry < cell).is_some() {}
        found.push(entries.peek().filter(|(entry, _)| *entry == cell).map_or(0.0, |(_, a)| *a));
    }
    found.sort_by(f64::total_cmp);
    found.dedup();
    found
}
