//! A pass over measurements: the energy, with its gradient.

use std::array::from_fn;

use pulp::Simd;

use super::rows::pieces;
use super::{OfKind, Rows, Run, specialised};
use crate::vector::{Column, Entry, Piece, Reduced, Reduction};

/// The energy; its gradient is added.
pub(super) struct Evaluation<'a> {
    pub rows: &'a Rows,
    /// Weights and parameters.
    pub columns: [&'a Column; 3],
    pub runs: &'a [Run],
    /// Gathered marginals, and measurements, of a piece.
    pub scratch: &'a mut [Piece; 2],
    pub marginals: &'a [f64],
    pub gradient: &'a mut [f64],
}

impl pulp::WithSimd for Evaluation<'_> {
    type Output = f64;

    #[inline(always)]
    fn with_simd<S: Simd>(self, simd: S) -> f64 {
        let Self { rows, columns, runs, scratch: [gathered, measured], marginals, gradient } = self;
        let mut total = Reduction::new(simd);
        for run in pieces(runs) {
            let measured = &mut measured.0[..run.rows.len()];
            rows.measure_run(&run, marginals, [&mut gathered.0, measured]);
            specialised!(run.kind, type K => total.sweep_apart(
                [&mut *measured],
                from_fn(|n| columns[n].piece(run.rows.clone())),
                #[inline(always)]
                |[z], [weight, first, second]| {
                    let parameters = [first, second];
                    let slope = weight * K::KIND.derivative(parameters, z);
                    let product = [weight, K::KIND.value(parameters, z)];
                    Entry { values: [slope], products: [product], sizes: [] }
                },
            ));
            rows.add_run(&run, measured, gradient);
        }
        let Reduced { sums: [sum], .. } = total.finish();
        sum
    }
}
