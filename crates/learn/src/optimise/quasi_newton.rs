use std::collections::VecDeque;

use super::direction::Memory;
use super::region::{Region, Way};
use super::vectors::{Vector, dots, sum, write};

/// How to minimise, and when to stop.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct QuasiNewtonSettings {
    /// The region.
    pub region: Region,
    /// How many steps to remember.
    pub memory: usize,
    /// Stops when the norm of the gradient is at most this times `max(1, ‖w‖)`.
    pub gradient_tolerance: f64,
    /// Stops where the value fell by less than this part over [`QuasiNewtonSettings::period`] iterations.
    pub least_decrease: f64,
    /// Iterations over which the decrease is measured.
    pub period: usize,
    /// The part of the value that evaluations may be off by: steps that promise a smaller decrease are
    /// not tried.
    pub noise: f64,
}

impl Default for QuasiNewtonSettings {
    fn default() -> Self {
        Self {
            region: Region::Free,
            memory: 10,
            gradient_tolerance: 1e-5,
            least_decrease: 1e-5,
            period: 10,
            noise: 0.0,
        }
    }
}

/// The result of an iteration.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Outcome {
    /// The value fell.
    Advanced,
    /// The gradient, or the decrease over a period, is small enough.
    Converged,
    /// No step along the gradient lowers the value; only rounding, or noise, is left.
    Stuck,
}

/// The whole state between iterations: minimisation continues from it as if it had not stopped.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct State {
    /// The current point.
    pub weights: Vec<f64>,
    /// The gradient there, that of the L1 norm not included.
    pub gradient: Vec<f64>,
    /// Steps and changes of the gradient, oldest first.
    pub pairs: Vec<(Vec<f32>, Vec<f32>)>,
    /// The values of the latest iterations, that of the current point last.
    pub values: Vec<f64>,
    /// Iterations so far.
    pub iterations: usize,
}

/// Limited-memory BFGS within a region.
pub struct QuasiNewton {
    settings: QuasiNewtonSettings,
    weights: Vec<f64>,
    gradient: Vec<f64>,
    memory: Memory,
    values: VecDeque<f64>,
    iterations: usize,
    evaluations: usize,
    /// The slopes within the region, if they differ from the gradient.
    slopes: Vec<f64>,
    direction: Vec<f64>,
    candidate: Vec<f64>,
    candidate_gradient: Vec<f64>,
}

/// Sufficient decrease, as a fraction of what the slope promises.
const DECREASE: f64 = 1e-4;
/// A step is long enough if the slope along it fell to this fraction.
const CURVATURE: f64 = 0.9;
/// Trials of one line search.
const TRIALS: usize = 30;

impl QuasiNewton {
    /// Starts at `weights`, where the objective is evaluated once.
    pub fn start(
        settings: QuasiNewtonSettings,
        weights: Vec<f64>,
        objective: &mut dyn FnMut(&[f64], &mut [f64]) -> f64,
    ) -> Self {
        let gradient = vec![0.0; weights.len()];
        let state = State { weights, gradient, ..State::default() };
        let mut started = Self::resume(settings, state);
        let value = objective(&started.weights, &mut started.gradient);
        started.evaluations = 1;
        started.values.push_back(value + settings.region.added(&started.weights));
        started
    }

    /// Continues from a state.
    pub fn resume(settings: QuasiNewtonSettings, state: State) -> Self {
        let mut memory = Memory::default();
        for pair in state.pairs {
            memory.push(pair);
        }
        let size = state.weights.len();
        Self {
            settings,
            weights: state.weights,
            gradient: state.gradient,
            memory,
            values: state.values.into(),
            iterations: state.iterations,
            evaluations: 0,
            slopes: vec![0.0; if settings.region == Region::Free { 0 } else { size }],
            direction: vec![0.0; size],
            candidate: vec![0.0; size],
            candidate_gradient: vec![0.0; size],
        }
    }

