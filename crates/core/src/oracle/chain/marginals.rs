//! Marginals from scaled messages, and the check that scaling lost no probability.

use pulp::Simd;

use super::edges::{add_outer_product, multiply};
use super::forward_backward::{Messages, Propagation};
use super::model::ChainModel;
use super::node_tilts::{Tilt, inner_product, keep};
use super::sequence::{Sequence, Total};
use super::tilts::Tilts;
use crate::cancel::Cancel;

/// If ranges of log-potentials add up to less than this, no message can vanish: an entry is at
/// least `2⁻⁶⁴ e^(−2·120)`, and the product of two is still a normal number.
const HARMLESS_SPREAD: f64 = 120.0;
/// An entry of `α` below this, before scaling, may have lost digits or vanished.
const LOSSY: f64 = 1e-290;
/// A lossy `α` is harmless if the rest of the chain is at most this many times as likely from there
/// as on average.
const HARMLESS_BETA: f64 = 1e150;
/// Entries of `β` are exact to within [`LOSSY`]; a scale and an average that make this more than
/// 1e-100 of the probability are not harmless.
const HARMLESS_SCALE: f64 = 1e190;

/// An outer product of messages below this, times a transition that vanished, is nothing.
pub(super) const LARGEST_OUTER_PRODUCT: f64 = 1e250;

/// One call in the scaled domain: exponentials of the tilt, messages, marginals on the support.
pub(super) struct Pass<'a> {
    pub(super) model: &'a ChainModel,
    pub(super) sequence: &'a Sequence,
    pub(super) tilts: &'a mut Tilts,
    pub(super) messages: &'a mut Messages,
    pub(super) reachable: &'a mut Reachable,
    pub(super) tilt: &'a [f64],
    /// The tilt. `[support]`
    pub(super) kept: &'a mut [f64],
    pub(super) marginals: &'a mut [f64],
    pub(super) cancel: &'a Cancel,
}

impl pulp::WithSimd for Pass<'_> {
    /// The log-partition, NaN if the call was cancelled, or `None` if the log domain must decide.
    type Output = Option<f64>;

    #[inline(always)]
    fn with_simd<S: Simd>(mut self, simd: S) -> Option<f64> {
        let Self { model, sequence, ref mut tilts, ref mut messages, tilt, cancel, .. } = self;
        let reach = keep(simd, tilt, self.kept);
        let mut shift = Total::default();
        tilts.exponentiate(simd, model, tilt, &mut shift);
        let tilt = Tilt::new(tilt, reach);
        let steps = Propagation { model, sequence, tilts, messages, tilt, cancel };
        let log_total = steps.run(simd, self.marginals, &mut shift)?;
        if log_total.is_nan() {
            return Some(log_total);
        }
        let spread = model.spread + sequence.spread + 4.0 * reach;
        let harmless = !model.forbids && !sequence.forbids && spread < HARMLESS_SPREAD;
        if !harmless && !self.loses_nothing(simd) {
            return None;
        }
        if !harmless && !self.touched_edges_stay_finite() {
            return None;
        }
        self.tilts.nodes.write_shared(self.marginals);
        if self.tilts.active > 0 {
            self.write_edges(simd);
        }
        Some(shift.value() + log_total)
    }
}

impl Pass<'_> {
    fn touched_edges_stay_finite(&self) -> bool {
        let Self { sequence, tilts, messages, .. } = self;
        let mut touched = (0..sequence.positions.len()).filter(|&t| tilts.links[t].is_some());
        tilts.active == 0 || touched.all(|t| edge_stays_finite(sequence, tilts, messages, t))
    }

    #[inline(always)]
    fn write_edges<S: Simd>(&mut self, simd: S) {
        let Self { model, sequence, tilts, messages, marginals, .. } = self;
        let Tilts { nodes, links, groups, active, .. } = &mut **tilts;
        let Messages { alpha, beta, gamma: [gamma, _], beta_scales, .. } = &mut **messages;
        let weights = nodes.weights(sequence);
        for group in &mut groups[..*active] {
            group.counts.fill(0.0);
        }
        for (t, position) in sequence.positions.iter().enumerate() {
            let (Some(group), Some(table)) = (links[t], position.table) else { continue };
            let after = &sequence.positions[t + 1];
            write_gamma(simd, &weights[after.padded()], &beta[after.padded()], gamma);
            let total = inner_product(simd, &alpha[position.padded()], &beta[position.padded()]);
            add_outer_product(
                simd,
                &model.tables[table].forward,
                (&alpha[position.padded()], gamma),
                beta_scales[t] / total,
                &mut groups[group].counts,
            );
        }
        for group in &mut groups[..*active] {
            multiply(simd, &mut group.counts, &group.exp_forward);
            group.scatter(&model.tables[group.key.0].forward, marginals);
        }
    }

    /// Whether no state that can be reached lost probability that matters.
    ///
    /// A path's probability is lost if an entry of a message on it is. At a state, `β` loses at
    /// most [`LOSSY`] times its scale, on paths that carry at most all of `α`; `α` loses at most
    /// [`LOSSY`] before scaling, on paths that carry `β` of that state.
    #[inline(always)]
    fn loses_nothing<S: Simd>(&mut self, simd: S) -> bool {
        let Self { model, sequence, messages, reachable, .. } = self;
        for (t, position) in sequence.positions.iter().enumerate() {
            let alpha = &messages.alpha[position.padded()];
            let beta = &messages.beta[position.padded()];
            let total = inner_product(simd, alpha, beta);
            let sum = messages.sums[t];
            let harmless = total >= f64::MIN_POSITIVE
                && messages.beta_scales[t] * sum <= total * HARMLESS_SCALE;
            if !harmless {
                return false;
            }
            let lossy = LOSSY * messages.alpha_scales[t].max(1.0);
            let bound = HARMLESS_BETA * (total / sum);
            if !any_lossy(simd, (alpha, lossy), (beta, bound)) {
                continue;
            }
            let reachable = reachable.of(model, sequence);
            let suspects = alpha.iter().zip(beta).zip(&reachable[position.states()]);
            for ((&alpha, &beta), &reachable) in suspects {
                if reachable && alpha < lossy && beta > bound {
                    return false;
                }
            }
        }
        true
    }
}

