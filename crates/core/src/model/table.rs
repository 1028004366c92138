//! Row-major tables over a scope of variables: sizes, and walking their cells in order.

/// Number of cells of a table with axes of these lengths, or `None` on overflow.
pub fn table_size(shape: impl IntoIterator<Item = usize>) -> Option<usize> {
    shape.into_iter().try_fold(1usize, usize::checked_mul)
}

/// Walks every cell of a row-major table (last axis fastest) and gives, for each, its position in a
/// second table that sees the same axes through `strides` (0 for an axis it does not have).
///
/// `visit(position)` is called once per cell of the first table, in its order.
pub fn walk(shape: &[usize], strides: &[usize], mut visit: impl FnMut(usize)) {
    debug_assert_eq!(shape.len(), strides.len());
    if shape.contains(&0) {
        return;
    }
    let mut state = vec![0; shape.len()];
    let mut position = 0;
    loop {
        visit(position);
        let mut axis = shape.len();
        loop {
            if axis == 0 {
                return;
            }
            axis -= 1;
            state[axis] += 1;
            position += strides[axis];
            if state[axis] < shape[axis] {
                break;
            }
            position -= shape[axis] * strides[axis];
            state[axis] = 0;
        }
    }
}

/// Strides of a row-major table with these axes.
pub fn row_major_strides(shape: &[usize]) -> Vec<usize> {
    let mut strides = vec![1; shape.len()];
    for axis in (1..shape.len()).rev() {
        strides[axis - 1] = strides[axis] * shape[axis];
    }
    strides
}

/// Strides of a table over `inner` as seen from a table over `outer`: one entry per variable of
/// `outer`, 0 if `inner` lacks it. Both scopes list variables, which index `cardinalities`.
pub fn strides_within(inner: &[usize], outer: &[usize], cardinalities: &[usize]) -> Vec<usize> {
    let shape: Vec<usize> = inner.iter().map(|&v| cardinalities[v]).collect();
    let strides = row_major_strides(&shape);
    outer
        .iter()
        .map(|v| inner.iter().position(|w| w == v).map_or(0, |axis| strides[axis]))
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn walking_with_own_strides_counts_up() {
        let mut seen = Vec::new();
        walk(&[2, 3], &row_major_strides(&[2, 3]), |p| seen.push(p));
        assert_eq!(seen, [0, 1, 2, 3, 4, 5]);
    }

    #[test]
    fn a_permuted_inner_table_is_read_transposed() {
        let strides = strides_within(&[1, 0], &[0, 1], &[2, 3]);
        let mut seen = Vec::new();
        walk(&[2, 3], &strides, |p| seen.push(p));
        assert_eq!(seen, [0, 2, 4, 1, 3, 5]);
    }

    #[test]
    fn a_table_without_axes_has_one_cell() {
        let mut seen = 0;
        walk(&[], &[], |_| seen += 1);
        assert_eq!(seen, 1);
        assert_eq!(table_size([]), Some(1));
        assert_eq!(table_size([usize::MAX, 2]), None);
    }
}
