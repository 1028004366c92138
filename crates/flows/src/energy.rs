//! The energy of counts: `L(μ) = (1/M) Σ_{t,i} −log p(y_{t,i} | M μ_{t,i})`, without constants.
//!
//! | [`Noise`] | a count's term |
//! | --- | --- |
//! | `Poisson`, rate `α_i` | `(1/M)(α_i M μ − y log(α_i M μ))` |
//! | `Gaussian`, rate `α_i`, variance `σ²` | `(1/M)(α_i M μ − y)²/2σ²` |
//! | `Squared`, weight `w` | `w (μ − d)²/2`, with `d = y` a share of the population |
//!
//! Under Poisson noise a count of 0 gives the linear term `α_i μ`. It goes into the potentials, so
//! that the dual has unknowns only for positive counts. So do cells that are closed at a time.

use bethe_core::energy::{Energies, Measurements};
use bethe_core::{Penalty, Support};

use super::data::Observations;

/// The distribution of counts.
#[derive(Clone, Debug, PartialEq)]
pub enum Noise {
    /// `y ~ Poisson(α_i n)`
    Poisson {
        /// `α`, one for all cells or one each.
        rate: Vec<f64>,
    },
    /// `y ~ Normal(α_i n, σ²)`
    Gaussian {
        /// `α`, one for all cells or one each.
        rate: Vec<f64>,
        /// `σ² > 0`
        variance: f64,
    },
    /// Squared error against shares of the population.
    Squared {
        /// Weight of an error against the entropy of an individual's route.
        weight: f64,
    },
}

impl Noise {
    /// `α` of a cell.
    pub fn rate(&self, cell: usize) -> f64 {
        match self {
            Self::Poisson { rate } | Self::Gaussian { rate, .. } => rate[cell % rate.len()],
            Self::Squared { .. } => 1.0,
        }
    }

    /// The expected count for this many individuals; a share of the population for squared error.
    pub fn expected(&self, cell: usize, individuals: f64, population: f64) -> f64 {
        match self {
            Self::Squared { .. } => individuals / population,
            _ => self.rate(cell) * individuals,
        }
    }

    /// The deviance: twice the distance in log-likelihood from a perfect fit.
    pub fn deviance(&self, count: f64, expected: f64) -> f64 {
        match *self {
            Self::Poisson { .. } if count == 0.0 => 2.0 * expected,
            Self::Poisson { .. } => 2.0 * (count * (count / expected).ln() - count + expected),
            Self::Gaussian { variance, .. } => (count - expected).powi(2) / variance,
            Self::Squared { weight } => weight * (count - expected).powi(2),
        }
    }
}

/// Counts of a time that sum to more than a population explains.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Excess {
    /// Number of the time.
    pub time: usize,
    /// What the counts sum to.
    pub counted: f64,
    /// The largest expected sum, if the whole population were in the cell with the highest rate.
    pub explained: f64,
}

impl Noise {
    /// Times whose counts sum to far more than noise allows: by six standard deviations, for
    /// squared error by a hundredth.
    pub fn excess(&self, observations: &Observations, population: f64) -> Vec<Excess> {
        let most = (0..observations.cells()).map(|cell| self.rate(cell)).fold(0.0, f64::max);
        let excess = |time: usize| {
            let counted = observations.counted(time);
            let seen = observations.at(time).iter().flatten().count() as f64;
            let (explained, noise) = match *self {
                Self::Poisson { .. } => (most * population, 6.0 * (most * population).sqrt()),
                Self::Gaussian { variance, .. } => {
                    (most * population, 6.0 * (seen * variance).sqrt())
                }
                Self::Squared { .. } => (1.0, 0.01),
            };
            (counted > explained + noise).then_some(Excess { time, counted, explained })
        };
        (0..observations.times().len()).filter_map(excess).collect()
    }
}

/// The energy of counts, and its part in the node scores.
pub struct Counts {
    /// On the node tables of times at which something was counted.
    pub energies: Energies,
    /// To be added to log-potentials. `[times][cells]`
    pub scores: Vec<f64>,
}

impl Counts {
    /// The energy of counts of a population. The oracle's node tables `0..times` are those of the
    /// times.
    pub fn new(observations: &Observations, noise: &Noise, population: f64) -> Self {
        let cells = observations.cells();
        let mut support = Support::new();
        let mut measurements = Measurements::default();
        let mut scores = vec![0.0; observations.times().len() * cells];
        for time in 0..observations.times().len() {
            let counts = observations.at(time);
            for cell in (0..cells).filter(|&cell| !observations.is_open(time, cell)) {
                scores[time * cells + cell] = f64::NEG_INFINITY;
            }
            if counts.iter().all(Option::is_none) {
                continue;
            }
            let block = support.add(vec![time], cells);
            let first = support.blocks()[block].start;
            for (cell, count) in counts.iter().enumerate() {
                let Some(count) = *count else { continue };
                let rate = noise.rate(cell);
                let (weight, penalty, share) = match *noise {
                    Noise::Poisson { .. } if count == 0.0 => {
                        scores[time * cells + cell] -= rate;
                        continue;
                    }
                    Noise::Poisson { .. } => {
                        let penalty = Penalty::Poisson { rate: rate * population, count };
                        (1.0 / population, penalty, 0.0)
                    }
                    Noise::Gaussian { variance, .. } => {
                        let weight = rate * rate * population / variance;
                        (weight, Penalty::Squared, count / (rate * population))
                    }
                    Noise::Squared { weight } => (weight, Penalty::Squared, count),
                };
                let rows = measurements.rows_mut();
                rows.push([(first + cell, 1.0)], &[-share], (-share, 1.0 - share));
                measurements.push(weight, penalty);
            }
        }
        Self { energies: Energies::of_measurements(support, measurements), scores }
    }
}
