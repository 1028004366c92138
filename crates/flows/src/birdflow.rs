//! BirdFlow's loss (Fuentes et al. 2023): weekly distributions `d_t`, a cost of distance, and the
//! entropy of routes.
//!
//! ```text
//! observation · Σ_t ‖μ_t − d_t‖² + distance · Σ_t Σ_{ij} μ_t(i,j) (dist_{ij}/unit)^power
//!     − entropy · (Σ_t H(flows of t) − Σ_t H(μ_t))
//! ```
//!
//! Divided by `entropy` this is [`FlowProblem`](crate::infer::FlowProblem)'s objective with squared
//! errors of weight `2 observation/entropy` and log-potentials of `−distance/entropy` by distance,
//! except for the entropies of the first and the last distribution: BirdFlow's sum over `t`
//! subtracts them, the entropy of a route does not.

use std::fmt;

use thiserror::Error;

use crate::data::{Cells, Geometry, Observations};
use crate::energy::Noise;
use crate::infer::Flows;
use crate::model::{Feature, FeatureKind, Movement};

/// The weights of the loss.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Weights {
    /// The weight of squared errors.
    pub observation: f64,
    /// The weight of distances.
    pub distance: f64,
    /// The weight of entropies.
    pub entropy: f64,
    /// The power of a distance.
    pub power: f64,
    /// What a distance of 1 is: in units of `x` and `y`, in kilometres for longitude and latitude.
    /// `None` for 100 km, with `x` and `y` in metres.
    pub unit: Option<f64>,
}

/// Factors of the weight of entropy, and costs of a move to the nearest cell in nats, to choose from.
const ENTROPIES: [f64; 2] = [1.0, 10.0];
const COSTS: [f64; 6] = [0.5, 1.0, 2.0, 4.0, 8.0, 16.0];

/// As [`Weights::parse`] reads it.
impl fmt::Display for Weights {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { observation, distance, entropy, power, unit } = self;
        write!(f, "obs={observation},distance={distance},entropy={entropy},power={power}")?;
        unit.map_or(Ok(()), |unit| write!(f, ",unit={unit}"))
    }
}

impl Default for Weights {
    fn default() -> Self {
        Self { observation: 1.0, distance: 0.01, entropy: 1e-4, power: 0.4, unit: None }
    }
}

/// Why a text does not give weights.
#[derive(Clone, Debug, Error, PartialEq)]
pub enum WeightsError {
    /// An unknown name, or none.
    #[error(
        "found {found:?}, expected obs=, distance=, entropy=, power= or unit=, each with a number"
    )]
    Unknown {
        /// What is there.
        found: String,
    },
    /// A number out of range.
    #[error("{name}: found {found:?}, expected {expected}")]
    Number {
        /// The weight.
        name: String,
        /// What is there.
        found: String,
        /// What should be.
        expected: &'static str,
    },
    /// A weight twice.
    #[error("found {name} twice, expected each weight once")]
    Repeated {
        /// The weight.
        name: String,
    },
}

impl Weights {
    /// Weights as text, `obs=1,distance=0.01,entropy=0.0001,power=0.4,unit=100000`; missing ones
    /// have their defaults.
    pub fn parse(text: &str) -> Result<Self, WeightsError> {
        let mut weights = Self::default();
        let mut named: Vec<&str> = Vec::new();
        for part in text.split(',').map(str::trim).filter(|part| !part.is_empty()) {
            let unknown = || WeightsError::Unknown { found: part.to_string() };
            let (name, value) = part.split_once('=').ok_or_else(unknown)?;
            let (name, value) = (name.trim(), value.trim());
            let least =
                if name == "distance" { "a number of at least 0" } else { "a positive number" };
            let number = value.parse().ok().filter(|number: &f64| {
                number.is_finite() && (*number > 0.0 || name == "distance" && *number == 0.0)
            });
            let number = number.ok_or_else(|| WeightsError::Number {
                name: name.to_string(),
                found: value.to_string(),
                expected: least,
            });
            match name {
                "obs" => weights.observation = number?,
                "distance" => weights.distance = number?,
                "entropy" => weights.entropy = number?,
                "power" => weights.power = number?,
                "unit" => weights.unit = Some(number?),
                _ => return Err(unknown()),
            }
            if named.contains(&name) {
                return Err(WeightsError::Repeated { name: name.to_string() });
            }
            named.push(name);
        }
        Ok(weights)
    }