    /// The state for [`QuasiNewton::resume`].
    pub fn state(&self) -> State {
        State {
            weights: self.weights.clone(),
            gradient: self.gradient.clone(),
            pairs: self.pairs().cloned().collect(),
            values: self.values().collect(),
            iterations: self.iterations,
        }
    }

    /// The current point.
    pub fn weights(&self) -> &[f64] {
        &self.weights
    }

    /// The gradient there, that of the L1 norm not included.
    pub fn gradient(&self) -> &[f64] {
        &self.gradient
    }

    /// The remembered steps and changes of the gradient, oldest first.
    pub fn pairs(&self) -> impl Iterator<Item = &(Vec<f32>, Vec<f32>)> {
        self.memory.pairs.iter()
    }

    /// The values of the latest iterations, that of the current point last.
    pub fn values(&self) -> impl Iterator<Item = f64> {
        self.values.iter().copied()
    }

    /// The objective there, with what the region adds.
    pub fn value(&self) -> f64 {
        *self.values.back().expect("a value for the current point")
    }

    /// Iterations so far.
    pub fn iterations(&self) -> usize {
        self.iterations
    }

    /// Evaluations of the objective since the start, or since it was resumed.
    pub fn evaluations(&self) -> usize {
        self.evaluations
    }

    /// One iteration. `objective` writes the gradient and returns the value, without the L1 norm.
    pub fn step(&mut self, objective: &mut dyn FnMut(&[f64], &mut [f64]) -> f64) -> Outcome {
        self.settings.region.write_slopes(&self.weights, &self.gradient, &mut self.slopes);
        let (slopes, weights) = (Vector::from(self.slopes()), Vector::from(&self.weights));
        let squares = dots(&[(slopes, slopes), (weights, weights)]);
        let (steepness, size) = (squares[0].sqrt(), squares[1].sqrt());
        if steepness <= self.settings.gradient_tolerance * size.max(1.0) || self.has_settled() {
            return Outcome::Converged;
        }
        let slopes = within(&self.settings, &self.gradient, &self.slopes);
        self.memory.direction(slopes, &mut self.direction);
        if self.settings.region != Region::Free {
            let Self { settings, slopes, direction, candidate, .. } = self;
            settings.region.write_inward(slopes, direction, candidate);
            std::mem::swap(direction, candidate);
        }
        if self.memory.pairs.is_empty() || !self.search(objective, 1.0) {
            // Restart with a short step of steepest descent.
            self.memory.clear();
            let slopes = within(&self.settings, &self.gradient, &self.slopes);
            write(&mut self.direction, |i| -slopes[i]);
            if !self.search(objective, 1.0 / steepness) {
                return Outcome::Stuck;
            }
        }
        self.iterations += 1;
        if self.values.len() > self.settings.period + 1 {
            self.values.pop_front();
        }
        Outcome::Advanced
    }

    /// The gradient of the objective within the region.
    fn slopes(&self) -> &[f64] {
        within(&self.settings, &self.gradient, &self.slopes)
    }

    fn has_settled(&self) -> bool {
        let (first, last) = (self.values[0], self.value());
        self.values.len() > self.settings.period
            && first - last < self.settings.least_decrease * last.abs()
    }

