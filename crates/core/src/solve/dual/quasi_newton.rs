//! Limited-memory BFGS directions in the free coordinates of a box.

use crate::solve::engine::{dot, lanes};

/// How many past steps shape the direction; each costs four passes over the unknowns. On the
/// problems of `tests/stiff.rs`, 20 take as many oracle calls as 10.
const REMEMBERED: usize = 10;

/// Pairs of steps and gradient changes, and the two-loop recursion over them.
pub(super) struct Memory {
    coordinates: usize,
    /// `[REMEMBERED][coordinates]`
    steps: Vec<f64>,
    /// `[REMEMBERED][coordinates]`
    changes: Vec<f64>,
    /// Pairs pushed so far; the latest are kept.
    pushed: usize,
    /// First pair that still counts.
    first: usize,
    /// `⟨step, change⟩` over the free coordinates, 0 where that is too small to use.
    curvature: [f64; REMEMBERED],
    /// The coordinates for which these curvatures hold. `[coordinates]`
    free: Vec<f64>,
    /// Scratch of the recursion.
    factor: [f64; REMEMBERED],
}

impl Memory {
    pub fn new(coordinates: usize) -> Self {
        Self {
            coordinates,
            free: vec![0.0; coordinates],
            steps: vec![0.0; REMEMBERED * coordinates],
            changes: vec![0.0; REMEMBERED * coordinates],
            pushed: 0,
            first: 0,
            curvature: [0.0; REMEMBERED],
            factor: [0.0; REMEMBERED],
        }
    }

    pub fn forget(&mut self) {
        self.first = self.pushed;
    }

    pub fn is_empty(&self) -> bool {
        self.first == self.pushed
    }

    /// Remembers a step and what it did to the gradient.
    pub fn push(&mut self, pairs: impl Iterator<Item = (f64, f64)>) {
        let slot = self.pushed % REMEMBERED;
        let start = slot * self.coordinates;
        for (index, (step, change)) in pairs.enumerate() {
            self.steps[start + index] = step;
            self.changes[start + index] = change;
        }
        self.curvature[slot] = self.usable_curvature(slot);
        self.pushed += 1;
        self.first = self.first.max(self.pushed.saturating_sub(REMEMBERED));
    }

    /// `direction ← −B·gradient` in the free coordinates (where `free` is 1) and 0 elsewhere (where
    /// it is 0); `B` is the inverse Hessian that the pairs update from `diagonal`.
    pub fn direction(
        &mut self,
        gradient: &[f64],
        free: &[f64],
        diagonal: &[f64],
        direction: &mut [f64],
    ) {
        for ((d, g), f) in direction.iter_mut().zip(gradient).zip(free) {
            *d = -g * f;
        }
        if self.free != free {
            self.free.copy_from_slice(free);
            for pair in self.first..self.pushed {
                self.curvature[pair % REMEMBERED] = self.usable_curvature(pair % REMEMBERED);
            }
        }
        let mut scale = None;
        for pair in (self.first..self.pushed).rev() {
            let slot = pair % REMEMBERED;
            let curvature = self.curvature[slot];
            if curvature == 0.0 {
                continue;
            }
            let (step, change) = self.pair(slot);
            scale = scale.or_else(|| {
                let mut weighted = [0.0; 4];
                lanes([change, diagonal, free], |lane, [c, d, f]| weighted[lane] += c * c * d * f);
                Some(curvature / weighted.iter().sum::<f64>())
            });
            let factor = dot(step, direction) / curvature;
            add_scaled(direction, -factor, change, free);
            self.factor[slot] = factor;
        }
        // The diagonal knows the problem's scales; the latest pair corrects it by a factor.
        let scale = scale.filter(|s| s.is_finite() && *s > 0.0).unwrap_or(1.0);
        for (d, diagonal) in direction.iter_mut().zip(diagonal) {
            *d *= scale * diagonal;
        }
        for pair in self.first..self.pushed {
            let slot = pair % REMEMBERED;
            if self.curvature[slot] == 0.0 {
                continue;
            }
            let (step, change) = self.pair(slot);
            let back = self.factor[slot] - dot(change, direction) / self.curvature[slot];
            add_scaled(direction, back, step, free);
        }
    }

    /// `⟨step, change⟩` over the free coordinates, or 0 where rounding would rule it.
    fn usable_curvature(&self, slot: usize) -> f64 {
        let (step, change) = self.pair(slot);
        let (mut products, mut steps, mut changes) = ([0.0; 4], [0.0; 4], [0.0; 4]);
        lanes([step, change, &self.free], |lane, [s, c, f]| {
            products[lane] += s * c * f;
            steps[lane] += s * s * f;
            changes[lane] += c * c * f;
        });
        let sum = |lanes: [f64; 4]| lanes.iter().sum::<f64>();
        let size = (sum(steps) * sum(changes)).sqrt();
        if sum(products) > 1e-12 * size { sum(products) } else { 0.0 }
    }

    fn pair(&self, slot: usize) -> (&[f64], &[f64]) {
        let range = slot * self.coordinates..(slot + 1) * self.coordinates;
        (&self.steps[range.clone()], &self.changes[range])
    }
}

/// `target ← target + factor·values` in the free coordinates; elsewhere `target` is and stays 0.
fn add_scaled(target: &mut [f64], factor: f64, values: &[f64], free: &[f64]) {
    for ((target, value), f) in target.iter_mut().zip(values).zip(free) {
        *target += factor * value * f;
    }
}
