/// The products with a tuned library: forward with the transpose, backward with the table.
pub struct Library {
    #[cfg_attr(not(feature = "peers"), expect(dead_code))]
    states: usize,
    #[cfg_attr(not(feature = "peers"), expect(dead_code))]
    table: Vec<f64>,
    vectors: [Vec<f64>; 4],
}

impl Library {
    /// Whether the library was built in.
    pub const IS_PRESENT: bool = cfg!(feature = "peers");

    /// Products with a row-major table; vectors start at 1.
    pub fn new(states: usize, table: &[f64]) -> Self {
        let vectors = std::array::from_fn(|_| vec![1.0; states]);
        Self { states, table: table.to_vec(), vectors }
    }

    /// `steps` products forward and as many backward.
    pub fn run(&mut self, steps: usize) {
        #[cfg(feature = "peers")]
        self.multiply(steps);
        #[cfg(not(feature = "peers"))]
        let _ = steps;
    }

    #[cfg(feature = "peers")]
    fn multiply(&mut self, steps: usize) {
        use faer::linalg::matmul::matmul;
        use faer::{Accum, ColMut, ColRef, MatRef, Par};
        let table = MatRef::from_row_major_slice(&self.table, self.states, self.states);
        let [a, b, c, d] = &mut self.vectors;
        for _ in 0..steps {
            let (x, y) = (ColRef::from_slice(a), ColMut::from_slice_mut(b));
            matmul(y, Accum::Replace, table.transpose(), x, 1.0, Par::Seq);
            std::mem::swap(a, b);
        }
        for _ in 0..steps {
            let (x, y) = (ColRef::from_slice(c), ColMut::from_slice_mut(d));
            matmul(y, Accum::Replace, table, x, 1.0, Par::Seq);
            std::mem::swap(c, d);
        }
    }

    /// A result, so that nothing is optimised away.
    pub fn result(&self) -> f64 {
        self.vectors[0][0] + self.vectors[2][0]
    }
}
