//! The dual program: what is maximised, and over which unknowns.
//!
//! A measurement with the multiplier `λ` pulls at the tilt by `−λ` times its coefficients. An
//! unknown is such a pull, between bounds, or for Poisson penalties `v` with `λ = w·rate − e^v`.
//! Measurements are walked in runs of one kind of penalty, a piece at a time.

use std::ops::Range;

use super::evaluation::Evaluation;
use super::placement::Placement;
use crate::energy::{Kind, Measurements, Penalty, Rows, Run, Sum, clip, specialised};
use crate::solve::engine::Engine;
use crate::solve::quasi_newton::{Iterate, Program};
use crate::vector::{Aligned, Column, Number, ONES, Piece, dispatch};

pub(super) struct DualProgram {
    pub measurements: Measurements,
    /// Added to every tilt: what other energies contribute, if they do. `[support]`
    pub base_tilt: Option<Aligned>,
    /// Weights are divided by this.
    pub scale: f64,
    /// The weights after that division. `[measurements]`
    pub weights: Column,
    /// One over them. `[measurements]`
    pub inverse_weights: Column,
    /// Largest coefficient of each measurement, 0 for constants. `[measurements]`
    pub largest: Aligned,
    /// Block of each support coordinate. `[support]`
    block_of: Vec<usize>,
    /// One over the number of tables in the block of each support coordinate, if any block has
    /// several. `[support]`
    shares: Option<Aligned>,
    /// Taken out while a pass uses it.
    scratch: Option<Box<Scratch>>,
}

/// Room for what passes over a piece of rows share.
#[derive(Default)]
pub(super) struct Scratch {
    gathered: [Piece; 2],
    pub measured: Piece,
    pub residues: Piece,
    pub variances: Piece,
    pub pulls: Piece,
}

