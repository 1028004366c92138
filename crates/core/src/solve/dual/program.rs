//! The dual program: what is maximised, and over which unknowns.
//!
//! An unknown is a multiplier `λ` between bounds, or for Poisson penalties `v` with
//! `λ = w·rate − e^v`. Rows are walked in runs of one kind of penalty, in few passes.

use std::ops::Range;

use super::passes::{Pairs, Placement, cut_off};
use crate::energy::{Measurements, Penalty, Rows, Run, clip, specialised};
use crate::solve::engine::{Engine, Point, rounding};
use crate::vector::{Aligned, ONES, Piece, Place, dispatch, greater, sweep, vectorised};

pub(super) struct Program {
    pub measurements: Measurements,
    /// Added to every tilt: what other energies contribute. `[support]`
    pub base_tilt: Aligned,
    /// Weights are divided by this.
    pub scale: f64,
    /// The weights after that division. `[measurements]`
    pub weights: Aligned,
    /// One over them. `[measurements]`
    inverse_weights: Aligned,
    /// Largest coefficient of each row, 0 for constants. `[measurements]`
    pub largest: Aligned,
    /// Block of each support coordinate. `[support]`
    block_of: Vec<usize>,
    /// One over the number of tables in the block of each support coordinate, if any block has
    /// several. `[support]`
    shares: Option<Aligned>,
}

/// Multipliers and all that follows from them.
pub(super) struct Iterate {
    /// `λ_j` or `v_j`. `[measurements]`
    pub unknowns: Aligned,
    /// `λ`. `[measurements]`
    pub multipliers: Aligned,
    /// Gradient of `value` in the unknowns. `[measurements]`
    pub gradient: Aligned,
    /// The inverse of the curvature of `value` in each unknown, as if tables were independent; 0
    /// where a bound holds the unknown against its gradient. `[measurements]`
    pub diagonal: Aligned,
    /// The negative dual objective.
    pub value: f64,
    /// Sum of the sizes of its terms: its rounding follows it.
    pub value_size: f64,
    /// Sum of the Fenchel gaps.
    pub gap: f64,
    /// Projected gradient, `‖·‖∞`.
    pub residual: f64,
    /// Largest violation of a hard constraint.
    pub violation: f64,
    pub point: Point,
    /// Two gathered vectors, measurements and variances of a piece.
    pub scratch: Box<[Piece; 4]>,
}

impl Iterate {
    pub fn new(measurements: usize, coordinates: usize) -> Self {
        Self {
            unknowns: Aligned::filled(measurements, 0.0),
            multipliers: Aligned::filled(measurements, 0.0),
            gradient: Aligned::filled(measurements, 0.0),
            diagonal: Aligned::filled(measurements, 0.0),
            value: f64::NAN,
            value_size: 0.0,
            gap: f64::INFINITY,
            residual: f64::INFINITY,
            violation: f64::INFINITY,
            point: Point::new(coordinates),
            scratch: Box::default(),
        }
    }
}

impl Program {
    pub fn new(
        engine: &Engine,
        measurements: Measurements,
        base_tilt: Vec<f64>,
        scale: f64,
    ) -> Self {
        let support = engine.energies.support();
        let (mut block_of, mut shares) =
            (vec![0; support.len()], Aligned::filled(support.len(), 1.0));
        for (index, block) in support.blocks().iter().enumerate() {
            block_of[block.range()].fill(index);
            shares[block.range()].fill(1.0 / block.tables.len() as f64);
        }
        let largest_of = |row| {
            let sizes = measurements.rows().entries(row).map(|(_, a)| a.abs());
            sizes.fold(0.0, f64::max)
        };
        let mut largest = Aligned::default();
        (0..measurements.len()).for_each(|row| largest.push(largest_of(row)));
        let weights = Aligned::filled(measurements.len(), 0.0);
        let mut program = Self {
            measurements,
            base_tilt: base_tilt.into(),
            scale,
            inverse_weights: weights.clone(),
            weights,
            largest,
            block_of,
            shares: shares.iter().any(|&share| share != 1.0).then_some(shares),
        };
        program.find_weights();
        program
    }

