//! An approximate inverse of `C + diag(shift)` for the covariance `C` of a chain's positions.
//!
//! The indicators of successive states obey `x_{t+1} = Pᵀx_t + noise`: up to second moments a chain
//! is a linear process, and a system with `C + D` is that of a Kalman smoother whose observations
//! have noise `D`. With few states this is solved directly, which is exact ([`Full`]). With many,
//! each transition matrix is replaced by its diagonal: every state becomes a process of its own
//! ([`Scalar`]).

mod full;
mod scalar;

use full::Full;
use scalar::Scalar;

use rustc_hash::FxHashMap;

use super::forward_backward::Messages;
use super::log_domain::LogAnswer;
use super::marginals::edge_stays_finite;
use super::node_tilts::{NodeTilt, inner_product, write_products};
use super::oracle::{Chain, State};
use super::table::TransitionTable;
use crate::oracle::Inverse;

/// With this many states, a product of two matrices takes as long as some dozens of calls.
pub(crate) const FEW_STATES: usize = 24;

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
        if matches!(self.state, State::Nothing | State::Cancelled)
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
        let Messages { alpha, beta, nodes, .. } = &self.messages;
        if self.state == State::Log {
            marginal.copy_from_slice(&nodes[position.states()]);
        } else {
            let (alpha, beta) = (&alpha[position.states()], &beta[position.states()]);
            let total = inner_product(pulp::Scalar, alpha, beta);
            write_products(pulp::Scalar, alpha, beta, 1.0 / total, &mut marginal);
        }
        Node { start: self.tilts.nodes.first_coordinate(t), marginal }
    }

    /// Whether the marginals of a link can be read from the messages.
    fn has_pairs(&self, t: usize) -> bool {
        let Self { sequence, tilts, messages, .. } = self;
        sequence.positions[t].table.is_some()
            && (self.state == State::Log || edge_stays_finite(sequence, tilts, messages, t))
    }

    /// Marginals of the pairs of a link, row-major; nothing where they cannot be read.
    fn conditionals(&mut self, t: usize) -> Option<Vec<f64>> {
        if !self.has_pairs(t) {
            return None;
        }
        let (from, to) = self.model.tables[self.sequence.positions[t].table?].shape();
        let mut pairs = vec![0.0; from * to];
        self.visit_pairs(t, |i, j, _, probability| pairs[i * to + j] = probability);
        Some(pairs)
    }

    /// The probability of each state at both ends of a link; nothing where it cannot be read.
    fn stays(&mut self, t: usize, diagonals: &mut Diagonals) -> Option<Vec<f64>> {
        if !self.has_pairs(t) {
            return None;
        }
        let Self { model, sequence, tilts, messages, .. } = self;
        let (here, next) = (sequence.positions[t], sequence.positions[t + 1]);
        let table = &model.tables[here.table?];
        let diagonal = diagonals.entry(here.table?).or_insert_with(|| diagonal_of(table));
        if self.state == State::Log {
            return Some(LogAnswer { model, sequence, tilts, messages }.stays(t, diagonal));
        }
        let (alpha, beta) = (&messages.alpha[here.states()], &messages.beta);
        let factor =
            messages.beta_scales[t] / inner_product(pulp::Scalar, alpha, &beta[here.states()]);
        let (after, weights) =
            (&beta[next.states()], &tilts.nodes.weights(sequence)[next.states()]);
        let stays = diagonal.iter().enumerate().map(|(i, slot)| {
            let weight = slot.map_or(0.0, |slot| table.exp_forward[slot]);
            alpha[i] * weight * weights[i] * after[i] * factor
        });
        Some(stays.collect())
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
