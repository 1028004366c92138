//! The same marginals in the log domain, for potentials whose exponentials would vanish.
//!
//! Slow (some exponentials per transition) but safe: each message is kept relative to its greatest
//! entry, and the greatest entries are summed separately.
//!
//! Going back, `μ(i, j) = μ(j) p(i | j)` with `p(i | j) ∝ exp(α_i + e_ij)`, and `μ(i) = Σ_j μ(i, j)`.
//! So tables agree to the last digits however large the potentials are. Marginals from messages both
//! ways would each be off by what rounding did to potentials, and by different amounts: a large
//! weight on their difference would make something of nothing.

use super::forward_backward::Messages;
use super::layout::Layout;
use super::model::ChainModel;
use super::node_tilts::NodeTilt;
use super::sequence::{Sequence, Total};
use super::tilts::Tilts;

/// A term so far below the greatest (as a logarithm) is lost in the rounding of their sum. At low
/// temperature nearly all are, and an exponential costs more than a comparison.
const NEGLIGIBLE: f64 = -60.0;

/// One call in the log domain. `messages.alpha` becomes logarithms, `messages.nodes` marginals;
/// `messages.beta` is not used.
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
                    Some((layout, values)) => log_product(layout, values, x, alpha, sums),
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

    /// Marginals of every position, from the last to the first, and of the links that are tilted.
    fn write_marginals(&mut self, marginals: &mut [f64]) {
        marginals.fill(0.0);
        for group in &mut self.tilts.groups[..self.tilts.active] {
            group.counts.fill(0.0);
        }
        self.messages.nodes.clear();
        self.messages.nodes.resize(self.sequence.cells(), 0.0);
        for t in (0..self.sequence.positions.len()).rev() {
            self.write_node(t);
            self.add_node(t, marginals);
        }
        for group in &self.tilts.groups[..self.tilts.active] {
            group.scatter(&self.model.tables[group.key.0].forward, marginals);
        }
    }

    /// The marginal of a position, given that of the next one; the link's goes to its group.
    fn write_node(&mut self, t: usize) {
        let Self { model, sequence, tilts, messages, .. } = self;
        let position = sequence.positions[t];
        let layout = position.table.map(|table| &model.tables[table].forward);
        let Some(layout) = layout.filter(|_| t + 1 < sequence.positions.len()) else {
            let Messages { alpha, nodes, .. } = &mut **messages;
            let node = &mut nodes[position.states()];
            node.iter_mut().zip(&alpha[position.states()]).for_each(|(p, alpha)| *p = alpha.exp());
            return normalise(node);
        };
        let group = tilts.links[t];
        let mut counts = group.map(|group| std::mem::take(&mut tilts.groups[group].counts));
        let mut answer = LogAnswer { model, sequence, tilts, messages };
        let Link { joint, before, .. } = answer.link(t).expect("a stated link");
        layout.for_each_entry(|i, j, slot| {
            let probability = joint.probability(i, j, slot);
            before[i] += probability;
            if let Some(counts) = &mut counts {
                counts[slot] += probability;
            }
        });
        normalise(before);
        if let (Some(group), Some(counts)) = (group, counts) {
            tilts.groups[group].counts = counts;
        }
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

/// The link after a position.
struct Link<'a> {
    layout: &'a Layout,
    joint: Joint<'a>,
    /// Room for the marginal of the position before.
    before: &'a mut [f64],
}

/// What the marginals of a link are made of.
struct Joint<'a> {
    /// `e`, tilt included. `[forward slots]`
    values: &'a [f64],
    alpha: &'a [f64],
    /// For each state after, the greatest `α_i + e_ij`.
    highest: &'a [f64],
    /// For each state after, its marginal over the sum of `exp(α_i + e_ij − highest)`.
    shares: &'a [f64],
}

impl Joint<'_> {
    /// `μ(i, j)`
    fn probability(&self, i: usize, j: usize, slot: usize) -> f64 {
        if self.shares[j] == 0.0 {
            return 0.0;
        }
        self.shares[j] * (self.alpha[i] + self.values[slot] - self.highest[j]).exp()
    }
}

/// What is read from a call that was answered in the log domain.
pub(super) struct LogAnswer<'a> {
    pub(super) model: &'a ChainModel,
    pub(super) sequence: &'a Sequence,
    pub(super) tilts: &'a Tilts,
    pub(super) messages: &'a mut Messages,
}

