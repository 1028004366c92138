//! The dual program: what is maximised, and over which unknowns.
//!
//! An unknown is a multiplier `λ` between bounds, or for Poisson penalties `v` with
//! `λ = w·rate − e^v`. Rows are walked in runs of one kind of penalty, in few passes.

use std::array::from_fn;
use std::ops::Range;

use pulp::Simd;

use super::End;
use super::passes::{Blend, Measured, PairTotals, Pairs, Placed, Placement, without_residue};
use super::secant::Secant;
use crate::energy::{Kind, Measurements, Penalty, Rows, Run, clip, specialised};
use crate::solve::engine::{Engine, Point};
use crate::vector::{Aligned, Column, ONES, Piece, Reduced, ZEROS, dispatch};

pub(super) struct Program {
    pub measurements: Measurements,
    /// Added to every tilt: what other energies contribute. `[support]`
    base_tilt: Aligned,
    /// Whether any of it is not 0.
    has_base: bool,
    /// Weights are divided by this.
    pub scale: f64,
    /// The weights after that division. `[measurements]`
    pub weights: Column,
    /// One over them. `[measurements]`
    inverse_weights: Column,
    /// Largest coefficient of each row, 0 for constants. `[measurements]`
    pub largest: Aligned,
    /// How much a tilt changes, at most, where no multiplier changes by more than 1.
    pub steepest: f64,
    /// Whether some unknown is a logarithm; if none is, unknowns are multipliers.
    pub has_logarithms: bool,
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
    /// `λ`, where some unknown is a logarithm. `[measurements]`
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
    /// `F` there, if no other energy tilts the base.
    pub objective: f64,
    /// Projected gradient, `‖·‖∞`.
    pub residual: f64,
    /// Largest violation of a hard constraint.
    pub violation: f64,
    /// What the step that led here did.
    pub secant: Secant,
    pub point: Point,
    /// Two gathered vectors, measurements and variances of a piece.
    pub scratch: Box<[Piece; 4]>,
}

impl Iterate {
    pub fn new(program: &Program, coordinates: usize) -> Self {
        let measurements = program.measurements.len();
        let logarithms = if program.has_logarithms { measurements } else { 0 };
        Self {
            unknowns: Aligned::filled(measurements, 0.0),
            multipliers: Aligned::filled(logarithms, 0.0),
            gradient: Aligned::filled(measurements, 0.0),
            diagonal: Aligned::filled(measurements, 0.0),
            value: f64::NAN,
            value_size: 0.0,
            gap: f64::INFINITY,
            objective: f64::NAN,
            residual: f64::INFINITY,
            violation: f64::INFINITY,
            secant: Secant::default(),
            point: Point::new(coordinates),
            scratch: Box::default(),
        }
    }

