//! Conjugate gradients that know how far they are from the solution.
//!
//! In units of `P^½` the matrix `N = P^½ (D⁻¹ + A C Aᵀ) P^½` has no eigenvalue below `min P D⁻¹`, so an
//! error is at most the residual over that. Pinned rows, which have `D⁻¹ = 0`, leave no such bound: there
//! the least eigenvalue that the steps themselves have met stands in for it.

use super::{DerivativeError, System};

/// Steps end once this part of the solution, at most, is wrong …
const AIM: f64 = 1e-10;
/// … and this much may be if rounding ends them before.
const ALLOWED: f64 = 1e-7;
/// Rounding adds up: after its steps, each round computes the residual anew and solves for what is left.
const ROUNDS: usize = 4;
/// Steps of one round, for each row.
const STEPS: usize = 2;
/// No round makes the residual smaller than this: the next one makes it smaller still.
const ROUND: f64 = 1e-12;

/// The units, and what they make of the matrix.
pub(super) struct Iteration {
    /// `P`. `[active]`
    scales: Vec<f64>,
    /// No eigenvalue is less; 0 if that is not known.
    least: f64,
}

impl Iteration {
    pub fn new(system: &System) -> Self {
        let System { curvatures, variances, width, .. } = system;
        // Where rows outnumber what they read, `A C Aᵀ` has few eigenvalues other than 0. In units of
        // `D` nearly all eigenvalues are then one, and a step takes care of all of them.
        let is_crowded = curvatures.len() > *width;
        let scale = |(curvature, variance): (&f64, &f64)| {
            let spread = if is_crowded && *curvature > 0.0 { 0.0 } else { *variance };
            1.0 / (curvature + spread)
        };
        let scales: Vec<f64> = curvatures.iter().zip(variances).map(scale).collect();
        let floors = scales.iter().zip(curvatures).map(|(scale, curvature)| scale * curvature);
        Self { least: floors.fold(f64::INFINITY, f64::min), scales }
    }

    /// Solves for `right`, given what writes the product of the matrix with a vector.
    ///
    /// # Errors
    /// If the error stays too large, or products are cancelled.
    pub fn solve(
        &self,
        product: &mut dyn FnMut(&[f64], &mut [f64]),
        right: &[f64],
    ) -> Result<Vec<f64>, DerivativeError> {
        let (mut solution, mut residual) = (vec![0.0; right.len()], right.to_vec());
        let mut image = solution.clone();
        let mut error = f64::INFINITY;
        for _ in 0..ROUNDS {
            let before = solution.clone();
            let met = self.round(product, &mut solution, &residual)?;
            product(&solution, &mut image);
            let pairs = right.iter().zip(&image);
            residual.iter_mut().zip(pairs).for_each(|(left, (r, i))| *left = r - i);
            let least = if self.least > 0.0 { self.least } else { met };
            let now = self.size(&residual, |s| s) / (least * self.size(&solution, |s| 1.0 / s));
            if now.is_nan() && self.size(&residual, |s| s) == 0.0 {
                return Ok(solution);
            }
            if now.is_nan() {
                return Err(DerivativeError::Cancelled);
            }
            if now >= error {
                // Only rounding is left.
                solution = before;
                break;
            }
            error = now;
            if error <= AIM {
                break;
            }
        }
        if error > ALLOWED {
            return Err(DerivativeError::Unsolved { rows: right.len(), error });
        }
        Ok(solution)
    }

    /// `√(Σ weight(P) x²)`
    fn size(&self, x: &[f64], weight: impl Fn(f64) -> f64) -> f64 {
        x.iter().zip(&self.scales).map(|(x, s)| weight(*s) * x * x).sum::<f64>().sqrt()
    }

    /// Adds to the solution what steps from a residual find; the least eigenvalue that they met.
    fn round(
        &self,
        product: &mut dyn FnMut(&[f64], &mut [f64]),
        solution: &mut [f64],
        residual: &[f64],
    ) -> Result<f64, DerivativeError> {
        let mut residual = residual.to_vec();
        let mut image = vec![0.0; residual.len()];
        let mut step: Vec<f64> = residual.iter().zip(&self.scales).map(|(r, s)| s * r).collect();
        let start = self.size(&residual, |s| s);
        let (mut left, mut met) = (start, Tridiagonal::default());
        for _ in 0..STEPS * residual.len() {
            if left <= ROUND * start {
                break;
            }
            product(&step, &mut image);
            let bend: f64 = step.iter().zip(&image).map(|(s, i)| s * i).sum();
            if bend.is_nan() {
                return Err(DerivativeError::Cancelled);
            }
            if bend <= 0.0 {
                break;
            }
            let length = left * left / bend;
            solution.iter_mut().zip(&step).for_each(|(x, s)| *x += length * s);
            residual.iter_mut().zip(&image).for_each(|(r, i)| *r -= length * i);
            let now = self.size(&residual, |s| s);
            let ratio = (now / left).powi(2);
            left = now;
            met.push(length, ratio);
            let conditioned = residual.iter().zip(&self.scales).map(|(r, s)| s * r);
            step.iter_mut().zip(conditioned).for_each(|(step, r)| *step = r + ratio * *step);
        }
        Ok(if self.least > 0.0 { self.least } else { met.least_eigenvalue() })
    }
}

