//! The search: a bounded quasi-Newton method for a smooth convex program.
//!
//! A [`Program`] says where a step leads and what follows there; [`QuasiNewton`] chooses the step,
//! from the gradient, a diagonal and the steps before, and searches along it. The test is Hager and
//! Zhang's approximate Wolfe test, since function values stall long before gradients do.

use super::engine::Engine;
use super::memory::{Memory, Projection};
use super::point::Point;
use crate::vector::{Aligned, Entry, Formula, Number, farthest, pass};

/// The first step may change no potential by more than this; the limit doubles when it binds.
const FIRST_TILT_LIMIT: f64 = 8.0;
/// A careful search starts at no more than this many times the part of the longest step that the
/// last one took: where curvature changes along the way, as counts make it, full steps fail again
/// and again.
const GROWTH: f64 = 2.0;
/// … but at no less than this part: one steep direction in turn with one that is not would keep
/// steps short for good.
const LEAST_PART: f64 = 0.0625;
/// A step is shortened at most this often.
const TRIALS: usize = 40;
/// Where function values differ by less than this part, only gradients are trusted.
const VALUE_NOISE: f64 = 1e-12;
/// This many failed searches in a row mean that only rounding is left.
const FAILURES: usize = 3;

/// A smooth convex function of some unknowns, perhaps within bounds, whose value takes one oracle
/// call.
pub(super) trait Program {
    /// Moves `trial` to the end of a step, each component cut off where it meets its bound: unknowns
    /// and tilt. Returns the slope along what is left of the step, at its start.
    fn place(&mut self, from: &Iterate, step: &[f64], trial: &mut Iterate) -> f64;

    /// Calls the oracle at the tilt and fills in all that follows. No entry of the diagonal may
    /// lead, by itself, beyond the limit on tilts.
    fn evaluate(&mut self, engine: &mut Engine, tilt_limit: f64, iterate: &mut Iterate);

    /// Where the diagonal says too little: a projection of what it made of a vector on what counts
    /// of it. Its adjoint must leave gradients as they are, so that curvatures stay symmetric.
    fn projection(&mut self) -> Option<impl FnMut(&mut [f64])> {
        None::<fn(&mut [f64])>
    }
}

/// Unknowns and all that follows from them.
#[derive(Debug)]
pub(super) struct Iterate {
    /// `[unknowns]`
    pub unknowns: Aligned,
    /// The gradient of `value`. `[unknowns]`
    pub gradient: Aligned,
    /// The inverse of the curvature of `value` in each unknown, about; 0 where a bound holds the
    /// unknown against its gradient. `[unknowns]`
    pub diagonal: Aligned,
    /// What is minimised: the negative dual objective.
    pub value: f64,
    /// `F` less the dual objective.
    pub gap: f64,
    /// `F`
    pub objective: f64,
    /// A lower bound on the optimum.
    pub lower_bound: f64,
    /// Sum of the sizes of the terms of these: their rounding follows it.
    pub size: f64,
    /// Projected gradient, `‖·‖∞`.
    pub residual: f64,
    /// Largest violation of a hard constraint.
    pub violation: f64,
    /// What hard constraints that are slightly broken may have taken off the objective.
    pub excess: f64,
    /// What rounding of measurements may have done to gap and objective.
    pub residue: f64,
    pub point: Point,
}

impl Iterate {
    pub fn new(unknowns: usize, coordinates: usize) -> Self {
        Self {
            unknowns: Aligned::filled(unknowns, 0.0),
            gradient: Aligned::filled(unknowns, 0.0),
            diagonal: Aligned::filled(unknowns, 0.0),
            value: f64::NAN,
            gap: f64::INFINITY,
            objective: f64::NAN,
            lower_bound: f64::NEG_INFINITY,
            size: 0.0,
            residual: f64::INFINITY,
            violation: f64::INFINITY,
            excess: 0.0,
            residue: 0.0,
            point: Point::new(coordinates),
        }
    }
}

/// The minimiser, and where it is.
pub(super) struct QuasiNewton {
    pub current: Box<Iterate>,
    trial: Box<Iterate>,
    /// From the current iterate to the trial. `[unknowns]`
    step: Aligned,
    memory: Memory,
    /// Whether the last search led anywhere: then the trial is where it started.
    moved: bool,
    /// No step changes a potential by more than this.
    tilt_limit: f64,
    /// Whether searches start no farther than the last one gives hope for.
    is_careful: bool,
    /// The part of the longest step that a careful search starts with.
    part: f64,
    failures: usize,
}

impl QuasiNewton {
    /// At unknowns that are 0; [`QuasiNewton::settle`] comes next.
    pub fn new(unknowns: usize, coordinates: usize, remembered: usize, is_careful: bool) -> Self {
        Self {
            current: Box::new(Iterate::new(unknowns, coordinates)),
            trial: Box::new(Iterate::new(unknowns, coordinates)),
            step: Aligned::filled(unknowns, 0.0),
            memory: Memory::new(unknowns, remembered),
            moved: false,
            tilt_limit: FIRST_TILT_LIMIT,
            is_careful,
            part: 1.0,
            failures: 0,
        }
    }

