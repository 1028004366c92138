//! Marginals where scaled products would lose probability. Messages are logarithms here.
//!
//! ```text
//! α_t(j) = s_t(j) + log Σ_i exp(α_{t−1}(i) + e_ij)      s = scores and tilt, α and e below a greatest 0
//! ```
//!
//! One product of exponentials has the sums of all columns. Where such a sum is small it may have
//! lost what matters, and the column is summed again below its own greatest term: the sum is
//! `exp(peak_j) · sum_j`, with a peak of 0 for the others. The messages before a position have no
//! tilt of that position in them, so even at low temperature most columns need no second look.
//!
//! Going back, `μ(i, j) = μ(j) p(i | j)` with `p(i | j) = exp(α_i + e_ij − peak_j) / sum_j`, and
//! `μ(i) = Σ_j μ(i, j)`. So tables agree to the last digits however large the potentials are.
//! Marginals from messages in both directions would each be off by the rounding of potentials, by
//! different amounts, and a large weight on their difference would amplify that.

mod answer;

pub(super) use answer::LogAnswer;

use super::forward_backward::Messages;
use super::model::ChainModel;
use super::multiply::{Direction, Multiply};
use super::node_tilts::NodeTilt;
use super::product::Operand;
use super::sequence::{Sequence, Total};
use super::tilts::{TiltedTable, Tilts};
use super::watch::Watch;
use crate::cancel::Cancel;

/// A term so far below the greatest (as a logarithm) is lost in the rounding of their sum.
const NEGLIGIBLE: f64 = -60.0;
/// What a product loses is below 1e-307 a term. Above this sum no marginal is off by more than
/// 1e-150 of 1.
const LEAST_SUM: f64 = 1e-150;
/// Terms whose share of a column's sum (as a logarithm) no double holds.
const LEAST_SHARE: f64 = -700.0;

/// One call in the log domain, once the exponentials of tilted tables are taken. `messages.alpha`
/// becomes logarithms, `messages.beta` sums, `messages.nodes` marginals.
pub(super) struct LogPass<'a> {
    pub(super) model: &'a ChainModel,
    pub(super) sequence: &'a Sequence,
    pub(super) tilts: &'a mut Tilts,
    pub(super) messages: &'a mut Messages,
    pub(super) tilt: &'a [f64],
    pub(super) cancel: &'a Cancel,
}

impl LogPass<'_> {
    /// Writes log-messages and marginals on the support; returns the log-partition, or NaN if the
    /// call was cancelled.
    pub(super) fn run(mut self, marginals: &mut [f64]) -> f64 {
        self.messages.peaks.clear();
        self.messages.peaks.resize(self.sequence.cells(), 0.0);
        let (mut log_total, mut watch) = (Total::default(), Watch::new(self.cancel));
        for t in 0..self.sequence.positions.len() {
            if watch.stops_before(self.cells(t)) {
                return f64::NAN;
            }
            let highest = self.forward(t, &mut log_total);
            if highest == f64::NEG_INFINITY {
                return highest;
            }
            log_total.add(highest);
        }
        if let Some(last) = self.sequence.positions.last() {
            let sum: f64 = self.messages.alpha[last.states()].iter().map(|a| a.exp()).sum();
            log_total.add(sum.ln());
        }
        if self.write_marginals(marginals, &mut watch) { log_total.value() } else { f64::NAN }
    }

    /// The transitions after a position.
    fn cells(&self, t: usize) -> usize {
        self.model.cells(self.sequence.positions[t].table)
    }

    /// `α_t`, relative to its greatest entry, which is returned; what a table is relative to goes
    /// to the total.
    fn forward(&mut self, t: usize, log_total: &mut Total) -> f64 {
        let position = self.sequence.positions[t];
        let Messages { alpha, beta, peaks, gamma: [x, scores], .. } = &mut *self.messages;
        let (done, rest) = alpha.split_at_mut(position.start);
        let alpha = &mut rest[..position.states];
        self.tilts.nodes.add_scores(self.sequence, t, self.tilt, scores);
        alpha.copy_from_slice(&scores[..position.states]);
        if let Some(before) = t.checked_sub(1).map(|t| self.sequence.positions[t]) {
            let logs = &done[before.states()];
            exponentials(logs, x);
            let sums = &mut beta[position.padded()];
            let table = self.tilts.link(self.model, self.sequence, t - 1);
            let product = Operand::new(before.states, x);
            multiply(self.model, Direction::Forward, table.as_ref(), product, sums);
            if let Some(table) = &table {
                log_total.add(table.highest);
                let columns = Columns { table, logs };
                columns.sum_again(alpha, sums, &mut peaks[position.states()]);
            }
            let total = sums.iter().zip(&peaks[position.states()]);
            alpha.iter_mut().zip(total).for_each(|(alpha, (sum, peak))| *alpha += peak + sum.ln());
        }
        subtract_highest(alpha)
    }

    /// Marginals of every position, from the last to the first, and of the links that are tilted,
    /// unless it is cancelled.
    fn write_marginals(&mut self, marginals: &mut [f64], watch: &mut Watch) -> bool {
        marginals.fill(0.0);
        for group in &mut self.tilts.groups[..self.tilts.active] {
            group.counts.fill(0.0);
        }
        self.messages.nodes.clear();
        self.messages.nodes.resize(self.sequence.cells(), 0.0);
        for t in (0..self.sequence.positions.len()).rev() {
            if watch.stops_before(self.cells(t)) {
                return false;
            }
            self.write_node(t);
            self.add_node(t, marginals);
        }
        for group in &self.tilts.groups[..self.tilts.active] {
            group.scatter(&self.model.tables[group.key.0].forward, marginals);
        }
        true
    }

    /// The marginal of a position, given that of the next one; the link's goes to its group.
    fn write_node(&mut self, t: usize) {
        let Self { model, sequence, tilts, messages, .. } = self;
        let states = sequence.positions[t].states();
        let is_linked = t + 1 < sequence.positions.len() && sequence.positions[t].table.is_some();
        if !is_linked {
            let Messages { alpha, nodes, .. } = &mut **messages;
            exponentials(&alpha[states.clone()], &mut nodes[states.clone()]);
            return normalise(&mut nodes[states]);
        }
        let mut answer = LogAnswer { model, sequence, tilts, messages };
        answer.write_before(t);
        if let Some(group) = tilts.links[t] {
            let mut counts = std::mem::take(&mut tilts.groups[group].counts);
            let mut answer = LogAnswer { model, sequence, tilts, messages };
            answer.add_edge_marginal(t, &mut counts);
            tilts.groups[group].counts = counts;
        }
        normalise(&mut messages.nodes[states]);
    }

    /// Adds the marginal of a position to its block.
    fn add_node(&self, t: usize, marginals: &mut [f64]) {
        let position = self.sequence.positions[t];
        let start = match self.tilts.nodes.tilts[t] {
            NodeTilt::None => return,
            NodeTilt::Own(start) => start,
            NodeTilt::Shared(block) => self.tilts.nodes.shared[block].start,
        };
        let out = marginals[start..start + position.states].iter_mut();
        let node = &self.messages.nodes[position.states()];
        out.zip(node).for_each(|(sum, value)| *sum += value);
    }
}

