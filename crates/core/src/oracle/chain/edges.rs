//! Transition tables that a support touches, and edge marginals.
//!
//! An edge marginal is `μ(i, j) ∝ α_i e_ij γ_j`. A block for many links of one table first sums the
//! outer products `α γᵀ` of its links and then multiplies by `e` once.

use pulp::Simd;

use super::aligned::Aligned;
use super::exponential::{exponentials, maximum};
use super::layout::{Group, Layout, Storage, panel_width};
use super::picks::Pick;
use super::table::TransitionTable;
use crate::support::Block;

/// The links of one block that share a transition table.
#[derive(Clone, Debug)]
pub(super) struct EdgeGroup {
    /// The transition table, and whether the block's cells are transposed.
    pub(super) key: (usize, bool),
    /// First coordinate of the block in the support.
    pub(super) start: usize,
    /// Number of links.
    links: usize,
    /// The block's cell of each slot of the forward layout; 0 in the padding. `[forward slots]`
    cells: Vec<u32>,
    /// The place of each slot of the backward layout in the forward layout; padding points past its
    /// end, to a zero. Empty if there is no backward layout. `[backward slots]`
    mirror: Vec<u32>,
    /// Tilted log-potentials. `[forward slots]`
    pub(super) log_forward: Aligned,
    /// The greatest of them; 0 if all are forbidden.
    pub(super) highest: f64,
    /// Exponentials relative to that, then a vector of zeros. `[forward slots + lanes]`
    pub(super) exp_forward: Aligned,
    /// `[backward slots]`
    pub(super) exp_backward: Aligned,
    /// Summed marginals, or outer products still without the table. `[forward slots]`
    pub(super) counts: Aligned,
}

impl EdgeGroup {
    pub(super) fn new(key: (usize, bool), table: &TransitionTable) -> Self {
        let forward = &table.forward;
        let (from, to) = table.shape();
        let slots = forward.slots();
        let mut cells = vec![0; slots];
        let mut slot_of = vec![slots as u32; from * to];
        forward.for_each_entry(|i, j, slot| {
            cells[slot] = cell_of(i, j, (from, to), key.1) as u32;
            slot_of[i * to + j] = slot as u32;
        });
        let mut mirror = Vec::new();
        if let Some(backward) = &table.backward {
            mirror.resize(backward.slots(), slots as u32);
            backward.for_each_entry(|j, i, slot| mirror[slot] = slot_of[i * to + j]);
        }
        Self {
            key,
            start: 0,
            links: 0,
            cells,
            exp_backward: Aligned::filled(mirror.len(), 0.0),
            mirror,
            log_forward: Aligned::filled(slots, f64::NEG_INFINITY),
            highest: 0.0,
            exp_forward: Aligned::filled(slots + forward.lanes, 0.0),
            counts: Aligned::filled(slots, 0.0),
        }
    }

    /// Leaves every block.
    pub(super) fn clear(&mut self) {
        self.links = 0;
    }

    /// Adds a link of `block`.
    pub(super) fn join(&mut self, block: &Block) {
        self.start = block.start;
        self.links += 1;
    }

    /// Takes the exponentials of the tilted table; returns the log of the common factor of all
    /// links.
    #[inline(always)]
    pub(super) fn exponentiate<S: Simd>(
        &mut self,
        simd: S,
        table: &TransitionTable,
        tilt: &[f64],
    ) -> f64 {
        self.add_tilt(table, tilt);
        let highest = maximum(simd, &self.log_forward);
        self.highest = if highest == f64::NEG_INFINITY { 0.0 } else { highest };
        let exponents = &mut self.exp_forward[..self.log_forward.len()];
        exponents.copy_from_slice(&self.log_forward);
        exponentials(simd, exponents, self.highest);
        let Self { mirror, exp_forward, exp_backward, .. } = self;
        mirrored(mirror, exp_forward, exp_backward);
        self.highest * self.links as f64
    }

    /// Writes the tilted log-potentials.
    #[inline(always)]
    pub(super) fn add_tilt(&mut self, table: &TransitionTable, tilt: &[f64]) {
        let tilt = &tilt[self.start..];
        let tilted = self.log_forward.iter_mut().zip(table.log_forward.iter());
        for ((value, log_potential), &cell) in tilted.zip(&self.cells) {
            *value = log_potential + tilt[cell as usize];
        }
    }

