use std::sync::Arc;

use super::aligned::Aligned;
use super::covariance::Scratch;
use super::edges::cell_of;
use super::forward_backward::Messages;
use super::layout::Layout;
use super::log_domain::{LogAnswer, LogPass};
use super::marginals::{Pass, Reachable, edge_stays_finite, write_gamma};
use super::model::ChainModel;
use super::node_tilts::{inner_product, write_products};
use super::numbering::Numbering;
use super::paths::Paths;
use super::sequence::{Sequence, Total};
use super::table::TransitionTable;
use super::temperature::Stated;
use super::tilts::Tilts;
use super::viterbi::Viterbi;
use super::watch::Watch;
use crate::cancel::Cancel;
use crate::model::{BaseModel, ModelError};
use crate::oracle::{Covariance, Exactness, Oracle, Tables};
use crate::support::Support;

/// The oracle of a chain, or of a disjoint union of paths.
///
/// Tables are numbered as in a [`BaseModel`]: node tables by variable, then edge tables. A chain
/// made from a [`ChainModel`] has its variables in the order of positions, and one edge table for
/// each link that is not free.
#[derive(Clone, Debug)]
pub struct Chain {
    pub(super) model: Arc<ChainModel>,
    pub(super) support: Support,
    pub(super) numbering: Numbering,
    pub(super) sequence: Sequence,
    pub(super) tilts: Tilts,
    pub(super) messages: Messages,
    reachable: Reachable,
    /// Marginals of one table, in the base model's order.
    table: Vec<f64>,
    /// The latest tilt: edge marginals in the log domain need it again. `[support]`
    pub(super) tilt: Aligned,
    /// What the messages hold.
    pub(super) state: State,
    /// Added to every score.
    pub(super) constant: f64,
    /// What all potentials are divided by.
    pub(super) heat: f64,
    /// The potentials before that, if `heat` is not 1.
    pub(super) stated: Option<Box<Stated>>,
    always_log_domain: bool,
    /// Cuts calls off.
    pub(super) cancel: Cancel,
    /// For products with the covariance.
    pub(super) scratch: Scratch,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum State {
    Nothing,
    /// The latest call was cut off.
    Cancelled,
    Scaled,
    Log,
}

impl Chain {
    /// A chain with the shared tables of `model` and a sequence's node scores
    /// (`[positions][states]`; `-∞` forbids a state).
    ///
    /// # Panics
    /// If `support` names a table that the chain lacks, or of another size.
    pub fn new(
        model: Arc<ChainModel>,
        node_scores: &[f64],
        support: Support,
    ) -> Result<Self, ModelError> {
        let mut chain = Self::empty(model);
        chain.load(node_scores, support)?;
        Ok(chain)
    }

    /// Loads another sequence, perhaps of another length, and its support; memory is kept and
    /// grows only where the sequence needs more. After an error the chain is of no use until
    /// another sequence is loaded. Variables are numbered by position from now on, also where
    /// [`Chain::from_base`] numbered them otherwise.
    ///
    /// # Panics
    /// As [`Chain::new`].
    pub fn load(&mut self, node_scores: &[f64], support: Support) -> Result<(), ModelError> {
        if let Some(stated) = self.stated.take() {
            (self.model, self.heat) = (stated.model, 1.0);
        }
        self.sequence.load(&self.model, node_scores)?;
        self.numbering.in_order(&self.sequence);
        self.constant = 0.0;
        self.bind(support);
        Ok(())
    }

    /// The chain of a base model whose tables are pairwise and whose graph is a disjoint union of
    /// paths, in any order of the variables; `None` for any other. Equal tables are kept once.
    ///
    /// # Panics
    /// If `support` names a table that `base` lacks, or of another size.
    pub fn from_base(base: &BaseModel, support: &Support) -> Option<Self> {
        Self::from_base_until(base, support, &Cancel::never()).ok()?
    }

