//! Standard errors of counts and flows, given the counts: `M·J`.
//!
//! Up to second moments the chain of an individual is a linear process, `x_{t+1} = Tᵀx_t + noise`,
//! and `J = C − C Aᵀ(D⁻¹ + A C Aᵀ)⁻¹ A C` is the covariance that a Kalman smoother finds for it,
//! with `D⁻¹` the variance of a measurement. The filter goes forward; what later counts add goes
//! backward as information (Bryson and Frazier's form), so no covariance is inverted, and flows
//! follow from both. It takes the memory of some matrices of all pairs of cells for each time, and
//! the time of multiplying them.
//!
//! The law of movement is treated as known; a bootstrap shows what learning it adds.

mod bootstrap;
mod matrix;

pub use bootstrap::{Bootstrap, Bootstrapped};

use bethe_core::MemoryLimit;
use bethe_core::memory::TooLarge;

use crate::data::Observations;
use crate::energy::Noise;
use crate::infer::Flows;
use matrix::{Cholesky, Matrix};

/// Standard errors of what was inferred, in individuals.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct StandardErrors {
    /// `[times][cells]`
    pub counts: Vec<f64>,
    /// One per flow that is written out, in that order: step, cell before, cell after.
    pub flows: Vec<f64>,
}

/// The matrices of a time that are kept.
const KEPT: f64 = 4.0;

/// How many multiplications standard errors take.
pub fn work(times: usize, cells: usize) -> f64 {
    8.0 * times as f64 * (cells as f64).powi(3)
}

/// A time in the forward pass.
struct Time {
    /// Shares of individuals. `[cells]`
    shares: Vec<f64>,
    /// Probabilities of moves to the next time; empty at the last.
    moves: Matrix,
    /// Covariance given earlier counts, and given those of this time as well.
    predicted: Matrix,
    filtered: Matrix,
    /// Cells that were measured, and the innovations' covariance.
    measured: Vec<usize>,
    innovations: Option<Cholesky>,
    /// What the counts tell, in nats.
    told: f64,
}

/// How many multiplications [`information`] takes.
pub(crate) fn information_work(times: usize, cells: usize) -> f64 {
    4.0 * times as f64 * (cells as f64).powi(3)
}

/// What counts tell about a movement, in nats: `½ log det(I + D A C Aᵀ)`. The logarithm of the
/// probability of counts is about that of counts and movement together at the most likely movement,
/// less this (Laplace's approximation; what the movement has without counts cancels).
pub(crate) fn information(flows: &mut Flows, observations: &Observations, noise: &Noise) -> f64 {
    let counts = flows.counts();
    let (moves, _) = transitions(flows, observations.cells(), &counts, f64::INFINITY);
    forward(&counts, moves, observations, noise).iter().map(|time| time.told).sum()
}

impl StandardErrors {
    /// Standard errors of flows that were inferred from counts, with one for each flow of more
    /// individuals than the threshold.
    ///
    /// # Errors
    /// If it takes more memory than the limit.
    pub fn new(
        flows: &mut Flows,
        (observations, noise): (&Observations, &Noise),
        threshold: f64,
        memory: MemoryLimit,
    ) -> Result<Self, TooLarge> {
        let (cells, times) = (observations.cells(), flows.times());
        let bytes = KEPT * times as f64 * (cells as f64).powi(2) * size_of::<f64>() as f64;
        memory.check("standard errors", bytes)?;
        let counts = flows.counts();
        let population: f64 = counts[..cells].iter().sum();
        let (moves, listed) = transitions(flows, cells, &counts, threshold);
        let mut errors = Self::default();
        let forward = forward(&counts, moves, observations, noise);
        let mut information = Matrix::zero(cells);
        let mut of_steps: Vec<Vec<f64>> = Vec::with_capacity(times);
        let mut of_times: Vec<Vec<f64>> = Vec::with_capacity(times);
        for (t, time) in forward.iter().enumerate().rev() {
            if t + 1 < times {
                of_steps.push(time.flow_errors(&information, population, &listed[t]));
                // Tells of this time what it told of the next.
                information = information.between(&time.moves);
            }
            information = time.update(information);
            let explained = time.predicted.times(&information).diagonal_of(&time.predicted);
            let variance = |(cell, explained): (usize, f64)| {
                let left = time.predicted.at(cell, cell) - explained;
                (population * left.max(0.0)).sqrt()
            };
            of_times.push(explained.into_iter().enumerate().map(variance).collect());
        }
        errors.counts = of_times.into_iter().rev().flatten().collect();
        errors.flows = of_steps.into_iter().rev().flatten().collect();
        Ok(errors)
    }
}

/// Moves that are written out, from one cell to another.
type Listed = Vec<(usize, usize)>;

