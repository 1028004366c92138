//! Simulated migrations on a grid, as the paper has them, and harder ones.

use bethe_core::Cancel;
use bethe_flows::data::{Cells, Observations};
use bethe_flows::energy::Noise;
use bethe_flows::infer::FlowProblem;
use bethe_flows::model::{Feature, FeatureKind, Movement, Moves, Winds};
use bethe_flows::simulate::simulate;
use rand::rngs::StdRng;
use rand::{Rng, SeedableRng};

/// What a migration looks like.
#[derive(Clone, Copy)]
pub struct Recipe {
    pub side: usize,
    pub times: usize,
    pub population: u64,
    /// Counts are `Poisson(rate · individuals)`.
    pub rate: f64,
    /// How much individuals dislike distance.
    pub distance: f64,
    pub reach: Option<f64>,
    /// Whether inference believes in the opposite goal and the opposite wind.
    pub wrong: bool,
    pub seed: u64,
}

pub const PAPER: Recipe = Recipe {
    side: 10,
    times: 20,
    population: 1000,
    rate: 1.0,
    distance: 1.0,
    reach: None,
    wrong: false,
    seed: 0,
};

pub struct Instance {
    moves: Moves,
    start: Vec<f64>,
    observations: Observations,
    noise: Noise,
    population: f64,
}

impl Recipe {
    pub fn instance(self) -> Instance {
        let mut rng = StdRng::seed_from_u64(self.seed);
        let cells = Cells::grid(self.side, self.side);
        let steps = self.times - 1;
        let angles = (0..steps).map(|_| rng.random_range(0.0..std::f64::consts::TAU));
        let winds: Winds = angles.map(|angle| (angle.cos(), angle.sin())).collect();
        let truth = self.movement(&cells, winds.clone(), 1.0).moves(&cells, steps);
        let near: Vec<f64> = (0..cells.len()).map(|cell| -cells.distance(0, cell)).collect();
        let total: f64 = near.iter().map(|score| score.exp()).sum();
        let start: Vec<f64> = near.iter().map(|score| score - total.ln()).collect();
        let mut born = vec![0; cells.len()];
        for _ in 0..self.population {
            let mut left = rng.random_range(0.0..1.0);
            let at = start.iter().position(|score| {
                left -= score.exp();
                left < 0.0
            });
            born[at.unwrap_or(0)] += 1;
        }
        let simulated = simulate(&truth, &born, steps, &mut rng);
        let observations = simulated.observe(cells.len(), self.rate, &mut rng);
        let moves = if self.wrong {
            self.movement(&cells, winds, -1.0).moves(&cells, steps)
        } else {
            truth
        };
        let noise = Noise::Poisson { rate: vec![self.rate] };
        Instance { moves, start, observations, noise, population: self.population as f64 }
    }

    fn movement(self, cells: &Cells, winds: Winds, sign: f64) -> Movement {
        let feature = |name: &str, kind, weight| Feature { name: name.to_string(), kind, weight };
        Movement {
            features: vec![
                feature("stay", FeatureKind::Stay(1.0), 0.5),
                feature("distance", FeatureKind::Distance, -self.distance),
                feature("goal", FeatureKind::Goal(cells.len() - 1), sign),
                feature("wind", FeatureKind::Wind(winds), 0.7 * sign),
            ],
            reach: self.reach,
            normalised: true,
        }
    }
}

impl Instance {
    pub fn problem(&self) -> FlowProblem<'_> {
        FlowProblem {
            moves: &self.moves,
            start: Some(&self.start),
            observations: &self.observations,
            noise: &self.noise,
            population: self.population,
            cancel: Cancel::never(),
        }
    }
}
