//! A clique's part of the upward pass in logarithms, for products that would leave the range of a
//! double.

use super::passes::Up;
use super::projection::Projection;
use super::statics::add_up;
use super::structure::{SAFE, Source};
use super::sums::Scratch;
use crate::cancel::Cancel;

/// The product, each row of the separator relative to its greatest entry, and the message; whether
/// it was not cancelled.
pub(super) fn collect(up: Up) -> bool {
    let Up { structure, index, node, tilt, own, below, cancel } = up;
    if add_up(&structure.projections, node, &mut own.belief, cancel).is_none() {
        return false;
    }
    for operand in &node.operands {
        if node.is_large() && cancel.is_cancelled() {
            return false;
        }
        let within = &structure.projections[operand.within];
        match operand.source {
            Source::Joined => {}
            Source::Tilt { start, .. } => {
                let tilt = &tilt[start..start + operand.cells];
                match (&operand.order, &operand.buffer) {
                    (None, _) => within.add(tilt, &mut own.belief),
                    (Some(order), Some(buffer)) => {
                        let values = &mut own.operands[buffer.clone()];
                        let cells = values.iter_mut().zip(order.iter());
                        cells.for_each(|(value, &cell)| *value = tilt[cell as usize]);
                        within.add(values, &mut own.belief);
                    }
                    (Some(order), None) => {
                        let cells = own.belief.iter_mut().zip(order.iter());
                        cells.for_each(|(value, &cell)| *value += tilt[cell as usize]);
                    }
                }
            }
            Source::Message { child, .. } => {
                let child = &below[child - index - 1];
                let buffer = operand.buffer.clone().expect("a message is over fewer variables");
                let logs = &mut own.operands[buffer];
                for (log, message) in logs.iter_mut().zip(&child.message) {
                    *log = if child.in_logs { *message } else { message.ln() };
                }
                within.add(logs, &mut own.belief);
            }
        }
    }
    exponentiate_rows(&structure.projections[node.up], own, cancel)
}

/// From logarithms to `e^(x − greatest of its row)`, their sums, and the message; whether it was
/// not cancelled.
fn exponentiate_rows(up: &Projection, own: &mut Scratch, cancel: &Cancel) -> bool {
    let Scratch { belief, sums, message: logs, .. } = own;
    let is_stopped = |block: usize| Projection::is_time_to_look(block) && cancel.is_cancelled();
    logs.fill(f64::NEG_INFINITY);
    for (block, cells) in up.blocks() {
        if is_stopped(block) {
            return false;
        }
        let belief = &belief[cells];
        up.each_in(block, |cell, row| logs[row] = logs[row].max(belief[cell]));
    }
    sums.fill(0.0);
    for (block, cells) in up.blocks() {
        if is_stopped(block) {
            return false;
        }
        let belief = &mut belief[cells];
        up.each_in(block, |cell, row| {
            let greatest = logs[row];
            // If everything is forbidden, there is nothing to compare.
            let possible = greatest > f64::NEG_INFINITY;
            belief[cell] = if possible { (belief[cell] - greatest).exp() } else { 0.0 };
            sums[row] += belief[cell];
        });
    }
    for (log, sum) in logs.iter_mut().zip(sums.iter()).filter(|(_, sum)| **sum > 0.0) {
        *log += sum.ln();
    }
    let highest = logs.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    if highest > f64::NEG_INFINITY {
        logs.iter_mut().for_each(|log| *log -= highest);
    }
    let possible = logs.iter().copied().filter(|&log| log > f64::NEG_INFINITY);
    own.lowest = possible.fold(0.0, f64::min);
    own.shift = highest;
    own.in_logs = own.lowest < -SAFE;
    if !own.in_logs {
        own.message.iter_mut().for_each(|message| *message = message.exp());
    }
    true
}

#[cfg(test)]
mod tests {
    use crate::Support;
    use crate::model::{BaseModel, Model};
    use crate::oracle::{BruteForce, JunctionTree, Oracle, Tables};

    /// Tables that cancel: each alone is far out of range, their product is not.
    #[test]
    fn scores_that_cancel_lose_nothing() {
        for reach in [1.0, 300.0, 700.0, 5000.0] {
            let mut model = Model::new(&[2, 3, 2, 2]).unwrap();
            for (scope, sign) in [([0, 1], 1.0), ([1, 2], -1.0), ([2, 3], 1.0), ([3, 0], -1.0)] {
                let cells = if scope.contains(&1) { 6 } else { 4 };
                let value = |cell: usize| sign * reach * (cell % 3) as f64 + 0.1 * cell as f64;
                let values: Vec<f64> = (0..cells).map(value).collect();
                model.add_factor(&scope, &values).unwrap();
            }
            let base = BaseModel::new(&model, []).unwrap();
            let mut support = Support::new();
            for table in [5, 1] {
                support.add(vec![table], base.tables[table].log_potentials.len());
            }
            let tilt: Vec<f64> = (0..support.len()).map(|i| reach * (i % 2) as f64).collect();
            let mut tree = JunctionTree::new(&base, &support).unwrap();
            let mut exact = BruteForce::new(&base, &support);
            let (mut found, mut expected) = (vec![0.0; tilt.len()], vec![0.0; tilt.len()]);
            let sum = tree.tilted(&tilt, &mut found);
            assert!((sum - exact.tilted(&tilt, &mut expected)).abs() <= 1e-12 * sum.abs().max(1.0));
            assert!(found.iter().zip(&expected).all(|(f, e)| (f - e).abs() < 1e-11), "{reach}");
            let mut tables = Vec::new();
            exact.visit_marginals(Tables::All, &mut |_, values| tables.push(values.to_vec()));
            tree.visit_marginals(Tables::All, &mut |table, values| {
                let pairs = values.iter().zip(&tables[table]);
                assert!(pairs.clone().all(|(f, e)| (f - e).abs() < 1e-11), "{reach}");
            });
        }
    }
}
