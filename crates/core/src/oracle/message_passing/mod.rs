//! Inference on graphs too wide for exact inference, by message passing on the local polytope.
//!
//! Marginals are pseudo-marginals: tables that agree on single variables, whether or not a
//! distribution has them. There are two entropies:
//!
//! * **Tree-reweighted**, `H_ρ = Σ_v H_v − Σ_c ρ_c I_c`, with `ρ_c` the probability of table `c` in
//!   a random spanning forest: concave, at least the true entropy, and equal to it if the graph is
//!   a forest. So the log-partition is an upper bound on the true one and convex in the potentials.
//!   Every solver and certificate works, for the problem with `H_ρ` in place of `H`.
//! * **Bethe**, `ρ_c = 1`: loopy belief propagation. No bound, no certificate, and it may not
//!   converge; but it is often closer.
//!
//! * Reference: Wainwright, Jaakkola and Willsky (2005), "A new class of upper bounds on the log
//!   partition function". Tables of three and more variables are ours: forests of tables, not trees
//!   of edges.

mod acceleration;
mod beliefs;
mod bound;
mod decode;
mod forests;
mod messages;
mod pace;
mod potentials;
mod regions;
mod settling;
mod tightening;

use std::sync::Arc;

use crate::cancel::Cancel;
use crate::model::{BaseModel, Table};
use crate::oracle::{Exactness, Oracle, Tables};
use crate::support::Support;
use beliefs::Beliefs;
use bound::Bound;
use forests::Appearance;
use messages::Messages;
use potentials::Potentials;
use regions::Regions;

/// Messages are reset if a tilt changes by more than this.
const FAR: f64 = 50.0;

/// Decoding multiplies potentials by these, to make one configuration stand out.
const COLDNESSES: [f64; 3] = [1.0, 4.0, 16.0];
/// At a fixed point, beliefs change by less than this.
const FIXED: f64 = 1e-6;

/// Pseudo-marginals of any discrete model, under the tree-reweighted or the Bethe entropy.
///
/// ```
/// use bethe_core::model::{BaseModel, Model};
/// use bethe_core::oracle::{MessagePassing, Oracle};
/// use bethe_core::Support;
///
/// let mut model = Model::new(&[2, 2, 2])?;
/// for scope in [[0, 1], [1, 2], [2, 0]] {
///     model.add_factor(&scope, &[1.0, 0.0, 0.0, 1.0])?;
/// }
/// let base = BaseModel::new(&model, [])?;
/// let mut oracle = MessagePassing::tree_reweighted(&base, &Support::new());
/// let log_partition = (2.0 * 3f64.exp() + 6.0 * 1f64.exp()).ln();
/// let bound = oracle.tilted(&[], &mut []);
/// assert!(bound > log_partition && bound < log_partition + 0.1);
/// # Ok::<(), bethe_core::ModelError>(())
/// ```
#[derive(Clone, Debug)]
pub struct MessagePassing {
    regions: Arc<Regions>,
    appearance: Appearance,
    /// Variables of each connected part of the graph, in order of distance from its first one.
    order: Vec<usize>,
    entropy: Entropy,
    potentials: Potentials,
    messages: Messages,
    beliefs: Beliefs,
    bound: Bound,
    /// The tilt that the messages are for. `[support]`
    tilt: Vec<f64>,
    /// How much some belief would still change.
    residual: f64,
    /// How far the latest log-partition is above the value of the beliefs.
    slack: f64,
    /// A table being shown.
    table: Vec<f64>,
    /// Checked between passes.
    cancel: Cancel,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Entropy {
    TreeReweighted,
    Bethe,
}

impl MessagePassing {
    /// The tree-reweighted entropy, with appearance probabilities that make the bound on the
    /// log-partition of `base` low.
    ///
    /// # Panics
    /// If the support names a table that `base` lacks, or gives it another size.
    pub fn tree_reweighted(base: &BaseModel, support: &Support) -> Self {
        Self::tree_reweighted_until(base, support, &Cancel::never())
    }

    /// The same; probabilities and messages stay as they are once it is cancelled.
    pub(crate) fn tree_reweighted_until(
        base: &BaseModel,
        support: &Support,
        cancel: &Cancel,
    ) -> Self {
        let regions = Regions::new(base, support);
        let appearance = Appearance::even(&regions);
        let mut oracle = Self::new(regions, appearance, Entropy::TreeReweighted);
        oracle.cancel = cancel.clone();
        if !oracle.regions.is_empty && oracle.appearance.least() < 1.0 {
            oracle.tighten();
        }
        oracle
    }

    /// The Bethe entropy: plain belief propagation.
    ///
    /// # Panics
    /// If the support names a table that `base` lacks, or gives it another size.
    pub fn loopy(base: &BaseModel, support: &Support) -> Self {
        Self::loopy_until(base, support, &Cancel::never())
    }

    /// The same; messages stay as they are once it is cancelled.
    pub(crate) fn loopy_until(base: &BaseModel, support: &Support, cancel: &Cancel) -> Self {
        let regions = Regions::new(base, support);
        let appearance = Appearance::always(&regions);
        let oracle = Self::new(regions, appearance, Entropy::Bethe);
        Self { cancel: cancel.clone(), ..oracle }
    }

