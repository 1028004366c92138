/// Solves `M x = b` for a positive definite `M` by Cholesky's method.
///
/// `matrix` (`[n][n]`) is read in its lower triangle and used up; `x` takes the place of `b`. Pivots
/// are at least `least_pivot`, so that a matrix that is singular, or nearly, gives numbers too:
/// those of a matrix with a little more on its diagonal.
///
/// # Panics
/// If the matrix is not as large as `b` says.
pub fn solve_positive(matrix: &mut [f64], b: &mut [f64], least_pivot: f64) {
    let n = b.len();
    assert_eq!(matrix.len(), n * n);
    for i in 0..n {
        for j in 0..=i {
            let sum: f64 = (0..j).map(|k| matrix[i * n + k] * matrix[j * n + k]).sum();
            let rest = matrix[i * n + j] - sum;
            matrix[i * n + j] =
                if i == j { rest.max(least_pivot).sqrt() } else { rest / matrix[j * n + j] };
        }
        let sum: f64 = (0..i).map(|k| matrix[i * n + k] * b[k]).sum();
        b[i] = (b[i] - sum) / matrix[i * n + i];
    }
    for i in (0..n).rev() {
        let sum: f64 = (i + 1..n).map(|k| matrix[k * n + i] * b[k]).sum();
        b[i] = (b[i] - sum) / matrix[i * n + i];
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_positive_definite_system_is_solved() {
        let mut matrix = [4.0, 0.0, 0.0, 2.0, 5.0, 0.0, 1.0, -1.0, 3.0];
        let mut x = [9.0, 9.0, 8.0];
        solve_positive(&mut matrix, &mut x, 1e-6);
        // Rows of the whole matrix: (4 2 1), (2 5 −1), (1 −1 3).
        let rows = [[4.0, 2.0, 1.0], [2.0, 5.0, -1.0], [1.0, -1.0, 3.0]];
        for (row, b) in rows.iter().zip([9.0, 9.0, 8.0]) {
            let product: f64 = row.iter().zip(x).map(|(a, x)| a * x).sum();
            assert!((product - b).abs() < 1e-12, "{x:?}");
        }
    }

    #[test]
    fn a_singular_system_gives_numbers() {
        let mut x = [2.0, 2.0];
        solve_positive(&mut [1.0, 0.0, 1.0, 1.0], &mut x, 1e-6);
        assert!((x[0] + x[1] - 2.0).abs() < 1e-9, "{x:?}");
    }
}