    /// Writes the block's coordinates of a vector on the support, in the forward layout; anything in
    /// the padding.
    pub(super) fn gather(&self, values: &[f64], out: &mut [f64]) {
        let values = &values[self.start..];
        out.iter_mut().zip(&self.cells).for_each(|(out, &cell)| *out = values[cell as usize]);
    }

    /// From the forward layout, followed by a vector of zeros, to the backward one.
    pub(super) fn mirror(&self, forward: &[f64], backward: &mut [f64]) {
        mirrored(&self.mirror, forward, backward);
    }

    /// Adds the summed marginals to the block's coordinates.
    pub(super) fn scatter(&self, layout: &Layout, marginals: &mut [f64]) {
        let marginals = &mut marginals[self.start..];
        layout.for_each_entry(|_, _, slot| {
            marginals[self.cells[slot] as usize] += self.counts[slot];
        });
    }
}

#[inline(always)]
fn mirrored(mirror: &[u32], forward: &[f64], backward: &mut [f64]) {
    backward.iter_mut().zip(mirror).for_each(|(out, &slot)| *out = forward[slot as usize]);
}

/// Place of transition `(i, j)` in the base model's table.
#[inline(always)]
pub(super) fn cell_of(i: usize, j: usize, (from, to): (usize, usize), transposed: bool) -> usize {
    if transposed { j * from + i } else { i * to + j }
}

/// `counts_ij += α_i γ_j · factor` on the stored entries; both messages are padded.
#[inline(always)]
pub(super) fn add_outer_product<S: Simd>(
    simd: S,
    layout: &Layout,
    (alpha, gamma): (&[f64], &[f64]),
    factor: f64,
    counts: &mut [f64],
) {
    let gamma = S::as_simd_f64s(gamma).0;
    let mut rest = S::as_mut_simd_f64s(counts).0;
    match &layout.storage {
        Storage::Dense => {
            let (vectors, mut first) = (layout.vectors(), 0);
            while first < vectors {
                let width = panel_width(vectors - first);
                let (panel, after) = rest.split_at_mut(width * layout.rows);
                let gamma = &gamma[first..first + width];
                for (row, &alpha) in panel.chunks_exact_mut(width).zip(alpha) {
                    let alpha = simd.splat_f64s(alpha * factor);
                    for (count, &gamma) in row.iter_mut().zip(gamma) {
                        *count = simd.mul_add_e_f64s(alpha, gamma, *count);
                    }
                }
                (first, rest) = (first + width, after);
            }
        }
        Storage::Blocks { starts, groups } => {
            for (bounds, &gamma) in starts.windows(2).zip(gamma) {
                let range = bounds[0] as usize..bounds[1] as usize;
                let blocks = &mut rest[range.start * Group::BLOCKS..range.end * Group::BLOCKS];
                for (counts, group) in blocks.chunks_exact_mut(Group::BLOCKS).zip(&groups[range]) {
                    for (count, row) in counts.iter_mut().zip(group.rows()) {
                        let alpha = simd.splat_f64s(alpha[row] * factor);
                        *count = simd.mul_add_e_f64s(alpha, gamma, *count);
                    }
                }
            }
        }
        Storage::Picks { starts, picks } => {
            let (alpha, factor) = (S::as_simd_f64s(alpha).0, simd.splat_f64s(factor));
            let counts = pulp::as_arrays_mut::<{ Pick::STEPS }, _>(rest).0;
            for (bounds, &gamma) in starts.windows(2).zip(gamma) {
                let range = bounds[0] as usize..bounds[1] as usize;
                for (counts, pick) in counts[range.clone()].iter_mut().zip(&picks[range]) {
                    let alpha = pick.rows.map(|v| simd.mul_f64s(alpha[usize::from(v)], factor));
                    for (count, alpha) in counts.iter_mut().zip(pick.select(simd, alpha)) {
                        *count = simd.mul_add_e_f64s(alpha, gamma, *count);
                    }
                }
            }
        }
    }
}

/// `counts *= exponentials`
#[inline(always)]
pub(super) fn multiply<S: Simd>(simd: S, counts: &mut [f64], exponentials: &[f64]) {
    let counts = S::as_mut_simd_f64s(counts).0;
    for (count, &entry) in counts.iter_mut().zip(S::as_simd_f64s(exponentials).0) {
        *count = simd.mul_f64s(*count, entry);
    }
}
