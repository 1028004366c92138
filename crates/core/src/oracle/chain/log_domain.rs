//! The same messages in the log domain, for potentials whose exponentials would vanish.
//!
//! Slow (one exponential per transition) but safe: each message is kept relative to its greatest
//! entry, and the greatest entries are summed separately.

use super::forward_backward::Messages;
use super::layout::Layout;
use super::model::ChainModel;
use super::sequence::{Sequence, Total};
use super::tilts::Tilts;

/// A term so far below the greatest (as a logarithm) is lost in the rounding of their sum. At low
/// temperature nearly all are, and an exponential costs more than a comparison.
const NEGLIGIBLE: f64 = -60.0;

/// One call in the log domain. `messages.alpha` and `messages.beta` become logarithms.
pub(super) struct LogPass<'a> {
    pub(super) model: &'a ChainModel,
    pub(super) sequence: &'a Sequence,
    pub(super) tilts: &'a mut Tilts,
    pub(super) messages: &'a mut Messages,
    pub(super) tilt: &'a [f64],
}

impl LogPass<'_> {
    /// Writes log-messages and marginals on the support; returns the log-partition.
    pub(super) fn run(mut self, marginals: &mut [f64]) -> f64 {
        for group in &mut self.tilts.groups[..self.tilts.active] {
            group.add_tilt(&self.model.tables[group.key.0], self.tilt);
        }
        let mut log_total = Total::default();
        for t in 0..self.sequence.positions.len() {
            let highest = self.forward(t);
            if highest == f64::NEG_INFINITY {
                return highest;
            }
            log_total.add(highest);
        }
        for t in (0..self.sequence.positions.len()).rev() {
            self.backward(t);
        }
        if let Some(last) = self.sequence.positions.last() {
            let sum: f64 = self.messages.alpha[last.states()].iter().map(|a| a.exp()).sum();
            log_total.add(sum.ln());
        }
        self.write_marginals(marginals);
        log_total.value()
    }

    /// `α_t`, relative to its greatest entry, which is returned.
    fn forward(&mut self, t: usize) -> f64 {
        let position = self.sequence.positions[t];
        let Messages { alpha, gamma: [sums, scores], .. } = &mut *self.messages;
        let (done, rest) = alpha.split_at_mut(position.start);
        let alpha = &mut rest[..position.states];
        match t.checked_sub(1).map(|t| (t, self.sequence.positions[t])) {
            None => alpha.fill(0.0),
            Some((t, before)) => {
                let x = &done[before.states()];
                match transitions(self.model, self.sequence, self.tilts, t) {
                    Some((layout, values)) => log_product(layout, values, x, alpha, sums, false),
                    None => alpha.fill(log_sum(x)),
                }
            }
        }
        self.tilts.nodes.add_scores(self.sequence, t, self.tilt, scores);
        for (alpha, score) in alpha.iter_mut().zip(scores.iter()) {
            *alpha += score;
        }
        subtract_highest(alpha)
    }

    /// `β_t`, relative to its greatest entry.
    fn backward(&mut self, t: usize) {
        let position = self.sequence.positions[t];
        let Messages { beta, gamma: [sums, gamma], .. } = &mut *self.messages;
        let Some(&after) = self.sequence.positions.get(t + 1) else {
            beta[position.states()].fill(0.0);
            return;
        };
        self.tilts.nodes.add_scores(self.sequence, t + 1, self.tilt, gamma);
        for (gamma, beta) in gamma.iter_mut().zip(&beta[after.states()]) {
            *gamma += beta;
        }
        let (gamma, beta) = (&gamma[..after.states], &mut beta[position.states()]);
        match transitions(self.model, self.sequence, self.tilts, t) {
            Some((layout, values)) => log_product(layout, values, gamma, beta, sums, true),
            None => beta.fill(log_sum(gamma)),
        }
        subtract_highest(beta);
    }

    fn write_marginals(&mut self, marginals: &mut [f64]) {
        marginals.fill(0.0);
        for (t, position) in self.sequence.positions.iter().enumerate() {
            if let Some(start) = self.tilts.nodes.first_coordinate(t) {
                let node = &mut self.messages.gamma[0];
                node_marginal(&self.messages.alpha, &self.messages.beta, position.states(), node);
                let out = &mut marginals[start..start + position.states];
                for (sum, value) in out.iter_mut().zip(node.iter()) {
                    *sum += value;
                }
            }
        }
        for group in 0..self.tilts.active {
            let mut counts = std::mem::take(&mut self.tilts.groups[group].counts);
            counts.fill(0.0);
            for t in 0..self.sequence.positions.len() {
                if self.tilts.links[t] == Some(group) {
                    let Self { model, sequence, tilts, messages, tilt } = self;
                    add_edge_marginal(model, sequence, tilts, messages, (t, tilt), &mut counts);
                }
            }
            let group = &mut self.tilts.groups[group];
            group.counts = counts;
            group.scatter(&self.model.tables[group.key.0].forward, marginals);
        }
    }
}