    /// Takes a step along the direction that is neither too long nor too short.
    fn search(&mut self, objective: &mut dyn FnMut(&[f64], &mut [f64]) -> f64, first: f64) -> bool {
        let slope = dots(&[(self.slopes().into(), (&self.direction).into())])[0];
        if slope >= 0.0 || !slope.is_finite() {
            return false;
        }
        let before = self.value();
        let (mut step, mut too_short, mut too_long) = (first, 0.0, f64::INFINITY);
        for _ in 0..TRIALS {
            let slopes = within(&self.settings, &self.gradient, &self.slopes);
            let way = Way { weights: &self.weights, slopes, direction: &self.direction };
            self.settings.region.write_moved(way, step, &mut self.candidate);
            let value = objective(&self.candidate, &mut self.candidate_gradient)
                + self.settings.region.added(&self.candidate);
            self.evaluations += 1;
            let promised = self.promised_decrease();
            if !value.is_finite() || value > before + DECREASE * promised {
                if -promised < self.settings.noise * before.abs() {
                    return false;
                }
                too_long = step;
                // The minimum of a parabola, kept away from both ends.
                let bend = value - before - step * slope;
                let lowest = -0.5 * slope * step * step / bend;
                let middle = 0.5 * (too_short + too_long);
                let inside = too_short + 0.1 * (too_long - too_short);
                step = if bend.is_finite() && too_short == 0.0 {
                    lowest.clamp(inside, middle)
                } else {
                    middle
                };
                continue;
            }
            let steep = || {
                let now = dots(&[((&self.candidate_gradient).into(), (&self.direction).into())])[0];
                now < CURVATURE * slope
            };
            if self.settings.region == Region::Free && too_long.is_infinite() && steep() {
                too_short = step;
                step *= 2.0;
                continue;
            }
            self.take_candidate(value);
            return true;
        }
        false
    }

    /// The decrease that the slopes promise for the step to the candidate; negative.
    fn promised_decrease(&self) -> f64 {
        let (Self { candidate, weights, .. }, slopes) = (self, self.slopes());
        sum(weights.len(), |i| slopes[i] * (candidate[i] - weights[i]))
    }

    fn take_candidate(&mut self, value: f64) {
        let size = self.weights.len();
        let full = self.memory.pairs.len() == self.settings.memory;
        let free = if full { self.memory.pop_oldest() } else { None };
        let (mut step, mut change) = free.unwrap_or_else(|| (vec![0.0; size], vec![0.0; size]));
        let (candidate, weights) = (&self.candidate, &self.weights);
        write(&mut step, |i| (candidate[i] - weights[i]) as f32);
        let (new, old) = (&self.candidate_gradient, &self.gradient);
        write(&mut change, |i| (new[i] - old[i]) as f32);
        let (s, y) = (Vector::from(&step), Vector::from(&change));
        let products = dots(&[(s, y), (y, y)]);
        // Curvature lost in rounding would spoil later directions.
        if products[0] > 1e-12 * products[1] {
            self.memory.push((step, change));
        }
        std::mem::swap(&mut self.weights, &mut self.candidate);
        std::mem::swap(&mut self.gradient, &mut self.candidate_gradient);
        self.values.push_back(value);
    }
}

