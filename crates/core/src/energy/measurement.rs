use std::array::from_fn;
use std::ops::Range;
use std::sync::Arc;

use super::passes::{Evaluation, Valued};
use super::rows::pieces;
use super::{Curvature, EnergyFunction, Kind, Penalty, Rows, Run};
use crate::vector::{Column, Piece, dispatch};

/// With this many cells of tables, overlaps make the dual slow.
const MANY: usize = 500;

/// The energy `Σ_j w_j φ_j(z_j)`: penalties on what [`Rows`] measure.
#[derive(Clone, Debug, Default)]
pub struct Measurements {
    /// Copies share them.
    rows: Arc<Rows>,
    /// `[measurements]`
    weights: Column,
    /// `[measurements]`
    kinds: Vec<Kind>,
    /// The penalties' parameters. `[2][measurements]`
    parameters: [Column; 2],
    runs: Vec<Run>,
    /// Whether a value, or what it is a sum of, may leave the range of a double.
    overflows: bool,
    /// Gathered marginals, measurements, and sizes of what these sum up, of a piece.
    scratch: Box<[Piece; 3]>,
}

impl Measurements {
    /// Adds the penalty on the row that was last pushed to `rows`.
    pub fn push(&mut self, weight: f64, penalty: Penalty) {
        self.push_penalty(weight, penalty);
        debug_assert_eq!(self.weights.len(), self.rows.len());
        self.rows.extend(&mut self.runs, penalty.kind());
        self.overflows |= !self.stays_finite(self.len() - 1);
    }

    /// Adds the penalty on each row of the table that was last pushed to `rows`.
    pub(crate) fn push_table(&mut self, weight: f64, penalty: Penalty) {
        let new = self.len()..self.rows.len();
        for _ in new.clone() {
            self.push_penalty(weight, penalty);
        }
        self.rows.extend_table(&mut self.runs, new.len(), penalty.kind());
        self.overflows |= !new.into_iter().all(|measurement| self.stays_finite(measurement));
    }

    fn push_penalty(&mut self, weight: f64, penalty: Penalty) {
        self.weights.push(weight);
        self.kinds.push(penalty.kind());
        for (all, own) in self.parameters.iter_mut().zip(penalty.parameters()) {
            all.push(own);
        }
    }

    /// The linear functions.
    pub fn rows(&self) -> &Rows {
        &self.rows
    }

    /// The linear functions, to add one.
    pub fn rows_mut(&mut self) -> &mut Rows {
        Arc::make_mut(&mut self.rows)
    }

    /// The weight of each measurement.
    #[inline]
    pub fn weights(&self) -> &[f64] {
        &self.weights
    }

    /// The same, as a column.
    pub(crate) fn weight_column(&self) -> &Column {
        &self.weights
    }

    /// The penalty of a measurement.
    #[inline]
    pub fn penalty(&self, measurement: usize) -> Penalty {
        self.kinds[measurement]
            .with([self.parameters[0][measurement], self.parameters[1][measurement]])
    }

