//! The dual program: what is maximised, and over which unknowns.
//!
//! A row with the multiplier `λ` pulls at the tilt by `−λ` times its coefficients. An unknown is
//! such a pull, between bounds, or for Poisson penalties `v` with `λ = w·rate − e^v`. Rows are
//! walked in runs of one kind of penalty, in few passes.

use std::ops::Range;

use super::End;
use super::evaluation::{Evaluation, without_residue};
use super::placement::{Blend, Placed, Placement};
use super::secant::Secant;
use crate::energy::{Kind, Measurements, Penalty, Rows, Run, clip, specialised};
use crate::solve::engine::{Engine, Point};
use crate::vector::{Aligned, Column, Number, PIECE, Piece, ZEROS, dispatch, greatest};

pub(super) struct Program {
    pub measurements: Measurements,
    /// Added to every tilt: what other energies contribute, if they do. `[support]`
    base_tilt: Option<Aligned>,
    /// Weights are divided by this.
    pub scale: f64,
    /// The weights after that division. `[measurements]`
    pub weights: Column,
    /// One over them. `[measurements]`
    pub inverse_weights: Column,
    /// Largest coefficient of each row, 0 for constants. `[measurements]`
    pub largest: Aligned,
    /// How much a tilt changes, at most, where no multiplier changes by more than 1.
    pub steepest: f64,
    /// Whether some unknown is a logarithm; if none is, unknowns are pulls.
    pub has_logarithms: bool,
    /// Whether the tilt is made of the unknowns, in their order, and of nothing else: it then takes
    /// their place, and spares a pass one vector of the few that it touches.
    pub tilts_are_unknowns: bool,
    /// Block of each support coordinate. `[support]`
    block_of: Vec<usize>,
    /// One over the number of tables in the block of each support coordinate, if any block has
    /// several. `[support]`
    pub shares: Option<Aligned>,
    /// Columns whose tilts are not one row's alone at first.
    gaps: Vec<Range<usize>>,
}

/// Unknowns and all that follows from them.
pub(super) struct Iterate {
    /// `−λ_j` or `v_j`, where the tilt is not made of just these. `[measurements]`
    pub own_unknowns: Option<Aligned>,
    /// `−λ`, where some unknown is a logarithm. `[measurements]`
    pub pulls: Aligned,
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
    /// The slope along the step that led here, at its start.
    pub slope: f64,
    /// What that step did.
    pub secant: Secant,
    pub point: Point,
    /// Two gathered vectors, measurements and variances of a piece, once there is one.
    pub scratch: Option<Box<[Piece; 4]>>,
}

impl Iterate {
    pub fn new(program: &Program, coordinates: usize) -> Self {
        let measurements = program.measurements.len();
        let logarithms = if program.has_logarithms { measurements } else { 0 };
        Self {
            own_unknowns: (!program.tilts_are_unknowns).then(|| Aligned::filled(measurements, 0.0)),
            pulls: Aligned::filled(logarithms, 0.0),
            gradient: Aligned::filled(measurements, 0.0),
            diagonal: Aligned::filled(measurements, 0.0),
            value: f64::NAN,
            value_size: 0.0,
            gap: f64::INFINITY,
            objective: f64::NAN,
            residual: f64::INFINITY,
            violation: f64::INFINITY,
            slope: 0.0,
            secant: Secant::default(),
            point: Point::new(coordinates),
            scratch: None,
        }
    }

    /// What a step from or to here is made of.
    pub fn end(&self) -> End<'_> {
        End { unknowns: self.unknowns(), gradient: &self.gradient, diagonal: &self.diagonal }
    }

    /// `[measurements]`
    #[inline(always)]
    pub fn unknowns(&self) -> &[f64] {
        held(&self.own_unknowns, &self.point)
    }

    /// `[measurements]`
    #[inline(always)]
    pub fn unknowns_mut(&mut self) -> &mut [f64] {
        self.own_unknowns.as_mut().unwrap_or(&mut self.point.tilt)
    }

    /// `−λ`. `[measurements]`
    #[inline(always)]
    pub fn pulls(&self) -> &[f64] {
        if self.pulls.is_empty() { self.unknowns() } else { &self.pulls }
    }

    /// `λ`. `[measurements]`
    pub fn multipliers(&self) -> impl Iterator<Item = f64> + '_ {
        self.pulls().iter().map(|pull| -pull)
    }
}

impl Program {
    pub fn new(
        engine: &Engine,
        measurements: Measurements,
        base_tilt: Option<&[f64]>,
        scale: f64,
    ) -> Self {
        let support = engine.energies.support();
        let mut block_of = vec![0; support.len()];
        let mut shares: Option<Aligned> = None;
        for (index, block) in support.blocks().iter().enumerate() {
            block_of[block.range()].fill(index);
            if block.tables.len() > 1 {
                let shares = shares.get_or_insert_with(|| Aligned::filled(support.len(), 1.0));
                shares[block.range()].fill(1.0 / block.tables.len() as f64);
            }
        }
        let (largest, steepest) = coefficients(&measurements, support.len());
        let has_logarithms = measurements.kinds().any(|kind| kind == Kind::Poisson);
        let mut program = Self {
            gaps: measurements.gaps(support.len()).collect(),
            measurements,
            base_tilt: None,
            scale,
            inverse_weights: Column::default(),
            weights: Column::default(),
            largest,
            steepest,
            has_logarithms,
            tilts_are_unknowns: false,
            block_of,
            shares,
        };
        program.rebase(base_tilt, scale);
        program.tilts_are_unknowns = program.measurements.len() == support.len()
            && program.walk().all(|(run, alike)| {
                alike.is_some() && program.rows().fresh_columns(&run) == Some(run.rows)
            });
        program
    }