    /// What a step from or to here is made of.
    pub fn end(&self) -> End<'_> {
        End { unknowns: &self.unknowns, gradient: &self.gradient, diagonal: &self.diagonal }
    }

    /// `λ`. `[measurements]`
    #[inline(always)]
    pub fn multipliers(&self) -> &[f64] {
        if self.multipliers.is_empty() { &self.unknowns } else { &self.multipliers }
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
        let mut slopes = vec![0.0; support.len()];
        let rows = measurements.rows();
        for (column, coefficient) in (0..measurements.len()).flat_map(|row| rows.entries(row)) {
            slopes[column] += coefficient.abs();
        }
        let mut penalties = (0..measurements.len()).map(|row| measurements.penalty(row));
        let has_logarithms = penalties.any(|p| matches!(p, Penalty::Poisson { .. }));
        let mut program = Self {
            measurements,
            base_tilt: Aligned::filled(support.len(), 0.0),
            has_base: false,
            scale,
            inverse_weights: Column::default(),
            weights: Column::default(),
            largest,
            steepest: slopes.into_iter().fold(0.0, f64::max),
            has_logarithms,
            block_of,
            shares: shares.iter().any(|&share| share != 1.0).then_some(shares),
        };
        program.rebase(&base_tilt, scale);
        program
    }

    pub fn rebase(&mut self, base_tilt: &[f64], scale: f64) {
        self.base_tilt.copy_from_slice(base_tilt);
        self.has_base = base_tilt.iter().any(|&t| t != 0.0);
        self.scale = scale;
        self.weights.refill(self.measurements.weights().iter().map(|weight| weight / scale));
        self.inverse_weights.refill(self.weights.iter().map(|weight| 1.0 / weight));
    }

    /// What is added to the tilts of some columns, a piece at most.
    #[inline(always)]
    pub fn base(&self, columns: Range<usize>) -> &[f64] {
        if self.has_base { &self.base_tilt[columns] } else { &ZEROS.0[..columns.len()] }
    }

    /// Starts the tilts that are not one row's alone so far.
    #[inline(always)]
    pub fn start_tilt(&self, tilt: &mut [f64]) {
        for gap in self.measurements.gaps(tilt.len()) {
            tilt[gap.clone()].copy_from_slice(&self.base_tilt[gap]);
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

    /// Moves `trial` along a blend of directions, within bounds: unknowns, multipliers and tilt.
    pub fn place(&self, from: &Iterate, blend: Blend, trial: &mut Iterate) -> Placed {
        dispatch(Placement { program: self, from, blend, trial })
    }

    /// Weights and parameters: what bounds follow from.
    #[inline(always)]
    pub fn bounds(&self, rows: Range<usize>) -> [&[f64]; 3] {
        let [first, second] = self.measurements.parameters(rows.clone());
        [self.weights.piece(rows), first, second]
    }

    /// Calls the oracle and fills in all that follows from an iterate's multipliers, and from the step
    /// that led there. No diagonal entry leads, by itself, beyond the limit on tilts: where a
    /// measurement hardly varies, a Newton step in it would drown all others.
    pub fn evaluate(
        &self,
        engine: &mut Engine,
        from: &Iterate,
        tilt_limit: f64,
        iterate: &mut Iterate,
    ) {
        engine.call_at(&mut iterate.point);
        let inverse_limit = 1.0 / tilt_limit;
        dispatch(Evaluation { program: self, inverse_limit, from, iterate });
    }

    /// Sets measurements against multipliers.
    #[inline(always)]
    fn pair<S: Simd>(&self, simd: S, inverse_limit: f64, from: &Iterate, iterate: &mut Iterate) {
        let (mut totals, mut secant) = (PairTotals::new(), Reduced::ZERO);
        let mut violation = 0.0;
        let Iterate { unknowns, multipliers, gradient, diagonal, point, scratch, .. } = iterate;
        let multipliers = if self.has_logarithms { &*multipliers } else { &*unknowns };
        for run in self.measurements.pieces() {
            let rows = run.rows.clone();
            let pairs = Pairs {
                weights: self.weights.piece(rows.clone()),
                inverse_weights: self.inverse_weights.piece(rows.clone()),
                parameters: self.measurements.parameters(rows.clone()),
                offsets: self.rows().offsets(&run).0,
                multipliers: &multipliers[rows.clone()],
                measured: self.read(&run, &point.marginals, scratch),
                inverse_limit,
            };
            let targets = [&mut gradient[rows.clone()], &mut diagonal[rows.clone()]];
            specialised!(run.kind, |kind| pairs.fill((&mut totals, kind), targets));
            if matches!(run.kind, Kind::AtMost | Kind::Equal) {
                // Their gradient is `−z`, and 0 for constants, which were looked at before.
                let of = |g: &f64| run.kind.with([0.0; 2]).violation(-g);
                violation = gradient[rows.clone()].iter().map(of).fold(violation, f64::max);
            }
            let ends = [&*unknowns, &from.unknowns, &*gradient, &from.gradient, &*diagonal];
            let ends = from_fn(|n| &ends[n][rows.clone()]);
            secant.add::<Secant, S, 5>(simd, ends);
        }
        let ([value, size, gap, excess], [residual]) = totals.finish();
        let log_partition = point.log_partition;
        (iterate.value, iterate.value_size) = (value + log_partition, size + log_partition.abs());
        let slack = point.slack;
        (iterate.gap, iterate.objective) = (gap + slack, gap + slack - excess - iterate.value);
        (iterate.residual, iterate.violation) = (residual, violation);
        iterate.secant = Secant::new(secant);
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

    /// The measurements of a run's rows, and what their variances, as if tables were independent, follow
    /// from.
    #[inline(always)]
    fn read<'a>(
        &'a self,
        run: &Run,
        marginals: &'a [f64],
        scratch: &'a mut [Piece; 4],
    ) -> Measured<'a> {
        let (rows, places) = (self.rows(), run.rows.clone());
        let [first, second, measured, variances] = scratch;
        let shares = match &self.shares {
            Some(shares) => rows.gather(run, shares, &mut second.0),
            None => Some(&ONES.0[..places.len()]),
        };
        if let (Some(shares), Some(coefficients)) = (shares, rows.coefficients(run)) {
            let marginals = rows.gather(run, marginals, &mut first.0).expect("one entry a row");
            return Measured::Single([marginals, shares, coefficients, rows.offsets(run).1]);
        }
        for (place, row) in places.clone().enumerate() {
            measured.0[place] = self.measure(row, marginals);
            variances.0[place] = self.variance(marginals, row);
        }
        let length = places.len();
        Measured::Any([&measured.0[..length], &variances.0[..length], &self.largest[places]])
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

struct Evaluation<'a> {
    program: &'a Program,
    inverse_limit: f64,
    from: &'a Iterate,
    iterate: &'a mut Iterate,
}

impl pulp::WithSimd for Evaluation<'_> {
    type Output = ();

    #[inline(always)]
    fn with_simd<S: Simd>(self, simd: S) {
        self.program.pair(simd, self.inverse_limit, self.from, self.iterate);
    }
}
