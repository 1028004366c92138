//! Max-product: the best score on the way up, the states that reach it on the way down.

use super::structure::{Node, Source, Structure};
use super::sums::compensated_sum;

/// Memory of the max-product pass; empty until the first.
#[derive(Clone, Debug, Default)]
pub(super) struct Maxima {
    /// Tilted scores of one clique and the messages into it. `[cells of the largest clique]`
    scores: Vec<f64>,
    /// Highest scores of rows, less the clique's highest. `[separators][cells]`
    messages: Vec<f64>,
    /// The cell of each row that has the highest score. `[separators][cells]`
    best: Vec<usize>,
    /// A tilt whose cells have another order.
    ordered: Vec<f64>,
    /// The state of each variable, as they are numbered here. `[variables]`
    states: Vec<usize>,
}

impl Maxima {
    /// Writes a most probable assignment and returns its score. Each clique takes a cell of the row
    /// that its parent chose, so ties cannot make the cliques disagree.
    pub fn decode(&mut self, structure: &Structure, tilt: &[f64], assignment: &mut [usize]) -> f64 {
        let largest = structure.nodes.iter().map(|node| node.cells).max().unwrap_or(0);
        let separators: usize = structure.nodes.iter().map(|node| node.separator_cells).sum();
        self.scores.resize(largest, 0.0);
        self.messages.resize(separators, 0.0);
        self.best.resize(separators, 0);
        self.states.resize(structure.origin.len(), 0);
        self.ordered.reserve(structure.most_ordered());
        for node in structure.nodes.iter().rev() {
            self.maximise(structure, node, tilt);
        }
        for node in &structure.nodes {
            let row = structure.position(&node.separator, &self.states);
            let mut cell = self.best[node.separators + row];
            for &v in node.scope.iter().rev() {
                self.states[v] = cell % structure.cardinalities[v];
                cell /= structure.cardinalities[v];
            }
        }
        for (&state, &v) in self.states.iter().zip(&structure.origin) {
            assignment[v] = state;
        }
        score(structure, tilt, &self.states)
    }

    fn maximise(&mut self, structure: &Structure, node: &Node, tilt: &[f64]) {
        let scores = &mut self.scores[..node.cells];
        scores.fill(0.0);
        for part in &node.statics {
            structure.projections[part.projection].add(&part.log_potentials, scores);
        }
        for operand in &node.operands {
            let values = match operand.source {
                Source::Tilt { start, .. } => {
                    let own = &tilt[start..start + operand.cells];
                    match &operand.order {
                        None => own,
                        Some(order) => {
                            self.ordered.clear();
                            self.ordered.extend(order.iter().map(|&cell| own[cell as usize]));
                            &self.ordered
                        }
                    }
                }
                Source::Joined => continue,
                Source::Message { child, .. } => {
                    &self.messages[structure.nodes[child].separators..][..operand.cells]
                }
            };
            structure.projections[operand.within].add(values, scores);
        }
        let rows = node.separators..node.separators + node.separator_cells;
        let (messages, best) = (&mut self.messages[rows.clone()], &mut self.best[rows]);
        messages.fill(f64::NEG_INFINITY);
        // A row without allowed cells keeps its first cell, so that the states still agree.
        best.fill(usize::MAX);
        structure.projections[node.up].each(|cell, row| {
            if scores[cell] > messages[row] || best[row] == usize::MAX {
                (messages[row], best[row]) = (scores[cell], cell);
            }
        });
        // Messages stay small and precise on long paths.
        let highest = messages.iter().copied().fold(f64::NEG_INFINITY, f64::max);
        if highest > f64::NEG_INFINITY {
            messages.iter_mut().for_each(|message| *message -= highest);
        }
    }
}

/// The tilted score of an assignment, summed over the model's tables.
fn score(structure: &Structure, tilt: &[f64], assignment: &[usize]) -> f64 {
    let statics = structure
        .nodes
        .iter()
        .flat_map(|node| &node.statics)
        .map(|part| part.log_potentials[structure.position(&part.scope, assignment)]);
    let tilts = structure.nodes.iter().flat_map(|node| &node.operands).map(|operand| match operand
        .source
    {
        Source::Tilt { start, .. } => {
            let cell = structure.position(&operand.scope, assignment);
            let cell = operand.order.as_ref().map_or(cell, |order| order[cell] as usize);
            tilt[start + cell]
        }
        Source::Message { .. } | Source::Joined => 0.0,
    });
    compensated_sum(statics.chain(tilts)) + structure.constant
}
