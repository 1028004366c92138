//! The dual of measurement energies: `max_λ −A(θ − Σ λ_j a_j) + λ·b − Σ_j (w_j φ_j)*(λ_j)`.
//!
//! Smooth and concave in as many unknowns as there are measurements, with box bounds for hinges and
//! absolute values, so kinks are solved exactly. A bounded quasi-Newton method climbs it; Poisson
//! multipliers are taken as `v = log(w·rate − λ)`.
//!
//! * Needs: measurements only (hard ones included).
//! * Guarantees: at every step the gap `Σ_j [w φ(z_j) + (wφ)*(λ_j) − λ_j z_j]`, summed term by
//!   term; infeasibility is reported with a proof.
//! * Reference: Fenchel duality; the step test is Hager and Zhang's approximate Wolfe test, since
//!   function values stall long before gradients do.

mod evaluation;
mod feasibility;
mod placement;
mod program;
pub(super) mod quasi_newton;
mod secant;
#[cfg(test)]
mod tests;

use placement::{Blend, Placed};
use program::{Iterate, Program};
use quasi_newton::{End, Memory};
use secant::Secant;

use super::engine::{Engine, Held, Point, Solver, Step, Verdict, rounding};
use crate::energy::Measurements;
use crate::vector::farthest;

/// The first step may change no potential by more than this; the limit doubles when it binds.
pub(super) const FIRST_TILT_LIMIT: f64 = 8.0;
/// No step changes a Poisson log-multiplier by more than this.
const LOG_STEP_LIMIT: f64 = 3.0;
/// Where nothing bends, this keeps inverses far from overflow.
const LEAST_CURVATURE: f64 = 1e-100;
/// A search starts at no more than this many times the part of the longest step that the last one
/// took: where curvature changes along the way, as counts make it, full steps fail again and again.
const GROWTH: f64 = 2.0;
/// … but at no less than this part: one steep direction in turn with one that is not would keep
/// steps short for good.
const LEAST_PART: f64 = 0.0625;
/// A step is shortened at most so often.
pub(super) const TRIALS: usize = 40;
/// Where function values differ by less than this part, only gradients are trusted.
const VALUE_NOISE: f64 = 1e-12;
/// So many searches in a row that fail mean that rounding has the last word.
pub(super) const FAILURES: usize = 3;
/// Every so many iterations an unsolved problem with hard constraints is tested for a proof that
/// they cannot hold.
const INFEASIBILITY_TEST: usize = 8;

/// On the problems of `tests/stiff.rs`, remembering 20 steps takes as many oracle calls as 10, and
/// 5 half as many again.
const MOST_REMEMBERED: usize = 10;
/// One more step is remembered for every so many states: at 64 states the passes of three steps took
/// more than a quarter of the time of a call.
const STATES_A_STEP: usize = 96;
/// Passes over so few unknowns cost next to nothing.
const FEW: usize = 100;
/// After so many iterations fewer calls are worth any number of passes: with one step remembered, 21
/// of 900 chains under heavy weights on every marginal are not solved in 10,000, with ten 14.
const LONG: usize = 200;

pub(super) struct Dual {
    program: Program,
    current: Box<Iterate>,
    trial: Box<Iterate>,
    /// Past steps; none where the latest alone counts, which the two iterates hold.
    memory: Option<Memory>,
    /// Whether there is a step to remember.
    remembers: bool,
    /// Whether the last step led anywhere: then the trial is where it started.
    moved: bool,
    /// Where proofs of infeasibility are sought, once they are.
    scratch: Option<Point>,
    tilt_limit: f64,
    /// The part of the longest step that a careful search starts with.
    part: f64,
    /// Whether searches start no farther than the last one gives hope for: for counts, whose slopes
    /// have no bound, unless hard constraints ask for long steps.
    careful: bool,
    failures: usize,
    iteration: usize,
}

