//! Forward and backward messages in the scaled linear domain.
//!
//! With node weights `w` and transition exponentials `e`, both scaled to a greatest value of 1,
//!
//! ```text
//! α_t(j) = w_t(j) Σ_i α_{t−1}(i) e(i, j)      β_t(i) = Σ_j e(i, j) w_{t+1}(j) β_{t+1}(j)
//! ```
//!
//! A message is multiplied by a power of two when its sum leaves `[2⁻⁶⁴, 2⁶⁴]`. This is exact and
//! needs no logarithm, and since the branch is rarely taken, no position waits for the previous
//! sum. The two recurrences run one after the other, so that a cache holds one table at a time.

use std::ops::Range;

use pulp::Simd;

use super::aligned::Aligned;
use super::model::ChainModel;
use super::node_tilts::{NodeTilts, Tilt};
use super::product::{Kernel, Operand, Semiring, Sink, SumProduct, WithKernel};
use super::sequence::{Sequence, Total};
use super::tilts::Tilts;
use super::watch::Watch;
use crate::cancel::Cancel;

/// Biased exponents of 2⁻⁶⁴ and 2⁶⁴.
const EXPONENTS: std::ops::RangeInclusive<u64> = 1023 - 64..=1023 + 64;

/// Messages of the latest call.
#[derive(Clone, Debug, Default)]
pub(super) struct Messages {
    /// `α`, node weight included. `[positions][padded states]`
    pub(super) alpha: Aligned,
    /// `β`, node weight not included. `[positions][padded states]`
    pub(super) beta: Aligned,
    /// `γ = w β` of the two latest positions. `[2][padded states]`
    pub(super) gamma: [Aligned; 2],
    /// What `α` was multiplied by at each position. `[positions]`
    pub(super) alpha_scales: Vec<f64>,
    /// What `β` was multiplied by at each position. `[positions]`
    pub(super) beta_scales: Vec<f64>,
    /// Sum of each `α`. `[positions]`
    pub(super) sums: Vec<f64>,
    /// Marginals, of answers in the log domain only. `[positions][padded states]`
    pub(super) nodes: Vec<f64>,
    /// What the sums in `beta` are relative to, in the log domain only. `[positions][padded states]`
    pub(super) peaks: Vec<f64>,
}

impl Messages {
    pub(super) fn resize(&mut self, sequence: &Sequence) {
        let length = sequence.positions.len();
        self.alpha.reset(sequence.cells(), 0.0);
        self.beta.reset(sequence.cells(), 0.0);
        for gamma in &mut self.gamma {
            gamma.reset(sequence.width, 0.0);
        }
        for scales in [&mut self.alpha_scales, &mut self.beta_scales, &mut self.sums] {
            scales.clear();
            scales.resize(length, 1.0);
        }
        for logarithmic in [&mut self.nodes, &mut self.peaks] {
            logarithmic.clear();
            logarithmic.reserve(sequence.cells());
        }
    }
}

/// Both recurrences of one call.
///
/// Exponentials (forward) and marginals (backward) are computed in the same loops: a product waits
/// for the one before, this work does not.
pub(super) struct Propagation<'a> {
    pub(super) model: &'a ChainModel,
    pub(super) sequence: &'a Sequence,
    pub(super) tilts: &'a mut Tilts,
    pub(super) messages: &'a mut Messages,
    pub(super) tilt: Tilt<'a>,
    pub(super) cancel: &'a Cancel,
}