    pub fn rebase(&mut self, base_tilt: &[f64], scale: f64) {
        self.base_tilt.copy_from_slice(base_tilt);
        self.scale = scale;
        self.find_weights();
    }

    fn find_weights(&mut self) {
        for (row, &weight) in self.measurements.weights().iter().enumerate() {
            self.weights[row] = weight / self.scale;
            self.inverse_weights[row] = 1.0 / self.weights[row];
        }
    }

    #[inline]
    pub fn penalty(&self, row: usize) -> Penalty {
        self.measurements.penalty(row)
    }

    #[inline]
    pub fn rows(&self) -> &Rows {
        self.measurements.rows()
    }

    /// The unknown for a multiplier, moved into its range.
    pub fn unknown(&self, row: usize, multiplier: f64) -> f64 {
        let penalty = self.penalty(row);
        let (low, high) = penalty.multipliers(self.weights[row]);
        if let Penalty::Poisson { .. } = penalty {
            // A multiplier at the ceiling has no logarithm: stay a little below.
            return (high - multiplier).max(1e-3 * high).ln();
        }
        clip(multiplier, low, high)
    }

    /// Moves `trial` to `origin + step · direction`, within bounds: unknowns, multipliers and tilt.
    pub fn place(&self, origin: &[f64], step: f64, direction: &[f64], trial: &mut Iterate) {
        dispatch(Placement { program: self, origin, step, direction, trial });
    }

    /// Cuts each component of a direction off where it meets its bound; its slope, and the squares of
    /// the gradient and of itself.
    pub fn keep_inside(&self, from: &Iterate, direction: &mut [f64]) -> [f64; 3] {
        vectorised(
            #[inline(always)]
            || {
                let mut totals = [0.0; 3];
                for run in self.measurements.pieces().filter(|run| !run.is_constant()) {
                    let rows = run.rows.clone();
                    let bounds = self.bounds(rows.clone());
                    let ends = [&from.unknowns[rows.clone()], &from.gradient[rows.clone()]];
                    let direction = &mut direction[rows];
                    let own = specialised!(run.kind, |kind| cut_off(kind, bounds, ends, direction));
                    (0..3).for_each(|n| totals[n] += own[n]);
                }
                totals
            },
        )
    }

    /// Weights and parameters: what bounds follow from.
    #[inline(always)]
    pub fn bounds(&self, rows: Range<usize>) -> [&[f64]; 3] {
        let [first, second] = self.measurements.parameters(rows.clone());
        [&self.weights[rows], first, second]
    }

    /// Calls the oracle and fills in all that follows from an iterate's multipliers. No diagonal
    /// entry leads, by itself, beyond the limit on tilts: where a measurement hardly varies, a Newton
    /// step in it would drown all others.
    pub fn evaluate(&self, engine: &mut Engine, tilt_limit: f64, iterate: &mut Iterate) {
        let point = &mut iterate.point;
        point.log_partition = engine.call(&point.tilt, &mut point.marginals);
        point.call = engine.oracle_calls;
        vectorised(
            #[inline(always)]
            || self.pair(1.0 / tilt_limit, iterate),
        );
        iterate.value += iterate.point.log_partition;
        iterate.value_size += iterate.point.log_partition.abs();
        iterate.point.summarise_tilt();
    }

