//! The system `(D⁻¹ + A C Aᵀ) u = r` of the rows that respond.

mod factor;

use factor::Factor;

use super::DerivativeError;
use super::activity::{Activity, Row};
use crate::energy::Rows;
use crate::oracle::Covariance;

/// With more active rows, conjugate gradients cost less than forming the matrix.
const MOST_DENSE: usize = 300;
/// Conjugate gradients end at this part of the right-hand side.
const TOLERANCE: f64 = 1e-11;
/// What they may leave of it if rounding ends them before.
const ALLOWED: f64 = 1e-7;
/// Steps of conjugate gradients for each row.
const STEPS: usize = 4;

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
    /// None for very many rows.
    factor: Option<Factor>,
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
        let mut system =
            Self { active, width, curvatures, variances, factor: None, repeated: Vec::new() };
        if system.active.len() <= MOST_DENSE {
            let matrix = system.matrix(covariance, rows);
            if matrix.iter().any(|value| value.is_nan()) {
                return Err(DerivativeError::Cancelled);
            }
            let factor = Factor::new(matrix, system.active.len());
            let is_pinned = |place: &usize| system.curvatures[*place] == 0.0;
            let repeated = factor.dependent().filter(is_pinned);
            system.repeated = repeated.map(|place| system.active[place]).collect();
            system.factor = Some(factor);
        }
        Ok(system)
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
        match &self.factor {
            Some(factor) => Ok(factor.solve(right)),
            None => self.conjugate_gradients(covariance, rows, right),
        }
    }

    fn conjugate_gradients(
        &self,
        covariance: &mut dyn Covariance,
        rows: &Rows,
        mut residual: Vec<f64>,
    ) -> Result<Vec<f64>, DerivativeError> {
        let (n, width) = (residual.len(), self.width);
        let scales: Vec<f64> =
            self.variances.iter().zip(&self.curvatures).map(|(v, c)| 1.0 / (v + c)).collect();
        let size = |x: &[f64]| x.iter().zip(&scales).map(|(x, s)| s * x * x).sum::<f64>();
        let start = size(&residual);
        let (mut solution, mut best) = (vec![0.0; n], (start, vec![0.0; n]));
        let mut step: Vec<f64> = residual.iter().zip(&scales).map(|(r, s)| s * r).collect();
        let (mut left, mut image) = (start, vec![0.0; n]);
        let (mut direction, mut product) = (vec![0.0; width], vec![0.0; width]);
        for _ in 0..STEPS * n {
            if left <= TOLERANCE * TOLERANCE * start {
                break;
            }
            direction.fill(0.0);
            for (&row, &factor) in self.active.iter().zip(&step) {
                rows.add_row(row, factor, &mut direction);
            }
            covariance.covariance(&direction, &mut product);
            for (place, &row) in self.active.iter().enumerate() {
                let along: f64 = rows.entries(row).map(|(c, a)| a * product[c]).sum();
                image[place] = along + self.curvatures[place] * step[place];
            }
            let bend: f64 = step.iter().zip(&image).map(|(s, i)| s * i).sum();
            if bend.is_nan() {
                return Err(DerivativeError::Cancelled);
            }
            if bend <= 0.0 {
                break;
            }
            let length = left / bend;
            solution.iter_mut().zip(&step).for_each(|(x, s)| *x += length * s);
            residual.iter_mut().zip(&image).for_each(|(r, i)| *r -= length * i);
            let now = size(&residual);
            if now < best.0 {
                best = (now, solution.clone());
            }
            let ratio = now / left;
            left = now;
            let preconditioned = residual.iter().zip(&scales).map(|(r, s)| s * r);
            step.iter_mut().zip(preconditioned).for_each(|(step, r)| *step = r + ratio * *step);
        }
        let (left, solution) = best;
        if left > ALLOWED * ALLOWED * start {
            let residual = (left / start).sqrt();
            return Err(DerivativeError::Unsolved { rows: n, residual });
        }
        Ok(solution)
    }
}
