use std::array::from_fn;
use std::ops::Range;
use std::sync::Arc;

use super::passes::{Sight, Visiting, Writing};
use super::rows::{gaps, pieces};
use super::{Curvature, EnergyFunction, Kind, Penalty, Rows, Run};
use crate::vector::{Column, Piece, dispatch};

/// So many cells of tables have overlaps that the dual is slow on.
const MANY: usize = 500;

/// The energy `Σ_j w_j φ_j(z_j)` over sparse rows.
#[derive(Clone, Debug, Default)]
pub struct Measurements {
    /// Copies share them.
    rows: Arc<Rows>,
    /// `[rows]`
    weights: Column,
    /// `[rows]`
    kinds: Vec<Kind>,
    /// The penalties' parameters. `[2][rows]`
    parameters: [Column; 2],
    runs: Vec<Run>,
    /// Whether a value, or what it is a sum of, may leave the range of a double.
    overflows: bool,
    /// Gathered marginals, and measurements, of a piece.
    scratch: Box<[Piece; 2]>,
}

impl Measurements {
    /// Adds the penalty on the row that was last pushed to `rows`.
    pub fn push(&mut self, weight: f64, penalty: Penalty) {
        self.weights.push(weight);
        self.kinds.push(penalty.kind());
        for (all, own) in self.parameters.iter_mut().zip(penalty.parameters()) {
            all.push(own);
        }
        debug_assert_eq!(self.weights.len(), self.rows.len());
        self.rows.extend(&mut self.runs, penalty.kind());
        self.overflows |= !self.stays_finite(self.len() - 1);
    }

    /// Adds `weight·φ(coefficient·μ + offset)` for each of the cells from `column` on, one per
    /// offset.
    ///
    /// # Panics
    /// If the coefficient is not positive.
    pub(crate) fn push_table(
        &mut self,
        (column, coefficient): (usize, f64),
        offsets: &[f64],
        (weight, penalty): (f64, Penalty),
    ) {
        if offsets.is_empty() {
            return;
        }
        self.rows_mut().push_table(column, coefficient, offsets);
        for _ in offsets {
            self.weights.push(weight);
            self.kinds.push(penalty.kind());
            for (all, own) in self.parameters.iter_mut().zip(penalty.parameters()) {
                all.push(own);
            }
        }
        self.rows.extend_table(&mut self.runs, (offsets.len(), penalty.kind()));
        let new = self.len() - offsets.len()..self.len();
        self.overflows |= !new.into_iter().all(|row| self.stays_finite(row));
    }

    /// The linear functions.
    pub fn rows(&self) -> &Rows {
        &self.rows
    }

    /// The linear functions, to add one.
    pub fn rows_mut(&mut self) -> &mut Rows {
        Arc::make_mut(&mut self.rows)
    }

    /// The weight of each row.
    #[inline]
    pub fn weights(&self) -> &[f64] {
        &self.weights
    }

    /// The same, as a column.
    pub(crate) fn weight_column(&self) -> &Column {
        &self.weights
    }

    /// The penalty of a row.
    #[inline]
    pub fn penalty(&self, row: usize) -> Penalty {
        self.kinds[row].with([self.parameters[0][row], self.parameters[1][row]])
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
        let counts = self.runs.iter().filter(|run| run.kind == Kind::Poisson);
        let [_, counted] = &self.parameters;
        !counts.flat_map(|run| run.rows.clone()).any(|row| counted[row] > 0.0)
    }

    /// `w_j φ_j(z_j)`
    pub fn value(&self, row: usize, marginals: &[f64]) -> f64 {
        self.weights[row] * self.penalty(row).value(self.rows.measure(row, marginals))
    }

    /// Whether values, and what they are sums of, stay within the range of a double.
    pub fn is_finite(&self) -> bool {
        !self.overflows
    }

    fn stays_finite(&self, row: usize) -> bool {
        let (low, high) = self.rows.range(row);
        let (weight, penalty) = (self.weights[row], self.penalty(row));
        let at_ends = [low, high].map(|z| weight * penalty.value(z));
        let counted = matches!(penalty, Penalty::Poisson { .. });
        (low.is_finite() && high.is_finite() || low > high)
            && (counted || at_ends.iter().all(|value| value.is_finite()))
    }

    /// Largest violation of a hard constraint.
    pub fn violation(&self, marginals: &[f64]) -> f64 {
        let of = |row: usize| self.penalty(row).violation(self.rows.measure(row, marginals));
        (0..self.len()).map(of).fold(0.0, f64::max)
    }

    /// Whether each column is read by one row at most, in the order of columns.
    pub(crate) fn is_straight(&self) -> bool {
        self.runs.iter().all(|run| self.rows.fresh_columns(run).is_some())
    }

    /// The energy; `visit` sees the slopes `w_j φ_j′(z_j)` of each piece.
    fn visit(&mut self, marginals: &[f64], visit: impl FnMut(&Rows, &Run, &[f64])) -> f64 {
        let Self { rows, weights, parameters: [first, second], runs, scratch, .. } = self;
        let columns = [&*weights, first, second];
        dispatch(Visiting { rows, columns, runs, scratch, marginals, visit })
    }

