//! Limited-memory BFGS directions in the free coordinates of a box.

use std::ops::Range;

use crate::vector::aligned::padded;
use crate::vector::{Aligned, Place, sums, sweep, vectorised};

/// An end of a step: where it is, the gradient there, and the inverse of the curvature in each coordinate, 0
/// where it is not free.
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
        let [x, old_x, g, old_g, d] =
            [to.unknowns, from.unknowns, to.gradient, from.gradient, to.diagonal];
        let (products, []) = vectorised(
            #[inline(always)]
            || {
                sweep(
                    [&mut *steps, &mut *changes],
                    [x, old_x, g, old_g, d],
                    #[inline(always)]
                    |_, [x, old_x, g, old_g, d]| {
                        let (step, change) = (x - old_x, g - old_g);
                        let (s, c) = if d > 0.0 { (step, change) } else { (0.0, 0.0) };
                        let terms = [-s * g, s * c, s * s, c * c, c * c * d];
                        Place { values: [step, change], terms, sizes: [] }
                    },
                )
            },
        );
        let slot = self.slot(self.kept);
        self.factors[slot] = Factors::new(products);
        self.kept += 1;
        self.first = self.first.max(self.kept.saturating_sub(self.size));
    }

    /// `direction ← −B·gradient` in the free coordinates, where `diagonal` is positive, and 0
    /// elsewhere, where it is 0; `B` is the inverse Hessian that the pairs update from `diagonal`.
    ///
    /// Where the diagonal says too little, `project` takes what it made of a vector to what counts of it:
    /// a projection whose adjoint leaves gradients as they are, so that `B` stays symmetric.
    pub fn direction(
        &mut self,
        gradient: &[f64],
        diagonal: &[f64],
        direction: &mut [f64],
        project: &mut impl FnMut(&mut [f64]),
    ) {
        vectorised(
            #[inline(always)]
            || self.recur(gradient, diagonal, direction, project),
        );
    }

    #[inline(always)]
    fn recur(
        &mut self,
        gradient: &[f64],
        diagonal: &[f64],
        direction: &mut [f64],
        project: &mut impl FnMut(&mut [f64]),
    ) {
        direction.iter_mut().zip(gradient).for_each(|(q, g)| *q = -g);
        if self.is_empty() {
            direction.iter_mut().zip(diagonal).for_each(|(q, d)| *q *= d);
            project(direction);
            return;
        }
        let (first, last) = (self.first, self.kept - 1);
        for pair in (first + 1..=last).rev() {
            let share = self.factors[self.slot(pair)].share;
            let (_, change) = self.pair(pair);
            let (older_step, older_change) = self.pair(pair - 1);
            let inputs = [change, older_step, older_change, diagonal];
            let (products, []) = sweep(
                [&mut *direction],
                inputs,
                #[inline(always)]
                |[q], [change, s, c, d]| {
                    let q = q - share * change;
                    let (s, c) = if d > 0.0 { (s, c) } else { (0.0, 0.0) };
                    Place { values: [q], terms: [s * q, s * c, s * s, c * c, c * c * d], sizes: [] }
                },
            );
            let slot = self.slot(pair - 1);
            self.factors[slot] = Factors::new(products);
        }
        let share = self.factors[self.slot(first)].share;
        let scale = self.scale();
        let (_, change) = self.pair(first);
        let places = direction.iter_mut().zip(change.iter().zip(diagonal));
        places.for_each(|(q, (change, d))| *q = scale * d * (*q - share * change));
        project(direction);
        let [mut along] = sums([change, direction], |[change, q]| [change * q]);
        for pair in first..=last {
            let Factors { curvature, share, .. } = self.factors[self.slot(pair)];
            let back = share - along / curvature;
            let (step, _) = self.pair(pair);
            // The last has no newer one: any vector will do.
            let newer_change = if pair < last { self.pair(pair + 1).1 } else { step };
            ([along], _) = sweep(
                [&mut *direction],
                [step, newer_change, diagonal],
                #[inline(always)]
                |[q], [s, c, d]| {
                    let q = if d > 0.0 { q + back * s } else { 0.0 };
                    Place { values: [q], terms: [c * q], sizes: [0.0; 0] }
                },
            );
        }
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