    /// Number of measurements.
    pub fn len(&self) -> usize {
        self.weights.len()
    }

    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.weights.is_empty()
    }

    /// Which kinds of penalties there are.
    pub(crate) fn kinds(&self) -> impl Iterator<Item = Kind> {
        self.runs.iter().map(|run| run.kind)
    }

    /// Whether any of them is a hard constraint.
    pub fn has_hard(&self) -> bool {
        self.kinds().any(Kind::is_hard)
    }

    /// Whether all of them are of tables, smooth and finite everywhere, and so many that a
    /// multiplier each is a burden.
    pub(crate) fn are_many_smooth_tables(&self) -> bool {
        let gentle = |kind: Kind| kind.is_smooth() && kind != Kind::Poisson;
        self.len() >= MANY && self.rows.are_of_tables() && self.kinds().all(gentle)
    }

    /// Whether the slopes of all penalties are bounded: those of Poisson penalties are not.
    pub fn has_bounded_slopes(&self) -> bool {
        let [_, counted] = &self.parameters;
        !self.of_kind(Kind::Poisson).any(|measurement| counted[measurement] > 0.0)
    }

    /// The measurements with this kind of penalty.
    pub(crate) fn of_kind(&self, kind: Kind) -> impl Iterator<Item = usize> {
        let runs = self.runs.iter().filter(move |run| run.kind == kind);
        runs.flat_map(|run| run.rows.clone())
    }

    /// `w_j φ_j(z_j)`
    pub fn value(&self, measurement: usize, marginals: &[f64]) -> f64 {
        self.weights[measurement]
            * self.penalty(measurement).value(self.rows.measure(measurement, marginals))
    }

    /// Whether values, and what they are sums of, stay within the range of a double.
    pub fn is_finite(&self) -> bool {
        !self.overflows
    }

    fn stays_finite(&self, measurement: usize) -> bool {
        let (low, high) = self.rows.range(measurement);
        let (weight, penalty) = (self.weights[measurement], self.penalty(measurement));
        let at_ends = [low, high].map(|z| weight * penalty.value(z));
        let counted = matches!(penalty, Penalty::Poisson { .. });
        (low.is_finite() && high.is_finite() || low > high)
            && (counted || at_ends.iter().all(|value| value.is_finite()))
    }

    /// Largest violation of a hard constraint.
    pub fn violation(&self, marginals: &[f64]) -> f64 {
        let of = |measurement: usize| {
            self.penalty(measurement).violation(self.rows.measure(measurement, marginals))
        };
        (0..self.len()).map(of).fold(0.0, f64::max)
    }

    /// The energy, with what its rounding follows; the gradient is added.
    pub fn evaluate_sized(&mut self, marginals: &[f64], gradient: &mut [f64]) -> Valued {
        let Self { rows, weights, parameters: [first, second], runs, scratch, .. } = self;
        let columns = [&*weights, first, second];
        dispatch(Evaluation { rows, columns, runs, scratch, marginals, gradient })
    }

    /// The runs, in pieces of at most [`PIECE`](crate::vector::PIECE) rows.
    #[inline(always)]
    pub(crate) fn pieces(&self) -> impl Iterator<Item = Run> {
        pieces(&self.runs)
    }

    /// The parameters of the penalties of some measurements.
    #[inline(always)]
    pub(crate) fn parameters(&self, rows: Range<usize>) -> [&[f64]; 2] {
        from_fn(|n| self.parameters[n].piece(rows.clone()))
    }
}

impl EnergyFunction for Measurements {
    fn evaluate(&mut self, marginals: &[f64], gradient: &mut [f64]) -> f64 {
        self.evaluate_sized(marginals, gradient).value
    }

    fn curvature(&self) -> Curvature {
        let mut infimum = 0.0;
        for measurement in 0..self.len() {
            let (weight, penalty, (low, high)) = (
                self.weights[measurement],
                self.penalty(measurement),
                self.rows.range(measurement),
            );
            if penalty == Penalty::Linear {
                infimum += (weight * low).min(weight * high);
            } else if weight < 0.0 {
                return Curvature::Unknown;
            } else {
                infimum += weight * penalty.infimum(low, high);
            }
        }
        Curvature::Convex { infimum }
    }

    fn is_smooth(&self) -> bool {
        self.kinds().all(Kind::is_smooth)
    }
}

#[cfg(test)]
mod tests {
    use super::super::penalty::tests::SOFT;
    use super::*;

    #[test]
    fn the_energy_is_the_sum_of_weighted_penalties() {
        for penalty in SOFT.into_iter().chain([Penalty::AtMost]) {
            let mut all = Measurements::default();
            for row in 0..90 {
                let offset =
                    if penalty.kind() == Kind::Poisson { 0.1 } else { row as f64 / 30.0 - 1.5 };
                all.rows_mut().push([(row, 0.5 + row as f64 / 45.0)], &[offset], (-2.0, 4.0));
                all.push(0.5 + row as f64 / 60.0, penalty);
            }
            let marginals: Vec<f64> = (0..90).map(|c| (c as f64 * 0.377).fract()).collect();
            let mut gradient = vec![0.0; 90];
            let energy = all.evaluate(&marginals, &mut gradient);
            let expected: f64 = (0..90).map(|row| all.value(row, &marginals)).sum();
            assert!((energy - expected).abs() <= 1e-12 * expected.abs(), "{penalty:?}");
            for (row, found) in gradient.iter().enumerate() {
                let (_, a) = all.rows().entries(row).next().unwrap();
                let slope = penalty.derivative(all.rows().measure(row, &marginals));
                let expected = all.weights()[row] * slope * a;
                assert!((found - expected).abs() <= 1e-13 * expected.abs(), "{penalty:?}, {row}");
            }
        }
    }
}