/// Adds the marginals of the link after position `t`, in the table's forward layout.
pub(super) fn add_edge_marginal(
    model: &ChainModel,
    sequence: &Sequence,
    tilts: &Tilts,
    messages: &mut Messages,
    (t, tilt): (usize, &[f64]),
    counts: &mut [f64],
) {
    let (position, after) = (sequence.positions[t], sequence.positions[t + 1]);
    let Messages { alpha, beta, gamma: [gamma, _], .. } = messages;
    let Some((layout, values)) = transitions(model, sequence, tilts, t) else { return };
    tilts.nodes.add_scores(sequence, t + 1, tilt, gamma);
    for (gamma, beta) in gamma.iter_mut().zip(&beta[after.states()]) {
        *gamma += beta;
    }
    let alpha = &alpha[position.states()];
    let mut highest = f64::NEG_INFINITY;
    layout.for_each_entry(|i, j, slot| {
        highest = highest.max(alpha[i] + values[slot] + gamma[j]);
    });
    let mut total = 0.0;
    layout.for_each_entry(|i, j, slot| {
        total += (alpha[i] + values[slot] + gamma[j] - highest).exp();
    });
    layout.for_each_entry(|i, j, slot| {
        counts[slot] += (alpha[i] + values[slot] + gamma[j] - highest).exp() / total;
    });
}

/// Visits the log-probability of every pair of states of a link, up to a constant:
/// `visit(from, to, slot, log)`.
pub(super) fn log_joints(
    model: &ChainModel,
    sequence: &Sequence,
    tilts: &Tilts,
    messages: &mut Messages,
    (t, tilt): (usize, &[f64]),
    mut visit: impl FnMut(usize, usize, usize, f64),
) {
    let (position, after) = (sequence.positions[t], sequence.positions[t + 1]);
    let Messages { alpha, beta, gamma: [gamma, _], .. } = messages;
    let Some((layout, values)) = transitions(model, sequence, tilts, t) else { return };
    tilts.nodes.add_scores(sequence, t + 1, tilt, gamma);
    for (gamma, beta) in gamma.iter_mut().zip(&beta[after.states()]) {
        *gamma += beta;
    }
    let alpha = &alpha[position.states()];
    layout.for_each_entry(|i, j, slot| visit(i, j, slot, alpha[i] + values[slot] + gamma[j]));
}

/// `exp(α + β)`, normalised.
pub(super) fn node_marginal(
    alpha: &[f64],
    beta: &[f64],
    states: std::ops::Range<usize>,
    marginal: &mut [f64],
) {
    let sums = alpha[states.clone()].iter().zip(&beta[states.clone()]);
    let marginal = &mut marginal[..states.len()];
    for (value, (alpha, beta)) in marginal.iter_mut().zip(sums) {
        *value = alpha + beta;
    }
    subtract_highest(marginal);
    let mut total = 0.0;
    for value in marginal.iter_mut() {
        *value = value.exp();
        total += *value;
    }
    for value in marginal.iter_mut() {
        *value /= total;
    }
}

/// The layout and tilted log-potentials after position `t`, unless the link is free.
fn transitions<'a>(
    model: &'a ChainModel,
    sequence: &Sequence,
    tilts: &'a Tilts,
    t: usize,
) -> Option<(&'a Layout, &'a [f64])> {
    let table = &model.tables[sequence.positions[t].table?];
    let values: &[f64] = match tilts.links[t] {
        None => &table.log_forward,
        Some(group) => &tilts.groups[group].log_forward,
    };
    Some((&table.forward, values))
}

/// `out_j = log Σ_i exp(x_i + e_ij)`; with `backward` over `j`, for each `i`.
fn log_product(
    layout: &Layout,
    values: &[f64],
    x: &[f64],
    out: &mut [f64],
    sums: &mut [f64],
    backward: bool,
) {
    out.fill(f64::NEG_INFINITY);
    layout.for_each_entry(|i, j, slot| {
        let (from, to) = if backward { (j, i) } else { (i, j) };
        out[to] = out[to].max(x[from] + values[slot]);
    });
    sums.fill(0.0);
    layout.for_each_entry(|i, j, slot| {
        let (from, to) = if backward { (j, i) } else { (i, j) };
        // Not where `out` is −∞, which makes this NaN.
        let below = x[from] + values[slot] - out[to];
        if below > NEGLIGIBLE {
            sums[to] += below.exp();
        }
    });
    for (out, sum) in out.iter_mut().zip(sums) {
        if *out > f64::NEG_INFINITY {
            *out += sum.ln();
        }
    }
}

/// `log Σ exp x`
fn log_sum(x: &[f64]) -> f64 {
    let highest = x.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    if highest == f64::NEG_INFINITY {
        return highest;
    }
    highest + x.iter().map(|x| (x - highest).exp()).sum::<f64>().ln()
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