impl LogAnswer<'_> {
    /// Adds the marginals of the link after position `t`, in the table's forward layout.
    pub(super) fn add_edge_marginal(&mut self, t: usize, counts: &mut [f64]) {
        self.visit_pairs(t, |_, _, slot, probability| counts[slot] += probability);
    }

    /// Visits the probability of every pair of states of a link: `visit(from, to, slot, probability)`.
    pub(super) fn visit_pairs(
        &mut self,
        t: usize,
        mut visit: impl FnMut(usize, usize, usize, f64),
    ) {
        let Some(Link { layout, joint, .. }) = self.link(t) else { return };
        layout.for_each_entry(|i, j, slot| visit(i, j, slot, joint.probability(i, j, slot)));
    }

    /// The probability of each state at both ends of a link, given the slot of the pair if there is
    /// one.
    pub(super) fn stays(&mut self, t: usize, diagonal: &[Option<usize>]) -> Vec<f64> {
        let Some(Link { joint, .. }) = self.link(t) else { return vec![0.0; diagonal.len()] };
        let pair = |(i, slot): (usize, &Option<usize>)| {
            slot.map_or(0.0, |slot| joint.probability(i, i, slot))
        };
        diagonal.iter().enumerate().map(pair).collect()
    }

    /// Writes `p(y_{t+1} | y_t = state)`, not normalised; zeros where that is lost.
    pub(super) fn write_chances(&mut self, t: usize, state: usize, out: &mut [f64]) {
        out.fill(f64::NEG_INFINITY);
        if let Some(Link { layout, joint, .. }) = self.link(t) {
            let Joint { values, alpha, highest, shares } = joint;
            layout.for_each_entry(|from, to, slot| {
                if from == state && shares[to] > 0.0 {
                    out[to] = shares[to].ln() + alpha[from] + values[slot] - highest[to];
                }
            });
        }
        subtract_highest(out);
        out.iter_mut().for_each(|chance| *chance = chance.exp());
    }

    /// The link after position `t`, once the marginal of the next is known; `None` if it is free.
    fn link(&mut self, t: usize) -> Option<Link<'_>> {
        let Self { model, sequence, tilts, messages } = self;
        let (position, after) = (sequence.positions[t], sequence.positions[t + 1]);
        let (layout, values) = transitions(model, sequence, tilts, t)?;
        let Messages { alpha, nodes, gamma: [highest, shares], .. } = &mut **messages;
        let alpha = &alpha[position.states()];
        let (highest, shares) = (&mut highest[..after.states], &mut shares[..after.states]);
        highest.fill(f64::NEG_INFINITY);
        layout.for_each_entry(|i, j, slot| highest[j] = highest[j].max(alpha[i] + values[slot]));
        shares.fill(0.0);
        layout.for_each_entry(|i, j, slot| {
            // Not where the highest is −∞, which makes this NaN.
            let below = alpha[i] + values[slot] - highest[j];
            if below > NEGLIGIBLE {
                shares[j] += below.exp();
            }
        });
        let (before, rest) = nodes[position.start..].split_at_mut(after.start - position.start);
        for (share, &node) in shares.iter_mut().zip(&rest[..after.states]) {
            *share = if node > 0.0 { node / *share } else { 0.0 };
        }
        let before = &mut before[..position.states];
        Some(Link { layout, joint: Joint { values, alpha, highest, shares }, before })
    }
}

fn normalise(values: &mut [f64]) {
    let total: f64 = values.iter().sum();
    values.iter_mut().for_each(|value| *value /= total);
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

/// `out_j = log Σ_i exp(x_i + e_ij)`
fn log_product(layout: &Layout, values: &[f64], x: &[f64], out: &mut [f64], sums: &mut [f64]) {
    out.fill(f64::NEG_INFINITY);
    layout.for_each_entry(|i, j, slot| out[j] = out[j].max(x[i] + values[slot]));
    sums.fill(0.0);
    layout.for_each_entry(|i, j, slot| {
        // Not where `out` is −∞, which makes this NaN.
        let below = x[i] + values[slot] - out[j];
        if below > NEGLIGIBLE {
            sums[j] += below.exp();
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