    /// Writes the gradient, and shows each piece of it to `sight` once it is there. For
    /// measurements that are straight.
    pub(crate) fn write(
        &self,
        marginals: &[f64],
        gradient: &mut [f64],
        sight: &mut impl Sight,
    ) -> f64 {
        dispatch(Writing { measurements: self, marginals, gradient, sight })
    }

    /// The columns of a piece of straight measurements, and their marginals, coefficients, offsets,
    /// weights and parameters.
    #[inline(always)]
    pub(super) fn numbers<'a>(
        &'a self,
        run: &Run,
        marginals: &'a [f64],
    ) -> (Range<usize>, [&'a [f64]; 6]) {
        let columns = self.rows.fresh_columns(run).expect("straight measurements");
        let a = self.rows.coefficients(run).expect("one entry a row");
        let [first, second] = &self.parameters;
        let columns_of = [&self.weights, first, second];
        let [w, p, q] = from_fn(|n| columns_of[n].piece(run.rows.clone()));
        (columns.clone(), [&marginals[columns], a, self.rows.offsets(run).0, w, p, q])
    }

    /// The runs, in pieces of at most [`PIECE`](crate::vector::PIECE) rows.
    #[inline(always)]
    pub(crate) fn pieces(&self) -> impl Iterator<Item = Run> {
        pieces(&self.runs)
    }

    /// Successive rows that are evaluated together.
    #[inline(always)]
    pub(crate) fn runs(&self) -> &[Run] {
        &self.runs
    }

    /// The columns below `width` that no run has for itself at first.
    #[inline(always)]
    pub(crate) fn gaps(&self, width: usize) -> impl Iterator<Item = Range<usize>> {
        gaps(&self.rows, &self.runs, width)
    }

    /// The parameters that all penalties have.
    #[inline(always)]
    pub(crate) fn common_parameters(&self) -> Option<[f64; 2]> {
        let [first, second] = &self.parameters;
        Some([first.common()?, second.common()?])
    }

    /// The parameters of the penalties of some rows.
    #[inline(always)]
    pub(crate) fn parameters(&self, rows: Range<usize>) -> [&[f64]; 2] {
        from_fn(|n| self.parameters[n].piece(rows.clone()))
    }
}

impl EnergyFunction for Measurements {
    fn evaluate(&mut self, marginals: &[f64], gradient: &mut [f64]) -> f64 {
        self.visit(
            marginals,
            #[inline(always)]
            |rows, run, slopes| rows.add_run(run, slopes, gradient),
        )
    }

    fn curvature(&self) -> Curvature {
        let mut infimum = 0.0;
        for row in 0..self.len() {
            let (weight, penalty, (low, high)) =
                (self.weights[row], self.penalty(row), self.rows.range(row));
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
    use pulp::Simd;

    use super::super::penalty::tests::SOFT;
    use super::*;

    const COLUMNS: usize = 700;

    /// A row for each column, but for some in between; kinds change now and then.
    fn straight() -> Measurements {
        let penalties = [
            Penalty::Squared,
            Penalty::SmoothedHinge,
            Penalty::Huber { delta: 0.2 },
            Penalty::Poisson { rate: 2.0, count: 1.5 },
        ];
        let mut all = Measurements::default();
        for column in (0..COLUMNS).filter(|column| !(40..60).contains(column) && *column < 690) {
            let coefficient = 0.5 + (column % 7) as f64;
            all.rows_mut().push([(column, coefficient)], &[0.1, 0.01 * column as f64], (0.0, 20.0));
            all.push(1.0 + (column % 3) as f64, penalties[column / 30 % 4]);
        }
        all
    }

    struct Seen(Vec<f64>);

    impl Sight for Seen {
        fn see<S: Simd>(&mut self, _: S, range: Range<usize>, gradient: &[f64]) {
            self.0[range].copy_from_slice(gradient);
        }
    }

    #[test]
    fn one_pass_over_straight_measurements_comes_to_what_two_do() {
        let mut all = straight();
        assert!(all.is_straight());
        let marginals: Vec<f64> = (0..COLUMNS).map(|c| (c as f64 * 0.377).fract()).collect();
        let (mut expected, mut found) = (vec![0.0; COLUMNS], vec![f64::NAN; COLUMNS]);
        let value = all.evaluate(&marginals, &mut expected);
        let mut seen = Seen(vec![f64::NAN; COLUMNS]);
        let energy = all.write(&marginals, &mut found, &mut seen);
        assert!((energy - value).abs() < 1e-12 * value.abs(), "{energy} for {value}");
        assert!(found.iter().zip(&expected).all(|(f, e)| (f - e).abs() <= 1e-13 * e.abs()));
        assert_eq!(seen.0, found);
    }

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

    #[test]
    fn columns_that_several_rows_read_are_not_straight() {
        let mut all = straight();
        all.rows_mut().push([(3, 1.0)], &[0.0], (0.0, 1.0));
        all.push(1.0, Penalty::Squared);
        assert!(!all.is_straight());
    }
}
