//! How a small table lies within a large one: which of its cells each cell of the large one maps to.
//!
//! The map is a sum over the axes, so it is kept as `outer[i] + middle[j]` and a run of cells along
//! which it stands still or counts up: about √n numbers for a table of n cells. Models repeat a few
//! shapes many times, so equal maps are kept once.

use rustc_hash::FxHashMap;

use crate::model::table::walk;

/// Shorter runs cost more to set up than they save.
const SHORTEST_RUN: usize = 4;

/// The map from the cells of a large table, in order, to those of a small one.
#[derive(Clone, Debug)]
pub(super) struct Projection {
    /// `[leading axes]`
    outer: Vec<usize>,
    /// `[axes between]`
    middle: Vec<usize>,
    run: Run,
}

/// What the trailing axes do.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Run {
    /// No run: every cell is looked up.
    Single,
    /// This many cells map to one.
    Constant(usize),
    /// This many cells map to consecutive ones.
    Contiguous(usize),
}

impl Run {
    fn len(self) -> usize {
        match self {
            Self::Single => 1,
            Self::Constant(len) | Self::Contiguous(len) => len,
        }
    }
}

impl Projection {
    /// The large table has axes of lengths `shape`; the small one sees them through `strides`.
    pub fn new(shape: &[usize], strides: &[usize]) -> Self {
        let (axes, run) = trailing_run(shape, strides);
        let cells: usize = shape[..axes].iter().product();
        let mut split = axes;
        let mut between = 1;
        while split > 0 && between * between < cells {
            split -= 1;
            between *= shape[split];
        }
        let offsets = |axes: std::ops::Range<usize>| {
            let mut offsets = Vec::new();
            walk(&shape[axes.clone()], &strides[axes], |position| offsets.push(position));
            offsets
        };
        Self { outer: offsets(0..split), middle: offsets(split..axes), run }
    }

    /// Adds to every cell of the large table the cell of the small one it maps to.
    pub fn add(&self, small: &[f64], large: &mut [f64]) {
        match self.run {
            Run::Single => self.each_run(|cell, position| large[cell] += small[position]),
            Run::Constant(len) => self.each_run(|cell, position| {
                let value = small[position];
                large[cell..cell + len].iter_mut().for_each(|x| *x += value);
            }),
            Run::Contiguous(len) => self.each_run(|cell, position| {
                let values = &small[position..position + len];
                large[cell..cell + len].iter_mut().zip(values).for_each(|(x, value)| *x += value);
            }),
        }
    }

    /// Adds every cell of the large table to the cell of the small one it maps to.
    pub fn sum(&self, large: &[f64], small: &mut [f64]) {
        match self.run {
            Run::Single => self.each_run(|cell, position| small[position] += large[cell]),
            Run::Constant(len) => self.each_run(|cell, position| {
                small[position] += large[cell..cell + len].iter().sum::<f64>();
            }),
            Run::Contiguous(len) => self.each_run(|cell, position| {
                let sums = &mut small[position..position + len];
                sums.iter_mut().zip(&large[cell..cell + len]).for_each(|(x, value)| *x += value);
            }),
        }
    }

    /// The cell of the small table that a cell of the large one maps to.
    pub fn position(&self, cell: usize) -> usize {
        let (run, along) = (cell / self.run.len(), cell % self.run.len());
        let start = self.outer[run / self.middle.len()] + self.middle[run % self.middle.len()];
        if let Run::Contiguous(_) = self.run { start + along } else { start }
    }

    fn each_run(&self, mut visit: impl FnMut(usize, usize)) {
        let mut cell = 0;
        for outer in &self.outer {
            for middle in &self.middle {
                visit(cell, outer + middle);
                cell += self.run.len();
            }
        }
    }
}

/// The longest run along the trailing axes, and the number of axes before it.
fn trailing_run(shape: &[usize], strides: &[usize]) -> (usize, Run) {
    let constant = strides.iter().rev().take_while(|&&stride| stride == 0).count();
    if constant > 0 {
        let axes = shape.len() - constant;
        let len = shape[axes..].iter().product();
        return if len < SHORTEST_RUN {
            (shape.len(), Run::Single)
        } else {
            (axes, Run::Constant(len))
        };
    }
    let mut axes = shape.len();
    let mut len = 1;
    while axes > 0 && strides[axes - 1] == len {
        axes -= 1;
        len *= shape[axes];
    }
    if len < SHORTEST_RUN { (shape.len(), Run::Single) } else { (axes, Run::Contiguous(len)) }
}

/// Distinct projections by number.
#[derive(Clone, Debug, Default)]
pub(super) struct Projections {
    list: Vec<Projection>,
    /// By shape and strides.
    numbers: FxHashMap<(Vec<usize>, Vec<usize>), usize>,
}

impl Projections {
    /// The number of this projection.
    pub fn add(&mut self, shape: Vec<usize>, strides: Vec<usize>) -> usize {
        *self.numbers.entry((shape, strides)).or_insert_with_key(|(shape, strides)| {
            self.list.push(Projection::new(shape, strides));
            self.list.len() - 1
        })
    }
}

impl std::ops::Index<usize> for Projections {
    type Output = Projection;

    fn index(&self, number: usize) -> &Projection {
        &self.list[number]
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::table::strides_within;

    #[test]
    fn every_kind_of_run_agrees_with_a_walk() {
        let cardinalities = [2, 3, 5, 2, 4];
        let outer = [3, 1, 0, 2, 4];
        let shape: Vec<usize> = outer.iter().map(|&v| cardinalities[v]).collect();
        let cells: usize = shape.iter().product();
        for inner in [&[][..], &[0], &[4], &[2, 4], &[4, 2], &[1, 3], &[0, 2, 4], &[0, 1, 2, 3, 4]]
        {
            let strides = strides_within(inner, &outer, &cardinalities);
            let projection = Projection::new(&shape, &strides);
            let mut expected = Vec::new();
            walk(&shape, &strides, |position| expected.push(position));
            let found: Vec<usize> = (0..cells).map(|cell| projection.position(cell)).collect();
            assert_eq!(found, expected, "{inner:?}");

            let size: usize = inner.iter().map(|&v| cardinalities[v]).product();
            let small: Vec<f64> = (0..size).map(|i| i as f64).collect();
            let mut large = vec![0.0; cells];
            projection.add(&small, &mut large);
            assert!(large.iter().zip(&expected).all(|(x, &position)| *x == position as f64));
            let mut sums = vec![0.0; size];
            projection.sum(&large, &mut sums);
            let times = (cells / size) as f64;
            assert!(sums.iter().zip(&small).all(|(sum, x)| *sum == times * x), "{inner:?}");
        }
    }

    #[test]
    fn equal_maps_are_kept_once() {
        let mut projections = Projections::default();
        let first = projections.add(vec![2, 3], vec![3, 1]);
        assert_ne!(first, projections.add(vec![2, 3], vec![1, 0]));
        assert_eq!(first, projections.add(vec![2, 3], vec![3, 1]));
    }
}
