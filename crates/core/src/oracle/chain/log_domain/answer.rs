//! What is read from a call that was answered in the log domain.

use super::{Columns, LEAST_SHARE, exponentials, multiply, subtract_highest};
use crate::oracle::chain::forward_backward::Messages;
use crate::oracle::chain::model::ChainModel;
use crate::oracle::chain::multiply::Direction;
use crate::oracle::chain::product::Operand;
use crate::oracle::chain::sequence::Sequence;
use crate::oracle::chain::tilts::{TiltedTable, Tilts};

/// A call in the log domain, from which marginals of links are read.
pub(in crate::oracle::chain) struct LogAnswer<'a> {
    pub(in crate::oracle::chain) model: &'a ChainModel,
    pub(in crate::oracle::chain) sequence: &'a Sequence,
    pub(in crate::oracle::chain) tilts: &'a Tilts,
    pub(in crate::oracle::chain) messages: &'a mut Messages,
}

/// The link after a position, once the marginal of the next is known.
struct Link<'a> {
    table: TiltedTable<'a>,
    /// Logarithms, and their exponentials.
    alpha: &'a [f64],
    exp_alpha: &'a [f64],
    /// The marginal of each state after; its sum, and what that is relative to.
    after: &'a [f64],
    sums: &'a [f64],
    peaks: &'a [f64],
    /// For each state after with a peak of 0, its marginal over its sum; else 0. Padded with zeros.
    shares: &'a [f64],
    /// Room for the marginal of the position before, padded.
    before: &'a mut [f64],
}

impl Link<'_> {
    /// `μ(i, j)`
    #[inline(always)]
    fn probability(&self, i: usize, j: usize, slot: usize) -> f64 {
        if self.shares[j] > 0.0 {
            return self.shares[j] * self.exp_alpha[i] * self.table.exp_forward[slot];
        }
        if self.peaks[j] == 0.0 || self.after[j] == 0.0 {
            return 0.0;
        }
        let log = self.alpha[i] + (self.table.log_forward[slot] - self.table.highest);
        self.after[j] / self.sums[j] * (log - self.peaks[j]).exp()
    }
}

