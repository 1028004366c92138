//! How a small table lies within a large one: which of its cells each cell of the large one maps
//! to.
//!
//! A large table is walked in blocks of its trailing axes, small enough to stay in the cache while
//! several tables are multiplied into a block and summed out of it. The map is a sum over the axes,
//! so it is stored as an offset per block and a pattern that all blocks share. The pattern consists
//! of runs along which it is constant or counts up. Models repeat a few shapes many times, so equal
//! maps are stored once.

use std::ops::Range;

use rustc_hash::FxHashMap;

use crate::model::table::walk;

/// Shorter runs cost more than they save.
const SHORTEST_RUN: usize = 4;

/// Cells of a block, unless the last axis alone has more.
const BLOCK: usize = 2048;

/// Blocks between two looks whether to stop: some tens of microseconds.
const BETWEEN_LOOKS: usize = 32;

/// Number of partial sums, which do not wait for one another.
const LANES: usize = 16;

/// The map from the cells of a large table, in order, to those of a small one.
#[derive(Clone, Debug)]
pub(super) struct Projection {
    /// What is added to the pattern in each block. `[blocks]`
    blocks: Vec<usize>,
    /// Where each run starts. `[runs of a block]`
    starts: Vec<usize>,
    run: Run,
    /// Cells of a block.
    block: usize,
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

/// How many leading axes number the blocks of a table of this shape.
fn leading_axes(shape: &[usize]) -> usize {
    let mut axes = shape.len();
    let mut cells = 1;
    while axes > 0 && (cells == 1 || cells * shape[axes - 1] <= BLOCK) {
        axes -= 1;
        cells *= shape[axes];
    }
    axes
}

impl Projection {
    /// The large table has axes of lengths `shape`; the small one sees them through `strides`.
    pub fn new(shape: &[usize], strides: &[usize]) -> Self {
        let leading = leading_axes(shape);
        let (axes, run) = trailing_run(&shape[leading..], &strides[leading..]);
        let offsets = |axes: Range<usize>| {
            let mut offsets = Vec::new();
            walk(&shape[axes.clone()], &strides[axes], |position| offsets.push(position));
            offsets
        };
        Self {
            blocks: offsets(0..leading),
            starts: offsets(leading..leading + axes),
            run,
            block: shape[leading..].iter().product(),
        }
    }

    /// The cells of each block of the large table.
    pub fn blocks(&self) -> impl Iterator<Item = (usize, Range<usize>)> + use<> {
        let block = self.block;
        (0..self.blocks.len()).map(move |index| (index, index * block..(index + 1) * block))
    }

    /// Whether to look, before a block of a long walk, whether to go on at all. The first blocks are
    /// not worth it.
    #[inline(always)]
    pub fn is_time_to_look(block: usize) -> bool {
        block % BETWEEN_LOOKS == BETWEEN_LOOKS - 1
    }

    /// Combines every cell of a block with the cell of the small table that it maps to.
    #[inline(always)]
    pub fn spread(
        &self,
        block: usize,
        small: &[f64],
        large: &mut [f64],
        combine: impl Fn(&mut f64, f64),
    ) {
        let small = &small[self.blocks[block]..];
        match self.run {
            Run::Single => {
                for (cell, &start) in large.iter_mut().zip(&self.starts) {
                    combine(cell, small[start]);
                }
            }
            Run::Constant(len) => {
                for (run, &start) in large.chunks_exact_mut(len).zip(&self.starts) {
                    let value = small[start];
                    run.iter_mut().for_each(|cell| combine(cell, value));
                }
            }
            Run::Contiguous(len) => {
                for (run, &start) in large.chunks_exact_mut(len).zip(&self.starts) {
                    let values = &small[start..start + len];
                    run.iter_mut().zip(values).for_each(|(cell, &value)| combine(cell, value));
                }
            }
        }
    }

