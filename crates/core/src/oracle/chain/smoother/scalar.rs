//! Every state a process of its own: in the scale of standard deviations the inverse covariance of
//! such a process has three diagonals.

use super::Node;

/// Correlations are no nearer to 1: the process then has noise of its own.
const MOST_CORRELATION: f64 = 1.0 - 1e-9;

/// A state at a position.
#[derive(Clone, Copy, Default)]
struct Cell {
    /// The variance; 0 where nothing is passed on.
    variance: f64,
    /// What it is observed with, relative to the variance; 0 where it is not observed.
    precision: f64,
    /// The correlation with the position after.
    correlation: f64,
}

pub(super) struct Scalar {
    /// `[positions]`
    starts: Vec<Option<usize>>,
    /// `[positions][states]`
    cells: Vec<Vec<Cell>>,
    shift: Vec<f64>,
    width: usize,
}

impl Scalar {
    pub fn new(
        nodes: Vec<Node>,
        shift: &[f64],
        mut stays: impl FnMut(usize) -> Option<Vec<f64>>,
    ) -> Self {
        let mut cells: Vec<Vec<Cell>> = nodes.iter().map(|node| own_cells(node, shift)).collect();
        for t in 0..nodes.len().saturating_sub(1) {
            let Some(stays) = stays(t) else { continue };
            let (here, next) = (&nodes[t].marginal, &nodes[t + 1].marginal);
            for (i, stays) in stays.into_iter().enumerate() {
                let deviation = (cells[t][i].variance * cells[t + 1][i].variance).sqrt();
                if deviation > 0.0 {
                    let correlation = (stays - here[i] * next[i]) / deviation;
                    cells[t][i].correlation =
                        correlation.clamp(-MOST_CORRELATION, MOST_CORRELATION);
                }
            }
        }
        let width = nodes.iter().map(|node| node.marginal.len()).max().unwrap_or(0);
        let starts = nodes.iter().map(|node| node.start).collect();
        Self { starts, cells, shift: shift.to_vec(), width }
    }

    /// `R⁻¹(R⁻¹ + E⁻¹)⁻¹E⁻¹` of each state, for the correlations `R` and the noise `E` of what is
    /// observed, both in the scale of standard deviations.
    pub fn divide(&mut self, right: &[f64], quotient: &mut [f64]) {
        quotient.fill(0.0);
        for state in 0..self.width {
            let mut first = 0;
            while first < self.cells.len() {
                let last = self.last_of_process(first, state);
                self.divide_process(first..last + 1, state, right, quotient);
                first = last + 1;
            }
        }
    }

    /// The last position that is correlated with the first.
    fn last_of_process(&self, first: usize, state: usize) -> usize {
        let mut last = first;
        while self.cells[last].get(state).is_some_and(|cell| cell.correlation != 0.0) {
            last += 1;
        }
        last
    }

    fn divide_process(
        &self,
        process: std::ops::Range<usize>,
        state: usize,
        right: &[f64],
        quotient: &mut [f64],
    ) {
        let cell = |t: usize| self.cells[t].get(state).copied().unwrap_or_default();
        let length = process.len();
        let at = |t: usize| {
            let start = self.starts[t].filter(|_| state < self.cells[t].len())?;
            Some(start + state)
        };
        // The three diagonals of `R⁻¹`, and Thomas's elimination.
        let (mut diagonal, mut beside) = (vec![1.0; length], vec![0.0; length]);
        for (k, t) in process.clone().enumerate().take(length - 1) {
            let r = cell(t).correlation;
            let share = 1.0 / ((1.0 - r) * (1.0 + r));
            diagonal[k] += r * r * share;
            diagonal[k + 1] += r * r * share;
            beside[k] = -r * share;
        }
        let mut pivots = vec![0.0; length];
        let mut x = vec![0.0; length];
        for (k, t) in process.clone().enumerate() {
            let Cell { variance, precision, .. } = cell(t);
            let given = at(t).filter(|_| precision > 0.0).map_or(0.0, |at| right[at]);
            x[k] = if variance > 0.0 { precision * given / variance.sqrt() } else { 0.0 };
            pivots[k] = diagonal[k] + precision;
            if k > 0 {
                let factor = beside[k - 1] / pivots[k - 1];
                pivots[k] -= factor * beside[k - 1];
                x[k] -= factor * x[k - 1];
            }
        }
        for k in (0..length).rev() {
            let after = if k + 1 < length { beside[k] * x[k + 1] } else { 0.0 };
            x[k] = (x[k] - after) / pivots[k];
        }
        for (k, t) in process.enumerate() {
            let Cell { variance, precision, .. } = cell(t);
            let Some(at) = at(t).filter(|&at| self.shift[at].is_finite()) else { continue };
            if variance == 0.0 {
                quotient[at] = right[at] / self.shift[at].max(f64::MIN_POSITIVE);
            } else if precision > 0.0 {
                let before = if k > 0 { beside[k - 1] * x[k - 1] } else { 0.0 };
                let after = if k + 1 < length { beside[k] * x[k + 1] } else { 0.0 };
                quotient[at] = (before + diagonal[k] * x[k] + after) / variance.sqrt();
            }
        }
    }
}

fn own_cells(node: &Node, shift: &[f64]) -> Vec<Cell> {
    let own = |(i, m): (usize, &f64)| {
        let variance = m * (1.0 - m);
        // Where that is next to nothing, the shift decides.
        let variance = if variance < 1e-280 { 0.0 } else { variance };
        let shift = node.start.map_or(f64::INFINITY, |start| shift[start + i]);
        let precision = if shift.is_finite() { (variance / shift).min(1e12) } else { 0.0 };
        Cell { variance, precision, correlation: 0.0 }
    };
    node.marginal.iter().enumerate().map(own).collect()
}
