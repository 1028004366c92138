//! What each row does at the answer, as its multiplier shows.
//!
//! With the variance `κ` of what a row measures, `q = z + κλ` is where `z` would be without the
//! row's pull, to first order. The optimum for this one row from there tells what it does: a hinge
//! of weight `w`, for instance, holds `z` at its kink for `1 − κw < q < 1`. At an exact answer this
//! means that the multiplier is strictly inside its bounds. At finite precision it weighs both
//! distances, and neither needs a tolerance.

use super::Place;
use crate::energy::{Measurements, Penalty, Rows};
use crate::support::Support;

/// What a row does at the answer.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Activity {
    /// Its slope is constant: it pulls with the same force wherever `z` goes.
    Flat,
    /// Its pull changes with `z`; this is the curvature of its conjugate, `D⁻¹ = 1/(w φ″(z))`.
    Curved(f64),
    /// It holds `z` where it is: a hard constraint that binds, or a kink.
    Pinned,
}

/// A row at the answer.
#[derive(Clone, Copy, Debug)]
pub(super) struct Row {
    pub activity: Activity,
    /// `φ′(z)`
    pub slope: f64,
    /// `λ`
    pub multiplier: f64,
    /// `κ`
    pub variance: f64,
    /// Whether it is about to do something else.
    pub is_tied: bool,
}

/// Rounding of what is measured.
const ROUNDING: f64 = 1e-12;
/// A variance below this part of the mean square is rounding of the two: the row is constant.
const CONSTANT: f64 = 1e-14;

/// What all rows do.
pub(super) fn classify(measurements: &Measurements, support: &Support, place: Place) -> Vec<Row> {
    let variances = Variances::new(support);
    let rows = measurements.rows();
    let row = |index: usize| {
        let (z, variance) =
            (rows.measure(index, place.marginals), variances.of(rows, index, place));
        let (weight, multiplier) = (measurements.weights()[index], place.multipliers[index]);
        // The optimum leaves what it measures this uncertain.
        let blur = (2.0 * variance * place.gap).sqrt() + ROUNDING * (1.0 + z.abs());
        let measured = Measured { z, variance, weight, multiplier, blur };
        measured.row(measurements.penalty(index))
    };
    (0..measurements.len()).map(row).collect()
}

struct Measured {
    z: f64,
    variance: f64,
    weight: f64,
    multiplier: f64,
    blur: f64,
}

impl Measured {
    fn row(&self, penalty: Penalty) -> Row {
        let Self { z, variance, weight, multiplier, .. } = *self;
        let (q, reach) = (z + variance * multiplier, variance * weight);
        let moves = variance > 0.0;
        let curved = Activity::Curved(penalty.conjugate_curvature(weight, multiplier));
        let inside = |low: f64, high: f64, then: Activity, [below, above]: [f64; 2]| {
            let is_tied = moves && [low, high].iter().any(|at| (q - at).abs() <= self.blur);
            let (activity, slope) = if q <= low {
                (Activity::Flat, below)
            } else if q >= high {
                (Activity::Flat, above)
            } else {
                (then, multiplier / weight)
            };
            let multiplier = if activity == Activity::Flat { slope * weight } else { multiplier };
            Row { activity, slope, multiplier, variance, is_tied }
        };
        let always = |activity: Activity, slope: f64| Row {
            activity,
            slope,
            multiplier,
            variance,
            is_tied: false,
        };
        match penalty {
            Penalty::Linear => always(Activity::Flat, 1.0),
            Penalty::Poisson { count: 0.0, rate } => always(Activity::Flat, rate),
            Penalty::Squared | Penalty::Poisson { .. } => always(curved, multiplier / weight),
            Penalty::Hinge => inside(1.0 - reach, 1.0, Activity::Pinned, [-1.0, 0.0]),
            Penalty::SmoothedHinge => inside(-reach, 1.0, curved, [-1.0, 0.0]),
            Penalty::Absolute => inside(-reach, reach, Activity::Pinned, [-1.0, 1.0]),
            Penalty::Huber { delta } => {
                let border = delta * (1.0 + reach);
                inside(-border, border, curved, [-delta, delta])
            }
            Penalty::AtMost => inside(0.0, f64::INFINITY, Activity::Pinned, [0.0, 0.0]),
            Penalty::Equal => always(Activity::Pinned, 0.0),
        }
    }
}

/// Variances of rows, as if tables were independent.
struct Variances {
    /// Block of each coordinate, and the number of tables in it. `[support]`
    blocks: Vec<(usize, f64)>,
}

impl Variances {
    fn new(support: &Support) -> Self {
        let blocks = support.blocks().iter().enumerate();
        let of = blocks.flat_map(|(index, block)| {
            std::iter::repeat_n((index, block.tables.len() as f64), block.len)
        });
        Self { blocks: of.collect() }
    }

    fn of(&self, rows: &Rows, row: usize, place: Place) -> f64 {
        // A mean and a mean of squares for each block that the row reads, one after another.
        let (mut total, mut block, mut tables) = (0.0, None, 1.0);
        let (mut mean, mut square) = (0.0, 0.0);
        let of_block = |mean: f64, square: f64, tables: f64| -> f64 {
            let variance = square - mean * mean / tables;
            if variance > CONSTANT * square { variance } else { 0.0 }
        };
        for (column, coefficient) in rows.entries(row) {
            let (own, count) = self.blocks[column];
            if block != Some(own) {
                total += of_block(mean, square, tables);
                (block, tables, mean, square) = (Some(own), count, 0.0, 0.0);
            }
            let part = coefficient * place.marginals[column];
            mean += part;
            square += coefficient * part;
        }
        total + of_block(mean, square, tables)
    }
}
