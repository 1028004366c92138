//! The most probable assignment: `δ_t(j) = θ_t(j) + max_i (δ_{t−1}(i) + θ(i, j))`, then back.
//!
//! No back pointers are kept. On the way back, the best predecessor of one state is found again
//! among its transitions, which is 1/K of the work of the forward pass.

use pulp::Simd;

use super::forward_backward::Messages;
use super::model::ChainModel;
use super::product::{Kernel, MaxSum, Operand, Semiring, Sink, WithKernel, with_kernel};
use super::sequence::{Sequence, Total};
use super::tilts::Tilts;
use super::watch::Watch;
use crate::cancel::Cancel;

/// One call; `messages.alpha` becomes `δ`, relative to its greatest entry at each position.
pub(super) struct Viterbi<'a> {
    pub(super) model: &'a ChainModel,
    pub(super) sequence: &'a Sequence,
    pub(super) tilts: &'a mut Tilts,
    pub(super) messages: &'a mut Messages,
    pub(super) tilt: &'a [f64],
    /// Added to the score of each state at every position, unless empty. It counts in `δ` and
    /// regrets, not in scores of paths. `[states]`
    pub(super) shift: Vec<f64>,
    pub(super) cancel: &'a Cancel,
}

impl pulp::WithSimd for &mut Viterbi<'_> {
    /// Whether some assignment is allowed, as far as that is known when it is cancelled.
    type Output = bool;

    #[inline(always)]
    fn with_simd<S: Simd>(self, simd: S) -> bool {
        let Viterbi { model, sequence, tilts, messages, tilt, shift, cancel } = self;
        for group in &mut tilts.groups[..tilts.active] {
            group.add_tilt(&model.tables[group.key.0], tilt);
        }
        if sequence.positions.is_empty() {
            return true;
        }
        let (tilts, mut watch) = (&**tilts, Watch::new(cancel));
        let first = Steps { sequence, tilts, messages, nodes: (tilt, shift), positions: 0..1 };
        if !first.run(simd, &Zeros) {
            return false;
        }
        for run in &tilts.runs {
            if watch.stops_before(run.cells) {
                return false;
            }
            let positions = run.first + 1..run.last + 2;
            let steps = Steps { sequence, tilts, messages, nodes: (tilt, shift), positions };
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
    /// The tilt, and what is added at every position.
    nodes: (&'a [f64], &'a [f64]),
    positions: std::ops::Range<usize>,
}

impl<S: Simd> WithKernel<S> for Steps<'_> {
    /// Whether some state is allowed at each of them.
    type Output = bool;

    #[inline(always)]
    fn run(self, simd: S, kernel: &impl Kernel<S>) -> bool {
        let Self { sequence, tilts, messages, nodes: (tilt, shift), positions } = self;
        let Messages { alpha: delta, gamma: [scores, _], .. } = messages;
        for t in positions {
            let position = &sequence.positions[t];
            scores[position.states..position.padded().len()].fill(f64::NEG_INFINITY);
            tilts.nodes.add_scores(sequence, t, tilt, scores);
            for (score, shift) in scores.iter_mut().zip(shift) {
                *score += shift;
            }
            let (done, rest) = delta.split_at_mut(position.start);
            let mut sink = AddScores::<S> {
                scores: S::as_simd_f64s(&scores[..position.padded().len()]).0,
                delta: S::as_mut_simd_f64s(rest).0,
                highest: simd.splat_f64s(f64::NEG_INFINITY),
            };
            let x = match t.checked_sub(1).map(|before| sequence.positions[before]) {
                None => Operand::new(0, &[]),
                Some(before) => Operand::new(before.states, &done[before.padded()]),
            };
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
    fn multiply<R: Semiring>(&self, simd: S, _x: Operand<'_>, sink: &mut impl Sink<S>) {
        for vector in 0..sink.vectors() {
            sink.take(simd, vector, [simd.splat_f64s(0.0)]);
        }
    }
}

impl Viterbi<'_> {
    /// Finds `δ`; whether some assignment is allowed.
    pub(super) fn run(&mut self) -> bool {
        self.model.instructions.dispatch(self)
    }

    /// Follows the best path back, writing the state of each position through `write`; returns the
    /// path's score.
    pub(super) fn trace_back(&self, mut write: impl FnMut(usize, usize)) -> f64 {
        let mut score = Total::default();
        let mut next = 0;
        for t in (0..self.sequence.positions.len()).rev() {
            let (best, step) = self.best_before(t, next);
            score.add(step);
            score.add(self.tilts.nodes.score(self.sequence, t, self.tilt, best));
            write(t, best);
            next = best;
        }
        score.value()
    }

    /// Writes the best states before position `end`, given those from there on. `[positions]`
    pub(super) fn complete(&self, end: usize, states: &mut [usize]) {
        for t in (0..end).rev() {
            states[t] = self.best_before(t, states.get(t + 1).copied().unwrap_or(0)).0;
        }
    }

    /// The best state of position `t` before state `next` of the next, and the link's
    /// log-potential.
    #[inline(always)]
    pub(super) fn best_before(&self, t: usize, next: usize) -> (usize, f64) {
        let delta = &self.messages.alpha[self.sequence.positions[t].states()];
        let (mut best, mut highest, mut step) = (0, f64::NEG_INFINITY, 0.0);
        // Ties go to the first state, in any storage order.
        self.for_each_before(t, next, |state, log_potential| {
            let value = delta[state] + log_potential;
            if value > highest || (value == highest && state < best) {
                (best, highest, step) = (state, value, log_potential);
            }
        });
        (best, step)
    }

    /// Visits the states of position `t` with the log-potential of the link to state `next` of the
    /// next position: 0 where the link is free, and after the last position. States from which the
    /// link is forbidden are left out, or visited with `-∞`.
    #[inline(always)]
    pub(super) fn for_each_before(&self, t: usize, next: usize, mut visit: impl FnMut(usize, f64)) {
        let position = &self.sequence.positions[t];
        let Some(table) = position.table else {
            return (0..position.states).for_each(|state| visit(state, 0.0));
        };
        let table = &self.model.tables[table];
        let values: &[f64] = match self.tilts.links[t] {
            None => &table.log_forward,
            Some(group) => &self.tilts.groups[group].log_forward,
        };
        table.forward.for_each_in_column(next, |row, slot| visit(row, values[slot]));
    }

    /// Collects the states `i` that may stand at position `t` before state `j = next`, and what
    /// each costs, `max_k (δ_t(k) + θ(k, j)) − (δ_t(i) + θ(i, j))`: by how much the best assignment
    /// with both is worse than the best with `next` alone, whatever follows.
    pub(super) fn regrets(&self, t: usize, next: usize, regrets: &mut Vec<(usize, f64)>) {
        let delta = &self.messages.alpha[self.sequence.positions[t].states()];
        let mut highest = f64::NEG_INFINITY;
        regrets.clear();
        self.for_each_before(t, next, |state, log_potential| {
            let score = delta[state] + log_potential;
            if score > f64::NEG_INFINITY {
                highest = highest.max(score);
                regrets.push((state, score));
            }
        });
        regrets.sort_unstable_by_key(|&(state, _)| state);
        for (_, score) in regrets {
            *score = highest - *score;
        }
    }

    /// Score of the assignment with these states. `[positions]`
    pub(super) fn score(&self, states: &[usize]) -> f64 {
        let mut score = Total::default();
        for (t, &state) in states.iter().enumerate() {
            let next = states.get(t + 1).copied().unwrap_or(0);
            self.for_each_before(t, next, |before, log_potential| {
                if before == state {
                    score.add(log_potential);
                }
            });
            score.add(self.tilts.nodes.score(self.sequence, t, self.tilt, state));
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
