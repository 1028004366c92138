//! The data of a sequence: its positions and node scores.

use pulp::Simd;

use super::aligned::{Aligned, padded};
use super::exponential::exponentials;
use super::model::{ChainModel, Link};
use super::table::Extent;
use crate::model::ModelError;

/// One variable of the chain.
#[derive(Clone, Copy, Debug)]
pub(super) struct Position {
    /// First entry in the buffers of shape `[positions][padded states]`.
    pub(super) start: usize,
    pub(super) states: usize,
    /// Transition table between this position and the next; `None` for a free link and at the end.
    pub(super) table: Option<usize>,
}

impl Position {
    /// The entries of this position's states.
    #[inline(always)]
    pub(super) fn states(&self) -> std::ops::Range<usize> {
        self.start..self.start + self.states
    }

    /// The entries of this position, padding included.
    #[inline(always)]
    pub(super) fn padded(&self) -> std::ops::Range<usize> {
        self.start..self.start + padded(self.states)
    }
}

/// Node scores of one sequence, and their exponentials.
#[derive(Clone, Debug, Default)]
pub(super) struct Sequence {
    pub(super) positions: Vec<Position>,
    /// Log-potentials, `-∞` in the padding. `[positions][padded states]`
    pub(super) scores: Aligned,
    /// `exp(scores - highest)`. `[positions][padded states]`
    pub(super) weights: Aligned,
    /// Greatest score of each position; 0 if all are forbidden. `[positions]`
    pub(super) highest: Vec<f64>,
    /// Widest range of allowed scores at a position.
    pub(super) spread: f64,
    /// Whether any state is forbidden.
    pub(super) forbids: bool,
    /// Widest padded position.
    pub(super) width: usize,
}

impl Sequence {
    /// Loads the scores of another sequence (`[positions][states]`, without padding).
    pub(super) fn load(&mut self, model: &ChainModel, scores: &[f64]) -> Result<(), ModelError> {
        let Some(length) = model.length_of(scores.len()) else {
            let shape = match model.length() {
                Some(length) => (0..length).map(|t| model.states(t)).collect(),
                None => vec![scores.len() / model.states(0), model.states(0)],
            };
            return Err(ModelError::TableSize { shape, found: scores.len() });
        };
        self.positions.clear();
        self.highest.clear();
        (self.spread, self.forbids, self.width) = (0.0, false, 0);
        let (mut start, mut cell) = (0, 0);
        for t in 0..length {
            let states = model.states(t);
            let extent = Extent::of(&scores[cell..cell + states])?;
            self.highest.push(extent.highest);
            self.spread = self.spread.max(extent.spread);
            self.forbids |= extent.forbids;
            self.width = self.width.max(padded(states));
            let table = match (t + 1 < length).then(|| model.link(t)) {
                Some(Link::Table(table)) => Some(table),
                _ => None,
            };
            self.positions.push(Position { start, states, table });
            start += padded(states);
            cell += states;
        }
        self.scores.reset(start, f64::NEG_INFINITY);
        let mut rest = scores;
        for position in &self.positions {
            let (own, after) = rest.split_at(position.states);
            self.scores[position.states()].copy_from_slice(own);
            rest = after;
        }
        self.weights.reset(start, 0.0);
        self.weights.copy_from_slice(&self.scores);
        model.instructions.dispatch(Weigh(self));
        Ok(())
    }

    /// The same with all scores divided by `heat`.
    pub(super) fn warmed(&self, heat: f64, model: &ChainModel) -> Self {
        let mut warmed = self.clone();
        warmed.scores.iter_mut().for_each(|score| *score /= heat);
        warmed.highest.iter_mut().for_each(|score| *score /= heat);
        warmed.spread /= heat;
        warmed.weights.copy_from_slice(&warmed.scores);
        model.instructions.dispatch(Weigh(&mut warmed));
        warmed
    }

    /// Doubles in a buffer of shape `[positions][padded states]`.
    pub(super) fn cells(&self) -> usize {
        self.scores.len()
    }
}

struct Weigh<'a>(&'a mut Sequence);

impl pulp::WithSimd for Weigh<'_> {
    type Output = ();

    #[inline(always)]
    fn with_simd<S: Simd>(self, simd: S) {
        let Sequence { positions, weights, highest, .. } = self.0;
        for (position, &highest) in positions.iter().zip(highest.iter()) {
            exponentials(simd, &mut weights[position.padded()], highest);
        }
    }
}

/// A sum of many terms whose rounding errors do not add up (Neumaier).
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Total {
    sum: f64,
    lost: f64,
}

impl Total {
    #[inline(always)]
    pub(super) fn add(&mut self, term: f64) {
        let sum = self.sum + term;
        let (large, small) =
            if self.sum.abs() >= term.abs() { (self.sum, term) } else { (term, self.sum) };
        self.lost += (large - sum) + small;
        self.sum = sum;
    }

    pub(super) fn value(self) -> f64 {
        self.sum + self.lost
    }
}
