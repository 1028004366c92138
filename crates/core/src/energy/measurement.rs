use std::array::from_fn;
use std::ops::Range;

use super::rows::pieces;
use super::{Curvature, EnergyFunction, Kind, Penalty, Rows, Run, specialised};
use crate::vector::{Aligned, Piece, Place, sweep, vectorised};

/// The energy `Σ_j w_j φ_j(z_j)` over sparse rows.
#[derive(Clone, Debug, Default)]
pub struct Measurements {
    rows: Rows,
    /// `[rows]`
    weights: Aligned,
    /// `[rows]`
    kinds: Vec<Kind>,
    /// The penalties' parameters. `[2][rows]`
    parameters: [Aligned; 2],
    runs: Vec<Run>,
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
    }

    /// The linear functions.
    pub fn rows(&self) -> &Rows {
        &self.rows
    }

    /// The linear functions, to add one.
    pub fn rows_mut(&mut self) -> &mut Rows {
        &mut self.rows
    }

    /// The weight of each row.
    #[inline]
    pub fn weights(&self) -> &[f64] {
        &self.weights
    }

    /// The penalty of a row.
    #[inline]
    pub fn penalty(&self, row: usize) -> Penalty {
        self.kinds[row].with(self.parameters.each_ref().map(|all| all[row]))
    }

    /// Number of measurements.
    pub fn len(&self) -> usize {
        self.weights.len()
    }

    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.weights.is_empty()
    }

    fn penalties(&self) -> impl Iterator<Item = Penalty> + '_ {
        (0..self.len()).map(|row| self.penalty(row))
    }

    /// Whether any of them is a hard constraint.
    pub fn has_hard(&self) -> bool {
        self.penalties().any(|p| p.is_hard())
    }

    /// `w_j φ_j(z_j)`
    pub fn value(&self, row: usize, marginals: &[f64]) -> f64 {
        self.weights[row] * self.penalty(row).value(self.rows.measure(row, marginals))
    }

    /// Whether values, and what they are sums of, stay within the range of a double.
    pub fn is_finite(&self) -> bool {
        (0..self.len()).all(|row| {
            let (low, high) = self.rows.range(row);
            let (weight, penalty) = (self.weights[row], self.penalty(row));
            let at_ends = [low, high].map(|z| weight * penalty.value(z));
            let counted = matches!(penalty, Penalty::Poisson { .. });
            (low.is_finite() && high.is_finite() || low > high)
                && (counted || at_ends.iter().all(|value| value.is_finite()))
        })
    }

    /// Largest violation of a hard constraint.
    pub fn violation(&self, marginals: &[f64]) -> f64 {
        let of = |row: usize| self.penalty(row).violation(self.rows.measure(row, marginals));
        (0..self.len()).map(of).fold(0.0, f64::max)
    }

    /// `Σ_j w_j φ_j(z_j)`
    pub fn total(&mut self, marginals: &[f64]) -> f64 {
        self.visit(marginals, |_, _, _| {})
    }

    /// The energy; `visit` sees the slopes `w_j φ_j′(z_j)` of each piece.
    #[inline(always)]
    fn visit(&mut self, marginals: &[f64], mut visit: impl FnMut(&Rows, &Run, &[f64])) -> f64 {
        let Self { rows, weights, parameters, runs, scratch, .. } = self;
        let [gathered, measured] = &mut **scratch;
        vectorised(
            #[inline(always)]
            || {
                let mut total = 0.0;
                for run in pieces(runs) {
                    let measured = &mut measured.0[..run.rows.len()];
                    rows.measure_run(&run, marginals, [&mut gathered.0, measured]);
                    let [first, second] = &*parameters;
                    let inputs = [&weights[..], first, second];
                    let inputs = from_fn(|n| &inputs[n][run.rows.clone()]);
                    total += specialised!(run.kind, |kind| penalise(kind, inputs, measured));
                    visit(rows, &run, measured);
                }
                total
            },
        )
    }

    /// The runs, in pieces of at most [`PIECE`](crate::vector::PIECE) rows.
    #[inline(always)]
    pub(crate) fn pieces(&self) -> impl Iterator<Item = Run> + '_ {
        pieces(&self.runs)
    }

    /// The parameters of the penalties of some rows.
    #[inline(always)]
    pub(crate) fn parameters(&self, rows: Range<usize>) -> [&[f64]; 2] {
        self.parameters.each_ref().map(|all| &all[rows.clone()])
    }
}

/// The sum of weighted penalties of one kind, given weights and parameters; measurements give way to
/// slopes.
#[inline(always)]
fn penalise(kind: Kind, inputs: [&[f64]; 3], measured: &mut [f64]) -> f64 {
    let ([value], []) = sweep(
        [measured],
        inputs,
        #[inline(always)]
        |[z], [weight, first, second]| {
            let penalty = kind.with([first, second]);
            Place {
                values: [weight * penalty.derivative(z)],
                terms: [weight * penalty.value(z)],
                sizes: [],
            }
        },
    );
    value
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
        self.penalties().all(|p| p.is_smooth())
    }
}
