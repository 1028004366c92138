//! All states together: exact up to rounding.

use super::Node;

/// Pivots below this part of what they are differences of are rounding.
const LEAST_PIVOT: f64 = 1e-13;

/// A position, ready for [`Full::divide`].
struct Stage {
    start: Option<usize>,
    states: usize,
    /// Which states are observed.
    observed: Vec<bool>,
    /// What is not known of the position from those before it. `[states][states]`
    predicted: Vec<f64>,
    /// The lower Cholesky factor of `predicted + D` on the observed states. `[states][states]`
    factor: Vec<f64>,
    /// From the state to the next position's; empty where nothing is passed on. `[next][states]`
    step: Vec<f64>,
    /// The innovation of the vector that is divided. `[states]`
    innovation: Vec<f64>,
}

pub(super) struct Full {
    stages: Vec<Stage>,
}

impl Full {
    pub fn new(
        nodes: Vec<Node>,
        shift: &[f64],
        mut pairs: impl FnMut(usize) -> Option<Vec<f64>>,
    ) -> Self {
        // Nothing is known before the first observation, and nobody asks after the last.
        let is_observed = |node: &Node| {
            let own = node.start.map(|start| &shift[start..start + node.marginal.len()]);
            own.is_some_and(|own| own.iter().any(|shift| shift.is_finite()))
        };
        let first = nodes.iter().position(is_observed).unwrap_or(nodes.len());
        let end = nodes.iter().rposition(is_observed).map_or(first, |last| last + 1);
        let mut stages: Vec<Stage> = Vec::with_capacity(end - first);
        let mut predicted = None;
        for t in first..end {
            let node = &nodes[t];
            let own = covariance(&node.marginal);
            let here = predicted.take().unwrap_or_else(|| own.clone());
            let mut stage = Stage::new(node, shift, here);
            let next = nodes[..end].get(t + 1).and_then(|next| Some((next, pairs(t)?)));
            if let Some((next, pairs)) = next {
                stage.step = step(&node.marginal, next.marginal.len(), &pairs);
                predicted = Some(stage.predict(&own, &next.marginal));
            }
            stages.push(stage);
        }
        Self { stages }
    }

    pub fn divide(&mut self, right: &[f64], quotient: &mut [f64]) {
        quotient.fill(0.0);
        let mut mean = Vec::new();
        for stage in &mut self.stages {
            let n = stage.states;
            mean.resize(n, 0.0);
            for i in 0..n {
                let given = stage.start.map_or(0.0, |start| right[start + i]);
                stage.innovation[i] = if stage.observed[i] { given - mean[i] } else { 0.0 };
            }
            solve(&stage.factor, &mut stage.innovation);
            for (mean, row) in mean.iter_mut().zip(stage.predicted.chunks(n)) {
                *mean += row.iter().zip(&stage.innovation).map(|(p, q)| p * q).sum::<f64>();
            }
            mean = apply(&stage.step, &mean);
        }
        let mut later: Vec<f64> = Vec::new();
        for stage in self.stages.iter().rev() {
            let n = stage.states;
            let mut back = apply_transposed(&stage.step, &later, n);
            let mut change = vec![0.0; n];
            for (i, change) in change.iter_mut().enumerate().filter(|(i, _)| stage.observed[*i]) {
                let row = &stage.predicted[i * n..(i + 1) * n];
                *change = row.iter().zip(&back).map(|(p, r)| p * r).sum();
            }
            solve(&stage.factor, &mut change);
            for i in (0..n).filter(|&i| stage.observed[i]) {
                let own = stage.innovation[i] - change[i];
                back[i] += own;
                if let Some(start) = stage.start {
                    quotient[start + i] = own;
                }
            }
            later = back;
        }
    }
}

impl Stage {
    fn new(node: &Node, shift: &[f64], predicted: Vec<f64>) -> Self {
        let n = node.marginal.len();
        let own = node.start.map(|start| &shift[start..start + n]);
        let observed: Vec<bool> =
            (0..n).map(|i| own.is_some_and(|own| own[i].is_finite())).collect();
        let mut factor = predicted.clone();
        for i in 0..n {
            for j in 0..n {
                if !(observed[i] && observed[j]) {
                    factor[i * n + j] = if i == j { 1.0 } else { 0.0 };
                }
            }
            if observed[i] {
                factor[i * n + i] += own.expect("observed")[i];
            }
        }
        let scales: Vec<f64> = (0..n)
            .map(|i| if observed[i] { node.marginal[i] + own.expect("observed")[i] } else { 1.0 })
            .collect();
        decompose(&mut factor, &scales);
        let (start, step, innovation) = (node.start, Vec::new(), vec![0.0; n]);
        Self { start, states: n, observed, predicted, factor, step, innovation }
    }

