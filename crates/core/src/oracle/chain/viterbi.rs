//! The most probable assignment: `δ_t(j) = θ_t(j) + max_i (δ_{t−1}(i) + θ(i, j))`, then back.
//!
//! No back pointers are kept: on the way back, the best predecessor of one state is found again among
//! its transitions, which is a K-th of the work of the way there.

use pulp::Simd;

use super::messages::Messages;
use super::model::ChainModel;
use super::product::{Kernel, MaxSum, Semiring, Sink, WithKernel, with_kernel};
use super::sequence::{Sequence, Total};
use super::tilts::Tilts;

/// One call; `messages.alpha` becomes `δ`, relative to its greatest entry at each position.
pub(super) struct Viterbi<'a> {
    pub(super) model: &'a ChainModel,
    pub(super) sequence: &'a Sequence,
    pub(super) tilts: &'a mut Tilts,
    pub(super) messages: &'a mut Messages,
    pub(super) tilt: &'a [f64],
}

impl pulp::WithSimd for &mut Viterbi<'_> {
    /// Whether some assignment is allowed.
    type Output = bool;

    #[inline(always)]
    fn with_simd<S: Simd>(self, simd: S) -> bool {
        let Viterbi { model, sequence, tilts, messages, tilt } = self;
        for group in &mut tilts.groups[..tilts.active] {
            group.add_tilt(&model.tables[group.key.0], tilt);
        }
        if sequence.positions.is_empty() {
            return true;
        }
        let tilts = &**tilts;
        let first = Steps { sequence, tilts, messages, tilt, positions: 0..1 };
        if !first.run(simd, &Zeros) {
            return false;
        }
        for run in &tilts.runs {
            let positions = run.first + 1..run.last + 2;
            let steps = Steps { sequence, tilts, messages, tilt, positions };
            let allowed = match run.transitions(model, &tilts.groups) {
                None => steps.run(simd, &Zeros),
                Some(table) => with_kernel(simd, &table.table.forward, table.log_forward, steps),
            };
            if !allowed {
                return false;
            }
        }
        true
    }
}

/// `δ` at some positions, all with the same table before them.
struct Steps<'a> {
    sequence: &'a Sequence,
    tilts: &'a Tilts,
    messages: &'a mut Messages,
    tilt: &'a [f64],
    positions: std::ops::Range<usize>,
}

impl<S: Simd> WithKernel<S> for Steps<'_> {
    /// Whether some state is allowed at each of them.
    type Output = bool;

    #[inline(always)]
    fn run(self, simd: S, kernel: &impl Kernel<S>) -> bool {
        let Self { sequence, tilts, messages, tilt, positions } = self;
        let Messages { alpha: delta, gamma: [scores, _], .. } = messages;
        for t in positions {
            let position = &sequence.positions[t];
            scores[position.states..position.padded().len()].fill(f64::NEG_INFINITY);
            tilts.nodes.add_scores(sequence, t, tilt, scores);
            let (done, rest) = delta.split_at_mut(position.start);
            let mut sink = AddScores::<S> {
                scores: S::as_simd_f64s(&scores[..position.padded().len()]).0,
                delta: S::as_mut_simd_f64s(rest).0,
                highest: simd.splat_f64s(f64::NEG_INFINITY),
            };
            let x = if t == 0 { &[] } else { &done[sequence.positions[t - 1].states()] };
            kernel.multiply::<MaxSum>(simd, x, &mut sink);
            let highest = simd.reduce_max_f64s(sink.highest);
            if highest == f64::NEG_INFINITY {
                return false;
            }
            for value in &mut rest[..position.states] {
                *value -= highest;
            }
        }
        true
    }
}

/// The table of a free link: the best state before, at 0, may precede any.
struct Zeros;

impl<S: Simd> Kernel<S> for Zeros {
    #[inline(always)]
    fn multiply<R: Semiring>(&self, simd: S, _x: &[f64], sink: &mut impl Sink<S>) {
        for vector in 0..sink.vectors() {
            sink.take(simd, vector, [simd.splat_f64s(0.0)]);
        }
    }
}

impl Viterbi<'_> {
    /// Follows the best path back, writing the state of each position through `write`; returns the
    /// path's score.
    pub(super) fn trace_back(&self, mut write: impl FnMut(usize, usize)) -> f64 {
        let mut score = Total::default();
        let mut next = 0;
        for (t, position) in self.sequence.positions.iter().enumerate().rev() {
            let delta = &self.messages.alpha[position.states()];
            let (mut best, mut highest, mut step) = (0, f64::NEG_INFINITY, 0.0);
            let mut consider = |state: usize, log_potential: f64| {
                if delta[state] + log_potential > highest {
                    (best, highest, step) = (state, delta[state] + log_potential, log_potential);
                }
            };
            match position.table {
                None => (0..position.states).for_each(|state| consider(state, 0.0)),
                Some(table) => {
                    let table = &self.model.tables[table];
                    let values: &[f64] = match self.tilts.links[t] {
                        None => &table.log_forward,
                        Some(group) => &self.tilts.groups[group].log_forward,
                    };
                    table.forward.for_each_in_column(next, |row, slot| consider(row, values[slot]));
                }
            }
            score.add(step);
            score.add(self.tilts.nodes.score(self.sequence, t, self.tilt, best));
            write(t, best);
            next = best;
        }
        score.value()
    }
}

struct AddScores<'a, S: Simd> {
    scores: &'a [S::f64s],
    delta: &'a mut [S::f64s],
    highest: S::f64s,
}

impl<S: Simd> Sink<S> for AddScores<'_, S> {
    #[inline(always)]
    fn vectors(&self) -> usize {
        self.scores.len()
    }

    #[inline(always)]
    fn take<const N: usize>(&mut self, simd: S, first: usize, panel: [S::f64s; N]) {
        let scores = &self.scores[first..first + N];
        let delta = &mut self.delta[first..first + N];
        for v in 0..N {
            delta[v] = simd.add_f64s(panel[v], scores[v]);
            self.highest = simd.max_f64s(self.highest, delta[v]);
        }
    }
}
