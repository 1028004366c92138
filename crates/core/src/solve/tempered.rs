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

use super::dual::quasi_newton::{End, Memory};
use super::dual::{FAILURES, FIRST_TILT_LIMIT, TRIALS, is_descent, shorter, value_noise};
use super::engine::{Engine, Point, Solver, Step, Verdict, lower_bound, rounding};
use crate::energy::SquaredTables;
use crate::vector::{Aligned, Entry, Formula, Number, Reduced, dot, greatest, pass};

/// At the first weights no tilt is farther than this from 0 at its first fixed-point step.
const FIRST_REACH: f64 = 1000.0;
/// By how much weights grow at a time.
const GROWTH: f64 = 4.0;
/// The current problem is about solved if its gap is this part of its energy.
const SOLVED: f64 = 0.02;
/// Past steps that shape a direction.
const REMEMBERED: usize = 10;

pub(super) struct Tempered {
    tables: SquaredTables,
    /// Weights are divided by this.
    scale: f64,
    current: Iterate,
    trial: Iterate,
    direction: Aligned,
    memory: Memory,
    /// The tilt at which the weights last grew, and the scale before.
    grown: Option<(Aligned, f64)>,
    tilt_limit: f64,
    failures: usize,
}

/// A tilt, and what follows from it.
struct Iterate {
    point: Point,
    /// Of `value`. `[support]`
    gradient: Aligned,
    /// The inverse of `μ + 1/W`. `[support]`
    diagonal: Aligned,
    /// The negative dual objective at the current weights.
    value: f64,
    /// `F` less the dual objective, at the current weights.
    gap: f64,
    /// The energy at the current weights, but for its constant.
    energy: f64,
    /// `‖gradient‖∞`
    residual: f64,
    /// At the true weights.
    objective: f64,
    lower_bound: f64,
    size: f64,
}

impl Iterate {
    fn new(coordinates: usize) -> Self {
        Self {
            point: Point::new(coordinates),
            gradient: Aligned::filled(coordinates, 0.0),
            diagonal: Aligned::filled(coordinates, 0.0),
            value: f64::NAN,
            gap: f64::INFINITY,
            energy: f64::INFINITY,
            residual: f64::INFINITY,
            objective: f64::NAN,
            lower_bound: f64::NEG_INFINITY,
            size: 0.0,
        }
    }

    fn end(&self) -> End<'_> {
        End { unknowns: &self.point.tilt, gradient: &self.gradient, diagonal: &self.diagonal }
    }

    /// Calls the oracle at the point's tilt and fills in all that follows.
    fn evaluate(&mut self, engine: &mut Engine, tables: &SquaredTables, scale: f64) {
        engine.call_at(&mut self.point);
        let Self { point, gradient, diagonal, .. } = self;
        let SquaredTables { weights, inverse_weights, targets, .. } = tables;
        let numbers = [&*point.tilt, &point.marginals, targets, weights, inverse_weights];
        let Reduced { sums: totals, sizes: [residual] } =
            pass(Fit { scale }, [gradient, diagonal], numbers);
        let [linear, linear_size, square, weighed, energy, apart] = totals;
        let log_partition = point.log_partition;
        self.residual = residual;
        self.value = log_partition - linear + 0.5 * scale * square;
        (self.gap, self.energy) = (0.5 * weighed / scale, 0.5 * energy / scale);
        let own = tables.constant + linear - 0.5 * square;
        self.size = tables.constant + linear_size + 0.5 * square + log_partition.abs();
        self.lower_bound = lower_bound(own, self.size, log_partition);
        self.objective = own - log_partition + 0.5 * apart;
    }

    fn is_finite(&self) -> bool {
        self.value.is_finite() && self.gap.is_finite()
    }
}

impl Tempered {
    pub fn start(engine: &mut Engine) -> Self {
        let tables = SquaredTables::new(engine.energies);
        let width = engine.coordinates();
        let inputs = tables.weights.iter().zip(tables.targets.iter().zip(&engine.base.marginals));
        let reach = inputs.map(|(w, (p, m))| (w * (p - m)).abs()).fold(0.0, f64::max);
        let scale = (reach / FIRST_REACH).max(1.0);
        let mut current = Iterate::new(width);
        current.evaluate(engine, &tables, scale);
        Self {
            tables,
            scale,
            current,
            trial: Iterate::new(width),
            direction: Aligned::filled(width, 0.0),
            memory: Memory::new(width, REMEMBERED),
            grown: None,
            tilt_limit: FIRST_TILT_LIMIT,
            failures: 0,
        }
    }

