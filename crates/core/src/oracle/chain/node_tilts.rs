//! Tilts of positions: weights with them, and marginals at them.

use pulp::Simd;

use super::aligned::{Aligned, padded};
use super::exponential::{exponential, exponentials, maximum};
use super::sequence::{Sequence, Total};
use crate::support::Block;

/// Widest range of a shared tilt whose exponential may multiply stored exponentials: within it, no
/// weight that matters can have vanished in either factor.
const WIDEST_SHARED_TILT: f64 = 100.0;

/// Tilts within this range need no shift of their own: weights stay near 1, and the scaling of
/// messages does the rest.
const GENTLE_TILT: f64 = 20.0;

/// The tilt of one position.
#[derive(Clone, Copy, Debug)]
pub(super) enum NodeTilt {
    None,
    /// A block of its own, from this coordinate.
    Own(usize),
    /// A block shared with other positions, by its place in [`NodeTilts::shared`].
    Shared(usize),
}

/// A block that stands for the sum of several node tables.
#[derive(Clone, Debug)]
pub(super) struct SharedTilt {
    /// First coordinate in the support.
    pub(super) start: usize,
    pub(super) states: usize,
    /// First entry in `factors` and `counts`.
    pub(super) offset: usize,
    /// Number of positions that share it.
    positions: usize,
    /// Sum of the greatest scores of these positions.
    highest: Total,
    /// Whether the latest tilt's exponential is in `factors`.
    factored: bool,
}

/// The blocks of a support that stand for positions, and node weights at the latest tilt.
#[derive(Clone, Debug, Default)]
pub(super) struct NodeTilts {
    /// `[positions]`
    pub(super) tilts: Vec<NodeTilt>,
    pub(super) shared: Vec<SharedTilt>,
    /// Exponentials of shared tilts. `[shared][padded states]`
    factors: Aligned,
    /// Summed marginals of shared blocks. `[shared][padded states]`
    counts: Aligned,
    /// `exp(scores + tilt - shift)`; empty if no position is tilted. `[positions][padded states]`
    weights: Aligned,
    /// Sum of the greatest scores of positions with a block of their own.
    own_highest: f64,
    /// Whether any position is tilted.
    any: bool,
}

/// A tilt, and whether it is so small that positions need no shift of their own.
#[derive(Clone, Copy)]
pub(super) struct Tilt<'a> {
    pub(super) values: &'a [f64],
    gentle: bool,
}

impl<'a> Tilt<'a> {
    /// `reach` is the greatest magnitude in `values`.
    pub(super) fn new(values: &'a [f64], reach: f64) -> Self {
        Self { values, gentle: reach <= GENTLE_TILT }
    }
}

impl NodeTilts {
    /// Removes all blocks.
    pub(super) fn clear(&mut self, length: usize) {
        self.tilts.clear();
        self.tilts.resize(length, NodeTilt::None);
        self.shared.clear();
    }

    /// Puts position `t` into `block`.
    pub(super) fn join(&mut self, block: &Block, sequence: &Sequence, t: usize) {
        assert_eq!(block.len, sequence.positions[t].states, "states of position {t}");
        if block.tables.len() == 1 {
            self.tilts[t] = NodeTilt::Own(block.start);
            return;
        }
        if self.shared.last().is_none_or(|shared| shared.start != block.start) {
            let offset = self.shared.last().map_or(0, |last| last.offset + padded(last.states));
            self.shared.push(SharedTilt {
                start: block.start,
                states: block.len,
                offset,
                positions: 0,
                highest: Total::default(),
                factored: false,
            });
        }
        let index = self.shared.len() - 1;
        self.shared[index].positions += 1;
        self.shared[index].highest.add(sequence.highest[t]);
        self.tilts[t] = NodeTilt::Shared(index);
    }

