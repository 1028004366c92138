//! One product of a vector with a transition table, or with its transpose.

use pulp::Simd;

use super::product::{Kernel, Operand, Store, SumProduct, WithKernel};
use super::tilts::TiltedTable;

/// Which way a product goes along the chain.
#[derive(Clone, Copy, Debug)]
pub(super) enum Direction {
    /// `eᵀ x`
    Forward,
    /// `e x`
    Backward,
}

/// Multiplies once; the table of a free link is of ones.
pub(super) struct Multiply<'a> {
    pub(super) direction: Direction,
    pub(super) table: Option<&'a TiltedTable<'a>>,
    /// Zero in its padding.
    pub(super) x: Operand<'a>,
    pub(super) out: &'a mut [f64],
}

impl pulp::WithSimd for Multiply<'_> {
    type Output = ();

    #[inline(always)]
    fn with_simd<S: Simd>(self, simd: S) {
        let Self { direction, table, x, out } = self;
        match (table, direction) {
            (None, _) => out.fill(x.entries().iter().sum()),
            (Some(table), Direction::Forward) => table.forward(simd, Once { x, out }),
            (Some(table), Direction::Backward) => table.backward(simd, Once { x, out }),
        }
    }
}

struct Once<'a> {
    x: Operand<'a>,
    out: &'a mut [f64],
}

impl<S: Simd> WithKernel<S> for Once<'_> {
    type Output = ();

    #[inline(always)]
    fn run(self, simd: S, kernel: &impl Kernel<S>) {
        let mut sink = Store::<S>(S::as_mut_simd_f64s(self.out).0);
        kernel.multiply::<SumProduct>(simd, self.x, &mut sink);
    }
}
