//! The system `(D⁻¹ + A C Aᵀ) u = r` of the rows that respond.
//!
//! It is factored, or solved by conjugate gradients in units in which its diagonal is about one. There
//! no eigenvalue is below a known one, so the residual bounds the error of `u` itself: where weights
//! are large, a small residual alone says little.

mod factor;
mod iteration;

use std::sync::OnceLock;

use factor::Factor;
use iteration::Iteration;

use super::DerivativeError;
use super::activity::{Activity, Row};
use crate::energy::Rows;
use crate::oracle::Covariance;

/// With more active rows, conjugate gradients cost less than forming the matrix.
const MOST_DENSE: usize = 300;
/// With more, the matrix takes longer than a second or two to factor, and hundreds of megabytes.
const MOST_FACTORED: usize = 3000;

/// The active rows, and how to solve for their response.
#[derive(Clone, Debug)]
pub(super) struct System {
    active: Vec<usize>,
    /// Coordinates of the support.
    width: usize,
    /// `D⁻¹`. `[active]`
    curvatures: Vec<f64>,
    /// Variances as if tables were independent. `[active]`
    variances: Vec<f64>,
    /// Where there are many rows, only once it is needed.
    factor: OnceLock<Factor>,
    /// Rows that others make redundant, and those others.
    repeated: Vec<usize>,
}

impl System {
    pub fn new(
        covariance: &mut dyn Covariance,
        rows: &Rows,
        states: &[Row],
        width: usize,
    ) -> Result<Self, DerivativeError> {
        let curvature = |row: &usize| match states[*row].activity {
            Activity::Curved(curvature) => Some(curvature),
            Activity::Pinned => Some(0.0),
            Activity::Flat => None,
        };
        // Nothing moves what has no variance.
        let responds = |row: &usize| states[*row].variance > 0.0 && curvature(row).is_some();
        let active: Vec<usize> = (0..states.len()).filter(responds).collect();
        let curvatures: Vec<f64> = active.iter().filter_map(curvature).collect();
        let variances = active.iter().map(|&row| states[row].variance).collect();
        let (factor, repeated) = (OnceLock::new(), Vec::new());
        let mut system = Self { active, width, curvatures, variances, factor, repeated };
        // Of pinned rows some may hold what others do, which only factors tell.
        let most = if system.has_pinned() { MOST_FACTORED } else { MOST_DENSE };
        if system.active.len() <= most {
            let factor = system.factored(covariance, rows)?;
            let is_pinned = |place: &usize| system.curvatures[*place] == 0.0;
            let repeated = factor.dependent().filter(is_pinned);
            system.repeated = repeated.map(|place| system.active[place]).collect();
            system.factor = OnceLock::from(factor);
        }
        Ok(system)
    }

    fn has_pinned(&self) -> bool {
        self.curvatures.contains(&0.0)
    }

    fn factored(
        &self,
        covariance: &mut dyn Covariance,
        rows: &Rows,
    ) -> Result<Factor, DerivativeError> {
        let matrix = self.matrix(covariance, rows);
        if matrix.iter().any(|value| value.is_nan()) {
            return Err(DerivativeError::Cancelled);
        }
        Ok(Factor::new(matrix, self.active.len()))
    }

    /// Ascending.
    pub fn active(&self) -> &[usize] {
        &self.active
    }

    pub fn repeated(&self) -> &[usize] {
        &self.repeated
    }

    /// Lower triangle, row-major. `[active][active]`
    fn matrix(&self, covariance: &mut dyn Covariance, rows: &Rows) -> Vec<f64> {
        let (n, width) = (self.active.len(), self.width);
        let (mut direction, mut product) = (vec![0.0; width], vec![0.0; width]);
        let mut matrix = vec![0.0; n * n];
        for (i, &row) in self.active.iter().enumerate() {
            direction.fill(0.0);
            rows.add_row(row, 1.0, &mut direction);
            covariance.covariance(&direction, &mut product);
            for (j, &other) in self.active[..=i].iter().enumerate() {
                matrix[i * n + j] = rows.entries(other).map(|(c, a)| a * product[c]).sum();
            }
            matrix[i * n + i] += self.curvatures[i];
        }
        matrix
    }

    /// How the active rows respond, in the smallest way where several do the same.
    pub fn solve(
        &self,
        covariance: &mut dyn Covariance,
        rows: &Rows,
        right: Vec<f64>,
    ) -> Result<Vec<f64>, DerivativeError> {
        if let Some(factor) = self.factor.get() {
            return Ok(factor.solve(right));
        }
        let mut product = Product::new(self, covariance, rows);
        match Iteration::new(self).solve(&mut |x, image| product.of(x, image), &right) {
            Err(DerivativeError::Unsolved { .. }) if self.active.len() <= MOST_FACTORED => {
                let factor = self.factored(covariance, rows)?;
                Ok(self.factor.get_or_init(|| factor).solve(right))
            }
            found => found,
        }
    }
}

/// Products with the system's matrix.
struct Product<'a> {
    system: &'a System,
    covariance: &'a mut dyn Covariance,
    rows: &'a Rows,
    /// `[support]`
    direction: Vec<f64>,
    product: Vec<f64>,
}

impl<'a> Product<'a> {
    fn new(system: &'a System, covariance: &'a mut dyn Covariance, rows: &'a Rows) -> Self {
        let [direction, product] = [0; 2].map(|_| vec![0.0; system.width]);
        Self { system, covariance, rows, direction, product }
    }

    /// Writes the product with `x`, both over the active rows.
    fn of(&mut self, x: &[f64], image: &mut [f64]) {
        let Self { system, covariance, rows, direction, product } = self;
        direction.fill(0.0);
        for (&row, &factor) in system.active.iter().zip(x) {
            rows.add_row(row, factor, direction);
        }
        covariance.covariance(direction, product);
        for (place, &row) in system.active.iter().enumerate() {
            let along: f64 = rows.entries(row).map(|(c, a)| a * product[c]).sum();
            image[place] = along + system.curvatures[place] * x[place];
        }
    }
}