    /// Makes room, once all blocks have joined.
    pub(super) fn settle(&mut self, sequence: &Sequence) {
        let room = self.shared.last().map_or(0, |last| last.offset + padded(last.states));
        self.factors.reset(room, f64::NEG_INFINITY);
        self.counts.reset(room, 0.0);
        self.any = self.tilts.iter().any(|tilt| !matches!(tilt, NodeTilt::None));
        if self.any {
            self.weights.reset(sequence.cells(), 0.0);
            self.weights.copy_from_slice(&sequence.weights);
        }
        let mut own = Total::default();
        for (tilt, &highest) in self.tilts.iter().zip(&sequence.highest) {
            if matches!(tilt, NodeTilt::Own(_)) {
                own.add(highest);
            }
        }
        self.own_highest = own.value();
    }

    /// The first coordinate of the block that position `t` is in, if it is in one.
    #[inline(always)]
    pub(super) fn first_coordinate(&self, t: usize) -> Option<usize> {
        match self.tilts[t] {
            NodeTilt::None => None,
            NodeTilt::Own(start) => Some(start),
            NodeTilt::Shared(block) => Some(self.shared[block].start),
        }
    }

    /// Node weights at the latest tilt. `[positions][padded states]`
    #[inline(always)]
    pub(super) fn weights<'a>(&'a self, sequence: &'a Sequence) -> &'a [f64] {
        if self.any { &self.weights } else { &sequence.weights }
    }

    /// Writes `scores + tilt` of a position.
    #[inline(always)]
    pub(super) fn add_scores(&self, sequence: &Sequence, t: usize, tilt: &[f64], sums: &mut [f64]) {
        let position = &sequence.positions[t];
        let scores = &sequence.scores[position.states()];
        let start = match self.tilts[t] {
            NodeTilt::None => return sums[..position.states].copy_from_slice(scores),
            NodeTilt::Own(start) => start,
            NodeTilt::Shared(block) => self.shared[block].start,
        };
        for ((sum, score), tilt) in sums.iter_mut().zip(scores).zip(&tilt[start..]) {
            *sum = score + tilt;
        }
    }

    /// Score of one state, tilt included.
    pub(super) fn score(&self, sequence: &Sequence, t: usize, tilt: &[f64], state: usize) -> f64 {
        let score = sequence.scores[sequence.positions[t].start + state];
        match self.tilts[t] {
            NodeTilt::None => score,
            NodeTilt::Own(start) => score + tilt[start + state],
            NodeTilt::Shared(block) => score + tilt[self.shared[block].start + state],
        }
    }

    /// Takes the exponentials of shared tilts.
    #[inline(always)]
    pub(super) fn exponentiate_shared<S: Simd>(
        &mut self,
        simd: S,
        tilt: &[f64],
        shift: &mut Total,
    ) {
        for shared in &mut self.shared {
            let factor = &mut self.factors[shared.offset..shared.offset + padded(shared.states)];
            let tilt = &tilt[shared.start..shared.start + shared.states];
            factor.fill(f64::NEG_INFINITY);
            factor[..shared.states].copy_from_slice(tilt);
            let highest = maximum(simd, factor);
            let lowest = tilt.iter().copied().fold(f64::INFINITY, f64::min);
            shared.factored = highest - lowest <= WIDEST_SHARED_TILT;
            if shared.factored {
                exponentials(simd, factor, highest);
                shift.add(shared.highest.value());
                shift.add(shared.positions as f64 * highest);
            }
        }
        self.counts.fill(0.0);
    }

    /// The common shift of the gentle tilts of all positions.
    pub(super) fn gentle_shift(&self, tilt: Tilt) -> f64 {
        if tilt.gentle { self.own_highest } else { 0.0 }
    }