    /// The same, unless it is cancelled before it is done. The chain keeps the token.
    pub(crate) fn from_base_until(
        base: &BaseModel,
        support: &Support,
        cancel: &Cancel,
    ) -> Result<Option<Self>, ModelError> {
        let Some(paths) = Paths::find(base) else { return Ok(None) };
        let Paths { order, links, tables, edges } = paths;
        let states = order.iter().map(|&variable| base.cardinalities[variable]).collect();
        let model = ChainModel::until(states, links, &tables, cancel)?;
        let mut chain = Self::empty(Arc::new(model));
        let scores = order.iter().flat_map(|&variable| base.tables[variable].log_potentials.iter());
        chain.sequence.load(&chain.model, &scores.copied().collect::<Vec<_>>())?;
        let mut position_of = vec![0; order.len()];
        for (position, &variable) in order.iter().enumerate() {
            position_of[variable] = position;
        }
        chain.numbering = Numbering { position_of, variable_at: order, links: edges };
        chain.constant = base.constant;
        chain.bind(support.clone());
        chain.heed(cancel);
        Ok(Some(chain))
    }

    /// The shared part.
    pub fn model(&self) -> &Arc<ChainModel> {
        &self.model
    }

    /// Number of positions.
    pub fn length(&self) -> usize {
        self.sequence.positions.len()
    }

    /// Cuts off what takes long once this is cancelled: calls and products are then not numbers, and
    /// tables are not visited.
    pub fn heed(&mut self, cancel: &Cancel) {
        self.cancel = cancel.clone();
    }

    /// Whether the latest [`Oracle::tilted`] call was answered in the log domain.
    pub fn used_log_domain(&self) -> bool {
        self.state == State::Log
    }

    /// Answers every call in the log domain: slow, for tests.
    #[doc(hidden)]
    pub fn always_log_domain(&mut self, always: bool) {
        self.always_log_domain = always;
    }

    fn empty(model: Arc<ChainModel>) -> Self {
        Self {
            model,
            support: Support::new(),
            numbering: Numbering::default(),
            sequence: Sequence::default(),
            tilts: Tilts::default(),
            messages: Messages::default(),
            reachable: Reachable::default(),
            table: Vec::new(),
            tilt: Aligned::default(),
            state: State::Nothing,
            constant: 0.0,
            heat: 1.0,
            stated: None,
            always_log_domain: false,
            cancel: Cancel::never(),
            scratch: Scratch::default(),
        }
    }

    pub(super) fn bind(&mut self, support: Support) {
        self.tilts.bind(&self.model, &self.sequence, &self.numbering, &support);
        self.messages.resize(&self.sequence);
        self.reachable.clear(&self.sequence);
        self.tilt.reset(support.len(), 0.0);
        self.support = support;
        self.state = State::Nothing;
    }

    /// The forward pass of decoding; `None` where every assignment is forbidden.
    pub(super) fn forward<'a>(&'a mut self, tilt: &'a [f64]) -> Option<Forward<'a>> {
        self.state = State::Nothing;
        let Self { model, sequence, tilts, messages, numbering, constant, cancel, .. } = self;
        let shift = Vec::new();
        let mut viterbi = Viterbi { model, sequence, tilts, messages, tilt, shift, cancel };
        viterbi.run().then_some(Forward { viterbi, numbering, constant: *constant })
    }

    pub(super) fn visit_nodes(&mut self, visit: &mut dyn FnMut(usize, &mut Vec<f64>)) {
        let Messages { alpha, beta, nodes, .. } = &self.messages;
        let marginal = &mut self.table;
        for (variable, &t) in self.numbering.position_of.iter().enumerate() {
            let position = self.sequence.positions[t];
            marginal.clear();
            if self.state == State::Log {
                marginal.extend_from_slice(&nodes[position.states()]);
            } else {
                let (alpha, beta) = (&alpha[position.states()], &beta[position.states()]);
                let total = inner_product(pulp::Scalar, alpha, beta);
                marginal.resize(position.states, 0.0);
                write_products(pulp::Scalar, alpha, beta, 1.0 / total, marginal);
            }
            visit(variable, marginal);
        }
    }

    fn edges_stay_finite(&self) -> bool {
        let Self { sequence, tilts, messages, .. } = self;
        let mut links = self.numbering.links.iter();
        links.all(|&(t, _)| edge_stays_finite(sequence, tilts, messages, t))
    }

    /// Answers the latest call once more, where scaled messages cannot give edge marginals.
    pub(super) fn answer_in_log_domain(&mut self) {
        let Self { model, sequence, tilts, messages, tilt, cancel, .. } = self;
        let mut unused = vec![0.0; tilt.len()];
        let pass = LogPass { model, sequence, tilts, messages, tilt, cancel };
        let is_cancelled = pass.run(&mut unused).is_nan();
        self.state = if is_cancelled { State::Cancelled } else { State::Log };
    }

