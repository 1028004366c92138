//! The dual of measurement energies: `max_λ −A(θ − Σ λ_j a_j) + λ·b − Σ_j (w_j φ_j)*(λ_j)`.
//!
//! Smooth and concave in as many unknowns as there are measurements, with box bounds for hinges and
//! absolute values, so kinks are solved exactly. A bounded quasi-Newton method climbs it; Poisson
//! multipliers are taken as `v = log(w·rate − λ)`.
//!
//! * Needs: measurements only (hard ones included).
//! * Guarantees: at every step the gap `Σ_j [w φ(z_j) + (wφ)*(λ_j) − λ_j z_j]`, summed term by term;
//!   infeasibility is reported with a proof.
//! * Reference: Fenchel duality; the step test is Hager and Zhang's approximate Wolfe test, since
//!   function values stall long before gradients do.

mod feasibility;
mod program;
mod quasi_newton;

use program::{Coordinate, Iterate, Program};
use quasi_newton::Memory;

use super::engine::{Engine, Point, Solver, Step, Verdict, dot, rounding};
use crate::energy::Measurements;

/// The first step may change no potential by more than this; the limit doubles when it binds.
const FIRST_TILT_LIMIT: f64 = 8.0;
/// No step changes a Poisson log-multiplier by more than this.
const LOG_STEP_LIMIT: f64 = 3.0;
/// Where nothing bends, this keeps inverses far from overflow.
const LEAST_CURVATURE: f64 = 1e-100;
/// A step is shortened at most so often.
const TRIALS: usize = 40;
/// Where function values differ by less than this part, only gradients are trusted.
const VALUE_NOISE: f64 = 1e-12;
/// So many searches in a row that fail mean that rounding has the last word.
const FAILURES: usize = 3;
/// Every so many iterations an unsolved problem with hard constraints is tested for a proof that
/// they cannot hold.
const INFEASIBILITY_TEST: usize = 8;

pub(super) struct Dual {
    program: Program,
    current: Iterate,
    trial: Iterate,
    memory: Memory,
    /// 1 where no bound holds the unknown, else 0. `[measurements]`
    free: Vec<f64>,
    /// The inverse Hessian that the memory starts from. `[measurements]`
    diagonal: Vec<f64>,
    /// `[measurements]`
    direction: Vec<f64>,
    tilt_limit: f64,
    /// Whether the longest step of the present search goes to that limit.
    limit_binds: bool,
    failures: usize,
    iteration: usize,
}

impl Dual {
    /// The dual of `measurements`, whose weights are divided by `scale`, at the base potentials
    /// `θ + base_tilt`.
    pub fn start(
        engine: &mut Engine,
        measurements: Measurements,
        base_tilt: Vec<f64>,
        scale: f64,
    ) -> Self {
        let (rows, width) = (measurements.len(), engine.coordinates());
        let mut dual = Self {
            program: Program::new(engine, measurements, base_tilt, scale),
            current: Iterate::new(rows, width),
            trial: Iterate::new(rows, width),
            memory: Memory::new(rows),
            free: vec![0.0; rows],
            diagonal: vec![1.0; rows],
            direction: vec![0.0; rows],
            tilt_limit: FIRST_TILT_LIMIT,
            limit_binds: false,
            failures: 0,
            iteration: 0,
        };
        dual.current.unknowns =
            dual.program.coordinates.iter().map(|coordinate| coordinate.unknown(0.0)).collect();
        dual.program.evaluate(engine, &mut dual.current);
        dual
    }

    /// Moves to other base potentials and another scale, keeping the multipliers as far as they fit.
    pub fn rebase(&mut self, engine: &mut Engine, base_tilt: &[f64], scale: f64) {
        let ratio = self.program.scale / scale;
        self.program.rebase(base_tilt, scale);
        self.memory.forget();
        self.failures = 0;
        for (row, coordinate) in self.program.coordinates.iter().enumerate() {
            let multiplier = ratio * self.current.multipliers[row];
            self.current.unknowns[row] = coordinate.unknown(multiplier);
        }
        self.program.evaluate(engine, &mut self.current);
    }