    /// Adds every cell of a block to the cell of the small table that it maps to.
    #[inline(always)]
    pub fn collect(&self, block: usize, large: &[f64], small: &mut [f64]) {
        let small = &mut small[self.blocks[block]..];
        match self.run {
            Run::Single => {
                for (&value, &start) in large.iter().zip(&self.starts) {
                    small[start] += value;
                }
            }
            Run::Constant(len) => {
                for (run, &start) in large.chunks_exact(len).zip(&self.starts) {
                    small[start] += total(run);
                }
            }
            Run::Contiguous(len) => {
                for (run, &start) in large.chunks_exact(len).zip(&self.starts) {
                    let sums = &mut small[start..start + len];
                    sums.iter_mut().zip(run).for_each(|(sum, value)| *sum += value);
                }
            }
        }
    }

    /// Adds to every cell of the large table the cell of the small one it maps to.
    pub fn add(&self, small: &[f64], large: &mut [f64]) {
        for (block, cells) in self.blocks() {
            self.spread(block, small, &mut large[cells], |cell, value| *cell += value);
        }
    }

    /// Adds every cell of the large table to the cell of the small one it maps to.
    pub fn sum(&self, large: &[f64], small: &mut [f64]) {
        for (block, cells) in self.blocks() {
            self.collect(block, &large[cells], small);
        }
    }

    /// Shows every cell of the large table, in order, with the cell of the small one it maps to.
    pub fn each(&self, mut visit: impl FnMut(usize, usize)) {
        for (block, cells) in self.blocks() {
            self.each_in(block, |cell, position| visit(cells.start + cell, position));
        }
    }

    /// The same for one block, whose cells count from 0.
    #[inline(always)]
    pub fn each_in(&self, block: usize, mut visit: impl FnMut(usize, usize)) {
        let mut cell = 0;
        let step = usize::from(matches!(self.run, Run::Contiguous(_)));
        for start in &self.starts {
            for along in 0..self.run.len() {
                visit(cell, self.blocks[block] + start + step * along);
                cell += 1;
            }
        }
    }

    /// Cells of a block.
    pub fn block_cells(&self) -> usize {
        self.block
    }
}

/// The sum of a run, in parts.
#[inline(always)]
pub(super) fn total(run: &[f64]) -> f64 {
    let (groups, rest) = run.as_chunks::<LANES>();
    let mut parts = [0.0; LANES];
    for group in groups {
        parts.iter_mut().zip(group).for_each(|(part, value)| *part += value);
    }
    let mut sum: f64 = rest.iter().sum();
    let mut half = LANES / 2;
    while half > 0 {
        (0..half).for_each(|i| parts[i] += parts[i + half]);
        half /= 2;
    }
    sum += parts[0];
    sum
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

    fn check(cardinalities: &[usize], outer: &[usize], inners: &[&[usize]]) {
        let shape: Vec<usize> = outer.iter().map(|&v| cardinalities[v]).collect();
        let cells: usize = shape.iter().product();
        for inner in inners {
            let strides = strides_within(inner, outer, cardinalities);
            let projection = Projection::new(&shape, &strides);
            let mut expected = Vec::new();
            walk(&shape, &strides, |position| expected.push(position));
            let mut found = Vec::new();
            projection.each(|cell, position| {
                assert_eq!(cell, found.len());
                found.push(position);
            });
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
    fn every_kind_of_run_agrees_with_a_walk() {
        let inners: [&[usize]; 8] =
            [&[], &[0], &[4], &[2, 4], &[4, 2], &[1, 3], &[0, 2, 4], &[0, 1, 2, 3, 4]];
        check(&[2, 3, 5, 2, 4], &[3, 1, 0, 2, 4], &inners);
        // Several blocks, and one axis that is longer than a block.
        check(&[20, 3, 50, 2, 40], &[3, 1, 0, 2, 4], &inners);
        check(&[2, 3, 5, 2, 4000], &[3, 1, 0, 2, 4], &inners);
        check(&[2], &[], &[&[]]);
    }

    #[test]
    fn equal_maps_are_kept_once() {
        let mut projections = Projections::default();
        let first = projections.add(vec![2, 3], vec![3, 1]);
        assert_ne!(first, projections.add(vec![2, 3], vec![1, 0]));
        assert_eq!(first, projections.add(vec![2, 3], vec![3, 1]));
    }
}
