//! The dual of squared errors of tables that overlap, with weights that grow.
//!
//! Thousands of noisy cells, tables that contradict one another where they overlap, and weights so
//! large that many cells end at a probability of `e^−1000`: the plain dual has next to no curvature
//! in the directions in which tables contradict one another, and next to no bounds on how far a
//! step overshoots in others. Three things make it easy:
//!
//! * The targets are made to agree ([`SquaredTables`]), which changes the energy by a constant.
//!   Then `min_δ A(θ + δ) − ⟨δ, p̄⟩ + Σ δ²/2W` is the negative dual, and its solution `δ = W(p̄ −
//!   μ)` a multiple of tables that agree.
//! * Steps are quasi-Newton steps from the inverse of the diagonal `μ + 1/W`, projected on such
//!   tilts: in them, and relative to the diagonal, the curvature of `A` is about that of
//!   independent attributes, neither small nor large.
//! * Weights start where the solution is tame, and grow by a factor once the current problem is
//!   about solved. From one to the next, tilts of cells that vanish grow in proportion, others
//!   stay: where the next solution lies is extrapolated from the last two.
//!
//! * Needs: squared errors of whole tables and nothing else, and an exact oracle: marginals of
//!   others agree only in part.
//! * Guarantees: at every step a lower bound, that of the true weights' dual at the current tilt;
//!   the gap tends to 0.

use super::certificate::{lower_bound, rounding};
use super::engine::{Engine, Held, Solver, Step, Verdict};
use super::point::Point;
use super::quasi_newton::{Iterate, Program, QuasiNewton};
use crate::energy::SquaredTables;
use crate::vector::{Aligned, Entry, Formula, Number, Reduced, dot, pass};

/// At the first weights no tilt is farther than this from 0 at its first fixed-point step.
const FIRST_REACH: f64 = 1000.0;
/// By how much weights grow at a time.
const GROWTH: f64 = 4.0;
/// The current problem is about solved if its gap is this part of its energy.
const SOLVED: f64 = 0.02;
/// Past steps that shape a direction.
const REMEMBERED: usize = 10;

pub(super) struct Tempered {
    program: TableProgram,
    search: QuasiNewton,
    /// Where the weights last grew.
    grown: Option<Grown>,
}

/// The solution at some weights.
struct Grown {
    tilt: Aligned,
    scale: f64,
}

/// The dual at weights that are divided by `scale`: its unknowns are the tilt. Objective and lower
/// bound are those of the true weights.
struct TableProgram {
    tables: SquaredTables,
    scale: f64,
}

impl TableProgram {
    /// The energy at the current weights, without its constant.
    fn energy(&self, marginals: &[f64]) -> f64 {
        let SquaredTables { weights, targets, .. } = &self.tables;
        let inputs = weights.iter().zip(targets.iter().zip(marginals));
        0.5 / self.scale * inputs.map(|(w, (p, m))| w * (m - p) * (m - p)).sum::<f64>()
    }
}

impl Program for TableProgram {
    fn place(&mut self, from: &Iterate, step: &[f64], trial: &mut Iterate) -> f64 {
        let inputs = from.unknowns.iter().zip(step);
        trial.unknowns.iter_mut().zip(inputs).for_each(|(trial, (x, step))| *trial = x + step);
        trial.point.tilt.copy_from_slice(&trial.unknowns);
        dot(step, &from.gradient)
    }

    fn evaluate(&mut self, engine: &mut Engine, _: f64, iterate: &mut Iterate) {
        engine.call_at(&mut iterate.point);
        let (tables, scale) = (&self.tables, self.scale);
        let SquaredTables { weights, inverse_weights, targets, .. } = tables;
        let Iterate { point, gradient, diagonal, .. } = iterate;
        let numbers = [&*point.tilt, &point.marginals, targets, weights, inverse_weights];
        let Reduced { sums: totals, sizes: [residual] } =
            pass(Fit { scale }, [gradient, diagonal], numbers);
        let [linear, linear_size, square, weighed, apart] = totals;
        let log_partition = point.log_partition;
        (iterate.residual, iterate.violation) = (residual, 0.0);
        iterate.value = log_partition - linear + 0.5 * scale * square;
        iterate.gap = 0.5 * weighed / scale;
        let own = tables.constant + linear - 0.5 * square;
        iterate.size = tables.constant + linear_size + 0.5 * square + log_partition.abs();
        iterate.size += iterate.point.score_size;
        iterate.lower_bound = lower_bound(own, iterate.size, log_partition);
        iterate.objective = own - log_partition + 0.5 * apart;
    }

