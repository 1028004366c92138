//! The inner loop: `y_j = ⊕_i x_i ⊗ e_ij` over a stored table, in (+, ×) or in (max, +).

use pulp::Simd;

use super::aligned::LINE;
use super::layout::{Group, Layout, Storage, panel_width};
use super::picks::Pick;

/// The operations of a product.
pub(super) trait Semiring: Copy {
    fn zero<S: Simd>(simd: S) -> S::f64s;
    /// `total ⊕ (x ⊗ entry)`
    fn accumulate<S: Simd>(simd: S, x: S::f64s, entry: S::f64s, total: S::f64s) -> S::f64s;
    fn join<S: Simd>(simd: S, a: S::f64s, b: S::f64s) -> S::f64s;
    /// All lanes joined.
    fn reduce<S: Simd>(simd: S, lanes: S::f64s) -> f64;
}

/// Sums of products, for marginals.
#[derive(Clone, Copy)]
pub(super) struct SumProduct;

/// Maxima of sums, for the most probable assignment.
#[derive(Clone, Copy)]
pub(super) struct MaxSum;

impl Semiring for SumProduct {
    #[inline(always)]
    fn zero<S: Simd>(simd: S) -> S::f64s {
        simd.splat_f64s(0.0)
    }
    #[inline(always)]
    fn accumulate<S: Simd>(simd: S, x: S::f64s, entry: S::f64s, total: S::f64s) -> S::f64s {
        simd.mul_add_e_f64s(x, entry, total)
    }
    #[inline(always)]
    fn join<S: Simd>(simd: S, a: S::f64s, b: S::f64s) -> S::f64s {
        simd.add_f64s(a, b)
    }
    #[inline(always)]
    fn reduce<S: Simd>(simd: S, lanes: S::f64s) -> f64 {
        simd.reduce_sum_f64s(lanes)
    }
}

impl Semiring for MaxSum {
    #[inline(always)]
    fn zero<S: Simd>(simd: S) -> S::f64s {
        simd.splat_f64s(f64::NEG_INFINITY)
    }
    #[inline(always)]
    fn accumulate<S: Simd>(simd: S, x: S::f64s, entry: S::f64s, total: S::f64s) -> S::f64s {
        simd.max_f64s(simd.add_f64s(x, entry), total)
    }
    #[inline(always)]
    fn join<S: Simd>(simd: S, a: S::f64s, b: S::f64s) -> S::f64s {
        simd.max_f64s(a, b)
    }
    #[inline(always)]
    fn reduce<S: Simd>(simd: S, lanes: S::f64s) -> f64 {
        simd.reduce_max_f64s(lanes)
    }
}

/// Receives the panels of a product while they are still in registers.
///
/// A trait, not a closure: a closure that is not inlined would lose the instruction set.
pub(super) trait Sink<S: Simd> {
    /// How many vectors it has room for.
    fn vectors(&self) -> usize;

    /// Receives vectors `first..first + N` of the product.
    fn take<const N: usize>(&mut self, simd: S, first: usize, panel: [S::f64s; N]);
}

/// Writes the product as it is.
pub(super) struct Store<'a, S: Simd>(pub(super) &'a mut [S::f64s]);

impl<S: Simd> Sink<S> for Store<'_, S> {
    #[inline(always)]
    fn vectors(&self) -> usize {
        self.0.len()
    }

    #[inline(always)]
    fn take<const N: usize>(&mut self, _simd: S, first: usize, panel: [S::f64s; N]) {
        self.0[first..first + N].copy_from_slice(&panel);
    }
}

/// A vector to multiply with a table.
#[derive(Clone, Copy)]
pub(super) struct Operand<'a> {
    /// One entry per row, then anything up to a whole cache line.
    padded: &'a [f64],
    rows: usize,
}

impl<'a> Operand<'a> {
    #[inline(always)]
    pub(super) fn new(rows: usize, padded: &'a [f64]) -> Self {
        Self { padded, rows }
    }

    #[inline(always)]
    pub(super) fn entries(self) -> &'a [f64] {
        &self.padded[..self.rows]
    }

    #[inline(always)]
    fn vectors<S: Simd>(self) -> &'a [S::f64s] {
        S::as_simd_f64s(self.padded).0
    }
}

/// A stored table, ready to be multiplied with vectors.
pub(super) trait Kernel<S: Simd> {
    /// Multiplies the vector `x` with the table.
    fn multiply<R: Semiring>(&self, simd: S, x: Operand<'_>, sink: &mut impl Sink<S>);
}

/// Work on a table with the kernel that suits it.
pub(super) trait WithKernel<S: Simd> {
    type Output;