    fn new(regions: Regions, appearance: Appearance, entropy: Entropy) -> Self {
        let mut potentials = Potentials::new(&regions);
        potentials.rescale(&regions, &appearance.regions);
        Self {
            order: outwards(&regions),
            messages: Messages::new(&regions),
            beliefs: Beliefs::new(&regions),
            bound: Bound::new(&regions),
            tilt: vec![0.0; regions.support.len()],
            regions: Arc::new(regions),
            appearance,
            entropy,
            potentials,
            residual: f64::INFINITY,
            slack: f64::INFINITY,
            table: Vec::new(),
            cancel: Cancel::never(),
        }
    }

    /// How often each table of two or more variables that no other contains appears in the forests:
    /// its variables, and its probability.
    pub fn appearances(&self) -> impl Iterator<Item = (&[usize], f64)> {
        let scopes = self.regions.list.iter().map(|region| region.scope.as_slice());
        scopes.zip(self.appearance.regions.iter().copied())
    }

    /// Sets the tilt; messages for a distant tilt are reset.
    fn take(&mut self, tilt: &[f64], coldness: f64) {
        let apart = self.tilt.iter().zip(tilt).map(|(a, b)| (a - b).abs()).fold(0.0, f64::max);
        self.potentials.tilt(&self.regions, &self.appearance.regions, tilt, coldness);
        self.tilt.copy_from_slice(tilt);
        if apart > FAR {
            self.messages.reset(&self.regions, &self.potentials.nodes);
        }
    }
}

impl Oracle for MessagePassing {
    fn exactness(&self) -> Exactness {
        let is_settled = self.residual <= FIXED;
        match self.entropy {
            Entropy::TreeReweighted => Exactness::TreeReweighted {
                slack: self.slack,
                least_appearance: self.appearance.least(),
                is_settled,
            },
            Entropy::Bethe => Exactness::Bethe { is_settled },
        }
    }

    fn support(&self) -> &Support {
        &self.regions.support
    }

    fn tilted(&mut self, tilt: &[f64], marginals: &mut [f64]) -> f64 {
        self.take(tilt, 1.0);
        let log_partition = self.settle();
        marginals.fill(0.0);
        for block in self.regions.support.blocks() {
            let sum = &mut marginals[block.range()];
            for &table in &block.tables {
                self.beliefs.table(&self.regions, table, &mut self.table);
                sum.iter_mut().zip(&self.table).for_each(|(sum, value)| *sum += value);
            }
        }
        log_partition
    }

    fn visit_marginals(&mut self, tables: Tables, visit: &mut dyn FnMut(usize, &mut Vec<f64>)) {
        let count = match tables {
            Tables::All => self.regions.homes.len(),
            Tables::Nodes => self.regions.variables(),
            Tables::None => return,
        };
        if self.residual == f64::INFINITY {
            self.settle();
        }
        for table in 0..count {
            self.beliefs.table(&self.regions, table, &mut self.table);
            visit(table, &mut self.table);
        }
    }

    /// The best of a few attempts; not proved to be the best of all.
    fn decode(&mut self, tilt: &[f64], assignment: &mut [usize]) -> f64 {
        let regions = self.regions.clone();
        let mut best = f64::NEG_INFINITY;
        assignment.fill(0);
        let mut attempt = assignment.to_vec();
        self.take(tilt, 1.0);
        let Potentials { nodes, regions: tables, .. } = &self.potentials;
        let (nodes, tables) = (nodes.clone(), tables.clone());
        for coldness in COLDNESSES {
            self.take(tilt, coldness);
            if !regions.is_empty {
                self.pass_messages(FIXED);
            }
            let model = (&*regions, &self.appearance.regions[..]);
            decode::choose(
                model,
                (&self.potentials, &mut self.messages),
                &self.order,
                &mut attempt,
            );
            decode::improve(&regions, (&nodes, &tables), &mut attempt);
            let score = regions.score(&nodes, &tables, &attempt);
            if score > best {
                best = score;
                assignment.copy_from_slice(&attempt);
            }
            self.messages.reset(&regions, &self.potentials.nodes);
        }
        self.take(tilt, 1.0);
        self.residual = f64::INFINITY;
        best
    }
}

/// Doubles per cell of a table: stated, tilted, belief, bound, and its gradient.
const NUMBERS_PER_CELL: f64 = 6.0;
/// Doubles per state that a table shares with a variable: messages both ways, and those that they
/// are extrapolated from.
const NUMBERS_PER_MESSAGE: f64 = 24.0;

/// The memory of message passing on a model, in bytes.
pub(super) fn estimated_bytes(base: &BaseModel) -> f64 {
    let of_table = |table: &Table| {
        let states: usize = table.scope.iter().map(|&v| base.cardinalities[v]).sum();
        let cells = table.log_potentials.len();
        NUMBERS_PER_CELL * cells as f64 + NUMBERS_PER_MESSAGE * states as f64
    };
    base.tables.iter().map(of_table).sum::<f64>() * size_of::<f64>() as f64
}

/// Variables of each part of the graph, nearest to its first one first.
fn outwards(regions: &Regions) -> Vec<usize> {
    let mut order = Vec::with_capacity(regions.variables());
    let mut seen = vec![false; regions.variables()];
    for first in 0..regions.variables() {
        if std::mem::replace(&mut seen[first], true) {
            continue;
        }
        let mut at = order.len();
        order.push(first);
        while at < order.len() {
            for &(c, _) in &regions.around[order[at]] {
                for &next in &regions.list[c].scope {
                    if !std::mem::replace(&mut seen[next], true) {
                        order.push(next);
                    }
                }
            }
            at += 1;
        }
    }
    order
}
