//! Limited-memory BFGS directions in the free coordinates of a box.

use std::ops::Range;

use pulp::Simd;

use super::quasi_newton::Iterate;
use crate::vector::aligned::padded;
use crate::vector::{Aligned, Entry, Formula, Number, Reduced, Reduction, dispatch, dot, pass};

/// Takes what the diagonal made of a vector to what counts of it.
pub(super) type Projection<'a> = &'a mut dyn FnMut(&mut [f64]);

/// Pairs of steps and gradient changes, and the two-loop recursion over them.
pub(super) struct Memory {
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

/// Of a pair of step and change, over the free coordinates, with the direction that the first loop
/// made of the pairs after it.
#[derive(Clone, Copy, Default)]
struct Factors {
    /// `⟨step, change⟩`, infinite where that is too small to use, which makes the pair count for
    /// nothing.
    curvature: f64,
    /// `⟨change, diagonal·change⟩`
    weighted: f64,
    /// `⟨change, diagonal·direction⟩`
    turned: f64,
    /// By how much of the change the first loop moves the direction.
    share: f64,
}

impl Factors {
    /// From sums of [`products`].
    fn new([along, product, steps, changes, weighted, turned]: [f64; 6]) -> Self {
        // Where rounding would rule it, a pair is of no use.
        let usable = product > 1e-12 * (steps * changes).sqrt();
        let curvature = if usable { product } else { f64::INFINITY };
        Self { curvature, weighted, turned, share: along / curvature }
    }