    /// Weights to choose from: these, and others with the same weight of errors. A move to the nearest
    /// cell costs from half a nat to 16, by this power and in proportion; the entropy weighs as much
    /// or ten times as much.
    pub fn candidates(&self, cells: &Cells) -> Vec<Self> {
        let nearest = cells.spacing() / self.unit(cells);
        let mut powers = vec![self.power, 1.0];
        powers.dedup();
        let mut candidates = vec![*self];
        for entropy in ENTROPIES.map(|factor| factor * self.entropy) {
            for cost in COSTS {
                let own = |&power: &f64| {
                    let distance = cost * entropy / nearest.powf(power);
                    Self { entropy, distance, power, ..*self }
                };
                candidates.extend(powers.iter().map(own));
            }
        }
        candidates
    }

    fn unit(&self, cells: &Cells) -> f64 {
        self.unit.unwrap_or(match cells.geometry() {
            Geometry::Plane => 100_000.0,
            Geometry::Globe => 100.0,
        })
    }

    /// What moves cost, in nats.
    pub fn movement(&self, cells: &Cells, reach: Option<f64>) -> Movement {
        let kind = FeatureKind::Power { unit: self.unit(cells), exponent: self.power };
        let weight = -self.distance / self.entropy;
        let feature = Feature { name: "distance".to_string(), kind, weight };
        Movement { features: vec![feature], reach, normalised: false }
    }

    /// What errors cost, in nats.
    pub fn noise(&self) -> Noise {
        Noise::Squared { weight: 2.0 * self.observation / self.entropy }
    }

    /// The loss of flows that were fitted to these shares, in BirdFlow's units.
    pub fn loss(&self, cells: &Cells, shares: &Observations, flows: &mut Flows) -> Loss {
        let unit = self.unit(cells);
        let counts = flows.counts();
        let population: f64 = counts[..cells.len()].iter().sum();
        let times = counts.len() / cells.len();
        let error = |(at, count): (usize, &f64)| {
            let share = shares.at(at / cells.len())[at % cells.len()];
            share.map_or(0.0, |share| (count / population - share).powi(2))
        };
        let negative = |share: f64| if share > 0.0 { share * share.ln() } else { 0.0 };
        let of_time = |time: usize| -> f64 {
            let own = &counts[time * cells.len()..][..cells.len()];
            own.iter().map(|count| -negative(count / population)).sum()
        };
        let nodes: Vec<f64> = (0..times).map(of_time).collect();
        let (mut distance, mut pairs) = (0.0, 0.0);
        flows.visit(&mut |_, from, to, number| {
            let share = number / population;
            pairs -= negative(share);
            distance += share * (cells.distance(from, to) / unit).powf(self.power);
        });
        let observation: f64 = counts.iter().enumerate().map(error).sum();
        let entropy = pairs - nodes.iter().sum::<f64>();
        let ends = if times > 1 { nodes[0] + nodes[times - 1] } else { 2.0 * nodes[0] };
        let without = self.observation * observation + self.distance * distance;
        Loss {
            total: without - self.entropy * entropy,
            of_routes: without - self.entropy * (entropy + ends),
            observation,
            distance,
            entropy,
        }
    }
}

/// BirdFlow's loss and its parts.
#[derive(Clone, Copy, Debug, PartialEq, serde::Serialize)]
pub struct Loss {
    /// As BirdFlow adds it up.
    pub total: f64,
    /// What is minimised, with the entropy of routes: `total` without the entropies of the first
    /// and the last distribution.
    pub of_routes: f64,
    /// The sum of squared errors.
    pub observation: f64,
    /// The sum of distances to their power.
    pub distance: f64,
    /// Entropies of flows less those of distributions.
    pub entropy: f64,
}
