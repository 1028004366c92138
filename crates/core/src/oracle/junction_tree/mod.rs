//! Exact inference on any graph of small treewidth: `p(y) = Π_C p(y_C) / Π_S p(y_S)`.
//!
//! Variables are eliminated greedily ([`JunctionTree::new`] keeps the cheapest of a few orders, by
//! fill and by weight, with ties broken from fixed seeds). Separators S join the maximal cliques C
//! into a forest. One pass up and one down give every clique its marginals. Time and memory grow
//! with the cliques' tables; a model whose tables would not fit is refused before any is allocated.
//! Independent subtrees of large forests run on the threads of the current rayon pool; the answers
//! are the same bits on any number of threads.
//!
//! In a solver's loop only the cliques with tables of the support, and those between them, are
//! visited; messages from elsewhere are computed once.

mod cliques;
mod cost;
mod covariance;
mod elimination;
mod logarithms;
mod maxima;
mod passes;
mod projection;
mod samples;
mod statics;
mod structure;
mod sums;

use std::sync::Arc;

use crate::cancel::Cancel;
use crate::memory::MemoryLimit;
use crate::model::{BaseModel, ModelError};
use crate::oracle::{Covariance, Exactness, Limits, Oracle, Tables};
use crate::support::Support;
use maxima::Maxima;
pub use samples::Sampler;
use structure::Structure;
use sums::Sums;

/// The exact oracle for discrete models of small treewidth.
///
/// A clone shares the structure and has scratch memory of its own, for another thread.
///
/// ```
/// use bethe_core::model::{BaseModel, Model};
/// use bethe_core::oracle::{JunctionTree, Oracle};
/// use bethe_core::Support;
///
/// let mut model = Model::new(&[2, 2, 2])?;
/// for scope in [[0, 1], [1, 2], [2, 0]] {
///     model.add_factor(&scope, &[1.0, 0.0, 0.0, 1.0])?;
/// }
/// let base = BaseModel::new(&model, [])?;
/// let mut support = Support::new();
/// support.add(vec![0], 2);
/// let mut tree = JunctionTree::new(&base, &support)?;
/// let mut marginals = [0.0; 2];
/// let log_partition = tree.tilted(&[0.0, 0.0], &mut marginals);
/// assert!((marginals[0] - 0.5).abs() < 1e-15);
/// assert!((log_partition - (2.0 * 3f64.exp() + 6.0 * 1f64.exp()).ln()).abs() < 1e-12);
/// # Ok::<(), bethe_core::ModelError>(())
/// ```
#[derive(Clone, Debug)]
pub struct JunctionTree {
    structure: Arc<Structure>,
    sums: Sums,
    maxima: Maxima,
    /// Whether the tables are those of an answer.
    is_answered: bool,
    cancel: Cancel,
}

impl JunctionTree {
    /// The junction tree of `base`, or [`ModelError::TooWide`] if its tables would need more than
    /// the default [`MemoryLimit`]. For a model far beyond the limit the error's numbers are
    /// lower bounds, since finding good cliques would take too long.
    ///
    /// # Panics
    /// If the support names a table that `base` lacks, or gives it another size.
    pub fn new(base: &BaseModel, support: &Support) -> Result<Self, ModelError> {
        Self::with_limit(base, support, MemoryLimit::default())
    }

    /// The variables of each clique.
    pub fn cliques(&self) -> impl Iterator<Item = &[usize]> {
        self.structure.cliques.iter().map(Vec::as_slice)
    }

    /// A sampler of independent assignments of the base variables at `θ + tilt`; `None` if every
    /// configuration is forbidden. Invalidates what `visit_marginals` reads.
    pub fn sampler(&mut self, tilt: &[f64]) -> Option<Sampler> {
        self.is_answered = false;
        let log_partition = self.sums.collect(&self.structure, tilt, &self.cancel);
        // Not if it was cancelled either.
        let possible = log_partition > f64::NEG_INFINITY;
        possible.then(|| Sampler::new(&self.structure, self.sums.cliques()))
    }

    /// As [`JunctionTree::new`], with another limit on the memory of the tables.
    ///
    /// # Panics
    /// If the support names a table that `base` lacks, or gives it another size.
    pub fn with_limit(
        base: &BaseModel,
        support: &Support,
        memory: MemoryLimit,
    ) -> Result<Self, ModelError> {
        Self::within(base, support, &Limits { memory, ..Limits::default() })
    }

    /// The same, unless it is cancelled before it is done. The tree keeps the token, and looks at it
    /// between cliques that are large.
    pub(crate) fn within(
        base: &BaseModel,
        support: &Support,
        limits: &Limits,
    ) -> Result<Self, ModelError> {
        let structure = Structure::new(base, support, limits)?;
        let sums = Sums::new(&structure, &limits.cancel)?;
        let (structure, maxima) = (Arc::new(structure), Maxima::default());
        let cancel = limits.cancel.clone();
        Ok(Self { structure, sums, maxima, is_answered: false, cancel })
    }

