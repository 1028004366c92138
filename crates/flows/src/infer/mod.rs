//! From counts to flows: over a chain of times ([`FlowProblem`]), or over a tree ([`TreeProblem`]).

mod fit;
mod flows;
mod tree;

pub use fit::{Fit, fit};
pub use flows::Flows;
pub use tree::{TreeFlows, TreeProblem};

use std::sync::Arc;

use bethe_core::energy::Energies;
use bethe_core::model::ModelError;
use bethe_core::oracle::Tables;
use bethe_core::oracle::chain::{Chain, ChainModel, Link, Transitions};
use bethe_core::solve::{Observer, SolveError, Task, solve};
use bethe_core::{Cancel, Settings};
use thiserror::Error;

use super::data::Observations;
use super::energy::{Counts, Noise};
use super::model::{BYTES_PER_MOVE, Moves};

/// Numbers that a solve and its answer hold for every cell at every time: messages, multipliers and
/// their history, marginals. Measured on 20,000 cells at 52 times.
const PER_CELL_AND_TIME: usize = 80;

/// About the memory that it takes to infer flows of these moves from these counts, in bytes.
pub fn bytes(moves: &Moves, observations: &Observations) -> f64 {
    let all: usize = moves.tables.iter().map(|table| table.len()).sum();
    let places = observations.times().len() * observations.cells();
    BYTES_PER_MOVE * all as f64 + (places * PER_CELL_AND_TIME * size_of::<f64>()) as f64
}

/// Counts of a population that moves.
#[derive(Clone, Debug)]
pub struct FlowProblem<'a> {
    /// The possible moves between successive times.
    pub moves: &'a Moves,
    /// Log-potentials of the first time's cells, `-∞` to forbid a cell; equal if `None`.
    pub start: Option<&'a [f64]>,
    /// What was counted.
    pub observations: &'a Observations,
    /// The distribution of counts.
    pub noise: &'a Noise,
    /// How many individuals there are.
    pub population: f64,
    /// Stops the search, within an iteration too.
    pub cancel: Cancel,
}

