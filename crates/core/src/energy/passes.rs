//! Passes over measurements: energies, with gradients.

use std::array::from_fn;
use std::ops::Range;

use pulp::Simd;

use super::rows::pieces;
use super::{Kind, Measurements, OfKind, Rows, Run, specialised};
use crate::vector::{Column, Entry, Number, Piece, Reduced, Reduction};

/// Sees a gradient, a piece at a time.
pub(crate) trait Sight {
    /// `gradient` is that of the coordinates in `range`.
    fn see<S: Simd>(&mut self, simd: S, range: Range<usize>, gradient: &[f64]);
}

/// Writes the gradient of straight measurements, and shows each piece of it once it is there.
pub(super) struct Writing<'a, V> {
    pub measurements: &'a Measurements,
    pub marginals: &'a [f64],
    pub gradient: &'a mut [f64],
    pub sight: &'a mut V,
}

impl<V: Sight> pulp::WithSimd for Writing<'_, V> {
    type Output = f64;

    #[inline(always)]
    fn with_simd<S: Simd>(self, simd: S) -> f64 {
        let Self { measurements, marginals, gradient, sight } = self;
        let mut total = Reduction::new(simd);
        for gap in measurements.gaps(gradient.len()) {
            gradient[gap.clone()].fill(0.0);
            sight.see(simd, gap.clone(), &gradient[gap]);
        }
        for run in measurements.pieces() {
            let (columns, own) = measurements.numbers(&run, marginals);
            let target = &mut gradient[columns.clone()];
            specialised!(run.kind, type K => total.sweep_apart(
                [&mut *target],
                own,
                #[inline(always)]
                |_, own| {
                    let (value, slope) = penalise(K::KIND, own);
                    Entry { values: [slope], products: [value], sizes: [] }
                },
            ));
            sight.see(simd, columns, target);
        }
        sum(total)
    }
}

/// The energy; `visit` sees the slopes `w_j φ_j′(z_j)` of each piece.
pub(super) struct Visiting<'a, V> {
    pub rows: &'a Rows,
    /// Weights and parameters.
    pub columns: [&'a Column; 3],
    pub runs: &'a [Run],
    /// Gathered marginals, and measurements, of a piece.
    pub scratch: &'a mut [Piece; 2],
    pub marginals: &'a [f64],
    pub visit: V,
}

impl<V: FnMut(&Rows, &Run, &[f64])> pulp::WithSimd for Visiting<'_, V> {
    type Output = f64;

    #[inline(always)]
    fn with_simd<S: Simd>(self, simd: S) -> f64 {
        let Self { rows, columns, runs, scratch: [gathered, measured], marginals, mut visit } =
            self;
        let mut total = Reduction::new(simd);
        for run in pieces(runs) {
            let measured = &mut measured.0[..run.rows.len()];
            rows.measure_run(&run, marginals, [&mut gathered.0, measured]);
            let own = from_fn(|n| columns[n].piece(run.rows.clone()));
            specialised!(run.kind, type K => total.sweep_apart(
                [&mut *measured],
                own,
                #[inline(always)]
                |[z], [w, p, q]| {
                    let (one, zero) = (z.splat(1.0), z.splat(0.0));
                    let (value, slope) = penalise(K::KIND, [z, one, zero, w, p, q]);
                    Entry { values: [slope], products: [value], sizes: [] }
                },
            ));
            visit(rows, &run, measured);
        }
        sum(total)
    }
}

#[inline(always)]
fn sum<S: Simd>(total: Reduction<S, 1, 0>) -> f64 {
    let Reduced { sums: [sum], .. } = total.finish();
    sum
}

/// A penalty at `z = b + a·m` and its weight, and the derivative of their product by `m`, given
/// `m`, `a`, `b`, weight and parameters.
#[inline(always)]
fn penalise<N: Number>(kind: Kind, [m, a, b, weight, first, second]: [N; 6]) -> ([N; 2], N) {
    let (z, parameters) = (a.times_plus(m, b), [first, second]);
    ([weight, kind.value(parameters, z)], weight * kind.derivative(parameters, z) * a)
}
