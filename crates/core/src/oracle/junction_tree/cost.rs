//! The memory of a junction tree's tables, estimated before any is made.

use super::cliques::Clique;
use crate::memory::MemoryLimit;
use crate::model::ModelError;

/// Bytes of tables that a pass takes in a second where memory is fastest: to make and fill them
/// alone takes longer.
const FASTEST: f64 = 16e9;

/// log₂ of the cells that the order of a table's cells can number.
const MOST_CELLS: f64 = 32.0;

/// Doubles per cell of a clique: the product of its tables, and that with tilts and messages.
const NUMBERS_PER_CLIQUE_CELL: f64 = 2.0;

/// Doubles per cell of a separator: messages for sums and maxima, best states, scratch.
const NUMBERS_PER_SEPARATOR_CELL: f64 = 4.0;

/// Logarithms to base 2, since the numbers may overflow.
#[derive(Clone, Copy, Debug)]
pub(super) struct Cost {
    /// Variables in the clique with the most configurations.
    largest_clique: usize,
    /// log₂ of its configurations.
    largest_table: f64,
    /// log₂ of the bytes of all tables.
    bytes: f64,
}

impl Cost {
    pub fn of(cliques: &[Clique], cardinalities: &[usize]) -> Self {
        let log_size = |scope: &[usize]| log_size(scope, cardinalities);
        let sizes: Vec<f64> = cliques.iter().map(|clique| log_size(&clique.scope)).collect();
        let largest = (0..sizes.len()).max_by(|&a, &b| sizes[a].total_cmp(&sizes[b]));
        let largest_table = largest.map_or(0.0, |clique| sizes[clique]);
        let relative = |log_size: f64| (log_size - largest_table).exp2();
        let cells: f64 = sizes.iter().map(|&size| relative(size)).sum();
        let separators = cliques.iter().map(|clique| relative(log_size(clique.separator())));
        Self {
            largest_clique: largest.map_or(0, |clique| cliques[clique].scope.len()),
            largest_table,
            bytes: log_bytes(largest_table, cells, separators.sum()),
        }
    }

    /// A lower bound on the cost of any tree with a table as large as one over `core`.
    pub fn at_least(core: &[usize], cardinalities: &[usize]) -> Self {
        let largest_table = log_size(core, cardinalities);
        let bytes = log_bytes(largest_table, 1.0, 0.0);
        Self { largest_clique: core.len(), largest_table, bytes }
    }

    pub fn bytes(&self) -> f64 {
        self.bytes.exp2().round()
    }

    /// No machine makes a pass in less.
    pub fn least_seconds(&self) -> f64 {
        self.bytes() / FASTEST
    }

    pub fn is_below(&self, other: &Self) -> bool {
        self.bytes < other.bytes
    }

    /// An error if the tables need more than the limit, or more than can be addressed.
    pub fn check(&self, limit: MemoryLimit) -> Result<(), ModelError> {
        let is_addressed =
            self.bytes < f64::from(isize::BITS - 1) && self.largest_table < MOST_CELLS;
        if self.bytes() <= limit.bytes() as f64 && is_addressed {
            return Ok(());
        }
        Err(ModelError::TooWide {
            largest_clique: self.largest_clique,
            largest_table: self.largest_table.exp2().round(),
            bytes: self.bytes(),
            limit,
        })
    }
}

/// log₂ of the configurations of a scope.
fn log_size(scope: &[usize], cardinalities: &[usize]) -> f64 {
    scope.iter().map(|&v| (cardinalities[v] as f64).log2()).sum()
}

/// log₂ of the bytes, with the cells of cliques and separators counted in largest tables.
fn log_bytes(log_largest: f64, cells: f64, separators: f64) -> f64 {
    let numbers = NUMBERS_PER_CLIQUE_CELL * cells + NUMBERS_PER_SEPARATOR_CELL * separators;
    log_largest + (numbers * size_of::<f64>() as f64).log2()
}
