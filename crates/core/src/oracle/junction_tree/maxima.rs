//! Max-product: the best score on the way up, the states that reach it on the way down.

use super::projection::Projection;
use super::statics::{Static, fill_block};
use super::structure::{Node, Source, Structure};
use super::sums::compensated_sum;
use crate::cancel::Cancel;

/// Memory of the max-product pass; empty until the first.
#[derive(Clone, Debug, Default)]
pub(super) struct Maxima {
    /// Tilted scores of one block of a clique and the messages into it. `[cells of the largest]`
    scores: Vec<f64>,
    /// Highest scores of rows, less the clique's highest. `[separators][cells]`
    messages: Vec<f64>,
    /// The cell of each row that has the highest score. `[separators][cells]`
    best: Vec<usize>,
    /// Tilts of one clique whose cells have another order.
    ordered: Vec<f64>,
    /// The state of each variable, as they are numbered here. `[variables]`
    states: Vec<usize>,
}

impl Maxima {
    /// Writes a most probable assignment and returns its score, NaN if it is cancelled. Each clique
    /// takes a cell of the row that its parent chose, so ties cannot make the cliques disagree.
    pub fn decode(
        &mut self,
        structure: &Structure,
        tilt: &[f64],
        assignment: &mut [usize],
        cancel: &Cancel,
    ) -> f64 {
        let block = |node: &Node| structure.projections[node.up].block_cells();
        let largest = structure.nodes.iter().map(block).max().unwrap_or(0);
        let separators: usize = structure.nodes.iter().map(|node| node.separator_cells).sum();
        self.scores.resize(largest, 0.0);
        self.messages.resize(separators, 0.0);
        self.best.resize(separators, 0);
        self.states.resize(structure.origin.len(), 0);
        for node in structure.nodes.iter().rev() {
            let stops = node.is_large() && cancel.is_cancelled();
            if stops || !self.maximise(structure, node, tilt, cancel) {
                return f64::NAN;
            }
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

    /// The message of a clique, and the cells that reach it; whether it was not cancelled.
    fn maximise(
        &mut self,
        structure: &Structure,
        node: &Node,
        tilt: &[f64],
        cancel: &Cancel,
    ) -> bool {
        self.reorder_tilts(node, tilt);
        let Self { scores, messages, best, ordered, .. } = self;
        // The messages of its children come after its own.
        let end = node.separators + node.separator_cells;
        let (messages, below) = messages.split_at_mut(end);
        let messages = &mut messages[node.separators..];
        let best = &mut best[node.separators..end];
        messages.fill(f64::NEG_INFINITY);
        // A row without allowed cells keeps its first cell, so that the states still agree.
        best.fill(usize::MAX);
        let up = &structure.projections[node.up];
        for (block, cells) in up.blocks() {
            if Projection::is_time_to_look(block) && cancel.is_cancelled() {
                return false;
            }
            let scores = &mut scores[..cells.len()];
            fill_block(&structure.projections, node, block, scores);
            let mut tilts = &ordered[..];
            for operand in &node.operands {
                let values = match operand.source {
                    Source::Tilt { .. } if operand.order.is_some() => {
                        let (values, after) = tilts.split_at(operand.cells);
                        tilts = after;
                        values
                    }
                    Source::Tilt { start, .. } => &tilt[start..start + operand.cells],
                    Source::Joined => continue,
                    Source::Message { child, .. } => {
                        &below[structure.nodes[child].separators - end..][..operand.cells]
                    }
                };
                let within = &structure.projections[operand.within];
                within.spread(block, values, scores, |score, value| *score += value);
            }
            up.each_in(block, |cell, row| {
                if scores[cell] > messages[row] || best[row] == usize::MAX {
                    (messages[row], best[row]) = (scores[cell], cells.start + cell);
                }
            });
        }
        // Messages stay small and precise on long paths.
        let highest = messages.iter().copied().fold(f64::NEG_INFINITY, f64::max);
        if highest > f64::NEG_INFINITY {
            messages.iter_mut().for_each(|message| *message -= highest);
        }
        true
    }

    /// Writes the tilts of a clique whose cells have another order, one after the other.
    fn reorder_tilts(&mut self, node: &Node, tilt: &[f64]) {
        self.ordered.clear();
        for operand in &node.operands {
            if let (Source::Tilt { start, .. }, Some(order)) = (operand.source, &operand.order) {
                self.ordered.extend(order.iter().map(|&cell| tilt[start + cell as usize]));
            }
        }
    }
}

/// The tilted score of an assignment, summed over the model's tables.
fn score(structure: &Structure, tilt: &[f64], assignment: &[usize]) -> f64 {
    let statics = structure.nodes.iter().flat_map(|node| {
        let own = |table: &Static| {
            node.part * table.log_potentials[structure.position(&table.scope, assignment)]
        };
        node.statics.iter().map(own)
    });
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
    compensated_sum(statics.chain(tilts)) + structure.constant / structure.heat
}
