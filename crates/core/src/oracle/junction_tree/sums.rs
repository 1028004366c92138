//! Sum-product: messages up in logarithms, marginals down as products of probabilities.
//!
//! Going up, a clique's row for a separator state s becomes `p(rest | s)`, and its log-sum the
//! message. Going down, each row is multiplied by the parent's `p(s)`. So every cell costs one exp,
//! nothing is divided, and what is forbidden stays exactly zero.

use super::structure::{Home, Node, Structure};

/// Memory of the sum-product passes.
#[derive(Clone, Debug)]
pub(super) struct Sums {
    /// `p(rest | separator)` after the pass up, marginals after the pass down. `[cliques][cells]`
    beliefs: Vec<f64>,
    /// Log-sums of rows, less the clique's highest. `[separators][cells]`
    messages: Vec<f64>,
    /// The highest log-sum of each clique's rows. `[cliques]`
    shifts: Vec<f64>,
    /// One separator, or one table of the base model.
    table: Vec<f64>,
    /// What the cliques below which no tilt lives hold.
    untilted: Untilted,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Untilted {
    Nothing,
    Conditionals,
    Marginals,
}

impl Sums {
    pub fn new(structure: &Structure) -> Self {
        let separators = structure.nodes.iter().map(|node| node.separator.len());
        let tables = structure.homes.iter().map(|home| home.cells);
        Self {
            beliefs: vec![0.0; structure.scores.len()],
            messages: vec![0.0; structure.separator_cells],
            shifts: vec![0.0; structure.nodes.len()],
            table: Vec::with_capacity(separators.chain(tables).max().unwrap_or(0)),
            untilted: Untilted::Nothing,
        }
    }

    /// Whether a pass up has been made.
    pub fn ready(&self) -> bool {
        self.untilted != Untilted::Nothing
    }

    /// The pass up; returns the log-partition.
    pub fn collect(&mut self, structure: &Structure, tilt: &[f64]) -> f64 {
        let known = self.untilted == Untilted::Conditionals;
        for (index, node) in structure.nodes.iter().enumerate().rev() {
            if node.tilted || !known {
                self.condition(structure, index, node, tilt);
            }
        }
        self.untilted = Untilted::Conditionals;
        // Solvers compare log-partitions of long models at close tilts: rounding must not add up.
        compensated_sum(self.shifts.iter().copied()) + structure.constant
    }

    fn condition(&mut self, structure: &Structure, index: usize, node: &Node, tilt: &[f64]) {
        let beliefs = &mut self.beliefs[node.cells.clone()];
        beliefs.copy_from_slice(&structure.scores[node.cells.clone()]);
        for part in &node.tilts {
            structure.projections[part.projection].add(&tilt[part.start..], beliefs);
        }
        for &child in &node.children {
            let child = &structure.nodes[child];
            let message = &self.messages[child.separator.clone()];
            structure.projections[child.within_parent].add(message, beliefs);
        }
        let messages = &mut self.messages[node.separator.clone()];
        for (row, message) in beliefs.chunks_exact_mut(node.row).zip(messages.iter_mut()) {
            *message = exponentiate(row);
        }
        self.shifts[index] = shift_to_zero(messages);
    }

    /// `p(rest | separator)` of all cliques, after the pass up. `[cliques][cells]`
    pub fn conditionals(&self) -> &[f64] {
        &self.beliefs
    }

    /// The pass down to the cliques of the support.
    pub fn distribute_tilted(&mut self, structure: &Structure) {
        for node in structure.nodes.iter().filter(|node| node.tilted) {
            self.multiply_by_parent(structure, node);
        }
    }

    /// The rest of the pass down.
    pub fn distribute_untilted(&mut self, structure: &Structure) {
        if self.untilted == Untilted::Conditionals {
            for node in structure.nodes.iter().filter(|node| !node.tilted) {
                self.multiply_by_parent(structure, node);
            }
            self.untilted = Untilted::Marginals;
        }
    }

    fn multiply_by_parent(&mut self, structure: &Structure, node: &Node) {
        let Some(parent) = node.parent else { return };
        let above = &self.beliefs[structure.nodes[parent].cells.clone()];
        self.table.clear();
        self.table.resize(node.separator.len(), 0.0);
        structure.projections[node.within_parent].sum(above, &mut self.table);
        // Rounding would add up along a path of many thousands of cliques.
        normalise(&mut self.table);
        let rows = self.beliefs[node.cells.clone()].chunks_exact_mut(node.row);
        for (row, &probability) in rows.zip(&self.table) {
            row.iter_mut().for_each(|belief| *belief *= probability);
        }
    }

    /// The marginals of a table, once its clique has been reached on the way down.
    pub fn marginals(&mut self, structure: &Structure, home: Home) -> &[f64] {
        self.table.clear();
        self.table.resize(home.cells, 0.0);
        let beliefs = &self.beliefs[structure.nodes[home.node].cells.clone()];
        structure.projections[home.projection].sum(beliefs, &mut self.table);
        normalise(&mut self.table);
        &self.table
    }
}

/// Turns scores into probabilities and returns the log of the sum of their exponentials; zeros and
/// `-∞` where all are forbidden.
fn exponentiate(row: &mut [f64]) -> f64 {
    let highest = row.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    if highest == f64::NEG_INFINITY {
        row.fill(0.0);
        return highest;
    }
    let mut total = 0.0;
    for score in row.iter_mut() {
        *score = (*score - highest).exp();
        total += *score;
    }
    row.iter_mut().for_each(|weight| *weight /= total);
    highest + total.ln()
}

/// Subtracts the highest entry from all and returns it, so that messages stay small and precise
/// however long the path.
pub(super) fn shift_to_zero(messages: &mut [f64]) -> f64 {
    let highest = messages.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    if highest > f64::NEG_INFINITY {
        messages.iter_mut().for_each(|message| *message -= highest);
    }
    highest
}

fn normalise(table: &mut [f64]) {
    let total: f64 = table.iter().sum();
    if total > 0.0 {
        table.iter_mut().for_each(|probability| *probability /= total);
    }
}

/// Neumaier's sum: exact to a rounding or two, however many terms.
pub(super) fn compensated_sum(terms: impl Iterator<Item = f64>) -> f64 {
    let mut sum = 0.0f64;
    let mut lost = 0.0;
    for term in terms {
        let next = sum + term;
        lost += if sum.abs() >= term.abs() { (sum - next) + term } else { (term - next) + sum };
        sum = next;
    }
    // An infinite sum makes the correction NaN.
    if sum.is_finite() { sum + lost } else { sum }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn forbidden_rows_become_zeros() {
        let mut row = [f64::NEG_INFINITY; 3];
        assert_eq!(exponentiate(&mut row), f64::NEG_INFINITY);
        assert_eq!(row, [0.0; 3]);
        let mut row = [700.0, f64::NEG_INFINITY, 700.0];
        assert_eq!(exponentiate(&mut row), 700.0 + 2.0f64.ln());
        assert_eq!(row, [0.5, 0.0, 0.5]);
    }

    #[test]
    fn compensated_sums_keep_what_plain_sums_lose() {
        assert_eq!(compensated_sum([1e16, 1.0, -1e16].into_iter()), 1.0);
        assert_eq!(compensated_sum([1.0, f64::NEG_INFINITY].into_iter()), f64::NEG_INFINITY);
        assert_eq!(compensated_sum(std::iter::empty()), 0.0);
    }
}
