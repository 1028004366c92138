//! What learning leaves open of a law of movement, as more unknowns of the linear process.

use super::matrix::Matrix;
use crate::learn::{AXES, Prior};
use crate::model::Moves;

/// A law that was learned: how unknown its parameters were before counts were seen, and how the scores
/// of moves follow them. In front of what it adds to the state are the shares of cells. Behind them
/// come the weights of features, the pulls of the step that follows, and its drift.
#[derive(Clone, Debug)]
pub struct UnknownLaw {
    /// Whether it was learned where individuals start.
    pub(crate) start: bool,
    /// The variance of each weight. `[weights]`
    pub(crate) variances: Vec<f64>,
    /// How the score of a move changes with each weight. `[tables][moves][weights]`
    pub(crate) slopes: Vec<Vec<f64>>,
    /// The moves of the tables.
    pub(crate) moves: Moves,
    /// How strong pulls of places may be.
    pub(crate) prior: Option<Prior>,
    /// Where cells are, in the units of drifts. `[cells][axes]`
    pub(crate) positions: Vec<[f64; AXES]>,
}

impl UnknownLaw {
    fn cells(&self) -> usize {
        self.positions.len()
    }

    fn weights(&self) -> usize {
        self.variances.len()
    }

    /// How many pulls a step has.
    fn pulls(&self) -> usize {
        if self.prior.is_some_and(|prior| prior.first > 0.0) { self.cells() } else { 0 }
    }

    fn drifts(&self) -> usize {
        if self.prior.is_some_and(|prior| prior.drift > 0.0) { AXES } else { 0 }
    }

    /// The first pull of the state, and the first part of the drift.
    fn places(&self) -> (usize, usize) {
        let pull = self.cells() + self.weights();
        (pull, pull + self.pulls())
    }

    /// Unknowns besides the shares of cells.
    pub(super) fn size(&self) -> usize {
        self.weights() + self.pulls() + self.drifts()
    }

    /// Their variances before anything was counted.
    fn first_variances(&self) -> Vec<f64> {
        let pull = self.prior.map_or(0.0, |prior| prior.first.powi(2));
        let of_pulls = std::iter::repeat_n(pull, self.pulls());
        self.variances.iter().copied().chain(of_pulls).chain(self.drift_variances()).collect()
    }

    fn drift_variances(&self) -> impl Iterator<Item = f64> {
        let variance = self.prior.map_or(0.0, |prior| prior.drift.powi(2));
        std::iter::repeat_n(variance, self.drifts())
    }

    /// What comes to them from a step to the next.
    fn later_variances(&self) -> Vec<f64> {
        let change = self.prior.map_or(0.0, |prior| prior.change.powi(2));
        let none = std::iter::repeat_n(0.0, self.weights());
        none.chain(std::iter::repeat_n(change, self.pulls()))
            .chain(self.drift_variances())
            .collect()
    }

    /// A covariance of shares, and of what is unknown of the law before anything was counted.
    pub(super) fn first(&self, shares: &Matrix, population: f64) -> Matrix {
        let mut all = shares.padded(self.cells() + self.size());
        for (place, variance) in (self.cells()..).zip(self.first_variances()) {
            *all.at_mut(place, place) = population * variance;
        }
        all
    }

    /// What a step adds to the covariance, where `noise` is that of moves.
    pub(super) fn noise(&self, noise: &Matrix, population: f64) -> Matrix {
        let mut all = noise.padded(self.cells() + self.size());
        for (place, variance) in (self.cells()..).zip(self.later_variances()) {
            *all.at_mut(place, place) = population * variance;
        }
        all
    }

    /// How the state after a step follows the one before, transposed: `[before][after]`. Shares follow
    /// pulls as the covariance of moves says, which is `noise`.
    pub(super) fn transition(
        &self,
        (step, moves): (usize, &Matrix),
        shares: &[f64],
        noise: &Matrix,
    ) -> Matrix {
        let (cells, weights) = (self.cells(), self.weights());
        let (pull, drift) = self.places();
        let mut all = moves.padded(cells + self.size());
        for (from, share) in shares.iter().enumerate() {
            let means = self.means(step, moves, from);
            for to in 0..cells {
                let flow = share * moves.at(from, to);
                let slopes = self.slopes_of(step, from, to);
                for ((weight, slope), mean) in slopes.iter().enumerate().zip(&means) {
                    *all.at_mut(cells + weight, to) += flow * (slope - mean);
                }
            }
        }
        for weight in 0..weights {
            *all.at_mut(cells + weight, cells + weight) = 1.0;
        }
        for cell in 0..self.pulls() {
            *all.at_mut(pull + cell, pull + cell) = 1.0;
            (0..cells).for_each(|to| *all.at_mut(pull + cell, to) = noise.at(cell, to));
        }
        for axis in 0..self.drifts() {
            for to in 0..cells {
                let along = self.positions.iter().enumerate();
                let sum: f64 = along.map(|(cell, own)| own[axis] * noise.at(cell, to)).sum();
                *all.at_mut(drift + axis, to) = sum;
            }
        }
        all
    }

    /// How the score of a move changes with each weight; nothing for moves that do not exist.
    pub(super) fn slopes_of(&self, step: usize, from: usize, to: usize) -> &[f64] {
        let (table, weights) = (self.moves.of_step[step], self.weights());
        let place = self.moves.tables[table].find(from, to);
        place.map_or(&[], |place| &self.slopes[table][place * weights..][..weights])
    }

    /// The mean of that over the moves from a cell. `[weights]`
    fn means(&self, step: usize, moves: &Matrix, from: usize) -> Vec<f64> {
        let mut means = vec![0.0; self.weights()];
        for to in 0..self.cells() {
            let slopes = self.slopes_of(step, from, to);
            means
                .iter_mut()
                .zip(slopes)
                .for_each(|(sum, slope)| *sum += moves.at(from, to) * slope);
        }
        means
    }

    /// How a flow, in parts of `p(to|from)`, follows the state: `v_from + share · (u_to + Σ slopes · weights)`.
    /// These are all `v` and all `u`, in rows.
    pub(super) fn flow_parts(
        &self,
        (step, moves): (usize, &Matrix),
        shares: &[f64],
    ) -> (Matrix, Matrix) {
        let cells = self.cells();
        let (pull, drift) = self.places();
        let mut arrivals = Matrix::zero(cells + self.size());
        for (to, position) in self.positions.iter().enumerate() {
            if self.pulls() > 0 {
                *arrivals.at_mut(to, pull + to) = 1.0;
            }
            for (axis, along) in position[..self.drifts()].iter().enumerate() {
                *arrivals.at_mut(to, drift + axis) = *along;
            }
        }
        let mut leaving = moves.padded(cells + self.size());
        for (from, share) in shares.iter().enumerate() {
            (0..cells).for_each(|to| *leaving.at_mut(from, to) *= -share);
        }
        let mut departures = leaving.times(&arrivals);
        for (from, share) in shares.iter().enumerate() {
            *departures.at_mut(from, from) += 1.0;
            for (weight, mean) in self.means(step, moves, from).iter().enumerate() {
                *departures.at_mut(from, cells + weight) -= share * mean;
            }
        }
        (departures, arrivals)
    }
}