/// The columns of a link, given the message before it.
struct Columns<'a> {
    table: &'a TiltedTable<'a>,
    logs: &'a [f64],
}

impl Columns<'_> {
    /// `α_i + e_ij` of a column: `visit(i, slot, term)`.
    fn for_each_term(&self, column: usize, mut visit: impl FnMut(usize, usize, f64)) {
        let TiltedTable { table, log_forward, highest, .. } = self.table;
        table.forward.for_each_in_column(column, |i, slot| {
            visit(i, slot, self.logs[i] + (log_forward[slot] - highest));
        });
    }

    /// Sums the columns again where a state is allowed and the product is too small to be trusted.
    fn sum_again(&self, scores: &[f64], sums: &mut [f64], peaks: &mut [f64]) {
        for (column, score) in scores.iter().enumerate() {
            if sums[column] >= LEAST_SUM || *score == f64::NEG_INFINITY {
                continue;
            }
            let mut peak = f64::NEG_INFINITY;
            self.for_each_term(column, |_, _, term| peak = peak.max(term));
            peaks[column] = peak;
            sums[column] = if peak == f64::NEG_INFINITY { 1.0 } else { 0.0 };
            if peak > f64::NEG_INFINITY {
                self.for_each_term(column, |_, _, term| {
                    if term - peak > NEGLIGIBLE {
                        sums[column] += (term - peak).exp();
                    }
                });
            }
        }
    }
}

/// Multiplies with a table; that of a free link is of ones.
fn multiply(
    model: &ChainModel,
    direction: Direction,
    table: Option<&TiltedTable>,
    x: Operand,
    out: &mut [f64],
) {
    model.instructions.dispatch(Multiply { direction, table, x, out });
}

/// Writes the exponentials of some logarithms, and zeros after them.
fn exponentials(logs: &[f64], out: &mut [f64]) {
    let (values, padding) = out.split_at_mut(logs.len());
    values.iter_mut().zip(logs).for_each(|(value, log)| *value = log.exp());
    padding.fill(0.0);
}

fn normalise(values: &mut [f64]) {
    let total: f64 = values.iter().sum();
    values.iter_mut().for_each(|value| *value /= total);
}

/// Subtracts the greatest entry from all, and returns it.
fn subtract_highest(values: &mut [f64]) -> f64 {
    let highest = values.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    if highest > f64::NEG_INFINITY {
        for value in values.iter_mut() {
            *value -= highest;
        }
    }
    highest
}
