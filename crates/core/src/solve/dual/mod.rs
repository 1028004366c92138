//! The dual of measurement energies: `max_λ −A(θ − Σ λ_j a_j) + λ·b − Σ_j (w_j φ_j)*(λ_j)`.
//!
//! Smooth and concave in as many unknowns as there are measurements, with box bounds for hinges and
//! absolute values, so kinks are solved exactly. [`QuasiNewton`] climbs it; Poisson multipliers are
//! taken as `v = log(w·rate − λ)`.
//!
//! * Needs: measurements only (hard ones included).
//! * Guarantees: at every step the gap `Σ_j [w φ(z_j) + (wφ)*(λ_j) − λ_j z_j]`, summed term by
//!   term; infeasibility is reported with a proof.
//! * Reference: Fenchel duality.

mod evaluation;
mod infeasibility;
mod newton;
mod placement;
mod program;
#[cfg(test)]
mod tests;

pub(super) use newton::Newton;
use program::DualProgram;

use super::certificate::rounding;
use super::engine::{Engine, Held, Solver, Step, Verdict};
use super::point::Point;
use super::quasi_newton::{Iterate, QuasiNewton};
use crate::energy::Measurements;

/// Where nothing bends, this keeps inverses far from overflow.
const LEAST_CURVATURE: f64 = 1e-100;
/// How many iterations lie between two tests of an unsolved problem with hard constraints for a
/// proof that they cannot hold.
const INFEASIBILITY_TEST: usize = 8;

/// On the problems of `tests/stiff.rs`, remembering 20 steps takes as many oracle calls as 10, and
/// 5 half as many again.
const MOST_REMEMBERED: usize = 10;
/// One more step is remembered for each further group of this many states: at 64 states the passes
/// of three steps took more than a quarter of the time of a call.
const STATES_A_STEP: usize = 96;
/// Passes over this few unknowns cost next to nothing.
const FEW: usize = 100;
/// After this many iterations fewer calls are worth any number of passes: with one step remembered,
/// 21 of 900 chains under heavy weights on every marginal are not solved in 10,000, with ten 14.
const LONG: usize = 200;

pub(super) struct Dual {
    program: DualProgram,
    search: QuasiNewton,
    /// Where proofs of infeasibility are sought, once they are.
    scratch: Option<Point>,
    iteration: usize,
}

impl Dual {
    /// The dual of `measurements`, whose weights are divided by `scale`, at the base potentials
    /// `θ`, or `θ + base_tilt`; in the former case from the multipliers that the task may have.
    pub fn start(
        engine: &mut Engine,
        measurements: Measurements,
        base_tilt: Option<&[f64]>,
        scale: f64,
    ) -> Self {
        let (rows, width) = (measurements.len(), engine.coordinates());
        // Counts have slopes without bound; hard constraints ask for long steps.
        let is_careful = !measurements.has_bounded_slopes() && !measurements.has_hard();
        let program = DualProgram::new(engine, measurements, base_tilt, scale);
        let search = QuasiNewton::new(rows, width, remembered(engine, rows), is_careful);
        let mut dual = Self { program, search, scratch: None, iteration: 0 };
        dual.program.start(&mut dual.search.current.unknowns);
        // Pieces of other energies have rows of their own.
        let start = engine.start.filter(|start| start.len() == rows);
        if let (Some(start), None) = (start, base_tilt) {
            dual.program.start_at(start, &mut dual.search.current.unknowns);
        }
        dual.search.settle(&mut dual.program, engine);
        dual
    }

    /// Moves to other base potentials and another scale, and multipliers in proportion.
    pub fn rebase(&mut self, engine: &mut Engine, base_tilt: &[f64], scale: f64) {
        let ratio = self.program.scale / scale;
        self.program.rebase(Some(base_tilt), scale);
        self.program.stretch(&mut self.search.current.unknowns, ratio);
        self.search.settle(&mut self.program, engine);
    }

    /// Goes on from these unknowns.
    pub fn move_to(&mut self, engine: &mut Engine, unknowns: &[f64]) {
        self.search.current.unknowns.copy_from_slice(unknowns);
        self.search.settle(&mut self.program, engine);
    }

    /// What the last step said, once more.
    pub fn show(&mut self) -> Step {
        self.search.stay();
        self.report(Verdict::Continue)
    }

    fn current(&self) -> &Iterate {
        &self.search.current
    }

    /// The sum of the Fenchel gaps at the current multipliers.
    pub fn gap(&self) -> f64 {
        self.current().gap
    }

