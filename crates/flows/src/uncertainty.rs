//! Standard errors of counts and flows, given the counts: `M·J`.
//!
//! Up to second moments the chain of an individual is a linear process, `x_{t+1} = Tᵀx_t + noise`,
//! and `J = C − C Aᵀ(D⁻¹ + A C Aᵀ)⁻¹ A C` is the covariance that a Kalman smoother finds for it,
//! with `D⁻¹` the variance of a measurement. The filter goes forward; what later counts add goes
//! backward as information (Bryson and Frazier's form), so no covariance is inverted, and flows
//! follow from both. It takes the memory of some matrices of all pairs of cells for each time, and
//! the time of multiplying them.
//!
//! What is unknown of a law that was learned joins the state: weights of features, pulls and drifts,
//! to which arrivals respond linearly, and where individuals start ([`UnknownLaw`]).

mod bootstrap;
mod law;
mod matrix;
#[cfg(test)]
mod tests;

pub use bootstrap::{Bootstrap, Bootstrapped};
pub use law::UnknownLaw;

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

/// How many multiplications standard errors take, with the unknowns of a law.
pub fn work(times: usize, cells: usize, law: Option<&UnknownLaw>) -> f64 {
    let size = cells + law.map_or(0, UnknownLaw::size);
    8.0 * times as f64 * (size as f64).powi(3)
}

/// A time in the forward pass. Its state is the shares of cells, and what is unknown of the law.
struct Time {
    /// Shares of individuals. `[cells]`
    shares: Vec<f64>,
    /// Probabilities of moves to the next time; empty at the last.
    moves: Matrix,
    /// How the state of the next time follows, transposed, if that is more than the moves.
    transition: Option<Matrix>,
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
    forward(&counts, moves, (observations, noise), None).iter().map(|time| time.told).sum()
}

impl StandardErrors {
    /// Standard errors of flows that were inferred from counts, with one for each flow of more
    /// individuals than the threshold. A law that was learned counts as known unless it is given.
    ///
    /// # Errors
    /// If it takes more memory than the limit.
    pub fn new(
        flows: &mut Flows,
        (observations, noise): (&Observations, &Noise),
        law: Option<&UnknownLaw>,
        (threshold, memory): (f64, MemoryLimit),
    ) -> Result<Self, TooLarge> {
        let (cells, times) = (observations.cells(), flows.times());
        let size = cells + law.map_or(0, UnknownLaw::size);
        let bytes = KEPT * times as f64 * (size as f64).powi(2) * size_of::<f64>() as f64;
        memory.check("standard errors", bytes)?;
        let counts = flows.counts();
        let population: f64 = counts[..cells].iter().sum();
        let (moves, listed) = transitions(flows, cells, &counts, threshold);
        let mut errors = Self::default();
        let forward = forward(&counts, moves, (observations, noise), law);
        let mut information = Matrix::zero(size);
        let mut of_steps: Vec<Vec<f64>> = Vec::with_capacity(times);
        let mut of_times: Vec<Vec<f64>> = Vec::with_capacity(times);
        for (t, time) in forward.iter().enumerate().rev() {
            if t + 1 < times {
                of_steps.push(time.flow_errors(&information, population, law, (t, &listed[t])));
                // Tells of this time what it told of the next.
                information = information.between(time.transition());
            }
            information = time.update(information);
            let explained = time.predicted.times(&information).diagonal_of(&time.predicted);
            let variance = |(cell, explained): (usize, f64)| {
                let left = time.predicted.at(cell, cell) - explained;
                (population * left.max(0.0)).sqrt()
            };
            of_times.push(explained.into_iter().take(cells).enumerate().map(variance).collect());
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
    (observations, noise): (&Observations, &Noise),
    law: Option<&UnknownLaw>,
) -> Vec<Time> {
    let cells = observations.cells();
    let population: f64 = counts[..cells].iter().sum();
    let shares_at = |time: usize| -> Vec<f64> {
        counts[time * cells..][..cells].iter().map(|count| count / population).collect()
    };
    let learns_start = law.is_some_and(|law| law.start);
    let first = match learns_start {
        true => anywhere(observations, population),
        false => Matrix::multinomial(&shares_at(0)),
    };
    let mut times: Vec<Time> = Vec::with_capacity(moves.len() + 1);
    let mut predicted = law.map_or(first.clone(), |law| law.first(&first, population));
    for (t, moves) in moves.into_iter().map(Some).chain([None]).enumerate() {
        let shares = shares_at(t);
        let mut variances = variances(observations.at(t), noise, &shares, population);
        if t == 0 && learns_start {
            variances.extend(zeros(observations.at(t), noise, population));
            variances.sort_unstable_by_key(|&(cell, _)| cell);
        }
        let (measured, variances): (Vec<usize>, Vec<f64>) = variances.into_iter().unzip();
        let innovations =
            (!measured.is_empty()).then(|| Cholesky::new(predicted.part(&measured), &variances));
        let whole = innovations.as_ref().map_or(0.0, Cholesky::log_determinant);
        let told = 0.5 * (whole - variances.iter().map(|own| own.ln()).sum::<f64>());
        let filtered = match &innovations {
            Some(innovations) => predicted.less(&innovations.explained(&predicted, &measured)),
            None => predicted.clone(),
        };
        let mut transition = None;
        let next = moves.as_ref().map(|moves| {
            let noise = Matrix::noise(moves, &shares, &shares_at(t + 1));
            transition = law.map(|law| law.transition((t, moves), &shares, &noise));
            let follows = filtered.between_transposed(transition.as_ref().unwrap_or(moves));
            follows.plus(&law.map_or(noise.clone(), |law| law.noise(&noise, population)))
        });
        let moves = moves.unwrap_or_else(|| Matrix::zero(0));
        times.push(Time {
            shares,
            moves,
            transition,
            predicted,
            filtered,
            measured,
            innovations,
            told,
        });
        match next {
            Some(next) => predicted = next,
            None => break,
        }
    }
    times
}

/// The covariance of a start that may be anywhere, under a prior that is worth one individual.
fn anywhere(observations: &Observations, population: f64) -> Matrix {
    let cells = observations.cells();
    let open = |cell: &usize| observations.is_open(0, *cell);
    let each = 1.0 / (0..cells).filter(open).count().max(1) as f64;
    let shares: Vec<f64> = (0..cells).map(|cell| if open(&cell) { each } else { 0.0 }).collect();
    Matrix::multinomial(&shares).scaled(0.5 * population)
}

/// Cells where the first count is 0, and the variance that this leaves if individuals may start
/// anywhere: that of an exponential distribution, which the likelihood is.
fn zeros<'a>(
    counts: &'a [Option<f64>],
    noise: &'a Noise,
    population: f64,
) -> impl Iterator<Item = (usize, f64)> + 'a {
    let cells = (0..counts.len()).filter(|&cell| counts[cell] == Some(0.0));
    let cells = cells.filter(|_| matches!(noise, Noise::Poisson { .. }));
    cells.map(move |cell| (cell, 1.0 / (noise.rate(cell).powi(2) * population)))
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
    fn transition(&self) -> &Matrix {
        self.transition.as_ref().unwrap_or(&self.moves)
    }