    /// Writes the weights of position `t`; adds what they are divided by to `shift`.
    #[inline(always)]
    pub(super) fn weigh<S: Simd>(
        &mut self,
        simd: S,
        sequence: &Sequence,
        t: usize,
        tilt: Tilt,
        shift: &mut Total,
    ) {
        let position = &sequence.positions[t];
        let start = match self.tilts[t] {
            NodeTilt::None => return,
            NodeTilt::Own(start) if tilt.gentle => {
                let kept = &sequence.weights[position.padded()];
                let tilt = &tilt.values[start..start + position.states];
                let weights = &mut self.weights[position.padded()];
                return multiply_by_exponentials(simd, kept, tilt, weights);
            }
            NodeTilt::Own(start) => start,
            NodeTilt::Shared(block) if self.shared[block].factored => {
                let kept = S::as_simd_f64s(&sequence.weights[position.padded()]).0;
                let factor = S::as_simd_f64s(&self.factors[self.shared[block].offset..]).0;
                let weights = S::as_mut_simd_f64s(&mut self.weights[position.padded()]).0;
                for ((weight, &kept), &factor) in weights.iter_mut().zip(kept).zip(factor) {
                    *weight = simd.mul_f64s(kept, factor);
                }
                return;
            }
            NodeTilt::Shared(block) => self.shared[block].start,
        };
        let scores = &sequence.scores[position.states()];
        let tilt = &tilt.values[start..start + position.states];
        shift.add(tilted_weights(simd, scores, tilt, &mut self.weights[position.padded()]));
    }

    /// Takes the marginals of position `t`, where a block asks for them.
    #[inline(always)]
    pub(super) fn collect<S: Simd>(
        &mut self,
        simd: S,
        (t, states): (usize, usize),
        (alpha, beta): (&[f64], &[f64]),
        marginals: &mut [f64],
    ) {
        match self.tilts[t] {
            NodeTilt::None => (),
            NodeTilt::Own(start) => {
                let inverse = 1.0 / inner_product(simd, alpha, beta);
                let out = &mut marginals[start..start + states];
                write_products(simd, alpha, beta, inverse, out);
            }
            NodeTilt::Shared(block) => {
                let inverse = 1.0 / inner_product(simd, alpha, beta);
                let shared = &self.shared[block];
                add_products(simd, alpha, beta, inverse, &mut self.counts[shared.offset..]);
            }
        }
    }

    /// Writes the marginals of shared blocks, once those of all positions are collected.
    pub(super) fn write_shared(&self, marginals: &mut [f64]) {
        for shared in &self.shared {
            let counts = &self.counts[shared.offset..shared.offset + shared.states];
            marginals[shared.start..shared.start + shared.states].copy_from_slice(counts);
        }
    }
}

/// Writes `kept · exp(tilt)`, leaving the padding as it is.
#[inline(always)]
fn multiply_by_exponentials<S: Simd>(simd: S, kept: &[f64], tilt: &[f64], weights: &mut [f64]) {
    let (kept, weights) = (S::as_simd_f64s(kept).0, S::as_mut_simd_f64s(weights).0);
    let (tilts, last) = S::as_simd_f64s(tilt);
    for ((weight, &kept), &tilt) in weights.iter_mut().zip(kept).zip(tilts) {
        *weight = simd.mul_f64s(kept, exponential(simd, tilt));
    }
    if !last.is_empty() {
        let tilt = simd.partial_load_f64s(last);
        weights[tilts.len()] = simd.mul_f64s(kept[tilts.len()], exponential(simd, tilt));
    }
}

/// Writes `exp(scores + tilt - shift)` with zeros in the padding; returns the shift.
#[inline(always)]
fn tilted_weights<S: Simd>(simd: S, scores: &[f64], tilt: &[f64], weights: &mut [f64]) -> f64 {
    let states = scores.len();
    let (score_vectors, last_scores) = S::as_simd_f64s(scores);
    let (tilt_vectors, last_tilts) = S::as_simd_f64s(tilt);
    let (vectors, _) = S::as_mut_simd_f64s(weights);
    let mut highest = simd.splat_f64s(f64::NEG_INFINITY);
    for ((sum, &score), &tilt) in vectors.iter_mut().zip(score_vectors).zip(tilt_vectors) {
        *sum = simd.add_f64s(score, tilt);
        highest = simd.max_f64s(highest, *sum);
    }
    let mut highest = simd.reduce_max_f64s(highest);
    if !last_scores.is_empty() {
        weights[states - last_scores.len()..].fill(f64::NEG_INFINITY);
        let sums = weights[states - last_scores.len()..].iter_mut();
        for ((sum, score), tilt) in sums.zip(last_scores).zip(last_tilts) {
            *sum = score + tilt;
            highest = highest.max(*sum);
        }
    }
    let highest = if highest == f64::NEG_INFINITY { 0.0 } else { highest };
    let used = states.next_multiple_of(S::F64_LANES);
    let shift = simd.splat_f64s(highest);
    for weight in S::as_mut_simd_f64s(&mut weights[..used]).0 {
        *weight = exponential(simd, simd.sub_f64s(*weight, shift));
    }
    weights[used..].fill(0.0);
    highest
}

