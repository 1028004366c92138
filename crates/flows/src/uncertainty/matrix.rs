//! Square matrices of pairs of cells, row-major.

use rayon::prelude::*;

#[derive(Clone, Debug, PartialEq)]
pub(super) struct Matrix {
    size: usize,
    values: Vec<f64>,
}

impl Matrix {
    pub fn zero(size: usize) -> Self {
        Self { size, values: vec![0.0; size * size] }
    }

    /// The covariance of one draw: `diag(p) − p pᵀ`.
    pub fn multinomial(shares: &[f64]) -> Self {
        let mut matrix = Self::zero(shares.len());
        for (row, a) in shares.iter().enumerate() {
            for (column, b) in shares.iter().enumerate() {
                let own = if row == column { *a } else { 0.0 };
                *matrix.at_mut(row, column) = own - a * b;
            }
        }
        matrix
    }

    pub fn identity(size: usize) -> Self {
        let mut matrix = Self::zero(size);
        (0..size).for_each(|place| *matrix.at_mut(place, place) = 1.0);
        matrix
    }

    /// In the corner of a larger one, with zeros elsewhere.
    pub fn padded(&self, size: usize) -> Self {
        let mut matrix = Self::zero(size);
        for (row, own) in self.values.chunks(self.size.max(1)).enumerate() {
            matrix.values[row * size..][..self.size].copy_from_slice(own);
        }
        matrix
    }

    pub fn size(&self) -> usize {
        self.size
    }

    pub fn scaled(mut self, factor: f64) -> Self {
        self.values.iter_mut().for_each(|value| *value *= factor);
        self
    }

    pub fn at(&self, row: usize, column: usize) -> f64 {
        self.values[row * self.size + column]
    }

    pub fn at_mut(&mut self, row: usize, column: usize) -> &mut f64 {
        &mut self.values[row * self.size + column]
    }

    pub fn row(&self, row: usize) -> &[f64] {
        &self.values[row * self.size..][..self.size]
    }

    /// `self · other`; zeros of `self` cost nothing.
    pub fn times(&self, other: &Self) -> Self {
        let mut product = Self::zero(self.size);
        let size = self.size;
        product.values.par_chunks_mut(size.max(1)).enumerate().for_each(|(row, sums)| {
            for (k, &a) in self.row(row).iter().enumerate().filter(|(_, a)| **a != 0.0) {
                sums.iter_mut().zip(other.row(k)).for_each(|(sum, b)| *sum += a * b);
            }
        });
        product
    }

    pub fn transposed(&self) -> Self {
        let mut transposed = Self::zero(self.size);
        for row in 0..self.size {
            for column in 0..self.size {
                *transposed.at_mut(column, row) = self.at(row, column);
            }
        }
        transposed
    }

    /// `outer · self · outerᵀ`.
    pub fn between(&self, outer: &Self) -> Self {
        outer.times(self).times(&outer.transposed())
    }

    /// `outerᵀ · self · outer`.
    pub fn between_transposed(&self, outer: &Self) -> Self {
        outer.transposed().times(&self.times(outer))
    }

    pub fn less(&self, other: &Self) -> Self {
        let values = self.values.iter().zip(&other.values).map(|(a, b)| a - b).collect();
        Self { size: self.size, values }
    }

    pub fn plus(&self, other: &Self) -> Self {
        let values = self.values.iter().zip(&other.values).map(|(a, b)| a + b).collect();
        Self { size: self.size, values }
    }

    /// The covariance of moves: `diag(after) − Tᵀ diag(before) T`.
    pub fn noise(moves: &Self, before: &[f64], after: &[f64]) -> Self {
        let mut weighted = moves.clone();
        for (row, share) in before.iter().enumerate() {
            (0..weighted.size).for_each(|column| *weighted.at_mut(row, column) *= -share);
        }
        let mut noise = moves.transposed().times(&weighted);
        after.iter().enumerate().for_each(|(cell, share)| *noise.at_mut(cell, cell) += share);
        noise
    }

    /// The diagonal of `self · other`.
    pub fn diagonal_of(&self, other: &Self) -> Vec<f64> {
        let own =
            |row: usize| (0..self.size).map(|k| self.at(row, k) * other.at(k, row)).sum::<f64>();
        (0..self.size).map(own).collect()
    }

    /// Rows and columns of some cells.
    pub fn part(&self, cells: &[usize]) -> Self {
        let mut part = Self::zero(cells.len());
        for (row, &a) in cells.iter().enumerate() {
            for (column, &b) in cells.iter().enumerate() {
                *part.at_mut(row, column) = self.at(a, b);
            }
        }
        part
    }
}