    /// What this time's counts and later ones tell about it.
    fn update(&self, later: Matrix) -> Matrix {
        match &self.innovations {
            Some(innovations) => innovations.informed(later, &self.predicted, &self.measured),
            None => later,
        }
    }

    /// Standard errors of flows after this time, where `later` is what counts tell about the next
    /// one.
    fn flow_errors(
        &self,
        later: &Matrix,
        population: f64,
        law: Option<&UnknownLaw>,
        (step, listed): (usize, &Listed),
    ) -> Vec<f64> {
        let (cells, size) = (self.shares.len(), self.filtered.size());
        let (departures, arrivals) = match law {
            Some(law) => law.flow_parts((step, &self.moves), &self.shares),
            None => (Matrix::identity(size), Matrix::zero(size)),
        };
        // How a flow varies with the state of this time, and how with that of the next one.
        let unit = Matrix::identity(size);
        let before = Form::new(&departures, &arrivals, &unit, &self.filtered);
        let with_next = self.filtered.times(self.transition());
        let mut departures = departures.times(&with_next);
        let mut arrivals = arrivals.times(&with_next);
        for from in 0..cells {
            *arrivals.at_mut(from, from) += 1.0;
            for to in 0..cells {
                *departures.at_mut(from, to) -= self.shares[from] * self.moves.at(from, to);
            }
        }
        let explained = Form::new(&departures, &arrivals, &with_next, later);
        let error = |&(from, to): &(usize, usize)| {
            let (share, probability) = (self.shares[from], self.moves.at(from, to));
            let slopes = law.map_or(&[][..], |law| law.slopes_of(step, from, to));
            let own = share * (1.0 - probability);
            let [before, explained] =
                [&before, &explained].map(|form| form.at((from, to), share, (cells, slopes)));
            let variance = probability * (own + probability * (before - explained));
            (population * variance.max(0.0)).sqrt()
        };
        listed.iter().map(error).collect()
    }
}

/// Quadratic forms of `departure + share · (arrival + Σ slopes · weights)` in a matrix, for rows of three
/// matrices.
struct Form<'a> {
    /// Those of departures with themselves, with arrivals, and of arrivals with themselves.
    departures: Vec<f64>,
    both: Matrix,
    arrivals: Vec<f64>,
    weights: &'a Matrix,
    /// Rows times the matrix.
    of_departures: Matrix,
    of_arrivals: Matrix,
    of_weights: Matrix,
}

impl<'a> Form<'a> {
    fn new(departures: &Matrix, arrivals: &Matrix, weights: &'a Matrix, matrix: &Matrix) -> Self {
        let (of_departures, of_arrivals) = (departures.times(matrix), arrivals.times(matrix));
        let (back, ahead) = (departures.transposed(), arrivals.transposed());
        Self {
            departures: of_departures.diagonal_of(&back),
            both: of_departures.times(&ahead),
            arrivals: of_arrivals.diagonal_of(&ahead),
            of_weights: weights.times(matrix),
            weights,
            of_departures,
            of_arrivals,
        }
    }

    /// That of a move, whose slopes belong to the rows of weights from the first one on.
    fn at(&self, (from, to): (usize, usize), share: f64, (first, slopes): (usize, &[f64])) -> f64 {
        let dot = |a: &[f64], b: &[f64]| a.iter().zip(b).map(|(a, b)| a * b).sum::<f64>();
        let (mut linear, mut square) = (self.both.at(from, to), self.arrivals[to]);
        for (one, slope) in (first..).zip(slopes) {
            let row = self.weights.row(one);
            linear += slope * dot(self.of_departures.row(from), row);
            square += 2.0 * slope * dot(self.of_arrivals.row(to), row);
            for (other, also) in (first..).zip(slopes) {
                square += slope * also * dot(self.of_weights.row(other), row);
            }
        }
        self.departures[from] + 2.0 * share * linear + share * share * square
    }
}