    /// The stored transitions after a position.
    pub(super) fn cells(&self, t: usize) -> usize {
        self.model.cells(self.sequence.positions[t].table)
    }

    /// Whether there is a call to read from.
    fn is_answered(&self) -> bool {
        matches!(self.state, State::Scaled | State::Log)
    }

    fn visit_edges(&mut self, visit: &mut dyn FnMut(usize, &mut Vec<f64>)) {
        let variables = self.numbering.position_of.len();
        let cancel = self.cancel.clone();
        let mut watch = Watch::new(&cancel);
        for edge in 0..self.numbering.links.len() {
            let (t, transposed) = self.numbering.links[edge];
            if watch.stops_before(self.cells(t)) {
                return;
            }
            let mut marginal = std::mem::take(&mut self.table);
            let shape = self.visited_table(t).shape();
            marginal.clear();
            marginal.resize(shape.0 * shape.1, 0.0);
            self.visit_pairs(t, |i, j, _, probability| {
                marginal[cell_of(i, j, shape, transposed)] = probability;
            });
            visit(variables + edge, &mut marginal);
            self.table = marginal;
        }
    }

    /// The transitions after a position whose link is not free.
    fn visited_table(&self, t: usize) -> &TransitionTable {
        &self.model.tables[self.sequence.positions[t].table.expect("a stated link")]
    }

    /// Visits the stored pairs of states of position `t` and the next with their marginals:
    /// `visit(from, to, slot, probability)`, with the slot in the forward layout of their table.
    pub(super) fn visit_pairs(&mut self, t: usize, visit: impl FnMut(usize, usize, usize, f64)) {
        let Self { model, sequence, tilts, messages, .. } = self;
        if self.state == State::Log {
            return LogAnswer { model, sequence, tilts, messages }.visit_pairs(t, visit);
        }
        let table = &model.tables[sequence.positions[t].table.expect("a stated link")];
        let values: &[f64] = match tilts.links[t] {
            None => &table.exp_forward,
            Some(group) => &tilts.groups[group].exp_forward,
        };
        let layout = &table.forward;
        let pass = EdgeMarginal { sequence, tilts, messages, t, layout, values, visit };
        model.instructions.dispatch(pass);
    }

    /// Visits the probability of every transition that is allowed, at the tilt of the latest
    /// [`Oracle::tilted`] call: `visit(position, from, to, probability)`, link after link.
    pub fn visit_transitions(&mut self, visit: &mut dyn FnMut(usize, usize, usize, f64)) {
        if self.state == State::Scaled && !self.edges_stay_finite() {
            self.answer_in_log_domain();
        }
        let links = if self.is_answered() { self.sequence.positions.len() } else { 0 };
        for t in 0..links {
            if self.sequence.positions[t].table.is_some() {
                self.visit_pairs(t, |from, to, _, probability| visit(t, from, to, probability));
            }
        }
    }

    /// As [`Chain::visit_transitions`], but with probabilities summed over all links that share a
    /// table. They are visited at the first of these.
    pub fn visit_transition_totals(&mut self, visit: &mut dyn FnMut(usize, usize, usize, f64)) {
        if self.state == State::Scaled && !self.edges_stay_finite() {
            self.answer_in_log_domain();
        }
        let tables = if self.is_answered() { self.model.tables.len() } else { 0 };
        for table in 0..tables {
            let own = |t: &usize| self.sequence.positions[*t].table == Some(table);
            let links: Vec<usize> = (0..self.sequence.positions.len()).filter(own).collect();
            let Some(&first) = links.first() else { continue };
            let mut totals = vec![0.0; self.model.tables[table].forward.slots()];
            for t in links {
                self.visit_pairs(t, |_, _, slot, probability| totals[slot] += probability);
            }
            let layout = &self.model.tables[table].forward;
            layout.for_each_entry(|from, to, slot| visit(first, from, to, totals[slot]));
        }
    }
}

/// What decoding goes back from.
pub(super) struct Forward<'a> {
    pub(super) viterbi: Viterbi<'a>,
    pub(super) numbering: &'a Numbering,
    /// Added to every score.
    pub(super) constant: f64,
}