impl Dual {
    /// The dual of `measurements`, whose weights are divided by `scale`, at the base potentials
    /// `θ`, or `θ + base_tilt`.
    pub fn start(
        engine: &mut Engine,
        measurements: Measurements,
        base_tilt: Option<&[f64]>,
        scale: f64,
    ) -> Self {
        let (rows, width) = (measurements.len(), engine.coordinates());
        let steps = remembered(engine, rows);
        let careful = !measurements.has_bounded_slopes() && !measurements.has_hard();
        let program = Program::new(engine, measurements, base_tilt, scale);
        let mut dual = Self {
            current: Box::new(Iterate::new(&program, width)),
            trial: Box::new(Iterate::new(&program, width)),
            program,
            memory: (steps > 1).then(|| Memory::new(rows, steps)),
            remembers: false,
            moved: false,
            scratch: None,
            tilt_limit: FIRST_TILT_LIMIT,
            part: 1.0,
            careful,
            failures: 0,
            iteration: 0,
        };
        dual.program.set_unknowns(dual.current.unknowns_mut(), |_| 0.0);
        dual.settle(engine);
        dual
    }

    /// Moves to other base potentials and another scale, keeping the multipliers as far as they
    /// fit.
    pub fn rebase(&mut self, engine: &mut Engine, base_tilt: &[f64], scale: f64) {
        let ratio = self.program.scale / scale;
        self.program.rebase(Some(base_tilt), scale);
        (self.part, self.failures) = (1.0, 0);
        let old = self.current.pulls();
        self.program.set_unknowns(self.trial.unknowns_mut(), |row| -ratio * old[row]);
        self.current.unknowns_mut().copy_from_slice(self.trial.unknowns());
        self.settle(engine);
    }

    /// Fills in the current iterate from its unknowns.
    fn settle(&mut self, engine: &mut Engine) {
        self.current.diagonal.fill(0.0);
        self.trial.unknowns_mut().copy_from_slice(self.current.unknowns());
        self.program.place(&self.current, Blend::shorter(0.0), &mut self.trial);
        self.program.evaluate(engine, &self.current, self.tilt_limit, &mut self.trial);
        std::mem::swap(&mut self.current, &mut self.trial);
        self.forget();
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
        self.current.multipliers().map(|multiplier| multiplier * self.program.scale)
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
        self.current.gap <= self.current.point.slack && self.violation() == 0.0
    }

    /// Forgets all steps.
    fn forget(&mut self) {
        self.remembers = false;
        // What is not remembered must not be what a search that failed left: it may be NaN.
        self.trial.unknowns_mut().copy_from_slice(self.current.unknowns());
        if let Some(memory) = &mut self.memory {
            memory.forget();
        }
    }

    /// Places the trial along a descent direction, each component cut off where it meets its bound.
    fn place_along(&mut self) -> Placed {
        let placed = self.place_remembered();
        let descends = placed.slope.is_finite() && placed.slope < -1e-12 * placed.slope_size;
        if descends || !self.remembers {
            return placed;
        }
        // Without past steps every component goes against its own gradient.
        self.forget();
        self.place_remembered()
    }

    fn place_remembered(&mut self) -> Placed {
        let Iterate { gradient, diagonal, secant, .. } = &*self.current;
        let blend = match &mut self.memory {
            _ if !self.remembers => Blend::STEEPEST,
            Some(memory) => {
                memory.direction(gradient, diagonal, self.trial.unknowns_mut(), &mut |_| {});
                Blend::GIVEN
            }
            None => secant.direction(),
        };
        self.program.place(&self.current, blend, &mut self.trial)
    }

    /// Places the trial at the longest step along the direction that changes no potential by more
    /// than the limit; whether it goes to the limit.
    fn place_longest(&mut self) -> bool {
        let Placed { reach, .. } = self.place_along();
        if reach <= 0.5 * self.tilt_limit {
            return false;
        }
        let largest = farthest(&self.trial.point.tilt, &self.current.point.tilt);
        if largest > self.tilt_limit {
            self.shorten(self.tilt_limit / largest);
            return true;
        }
        largest > 0.5 * self.tilt_limit
    }

    /// Moves the trial towards the current iterate, a part of the way from which is left.
    fn shorten(&mut self, part: f64) {
        self.program.place(&self.current, Blend::shorter(part), &mut self.trial);
    }

