use std::time::{Duration, Instant};

use bethe_core::memory::TooLarge;
use bethe_core::{Cancel, MemoryLimit};

use crate::data::{Cells, Observations};
use crate::energy::Noise;
use crate::infer;
use crate::model::{BYTES_PER_MOVE, Movement, Moves};

/// Counts of a season, and what is to be learned from them.
#[derive(Clone, Debug)]
pub struct Learner<'a> {
    /// Where the cells are.
    pub cells: &'a Cells,
    /// What moves depend on. Weights that are learned start from those here.
    pub movement: &'a Movement,
    /// Which weights are learned. `[features]`
    pub learned: &'a [bool],
    /// The feature whose exponent is learned, a [`FeatureKind::Power`](crate::model::FeatureKind).
    pub bent: Option<usize>,
    /// Log-potentials of the first time's cells; `None` if they are learned.
    pub start: Option<&'a [f64]>,
    /// What was counted.
    pub observations: &'a Observations,
    /// The distribution of counts.
    pub noise: &'a Noise,
    /// How many individuals there are.
    pub population: f64,
    /// Stops learning, with an error.
    pub cancel: Cancel,
    /// When to make do with what is learned so far.
    pub deadline: Option<Instant>,
}

/// How individuals move.
#[derive(Clone, Debug, PartialEq)]
pub struct Law {
    /// With the weights that were learned.
    pub movement: Movement,
    /// Log-probabilities of the first time's cells.
    pub start: Option<Vec<f64>>,
    /// What makes moves to a cell likelier at a step; nothing if there are none. `[steps][cells]`
    pub pulls: Vec<f64>,
}

/// How strong the pulls of places may be: standard deviations of their prior.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Prior {
    /// Of the pulls of the first step; 0 for drifts only.
    pub first: f64,
    /// Of how a pull changes from one step to the next; 0 for pulls that stay.
    pub change: f64,
    /// Of drifts: how much likelier a step's moves are for every cell spacing that they go in a
    /// direction, which is the same for all individuals; 0 for none.
    pub drift: f64,
}

/// Numbers of a move besides its features: its score and weight, the logarithm of what has an
/// exponent and how the score changes with that, individuals.
const PER_MOVE: usize = 5;
/// Numbers of a pull: the steps of a search and their gradients, and some points.
const PER_PULL: usize = 32;

/// For squared errors, the data count as at least this many individuals per cell.
const LEAST_PER_CELL: f64 = 10.0;

impl Law {
    /// The moves of this many steps, unless they need more memory than the limit. Pulls of steps
    /// after those that were counted are the mean of those before.
    pub fn moves(
        &self,
        cells: &Cells,
        steps: usize,
        memory: MemoryLimit,
    ) -> Result<Moves, TooLarge> {
        let mut moves = self.movement.moves_within(cells, steps, memory)?;
        if self.pulls.is_empty() {
            return Ok(moves);
        }
        let (size, known) = (cells.len(), self.pulls.len() / cells.len());
        moves.pulls = self.pulls.clone();
        let mut mean = vec![0.0; size];
        for own in self.pulls.chunks(size) {
            mean.iter_mut().zip(own).for_each(|(mean, pull)| *mean += pull / known as f64);
        }
        (known..steps).for_each(|_| moves.pulls.extend(&mean));
        Ok(moves)
    }
}

impl Learner<'_> {
    pub(super) fn is_late(&self) -> bool {
        self.deadline.is_some_and(|deadline| Instant::now() >= deadline)
    }

    /// Memory that learning takes with these moves, in bytes: these moves and its own, the values
    /// of features, what changes with them, pulls with their history, and a solve.
    pub fn bytes(&self, moves: &Moves) -> f64 {
        let all: usize = moves.tables.iter().map(|table| table.len()).sum();
        let features = self.learned.len() + self.learned.iter().filter(|own| **own).count();
        let numbers = all * (features + PER_MOVE);
        let pulls = moves.of_step.len() * self.cells.len() * PER_PULL;
        let own = BYTES_PER_MOVE * all as f64 + (size_of::<f64>() * (numbers + pulls)) as f64;
        own + infer::bytes(moves, self.observations)
    }

    /// Time before the deadline.
    pub(super) fn left(&self) -> Option<Duration> {
        self.deadline.map(|deadline| deadline.saturating_duration_since(Instant::now()))
    }

    /// How many individuals the data count as, against priors.
    pub(super) fn size(&self) -> f64 {
        match self.noise {
            Noise::Squared { .. } => self.population.max(LEAST_PER_CELL * self.cells.len() as f64),
            _ => self.population,
        }
    }
}