/// The marginals of the stored pairs of a link, of a call in the linear domain.
struct EdgeMarginal<'a, V> {
    sequence: &'a Sequence,
    tilts: &'a Tilts,
    messages: &'a mut Messages,
    t: usize,
    layout: &'a Layout,
    /// Exponentials. `[forward slots]`
    values: &'a [f64],
    visit: V,
}

impl<V: FnMut(usize, usize, usize, f64)> pulp::WithSimd for EdgeMarginal<'_, V> {
    type Output = ();

    #[inline(always)]
    fn with_simd<S: pulp::Simd>(self, simd: S) {
        let Self { sequence, tilts, messages, t, layout, values, mut visit } = self;
        let (here, after) = (&sequence.positions[t], &sequence.positions[t + 1]);
        let Messages { alpha, beta, gamma: [gamma, _], beta_scales, .. } = messages;
        let weights = &tilts.nodes.weights(sequence)[after.padded()];
        write_gamma(simd, weights, &beta[after.padded()], gamma);
        let total = inner_product(simd, &alpha[here.padded()], &beta[here.padded()]);
        let factor = beta_scales[t] / total;
        let alpha = &alpha[here.padded()];
        layout.for_each_entry(|from, to, slot| {
            visit(from, to, slot, alpha[from] * factor * gamma[to] * values[slot]);
        });
    }
}

/// Takes the exponentials of tilted tables.
struct Exponentiate<'a> {
    tilts: &'a mut Tilts,
    model: &'a ChainModel,
    tilt: &'a [f64],
}

impl pulp::WithSimd for Exponentiate<'_> {
    type Output = ();

    #[inline(always)]
    fn with_simd<S: pulp::Simd>(self, simd: S) {
        self.tilts.exponentiate(simd, self.model, self.tilt, &mut Total::default());
    }
}

impl Oracle for Chain {
    fn exactness(&self) -> Exactness {
        Exactness::Exact
    }

    fn support(&self) -> &Support {
        &self.support
    }

    fn tilted(&mut self, tilt: &[f64], marginals: &mut [f64]) -> f64 {
        assert_eq!((tilt.len(), marginals.len()), (self.support.len(), self.support.len()));
        self.scratch.forget();
        let Self { model, sequence, tilts, messages, reachable, cancel, .. } = self;
        self.state = State::Nothing;
        if sequence.positions.is_empty() {
            return self.constant;
        }
        let kept = &mut self.tilt;
        if self.always_log_domain {
            kept.copy_from_slice(tilt);
            model.instructions.dispatch(Exponentiate { tilts, model, tilt });
        } else {
            let (model, sequence) = (&**model, &*sequence);
            let pass =
                Pass { model, sequence, tilts, messages, reachable, tilt, kept, marginals, cancel };
            if let Some(log_partition) = model.instructions.dispatch(pass) {
                let is_cancelled = log_partition.is_nan();
                self.state = if is_cancelled { State::Cancelled } else { State::Scaled };
                return log_partition + self.constant;
            }
        }
        let pass = LogPass { model, sequence, tilts, messages, tilt, cancel };
        let log_partition = pass.run(marginals);
        if log_partition != f64::NEG_INFINITY {
            let is_cancelled = log_partition.is_nan();
            self.state = if is_cancelled { State::Cancelled } else { State::Log };
        }
        log_partition + self.constant
    }

    fn visit_marginals(&mut self, tables: Tables, visit: &mut dyn FnMut(usize, &mut Vec<f64>)) {
        if tables == Tables::All && self.state == State::Scaled && !self.edges_stay_finite() {
            self.answer_in_log_domain();
        }
        if !self.is_answered() || tables == Tables::None {
            return;
        }
        self.visit_nodes(visit);
        if tables == Tables::All {
            self.visit_edges(visit);
        }
    }

    fn decode(&mut self, tilt: &[f64], assignment: &mut [usize]) -> f64 {
        let cancel = self.cancel.clone();
        let Some(Forward { viterbi, numbering, constant }) = self.forward(tilt) else {
            return if cancel.is_cancelled() { f64::NAN } else { f64::NEG_INFINITY };
        };
        let variable_at = &numbering.variable_at;
        viterbi.trace_back(|t, state| assignment[variable_at[t]] = state) + constant
    }

    fn second_order(&mut self) -> Option<&mut dyn Covariance> {
        Some(self)
    }
}