/// A covariance of measurements as `L Lᵀ`, kept as the inverse of `L`.
pub(super) struct Cholesky {
    inverse: Matrix,
}

impl Cholesky {
    /// Of a covariance, with variances added.
    pub fn new(mut covariance: Matrix, variances: &[f64]) -> Self {
        let size = covariance.size;
        for (cell, variance) in variances.iter().enumerate() {
            *covariance.at_mut(cell, cell) += variance;
        }
        let mut lower = covariance;
        for i in 0..size {
            let (done, rest) = lower.values.split_at_mut(i * size);
            let row = &mut rest[..size];
            for j in 0..i {
                let other = &done[j * size..][..size];
                let sum: f64 = row[..j].iter().zip(other).map(|(a, b)| a * b).sum();
                row[j] = (row[j] - sum) / other[j];
            }
            let sum: f64 = row[..i].iter().map(|a| a * a).sum();
            row[i] = (row[i] - sum).max(f64::MIN_POSITIVE).sqrt();
        }
        // Column by column of the inverse; rows of its transpose.
        let mut transposed = Matrix::zero(size);
        transposed.values.par_chunks_mut(size.max(1)).enumerate().for_each(|(column, own)| {
            for i in column..size {
                let sum: f64 =
                    lower.row(i)[column..i].iter().zip(&own[column..i]).map(|(a, b)| a * b).sum();
                own[i] = (f64::from(i == column) - sum) / lower.at(i, i);
            }
        });
        Self { inverse: transposed.transposed() }
    }

    /// Of the covariance with its variances.
    pub fn log_determinant(&self) -> f64 {
        let size = self.inverse.size;
        -2.0 * (0..size).map(|place| self.inverse.at(place, place).ln()).sum::<f64>()
    }

    /// `L⁻¹ H P`, with `H` the rows of measured cells. `[measured][cells]`
    fn whitened(&self, predicted: &Matrix, measured: &[usize]) -> Vec<Vec<f64>> {
        let row = |place: usize| {
            let mut sums = vec![0.0; predicted.size];
            for (k, &cell) in measured[..=place].iter().enumerate() {
                let a = self.inverse.at(place, k);
                sums.iter_mut().zip(predicted.row(cell)).for_each(|(sum, b)| *sum += a * b);
            }
            sums
        };
        (0..measured.len()).into_par_iter().map(row).collect()
    }

    /// What measurements take off a covariance: `P Hᵀ S⁻¹ H P`.
    pub fn explained(&self, predicted: &Matrix, measured: &[usize]) -> Matrix {
        gram(&self.whitened(predicted, measured), predicted.size)
    }

    /// What measurements and later ones tell: `Hᵀ S⁻¹ H + (I − K H)ᵀ Λ (I − K H)`, with the gain
    /// `K = P Hᵀ S⁻¹`.
    pub fn informed(&self, later: Matrix, predicted: &Matrix, measured: &[usize]) -> Matrix {
        let size = predicted.size;
        let mut rows = vec![vec![0.0; size]; measured.len()];
        for (place, row) in rows.iter_mut().enumerate() {
            for (k, &cell) in measured[..=place].iter().enumerate() {
                row[cell] = self.inverse.at(place, k);
            }
        }
        let mut told = gram(&rows, size);
        // I − K H = I − (L⁻¹ H P)ᵀ (L⁻¹ H).
        let whitened = self.whitened(predicted, measured);
        let mut rest = Matrix::zero(size);
        rest.values.par_chunks_mut(size.max(1)).enumerate().for_each(|(row, sums)| {
            sums[row] = 1.0;
            for (own, columns) in whitened.iter().zip(&rows) {
                let a = own[row];
                sums.iter_mut().zip(columns).for_each(|(sum, b)| *sum -= a * b);
            }
        });
        let later = later.between_transposed(&rest);
        told.values.iter_mut().zip(&later.values).for_each(|(sum, own)| *sum += own);
        told
    }
}

/// `Rᵀ R` of some rows.
fn gram(rows: &[Vec<f64>], size: usize) -> Matrix {
    let mut gram = Matrix::zero(size);
    gram.values.par_chunks_mut(size.max(1)).enumerate().for_each(|(column, sums)| {
        for row in rows.iter().filter(|row| row[column] != 0.0) {
            let a = row[column];
            sums.iter_mut().zip(row).for_each(|(sum, b)| *sum += a * b);
        }
    });
    gram
}