/// Copies a tilt; returns its greatest magnitude.
#[inline(always)]
pub(super) fn keep<S: Simd>(simd: S, tilt: &[f64], kept: &mut [f64]) -> f64 {
    let ((vectors, rest), (copies, kept)) = (S::as_simd_f64s(tilt), S::as_mut_simd_f64s(kept));
    let ((fours, last), (four_copies, last_copies)) =
        (pulp::as_arrays::<4, _>(vectors), pulp::as_arrays_mut::<4, _>(copies));
    let mut greatest = [simd.splat_f64s(0.0); 4];
    for (copy, four) in four_copies.iter_mut().zip(fours) {
        for u in 0..4 {
            copy[u] = four[u];
            greatest[u] = simd.max_f64s(greatest[u], simd.abs_f64s(four[u]));
        }
    }
    for (copy, &vector) in last_copies.iter_mut().zip(last) {
        *copy = vector;
        greatest[0] = simd.max_f64s(greatest[0], simd.abs_f64s(vector));
    }
    let left = simd.max_f64s(greatest[0], greatest[1]);
    let right = simd.max_f64s(greatest[2], greatest[3]);
    let mut greatest = simd.reduce_max_f64s(simd.max_f64s(left, right));
    for (copy, &value) in kept.iter_mut().zip(rest) {
        *copy = value;
        greatest = greatest.max(value.abs());
    }
    greatest
}

/// `Σ α β`
#[inline(always)]
pub(super) fn inner_product<S: Simd>(simd: S, alpha: &[f64], beta: &[f64]) -> f64 {
    let (alpha, beta) = (S::as_simd_f64s(alpha).0, S::as_simd_f64s(beta).0);
    let mut total = simd.splat_f64s(0.0);
    for (&alpha, &beta) in alpha.iter().zip(beta) {
        total = simd.mul_add_e_f64s(alpha, beta, total);
    }
    simd.reduce_sum_f64s(total)
}

/// `out = α β · factor` for as many states as `out` has.
#[inline(always)]
pub(super) fn write_products<S: Simd>(
    simd: S,
    alpha: &[f64],
    beta: &[f64],
    factor: f64,
    out: &mut [f64],
) {
    let states = out.len();
    let (alphas, betas) = (S::as_simd_f64s(alpha).0, S::as_simd_f64s(beta).0);
    let factors = simd.splat_f64s(factor);
    let (vectors, rest) = S::as_mut_simd_f64s(out);
    for ((out, &alpha), &beta) in vectors.iter_mut().zip(alphas).zip(betas) {
        *out = simd.mul_f64s(simd.mul_f64s(alpha, beta), factors);
    }
    let first = states - rest.len();
    for ((out, alpha), beta) in rest.iter_mut().zip(&alpha[first..]).zip(&beta[first..]) {
        *out = alpha * beta * factor;
    }
}

/// `counts += α β · factor`
#[inline(always)]
fn add_products<S: Simd>(simd: S, alpha: &[f64], beta: &[f64], factor: f64, counts: &mut [f64]) {
    let (alpha, beta) = (S::as_simd_f64s(alpha).0, S::as_simd_f64s(beta).0);
    let factor = simd.splat_f64s(factor);
    let counts = S::as_mut_simd_f64s(counts).0;
    for ((count, &alpha), &beta) in counts.iter_mut().zip(alpha).zip(beta) {
        *count = simd.mul_add_e_f64s(simd.mul_f64s(alpha, beta), factor, *count);
    }
}
