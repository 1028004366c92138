//! Objectives, dual bounds and optima of small problems, by enumeration in double-double numbers.

use bethe_core::Penalty;
use bethe_core::energy::Rows;
use bethe_core::oracle::BruteForce;
use bethe_core::problem::BoundProblem;

use super::double_double::Precise;

/// So many steps of Newton's refine an optimum at most.
const REFINEMENTS: usize = 40;
/// Larger multipliers are not looked at.
const RANGE: f64 = 1e18;
/// Hard constraints that are off by no more are kept, at this precision.
const KEPT: f64 = 1e-20;

/// Everything about the joint states that an objective needs.
pub struct Truth {
    /// Scores of the allowed joint states.
    scores: Vec<Precise>,
    /// What each measurement comes to in each of them, offset included. `[rows][states]`
    measured: Vec<Vec<Precise>>,
    /// Their statistics on the support. `[states][support]`
    statistics: Vec<Vec<f64>>,
    weights: Vec<f64>,
    penalties: Vec<Penalty>,
}

/// A distribution over the joint states.
struct Distribution {
    probabilities: Vec<Precise>,
    log_partition: Precise,
    /// The measurements' expectations. `[rows]`
    expected: Vec<Precise>,
}

/// What is known of the optimum.
#[derive(Clone, Debug)]
pub struct Optimum {
    /// The objective at a point that keeps all hard constraints; none where none was found.
    pub above: Option<Precise>,
    /// A dual bound.
    pub below: Precise,
    /// The statistics at that point, if there is one. `[support]`
    pub marginals: Vec<f64>,
}

impl Truth {
    pub fn new(bound: &BoundProblem) -> Self {
        let base = &bound.base;
        let (support, measurements) = (bound.energies.support(), &bound.energies.measurements);
        let listed = BruteForce::new(base, support);
        let joint: usize = base.cardinalities.iter().product();
        let (mut scores, mut statistics) = (Vec::new(), Vec::new());
        for state in 0..joint {
            let score = score(bound, state);
            if score.rounded() == f64::NEG_INFINITY {
                continue;
            }
            let mut own = vec![0.0; support.len()];
            listed.add_statistics(state, 1.0, &mut own);
            scores.push(score);
            statistics.push(own);
        }
        let rows = measurements.rows();
        let measured = |row: usize, own: &Vec<f64>| {
            let parts = rows.entries(row).map(|(c, a)| Precise::from(a) * own[c].into());
            parts.sum::<Precise>() + rows.offset(row).into()
        };
        let measured = |row| statistics.iter().map(|own| measured(row, own)).collect();
        Self {
            measured: (0..measurements.len()).map(measured).collect(),
            scores,
            statistics,
            weights: measurements.weights().to_vec(),
            penalties: (0..measurements.len()).map(|row| measurements.penalty(row)).collect(),
        }
    }

    /// The distribution of scores that were moved.
    fn distribution(&self, moved: impl Fn(usize) -> Precise) -> Distribution {
        let scores: Vec<Precise> =
            self.scores.iter().enumerate().map(|(state, &score)| score + moved(state)).collect();
        let highest = scores.iter().copied().fold(scores[0], Precise::max);
        let mut probabilities: Vec<Precise> =
            scores.iter().map(|&score| (score - highest).exp()).collect();
        let total: Precise = probabilities.iter().copied().sum();
        probabilities.iter_mut().for_each(|probability| *probability = *probability / total);
        let expected = |row: &Vec<Precise>| {
            row.iter().zip(&probabilities).map(|(&value, &p)| value * p).sum::<Precise>()
        };
        let expected = self.measured.iter().map(expected).collect();
        Distribution { log_partition: highest + total.ln(), probabilities, expected }
    }

    /// `F` at marginals, as doubles have them, that a tilt led to: `⟨δ, μ⟩ − A(θ + δ) + L(μ)`. They
    /// belong to a tilt nearby, so this is off by the divergence between the two, which is tiny.
    pub fn objective(&self, rows: &Rows, tilt: &[f64], marginals: &[f64]) -> Precise {
        let dot = |a: &[f64], b: &[f64]| -> Precise {
            a.iter().zip(b).map(|(&a, &b)| Precise::from(a) * b.into()).sum()
        };
        let found = self.distribution(|state| dot(&self.statistics[state], tilt));
        let measured = |row: usize| {
            let parts = rows.entries(row).map(|(c, a)| Precise::from(a) * marginals[c].into());
            parts.sum::<Precise>() + rows.offset(row).into()
        };
        let measured: Vec<Precise> = (0..rows.len()).map(measured).collect();
        dot(tilt, marginals) - found.log_partition + self.energy(&measured)
    }

