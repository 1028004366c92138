//! Row-major tables over a scope of variables: sizes, and walking their cells in order.

/// Number of cells of a table with axes of these lengths, or `None` on overflow.
pub fn table_size(shape: impl IntoIterator<Item = usize>) -> Option<usize> {
    shape.into_iter().try_fold(1usize, usize::checked_mul)
}

/// The place of the first variable that a scope lists a second time. Variables of one state may fill
/// a scope of any length.
pub(crate) fn repeated(scope: &[usize]) -> Option<usize> {
    const FEW: usize = 32;
    if scope.len() <= FEW {
        return (0..scope.len()).find(|&place| scope[..place].contains(&scope[place]));
    }
    let mut seen = rustc_hash::FxHashSet::default();
    scope.iter().position(|variable| !seen.insert(*variable))
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

/// An axis that two tables see, each through a stride of its own.
#[derive(Clone, Copy)]
struct SharedAxis {
    states: usize,
    strides: [usize; 2],
}

/// Walks the cells of some axes, last axis fastest, and gives the position of each in two tables
/// that see them through `strides`.
///
/// Axes that lie one within the other in both tables are walked as one: the same table twice is
/// a single run.
pub fn walk_two(shape: &[usize], strides: [&[usize]; 2], mut visit: impl FnMut([usize; 2])) {
    if shape.contains(&0) {
        return;
    }
    let mut axes: Vec<SharedAxis> = Vec::new();
    for (axis, &states) in shape.iter().enumerate().filter(|(_, states)| **states > 1) {
        let own = strides.map(|strides| strides[axis]);
        match axes.last_mut() {
            Some(last) if last.strides == own.map(|stride| stride * states) => {
                last.states *= states;
                last.strides = own;
            }
            _ => axes.push(SharedAxis { states, strides: own }),
        }
    }
    let run = axes.pop().unwrap_or(SharedAxis { states: 1, strides: [0, 0] });
    let mut state = vec![0; axes.len()];
    let mut start = [0, 0];
    loop {
        for at in 0..run.states {
            visit([start[0] + at * run.strides[0], start[1] + at * run.strides[1]]);
        }
        let mut outer = axes.len();
        loop {
            if outer == 0 {
                return;
            }
            outer -= 1;
            let SharedAxis { states, strides } = axes[outer];
            state[outer] += 1;
            if state[outer] < states {
                start = [start[0] + strides[0], start[1] + strides[1]];
                break;
            }
            let back = states - 1;
            start = [start[0] - back * strides[0], start[1] - back * strides[1]];
            state[outer] = 0;
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
    fn a_repeated_variable_is_found_in_scopes_of_any_length() {
        for length in [2, 40, 1000] {
            let mut scope: Vec<usize> = (0..length).collect();
            assert_eq!(repeated(&scope), None);
            scope[length - 1] = 0;
            assert_eq!(repeated(&scope), Some(length - 1));
        }
    }

    #[test]
    fn two_tables_are_walked_together_in_the_order_of_the_axes() {
        let shape = [2, 3, 1, 2];
        let (own, other) = (row_major_strides(&shape), [1, 4, 0, 2]);
        let mut expected = Vec::new();
        walk(&shape, &other, |position| expected.push(position));
        let mut seen = Vec::new();
        walk_two(&shape, [&own, &other], |[first, second]| {
            assert_eq!(first, seen.len());
            seen.push(second);
        });
        assert_eq!(seen, expected);
        let mut cells = 0;
        walk_two(&shape, [&own, &own], |[first, second]| {
            assert_eq!([first, second], [cells, cells]);
            cells += 1;
        });
        assert_eq!(cells, 12);
        walk_two(&[], [&[], &[]], |position| assert_eq!(position, [0, 0]));
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
