use super::{Curvature, EnergyFunction};
use crate::model::table::row_major_strides;

/// `−⟨θ, ⊗_n μ_n⟩`: a factor as mean field sees it, bound to node blocks of a support.
#[derive(Clone, Debug)]
pub struct Product {
    /// First support coordinate of each axis. `[axes]`
    starts: Vec<usize>,
    /// `[axes]`
    shape: Vec<usize>,
    strides: Vec<usize>,
    /// Row-major. `[states of the axes]`
    log_potentials: Vec<f64>,
}

impl Product {
    /// A product over node blocks: `starts` and `shape` give each axis' coordinates.
    pub fn new(starts: Vec<usize>, shape: Vec<usize>, log_potentials: Vec<f64>) -> Self {
        let strides = row_major_strides(&shape);
        Self { starts, shape, strides, log_potentials }
    }

    fn coordinate(&self, cell: usize, axis: usize) -> usize {
        self.starts[axis] + cell / self.strides[axis] % self.shape[axis]
    }
}

impl EnergyFunction for Product {
    fn evaluate(&mut self, marginals: &[f64], gradient: &mut [f64]) -> f64 {
        let axes = self.shape.len();
        let mut value = 0.0;
        for (cell, &potential) in self.log_potentials.iter().enumerate() {
            if potential == 0.0 {
                continue;
            }
            // The derivative leaves one axis out, so that a zero marginal needs no division.
            for left_out in 0..axes {
                let rest = (0..axes)
                    .filter(|&axis| axis != left_out)
                    .map(|axis| marginals[self.coordinate(cell, axis)])
                    .product::<f64>();
                gradient[self.coordinate(cell, left_out)] -= potential * rest;
            }
            let all = (0..axes).map(|axis| marginals[self.coordinate(cell, axis)]);
            value -= potential * all.product::<f64>();
        }
        value
    }

    fn curvature(&self) -> Curvature {
        Curvature::Unknown
    }

    fn is_smooth(&self) -> bool {
        true
    }
}