    fn energy(&self, expected: &[Precise]) -> Precise {
        let values = self.penalties.iter().zip(&self.weights).zip(expected);
        values.map(|((&penalty, &weight), &z)| Precise::from(weight) * value(penalty, z)).sum()
    }

    /// The optimum, refined from the multipliers of a solver.
    pub fn optimum(&self, multipliers: &[f64]) -> Optimum {
        let mut multipliers: Vec<Precise> =
            multipliers.iter().enumerate().map(|(row, &m)| self.within(row, m.into())).collect();
        let below = f64::NEG_INFINITY.into();
        let mut optimum = Optimum { above: None, below, marginals: Vec::new() };
        for _ in 0..REFINEMENTS {
            let found = self.distribution(|state| {
                let pulls = multipliers.iter().zip(&self.measured);
                -pulls.map(|(&multiplier, row)| multiplier * row[state]).sum::<Precise>()
            });
            let (above, below) = self.bounds(&multipliers, &found);
            // Where nothing bends, steps lead out of the range of the numbers.
            if multipliers.iter().any(|m| m.rounded().abs() > RANGE) || above < below {
                break;
            }
            optimum.below = optimum.below.max(below);
            let is_lower = optimum.above.is_none_or(|old| above < old);
            if self.violation(&found.expected) <= KEPT && is_lower {
                optimum.above = Some(above);
                optimum.marginals = self.marginals(&found);
            }
            if !self.refine(&mut multipliers, &found) {
                break;
            }
        }
        optimum
    }

    fn marginals(&self, found: &Distribution) -> Vec<f64> {
        let of = |coordinate: usize| {
            let parts = self.statistics.iter().zip(&found.probabilities);
            parts.map(|(own, &p)| p * own[coordinate].into()).sum::<Precise>().rounded()
        };
        (0..self.statistics[0].len()).map(of).collect()
    }

    /// Objective and dual objective.
    fn bounds(&self, multipliers: &[Precise], found: &Distribution) -> (Precise, Precise) {
        let products = multipliers.iter().zip(&found.expected);
        let pulled: Precise = products.map(|(&multiplier, &z)| multiplier * z).sum();
        let rows = multipliers.iter().enumerate();
        let conjugates: Precise =
            rows.map(|(row, &m)| conjugate(self.penalties[row], self.weights[row], m).value).sum();
        let above = self.energy(&found.expected) - pulled - found.log_partition;
        (above, -found.log_partition - conjugates)
    }

    /// Largest violation of a hard constraint.
    fn violation(&self, expected: &[Precise]) -> f64 {
        let each = self.penalties.iter().zip(expected);
        each.map(|(penalty, z)| penalty.violation(z.rounded())).fold(0.0, f64::max)
    }

    /// Moves a multiplier between its bounds.
    fn within(&self, row: usize, multiplier: Precise) -> Precise {
        let (low, high) = self.penalties[row].multipliers(self.weights[row]);
        multiplier.max(low.into()).min(high.into())
    }

    /// One step of Newton's on the dual, in the multipliers that no bound holds. Whether it moved.
    fn refine(&self, multipliers: &mut [Precise], found: &Distribution) -> bool {
        let rows: Vec<usize> = (0..multipliers.len())
            .filter(|&row| {
                let (low, high) = self.penalties[row].multipliers(self.weights[row]);
                let at = multipliers[row];
                Precise::from(low) < at && at < high.into()
            })
            .collect();
        let conjugates: Vec<Conjugate> = rows
            .iter()
            .map(|&row| conjugate(self.penalties[row], self.weights[row], multipliers[row]))
            .collect();
        let mut right: Vec<f64> = rows
            .iter()
            .zip(&conjugates)
            .map(|(&row, conjugate)| (found.expected[row] - conjugate.slope).rounded())
            .collect();
        let mut matrix: Vec<Vec<f64>> = rows
            .iter()
            .map(|&a| rows.iter().map(|&b| self.covariance(found, a, b)).collect())
            .collect();
        for (place, conjugate) in conjugates.iter().enumerate() {
            // Rows that say the same twice leave no curvature; a little changes nothing but speed.
            matrix[place][place] *= 1.0 + 1e-12;
            matrix[place][place] += conjugate.curvature + 1e-290;
        }
        solve(&mut matrix, &mut right);
        let mut moved = false;
        for (&row, &step) in rows.iter().zip(&right) {
            if step.is_finite() && step != 0.0 {
                multipliers[row] = self.within(row, multipliers[row] + step.into());
                moved = true;
            }
        }
        moved
    }