    /// By how much of the step the second loop moves a direction that has this product with the
    /// change.
    #[inline(always)]
    fn back(&self, along: f64) -> f64 {
        self.share - along / self.curvature
    }
}

/// What [`Factors::new`] needs, given direction, step, change and diagonal.
#[inline(always)]
fn products<N: Number>([q, step, change, d]: [N; 4]) -> [[N; 2]; 6] {
    let zero = d.splat(0.0);
    let is_free = zero.is_below(d);
    let (s, c) = (N::choose(is_free, step, zero), N::choose(is_free, change, zero));
    [[s, q], [s, c], [s, s], [c, c], [c * d, c], [c * d, q]]
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

    /// How many pairs are kept.
    pub fn size(&self) -> usize {
        self.size
    }

    pub fn forget(&mut self) {
        self.first = self.kept;
    }

    pub fn is_empty(&self) -> bool {
        self.first == self.kept
    }

    /// Looks at the step from one iterate to another: the slope along it at its end.
    pub fn compare(&mut self, from: &Iterate, to: &Iterate) -> f64 {
        let range = self.range(self.kept);
        let (steps, changes) = (&mut self.steps[range.clone()], &mut self.changes[range]);
        let numbers = [&*to.unknowns, &from.unknowns, &to.gradient, &from.gradient, &to.diagonal];
        let Reduced { sums: [after, products @ ..], .. } =
            pass(Compared, [steps, changes], numbers);
        let slot = self.slot(self.kept);
        self.factors[slot] = Factors::new(products);
        after
    }

    /// Remembers the step that was last looked at; the next direction is asked for at its end.
    pub fn keep(&mut self) {
        self.kept += 1;
        self.first = self.first.max(self.kept.saturating_sub(self.size));
    }

    /// `direction ← −B·gradient` in the free coordinates, where `diagonal` is positive, and 0
    /// elsewhere, where it is 0; `B` is the inverse Hessian that the pairs update from `diagonal`,
    /// projected if it shall be.
    pub fn direction(
        &mut self,
        gradient: &[f64],
        diagonal: &[f64],
        direction: &mut [f64],
        project: Option<Projection>,
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

/// [`Memory::compare`]: step, change, the slope at the end, and the products of both with the
/// negative gradient.
#[derive(Clone, Copy)]
struct Compared;

impl Formula<2, 5, 7, 0> for Compared {
    #[inline(always)]
    fn at<N: Number>(self, _: [N; 2], [x, old_x, g, old_g, d]: [N; 5]) -> Entry<N, 2, 7, 0> {
        let (step, change) = (x - old_x, g - old_g);
        let [a, b, c, d, e, f] = products([-g, step, change, d]);
        Entry { values: [step, change], products: [[step, g], a, b, c, d, e, f], sizes: [] }
    }
}

/// [`Memory::direction`]
struct Recursion<'a, 'p> {
    memory: &'a mut Memory,
    gradient: &'a [f64],
    diagonal: &'a [f64],
    direction: &'a mut [f64],
    project: Option<Projection<'p>>,
}

impl pulp::WithSimd for Recursion<'_, '_> {
    type Output = ();

    #[inline(always)]
    fn with_simd<S: Simd>(self, simd: S) {
        let Self { memory, gradient, diagonal, direction, project } = self;
        if memory.is_empty() {
            let inputs = gradient.iter().zip(diagonal);
            direction.iter_mut().zip(inputs).for_each(|(q, (g, d))| *q = -g * d);
            return project.into_iter().for_each(|project| project(direction));
        }
        let (first, last) = (memory.first, memory.kept - 1);
        for pair in (first + 1..=last).rev() {
            let (_, change) = memory.pair(pair);
            let (older_step, older_change) = memory.pair(pair - 1);
            let mut totals = Reduction::new(simd);
            let share = totals.all(-memory.factors[memory.slot(pair)].share);
            totals.sweep(
                [&mut *direction],
                [gradient, change, older_step, older_change, diagonal],
                #[inline(always)]
                |[q], [g, change, s, c, d]| {
                    let q = change.times_plus(share, if pair == last { -g } else { q });
                    Entry { values: [q], products: products([q, s, c, d]), sizes: [] }
                },
            );
            let slot = memory.slot(pair - 1);
            let Reduced { sums, sizes: [] } = totals.finish();
            memory.factors[slot] = Factors::new(sums);
        }
        let factors = memory.factors[memory.slot(first)];
        let (step, change) = memory.pair(first);
        let scale = memory.scale();
        // What the second loop adds of the oldest step; after a projection only that will tell.
        let known = factors.back(scale * (factors.turned - factors.share * factors.weighted));
        let mut totals = Reduction::<S, 0, 0>::new(simd);
        let (share, scale) = (totals.all(-factors.share), totals.all(scale));
        let back = totals.all(if project.is_some() { 0.0 } else { known });
        let zero = totals.all(0.0);
        totals.sweep(
            [&mut *direction],
            [gradient, step, change, diagonal],
            #[inline(always)]
            |[q], [g, s, c, d]| {
                let q = c.times_plus(share, if first == last { -g } else { q });
                let q = Number::choose(zero.is_below(d), s.times_plus(back, q * scale * d), zero);
                Entry { values: [q], products: [], sizes: [] }
            },
        );
        if let Some(project) = project {
            project(direction);
            add(simd, factors.back(dot(change, direction)), step, diagonal, direction);
        }
        for pair in first + 1..=last {
            let (step, change) = memory.pair(pair);
            let back = memory.factors[memory.slot(pair)].back(dot(change, direction));
            add(simd, back, step, diagonal, direction);
        }
    }
}

/// Adds a part of a step to a direction, in the free coordinates.
#[inline(always)]
fn add<S: Simd>(simd: S, part: f64, step: &[f64], diagonal: &[f64], direction: &mut [f64]) {
    let mut totals = Reduction::<S, 0, 0>::new(simd);
    let (part, zero) = (totals.all(part), totals.all(0.0));
    totals.sweep(
        [direction],
        [step, diagonal],
        #[inline(always)]
        |[q], [s, d]| {
            let q = Number::choose(zero.is_below(d), s.times_plus(part, q), zero);
            Entry { values: [q], products: [], sizes: [] }
        },
    );
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A number between −½ and ½ for each place.
    fn noise(place: usize) -> f64 {
        (place as f64 * 0.618_033_988_749_894_9).fract() - 0.5
    }

    /// Where the gradient was 0 before the latest step, the direction after it leads back.
    #[test]
    fn the_latest_step_is_fitted_exactly() {
        const UNKNOWNS: usize = 21;
        for steps in 1..6 {
            let mut memory = Memory::new(UNKNOWNS, 3);
            let [mut old, mut new] = [0; 2].map(|_| Iterate::new(UNKNOWNS, 0));
            for step in 0..steps {
                for at in 0..UNKNOWNS {
                    new.unknowns[at] = noise(7 * at + 100 * step);
                    let moved = new.unknowns[at] - old.unknowns[at];
                    old.gradient[at] = if step + 1 == steps { 0.0 } else { old.gradient[at] };
                    new.gradient[at] = old.gradient[at] + (1.0 + at as f64) * moved;
                    new.diagonal[at] = if at == 5 { 0.0 } else { 1.0 / (2.0 + noise(at)) };
                }
                let after = memory.compare(&old, &new);
                let slope = dot(&new.unknowns, &new.gradient) - dot(&old.unknowns, &new.gradient);
                assert!((after - slope).abs() < 1e-12 * slope.abs().max(1.0));
                memory.keep();
                std::mem::swap(&mut old, &mut new);
            }
            let mut direction = vec![f64::NAN; UNKNOWNS];
            memory.direction(&old.gradient, &old.diagonal, &mut direction, None);
            for (at, found) in direction.iter().enumerate() {
                let moved = if at == 5 { 0.0 } else { old.unknowns[at] - new.unknowns[at] };
                assert!((found + moved).abs() < 1e-9, "{steps} steps, {at}: {found}, {moved}");
            }
        }
    }
}
