//! The inner loops without anything around them, as the yardstick of the benchmark.

use pulp::Simd;

use super::aligned::{Aligned, padded};
use super::layout::Layout;
use super::product::{Kernel, Operand, Store, SumProduct, WithKernel, with_kernel};
use super::table::lanes;

/// Products of a vector with a square table and its transpose, each with the result of the last.
#[derive(Debug)]
pub struct Products {
    forward: Layout,
    backward: Layout,
    values: [Aligned; 2],
    /// `[2][padded states]`
    vectors: [Aligned; 4],
}

impl Products {
    /// `table` is row-major; vectors start at 1.
    pub fn new(states: usize, table: &[f64]) -> Self {
        let forward = Layout::dense(states, states, lanes(pulp::Arch::new()));
        let backward = forward.clone();
        let values = [
            forward.pack(0.0, |i, j| table[i * states + j]),
            backward.pack(0.0, |j, i| table[i * states + j]),
        ];
        let vectors = std::array::from_fn(|_| Aligned::filled(padded(states), 1.0));
        Self { forward, backward, values, vectors }
    }

    /// `steps` products forward and as many backward.
    pub fn run(&mut self, steps: usize, dependent: bool) {
        pulp::Arch::new().dispatch(Run { products: self, steps, dependent });
    }

    /// A result, so that nothing is optimised away.
    pub fn result(&self) -> f64 {
        self.vectors[0][0] + self.vectors[2][0]
    }
}

struct Run<'a> {
    products: &'a mut Products,
    steps: usize,
    dependent: bool,
}

impl pulp::WithSimd for Run<'_> {
    type Output = ();

    #[inline(always)]
    fn with_simd<S: Simd>(self, simd: S) {
        let Self { products, steps, dependent } = self;
        let states = products.forward.rows;
        let Products { forward, backward, values: [ahead, back], vectors: [a, b, c, d] } = products;
        with_kernel(simd, forward, ahead, Chained { states, steps, dependent, x: a, y: b });
        with_kernel(simd, backward, back, Chained { states, steps, dependent, x: c, y: d });
    }
}

struct Chained<'a> {
    states: usize,
    steps: usize,
    dependent: bool,
    x: &'a mut [f64],
    y: &'a mut [f64],
}

impl<S: Simd> WithKernel<S> for Chained<'_> {
    type Output = ();

    #[inline(always)]
    fn run(self, simd: S, kernel: &impl Kernel<S>) {
        let Self { states, steps, dependent, mut x, mut y } = self;
        for _ in 0..steps {
            let mut sink = Store::<S>(S::as_mut_simd_f64s(y).0);
            kernel.multiply::<SumProduct>(simd, Operand::new(states, x), &mut sink);
            if dependent {
                (x, y) = (y, x);
            }
        }
    }
}