    fn covariance(&self, found: &Distribution, a: usize, b: usize) -> f64 {
        let (mean_a, mean_b) = (found.expected[a], found.expected[b]);
        let pairs = self.measured[a].iter().zip(&self.measured[b]).zip(&found.probabilities);
        let parts = pairs.map(|((&va, &vb), &p)| (va - mean_a) * (vb - mean_b) * p);
        parts.sum::<Precise>().rounded()
    }
}

/// The untilted score of a joint state.
fn score(bound: &BoundProblem, state: usize) -> Precise {
    let base = &bound.base;
    let mut states = vec![0; base.variables()];
    let mut rest = state;
    for (own, &cardinality) in states.iter_mut().zip(&base.cardinalities).rev() {
        (*own, rest) = (rest % cardinality, rest / cardinality);
    }
    let mut sum = Precise::from(base.constant);
    for table in &base.tables {
        let cell = table.scope.iter().fold(0, |cell, &v| cell * base.cardinalities[v] + states[v]);
        let value = table.log_potentials[cell];
        if value == f64::NEG_INFINITY {
            return value.into();
        }
        sum = sum + value.into();
    }
    sum
}

/// `φ(z)`
fn value(penalty: Penalty, z: Precise) -> Precise {
    let (zero, one, half) = (Precise::ZERO, Precise::from(1.0), Precise::from(0.5));
    match penalty {
        Penalty::Linear => z,
        Penalty::Hinge => (one - z).max(zero),
        Penalty::SmoothedHinge if z <= zero => half - z,
        Penalty::SmoothedHinge if z < one => half * (one - z) * (one - z),
        Penalty::SmoothedHinge => zero,
        Penalty::Squared => half * z * z,
        Penalty::Absolute => z.abs(),
        Penalty::Huber { delta } if z.abs() <= delta.into() => half * z * z,
        Penalty::Huber { delta } => Precise::from(delta) * (z.abs() - half * delta.into()),
        Penalty::Poisson { rate, count } => {
            let mean = Precise::from(rate) * z;
            match count {
                _ if z < zero => f64::INFINITY.into(),
                0.0 => mean,
                _ if z == zero => f64::INFINITY.into(),
                _ => mean - Precise::from(count) * mean.ln(),
            }
        }
        Penalty::AtMost | Penalty::Equal => zero,
    }
}

/// The conjugate of a weighted penalty, with its derivatives.
struct Conjugate {
    value: Precise,
    slope: Precise,
    curvature: f64,
}

fn conjugate(penalty: Penalty, weight: f64, multiplier: Precise) -> Conjugate {
    let (zero, w) = (Precise::ZERO, Precise::from(weight));
    let square = multiplier * multiplier / (w + w);
    let bent = |value, slope| Conjugate { value, slope, curvature: 1.0 / weight };
    let flat = |value, slope| Conjugate { value, slope, curvature: 0.0 };
    match penalty {
        Penalty::Hinge => flat(multiplier, 1.0.into()),
        Penalty::SmoothedHinge => bent(multiplier + square, multiplier / w + 1.0.into()),
        Penalty::Squared | Penalty::Huber { .. } => bent(square, multiplier / w),
        Penalty::Poisson { rate, count } if count > 0.0 => {
            let (scale, slack) = (w * count.into(), w * rate.into() - multiplier);
            let slope = scale / slack;
            let level = slope * rate.into();
            let value =
                if slack > zero { scale * (level.ln() - 1.0.into()) } else { f64::NAN.into() };
            Conjugate { value, slope, curvature: (slope / slack).rounded() }
        }
        _ => flat(zero, zero),
    }
}

/// Gaussian elimination with pivots; the solution replaces the right-hand side.
fn solve(matrix: &mut [Vec<f64>], right: &mut [f64]) {
    let size = right.len();
    for column in 0..size {
        let pivot = (column..size)
            .max_by(|&a, &b| matrix[a][column].abs().total_cmp(&matrix[b][column].abs()))
            .expect("at least one row is left");
        matrix.swap(column, pivot);
        right.swap(column, pivot);
        for row in column + 1..size {
            let (before, after) = matrix.split_at_mut(row);
            let (pivot, own) = (&before[column], &mut after[0]);
            let factor = own[column] / pivot[column];
            own.iter_mut().zip(pivot).skip(column).for_each(|(own, pivot)| *own -= factor * pivot);
            right[row] -= factor * right[column];
        }
    }
    for row in (0..size).rev() {
        let known: f64 = (row + 1..size).map(|place| matrix[row][place] * right[place]).sum();
        right[row] = (right[row] - known) / matrix[row][row];
    }
}