impl Propagation<'_> {
    /// Writes the messages, and the marginals of blocks of one position; returns `log Σ α` at the
    /// end with all scales undone, NaN if that was cancelled, or `None` if a message vanished.
    #[inline(always)]
    pub(super) fn run<S: Simd>(
        self,
        simd: S,
        marginals: &mut [f64],
        shift: &mut Total,
    ) -> Option<f64> {
        let Self { model, sequence, tilts, messages, tilt, cancel } = self;
        let mut watch = Watch::new(cancel);
        let Tilts { nodes, groups, runs, active, .. } = tilts;
        let positions = &sequence.positions;
        if *active > 0 {
            marginals.fill(0.0);
        }

        shift.add(nodes.gentle_shift(tilt));
        nodes.weigh(simd, sequence, 0, tilt, shift);
        let first = positions[0].padded();
        let weights = &nodes.weights(sequence)[first.clone()];
        messages.alpha[first].copy_from_slice(weights);
        let mut scale = Scale::of(sum(simd, weights));
        messages.alpha_scales[0] = 1.0;
        messages.sums[0] = scale.sum;
        for run in runs.iter() {
            if watch.stops_before(run.cells) {
                return Some(f64::NAN);
            }
            let (messages, scale) = (&mut *messages, &mut scale);
            let (nodes, shift, span) = (&mut *nodes, &mut *shift, run.first..run.last + 1);
            let steps = Forward { sequence, nodes, tilt, shift, messages, scale, run: span };
            match run.transitions(model, groups) {
                None => steps.run(simd, &Free)?,
                Some(table) => table.forward(simd, steps)?,
            }
        }
        let log_total = scale.log_total()?;

        let last = positions.len() - 1;
        let padded = positions[last].padded();
        let weights = &nodes.weights(sequence)[padded.clone()];
        messages.beta[padded.clone()].fill(1.0);
        messages.gamma[0][..padded.len()].copy_from_slice(weights);
        let mut scale = Scale::of(sum(simd, weights));
        messages.beta_scales[last] = 1.0;
        let (alpha, beta) = (&messages.alpha[padded.clone()], &messages.beta[padded]);
        nodes.collect(simd, (last, positions[last].states), (alpha, beta), marginals);
        for run in runs.iter().rev() {
            if watch.stops_before(run.cells) {
                return Some(f64::NAN);
            }
            let (messages, scale) = (&mut *messages, &mut scale);
            let (nodes, marginals, span) = (&mut *nodes, &mut *marginals, run.first..run.last + 1);
            let steps = Backward { sequence, nodes, marginals, messages, scale, run: span };
            match run.transitions(model, groups) {
                None => steps.run(simd, &Free)?,
                Some(table) => table.backward(simd, steps)?,
            }
        }
        scale.sum.is_normal().then_some(log_total)
    }
}

/// The table of ones of a free link.
struct Free;

/// Forward steps over a run of links.
struct Forward<'a> {
    sequence: &'a Sequence,
    nodes: &'a mut NodeTilts,
    tilt: Tilt<'a>,
    shift: &'a mut Total,
    messages: &'a mut Messages,
    scale: &'a mut Scale,
    run: Range<usize>,
}

impl<S: Simd> WithKernel<S> for Forward<'_> {
    type Output = Option<()>;

    #[inline(always)]
    fn run(self, simd: S, kernel: &impl Kernel<S>) -> Option<()> {
        let Self { sequence, nodes, tilt, shift, messages, scale, run } = self;
        let Messages { alpha, alpha_scales, sums, .. } = messages;
        let alpha: &mut [f64] = alpha;
        let positions = &sequence.positions[run.start..run.end + 1];
        let scales = alpha_scales[run.start + 1..].iter_mut().zip(&mut sums[run.start + 1..]);
        let steps = positions.windows(2).zip(scales).enumerate();
        let mut latest = scale.sum;
        for (step, (pair, (kept_scale, kept_sum))) in steps {
            nodes.weigh(simd, sequence, run.start + 1 + step, tilt, shift);
            let factor = if is_moderate(latest) { 1.0 } else { scale.next(latest)? };
            let (done, rest) = alpha.split_at_mut(pair[1].start);
            let mut sink = Alpha::<S> {
                weights: S::as_simd_f64s(&nodes.weights(sequence)[pair[1].padded()]).0,
                alpha: S::as_mut_simd_f64s(rest).0,
                scale: simd.splat_f64s(factor),
                sum: simd.splat_f64s(0.0),
            };
            let x = Operand::new(pair[0].states, &done[pair[0].padded()]);
            kernel.multiply::<SumProduct>(simd, x, &mut sink);
            latest = simd.reduce_sum_f64s(sink.sum);
            (*kept_scale, *kept_sum) = (factor, latest);
        }
        scale.sum = latest;
        Some(())
    }
}

/// Backward steps over a run of links.
struct Backward<'a> {
    sequence: &'a Sequence,
    nodes: &'a mut NodeTilts,
    marginals: &'a mut [f64],
    messages: &'a mut Messages,
    scale: &'a mut Scale,
    run: Range<usize>,
}

impl<S: Simd> WithKernel<S> for Backward<'_> {
    type Output = Option<()>;

    #[inline(always)]
    fn run(self, simd: S, kernel: &impl Kernel<S>) -> Option<()> {
        let Self { sequence, nodes, marginals, messages, scale, run } = self;
        let Messages { alpha, beta, gamma, beta_scales, .. } = messages;
        let (alpha, beta): (&[f64], &mut [f64]) = (alpha, beta);
        let positions = &sequence.positions[run.start..run.end + 1];
        let steps = positions.windows(2).zip(&mut beta_scales[run.clone()]).enumerate().rev();
        let mut latest = scale.sum;
        {
            let [gamma, next_gamma] = &mut *gamma;
            let (mut gamma, mut next_gamma): (&mut [f64], &mut [f64]) = (gamma, next_gamma);
            for (step, (pair, kept_scale)) in steps {
                let factor = if is_moderate(latest) { 1.0 } else { scale.next(latest)? };
                let here = pair[0].padded();
                let mut sink = Beta::<S> {
                    weights: S::as_simd_f64s(&nodes.weights(sequence)[here.clone()]).0,
                    beta: S::as_mut_simd_f64s(&mut beta[here.clone()]).0,
                    gamma: S::as_mut_simd_f64s(next_gamma).0,
                    scale: simd.splat_f64s(factor),
                    sum: simd.splat_f64s(0.0),
                };
                let x = Operand::new(pair[1].states, &gamma[..pair[1].padded().len()]);
                kernel.multiply::<SumProduct>(simd, x, &mut sink);
                latest = simd.reduce_sum_f64s(sink.sum);
                *kept_scale = factor;
                (gamma, next_gamma) = (next_gamma, gamma);
                let at = (run.start + step, pair[0].states);
                nodes.collect(simd, at, (&alpha[here.clone()], &beta[here]), marginals);
            }
        }
        if run.len() % 2 == 1 {
            gamma.swap(0, 1);
        }
        scale.sum = latest;
        Some(())
    }
}