    fn projection(&mut self) -> Option<impl FnMut(&mut [f64])> {
        Some(|tilt: &mut [f64]| self.tables.project_tilt(tilt))
    }
}

impl Tempered {
    pub fn start(engine: &mut Engine) -> Self {
        let tables = SquaredTables::new(engine.energies);
        let width = engine.coordinates();
        let inputs = tables.weights.iter().zip(tables.targets.iter().zip(&engine.base.marginals));
        let reach = inputs.map(|(w, (p, m))| (w * (p - m)).abs()).fold(0.0, f64::max);
        let mut program = TableProgram { tables, scale: (reach / FIRST_REACH).max(1.0) };
        let mut search = QuasiNewton::new(width, width, REMEMBERED, false);
        search.settle(&mut program, engine);
        Self { program, search, grown: None }
    }

    /// Lets weights grow, and moves to where the solution is expected.
    fn grow(&mut self, engine: &mut Engine) {
        let Self { program, search, grown } = self;
        let next = (program.scale / GROWTH).max(1.0);
        let now = Grown { tilt: search.current.unknowns.clone(), scale: program.scale };
        if let Some(before) = grown {
            // Linear in the weights, `1/scale`.
            let [old, now, then] = [before.scale, now.scale, next].map(|scale| 1.0 / scale);
            let part = (then - now) / (now - old);
            for (tilt, before) in search.current.unknowns.iter_mut().zip(before.tilt.iter()) {
                *tilt += part * (*tilt - before);
            }
        }
        program.scale = next;
        search.settle(program, engine);
        if !(search.current.value.is_finite() && search.current.gap.is_finite()) {
            search.current.unknowns.copy_from_slice(&now.tilt);
            search.settle(program, engine);
        }
        *grown = Some(now);
    }

    /// Whether the problem at the current weights is about solved, or as far as rounding allows.
    fn is_settled(&self) -> bool {
        let Iterate { gap, point, .. } = &*self.search.current;
        *gap <= SOLVED * self.program.energy(&point.marginals) || self.search.is_exhausted()
    }
}

/// Gradient and diagonal, and what [`TableProgram`] sums up.
#[derive(Clone, Copy)]
struct Fit {
    scale: f64,
}

impl Formula<2, 5, 5, 1> for Fit {
    #[inline(always)]
    fn at<N: Number>(
        self,
        _: [N; 2],
        [tilt, marginal, target, weight, inverse]: [N; 5],
    ) -> Entry<N, 2, 5, 1> {
        let (error, one) = (marginal - target, tilt.splat(1.0));
        let (own, scaled) = (inverse * tilt, inverse * self.scale);
        let (gradient, apart) = (scaled.times_plus(tilt, error), error + own);
        let linear = tilt * target;
        Entry {
            values: [gradient, one / (marginal + scaled)],
            products: [
                [linear, one],
                [linear.abs(), one],
                [own, tilt],
                [weight * gradient, gradient],
                [weight * apart, apart],
            ],
            sizes: [gradient.abs()],
        }
    }
}

impl Solver for Tempered {
    fn name(&self) -> &'static str {
        "dual"
    }

    fn step(&mut self, engine: &mut Engine) -> Step {
        if self.program.scale > 1.0 && self.is_settled() {
            self.grow(engine);
        }
        if self.search.current.gap > 0.0 {
            self.search.advance(&mut self.program, engine);
        }
        let Iterate { objective, lower_bound, residual, size, gap, .. } = *self.search.current;
        let is_done = self.program.scale == 1.0 && (gap == 0.0 || self.search.is_exhausted());
        let verdict = if is_done { Verdict::Settled } else { Verdict::Continue };
        Step { rounding: rounding(size), ..Step::new(objective, lower_bound, residual, verdict) }
    }

    fn point(&self) -> &Point {
        &self.search.current.point
    }

    fn multipliers(&self, _: Held, into: &mut Vec<f64>) -> bool {
        self.program.tables.multipliers(&self.point().tilt, into);
        true
    }
}
