//! Max-product: the best score up, and down again along the states that reached it.

use super::structure::{Node, Structure};
use super::sums::{compensated_sum, shift_to_zero};

/// Memory of the max-product pass; empty until the first.
#[derive(Clone, Debug, Default)]
pub(super) struct Maxima {
    /// Tilted scores of one clique and the messages into it. `[cells of the largest clique]`
    scores: Vec<f64>,
    /// Highest scores of rows, less the clique's highest. `[separators][cells]`
    messages: Vec<f64>,
    /// Where in its row the highest score is. `[separators][cells]`
    best: Vec<usize>,
    /// The chosen cell of each clique. `[cliques]`
    chosen: Vec<usize>,
}

impl Maxima {
    /// Writes a most probable assignment. Each clique takes a cell of the row that its parent
    /// chose, so ties cannot make the cliques disagree.
    pub fn decode(&mut self, structure: &Structure, tilt: &[f64], assignment: &mut [usize]) {
        let largest = structure.nodes.iter().map(|node| node.cells.len()).max().unwrap_or(0);
        self.scores.resize(largest, 0.0);
        self.messages.resize(structure.separator_cells, 0.0);
        self.best.resize(structure.separator_cells, 0);
        self.chosen.resize(structure.nodes.len(), 0);
        for node in structure.nodes.iter().rev() {
            self.maximise(structure, node, tilt);
        }
        for (node, chosen) in structure.nodes.iter().zip(&mut self.chosen) {
            let (separator, others) = node.scope.split_at(node.shared);
            let state =
                |position, &v: &usize| position * structure.cardinalities[v] + assignment[v];
            let row = separator.iter().fold(0, state);
            let along = self.best[node.separator.start + row];
            *chosen = row * node.row + along;
            let mut rest = along;
            for &v in others.iter().rev() {
                assignment[v] = rest % structure.cardinalities[v];
                rest /= structure.cardinalities[v];
            }
        }
    }

    fn maximise(&mut self, structure: &Structure, node: &Node, tilt: &[f64]) {
        let scores = &mut self.scores[..node.cells.len()];
        scores.copy_from_slice(&structure.scores[node.cells.clone()]);
        for part in &node.tilts {
            structure.projections[part.projection].add(&tilt[part.start..], scores);
        }
        for &child in &node.children {
            let child = &structure.nodes[child];
            let message = &self.messages[child.separator.clone()];
            structure.projections[child.within_parent].add(message, scores);
        }
        let messages = &mut self.messages[node.separator.clone()];
        let best = &mut self.best[node.separator.clone()];
        for (row, (message, best)) in
            scores.chunks_exact(node.row).zip(messages.iter_mut().zip(best))
        {
            (*best, *message) = highest(row);
        }
        shift_to_zero(messages);
    }

    /// The tilted score of the assignment that was decoded last, summed over the model's tables.
    pub fn score(&self, structure: &Structure, tilt: &[f64]) -> f64 {
        let scores = structure.nodes.iter().zip(&self.chosen).map(|(node, &cell)| {
            let tilted = node.tilts.iter().map(|part| {
                tilt[part.start + structure.projections[part.projection].position(cell)]
            });
            structure.scores[node.cells.start + cell] + tilted.sum::<f64>()
        });
        compensated_sum(scores) + structure.constant
    }
}

fn highest(row: &[f64]) -> (usize, f64) {
    let mut best = 0;
    for (index, &score) in row.iter().enumerate() {
        if score > row[best] {
            best = index;
        }
    }
    (best, row[best])
}