/// Why flows cannot be inferred.
#[derive(Clone, Debug, Error, PartialEq)]
pub enum FlowError {
    /// A positive count where nobody can be.
    #[error(
        "time {time}, cell {cell}: found a count of {count}, but no sequence of moves leads there; \
         a longer reach allows more moves"
    )]
    Impossible {
        /// Number of the time.
        time: usize,
        /// Number of the cell.
        cell: usize,
        /// What was counted.
        count: f64,
    },
    /// A time at which nobody can be anywhere.
    #[error(
        "time {time}: found no open cell that a sequence of moves leads to, expected at least one"
    )]
    Closed {
        /// Number of the time.
        time: usize,
    },
    /// Counts that no movement explains.
    #[error("no movement explains the counts")]
    Unexplained,
    /// A tree whose variables all have one state.
    #[error("found one cell, expected at least two")]
    OneCell,
    /// Tables that do not fit.
    #[error(transparent)]
    Model(#[from] ModelError),
    /// A solver that does not support the energy.
    #[error(transparent)]
    Solve(#[from] SolveError),
}

/// A problem ready for solvers.
pub struct BoundFlows {
    /// The routes of one individual.
    pub chain: Chain,
    /// The energy of the counts.
    pub energies: Energies,
    /// Node scores of the chain. `[times][cells]`
    pub scores: Vec<f64>,
}

impl FlowProblem<'_> {
    /// Finds the most likely movement of the population.
    pub fn solve(
        &self,
        settings: &Settings,
        observer: &mut dyn Observer,
    ) -> Result<Flows, FlowError> {
        self.solve_from(None, settings, observer)
    }

    /// As [`FlowProblem::solve`], except that the dual may begin with the multipliers of an earlier
    /// solution for the same observations.
    pub fn solve_from(
        &self,
        start: Option<&[f64]>,
        settings: &Settings,
        observer: &mut dyn Observer,
    ) -> Result<Flows, FlowError> {
        let mut bound = self.bind()?;
        let BoundFlows { chain, energies, .. } = &mut bound;
        // Averages of iterates have no flows of their own.
        let (marginals, allows_average, cancel) = (Tables::None, false, self.cancel.child());
        chain.heed(&cancel);
        let task = Task { marginals, allows_average, cancel, start, ..Task::new(chain, energies) };
        let solution = solve(task, settings, observer)?;
        // Reading the answer must not be cut off.
        bound.chain.heed(&Cancel::never());
        Ok(Flows::new(bound, solution, self.population))
    }

    /// The chain of one individual and the energy of the counts.
    pub fn bind(&self) -> Result<BoundFlows, FlowError> {
        self.check_counts()?;
        let Counts { energies, mut scores } =
            Counts::new(self.observations, self.noise, self.population);
        let start = self.start.unwrap_or_default();
        scores.iter_mut().zip(start).for_each(|(score, start)| *score += start);
        let (times, cells) = (self.observations.times().len(), self.observations.cells());
        let pulled = self.moves.scores(times, cells);
        scores.iter_mut().zip(pulled).for_each(|(score, pulled)| *score += pulled);
        let chain = Chain::new(self.chain_model()?, &scores, energies.support().clone())?;
        Ok(BoundFlows { chain, energies, scores })
    }

    fn chain_model(&self) -> Result<Arc<ChainModel>, ModelError> {
        let (times, cells) = (self.observations.times().len(), self.observations.cells());
        let steps = &self.moves.of_step[..times.saturating_sub(1)];
        let mut used: Vec<usize> = steps.to_vec();
        used.sort_unstable();
        used.dedup();
        let place = |table: &usize| used.binary_search(table).expect("each is among those used");
        let links = steps.iter().map(|table| Link::Table(place(table))).collect();
        let tables: Vec<&Transitions> = used.iter().map(|&t| &self.moves.tables[t]).collect();
        Ok(Arc::new(ChainModel::with_transitions(vec![cells; times], links, &tables)?))
    }

    /// Refuses counts, under Poisson noise, in cells that no sequence of moves leads to, and times at which
    /// nobody can be anywhere.
    pub fn check_counts(&self) -> Result<(), FlowError> {
        let possible = self.possible_cells();
        let mut times = possible.iter().enumerate();
        times.try_for_each(|(time, own)| check_time(self.observations, self.noise, time, own))
    }

    /// Counts `(time, cell, count)` in cells that no sequence of moves leads to.
    pub fn impossible(&self) -> Vec<(usize, usize, f64)> {
        let possible = self.possible_cells();
        let times = possible.iter().enumerate();
        times.flat_map(|(time, own)| impossible_at(self.observations, time, own)).collect()
    }

    /// Whether a sequence of moves leads to an open cell. `[times][cells]`
    fn possible_cells(&self) -> Vec<Vec<bool>> {
        let mut possible: Vec<Vec<bool>> = Vec::new();
        for time in 0..self.observations.times().len() {
            let mut own = match possible.last() {
                Some(before) => cells_after(self.moves, time - 1, before),
                None => first_cells(self.start, self.observations.cells()),
            };
            let open = |(cell, possible): (usize, &mut bool)| {
                *possible &= self.observations.is_open(time, cell);
            };
            own.iter_mut().enumerate().for_each(open);
            possible.push(own);
        }
        possible
    }
}

/// The cells that individuals can start in.
fn first_cells(start: Option<&[f64]>, cells: usize) -> Vec<bool> {
    let allowed = |score: &f64| *score > f64::NEG_INFINITY;
    start.map_or(vec![true; cells], |start| start.iter().map(allowed).collect())
}

/// The cells that a step leads to.
fn cells_after(moves: &Moves, step: usize, before: &[bool]) -> Vec<bool> {
    let table = &moves.tables[moves.of_step[step]];
    let mut after = vec![false; before.len()];
    let mut left = after.len();
    for from in (0..before.len()).filter(|&from| before[from]) {
        for &to in table.row(from).0 {
            left -= usize::from(!std::mem::replace(&mut after[to as usize], true));
        }
        if left == 0 {
            break;
        }
    }
    after
}

/// Refuses counts, under Poisson noise, where nobody can be, and a time at which nobody can be anywhere.
fn check_time(
    observations: &Observations,
    noise: &Noise,
    time: usize,
    possible: &[bool],
) -> Result<(), FlowError> {
    match impossible_at(observations, time, possible).next() {
        Some((time, cell, count)) if matches!(noise, Noise::Poisson { .. }) => {
            Err(FlowError::Impossible { time, cell, count })
        }
        _ if !possible.contains(&true) => Err(FlowError::Closed { time }),
        _ => Ok(()),
    }
}

/// Counts `(time, cell, count)` at a time where nobody can be.
fn impossible_at(
    observations: &Observations,
    time: usize,
    possible: &[bool],
) -> impl Iterator<Item = (usize, usize, f64)> {
    let counts = observations.at(time).iter().zip(possible).enumerate();
    counts.filter_map(move |(cell, (count, possible))| {
        let count = count.filter(|&count| count > 0.0 && !possible)?;
        Some((time, cell, count))
    })
}