/// The running scale of a message.
struct Scale {
    /// Sum of the latest message.
    sum: f64,
    /// Sum of the powers of two so far, including the latest.
    exponent: i64,
}

impl Scale {
    #[inline(always)]
    fn of(sum: f64) -> Self {
        Self { sum, exponent: 0 }
    }

    /// The scale of the message after one with this sum; `None` if that is (nearly) zero.
    #[cold]
    fn next(&mut self, sum: f64) -> Option<f64> {
        let biased = sum.to_bits() >> 52;
        // The ends are zeros and subnormal numbers, infinities and NaN.
        if !(1..=2045).contains(&biased) {
            return None;
        }
        self.exponent += 1023 - biased as i64;
        Some(f64::from_bits((2046 - biased) << 52))
    }

    /// `log` of the latest sum with all scales undone.
    fn log_total(&self) -> Option<f64> {
        let undone = self.exponent as f64 * std::f64::consts::LN_2;
        self.sum.is_normal().then(|| self.sum.ln() - undone)
    }
}

/// Whether the message after one with this sum needs no scale.
#[inline(always)]
fn is_moderate(sum: f64) -> bool {
    EXPONENTS.contains(&(sum.to_bits() >> 52))
}

/// Finishes a forward step: `α = y w`.
struct Alpha<'a, S: Simd> {
    weights: &'a [S::f64s],
    alpha: &'a mut [S::f64s],
    scale: S::f64s,
    sum: S::f64s,
}

impl<S: Simd> Sink<S> for Alpha<'_, S> {
    #[inline(always)]
    fn vectors(&self) -> usize {
        self.weights.len()
    }

    #[inline(always)]
    fn take<const N: usize>(&mut self, simd: S, first: usize, panel: [S::f64s; N]) {
        let weights = &self.weights[first..first + N];
        let alpha = &mut self.alpha[first..first + N];
        for v in 0..N {
            let weight = simd.mul_f64s(weights[v], self.scale);
            alpha[v] = simd.mul_f64s(panel[v], weight);
            self.sum = simd.add_f64s(self.sum, alpha[v]);
        }
    }
}

/// Finishes a backward step: `β = y`, `γ = y w`.
struct Beta<'a, S: Simd> {
    weights: &'a [S::f64s],
    beta: &'a mut [S::f64s],
    gamma: &'a mut [S::f64s],
    scale: S::f64s,
    sum: S::f64s,
}

impl<S: Simd> Sink<S> for Beta<'_, S> {
    #[inline(always)]
    fn vectors(&self) -> usize {
        self.weights.len()
    }

    #[inline(always)]
    fn take<const N: usize>(&mut self, simd: S, first: usize, panel: [S::f64s; N]) {
        let weights = &self.weights[first..first + N];
        let beta = &mut self.beta[first..first + N];
        let gamma = &mut self.gamma[first..first + N];
        for v in 0..N {
            beta[v] = simd.mul_f64s(panel[v], self.scale);
            gamma[v] = simd.mul_f64s(beta[v], weights[v]);
            self.sum = simd.add_f64s(self.sum, gamma[v]);
        }
    }
}

impl<S: Simd> Kernel<S> for Free {
    #[inline(always)]
    fn multiply<R: Semiring>(&self, simd: S, x: Operand<'_>, sink: &mut impl Sink<S>) {
        let mut total = 0.0;
        for value in x.entries() {
            total += value;
        }
        for vector in 0..sink.vectors() {
            sink.take(simd, vector, [simd.splat_f64s(total)]);
        }
    }
}

/// The sum of whole vectors of values.
#[inline(always)]
fn sum<S: Simd>(simd: S, values: &[f64]) -> f64 {
    let mut total = simd.splat_f64s(0.0);
    for &vector in S::as_simd_f64s(values).0 {
        total = simd.add_f64s(total, vector);
    }
    simd.reduce_sum_f64s(total)
}