/// The matrix as the steps meet it: Lanczos' tridiagonal matrix, whose eigenvalues approach those of
/// `N`.
#[derive(Default)]
struct Tridiagonal {
    diagonal: Vec<f64>,
    /// Squares of the entries next to the diagonal, above each entry of it. `[steps]`
    squares: Vec<f64>,
    /// What the last step leaves for the next entries.
    carried: [f64; 2],
}

impl Tridiagonal {
    /// Takes the length of a step, and the ratio of the squares of residuals after it and before.
    fn push(&mut self, length: f64, ratio: f64) {
        let [diagonal, square] = self.carried;
        self.diagonal.push(1.0 / length + diagonal);
        self.squares.push(square);
        self.carried = [ratio / length, ratio / (length * length)];
    }

    /// By bisection: as many eigenvalues are below a number as there are negative pivots.
    fn least_eigenvalue(&self) -> f64 {
        let is_below = |at: f64| {
            let mut pivot = 1.0;
            self.diagonal.iter().zip(&self.squares).any(|(diagonal, square)| {
                pivot = diagonal - at - square / pivot;
                pivot <= 0.0
            })
        };
        let (mut low, mut high) =
            (0.0, self.diagonal.iter().copied().fold(f64::INFINITY, f64::min));
        for _ in 0..60 {
            let middle = 0.5 * (low + high);
            if is_below(middle) { high = middle } else { low = middle }
        }
        low
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// `D⁻¹ + B Bᵀ`, with units of its diagonal.
    fn solved(curvatures: &[f64], b: &[Vec<f64>]) -> (Vec<f64>, Result<Vec<f64>, DerivativeError>) {
        let times = |x: &[f64], image: &mut [f64]| {
            image.iter_mut().zip(curvatures.iter().zip(x)).for_each(|(i, (c, x))| *i = c * x);
            for column in b {
                let along: f64 = column.iter().zip(x).map(|(b, x)| b * x).sum();
                image.iter_mut().zip(column).for_each(|(i, b)| *i += b * along);
            }
        };
        let variance = |row: usize| b.iter().map(|column| column[row] * column[row]).sum::<f64>();
        let scales: Vec<f64> =
            curvatures.iter().enumerate().map(|(row, c)| 1.0 / (c + variance(row))).collect();
        let floors = scales.iter().zip(curvatures).map(|(s, c)| s * c);
        let iteration = Iteration { least: floors.fold(f64::INFINITY, f64::min), scales };
        let expected: Vec<f64> = (0..curvatures.len()).map(|i| 1.0 + (i % 3) as f64).collect();
        let mut right = vec![0.0; curvatures.len()];
        times(&expected, &mut right);
        (expected, iteration.solve(&mut { times }, &right))
    }

    #[test]
    fn solutions_are_right_or_refused_however_small_curvatures_are() {
        for smallest in [1.0f64, 1e-3, 1e-6, 1e-9, 1e-13] {
            let of = |row: usize| smallest.powf(row as f64 / 39.0);
            let curvatures: Vec<f64> = (0..40).map(of).collect();
            let wave = |step: usize| (0..40).map(|row| ((row * step) as f64).sin()).collect();
            let (expected, found) = solved(&curvatures, &[wave(1), wave(2)]);
            let Ok(found) = found else { continue };
            let size = expected.iter().map(|e| e.abs()).fold(0.0, f64::max);
            let worst = expected.iter().zip(&found).map(|(e, f)| (e - f).abs()).fold(0.0, f64::max);
            assert!(worst <= 1e-5 * size, "{smallest:e}: {worst:e}");
        }
    }

    #[test]
    fn the_least_eigenvalue_is_met_where_none_is_known() {
        let mut tridiagonal = Tridiagonal::default();
        // 2 on the diagonal and 1 beside it: eigenvalues 2 ± 1.
        (tridiagonal.diagonal, tridiagonal.squares) = (vec![2.0, 2.0], vec![0.0, 1.0]);
        assert!((tridiagonal.least_eigenvalue() - 1.0).abs() < 1e-12);
        let columns: Vec<Vec<f64>> =
            (0..20).map(|i| (0..20).map(|row| f64::from(u8::from(row >= i))).collect()).collect();
        let (expected, found) = solved(&[0.0; 20], &columns);
        let found = found.unwrap();
        assert!(expected.iter().zip(&found).all(|(e, f)| (e - f).abs() < 1e-6), "{found:?}");
    }
}
