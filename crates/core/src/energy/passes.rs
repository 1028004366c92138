//! A pass over measurements: the energy, with its gradient and what its rounding follows.

use std::array::from_fn;

use pulp::Simd;

use super::rows::pieces;
use super::{Kind, OfKind, Rows, Run, specialised};
use crate::vector::{Column, Entry, Number, Piece, Reduced, Reduction};

/// An energy at some marginals.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Valued {
    /// `L(μ)`
    pub value: f64,
    /// What its rounding follows: the sizes of what is summed up, and how steep the energy is times
    /// the sizes of what measurements sum up.
    pub size: f64,
}

/// The energy; its gradient is added.
pub(super) struct Evaluation<'a> {
    pub rows: &'a Rows,
    /// Weights and parameters.
    pub columns: [&'a Column; 3],
    pub runs: &'a [Run],
    /// Gathered marginals, measurements, and sizes of what these sum up, of a piece.
    pub scratch: &'a mut [Piece; 3],
    pub marginals: &'a [f64],
    pub gradient: &'a mut [f64],
}

impl pulp::WithSimd for Evaluation<'_> {
    type Output = Valued;

    #[inline(always)]
    fn with_simd<S: Simd>(self, simd: S) -> Valued {
        let Self { rows, columns, runs, scratch, marginals, gradient } = self;
        let [gathered, measured, sizes] = scratch;
        let mut total = Reduction::new(simd);
        for run in pieces(runs) {
            let measured = &mut measured.0[..run.rows.len()];
            let sizes = &mut sizes.0[..run.rows.len()];
            rows.measure_run(&run, marginals, [&mut gathered.0, measured, sizes]);
            let [weights, first, second] = from_fn(|n| columns[n].piece(run.rows.clone()));
            specialised!(run.kind, type K => total.sweep_apart(
                [&mut *measured],
                [&*sizes, weights, first, second],
                #[inline(always)]
                |[z], [size, weight, first, second]| {
                    let parameters = [first, second];
                    let slope = weight * K::KIND.derivative(parameters, z);
                    let value = K::KIND.value(parameters, z);
                    let steepness = steepness(K::KIND, weight, slope, [z, size]);
                    let products = [
                        [weight, value],
                        [weight.abs(), value.abs()],
                        [steepness, size],
                    ];
                    Entry { values: [slope], products, sizes: [] }
                },
            ));
            rows.add_run(&run, measured, gradient);
        }
        let Reduced { sums: [value, size, steep], sizes: [] } = total.finish();
        Valued { value, size: size + steep }
    }
}

/// How fast a weighted penalty changes with `z`, on either side of a kink or along a bend that
/// rounding may have crossed.
#[inline(always)]
fn steepness<N: Number>(kind: Kind, weight: N, slope: N, [z, size]: [N; 2]) -> N {
    let off = size * (8.0 * f64::EPSILON);
    match kind {
        Kind::Hinge => N::choose((z - 1.0).abs().is_at_most(off), weight, slope).abs(),
        Kind::Absolute => weight.abs(),
        Kind::Squared | Kind::SmoothedHinge | Kind::Huber => slope.abs() + weight.abs() * off,
        Kind::Linear | Kind::Poisson | Kind::AtMost | Kind::Equal => slope.abs(),
    }
}
