//! The limited-memory BFGS direction, in the coordinates of the vectors it combines.
//!
//! `d = −H g` is a combination of `g` and the `2m` vectors `s_i` (steps) and `y_i` (changes of the
//! gradient). The two-loop recursion needs only their inner products. So the long vectors are read
//! twice per iteration, once for products with the newest and once for the combination; the plain
//! recursion would read them five times.
//!
//! Vectors are kept in single precision, products and sums in double, since they hold most of the
//! memory of training. Curvature is an estimate anyway, and the direction descends as long as the
//! products are those of the stored vectors.

use std::collections::VecDeque;

use super::vectors::{Vector, combine, dots};

/// A step and the change of the gradient along it.
pub(super) type Pair = (Vec<f32>, Vec<f32>);

/// Steps and changes of the gradient, with their inner products.
#[derive(Clone, Debug, Default)]
pub(super) struct Memory {
    pub(super) pairs: VecDeque<Pair>,
    /// `s_i·y_j` `[i][j]`
    steps_changes: Vec<Vec<f64>>,
    /// `y_i·y_j` `[i][j]`
    changes_changes: Vec<Vec<f64>>,
}

impl Memory {
    pub(super) fn clear(&mut self) {
        *self = Self::default();
    }

    /// Removes the oldest pair and returns its memory for reuse.
    pub(super) fn pop_oldest(&mut self) -> Option<Pair> {
        let oldest = self.pairs.pop_front()?;
        for products in [&mut self.steps_changes, &mut self.changes_changes] {
            products.remove(0);
            for row in products.iter_mut() {
                row.remove(0);
            }
        }
        Some(oldest)
    }

    /// Adds a step and a change.
    pub(super) fn push(&mut self, (step, change): Pair) {
        let old = self.pairs.len();
        self.pairs.push_back((step, change));
        let (step, change) = &self.pairs[old];
        let (step, change) = (Vector::from(step), Vector::from(change));
        let mut products: Vec<(Vector, Vector)> = Vec::with_capacity(3 * old + 2);
        for (s, y) in self.pairs.range(..old) {
            products.extend([(step, y.into()), (s.into(), change), (y.into(), change)]);
        }
        products.extend([(step, change), (change, change)]);
        let found = dots(&products);
        let (own, with_old) = (&found[3 * old..], found.chunks(3).take(old));
        self.steps_changes.push(Vec::with_capacity(old + 1));
        self.changes_changes.push(Vec::with_capacity(old + 1));
        for (i, of) in with_old.enumerate() {
            self.steps_changes[old].push(of[0]);
            self.steps_changes[i].push(of[1]);
            self.changes_changes[old].push(of[2]);
            self.changes_changes[i].push(of[2]);
        }
        self.steps_changes[old].push(own[0]);
        self.changes_changes[old].push(own[1]);
    }

    /// Writes `−H g`.
    pub(super) fn direction(&self, gradient: &[f64], out: &mut [f64]) {
        let (count, gradient) = (self.pairs.len(), Vector::from(gradient));
        let products: Vec<(Vector, Vector)> = self
            .pairs
            .iter()
            .flat_map(|(s, y)| [(s.into(), gradient), (y.into(), gradient)])
            .collect();
        let with_gradient = dots(&products);
        // d = of_gradient·g + Σ of_steps_i s_i + Σ of_changes_i y_i
        let mut of_gradient = -1.0;
        let (mut of_steps, mut of_changes) = (vec![0.0; count], vec![0.0; count]);
        let mut removed = vec![0.0; count];
        for i in (0..count).rev() {
            let changes: f64 = (0..count).map(|j| of_changes[j] * self.steps_changes[i][j]).sum();
            let product = of_gradient * with_gradient[2 * i] + changes;
            removed[i] = product / self.steps_changes[i][i];
            of_changes[i] -= removed[i];
        }
        if let Some(last) = count.checked_sub(1) {
            let scale = self.steps_changes[last][last] / self.changes_changes[last][last];
            of_gradient *= scale;
            of_changes.iter_mut().for_each(|factor| *factor *= scale);
        }
        for i in 0..count {
            let others: f64 = (0..count)
                .map(|j| {
                    of_changes[j] * self.changes_changes[i][j]
                        + of_steps[j] * self.steps_changes[j][i]
                })
                .sum();
            let product = of_gradient * with_gradient[2 * i + 1] + others;
            of_steps[i] += removed[i] - product / self.steps_changes[i][i];
        }
        let mut terms: Vec<(f64, Vector)> = vec![(of_gradient, gradient)];
        for (i, (step, change)) in self.pairs.iter().enumerate() {
            terms.extend([(of_steps[i], step.into()), (of_changes[i], change.into())]);
        }
        combine(&terms, out);
    }
}
