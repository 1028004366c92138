//! About the inverse of `C + diag(shift)` for the covariance `C` of a chain's positions.
//!
//! The indicators of successive states obey `x_{t+1} = Pᵀx_t + noise`: up to second moments a chain
//! is a linear process, and a system with `C + D` is that of a Kalman smoother whose observations
//! have noise `D`. With few states this is done as it stands, which is exact ([`Full`]). With many,
//! each transition matrix is replaced by its diagonal: every state becomes a process of its own
//! ([`Scalar`]).

mod full;
mod scalar;

use full::Full;
use scalar::Scalar;

use rustc_hash::FxHashMap;

use super::log_domain;
use super::marginals::edge_stays_finite;
use super::node_tilts::{NodeTilt, inner_product, write_products};
use super::oracle::{Chain, State};
use super::table::TransitionTable;
use crate::oracle::Inverse;

/// With this many states, a product of two matrices takes as long as some dozens of calls.
const FEW_STATES: usize = 24;

/// A position: where it lies in the support, if it does, and its marginals.
pub(super) struct Node {
    start: Option<usize>,
    marginal: Vec<f64>,
}

impl Chain {
    /// The smoother of positions that have a block each; `None` where blocks are shared, or links
    /// have some.
    pub(super) fn smoother(&mut self, shift: &[f64]) -> Option<Inverse> {
        let nodes = &self.tilts.nodes;
        let is_shared = |tilt: &NodeTilt| matches!(tilt, NodeTilt::Shared(_));
        if self.state == State::Nothing
            || self.tilts.active > 0
            || nodes.tilts.iter().any(is_shared)
        {
            return None;
        }
        let nodes: Vec<Node> = (0..self.sequence.positions.len()).map(|t| self.node(t)).collect();
        if nodes.iter().all(|node| node.marginal.len() <= FEW_STATES) {
            let mut full = Full::new(nodes, shift, |t| self.conditionals(t));
            return Some(Box::new(move |right, quotient| full.divide(right, quotient)));
        }
        let mut diagonals = Diagonals::default();
        let mut scalar = Scalar::new(nodes, shift, |t| self.stays(t, &mut diagonals));
        Some(Box::new(move |right, quotient| scalar.divide(right, quotient)))
    }

    fn node(&mut self, t: usize) -> Node {
        let position = self.sequence.positions[t];
        let mut marginal = vec![0.0; position.states];
        let (alpha, beta) = (&self.messages.alpha, &self.messages.beta);
        if self.state == State::Log {
            log_domain::node_marginal(alpha, beta, position.states(), &mut marginal);
        } else {
            let (alpha, beta) = (&alpha[position.states()], &beta[position.states()]);
            let total = inner_product(pulp::Scalar, alpha, beta);
            write_products(pulp::Scalar, alpha, beta, 1.0 / total, &mut marginal);
        }
        Node { start: self.tilts.nodes.first_coordinate(t), marginal }
    }

    /// Whether the marginals of a link can be had from the messages.
    fn has_pairs(&self, t: usize) -> bool {
        let Self { sequence, tilts, messages, .. } = self;
        sequence.positions[t].table.is_some()
            && (self.state == State::Log || edge_stays_finite(sequence, tilts, messages, t))
    }

    /// Marginals of the pairs of a link, row-major; nothing where they cannot be had.
    fn conditionals(&mut self, t: usize) -> Option<Vec<f64>> {
        if !self.has_pairs(t) {
            return None;
        }
        self.pack_link(t);
        let table = self.sequence.positions[t].table?;
        let layout = &self.model.tables[table].forward;
        let (from, to) = self.model.tables[table].shape();
        let mut pairs = vec![0.0; from * to];
        layout.for_each_entry(|i, j, slot| pairs[i * to + j] = self.edge[0][slot]);
        Some(pairs)
    }

    /// The probability of each state at both ends of a link; nothing where it cannot be had.
    fn stays(&mut self, t: usize, diagonals: &mut Diagonals) -> Option<Vec<f64>> {
        if !self.has_pairs(t) {
            return None;
        }
        let after_marginal = self.node(t + 1).marginal;
        let (here, next) = (self.sequence.positions[t], self.sequence.positions[t + 1]);
        let table = &self.model.tables[here.table?];
        let diagonal = diagonals.entry(here.table?).or_insert_with(|| diagonal_of(table));
        let entries = diagonal.iter().enumerate().filter_map(|(i, slot)| Some((i, (*slot)?)));
        let mut stays = vec![0.0; diagonal.len()];
        let (alpha, beta) = (&self.messages.alpha[here.states()], &self.messages.beta);
        let after = &beta[next.states()];
        if self.state == State::Scaled {
            let total = inner_product(pulp::Scalar, alpha, &beta[here.states()]);
            let factor = self.messages.beta_scales[t] / total;
            let weights = &self.tilts.nodes.weights(&self.sequence)[next.states()];
            for (i, slot) in entries {
                stays[i] = alpha[i] * table.exp_forward[slot] * weights[i] * after[i] * factor;
            }
            return Some(stays);
        }
        let mut gamma = vec![0.0; next.states];
        self.tilts.nodes.add_scores(&self.sequence, t + 1, &self.tilt, &mut gamma);
        gamma.iter_mut().zip(after).for_each(|(gamma, beta)| *gamma += beta);
        // Pairs of one column sum to the marginal of its state, which gives the scale of all.
        let states = 0..next.states;
        let likely = states.max_by(|&a, &b| after_marginal[a].total_cmp(&after_marginal[b]))?;
        let mut sums = Vec::new();
        table.forward.for_each_in_column(likely, |from, slot| {
            sums.push(alpha[from] + table.log_forward[slot]);
        });
        let highest = sums.iter().copied().fold(f64::NEG_INFINITY, f64::max);
        let total: f64 = sums.iter().map(|sum| (sum - highest).exp()).sum();
        let shift = highest + total.ln() + gamma[likely] - after_marginal[likely].ln();
        for (i, slot) in entries {
            stays[i] = (alpha[i] + table.log_forward[slot] + gamma[i] - shift).exp();
        }
        Some(stays)
    }
}

/// The slots of the diagonal of each table that was asked for.
type Diagonals = FxHashMap<usize, Vec<Option<usize>>>;

fn diagonal_of(table: &TransitionTable) -> Vec<Option<usize>> {
    let (from, to) = table.shape();
    let mut slots = vec![None; from.min(to)];
    table.forward.for_each_entry(|i, j, slot| {
        if i == j {
            slots[i] = Some(slot);
        }
    });
    slots
}