    /// The sum of the Fenchel gaps at the current multipliers.
    pub fn gap(&self) -> f64 {
        self.current.gap
    }

    /// The dual objective at the current multipliers: a lower bound on the optimum.
    pub fn lower_bound(&self) -> f64 {
        -self.current.value - rounding(self.current.value_size)
    }

    /// The multipliers, in the scale of the original weights.
    pub fn unscaled_multipliers(&self) -> impl Iterator<Item = f64> + '_ {
        self.current.multipliers.iter().map(|m| m * self.program.scale)
    }

    pub fn measurements(&self) -> &Measurements {
        &self.program.measurements
    }

    /// Largest violation of a hard constraint.
    pub fn violation(&self) -> f64 {
        let penalties = self.program.measurements.penalties().iter();
        penalties.zip(&self.current.measured).map(|(p, &z)| p.violation(z)).fold(0.0, f64::max)
    }

    /// Whether rounding keeps the search from finding anything better.
    pub fn is_exhausted(&self) -> bool {
        self.failures >= FAILURES
    }

    fn is_solved(&self) -> bool {
        self.current.gap == 0.0 && self.violation() == 0.0
    }

    /// Projected gradient, `‖·‖∞`.
    fn residual(&self) -> f64 {
        let unknowns = self.current.unknowns.iter().zip(&self.current.gradient);
        let moved =
            |(coordinate, (x, g)): (&Coordinate, (&f64, &f64))| (x - coordinate.clip(x - g)).abs();
        self.program.coordinates.iter().zip(unknowns).map(moved).fold(0.0, f64::max)
    }

    /// The inverse of the curvature in each unknown. No unknown may, by itself, go beyond the limit
    /// on tilts: where a measurement hardly varies, a Newton step in it would drown all others.
    fn estimate_diagonal(&mut self) {
        for (row, coordinate) in self.program.coordinates.iter().enumerate() {
            let slope = match coordinate {
                Coordinate::Log { ceiling } => ceiling - self.current.multipliers[row],
                _ => 1.0,
            };
            let pull = self.current.gradient[row].abs() * slope * self.program.largest[row];
            let curvature = self.program.curvature(&self.current, row);
            let curvature = curvature.max(pull / self.tilt_limit).max(LEAST_CURVATURE);
            self.diagonal[row] = 1.0 / curvature;
        }
    }

    /// A descent direction whose full step ends inside the box.
    fn find_direction(&mut self) {
        self.estimate_diagonal();
        for (row, coordinate) in self.program.coordinates.iter().enumerate() {
            let (unknown, gradient) = (self.current.unknowns[row], self.current.gradient[row]);
            self.free[row] = f64::from(coordinate.is_free(unknown, gradient));
        }
        let slope = self.bounded_direction();
        let size = |a: &[f64]| dot(a, a).sqrt();
        let least = 1e-12 * size(&self.current.gradient) * size(&self.direction);
        let descends = slope.is_finite() && slope < -least;
        if !descends && !self.memory.is_empty() {
            // Without past steps every component goes against its own gradient.
            self.memory.forget();
            self.bounded_direction();
        }
    }

    /// The quasi-Newton direction, each component cut off where it meets its bound; its slope.
    fn bounded_direction(&mut self) -> f64 {
        let gradient = &self.current.gradient;
        self.memory.direction(gradient, &self.free, &self.diagonal, &mut self.direction);
        for (row, coordinate) in self.program.coordinates.iter().enumerate() {
            let (x, step) = (self.current.unknowns[row], self.direction[row]);
            self.direction[row] = match coordinate {
                Coordinate::Fixed(_) => 0.0,
                Coordinate::Bounded(low, high) => (x + step).clamp(*low, *high) - x,
                Coordinate::Log { .. } => step.clamp(-LOG_STEP_LIMIT, LOG_STEP_LIMIT),
            };
        }
        dot(gradient, &self.direction)
    }

    /// The longest step along the direction that changes no potential by more than the limit.
    fn longest_step(&mut self) -> f64 {
        let change = &mut self.trial.point.tilt;
        change.fill(0.0);
        for (row, coordinate) in self.program.coordinates.iter().enumerate() {
            let step = match coordinate {
                Coordinate::Log { ceiling } => {
                    (self.current.multipliers[row] - ceiling) * self.direction[row].exp_m1()
                }
                _ => self.direction[row],
            };
            self.program.rows().add_row(row, step, change);
        }
        let largest = change.iter().fold(0.0f64, |m, c| m.max(c.abs()));
        let longest = if largest > self.tilt_limit { self.tilt_limit / largest } else { 1.0 };
        self.limit_binds = largest * longest > 0.5 * self.tilt_limit;
        longest
    }

    /// One quasi-Newton step: a direction, then a search along it.
    fn advance(&mut self, engine: &mut Engine) {
        self.iteration += 1;
        self.find_direction();
        let longest = self.longest_step();
        let mut step = longest;
        for _ in 0..TRIALS {
            for (row, coordinate) in self.program.coordinates.iter().enumerate() {
                let moved = self.current.unknowns[row] + step * self.direction[row];
                self.trial.unknowns[row] = coordinate.clip(moved);
            }
            self.program.evaluate(engine, &mut self.trial);
            let (before, after) = self.slopes();
            if before == 0.0 {
                break;
            }
            if self.passes(before, after) {
                if step == longest && self.limit_binds && after <= 0.0 {
                    self.tilt_limit *= 2.0;
                }
                self.accept();
                return;
            }
            // The secant's zero of the slope, kept away from both ends.
            let zero = before / (before - after);
            step *= if zero.is_finite() { zero.clamp(0.1, 0.7) } else { 0.1 };
        }
        if self.memory.is_empty() {
            self.failures += 1;
        }
        self.memory.forget();
    }

    /// Slopes along the step taken, at its two ends.
    fn slopes(&self) -> (f64, f64) {
        let ends = self.trial.unknowns.iter().zip(&self.current.unknowns);
        let gradients = self.current.gradient.iter().zip(&self.trial.gradient);
        ends.zip(gradients).fold((0.0, 0.0), |(before, after), ((b, a), (old, new))| {
            (before + old * (b - a), after + new * (b - a))
        })
    }

    fn passes(&self, before: f64, after: f64) -> bool {
        let (old, new) = (self.current.value, self.trial.value);
        if !new.is_finite() || !after.is_finite() {
            return false;
        }
        let noise = VALUE_NOISE * (1.0 + old.abs() + self.current.point.log_partition.abs());
        let falls = new <= old + 1e-4 * before;
        let falls_by_slope = after <= 0.0 && new <= old + noise;
        let is_level = (new - old).abs() <= noise && after <= -0.9 * before;
        falls || falls_by_slope || is_level
    }

    fn accept(&mut self) {
        let steps = self.trial.unknowns.iter().zip(&self.current.unknowns).map(|(b, a)| b - a);
        let changes = self.trial.gradient.iter().zip(&self.current.gradient).map(|(b, a)| b - a);
        self.memory.push(steps.zip(changes));
        std::mem::swap(&mut self.current, &mut self.trial);
        self.failures = 0;
    }

    fn report(&self, verdict: Verdict) -> Step {
        let objective = self.current.point.objective();
        Step {
            gap: Some(self.current.gap),
            violation: self.violation(),
            ..Step::new(objective, self.lower_bound(), self.residual(), verdict)
        }
    }
}

impl Solver for Dual {
    fn name(&self) -> &'static str {
        "dual"
    }

    fn step(&mut self, engine: &mut Engine) -> Step {
        if self.iteration == 0 && (self.breaks_a_constant() || self.observes_the_impossible(engine))
        {
            return self.report(Verdict::Infeasible);
        }
        if !self.is_solved() {
            self.advance(engine);
        }
        let due = self.is_exhausted() || self.iteration.is_multiple_of(INFEASIBILITY_TEST);
        let test = due && self.violation() > 1e-9;
        let verdict = if test && self.is_infeasible(engine) {
            Verdict::Infeasible
        } else if self.is_exhausted() || self.is_solved() {
            Verdict::Settled
        } else {
            Verdict::Continue
        };
        self.report(verdict)
    }

    fn point(&self) -> &Point {
        &self.current.point
    }
}