    fn run(self, simd: S, kernel: &impl Kernel<S>) -> Self::Output;
}

/// Chooses the kernel once, outside the loop over positions.
#[inline(always)]
pub(super) fn with_kernel<S: Simd, W: WithKernel<S>>(
    simd: S,
    layout: &Layout,
    values: &[f64],
    with: W,
) -> W::Output {
    debug_assert_eq!(S::F64_LANES, layout.lanes);
    let vectors = S::as_simd_f64s(values).0;
    match &layout.storage {
        Storage::Dense => match layout.vectors() {
            1 => with.run(simd, &Panel::<S, 1, 8>(pulp::as_arrays(vectors).0)),
            2 => with.run(simd, &Panel::<S, 2, 4>(pulp::as_arrays(vectors).0)),
            4 => with.run(simd, &Panel::<S, 4, 2>(pulp::as_arrays(vectors).0)),
            8 => with.run(simd, &Panel::<S, 8, 1>(pulp::as_arrays(vectors).0)),
            _ => with.run(simd, &Panels::<S> { columns: layout.vectors(), vectors }),
        },
        Storage::Blocks { starts, groups } => {
            with.run(simd, &Blocks::<S> { starts, groups, blocks: pulp::as_arrays(vectors).0 })
        }
        Storage::Picks { starts, picks } => {
            with.run(simd, &Picks::<S> { starts, picks, entries: pulp::as_arrays(vectors).0 })
        }
    }
}

/// The product with the transpose of a dense table, over the same entries; vectors to multiply with
/// it are zero in their padding.
#[inline(always)]
pub(super) fn with_transposed_kernel<S: Simd, W: WithKernel<S>>(
    simd: S,
    layout: &Layout,
    values: &[f64],
    with: W,
) -> W::Output {
    debug_assert_eq!(S::F64_LANES, layout.lanes);
    let (rows, columns) = (layout.rows, layout.vectors());
    with.run(simd, &Transposed::<S> { rows, columns, vectors: S::as_simd_f64s(values).0 })
}

/// A dense table of `N` vectors of columns, its rows taken in `U` interleaved groups.
struct Panel<'a, S: Simd, const N: usize, const U: usize>(&'a [[S::f64s; N]]);

/// A dense table of any number of columns.
struct Panels<'a, S: Simd> {
    /// In vectors.
    columns: usize,
    vectors: &'a [S::f64s],
}

/// The transpose of a dense table: a dot product for each of its rows.
struct Transposed<'a, S: Simd> {
    rows: usize,
    /// In vectors.
    columns: usize,
    vectors: &'a [S::f64s],
}

/// A sparse table whose columns share rows.
struct Blocks<'a, S: Simd> {
    starts: &'a [u32],
    groups: &'a [Group],
    blocks: &'a [[S::f64s; Group::BLOCKS]],
}

/// A sparse table whose lanes have rows of their own.
struct Picks<'a, S: Simd> {
    starts: &'a [u32],
    picks: &'a [Pick],
    entries: &'a [[S::f64s; Pick::STEPS]],
}

impl<S: Simd, const N: usize, const U: usize> Kernel<S> for Panel<'_, S, N, U> {
    #[inline(always)]
    fn multiply<R: Semiring>(&self, simd: S, x: Operand<'_>, sink: &mut impl Sink<S>) {
        self.take::<R>(simd, 0, x.entries(), sink);
    }
}

impl<S: Simd> Kernel<S> for Panels<'_, S> {
    #[inline(always)]
    fn multiply<R: Semiring>(&self, simd: S, x: Operand<'_>, sink: &mut impl Sink<S>) {
        let x = x.entries();
        let (mut first, mut rest) = (0, self.vectors);
        while first < self.columns {
            let width = panel_width(self.columns - first);
            let (panel, after) = rest.split_at(width * x.len());
            // Each arm has eight chains of additions in flight, enough to hide their latency.
            match width {
                8 => Panel::<S, 8, 1>(pulp::as_arrays(panel).0).take::<R>(simd, first, x, sink),
                4 => Panel::<S, 4, 2>(pulp::as_arrays(panel).0).take::<R>(simd, first, x, sink),
                2 => Panel::<S, 2, 4>(pulp::as_arrays(panel).0).take::<R>(simd, first, x, sink),
                _ => Panel::<S, 1, 8>(pulp::as_arrays(panel).0).take::<R>(simd, first, x, sink),
            }
            first += width;
            rest = after;
        }
    }
}

impl<S: Simd, const N: usize, const U: usize> Panel<'_, S, N, U> {
    #[inline(always)]
    fn take<R: Semiring>(&self, simd: S, first: usize, x: &[f64], sink: &mut impl Sink<S>) {
        sink.take(simd, first, rows::<S, R, N, U>(simd, self.0, x));
    }
}

