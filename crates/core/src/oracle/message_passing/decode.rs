//! A configuration of high score, without a proof that it is the best.

use super::messages::Messages;
use super::potentials::Potentials;
use super::regions::Regions;
use crate::model::table::row_major_strides;

/// Rounds of single changes, at most.
const IMPROVEMENTS: usize = 100;

/// Chooses states one variable at a time, given earlier choices and messages about the others.
pub(super) fn choose(
    (regions, appearance): (&Regions, &[f64]),
    (potentials, messages): (&Potentials, &mut Messages),
    order: &[usize],
    assignment: &mut [usize],
) {
    let mut message = vec![0.0; regions.cardinalities.iter().copied().max().unwrap_or(0)];
    for &v in order {
        let mut scores = potentials.nodes[regions.states(v)].to_vec();
        for &(c, axis) in &regions.around[v] {
            let region = &regions.list[c];
            let own = &mut message[..scores.len()];
            let cells = &mut messages.scores[..region.cells];
            potentials.collect((regions, c), axis, &messages.outward, (cells, &mut *own));
            scores.iter_mut().zip(own).for_each(|(s, m)| *s += appearance[c] * *m);
        }
        let state = greatest(&scores);
        assignment[v] = state;
        for &(c, axis) in &regions.around[v] {
            let outward = &mut messages.outward[regions.list[c].message(axis)];
            outward.fill(f64::NEG_INFINITY);
            outward[state] = 0.0;
        }
    }
}

/// Changes single variables as long as that reduces forbidden cells or raises the score.
pub(super) fn improve(
    regions: &Regions,
    (nodes, tables): (&[f64], &[f64]),
    assignment: &mut [usize],
) {
    let finite = nodes.iter().chain(tables).filter(|p| p.is_finite());
    // Worse than the sum of all allowed scores.
    let forbidden = -1.0 - 2.0 * finite.map(|p| p.abs()).sum::<f64>();
    let worth = |potential: f64| if potential == f64::NEG_INFINITY { forbidden } else { potential };
    for _ in 0..IMPROVEMENTS {
        let mut changed = false;
        for v in 0..regions.variables() {
            let own = &nodes[regions.states(v)];
            let mut scores: Vec<f64> = own.iter().map(|&p| worth(p)).collect();
            for &(c, axis) in &regions.around[v] {
                let region = &regions.list[c];
                let strides = row_major_strides(&region.shape);
                let others = region.scope.iter().zip(&strides).enumerate();
                let at: usize = others
                    .filter(|(other, _)| *other != axis)
                    .map(|(_, (&u, stride))| assignment[u] * stride)
                    .sum();
                for (state, score) in scores.iter_mut().enumerate() {
                    *score += worth(tables[region.start + at + state * strides[axis]]);
                }
            }
            let best = greatest(&scores);
            if scores[best] > scores[assignment[v]] {
                assignment[v] = best;
                changed = true;
            }
        }
        if !changed {
            return;
        }
    }
}

fn greatest(scores: &[f64]) -> usize {
    (0..scores.len()).fold(0, |best, s| if scores[s] > scores[best] { s } else { best })
}