/// Which states can be reached from the start; computed on first use.
#[derive(Clone, Debug, Default)]
pub(super) struct Reachable {
    known: bool,
    /// `[positions][padded states]`
    states: Vec<bool>,
}

impl Reachable {
    /// Clears the sequence, keeps the memory and reserves what the next may need.
    pub(super) fn clear(&mut self, sequence: &Sequence) {
        self.known = false;
        self.states.clear();
        self.states.resize(sequence.cells(), false);
    }

    #[cold]
    #[inline(never)]
    fn of(&mut self, model: &ChainModel, sequence: &Sequence) -> &[bool] {
        if self.known {
            return &self.states;
        }
        self.known = true;
        let allowed = |cell: usize| sequence.scores[cell] > f64::NEG_INFINITY;
        for (t, position) in sequence.positions.iter().enumerate() {
            let before = t.checked_sub(1).map(|t| sequence.positions[t]);
            match before.and_then(|before| Some((before, before.table?))) {
                None => self.states[position.states()].fill(true),
                Some((before, table)) => {
                    let table = &model.tables[table];
                    table.forward.for_each_entry(|i, j, slot| {
                        let open = self.states[before.start + i]
                            && table.log_forward[slot] > f64::NEG_INFINITY;
                        self.states[position.start + j] |= open;
                    });
                }
            }
            for cell in position.states() {
                self.states[cell] &= allowed(cell);
            }
        }
        &self.states
    }
}

/// Whether `α_i γ_j` times its scale is so far from overflow that its product with any transition
/// is exact.
pub(super) fn edge_stays_finite(
    sequence: &Sequence,
    tilts: &Tilts,
    messages: &Messages,
    t: usize,
) -> bool {
    let (here, after) = (&sequence.positions[t], &sequence.positions[t + 1]);
    let (alpha, beta) = (&messages.alpha[here.states()], &messages.beta[here.states()]);
    let weights = &tilts.nodes.weights(sequence)[after.states()];
    let gamma = weights.iter().zip(&messages.beta[after.states()]).map(|(w, b)| w * b);
    let total: f64 = alpha.iter().zip(beta).map(|(a, b)| a * b).sum();
    let highest = alpha.iter().copied().fold(0.0, f64::max) * gamma.fold(0.0, f64::max);
    highest * (messages.beta_scales[t] / total) < LARGEST_OUTER_PRODUCT
}

/// Writes `γ = w β`.
#[inline(always)]
pub(super) fn write_gamma<S: Simd>(simd: S, weights: &[f64], beta: &[f64], gamma: &mut [f64]) {
    let (weights, beta) = (S::as_simd_f64s(weights).0, S::as_simd_f64s(beta).0);
    let gamma = S::as_mut_simd_f64s(gamma).0;
    for ((gamma, &weight), &beta) in gamma.iter_mut().zip(weights).zip(beta) {
        *gamma = simd.mul_f64s(weight, beta);
    }
}

/// Whether `α` is below, and `β` above, its bound in some lane.
#[inline(always)]
fn any_lossy<S: Simd>(
    simd: S,
    (alpha, lossy): (&[f64], f64),
    (beta, bound): (&[f64], f64),
) -> bool {
    let (alpha, beta) = (S::as_simd_f64s(alpha).0, S::as_simd_f64s(beta).0);
    let (lossy, bound) = (simd.splat_f64s(lossy), simd.splat_f64s(bound));
    let mut worst = simd.splat_f64s(0.0);
    for (&alpha, &beta) in alpha.iter().zip(beta) {
        let suspect = simd.less_than_f64s(alpha, lossy);
        worst = simd.max_f64s(worst, simd.select_f64s(suspect, beta, simd.splat_f64s(0.0)));
    }
    simd.reduce_max_f64s(simd.sub_f64s(worst, bound)) > 0.0
}