    pub fn rebase(&mut self, base_tilt: Option<&[f64]>, scale: f64) {
        assert!(!self.tilts_are_unknowns || base_tilt.is_none(), "a base tilt from the start");
        if let Some(base_tilt) = base_tilt {
            let own = || Aligned::filled(base_tilt.len(), 0.0);
            self.base_tilt.get_or_insert_with(own).copy_from_slice(base_tilt);
        } else {
            self.base_tilt = None;
        }
        self.scale = scale;
        self.weights.refill(self.measurements.weight_column(), |weight| weight / scale);
        self.inverse_weights.refill(&self.weights, |weight| 1.0 / weight);
    }

    /// What is added to the tilts of some columns, a piece at most.
    #[inline(always)]
    pub fn base(&self, columns: Range<usize>) -> &[f64] {
        match &self.base_tilt {
            Some(base_tilt) => &base_tilt[columns],
            None => &ZEROS.0[..columns.len()],
        }
    }

    /// Starts the tilts that are not one row's alone so far.
    #[inline(always)]
    pub fn start_tilt(&self, tilt: &mut [f64]) {
        for gap in &self.gaps {
            match &self.base_tilt {
                Some(base_tilt) => tilt[gap.clone()].copy_from_slice(&base_tilt[gap.clone()]),
                None => tilt[gap.clone()].fill(0.0),
            }
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

    /// The unknowns for multipliers, moved into their range.
    pub fn set_unknowns(&self, unknowns: &mut [f64], multiplier: impl Fn(usize) -> f64) {
        for run in self.measurements.pieces() {
            let [weights, first, second] = self.own_numbers(run.rows.clone());
            let unknowns = unknowns[run.rows.clone()].iter_mut().zip(run.rows.clone());
            let own = weights.iter().zip(first.iter().zip(second));
            specialised!(run.kind, |kind| for ((unknown, row), (w, (p, q))) in unknowns.zip(own) {
                let (low, high) = kind.multipliers(*w, [*p, *q]);
                *unknown = if kind == Kind::Poisson {
                    // A multiplier at the ceiling has no logarithm: stay a little below.
                    (high - multiplier(row)).max(1e-3 * high).ln()
                } else {
                    -clip(multiplier(row), low, high)
                };
            });
        }
    }

    /// Moves `trial` along a blend of directions, within bounds: unknowns, pulls and tilt.
    pub fn place(&self, from: &Iterate, blend: Blend, trial: &mut Iterate) -> Placed {
        let placed = dispatch(Placement { program: self, from, blend, trial });
        trial.slope = placed.slope;
        placed
    }

    /// Weights and parameters: what bounds follow from.
    #[inline(always)]
    pub fn own_numbers(&self, rows: Range<usize>) -> [&[f64]; 3] {
        let [first, second] = self.measurements.parameters(rows.clone());
        [self.weights.piece(rows), first, second]
    }

    /// The runs: as a whole, with the weight, its inverse and the parameters that all their rows
    /// have, where these read marginals as they are, in columns of their own; in pieces otherwise.
    #[inline(always)]
    pub fn walk(&self) -> impl Iterator<Item = (Run, Option<[f64; 4]>)> + '_ {
        let common = self.common().filter(|_| self.shares.is_none() && self.base_tilt.is_none());
        self.measurements.runs().iter().flat_map(move |run| {
            let alike = common.filter(|_| run.reads_as_is());
            let size = if alike.is_some() { run.rows.len() } else { PIECE };
            run.pieces(size).map(move |piece| (piece, alike))
        })
    }

    /// The weight, its inverse and the parameters that all rows have, where unknowns are
    /// pulls.
    fn common(&self) -> Option<[f64; 4]> {
        let [first, second] = self.measurements.common_parameters()?;
        let [weight, inverse] = [self.weights.common()?, self.inverse_weights.common()?];
        (!self.has_logarithms).then_some([weight, inverse, first, second])
    }

    /// Calls the oracle and fills in all that follows from an iterate's unknowns, and from the
    /// step that led there. No diagonal entry leads, by itself, beyond the limit on tilts: where a
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

    /// Its variance, as if tables were independent.
    pub fn variance(&self, marginals: &[f64], row: usize) -> f64 {
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

/// The unknowns, given the two fields of an [`Iterate`] that may hold them.
#[inline(always)]
pub(super) fn held<'a>(own: &'a Option<Aligned>, point: &'a Point) -> &'a [f64] {
    own.as_ref().unwrap_or(&point.tilt)
}

/// Bounds on the pull of a row, given its weight and its parameters.
#[inline(always)]
pub(super) fn bounds<N: Number>(kind: Kind, weight: N, parameters: [N; 2]) -> (N, N) {
    let (low, high) = kind.multipliers(weight, parameters);
    (-high, -low)
}

/// The largest coefficient of each row, and the largest sum of coefficients in a column.
fn coefficients(measurements: &Measurements, width: usize) -> (Aligned, f64) {
    let rows = measurements.rows();
    let (mut largest, mut slopes) = (Aligned::filled(rows.len(), 0.0), vec![0.0; width]);
    for run in measurements.pieces() {
        let own = rows.coefficients(&run);
        if let (Some(columns), Some(coefficients)) = (rows.fresh_columns(&run), own) {
            let sizes = largest[run.rows.clone()].iter_mut().zip(coefficients);
            sizes.zip(&mut slopes[columns]).for_each(|((size, a), slope)| {
                (*size, *slope) = (a.abs(), a.abs());
            });
            continue;
        }
        for row in run.rows {
            for (column, coefficient) in rows.entries(row) {
                largest[row] = largest[row].max(coefficient.abs());
                slopes[column] += coefficient.abs();
            }
        }
    }
    let steepest = greatest(&slopes);
    (largest, steepest)
}
