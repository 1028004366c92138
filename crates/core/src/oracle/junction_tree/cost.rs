//! The memory of a junction tree's tables, estimated before any is made.

use super::cliques::Clique;
use crate::model::ModelError;

const BYTES_PER_GIBIBYTE: f64 = (1u64 << 30) as f64;

/// Doubles per cell of a clique: its score and its belief.
const NUMBERS_PER_CLIQUE_CELL: f64 = 2.0;

/// Doubles per cell of a separator: messages for sums and maxima, best states, scratch.
const NUMBERS_PER_SEPARATOR_CELL: f64 = 4.0;

/// Extra doubles per cell of the largest clique: decoding works in one such table.
const NUMBERS_PER_LARGEST_CELL: f64 = 1.0;

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

    pub fn gibibytes(&self) -> f64 {
        self.bytes.exp2() / BYTES_PER_GIBIBYTE
    }

    pub fn is_below(&self, other: &Self) -> bool {
        self.bytes < other.bytes
    }

    /// An error if the tables need more than the limit, or more than can be addressed.
    pub fn check(&self, limit_gibibytes: f64) -> Result<(), ModelError> {
        let gibibytes = self.gibibytes();
        if gibibytes <= limit_gibibytes && self.bytes < f64::from(isize::BITS - 1) {
            return Ok(());
        }
        Err(ModelError::TooWide {
            largest_clique: self.largest_clique,
            largest_table: self.largest_table.exp2().round(),
            gibibytes,
            limit_gibibytes,
        })
    }
}

/// log₂ of the configurations of a scope.
fn log_size(scope: &[usize], cardinalities: &[usize]) -> f64 {
    scope.iter().map(|&v| (cardinalities[v] as f64).log2()).sum()
}

/// log₂ of the bytes, with the cells of cliques and separators counted in largest tables.
fn log_bytes(log_largest: f64, cells: f64, separators: f64) -> f64 {
    let numbers = NUMBERS_PER_CLIQUE_CELL * cells
        + NUMBERS_PER_SEPARATOR_CELL * separators
        + NUMBERS_PER_LARGEST_CELL;
    log_largest + (numbers * size_of::<f64>() as f64).log2()
}