    /// `V′ − F (V − P + P S⁻¹ P) Fᵀ`: what is not known of the next position.
    fn predict(&self, own: &[f64], next: &[f64]) -> Vec<f64> {
        let n = self.states;
        let mut known: Vec<f64> = own.iter().zip(&self.predicted).map(|(v, p)| v - p).collect();
        for j in (0..n).filter(|_| self.observed.contains(&true)) {
            let mut column: Vec<f64> = (0..n)
                .map(|i| if self.observed[i] { self.predicted[i * n + j] } else { 0.0 })
                .collect();
            solve(&self.factor, &mut column);
            for i in 0..n {
                let row = &self.predicted[i * n..(i + 1) * n];
                known[i * n + j] += row.iter().zip(&column).map(|(p, q)| p * q).sum::<f64>();
            }
        }
        let m = next.len();
        let mut half = vec![0.0; m * n];
        for a in 0..m {
            for j in 0..n {
                let row = &self.step[a * n..(a + 1) * n];
                half[a * n + j] = (0..n).map(|i| row[i] * known[i * n + j]).sum();
            }
        }
        let mut predicted = covariance(next);
        for a in 0..m {
            for b in 0..=a {
                let (left, right) = (&half[a * n..(a + 1) * n], &self.step[b * n..(b + 1) * n]);
                let known: f64 = left.iter().zip(right).map(|(l, r)| l * r).sum();
                let rest = predicted[a * m + b] - known;
                let rest = if a == b { rest.max(0.0) } else { rest };
                (predicted[a * m + b], predicted[b * m + a]) = (rest, rest);
            }
        }
        predicted
    }
}

/// `diag(μ) − μμᵀ`
fn covariance(marginal: &[f64]) -> Vec<f64> {
    let n = marginal.len();
    let mut covariance = vec![0.0; n * n];
    for (i, a) in marginal.iter().enumerate() {
        for (j, b) in marginal.iter().enumerate() {
            covariance[i * n + j] = if i == j { a * (1.0 - a) } else { -a * b };
        }
    }
    covariance
}

/// The probability of each state of the next position given one here. `[next][states]`
fn step(marginal: &[f64], next: usize, pairs: &[f64]) -> Vec<f64> {
    let n = marginal.len();
    let mut step = vec![0.0; next * n];
    for (i, row) in pairs.chunks(next).enumerate() {
        let total: f64 = row.iter().sum();
        if total > 0.0 {
            row.iter().enumerate().for_each(|(j, pair)| step[j * n + i] = pair / total);
        }
    }
    step
}

/// Cholesky's factor in the place of the lower triangle.
fn decompose(matrix: &mut [f64], scales: &[f64]) {
    let n = scales.len();
    for i in 0..n {
        for j in 0..=i {
            let (a, b) = (&matrix[i * n..i * n + j], &matrix[j * n..j * n + j]);
            let rest = matrix[i * n + j] - a.iter().zip(b).map(|(a, b)| a * b).sum::<f64>();
            matrix[i * n + j] = if i == j {
                rest.max(LEAST_PIVOT * scales[i]).max(f64::MIN_POSITIVE).sqrt()
            } else {
                rest / matrix[j * n + j]
            };
        }
    }
}

/// Solves the system of a factor.
fn solve(factor: &[f64], x: &mut [f64]) {
    let n = x.len();
    for i in 0..n {
        let sum: f64 = factor[i * n..i * n + i].iter().zip(&x[..i]).map(|(f, x)| f * x).sum();
        x[i] = (x[i] - sum) / factor[i * n + i];
    }
    for i in (0..n).rev() {
        let sum: f64 = (i + 1..n).map(|k| factor[k * n + i] * x[k]).sum();
        x[i] = (x[i] - sum) / factor[i * n + i];
    }
}

/// A matrix with as many columns as `x`, times it; nothing if there is none.
fn apply(matrix: &[f64], x: &[f64]) -> Vec<f64> {
    let row = |row: &[f64]| row.iter().zip(x).map(|(m, x)| m * x).sum();
    matrix.chunks(x.len()).map(row).collect()
}

/// The same of the transposed matrix with `columns` columns; zeros if there is none.
fn apply_transposed(matrix: &[f64], x: &[f64], columns: usize) -> Vec<f64> {
    let mut out = vec![0.0; columns];
    for (row, x) in matrix.chunks(columns).zip(x) {
        out.iter_mut().zip(row).for_each(|(out, m)| *out += m * x);
    }
    out
}
