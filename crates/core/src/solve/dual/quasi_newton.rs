//! Limited-memory BFGS directions in the free coordinates of a box.

use std::ops::Range;

use pulp::Simd;

use crate::vector::aligned::padded;
use crate::vector::{Aligned, Entry, Formula, Number, Reduced, Reduction, dispatch, pass};

/// An end of a step: where it is, the gradient there, and the inverse of the curvature in each
/// coordinate, 0 where it is not free.
pub(in crate::solve) struct End<'a> {
    pub unknowns: &'a [f64],
    pub gradient: &'a [f64],
    pub diagonal: &'a [f64],
}

/// Pairs of steps and gradient changes, and the two-loop recursion over them, in one pass for each
/// step of each loop.
pub(in crate::solve) struct Memory {
    coordinates: usize,
    /// From one vector to the next: whole cache lines.
    stride: usize,
    /// How many pairs are kept.
    size: usize,
    /// `[size + 1][stride]`
    steps: Aligned,
    /// `[size + 1][stride]`
    changes: Aligned,
    /// Pairs kept so far; the latest still count.
    kept: usize,
    /// First pair that still counts.
    first: usize,
    /// What the recursion needs of each pair. `[size + 1]`
    factors: Vec<Factors>,
}

/// Of one pair, over the free coordinates.
#[derive(Clone, Copy, Default)]
struct Factors {
    /// `⟨step, change⟩`, infinite where that is too small to use, which makes the pair count for
    /// nothing.
    curvature: f64,
    /// `⟨change, diagonal·change⟩`
    weighted: f64,
    /// By how much of the change the first loop moves the direction.
    share: f64,
}

impl Factors {
    /// From `⟨step, direction⟩`, `⟨step, change⟩`, `⟨step, step⟩`, `⟨change, change⟩` and
    /// `⟨change, diagonal·change⟩`.
    fn new([along, product, steps, changes, weighted]: [f64; 5]) -> Self {
        // Where rounding would rule it, a pair is of no use.
        let usable = product > 1e-12 * (steps * changes).sqrt();
        let curvature = if usable { product } else { f64::INFINITY };
        Self { curvature, weighted, share: along / curvature }
    }
}

impl Memory {
    pub fn new(coordinates: usize, size: usize) -> Self {
        let (slots, stride) = (size + 1, padded(coordinates));
        Self {
            coordinates,
            stride,
            size,
            steps: Aligned::filled(slots * stride, 0.0),
            changes: Aligned::filled(slots * stride, 0.0),
            kept: 0,
            first: 0,
            factors: vec![Factors::default(); slots],
        }
    }

    pub fn forget(&mut self) {
        self.first = self.kept;
    }

    pub fn is_empty(&self) -> bool {
        self.first == self.kept
    }

    /// Remembers the step from one iterate to another and what it did to the gradient; the next
    /// direction is asked for at its end.
    pub fn keep(&mut self, from: End, to: End) {
        let range = self.range(self.kept);
        let (steps, changes) = (&mut self.steps[range.clone()], &mut self.changes[range]);
        let numbers = [to.unknowns, from.unknowns, to.gradient, from.gradient, to.diagonal];
        let Reduced { sums: products, .. } = pass(Kept, [steps, changes], numbers);
        let slot = self.slot(self.kept);
        self.factors[slot] = Factors::new(products);
        self.kept += 1;
        self.first = self.first.max(self.kept.saturating_sub(self.size));
    }

    /// `direction ← −B·gradient` in the free coordinates, where `diagonal` is positive, and 0
    /// elsewhere, where it is 0; `B` is the inverse Hessian that the pairs update from `diagonal`.
    ///
    /// Where the diagonal says too little, `project` takes what it made of a vector to what counts
    /// of it: a projection whose adjoint leaves gradients as they are, so that `B` stays symmetric.
    pub fn direction(
        &mut self,
        gradient: &[f64],
        diagonal: &[f64],
        direction: &mut [f64],
        project: &mut impl FnMut(&mut [f64]),
    ) {
        dispatch(Recursion { memory: self, gradient, diagonal, direction, project });
    }

    /// The diagonal knows the problem's scales; the latest pair of use corrects it by a factor.
    #[inline(always)]
    fn scale(&self) -> f64 {
        let scale = |pair: usize| {
            let Factors { curvature, weighted, .. } = self.factors[self.slot(pair)];
            curvature / weighted
        };
        let mut scales = (self.first..self.kept).rev().map(scale);
        scales.find(|scale| scale.is_finite()).filter(|scale| *scale > 0.0).unwrap_or(1.0)
    }