    /// The dual objective at the current multipliers: a lower bound on the optimum.
    pub fn lower_bound(&self) -> f64 {
        self.current().lower_bound
    }

    /// The multipliers, in the scale of the original weights.
    pub fn unscaled_multipliers(&self) -> impl Iterator<Item = f64> + '_ {
        self.multipliers().map(|multiplier| multiplier * self.program.scale)
    }

    /// The unknowns of the program.
    pub fn unknowns(&self) -> &[f64] {
        &self.current().unknowns
    }

    fn multipliers(&self) -> impl Iterator<Item = f64> + '_ {
        self.program.multipliers(&self.current().unknowns)
    }

    /// The largest coefficient of a measurement.
    pub fn largest_coefficient(&self, measurement: usize) -> f64 {
        self.program.largest[measurement]
    }

    pub fn measurements(&self) -> &Measurements {
        &self.program.measurements
    }

    /// Largest violation of a hard constraint.
    pub fn violation(&self) -> f64 {
        self.current().violation
    }

    /// What slightly broken hard constraints may have taken off the objective, in the scale of the
    /// original weights.
    pub fn unscaled_excess(&self) -> f64 {
        self.current().excess * self.program.scale
    }

    /// What rounding of measurements may have done to the objective, in the scale of the original weights.
    pub fn unscaled_residue(&self) -> f64 {
        self.current().residue * self.program.scale
    }

    /// Whether rounding keeps the search from finding anything better.
    pub fn is_exhausted(&self) -> bool {
        self.search.is_exhausted()
    }

    /// Whether a hard constraint that no variable takes part in is broken.
    pub fn breaks_a_constant(&self) -> bool {
        self.program.breaks_a_constant()
    }

    /// Whether that, or a count of what cannot be, rules every distribution out.
    fn is_plainly_impossible(&mut self, engine: &mut Engine) -> bool {
        let Self { program, search, scratch, .. } = self;
        let marginals = &search.current.point.marginals;
        program.breaks_a_constant() || program.observes_the_impossible(engine, marginals, scratch)
    }

    /// Whether nothing that a tilt can change is left of the gap.
    fn is_solved(&self) -> bool {
        is_solved(self.current())
    }

    fn report(&self, verdict: Verdict) -> Step {
        report(self.current(), verdict)
    }
}

/// Whether nothing that a tilt can change is left of the gap.
fn is_solved(iterate: &Iterate) -> bool {
    let Iterate { gap, residual, violation, point, .. } = iterate;
    *violation == 0.0 && (*gap <= point.slack || *residual == 0.0)
}

/// What the driver is told of an iterate.
fn report(iterate: &Iterate, verdict: Verdict) -> Step {
    let Iterate { objective, lower_bound, residual, gap, violation, excess, residue, size, .. } =
        *iterate;
    let (gap, rounding) = (Some(gap + rounding(gap) + residue), rounding(size) + residue);
    let step = Step::new(objective, lower_bound, residual, verdict);
    Step { gap, violation, excess, rounding, ..step }
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
        if self.iteration == 0 && self.is_plainly_impossible(engine) {
            return self.report(Verdict::Infeasible);
        }
        self.search.stay();
        if !self.is_solved() {
            self.iteration += 1;
            if self.iteration == LONG {
                self.search.remember(MOST_REMEMBERED);
            }
            self.search.advance(&mut self.program, engine);
        }
        let due = self.is_exhausted() || self.iteration.is_multiple_of(INFEASIBILITY_TEST);
        let test = due && self.violation() > 1e-9;
        let Self { program, search, scratch, .. } = self;
        let verdict = if test && program.is_infeasible(engine, &search.current.unknowns, scratch) {
            Verdict::Infeasible
        } else if self.is_exhausted() || self.is_solved() {
            Verdict::Settled
        } else {
            Verdict::Continue
        };
        self.report(verdict)
    }

    fn point(&self) -> &Point {
        &self.search.current.point
    }

    fn base(&self) -> Option<Step> {
        let is_there = self.point().tilt.iter().all(|&tilt| tilt == 0.0);
        is_there.then(|| self.report(Verdict::Continue))
    }

    fn previous(&self) -> Option<&Point> {
        Some(&self.search.previous().point)
    }

    fn multipliers(&self, held: Held, into: &mut Vec<f64>) -> bool {
        let iterate = match held {
            Held::Current => self.current(),
            Held::Previous => self.search.previous(),
        };
        let multipliers = self.program.multipliers(&iterate.unknowns);
        into.extend(multipliers.map(|multiplier| multiplier * self.program.scale));
        true
    }
}