    /// Lets weights grow, and moves to where the solution is expected.
    fn grow(&mut self, engine: &mut Engine) {
        let next = (self.scale / GROWTH).max(1.0);
        let Self { current, trial, grown, .. } = self;
        trial.point.tilt.copy_from_slice(&current.point.tilt);
        if let Some((before, scale)) = grown {
            // Linear in the weights, `1/scale`.
            let [old, now, then] = [*scale, self.scale, next].map(|scale| 1.0 / scale);
            let part = (then - now) / (now - old);
            for (tilt, before) in trial.point.tilt.iter_mut().zip(before.iter()) {
                *tilt += part * (*tilt - before);
            }
        }
        trial.evaluate(engine, &self.tables, next);
        if !trial.is_finite() {
            trial.point.tilt.copy_from_slice(&current.point.tilt);
            trial.evaluate(engine, &self.tables, next);
        }
        *grown = Some((current.point.tilt.clone(), self.scale));
        self.scale = next;
        std::mem::swap(&mut self.current, &mut self.trial);
        self.memory.forget();
        self.failures = 0;
    }

    /// One quasi-Newton step: a direction, then a search along it.
    fn advance(&mut self, engine: &mut Engine) {
        let Self { tables, current, trial, direction, memory, .. } = self;
        let mut project = |tilt: &mut [f64]| tables.project_tilt(tilt);
        memory.direction(&current.gradient, &current.diagonal, direction, &mut project);
        let mut slope = dot(direction, &current.gradient);
        if !slope.is_finite() || slope >= 0.0 {
            memory.forget();
            memory.direction(&current.gradient, &current.diagonal, direction, &mut project);
            slope = dot(direction, &current.gradient);
        }
        let reach = greatest(direction);
        let longest = (self.tilt_limit / reach).min(1.0);
        let mut part = longest;
        for _ in 0..TRIALS {
            let places = current.point.tilt.iter().zip(direction.iter());
            let tilt = trial.point.tilt.iter_mut().zip(places);
            tilt.for_each(|(trial, (tilt, step))| *trial = tilt + part * step);
            trial.evaluate(engine, tables, self.scale);
            let (before, after) = (part * slope, part * dot(direction, &trial.gradient));
            let noise = value_noise(current.value, current.point.log_partition);
            if is_descent([current.value, trial.value], [before, after], noise) {
                if part == longest && part < 1.0 && after <= 0.0 {
                    self.tilt_limit *= 2.0;
                }
                memory.keep(current.end(), trial.end());
                std::mem::swap(current, trial);
                self.failures = 0;
                return;
            }
            part *= shorter(before, after);
        }
        if memory.is_empty() {
            self.failures += 1;
        }
        memory.forget();
    }

    fn is_exhausted(&self) -> bool {
        self.failures >= FAILURES
    }
}

/// Gradient and diagonal, and what [`Iterate::evaluate`] sums up.
#[derive(Clone, Copy)]
struct Fit {
    scale: f64,
}

impl Formula<2, 5, 6, 1> for Fit {
    #[inline(always)]
    fn at<N: Number>(
        self,
        _: [N; 2],
        [tilt, marginal, target, weight, inverse]: [N; 5],
    ) -> Entry<N, 2, 6, 1> {
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
                [weight * error, error],
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
        let solved = self.current.gap <= SOLVED * self.current.energy;
        if self.scale > 1.0 && (solved || self.is_exhausted()) {
            self.grow(engine);
        }
        if self.current.gap > 0.0 {
            self.advance(engine);
        }
        let Iterate { objective, lower_bound, residual, size, gap, .. } = self.current;
        let done = self.scale == 1.0 && (gap == 0.0 || self.is_exhausted());
        let verdict = if done { Verdict::Settled } else { Verdict::Continue };
        Step { rounding: rounding(size), ..Step::new(objective, lower_bound, residual, verdict) }
    }

    fn point(&self) -> &Point {
        &self.current.point
    }
}