    /// One quasi-Newton step: a direction, then a search along it.
    fn advance(&mut self, engine: &mut Engine) {
        self.iteration += 1;
        if self.iteration == LONG && self.memory.is_none() {
            self.memory = Some(Memory::new(self.program.measurements.len(), MOST_REMEMBERED));
            self.forget();
        }
        let limit_binds = self.place_longest();
        let mut part = if self.careful { self.part } else { 1.0 };
        if part < 1.0 {
            self.shorten(part);
        }
        for _ in 0..TRIALS {
            // Should the step pass, the next one may go farther.
            let binds = part == 1.0 && limit_binds;
            let limit = if binds { 2.0 * self.tilt_limit } else { self.tilt_limit };
            self.program.evaluate(engine, &self.current, limit, &mut self.trial);
            let Secant { before, after, .. } = self.trial.secant;
            if before == 0.0 {
                break;
            }
            if self.passes(before, after) {
                if after <= 0.0 {
                    self.tilt_limit = limit;
                }
                if let Some(memory) = &mut self.memory {
                    memory.keep(self.current.end(), self.trial.end());
                }
                std::mem::swap(&mut self.current, &mut self.trial);
                (self.remembers, self.moved) = (true, true);
                (self.part, self.failures) = ((GROWTH * part).clamp(LEAST_PART, 1.0), 0);
                return;
            }
            let shorter = shorter(before, after);
            part *= shorter;
            self.shorten(shorter);
        }
        if !self.remembers {
            self.failures += 1;
        }
        self.part = 1.0;
        self.forget();
    }

    fn passes(&self, before: f64, after: f64) -> bool {
        let (old, new) = (&self.current, &self.trial);
        let slack = old.point.slack + new.point.slack;
        let noise = slack + value_noise(old.value, old.point.log_partition);
        is_descent([old.value, new.value], [before, after], noise)
    }

    fn report(&self, verdict: Verdict) -> Step {
        let objective = self.current.objective;
        Step {
            gap: Some(self.current.gap),
            violation: self.violation(),
            ..Step::new(objective, self.lower_bound(), self.current.residual, verdict)
        }
    }
}

/// What function values may differ by without meaning anything.
pub(super) fn value_noise(value: f64, log_partition: f64) -> f64 {
    VALUE_NOISE * (1.0 + value.abs() + log_partition.abs())
}

/// Whether a step that takes a function from one value to another, with these slopes along it at
/// its ends, is one down.
pub(super) fn is_descent([old, new]: [f64; 2], [before, after]: [f64; 2], noise: f64) -> bool {
    if !new.is_finite() || !after.is_finite() {
        return false;
    }
    let falls = new <= old + 1e-4 * before;
    let falls_by_slope = after <= 0.0 && new <= old + noise;
    let is_level = (new - old).abs() <= noise && after <= -0.9 * before;
    falls || falls_by_slope || is_level
}

/// Where the next trial of a search lies, as a part of the last: the secant's zero of the slope,
/// kept away from both ends.
pub(super) fn shorter(before: f64, after: f64) -> f64 {
    let zero = before / (before - after);
    if zero.is_finite() { zero.clamp(0.1, 0.7) } else { 0.1 }
}

/// How many past steps shape the direction. Each costs some passes over the unknowns, which may
/// take no longer than a part of an oracle call: that takes several passes over the cells that the
/// energies read, and more the more states a cell's neighbours have.
fn remembered(engine: &Engine, unknowns: usize) -> usize {
    let blocks = engine.energies.support().blocks().iter();
    let cells =
        blocks.map(|block| block.tables.len() * block.len * (1 + block.len / STATES_A_STEP));
    (cells.sum::<usize>() / unknowns.max(1))
        .clamp(if unknowns <= FEW { MOST_REMEMBERED } else { 1 }, MOST_REMEMBERED)
}

impl Solver for Dual {
    fn name(&self) -> &'static str {
        "dual"
    }

    fn step(&mut self, engine: &mut Engine) -> Step {
        self.moved = false;
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

    fn previous(&self) -> Option<&Point> {
        Some(if self.moved { &self.trial.point } else { &self.current.point })
    }

    fn multipliers(&self, held: Held, into: &mut Vec<f64>) -> bool {
        let is_trial = held == Held::Previous && self.moved;
        let iterate = if is_trial { &self.trial } else { &self.current };
        into.extend(iterate.multipliers().map(|multiplier| multiplier * self.program.scale));
        true
    }
}