/// The gradient of the objective within the region: its own where there is no bound and no kink.
fn within<'a>(settings: &QuasiNewtonSettings, gradient: &'a [f64], slopes: &'a [f64]) -> &'a [f64] {
    if settings.region == Region::Free { gradient } else { slopes }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// `½ Σ i (w_i − c_i)² + ¼ (Σ w)⁴ / n`, with its gradient.
    fn objective(weights: &[f64], gradient: &mut [f64]) -> f64 {
        let n = weights.len() as f64;
        let total: f64 = weights.iter().sum();
        let mut value = 0.25 * total.powi(4) / n;
        for (i, (w, g)) in weights.iter().zip(gradient.iter_mut()).enumerate() {
            let (stiffness, centre) = (1.0 + i as f64, ((i * 37) % 11) as f64 / 5.0 - 1.0);
            value += 0.5 * stiffness * (w - centre) * (w - centre);
            *g = stiffness * (w - centre) + total.powi(3) / n;
        }
        value
    }

    fn minimise(region: Region, size: usize) -> QuasiNewton {
        let settings = QuasiNewtonSettings {
            region,
            gradient_tolerance: 1e-9,
            least_decrease: 0.0,
            ..QuasiNewtonSettings::default()
        };
        let mut minimiser = QuasiNewton::start(settings, vec![0.5; size], &mut objective);
        for _ in 0..500 {
            let before = minimiser.value();
            if minimiser.step(&mut objective) != Outcome::Advanced {
                break;
            }
            assert!(minimiser.value() <= before);
        }
        minimiser
    }

    /// Largest violation of the conditions of optimality.
    fn residual(region: Region, weights: &[f64]) -> f64 {
        let mut gradient = vec![0.0; weights.len()];
        objective(weights, &mut gradient);
        let of = |(&w, &g): (&f64, &f64)| match region {
            Region::Free => g.abs(),
            Region::L1 { coefficient, .. } if w == 0.0 => (g.abs() - coefficient).max(0.0),
            Region::L1 { coefficient, .. } => (g + coefficient * w.signum()).abs(),
            Region::NotNegative { .. } if w == 0.0 => (-g).max(0.0),
            Region::NotNegative { .. } => g.abs(),
        };
        weights.iter().zip(&gradient).map(of).fold(0.0, f64::max)
    }

    #[test]
    fn every_region_is_minimised_to_its_conditions_of_optimality() {
        for region in [
            Region::Free,
            Region::L1 { coefficient: 2.0, from: 0 },
            Region::NotNegative { from: 0 },
        ] {
            for size in [1, 7, 60] {
                let minimiser = minimise(region, size);
                let off = residual(region, minimiser.weights());
                assert!(off < 1e-5, "{region:?} {size}: {off}");
            }
        }
    }

    #[test]
    fn l1_makes_zeros_and_bounds_hold() {
        let zeros = |region| minimise(region, 60).weights().iter().filter(|w| **w == 0.0).count();
        assert!(zeros(Region::L1 { coefficient: 5.0, from: 0 }) > 10);
        assert!(zeros(Region::NotNegative { from: 0 }) > 10);
        assert!(minimise(Region::NotNegative { from: 0 }, 60).weights().iter().all(|w| *w >= 0.0));
        assert_eq!(zeros(Region::Free), 0);
    }

    #[test]
    fn a_resumed_minimiser_takes_the_same_steps() {
        let settings = QuasiNewtonSettings {
            region: Region::L1 { coefficient: 0.5, from: 0 },
            ..QuasiNewtonSettings::default()
        };
        let mut whole = QuasiNewton::start(settings, vec![0.5; 40], &mut objective);
        for _ in 0..8 {
            whole.step(&mut objective);
        }
        let mut resumed = QuasiNewton::resume(settings, whole.state());
        for _ in 0..6 {
            assert_eq!(whole.step(&mut objective), resumed.step(&mut objective));
            assert_eq!(whole.state(), resumed.state());
        }
    }

    #[test]
    fn small_decreases_over_a_period_end_it() {
        let run = |least_decrease| {
            let settings = QuasiNewtonSettings {
                least_decrease,
                gradient_tolerance: 0.0,
                ..QuasiNewtonSettings::default()
            };
            let mut minimiser = QuasiNewton::start(settings, vec![0.5; 300], &mut objective);
            while minimiser.iterations() < 200
                && minimiser.step(&mut objective) == Outcome::Advanced
            {}
            minimiser.iterations()
        };
        assert!(run(1e-2) < run(1e-6) && run(1e-2) > QuasiNewtonSettings::default().period - 1);
    }

    #[test]
    fn an_objective_that_overflows_is_approached_with_shorter_steps() {
        let mut steep = |w: &[f64], g: &mut [f64]| {
            g[0] = w[0].exp() - 1e-3;
            w[0].exp() - 1e-3 * w[0]
        };
        let mut minimiser =
            QuasiNewton::start(QuasiNewtonSettings::default(), vec![700.0], &mut steep);
        for _ in 0..200 {
            if minimiser.step(&mut steep) != Outcome::Advanced {
                break;
            }
        }
        assert!(minimiser.value().is_finite());
    }
}