/// Probabilities of moves, given where individuals are, and the moves of more individuals than the
/// threshold. `[steps]`
fn transitions(
    flows: &mut Flows,
    cells: usize,
    counts: &[f64],
    threshold: f64,
) -> (Vec<Matrix>, Vec<Listed>) {
    let steps = flows.times().saturating_sub(1);
    let mut moves = vec![Matrix::zero(cells); steps];
    let mut listed = vec![Listed::new(); steps];
    flows.visit(&mut |step, from, to, number| {
        let leaving = counts[step * cells + from];
        if leaving > 0.0 {
            *moves[step].at_mut(from, to) = number / leaving;
        }
        if number > threshold {
            listed[step].push((from, to));
        }
    });
    listed.iter_mut().for_each(|own| own.sort_unstable());
    (moves, listed)
}

/// The filter.
fn forward(
    counts: &[f64],
    moves: Vec<Matrix>,
    observations: &Observations,
    noise: &Noise,
) -> Vec<Time> {
    let cells = observations.cells();
    let population: f64 = counts[..cells].iter().sum();
    let shares_at = |time: usize| -> Vec<f64> {
        counts[time * cells..][..cells].iter().map(|count| count / population).collect()
    };
    let mut times: Vec<Time> = Vec::with_capacity(moves.len() + 1);
    let mut predicted = Matrix::multinomial(&shares_at(0));
    for (t, moves) in moves.into_iter().map(Some).chain([None]).enumerate() {
        let shares = shares_at(t);
        let variances = variances(observations.at(t), noise, &shares, population);
        let (measured, variances): (Vec<usize>, Vec<f64>) = variances.into_iter().unzip();
        let innovations =
            (!measured.is_empty()).then(|| Cholesky::new(predicted.part(&measured), &variances));
        let whole = innovations.as_ref().map_or(0.0, Cholesky::log_determinant);
        let told = 0.5 * (whole - variances.iter().map(|own| own.ln()).sum::<f64>());
        let filtered = match &innovations {
            Some(innovations) => predicted.less(&innovations.explained(&predicted, &measured)),
            None => predicted.clone(),
        };
        let next = moves.as_ref().map(|moves| {
            let mut next = filtered.between_transposed(moves);
            next.add_noise(moves, &shares, &shares_at(t + 1));
            next
        });
        let moves = moves.unwrap_or_else(|| Matrix::zero(0));
        times.push(Time { shares, moves, predicted, filtered, measured, innovations, told });
        match next {
            Some(next) => predicted = next,
            None => break,
        }
    }
    times
}

/// The cells whose count is a measurement, and its variance in shares: the curvature of its penalty
/// at the answer, inverted.
fn variances(
    counts: &[Option<f64>],
    noise: &Noise,
    shares: &[f64],
    population: f64,
) -> Vec<(usize, f64)> {
    let variance = |(cell, count): (usize, &Option<f64>)| {
        let (count, share) = ((*count)?, shares[cell]);
        let variance = match *noise {
            // A count of 0 is linear in the share.
            Noise::Poisson { .. } if count == 0.0 => return None,
            Noise::Poisson { .. } => population * share * share / count,
            Noise::Gaussian { variance, .. } => variance / (noise.rate(cell).powi(2) * population),
            Noise::Squared { weight } => 1.0 / weight,
        };
        Some((cell, variance)).filter(|_| share > 0.0)
    };
    counts.iter().enumerate().filter_map(variance).collect()
}

impl Time {
    /// What this time's counts and later ones tell about it.
    fn update(&self, later: Matrix) -> Matrix {
        match &self.innovations {
            Some(innovations) => innovations.informed(later, &self.predicted, &self.measured),
            None => later,
        }
    }

    /// Standard errors of flows after this time, where `later` is what counts tell about the next
    /// one.
    fn flow_errors(&self, later: &Matrix, population: f64, listed: &Listed) -> Vec<f64> {
        let cells = self.shares.len();
        // Covariance of each cell with those of the next time, less that of its own moves.
        let mut with_next = self.filtered.times(&self.moves);
        for from in 0..cells {
            for to in 0..cells {
                *with_next.at_mut(from, to) -= self.shares[from] * self.moves.at(from, to);
            }
        }
        let told = with_next.times(later);
        let squares = told.diagonal_of(&with_next.transposed());
        let error = |&(from, to): &(usize, usize)| {
            let (share, probability) = (self.shares[from], self.moves.at(from, to));
            let before = probability * probability * self.filtered.at(from, from)
                + share * probability * (1.0 - probability);
            let explained =
                squares[from] + 2.0 * share * told.at(from, to) + share * share * later.at(to, to);
            let variance = before - probability * probability * explained;
            (population * variance.max(0.0)).sqrt()
        };
        listed.iter().map(error).collect()
    }
}
