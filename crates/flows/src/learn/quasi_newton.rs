//! The memory of a limited-memory quasi-Newton method.

/// Steps whose curvature is remembered.
const MEMORY: usize = 10;

pub(super) fn dot(a: &[f64], b: &[f64]) -> f64 {
    a.iter().zip(b).map(|(a, b)| a * b).sum()
}

/// Latest steps, and how the gradient changed along them.
#[derive(Default)]
pub(super) struct Memory {
    steps: Vec<(Vec<f64>, Vec<f64>)>,
}

impl Memory {
    /// Remembers a step, if the function bends upwards along it.
    pub fn push(&mut self, step: Vec<f64>, change: Vec<f64>) {
        if dot(&step, &change) > 1e-12 * dot(&change, &change) {
            self.steps.push((step, change));
            self.steps.drain(..self.steps.len().saturating_sub(MEMORY));
        }
    }

    pub fn len(&self) -> usize {
        self.steps.len()
    }

    pub fn is_empty(&self) -> bool {
        self.steps.is_empty()
    }

    pub fn clear(&mut self) {
        self.steps.clear();
    }

    /// Where the remembered curvature expects the lowest value. `divide` divides a vector by an
    /// approximate curvature, which is corrected along the steps.
    pub fn direction(&self, gradient: &[f64], divide: &dyn Fn(&mut [f64])) -> Vec<f64> {
        let mut direction: Vec<f64> = gradient.iter().map(|g| -g).collect();
        let mut shares = Vec::with_capacity(self.steps.len());
        for (step, change) in self.steps.iter().rev() {
            let share = dot(step, &direction) / dot(step, change);
            direction.iter_mut().zip(change).for_each(|(d, c)| *d -= share * c);
            shares.push(share);
        }
        divide(&mut direction);
        if let Some((step, change)) = self.steps.last() {
            // The latest step tells the scale of the approximation.
            let mut divided = change.clone();
            divide(&mut divided);
            let scale = dot(step, change) / dot(change, &divided);
            direction.iter_mut().for_each(|d| *d *= scale);
        }
        for ((step, change), share) in self.steps.iter().zip(shares.into_iter().rev()) {
            let back = share - dot(change, &direction) / dot(step, change);
            direction.iter_mut().zip(step).for_each(|(d, s)| *d += back * s);
        }
        direction
    }
}

#[cfg(test)]
mod tests {
    use super::{Memory, dot};

    #[test]
    fn a_bent_valley_is_followed_to_its_lowest_point() {
        let evaluate = |x: &[f64]| {
            let (a, b) = (1.0 - x[0], x[1] - x[0] * x[0]);
            (a * a + 100.0 * b * b, vec![-2.0 * a - 400.0 * b * x[0], 200.0 * b])
        };
        let mut memory = Memory::default();
        let mut point = vec![-1.2, 1.0];
        let (mut value, mut gradient) = evaluate(&point);
        for _ in 0..200 {
            let direction =
                memory.direction(&gradient, &|v| v.iter_mut().for_each(|v| *v /= 100.0));
            let slope = dot(&gradient, &direction);
            let at = |length: f64| -> Vec<f64> {
                point.iter().zip(&direction).map(|(x, d)| x + length * d).collect()
            };
            let lengths = (0..12).map(|halves| 0.5f64.powi(halves));
            let falls = |length: &f64| evaluate(&at(*length)).0 <= value + 1e-4 * length * slope;
            let Some(length) = lengths.into_iter().find(falls) else { break };
            let there = at(length);
            let (own, slopes) = evaluate(&there);
            let step = there.iter().zip(&point).map(|(a, b)| a - b).collect();
            memory.push(step, slopes.iter().zip(&gradient).map(|(a, b)| a - b).collect());
            (point, value, gradient) = (there, own, slopes);
        }
        assert!(point.iter().all(|x| (x - 1.0).abs() < 1e-6), "{point:?}");
    }
}