    /// The memory of its tables in bytes, by the estimate that the limit applies to.
    pub fn estimated_bytes(&self) -> f64 {
        self.structure.bytes
    }
}

impl Oracle for JunctionTree {
    fn exactness(&self) -> Exactness {
        Exactness::Exact
    }

    fn support(&self) -> &Support {
        &self.structure.support
    }

    fn tilted(&mut self, tilt: &[f64], marginals: &mut [f64]) -> f64 {
        let structure = &*self.structure;
        let log_partition = self.sums.collect(structure, tilt, &self.cancel);
        let done =
            self.sums.is_collected() && self.sums.distribute(structure, marginals, &self.cancel);
        self.is_answered = done;
        if done { log_partition } else { f64::NAN }
    }

    /// Before any call of [`Oracle::tilted`]: the marginals of the model without a tilt.
    fn visit_marginals(&mut self, tables: Tables, visit: &mut dyn FnMut(usize, &mut Vec<f64>)) {
        let structure = &*self.structure;
        let count = match tables {
            Tables::All => structure.homes.len(),
            Tables::Nodes => structure.cardinalities.len(),
            Tables::None => return,
        };
        if !self.sums.is_collected() {
            let mut unused = vec![0.0; structure.support.len()];
            self.sums.collect(structure, &unused.clone(), &self.cancel);
            let collected = self.sums.is_collected();
            if !collected || !self.sums.distribute(structure, &mut unused, &self.cancel) {
                return;
            }
        }
        if !self.sums.calibrate(structure, &self.cancel) {
            return;
        }
        for table in 0..count {
            let node = &structure.nodes[structure.homes[table].node];
            if node.is_large() && self.cancel.is_cancelled() {
                return;
            }
            visit(table, self.sums.marginals(structure, table));
        }
    }

    fn decode(&mut self, tilt: &[f64], assignment: &mut [usize]) -> f64 {
        self.maxima.decode(&self.structure, tilt, assignment, &self.cancel)
    }

    fn second_order(&mut self) -> Option<&mut dyn Covariance> {
        Some(self)
    }
}

impl Covariance for JunctionTree {
    fn covariance(&mut self, direction: &[f64], product: &mut [f64]) {
        let length = self.structure.support.len();
        assert_eq!((direction.len(), product.len()), (length, length));
        assert!(self.is_answered && self.sums.is_collected(), "an answer to differentiate");
        self.sums.covariance(&self.structure, direction, product, &self.cancel);
    }

    fn warm(&mut self, heat: f64) -> bool {
        if heat != self.structure.heat {
            Arc::make_mut(&mut self.structure).set_heat(heat);
            self.sums.forget();
            self.is_answered = false;
        }
        true
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::Model;

    #[test]
    fn a_call_that_is_cancelled_is_not_a_number_and_the_next_is_right() {
        // Two large cliques that share a variable.
        let mut model = Model::new(&[2; 27]).unwrap();
        for clique in [0..14, 13..27] {
            let scope: Vec<usize> = clique.collect();
            let table: Vec<f64> = (0..1 << 14).map(|cell| f64::from(cell % 7)).collect();
            model.add_factor(&scope, &table).unwrap();
        }
        let base = BaseModel::new(&model, []).unwrap();
        let mut support = Support::new();
        support.add(vec![20], 2);
        let cancel = Cancel::new();
        let limits = Limits { cancel: cancel.clone(), ..Limits::default() };
        let mut tree = JunctionTree::within(&base, &support, &limits).unwrap();
        let mut plain = JunctionTree::new(&base, &support).unwrap();
        let mut marginals = [[0.0; 2]; 2];
        for tilt in [[0.0, 0.5], [1.0, 0.0]] {
            cancel.cancel();
            assert!(tree.tilted(&[0.0, 9.0], &mut marginals[0]).is_nan());
            cancel.suspend(true);
            let [own, other] = &mut marginals;
            assert_eq!(tree.tilted(&tilt, own), plain.tilted(&tilt, other));
            assert_eq!(own, other);
            let mut tables = [Vec::new(), Vec::new()];
            for (tree, seen) in [&mut tree, &mut plain].into_iter().zip(&mut tables) {
                tree.visit_marginals(Tables::All, &mut |_, table| seen.push(table.to_vec()));
            }
            assert_eq!(tables[0], tables[1]);
            let mut products = [[0.0; 2]; 2];
            cancel.suspend(false);
            tree.covariance(&[0.0, 1.0], &mut products[0]);
            assert!(products[0].iter().all(|product| product.is_nan()));
            cancel.suspend(true);
            tree.covariance(&[0.0, 1.0], &mut products[0]);
            plain.covariance(&[0.0, 1.0], &mut products[1]);
            assert_eq!(products[0], products[1]);
            cancel.suspend(false);
        }
        let stopped = JunctionTree::within(&base, &support, &limits);
        assert_eq!(stopped.err(), Some(ModelError::Cancelled));
    }
}
