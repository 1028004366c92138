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
mod passes;
mod program;
mod quasi_newton;
#[cfg(test)]
mod tests;

use program::{Iterate, Program};
use quasi_newton::Memory;

use super::engine::{Engine, Point, Solver, Step, Verdict, rounding};
use crate::energy::Measurements;
use crate::vector::{Aligned, Place, sweep, vectorised};

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

/// On the problems of `tests/stiff.rs`, remembering 20 steps takes as many oracle calls as 10, and 5
/// half as many again.
const MOST_REMEMBERED: usize = 10;
/// Passes over so few unknowns cost next to nothing.
const FEW: usize = 100;

pub(super) struct Dual {
    program: Program,
    current: Iterate,
    trial: Iterate,
    memory: Memory,
    /// `[measurements]`
    direction: Aligned,
    tilt_limit: f64,
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
            memory: Memory::new(rows, remembered(engine, rows)),
            direction: Aligned::filled(rows, 0.0),
            tilt_limit: FIRST_TILT_LIMIT,
            failures: 0,
            iteration: 0,
        };
        for row in 0..rows {
            dual.current.unknowns[row] = dual.program.unknown(row, 0.0);
        }
        dual.settle(engine);
        dual
    }

    /// Moves to other base potentials and another scale, keeping the multipliers as far as they fit.
    pub fn rebase(&mut self, engine: &mut Engine, base_tilt: &[f64], scale: f64) {
        let ratio = self.program.scale / scale;
        self.program.rebase(base_tilt, scale);
        self.memory.forget();
        self.failures = 0;
        for row in 0..self.program.measurements.len() {
            let multiplier = ratio * self.current.multipliers[row];
            self.current.unknowns[row] = self.program.unknown(row, multiplier);
        }
        self.settle(engine);
    }

    /// Fills in the current iterate from its unknowns.
    fn settle(&mut self, engine: &mut Engine) {
        self.direction.fill(0.0);
        self.program.place(&self.current.unknowns, 0.0, &self.direction, &mut self.trial);
        self.program.evaluate(engine, self.tilt_limit, &mut self.trial);
        std::mem::swap(&mut self.current, &mut self.trial);
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
        self.current.violation
    }

    /// Whether rounding keeps the search from finding anything better.
    pub fn is_exhausted(&self) -> bool {
        self.failures >= FAILURES
    }

    fn is_solved(&self) -> bool {
        self.current.gap == 0.0 && self.violation() == 0.0
    }

    /// A descent direction whose full step ends inside the box.
    fn find_direction(&mut self) {
        let [slope, gradient, direction] = self.bounded_direction();
        let descends = slope.is_finite() && slope < -1e-12 * (gradient * direction).sqrt();
        if !descends && !self.memory.is_empty() {
            // Without past steps every component goes against its own gradient.
            self.memory.forget();
            self.bounded_direction();
        }
    }

    /// The quasi-Newton direction, each component cut off where it meets its bound; its slope, and
    /// the squares of the gradient and of itself.
    fn bounded_direction(&mut self) -> [f64; 3] {
        let Iterate { gradient, diagonal, .. } = &self.current;
        self.memory.direction(gradient, diagonal, &mut self.direction);
        self.program.keep_inside(&self.current, &mut self.direction)
    }

    /// Places the trial at the longest step along the direction that changes no potential by more
    /// than the limit; that step, and whether it goes to the limit.
    fn place_longest(&mut self) -> (f64, bool) {
        self.program.place(&self.current.unknowns, 1.0, &self.direction, &mut self.trial);
        let tilts = [&self.trial.point.tilt[..], &self.current.point.tilt];
        let ([], [largest]) = vectorised(
            #[inline(always)]
            || {
                sweep(
                    [],
                    tilts,
                    #[inline(always)]
                    |[], [b, a]| Place { values: [], terms: [], sizes: [(b - a).abs()] },
                )
            },
        );
        if largest > self.tilt_limit {
            let longest = self.tilt_limit / largest;
            self.program.place(&self.current.unknowns, longest, &self.direction, &mut self.trial);
            return (longest, true);
        }
        (1.0, largest > 0.5 * self.tilt_limit)
    }

    /// One quasi-Newton step: a direction, then a search along it.
    fn advance(&mut self, engine: &mut Engine) {
        self.iteration += 1;
        self.find_direction();
        let (longest, limit_binds) = self.place_longest();
        let mut step = longest;
        for _ in 0..TRIALS {
            // Should the step pass, the next one may go farther.
            let binds = step == longest && limit_binds;
            let limit = if binds { 2.0 * self.tilt_limit } else { self.tilt_limit };
            self.program.evaluate(engine, limit, &mut self.trial);
            let [before, after] = self.memory.note(&self.current, &self.trial);
            if before == 0.0 {
                break;
            }
            if self.passes(before, after) {
                if after <= 0.0 {
                    self.tilt_limit = limit;
                }
                self.memory.keep();
                std::mem::swap(&mut self.current, &mut self.trial);
                self.failures = 0;
                return;
            }
            // The secant's zero of the slope, kept away from both ends.
            let zero = before / (before - after);
            step *= if zero.is_finite() { zero.clamp(0.1, 0.7) } else { 0.1 };
            self.program.place(&self.current.unknowns, step, &self.direction, &mut self.trial);
        }
        if self.memory.is_empty() {
            self.failures += 1;
        }
        self.memory.forget();
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

    fn report(&self, verdict: Verdict) -> Step {
        let objective = self.current.point.objective();
        Step {
            gap: Some(self.current.gap),
            violation: self.violation(),
            ..Step::new(objective, self.lower_bound(), self.current.residual, verdict)
        }
    }
}

/// How many past steps shape the direction. Each costs some passes over the unknowns, which may take
/// no longer than a part of an oracle call: that takes several passes over the cells that the
/// energies read.
fn remembered(engine: &Engine, unknowns: usize) -> usize {
    let blocks = engine.energies.support().blocks().iter();
    let cells: usize = blocks.map(|block| block.tables.len() * block.len).sum();
    (cells / unknowns.max(1))
        .clamp(if unknowns <= FEW { MOST_REMEMBERED } else { 1 }, MOST_REMEMBERED)
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
