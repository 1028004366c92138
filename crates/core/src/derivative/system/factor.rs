//! Cholesky's factors of a matrix that may be singular, and least squares with them.

/// What is left of a diagonal entry that others explain, relative to it.
const DEPENDENT: f64 = 1e-11;
/// A smaller part in a dependency is rounding.
const PART: f64 = 1e-6;

/// `P M Pᵀ = L Lᵀ` with rows in order of what is left of them, and the null space of `M`.
#[derive(Clone, Debug)]
pub(super) struct Factor {
    n: usize,
    /// The row of `M` in each place; those that depend on others come last. `[n]`
    order: Vec<usize>,
    rank: usize,
    /// `[n][rank]`, lower triangular in its first `rank` rows.
    lower: Vec<f64>,
    /// Orthonormal. `[n − rank][n]`
    null: Vec<Vec<f64>>,
    /// Rows that are part of a dependency, ascending.
    dependent: Vec<usize>,
}

impl Factor {
    /// Factors a positive semidefinite matrix, of which the lower triangle is read.
    pub fn new(mut matrix: Vec<f64>, n: usize) -> Self {
        for i in 0..n {
            for j in i + 1..n {
                matrix[i * n + j] = matrix[j * n + i];
            }
        }
        let entry = |i: usize, j: usize| matrix[i * n + j];
        let mut order: Vec<usize> = (0..n).collect();
        let mut left: Vec<f64> = (0..n).map(|i| entry(i, i)).collect();
        // Columns of `L`, by rows of `M`. `[rank][n]`
        let mut columns: Vec<Vec<f64>> = Vec::new();
        while columns.len() < n {
            let rank = columns.len();
            let share = |row: usize| left[row] / entry(row, row);
            let next = (rank..n).max_by(|&a, &b| share(order[a]).total_cmp(&share(order[b])));
            let next = next.expect("a row is left");
            let left_over = share(order[next]);
            if left_over <= DEPENDENT || left_over.is_nan() {
                break;
            }
            order.swap(rank, next);
            let pivot = order[rank];
            let root = left[pivot].sqrt();
            let mut column = vec![0.0; n];
            // Column by column, so that memory is read in order.
            for known in &columns {
                column.iter_mut().zip(known).for_each(|(sum, c)| *sum += c * known[pivot]);
            }
            for &row in &order[..rank] {
                column[row] = 0.0;
            }
            for &row in &order[rank..] {
                let known = column[row];
                column[row] = if row == pivot { root } else { (entry(row, pivot) - known) / root };
                left[row] -= column[row] * column[row];
            }
            columns.push(column);
        }
        let rank = columns.len();
        let lower = order.iter().flat_map(|&row| columns.iter().map(move |c| c[row])).collect();
        let mut factor = Self { n, order, rank, lower, null: Vec::new(), dependent: Vec::new() };
        factor.find_null_space();
        factor
    }

    /// Rows that are part of a dependency, ascending.
    pub fn dependent(&self) -> impl Iterator<Item = usize> {
        self.dependent.iter().copied()
    }

    /// Each row that is left out is a sum of others.
    fn find_null_space(&mut self) {
        let (n, rank) = (self.n, self.rank);
        let mut is_part = vec![false; n];
        for place in rank..n {
            let mut parts = self.lower[place * rank..(place + 1) * rank].to_vec();
            self.solve_upper(&mut parts);
            let mut vector = vec![0.0; n];
            vector[self.order[place]] = 1.0;
            is_part[self.order[place]] = true;
            for (&row, part) in self.order.iter().zip(&parts) {
                vector[row] = -part;
                is_part[row] |= part.abs() > PART;
            }
            for other in &self.null {
                let along: f64 = other.iter().zip(&vector).map(|(o, v)| o * v).sum();
                vector.iter_mut().zip(other).for_each(|(v, o)| *v -= along * o);
            }
            let size = vector.iter().map(|v| v * v).sum::<f64>().sqrt();
            vector.iter_mut().for_each(|v| *v /= size);
            self.null.push(vector);
        }
        self.dependent = (0..n).filter(|&row| is_part[row]).collect();
    }

    /// `L₁ᵀ x = b` in place, with the first `rank` rows of `L`.
    fn solve_upper(&self, b: &mut [f64]) {
        let rank = self.rank;
        for i in (0..rank).rev() {
            let sum: f64 = (i + 1..rank).map(|k| self.lower[k * rank + i] * b[k]).sum();
            b[i] = (b[i] - sum) / self.lower[i * rank + i];
        }
    }

    /// The least solution of `M x = b`, for `b` in the range of `M`.
    pub fn solve(&self, b: Vec<f64>) -> Vec<f64> {
        let rank = self.rank;
        let mut x: Vec<f64> = self.order[..rank].iter().map(|&row| b[row]).collect();
        for i in 0..rank {
            let sum: f64 = (0..i).map(|k| self.lower[i * rank + k] * x[k]).sum();
            x[i] = (x[i] - sum) / self.lower[i * rank + i];
        }
        self.solve_upper(&mut x);
        let mut solution = vec![0.0; self.n];
        self.order.iter().zip(&x).for_each(|(&row, x)| solution[row] = *x);
        for null in &self.null {
            let along: f64 = null.iter().zip(&solution).map(|(n, s)| n * s).sum();
            solution.iter_mut().zip(null).for_each(|(s, n)| *s -= along * n);
        }
        solution
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// `B Bᵀ` of rows of numbers, with something on the diagonal.
    fn gram(rows: &[Vec<f64>], diagonal: f64) -> Vec<f64> {
        let n = rows.len();
        let mut matrix = vec![0.0; n * n];
        for i in 0..n {
            for j in 0..n {
                matrix[i * n + j] = rows[i].iter().zip(&rows[j]).map(|(a, b)| a * b).sum();
            }
            matrix[i * n + i] += diagonal;
        }
        matrix
    }

    fn times(matrix: &[f64], x: &[f64]) -> Vec<f64> {
        let rows = matrix.chunks(x.len());
        rows.map(|row| row.iter().zip(x).map(|(a, b)| a * b).sum()).collect()
    }

    #[test]
    fn systems_are_solved_and_rows_that_repeat_others_found() {
        let mut rows = vec![vec![1.0, 0.0, 2.0], vec![0.0, 3e4, 1e4], vec![1.0, 0.0, 2.0]];
        let matrix = gram(&rows, 0.0);
        let factor = Factor::new(matrix.clone(), 3);
        assert_eq!(factor.dependent().collect::<Vec<_>>(), [0, 2]);
        let right = times(&matrix, &[0.5, -2.0, 1.5]);
        let found = factor.solve(right);
        for (found, expected) in found.iter().zip([1.0, -2.0, 1.0]) {
            assert!((found - expected).abs() < 1e-9, "{found} for {expected}");
        }
        let matrix = gram(&rows, 1e-3);
        let factor = Factor::new(matrix.clone(), 3);
        assert_eq!(factor.dependent().count(), 0);
        let found = factor.solve(times(&matrix, &[0.5, -2.0, 1.5]));
        assert!(found.iter().zip([0.5, -2.0, 1.5]).all(|(f, e)| (f - e).abs() < 1e-6), "{found:?}");
        // The sum of two others.
        rows[2] = vec![1.0, 3e4, 1e4 + 2.0];
        let factor = Factor::new(gram(&rows, 0.0), 3);
        assert_eq!(factor.dependent().collect::<Vec<_>>(), [0, 1, 2]);
    }

    #[test]
    fn an_empty_system_has_an_empty_solution() {
        assert!(Factor::new(Vec::new(), 0).solve(Vec::new()).is_empty());
    }
}