    /// Goes on from what the current iterate's unknowns were set to; steps before do not count any
    /// more.
    pub fn settle(&mut self, program: &mut impl Program, engine: &mut Engine) {
        self.step.fill(0.0);
        program.place(&self.current, &self.step, &mut self.trial);
        program.evaluate(engine, self.tilt_limit, &mut self.trial);
        std::mem::swap(&mut self.current, &mut self.trial);
        self.memory.forget();
        (self.part, self.failures, self.moved) = (1.0, 0, false);
    }

    /// Remembers at least this many steps from now on.
    pub fn remember(&mut self, steps: usize) {
        if self.memory.size() < steps {
            self.memory = Memory::new(self.step.len(), steps);
        }
    }

    /// Whether rounding keeps the search from finding anything better.
    pub fn is_exhausted(&self) -> bool {
        self.failures >= FAILURES
    }

    /// The iterate before the last step; the current one if that step led nowhere.
    pub fn previous(&self) -> &Iterate {
        if self.moved { &self.trial } else { &self.current }
    }

    /// Notes that no search was made: there is no point before.
    pub fn stay(&mut self) {
        self.moved = false;
    }

    /// A direction, and a search along it.
    pub fn advance(&mut self, program: &mut impl Program, engine: &mut Engine) {
        self.moved = false;
        let (mut before, limit_binds) = self.place_longest(program);
        let mut part = if self.is_careful { self.part } else { 1.0 };
        if part < 1.0 {
            before = self.shorten(program, part);
        }
        for _ in 0..TRIALS {
            if before == 0.0 || engine.is_cancelled() {
                break;
            }
            // Should the step pass, the next one may go farther.
            let binds = part == 1.0 && limit_binds;
            let limit = if binds { 2.0 * self.tilt_limit } else { self.tilt_limit };
            program.evaluate(engine, limit, &mut self.trial);
            let after = self.memory.compare(&self.current, &self.trial);
            if descends(&self.current, &self.trial, [before, after]) {
                if after <= 0.0 {
                    self.tilt_limit = limit;
                }
                self.memory.keep();
                std::mem::swap(&mut self.current, &mut self.trial);
                self.part = (GROWTH * part).clamp(LEAST_PART, 1.0);
                (self.failures, self.moved) = (0, true);
                return;
            }
            let shorter = shorter(before, after);
            part *= shorter;
            before = self.shorten(program, shorter);
        }
        if self.memory.is_empty() {
            self.failures += 1;
        }
        self.part = 1.0;
        self.memory.forget();
    }

    /// Places the trial at the longest step along a descent direction that changes no potential by
    /// more than the limit; the slope along it, and whether it goes to the limit.
    fn place_longest(&mut self, program: &mut impl Program) -> (f64, bool) {
        let mut slope = self.place(program);
        if !(slope < 0.0 && slope.is_finite() || self.memory.is_empty()) {
            // Without past steps every component goes against its own gradient.
            self.memory.forget();
            slope = self.place(program);
        }
        let largest = farthest(&self.trial.point.tilt, &self.current.point.tilt);
        if largest > self.tilt_limit {
            slope = self.shorten(program, self.tilt_limit / largest);
        }
        (slope, largest > 0.5 * self.tilt_limit)
    }

    fn place(&mut self, program: &mut impl Program) -> f64 {
        let Iterate { gradient, diagonal, .. } = &*self.current;
        {
            let mut project = program.projection();
            let project = project.as_mut().map(|project| -> Projection { project });
            self.memory.direction(gradient, diagonal, &mut self.step, project);
        }
        program.place(&self.current, &self.step, &mut self.trial)
    }

    /// Moves the trial towards the current iterate, a part of the way from which is left; the slope
    /// along that.
    fn shorten(&mut self, program: &mut impl Program, part: f64) -> f64 {
        let ends = [&*self.trial.unknowns, &self.current.unknowns];
        pass(Part { part }, [&mut self.step], ends);
        program.place(&self.current, &self.step, &mut self.trial)
    }
}

/// What rounding may do to the difference of values next to this one.
pub(super) fn noise(iterate: &Iterate) -> f64 {
    let size = 1.0 + iterate.value.abs() + iterate.point.log_partition.abs();
    iterate.point.slack + VALUE_NOISE * size
}

/// Whether the step from one iterate to another, with these slopes along it at its ends, is one
/// down.
pub(super) fn descends(old: &Iterate, new: &Iterate, [before, after]: [f64; 2]) -> bool {
    if !new.value.is_finite() || !after.is_finite() {
        return false;
    }
    let noise = noise(old) + new.point.slack;
    let falls = new.value <= old.value + 1e-4 * before;
    let falls_by_slope = after <= 0.0 && new.value <= old.value + noise;
    let is_level = (new.value - old.value).abs() <= noise && after <= -0.9 * before;
    falls || falls_by_slope || is_level
}

/// Where the next trial of a search lies, as a part of the last: the secant's zero of the slope,
/// kept away from both ends.
pub(super) fn shorter(before: f64, after: f64) -> f64 {
    let zero = before / (before - after);
    if zero.is_finite() { zero.clamp(0.1, 0.7) } else { 0.1 }
}

/// A part of the way from one vector to another.
#[derive(Clone, Copy)]
struct Part {
    part: f64,
}

impl Formula<1, 2, 0, 0> for Part {
    #[inline(always)]
    fn at<N: Number>(self, _: [N; 1], [to, from]: [N; 2]) -> Entry<N, 1, 0, 0> {
        Entry { values: [(to - from) * self.part], products: [], sizes: [] }
    }
}
