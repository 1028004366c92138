use pulp::Simd;

use super::aligned::Aligned;
use super::edges::{add_outer_product, multiply};
use super::exponential::maximum;
use super::forward_backward::Messages;
use super::log_domain::LogAnswer;
use super::marginals::{LARGEST_OUTER_PRODUCT, write_gamma};
use super::model::ChainModel;
use super::node_tilts::{inner_product, write_products};
use super::oracle::{Chain, State};

/// Expected transitions of a homogeneous chain's table, summed over positions and sequences.
///
/// `Σ α_t γ_{t+1}ᵀ` is summed over all of them and multiplied by the table's exponentials once, at
/// the end.
#[derive(Clone, Debug)]
pub struct TransitionCounts {
    /// Sums of outer products, still without the table. `[forward slots]`
    products: Aligned,
    /// Complete sums from the log domain. `[forward slots]`
    complete: Aligned,
}

impl TransitionCounts {
    /// No transitions yet, of the table of `model`.
    ///
    /// # Panics
    /// If the model is not homogeneous.
    pub fn new(model: &ChainModel) -> Self {
        assert!(model.length().is_none(), "a homogeneous chain");
        let slots = model.tables[0].forward.slots();
        Self { products: Aligned::filled(slots, 0.0), complete: Aligned::filled(slots, 0.0) }
    }

    /// Visits the sum for every stored transition, `visit(from, to, count)`, and starts again at 0.
    /// `model` is the one that all the sequences had.
    pub fn take(&mut self, model: &ChainModel, mut visit: impl FnMut(usize, usize, f64)) {
        let table = &model.tables[0];
        model.instructions.dispatch(Multiply(&mut self.products, &table.exp_forward));
        table.forward.for_each_entry(|from, to, slot| {
            visit(from, to, self.products[slot] + self.complete[slot]);
        });
        self.products.fill(0.0);
        self.complete.fill(0.0);
    }
}

impl Chain {
    /// Writes the node marginals at the tilt of the latest [`Oracle::tilted`] call
    /// (`[positions][states]`) and adds the expected transitions to `counts`.
    ///
    /// For learning: the gradient of a log-partition needs only this, not a table per link. It
    /// costs about as much as one of the two passes of the call.
    ///
    /// # Panics
    /// If the chain is not homogeneous, or no call has answered yet.
    ///
    /// [`Oracle::tilted`]: crate::oracle::Oracle::tilted
    pub fn accumulate(&mut self, nodes: &mut [f64], counts: &mut TransitionCounts) {
        assert!(self.model.length().is_none(), "a homogeneous chain");
        assert!(self.state != State::Nothing, "an answer to read from");
        let model = self.model.clone();
        if self.state == State::Scaled && self.tilts.active == 0 {
            let pass = Accumulate { chain: self, nodes, counts };
            if model.instructions.dispatch(pass) {
                return;
            }
        }
        if self.state == State::Scaled {
            self.answer_in_log_domain();
        }
        let states = model.states(0);
        self.visit_nodes(&mut |variable, marginal| {
            nodes[variable * states..][..states].copy_from_slice(marginal);
        });
        let Self { sequence, tilts, messages, .. } = self;
        for t in 0..sequence.positions.len().saturating_sub(1) {
            let complete = &mut counts.complete;
            LogAnswer { model: &model, sequence, tilts, messages }.add_edge_marginal(t, complete);
        }
    }
}

/// One pass over the messages of a scaled answer.
struct Accumulate<'a> {
    chain: &'a mut Chain,
    nodes: &'a mut [f64],
    counts: &'a mut TransitionCounts,
}

impl pulp::WithSimd for Accumulate<'_> {
    /// Whether all outer products stay within the range of a double; if not, nothing was added.
    type Output = bool;

    #[inline(always)]
    fn with_simd<S: Simd>(self, simd: S) -> bool {
        let Self { chain, nodes, counts } = self;
        let Chain { model, sequence, tilts, messages, .. } = chain;
        let Messages { alpha, beta, gamma: [gamma, _], beta_scales, sums, .. } = messages;
        let (layout, weights) = (&model.tables[0].forward, tilts.nodes.weights(sequence));
        let links = || sequence.positions.iter().zip(sequence.positions.iter().skip(1)).enumerate();
        for (t, (here, after)) in links() {
            write_gamma(simd, &weights[after.padded()], &beta[after.padded()], gamma);
            let total = inner_product(simd, &alpha[here.padded()], &beta[here.padded()]);
            let factor = beta_scales[t] / total;
            let largest = sums[t] * maximum(simd, &gamma[..after.padded().len()]) * factor;
            if largest.is_nan() || largest >= LARGEST_OUTER_PRODUCT {
                return false;
            }
        }
        for (position, nodes) in sequence.positions.iter().zip(nodes.chunks_mut(layout.rows)) {
            let (alpha, beta) = (&alpha[position.padded()], &beta[position.padded()]);
            let total = inner_product(simd, alpha, beta);
            write_products(simd, alpha, beta, 1.0 / total, nodes);
        }
        for (t, (here, after)) in links() {
            write_gamma(simd, &weights[after.padded()], &beta[after.padded()], gamma);
            let total = inner_product(simd, &alpha[here.padded()], &beta[here.padded()]);
            let factor = beta_scales[t] / total;
            let alpha = &alpha[here.padded()];
            add_outer_product(simd, layout, (alpha, gamma), factor, &mut counts.products);
        }
        true
    }
}

struct Multiply<'a>(&'a mut [f64], &'a [f64]);

impl pulp::WithSimd for Multiply<'_> {
    type Output = ();

    #[inline(always)]
    fn with_simd<S: Simd>(self, simd: S) {
        multiply(simd, self.0, self.1);
    }
}
