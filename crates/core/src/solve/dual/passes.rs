//! What each kind of penalty does to its rows, all rows of a piece in one pass.

use pulp::Simd;

use super::program::{Iterate, Program};
use super::{LEAST_CURVATURE, LOG_STEP_LIMIT};
use crate::energy::{Kind, clip, specialised};
use crate::vector::exponential::exponentials;
use crate::vector::{Place, sweep};

/// Measurements and multipliers of some rows of one kind. `[rows]` each
pub(super) struct Pairs<'a> {
    pub weights: &'a [f64],
    pub inverse_weights: &'a [f64],
    pub parameters: [&'a [f64]; 2],
    pub offsets: &'a [f64],
    /// Of each row the largest, or the only one.
    pub coefficients: &'a [f64],
    pub multipliers: &'a [f64],
    pub measured: &'a [f64],
    pub variances: &'a [f64],
    /// One over the limit on tilts.
    pub inverse_limit: f64,
}

impl Pairs<'_> {
    /// Fills in gradient and diagonal; sums the terms of the negative dual objective, their sizes, gaps
    /// and energies; and finds the greatest residual.
    #[inline(always)]
    pub fn fill(
        &self,
        kind: Kind,
        gradient: &mut [f64],
        diagonal: &mut [f64],
    ) -> ([f64; 4], [f64; 1]) {
        let weights = [self.weights, self.inverse_weights, self.parameters[0], self.parameters[1]];
        let [w, i, first, second] = weights;
        let [offsets, largest, multipliers] = [self.offsets, self.coefficients, self.multipliers];
        let inputs =
            [w, i, first, second, offsets, largest, multipliers, self.measured, self.variances];
        sweep(
            [gradient, diagonal],
            inputs,
            #[inline(always)]
            |_, inputs| {
                let [weight, inverse, first, second, offset, largest, multiplier, z, variance] =
                    inputs;
                let penalty = kind.with([first, second]);
                let (low, high) = penalty.multipliers(weight);
                let pairing = penalty.pairing((weight, inverse), z, multiplier);
                let shift = multiplier * offset;
                let slope = pairing.derivative - z;
                let is_log = kind == Kind::Poisson;
                // In `v = log(slack)` where the unknown is one.
                let slack = high - multiplier;
                let (slope, curvature, reach) = if is_log {
                    (-slope * slack, slack * (z.max(0.0) + slack * variance), slack)
                } else {
                    (slope, variance + pairing.curvature, 1.0)
                };
                let moves = largest != 0.0 && low < high;
                let slope = if moves { slope } else { 0.0 };
                let falls = multiplier <= low && slope > 0.0;
                let is_held = !is_log && (falls || multiplier >= high && slope < 0.0);
                let pull = slope.abs() * reach * largest.abs();
                let curvature = curvature.max(pull * self.inverse_limit).max(LEAST_CURVATURE);
                let inverse_curvature = 1.0 / curvature;
                let back = multiplier - slope;
                let back = if is_log { back } else { clip(back, low, high) };
                Place {
                    values: [slope, if moves && !is_held { inverse_curvature } else { 0.0 }],
                    terms: [
                        pairing.conjugate - shift,
                        pairing.conjugate.abs() + shift.abs(),
                        pairing.gap,
                        pairing.energy,
                    ],
                    sizes: [if moves { (multiplier - back).abs() } else { 0.0 }],
                }
            },
        )
    }
}

/// A step along a direction.
pub(super) struct Placement<'a> {
    pub program: &'a Program,
    pub origin: &'a [f64],
    pub step: f64,
    pub direction: &'a [f64],
    pub trial: &'a mut Iterate,
}

impl pulp::WithSimd for Placement<'_> {
    type Output = ();

    #[inline(always)]
    fn with_simd<S: Simd>(self, simd: S) {
        let Self { program, origin, step, direction, trial } = self;
        let tilt = &mut trial.point.tilt;
        tilt.copy_from_slice(&program.base_tilt);
        let [buffer, ..] = &mut *trial.scratch;
        for run in program.measurements.pieces() {
            let rows = run.rows.clone();
            let unknowns = &mut trial.unknowns[rows.clone()];
            let multipliers = &mut trial.multipliers[rows.clone()];
            if run.is_constant() {
                // No tilt moves a constant: its multiplier is the slope there, its unknown idle.
                unknowns.copy_from_slice(&origin[rows.clone()]);
                for (multiplier, row) in multipliers.iter_mut().zip(rows) {
                    let slope = program.penalty(row).derivative(program.rows().offset(row));
                    *multiplier = program.weights[row] * slope;
                }
                continue;
            }
            let bounds = program.bounds(rows.clone());
            let line = [&origin[rows.clone()], &direction[rows.clone()]];
            let padded = rows.len().next_multiple_of(S::F64_LANES);
            let factors = &mut buffer.0[..rows.len()];
            let targets = [unknowns, &mut *multipliers, factors];
            specialised!(run.kind, |kind| advance(kind, bounds, (step, line), targets));
            if run.kind == Kind::Poisson {
                exponentials(simd, &mut buffer.0[..padded], 0.0);
                let factors = &mut buffer.0[..rows.len()];
                sweep(
                    [multipliers, factors],
                    [bounds[0], bounds[1]],
                    #[inline(always)]
                    |[_, slack], [weight, rate]| {
                        let multiplier = weight * rate - slack;
                        Place { values: [multiplier, -multiplier], terms: [], sizes: [] }
                    },
                );
            }
            program.rows().add_run(&run, &buffer.0[..rows.len()], tilt);
        }
    }
}

/// Unknowns at the end of a step, within bounds; the multipliers and their negatives, which for
/// Poisson rows are yet to be exponentiated.
#[inline(always)]
fn advance(
    kind: Kind,
    bounds: [&[f64]; 3],
    (step, [origin, direction]): (f64, [&[f64]; 2]),
    targets: [&mut [f64]; 3],
) {
    sweep(
        targets,
        [bounds[0], bounds[1], bounds[2], origin, direction],
        #[inline(always)]
        |_, [weight, first, second, origin, direction]| {
            let (low, high) = kind.with([first, second]).multipliers(weight);
            let moved = origin + step * direction;
            let values = if kind == Kind::Poisson {
                [moved, moved, moved]
            } else {
                let multiplier = clip(moved, low, high);
                [multiplier, multiplier, -multiplier]
            };
            Place { values, terms: [], sizes: [] }
        },
    );
}

/// Cuts each component of a direction off where it meets its bound, and those of logarithms at their
/// limit; its slope, and the squares of the gradient and of itself.
#[inline(always)]
pub(super) fn cut_off(
    kind: Kind,
    bounds: [&[f64]; 3],
    [unknowns, gradient]: [&[f64]; 2],
    direction: &mut [f64],
) -> [f64; 3] {
    let (totals, []) = sweep(
        [direction],
        [bounds[0], bounds[1], bounds[2], unknowns, gradient],
        #[inline(always)]
        |[step], [weight, first, second, x, gradient]| {
            let (low, high) = kind.with([first, second]).multipliers(weight);
            let step = if kind == Kind::Poisson {
                clip(step, -LOG_STEP_LIMIT, LOG_STEP_LIMIT)
            } else {
                clip(x + step, low, high) - x
            };
            let terms = [gradient * step, gradient * gradient, step * step];
            Place { values: [step], terms, sizes: [] }
        },
    );
    totals
}