    /// Sets measurements against multipliers.
    #[inline(always)]
    fn pair(&self, inverse_limit: f64, iterate: &mut Iterate) {
        let (mut totals, mut residual, mut violation) = ([0.0; 4], 0.0, 0.0);
        for run in self.measurements.pieces() {
            let rows = run.rows.clone();
            self.read(&run, &iterate.point.marginals, &mut iterate.scratch);
            let [_, _, measured, variances] = &*iterate.scratch;
            let measured = &measured.0[..rows.len()];
            let variances = &variances.0[..rows.len()];
            let pairs = Pairs {
                weights: &self.weights[rows.clone()],
                inverse_weights: &self.inverse_weights[rows.clone()],
                parameters: self.measurements.parameters(rows.clone()),
                offsets: self.rows().offsets(&run).0,
                coefficients: self.rows().coefficients(&run).unwrap_or(&self.largest[rows.clone()]),
                multipliers: &iterate.multipliers[rows.clone()],
                measured,
                variances,
                inverse_limit,
            };
            let gradient = &mut iterate.gradient[rows.clone()];
            let diagonal = &mut iterate.diagonal[rows];
            let (own, [worst]) =
                specialised!(run.kind, |kind| pairs.fill(kind, gradient, diagonal));
            (0..4).for_each(|n| totals[n] += own[n]);
            residual = greater(residual, worst);
            if run.kind.is_hard() {
                let of = |z: &f64| run.kind.with([0.0; 2]).violation(*z);
                violation = measured.iter().map(of).fold(violation, f64::max);
            }
        }
        [iterate.value, iterate.value_size, iterate.gap, iterate.point.energy] = totals;
        (iterate.residual, iterate.violation) = (residual, violation);
    }

    /// A row's measurement.
    pub fn measure(&self, row: usize, marginals: &[f64]) -> f64 {
        let rows = self.rows();
        let start = (rows.offset(row), rows.offset_size(row));
        let (sum, size) = rows.entries(row).fold(start, |(sum, size), (c, a)| {
            let part = a * marginals[c];
            (sum + part, size + part.abs())
        });
        without_residue(sum, size)
    }

    /// The measurements of a run's rows, and their variances as if tables were independent.
    #[inline(always)]
    fn read(&self, run: &Run, marginals: &[f64], scratch: &mut [Piece; 4]) {
        let rows = self.rows();
        let [first, second, measured, variances] = scratch;
        let measured = &mut measured.0[..run.rows.len()];
        let variances = &mut variances.0[..run.rows.len()];
        let marginals_of = rows.gather(run, marginals, &mut first.0);
        let shares = match &self.shares {
            Some(shares) => rows.gather(run, shares, &mut second.0),
            None => Some(&ONES.0[..run.rows.len()]),
        };
        if let (Some(marginals), Some(shares), Some(coefficients)) =
            (marginals_of, shares, rows.coefficients(run))
        {
            let (offsets, sizes) = rows.offsets(run);
            sweep(
                [measured, variances],
                [marginals, shares, coefficients, offsets, sizes],
                #[inline(always)]
                |_, [marginal, share, a, offset, size]| {
                    let part = a * marginal;
                    let variance = (a * part * (1.0 - marginal * share)).max(0.0);
                    let z = without_residue(offset + part, size.abs() + part.abs());
                    Place { values: [z, variance], terms: [], sizes: [] }
                },
            );
            return;
        }
        for (place, row) in run.rows.clone().enumerate() {
            measured[place] = self.measure(row, marginals);
            variances[place] = self.variance(marginals, row);
        }
    }

    fn variance(&self, marginals: &[f64], row: usize) -> f64 {
        let (mut total, mut block, mut mean, mut square) = (0.0, None, 0.0, 0.0);
        let of_block = |share: f64, mean: f64, square: f64| (square - mean * mean * share).max(0.0);
        let mut share = 1.0;
        for (column, coefficient) in self.rows().entries(row) {
            if Some(self.block_of[column]) != block {
                total += of_block(share, mean, square);
                (block, mean, square) = (Some(self.block_of[column]), 0.0, 0.0);
                share = self.shares.as_ref().map_or(1.0, |shares| shares[column]);
            }
            let part = coefficient * marginals[column];
            mean += part;
            square += coefficient * part;
        }
        total + of_block(share, mean, square)
    }
}

/// A sum whose terms have this size in all; one that cancels to within rounding is taken as zero: a
/// multiplier must not chase a residue that no tilt can change.
#[inline(always)]
fn without_residue(sum: f64, size: f64) -> f64 {
    if sum.abs() <= 0.5 * rounding(size) { 0.0 } else { sum }
}