impl DualProgram {
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
        let mut program = Self {
            largest: largest_coefficients(&measurements),
            measurements,
            base_tilt: None,
            scale,
            weights: Column::default(),
            inverse_weights: Column::default(),
            block_of,
            shares,
            scratch: None,
        };
        program.rebase(base_tilt, scale);
        program
    }

    /// Moves to base potentials `θ + base_tilt`, and weights divided by `scale`.
    pub fn rebase(&mut self, base_tilt: Option<&[f64]>, scale: f64) {
        if let Some(base_tilt) = base_tilt {
            let own = || Aligned::filled(base_tilt.len(), 0.0);
            self.base_tilt.get_or_insert_with(own).copy_from_slice(base_tilt);
        }
        self.scale = scale;
        self.weights.refill(self.measurements.weight_column(), |weight| weight / scale);
        self.inverse_weights.refill(&self.weights, |weight| 1.0 / weight);
    }

    #[inline]
    pub fn penalty(&self, measurement: usize) -> Penalty {
        self.measurements.penalty(measurement)
    }

    #[inline]
    pub fn rows(&self) -> &Rows {
        self.measurements.rows()
    }

    /// The unknowns of multipliers that are 0, or as near as their range allows. No tilt moves a
    /// constant: its multiplier is the slope there, once and for all.
    pub fn start(&self, unknowns: &mut [f64]) {
        for run in self.measurements.pieces() {
            let [weights, first, second] = self.own_numbers(run.rows.clone());
            let unknowns = unknowns[run.rows.clone()].iter_mut().zip(run.rows.clone());
            let own = weights.iter().zip(first.iter().zip(second));
            specialised!(run.kind, |kind| for ((unknown, measurement), (w, (p, q))) in
                unknowns.zip(own)
            {
                let is_constant = self.largest[measurement] == 0.0;
                let slope = || w * kind.derivative([*p, *q], self.rows().offset(measurement));
                let multiplier = if is_constant { slope() } else { 0.0 };
                let (low, high) = kind.multipliers(*w, [*p, *q]);
                *unknown = if kind == Kind::Poisson {
                    // What has no logarithm is a count of what cannot be: it is found out at once.
                    if multiplier < high { (high - multiplier).ln() } else { high.ln() }
                } else {
                    -clip(multiplier, low, high)
                };
            });
        }
    }

    /// The unknowns of these multipliers, as near as their range allows. Those of constants stay, and
    /// those of Poisson multipliers that have no logarithm.
    pub fn start_at(&self, multipliers: &[f64], unknowns: &mut [f64]) {
        for run in self.measurements.pieces() {
            let [weights, first, second] = self.own_numbers(run.rows.clone());
            let own = weights.iter().zip(first.iter().zip(second));
            specialised!(run.kind, |kind| for (measurement, (w, (p, q))) in
                run.rows.clone().zip(own)
            {
                let multiplier = multipliers[measurement];
                let (low, high) = kind.multipliers(*w, [*p, *q]);
                let has_place = kind != Kind::Poisson || multiplier < high;
                if self.largest[measurement] > 0.0 && has_place {
                    unknowns[measurement] = match kind {
                        Kind::Poisson => (high - multiplier).ln(),
                        _ => -clip(multiplier, low, high),
                    };
                }
            });
        }
    }

    /// Multiplies all multipliers and what they range over by a factor.
    pub fn stretch(&self, unknowns: &mut [f64], factor: f64) {
        for run in self.measurements.pieces() {
            let unknowns = unknowns[run.rows].iter_mut();
            match run.kind {
                Kind::Poisson => unknowns.for_each(|unknown| *unknown += factor.ln()),
                _ => unknowns.for_each(|unknown| *unknown *= factor),
            }
        }
    }

    /// Moves unknowns on, along the line of multipliers from earlier ones, by a part of the way. A
    /// Poisson multiplier that would leave its range takes the line of its logarithm.
    pub fn extrapolate(&self, earlier: &[f64], unknowns: &mut [f64], part: f64) {
        for run in self.measurements.pieces() {
            let both = unknowns[run.rows.clone()].iter_mut().zip(&earlier[run.rows]);
            both.for_each(|(unknown, earlier)| {
                let moved = *unknown + part * (*unknown - earlier);
                let slack = 1.0 + part * (1.0 - (earlier - *unknown).exp());
                let is_inside = run.kind == Kind::Poisson && slack > 0.0;
                *unknown = if is_inside { *unknown + slack.ln() } else { moved };
            });
        }
    }

    /// `λ`, given the unknowns. `[measurements]`
    pub fn multipliers(&self, unknowns: &[f64]) -> impl Iterator<Item = f64> {
        unknowns.iter().enumerate().map(|(measurement, unknown)| match self.penalty(measurement) {
            Penalty::Poisson { rate, .. } => self.weights[measurement] * rate - unknown.exp(),
            _ => -unknown,
        })
    }

    /// `λ` of one measurement, if its unknown belongs to the weights as stated.
    pub fn stated_multiplier(&self, measurement: usize, unknown: f64) -> f64 {
        match self.penalty(measurement) {
            Penalty::Poisson { rate, .. } => {
                self.measurements.weights()[measurement] * rate - unknown.exp()
            }
            _ => -unknown,
        }
    }

    /// Weights and parameters: what bounds follow from.
    #[inline(always)]
    pub fn own_numbers(&self, rows: Range<usize>) -> [&[f64]; 3] {
        let [first, second] = self.measurements.parameters(rows.clone());
        [self.weights.piece(rows), first, second]
    }

    /// Measurements and variances of a piece, as if tables were independent.
    #[inline(always)]
    pub fn read(&self, run: &Run, marginals: &[f64], scratch: &mut Scratch) {
        let Scratch { gathered: [first, second], measured, residues, variances, .. } = scratch;
        let rows = self.rows();
        let Some(coefficients) = rows.coefficients(run) else {
            for (place, measurement) in run.rows.clone().enumerate() {
                let Sum { value, size } = rows.sum(measurement, marginals);
                (measured.0[place], residues.0[place]) = (value, residue(size));
                variances.0[place] = self.variance(marginals, measurement);
            }
            return;
        };
        let marginals = rows.gather(run, marginals, &mut first.0).expect("one entry a row");
        let shares = match &self.shares {
            Some(shares) => rows.gather(run, shares, &mut second.0).expect("one entry a row"),
            None => &ONES.0[..run.rows.len()],
        };
        let (offsets, sizes) = rows.offsets(run);
        let offsets = offsets.iter().zip(sizes);
        let inputs = marginals.iter().zip(shares).zip(coefficients.iter().zip(offsets));
        let found = measured.0.iter_mut().zip(&mut residues.0).zip(&mut variances.0);
        for (((z, rest), variance), ((m, share), (a, (b, size)))) in found.zip(inputs) {
            let part = a * m;
            (*z, *rest) = (b + part, residue(size.abs() + part.abs()));
            *variance = a * part - part * part * share;
        }
    }

    /// What is measured, `z`; zero where it cancels to within rounding.
    pub fn measure(&self, measurement: usize, marginals: &[f64]) -> f64 {
        let Sum { value, size } = self.rows().sum(measurement, marginals);
        if value.abs() <= residue(size) { 0.0 } else { value }
    }

    /// Its variance, as if tables were independent.
    fn variance(&self, marginals: &[f64], measurement: usize) -> f64 {
        let (mut total, mut block, mut mean, mut square) = (0.0, None, 0.0, 0.0);
        let of_block = |share: f64, mean: f64, square: f64| (square - mean * mean * share).max(0.0);
        let mut share = 1.0;
        for (column, coefficient) in self.rows().entries(measurement) {
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

impl Program for DualProgram {
    fn place(&mut self, from: &Iterate, step: &[f64], trial: &mut Iterate) -> f64 {
        let mut scratch = self.scratch.take().unwrap_or_default();
        let slope = dispatch(Placement { program: self, from, step, trial, scratch: &mut scratch });
        self.scratch = Some(scratch);
        slope
    }

    fn evaluate(&mut self, engine: &mut Engine, tilt_limit: f64, iterate: &mut Iterate) {
        engine.call_at(&mut iterate.point);
        let mut scratch = self.scratch.take().unwrap_or_default();
        dispatch(Evaluation { program: self, tilt_limit, iterate, scratch: &mut scratch });
        self.scratch = Some(scratch);
    }
}

fn largest_coefficients(measurements: &Measurements) -> Aligned {
    let rows = measurements.rows();
    let mut largest = Aligned::filled(rows.len(), 0.0);
    for run in measurements.pieces() {
        let all = largest[run.rows.clone()].iter_mut();
        if let Some(coefficients) = rows.coefficients(&run) {
            all.zip(coefficients).for_each(|(largest, a)| *largest = a.abs());
        } else {
            let of =
                |measurement| rows.entries(measurement).map(|(_, a)| a.abs()).fold(0.0, f64::max);
            all.zip(run.rows).for_each(|(largest, measurement)| *largest = of(measurement));
        }
    }
    largest
}

/// A sum of terms of this size that comes to no more has cancelled to within rounding.
#[inline(always)]
fn residue(size: f64) -> f64 {
    // Half of what rounding may do.
    4.0 * f64::EPSILON * size
}

/// Bounds on the pull of a measurement, given its weight and its parameters.
#[inline(always)]
pub(super) fn bounds<N: Number>(kind: Kind, weight: N, parameters: [N; 2]) -> (N, N) {
    let (low, high) = kind.multipliers(weight, parameters);
    (-high, -low)
}

/// The pull that an unknown is, given the lower bound.
#[inline(always)]
pub(super) fn pull<N: Number>(kind: Kind, unknown: N, low: N) -> N {
    if kind == Kind::Poisson { low + unknown.exponential() } else { unknown }
}