impl<S: Simd> Kernel<S> for Transposed<'_, S> {
    #[inline(always)]
    fn multiply<R: Semiring>(&self, simd: S, x: Operand<'_>, sink: &mut impl Sink<S>) {
        let x = &x.vectors::<S>()[..self.columns];
        // As many rows at a time as a vector of the result has lanes.
        for first in (0..self.rows).step_by(S::F64_LANES) {
            let rows = first..self.rows.min(first + S::F64_LANES);
            let mut totals = [R::zero(simd); LINE];
            let (mut x, mut rest) = (x, self.vectors);
            while !x.is_empty() {
                let width = panel_width(x.len());
                let (panel, after) = rest.split_at(width * self.rows);
                let own = &panel[width * rows.start..width * rows.end];
                match width {
                    8 => dot_rows::<S, R, 8>(simd, own, x, &mut totals),
                    4 => dot_rows::<S, R, 4>(simd, own, x, &mut totals),
                    2 => dot_rows::<S, R, 2>(simd, own, x, &mut totals),
                    _ => dot_rows::<S, R, 1>(simd, own, x, &mut totals),
                }
                (x, rest) = (&x[width..], after);
            }
            let mut line = [0.0; LINE];
            for (value, total) in line.iter_mut().zip(totals).take(rows.len()) {
                *value = R::reduce(simd, total);
            }
            let (vectors, _) = S::as_simd_f64s(&line);
            sink.take(simd, first / S::F64_LANES, [vectors[0]]);
        }
    }
}

impl<S: Simd> Kernel<S> for Blocks<'_, S> {
    #[inline(always)]
    fn multiply<R: Semiring>(&self, simd: S, x: Operand<'_>, sink: &mut impl Sink<S>) {
        for (panel, bounds) in self.starts.windows(2).enumerate() {
            let range = bounds[0] as usize..bounds[1] as usize;
            let (blocks, groups) = (&self.blocks[range.clone()], &self.groups[range]);
            sink.take(simd, panel, [gathered_rows::<S, R>(simd, blocks, groups, x.entries())]);
        }
    }
}

impl<S: Simd> Kernel<S> for Picks<'_, S> {
    #[inline(always)]
    fn multiply<R: Semiring>(&self, simd: S, x: Operand<'_>, sink: &mut impl Sink<S>) {
        let x = x.vectors::<S>();
        for (panel, bounds) in self.starts.windows(2).enumerate() {
            let range = bounds[0] as usize..bounds[1] as usize;
            let mut totals = [R::zero(simd); Pick::STEPS];
            for (pick, entries) in self.picks[range.clone()].iter().zip(&self.entries[range]) {
                let x = pick.select(simd, pick.rows.map(|vector| x[usize::from(vector)]));
                for step in 0..Pick::STEPS {
                    totals[step] = R::accumulate(simd, x[step], entries[step], totals[step]);
                }
            }
            sink.take(simd, panel, [R::join(simd, totals[0], totals[1])]);
        }
    }
}

/// The product with a panel of `N` vectors, its rows taken in `U` interleaved groups.
#[inline(always)]
fn rows<S: Simd, R: Semiring, const N: usize, const U: usize>(
    simd: S,
    table_rows: &[[S::f64s; N]],
    x: &[f64],
) -> [S::f64s; N] {
    let mut totals = [[R::zero(simd); N]; U];
    let (groups, last_rows) = pulp::as_arrays::<U, _>(table_rows);
    let (x_groups, last_x) = pulp::as_arrays::<U, _>(x);
    for (group, x) in groups.iter().zip(x_groups) {
        for u in 0..U {
            let x = simd.splat_f64s(x[u]);
            for v in 0..N {
                totals[u][v] = R::accumulate(simd, x, group[u][v], totals[u][v]);
            }
        }
    }
    for (row, &x) in last_rows.iter().zip(last_x) {
        let x = simd.splat_f64s(x);
        for v in 0..N {
            totals[0][v] = R::accumulate(simd, x, row[v], totals[0][v]);
        }
    }
    let mut groups = U;
    while groups > 1 {
        groups /= 2;
        let (first, second) = totals.split_at_mut(groups);
        for (a, b) in first.iter_mut().zip(second) {
            for v in 0..N {
                a[v] = R::join(simd, a[v], b[v]);
            }
        }
    }
    totals[0]
}

/// Adds the products of some rows of a panel of `N` vectors with `x` to the totals, lane by lane.
#[inline(always)]
fn dot_rows<S: Simd, R: Semiring, const N: usize>(
    simd: S,
    rows: &[S::f64s],
    x: &[S::f64s],
    totals: &mut [S::f64s; LINE],
) {
    let x: [S::f64s; N] = std::array::from_fn(|v| x[v]);
    for (row, total) in pulp::as_arrays::<N, _>(rows).0.iter().zip(totals) {
        for v in 0..N {
            *total = R::accumulate(simd, x[v], row[v], *total);
        }
    }
}

/// One vector of columns, over the rows that are stored.
#[inline(always)]
fn gathered_rows<S: Simd, R: Semiring>(
    simd: S,
    blocks: &[[S::f64s; Group::BLOCKS]],
    groups: &[Group],
    x: &[f64],
) -> S::f64s {
    let mut totals = [R::zero(simd); Group::BLOCKS];
    for (block, group) in blocks.iter().zip(groups) {
        let rows = group.rows();
        for u in 0..Group::BLOCKS {
            totals[u] = R::accumulate(simd, simd.splat_f64s(x[rows[u]]), block[u], totals[u]);
        }
    }
    let left = R::join(simd, totals[0], totals[1]);
    let right = R::join(simd, totals[2], totals[3]);
    R::join(simd, left, right)
}