impl LogAnswer<'_> {
    /// Writes the marginal of position `t`, not normalised.
    pub(super) fn write_before(&mut self, t: usize) {
        let model = self.model;
        let Some(link) = self.link(t) else { return };
        let Link { table, alpha, exp_alpha, after, sums, peaks, shares, before } = link;
        let x = Operand::new(after.len(), shares);
        multiply(model, Direction::Backward, Some(&table), x, before);
        before.iter_mut().zip(exp_alpha).for_each(|(before, alpha)| *before *= alpha);
        let columns = Columns { table: &table, logs: alpha };
        for (column, &peak) in peaks.iter().enumerate() {
            if peak == 0.0 || after[column] == 0.0 {
                continue;
            }
            let share = after[column] / sums[column];
            columns.for_each_term(column, |i, _, term| {
                if term - peak > LEAST_SHARE {
                    before[i] += share * (term - peak).exp();
                }
            });
        }
    }

    /// Adds the marginals of the link after position `t`, in the table's forward layout.
    pub(in crate::oracle::chain) fn add_edge_marginal(&mut self, t: usize, counts: &mut [f64]) {
        self.visit_pairs(t, |_, _, slot, probability| counts[slot] += probability);
    }

    /// Visits the probability of every pair of states of a link: `visit(from, to, slot, probability)`.
    pub(in crate::oracle::chain) fn visit_pairs(
        &mut self,
        t: usize,
        mut visit: impl FnMut(usize, usize, usize, f64),
    ) {
        let Some(link) = self.link(t) else { return };
        let layout = &link.table.table.forward;
        layout.for_each_entry(|i, j, slot| visit(i, j, slot, link.probability(i, j, slot)));
    }

    /// Visits the pairs whose state after has a peak of its own and whose probability is more than
    /// `least` (as a logarithm) of that of a state: `visit(from, to, slot, probability)`.
    pub(in crate::oracle::chain) fn visit_peaked_pairs(
        &mut self,
        t: usize,
        least: f64,
        mut visit: impl FnMut(usize, usize, usize, f64),
    ) {
        let Some(link) = self.link(t) else { return };
        let Link { table, alpha, after, sums, peaks, before, .. } = link;
        if peaks.iter().all(|&peak| peak == 0.0) {
            return;
        }
        let columns = Columns { table: &table, logs: alpha };
        let before: Vec<f64> = before[..alpha.len()].iter().map(|before| before.ln()).collect();
        for (column, &peak) in peaks.iter().enumerate() {
            if peak == 0.0 || after[column] == 0.0 {
                continue;
            }
            let (share, after) = ((after[column] / sums[column]).ln() - peak, after[column].ln());
            columns.for_each_term(column, |i, slot, term| {
                if share + term > least + after.min(before[i]) {
                    visit(i, column, slot, (share + term).exp());
                }
            });
        }
    }

    /// Of states after that have no peak of their own, adds what is expected of `values`: given
    /// each such state, of those before ([`Direction::Forward`]), or the other way round; times
    /// marginals. `product` is room.
    pub(in crate::oracle::chain) fn add_expected(
        &mut self,
        (t, direction): (usize, Direction),
        values: &[f64],
        product: &mut [f64],
        out: &mut [f64],
    ) {
        let [here, next] = [t, t + 1].map(|t| self.sequence.positions[t].states);
        if self.link(t).is_none() {
            return;
        }
        let table = self.tilts.link(self.model, self.sequence, t);
        let [exp_alpha, shares] = &mut self.messages.gamma;
        let (from, to, rows) = match direction {
            Direction::Forward => (exp_alpha, shares, here),
            Direction::Backward => (shares, exp_alpha, next),
        };
        from.iter_mut().zip(values).take(rows).for_each(|(from, value)| *from *= value);
        let x = Operand::new(rows, from);
        multiply(self.model, direction, table.as_ref(), x, product);
        let both = to.iter().zip(product.iter());
        out.iter_mut().zip(both).for_each(|(out, (to, product))| *out += to * product);
    }

    /// The probability of each state at both ends of a link, given the slot of the pair if there is
    /// one.
    pub(in crate::oracle::chain) fn stays(
        &mut self,
        t: usize,
        diagonal: &[Option<usize>],
    ) -> Vec<f64> {
        let Some(link) = self.link(t) else { return vec![0.0; diagonal.len()] };
        let pair = |(i, slot): (usize, &Option<usize>)| {
            slot.map_or(0.0, |slot| link.probability(i, i, slot))
        };
        diagonal.iter().enumerate().map(pair).collect()
    }

    /// Writes `p(y_{t+1} | y_t = state)`, not normalised; zeros where that is lost.
    pub(in crate::oracle::chain) fn write_chances(
        &mut self,
        t: usize,
        state: usize,
        out: &mut [f64],
    ) {
        out.fill(f64::NEG_INFINITY);
        if let Some(Link { table, alpha, after, sums, peaks, .. }) = self.link(t) {
            table.table.forward.for_each_entry(|from, to, slot| {
                if from == state && after[to] > 0.0 {
                    let share = (after[to] / sums[to]).ln() - peaks[to];
                    out[to] = share + alpha[from] + (table.log_forward[slot] - table.highest);
                }
            });
        }
        subtract_highest(out);
        out.iter_mut().for_each(|chance| *chance = chance.exp());
    }

    /// The link after position `t`; `None` if it is free.
    fn link(&mut self, t: usize) -> Option<Link<'_>> {
        let Self { model, sequence, tilts, messages } = self;
        let (position, next) = (sequence.positions[t], sequence.positions[t + 1]);
        let table = tilts.link(model, sequence, t)?;
        let Messages { alpha, beta, peaks, nodes, gamma: [exp_alpha, shares], .. } =
            &mut **messages;
        let alpha = &alpha[position.states()];
        exponentials(alpha, exp_alpha);
        let (before, rest) = nodes[position.start..].split_at_mut(next.start - position.start);
        let after = &rest[..next.states];
        let (sums, peaks) = (&beta[next.states()], &peaks[next.states()]);
        shares.fill(0.0);
        for (j, share) in shares[..next.states].iter_mut().enumerate() {
            if after[j] > 0.0 && peaks[j] == 0.0 {
                *share = after[j] / sums[j];
            }
        }
        Some(Link { table, alpha, exp_alpha, after, sums, peaks, shares, before })
    }
}