    #[inline(always)]
    fn slot(&self, pair: usize) -> usize {
        pair % (self.size + 1)
    }

    #[inline(always)]
    fn range(&self, pair: usize) -> Range<usize> {
        let slot = self.slot(pair);
        slot * self.stride..slot * self.stride + self.coordinates
    }

    #[inline(always)]
    fn pair(&self, pair: usize) -> (&[f64], &[f64]) {
        let range = self.range(pair);
        (&self.steps[range.clone()], &self.changes[range])
    }
}

/// What [`Memory::keep`] makes of a step: the step, the change, and the products of
/// [`Factors::new`].
#[derive(Clone, Copy)]
struct Kept;

impl Formula<2, 5, 5, 0> for Kept {
    #[inline(always)]
    fn at<N: Number>(self, _: [N; 2], [x, old_x, g, old_g, d]: [N; 5]) -> Entry<N, 2, 5, 0> {
        let (step, change) = (x - old_x, g - old_g);
        let products = products([-g, step, change, d]);
        Entry { values: [step, change], products, sizes: [] }
    }
}

/// The products of [`Factors::new`], given direction, step, change and diagonal.
#[inline(always)]
fn products<N: Number>([q, step, change, d]: [N; 4]) -> [[N; 2]; 5] {
    let zero = d.splat(0.0);
    let is_free = zero.is_below(d);
    let (s, c) = (N::choose(is_free, step, zero), N::choose(is_free, change, zero));
    [[s, q], [s, c], [s, s], [c, c], [c * d, c]]
}

/// [`Memory::direction`]
struct Recursion<'a, P> {
    memory: &'a mut Memory,
    gradient: &'a [f64],
    diagonal: &'a [f64],
    direction: &'a mut [f64],
    project: &'a mut P,
}

impl<P: FnMut(&mut [f64])> pulp::WithSimd for Recursion<'_, P> {
    type Output = ();

    #[inline(always)]
    fn with_simd<S: Simd>(self, simd: S) {
        let Self { memory, gradient, diagonal, direction, project } = self;
        direction.iter_mut().zip(gradient).for_each(|(q, g)| *q = -g);
        if memory.is_empty() {
            direction.iter_mut().zip(diagonal).for_each(|(q, d)| *q *= d);
            project(direction);
            return;
        }
        let (first, last) = (memory.first, memory.kept - 1);
        for pair in (first + 1..=last).rev() {
            let (_, change) = memory.pair(pair);
            let (older_step, older_change) = memory.pair(pair - 1);
            let mut totals = Reduction::new(simd);
            let share = totals.all(-memory.factors[memory.slot(pair)].share);
            totals.sweep(
                [&mut *direction],
                [change, older_step, older_change, diagonal],
                #[inline(always)]
                |[q], [change, s, c, d]| {
                    let q = change.times_plus(share, q);
                    Entry { values: [q], products: products([q, s, c, d]), sizes: [] }
                },
            );
            let slot = memory.slot(pair - 1);
            let Reduced { sums, sizes: [] } = totals.finish();
            memory.factors[slot] = Factors::new(sums);
        }
        let share = memory.factors[memory.slot(first)].share;
        let scale = memory.scale();
        let (_, change) = memory.pair(first);
        let places = direction.iter_mut().zip(change.iter().zip(diagonal));
        places.for_each(|(q, (change, d))| *q = scale * d * (*q - share * change));
        project(direction);
        let mut totals = Reduction::new(simd);
        totals.sweep(
            [],
            [change, direction],
            #[inline(always)]
            |[], product| Entry { values: [], products: [product], sizes: [] },
        );
        let Reduced { sums: [mut along], sizes: [] } = totals.finish();
        for pair in first..=last {
            let Factors { curvature, share, .. } = memory.factors[memory.slot(pair)];
            let (step, _) = memory.pair(pair);
            // The last has no newer one: any vector will do.
            let newer_change = if pair < last { memory.pair(pair + 1).1 } else { step };
            let mut totals = Reduction::new(simd);
            let (back, zero) = (totals.all(share - along / curvature), totals.all(0.0));
            totals.sweep(
                [&mut *direction],
                [step, newer_change, diagonal],
                #[inline(always)]
                |[q], [s, c, d]| {
                    let q = Number::choose(zero.is_below(d), s.times_plus(back, q), zero);
                    Entry { values: [q], products: [[c, q]], sizes: [] }
                },
            );
            Reduced { sums: [along], sizes: [] } = totals.finish();
        }
    }
}
