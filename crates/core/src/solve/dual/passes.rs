//! What each kind of penalty does to its rows, all rows of a piece in one pass.

use std::array::from_fn;

use pulp::Simd;

use super::program::{Iterate, Program};
use super::{LEAST_CURVATURE, LOG_STEP_LIMIT};
use crate::energy::{Kind, clip, specialised};
use crate::vector::exponential::exponentials;
use crate::vector::{FEW_LANES, LANES, ONES, Place, Totals, ZEROS, greater};

/// How rows of a piece are measured. `[rows]` each
#[derive(Clone, Copy)]
pub(super) enum Measured<'a> {
    /// Rows of one entry: marginals, shares in their blocks, coefficients, sizes of offsets.
    Single([&'a [f64]; 4]),
    /// Any rows: measurements, variances, largest coefficients.
    Any([&'a [f64]; 3]),
}

/// Measurements and multipliers of some rows of one kind. `[rows]` each
pub(super) struct Pairs<'a> {
    pub weights: &'a [f64],
    pub inverse_weights: &'a [f64],
    pub parameters: [&'a [f64]; 2],
    pub offsets: &'a [f64],
    pub multipliers: &'a [f64],
    pub measured: Measured<'a>,
    /// One over the limit on tilts.
    pub inverse_limit: f64,
}

/// Sums of the terms of the negative dual objective, of their sizes, of gaps, and by how much gaps of
/// hard rows are above `−λz`. Greatest residual.
pub(super) type PairTotals = Totals<4, 1, LANES>;

impl Pairs<'_> {
    /// Fills in gradient and diagonal.
    #[inline(always)]
    pub fn fill(&self, (totals, kind): (&mut PairTotals, Kind), targets: [&mut [f64]; 2]) {
        match self.measured {
            Measured::Single(inputs) => self.fill_from(
                (totals, kind),
                inputs,
                targets,
                #[inline(always)]
                |offset, [marginal, share, a, size]| {
                    let part = a * marginal;
                    let variance = greater(a * part * (1.0 - marginal * share), 0.0);
                    let z = without_residue(offset + part, size.abs() + part.abs());
                    (z, variance, a, true)
                },
            ),
            Measured::Any([measured, variances, largest]) => self.fill_from(
                (totals, kind),
                [measured, variances, largest, largest],
                targets,
                #[inline(always)]
                |_, [z, variance, largest, _]| (z, variance, largest, largest != 0.0),
            ),
        }
    }

    /// `read` gives the measurement, its variance, the largest coefficient, and whether that is not 0.
    #[inline(always)]
    fn fill_from(
        &self,
        (totals, kind): (&mut PairTotals, Kind),
        [a, b, c, d]: [&[f64]; 4],
        targets: [&mut [f64]; 2],
        read: impl Fn(f64, [f64; 4]) -> (f64, f64, f64, bool),
    ) {
        let [first, second] = self.parameters;
        let [weights, inverses] = [self.weights, self.inverse_weights];
        let inputs = [a, b, c, d, weights, inverses, first, second, self.offsets, self.multipliers];
        // Loops are compiled for each kind: what is constant for one costs it nothing.
        let (is_log, is_hard) = (kind == Kind::Poisson, matches!(kind, Kind::AtMost | Kind::Equal));
        let is_free = matches!(kind, Kind::Squared | Kind::Equal | Kind::Poisson);
        totals.sweep(
            targets,
            (inputs, []),
            #[inline(always)]
            |_, [a, b, c, d, weight, inverse, first, second, offset, multiplier], []| {
                let (z, variance, largest, is_touched) = read(offset, [a, b, c, d]);
                let penalty = kind.with([first, second]);
                let (low, high) = penalty.multipliers(weight);
                let pairing = penalty.pairing((weight, inverse), z, multiplier);
                let shift = multiplier * offset;
                let slope = pairing.derivative - z;
                // In `v = log(slack)` where the unknown is one.
                let slack = high - multiplier;
                let (slope, curvature, reach) = if is_log {
                    (-slope * slack, slack * (greater(z, 0.0) + slack * variance), slack)
                } else {
                    (slope, variance + pairing.curvature, 1.0)
                };
                let moves = is_touched && low < high;
                let slope = if moves { slope } else { 0.0 };
                let falls = multiplier <= low && slope > 0.0;
                let is_held = !is_free && (falls || multiplier >= high && slope < 0.0);
                let pull = (slope * reach * largest).abs();
                let curvature =
                    greater(greater(curvature, pull * self.inverse_limit), LEAST_CURVATURE);
                let inverse_curvature = 1.0 / curvature;
                let back = multiplier - clip(multiplier - slope, low, high);
                let residual = if is_free { slope } else { back };
                let diagonal = if moves && !is_held { inverse_curvature } else { 0.0 };
                Place {
                    values: [slope, diagonal],
                    terms: [
                        pairing.conjugate - shift,
                        pairing.conjugate.abs() + shift.abs(),
                        pairing.gap,
                        // Adding −0 changes nothing, and the compiler knows.
                        if is_hard { pairing.gap + multiplier * z } else { -0.0 },
                    ],
                    sizes: [if moves { residual.abs() } else { 0.0 }],
                }
            },
        );
    }
}

/// A sum whose terms have this size in all; one that cancels to within rounding is taken as zero: a
/// multiplier must not chase a residue that no tilt can change.
#[inline(always)]
pub(super) fn without_residue(sum: f64, size: f64) -> f64 {
    // Half of what rounding may do.
    if sum.abs() <= 4.0 * f64::EPSILON * size { 0.0 } else { sum }
}

/// What a direction is made of: `diagonal·(gradient·g + older·g′) + apart·(x′ − origin·x)`, where `x` and
/// `g` are unknowns and gradient at the start, `x′` and `g′` those that the trial still holds.
#[derive(Clone, Copy, Debug)]
pub(super) struct Blend {
    pub gradient: f64,
    pub older: f64,
    pub apart: f64,
    pub origin: f64,
}

impl Blend {
    /// Each component against its own gradient.
    pub const STEEPEST: Self = Self { gradient: -1.0, older: 0.0, apart: 0.0, origin: 1.0 };
    /// The trial's unknowns are the direction.
    pub const GIVEN: Self = Self { gradient: 0.0, older: 0.0, apart: 1.0, origin: 0.0 };

    /// To where the trial is, but only a part of the way.
    pub fn shorter(part: f64) -> Self {
        Self { gradient: 0.0, older: 0.0, apart: part, origin: 1.0 }
    }
}

/// What a direction came to once it was cut off at the bounds.
#[derive(Clone, Copy, Debug)]
pub(super) struct Placed {
    /// `⟨gradient, direction⟩`
    pub slope: f64,
    /// The same of the sizes of its terms.
    pub slope_size: f64,
    /// The most by which a row alone changes a tilt.
    pub reach: f64,
}

/// A step along a blend of directions.
pub(super) struct Placement<'a> {
    pub program: &'a Program,
    pub from: &'a Iterate,
    pub blend: Blend,
    pub trial: &'a mut Iterate,
}

impl pulp::WithSimd for Placement<'_> {
    type Output = Placed;

    #[inline(always)]
    fn with_simd<S: Simd>(self, simd: S) -> Placed {
        let Self { program, from, blend, trial } = self;
        let tilt = &mut trial.point.tilt;
        program.start_tilt(tilt);
        let [buffer, ..] = &mut *trial.scratch;
        // A gradient that does not count may be anything.
        let older = if blend.older == 0.0 { &from.gradient } else { &trial.gradient };
        let mut totals = Totals::new();
        for run in program.measurements.pieces() {
            let rows = run.rows.clone();
            let unknowns = &mut trial.unknowns[rows.clone()];
            if run.is_constant() {
                // No tilt moves a constant: its multiplier is the slope there, its unknown idle.
                unknowns.copy_from_slice(&from.unknowns[rows.clone()]);
                let multipliers = if program.has_logarithms {
                    &mut trial.multipliers[rows.clone()]
                } else {
                    unknowns
                };
                for (multiplier, row) in multipliers.iter_mut().zip(rows) {
                    let slope = program.penalty(row).derivative(program.rows().offset(row));
                    *multiplier = program.weights[row] * slope;
                }
                continue;
            }
            let columns = program.rows().fresh_columns(&run);
            let logs = run.kind == Kind::Poisson;
            // Straight to the tilt where that is one row's alone so far.
            let (base, coefficients, target) = match columns.clone().filter(|_| !logs) {
                Some(columns) => {
                    let coefficients = program.rows().coefficients(&run).expect("one entry a row");
                    (program.base(columns.clone()), coefficients, &mut tilt[columns])
                }
                None => {
                    let length = rows.len();
                    (&ZEROS.0[..length], &ONES.0[..length], &mut buffer.0[..length])
                }
            };
            let own = [&from.unknowns[..], &from.gradient, older, &from.diagonal];
            let [x, g, older, d] = from_fn(|n| &own[n][rows.clone()]);
            let [w, first, second] = program.bounds(rows.clone());
            let inputs = [x, g, older, d, w, first, second, base, coefficients];
            let targets = [unknowns, target];
            specialised!(run.kind, |kind| advance(&mut totals, (kind, blend), inputs, targets));
            if program.has_logarithms {
                let padded = rows.len().next_multiple_of(S::F64_LANES);
                if logs {
                    exponentials(simd, &mut buffer.0[..padded], 0.0);
                }
                let multipliers =
                    [&mut trial.multipliers[rows.clone()], &mut buffer.0[..rows.len()]];
                let inputs =
                    [&trial.unknowns[rows.clone()], &from.multipliers[rows.clone()], w, first];
                totals.sweep(
                    multipliers,
                    (inputs, []),
                    #[inline(always)]
                    |[_, slack], [unknown, old, weight, rate], []| {
                        let multiplier = if logs { weight * rate - slack } else { unknown };
                        let size = if logs { (multiplier - old).abs() } else { 0.0 };
                        let values = [multiplier, -multiplier];
                        Place { values, terms: [-0.0; 2], sizes: [size] }
                    },
                );
            }
            if let Some(columns) = columns.clone().filter(|_| logs) {
                tilt[columns.clone()].copy_from_slice(program.base(columns));
            }
            if logs || columns.is_none() {
                program.rows().add_run(&run, &buffer.0[..rows.len()], tilt);
            }
        }
        let ([slope, slope_size], [reach]) = totals.finish();
        Placed { slope, slope_size, reach: program.steepest * reach }
    }
}

/// Unknowns at the end of a step, within bounds, and what their multipliers make of tilts; for Poisson
/// rows the unknowns again, yet to be exponentiated.
#[inline(always)]
fn advance(
    totals: &mut Totals<2, 1, FEW_LANES>,
    (kind, blend): (Kind, Blend),
    inputs: [&[f64]; 9],
    targets: [&mut [f64]; 2],
) {
    totals.sweep(
        targets,
        (inputs, []),
        #[inline(always)]
        |[held, _], [x, g, older, d, weight, first, second, base, coefficient], []| {
            let (low, high) = kind.with([first, second]).multipliers(weight);
            let apart = blend.apart * (held - blend.origin * x);
            let step = d * (blend.gradient * g + blend.older * older) + apart;
            let step = if d > 0.0 { step } else { 0.0 };
            let logs = kind == Kind::Poisson;
            let moved = if logs {
                x + clip(step, -LOG_STEP_LIMIT, LOG_STEP_LIMIT)
            } else {
                clip(x + step, low, high)
            };
            let step = moved - x;
            Place {
                values: [moved, if logs { moved } else { base - moved * coefficient }],
                terms: [g * step, (g * step).abs()],
                sizes: [if logs { 0.0 } else { step.abs() }],
            }
        },
    );
}
