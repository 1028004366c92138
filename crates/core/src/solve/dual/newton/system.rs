//! Newton's equations, by conjugate gradients.
//!
//! In the free unknowns the Hessian is `S A C Aᵀ S + D`: `S` is how fast a pull changes with its
//! unknown, `D` the curvature of the conjugates. Rows that read one cell each, and no cell twice,
//! have the system `C + D/(Sa)²` of the oracle for a preconditioner; others the diagonal.

use super::super::program::DualProgram;
use crate::energy::Penalty;
use crate::oracle::Inverse;
use crate::solve::engine::Engine;
use crate::solve::quasi_newton::Iterate;
use crate::vector::{Aligned, Piece, dot};

/// Most products of one direction.
const MOST_PRODUCTS: usize = 200;
/// How much smaller the error becomes, at least and at most; between them the root of the gap,
/// relative to the objective, decides.
const LEAST_SHARE: f64 = 0.1;
const MOST_SHARE: f64 = 1e-4;
/// Curvature where a conjugate has none, …
const LEAST_CURVATURE: f64 = 1e-9;
/// … and while there is a gap, this part of it over the square of the bound on multipliers: far from
/// the solution kinks are treated as smooth.
const KINK: f64 = 1e-3;

/// While a hard constraint is broken, its multiplier changes by at most about this many times its
/// size: where nothing else bends, steps would have no end.
const HARD: f64 = 8.0;

/// Counts of what is next to impossible are treated as no farther off than this.
const LEAST_RATIO: f64 = 1e-9;

pub(super) struct System {
    /// The one entry of each row, if every row has one and no two share a column.
    entries: Option<Vec<(usize, f64)>>,
    /// `S`, 0 where the unknown is held. `[unknowns]`
    reach: Aligned,
    /// `D`. `[unknowns]`
    curvature: Aligned,
    /// A direction on the support, and its product with `C`. `[support]`
    spread: Aligned,
    product: Aligned,
    /// Residual, what the preconditioner makes of it, search direction and its product.
    /// `[unknowns]`
    residual: Aligned,
    conditioned: Aligned,
    search: Aligned,
    turned: Aligned,
    gathered: Box<Piece>,
}

impl System {
    pub fn new(program: &DualProgram, width: usize) -> Self {
        let rows = program.rows().len();
        let own = || Aligned::filled(rows, 0.0);
        Self {
            entries: single_entries(program, width),
            reach: own(),
            curvature: own(),
            spread: Aligned::filled(width, 0.0),
            product: Aligned::filled(width, 0.0),
            residual: own(),
            conditioned: own(),
            search: own(),
            turned: own(),
            gathered: Box::default(),
        }
    }

    /// Writes approximately the Newton direction at an iterate, where the latest call was.
    pub fn find(
        &mut self,
        program: &DualProgram,
        engine: &mut Engine,
        iterate: &Iterate,
        direction: &mut [f64],
    ) {
        self.read(program, iterate);
        let mut inverse = self.inverse(engine);
        let relative = iterate.gap / iterate.objective.abs().max(1.0);
        let share = relative.abs().sqrt().clamp(MOST_SHARE, LEAST_SHARE);
        direction.fill(0.0);
        for (residual, (g, reach)) in
            self.residual.iter_mut().zip(iterate.gradient.iter().zip(self.reach.iter()))
        {
            *residual = if *reach != 0.0 { -g } else { 0.0 };
        }
        self.condition(&mut inverse, iterate);
        self.search.copy_from_slice(&self.conditioned);
        let first = dot(&self.residual, &self.conditioned);
        let mut size = first;
        for _ in 0..MOST_PRODUCTS {
            if !(size > 0.0 && size.is_finite()) || engine.is_cancelled() {
                break;
            }
            self.multiply(program, engine);
            let bend = dot(&self.search, &self.turned);
            let length = size / bend;
            if !(bend > 0.0 && length.is_finite()) {
                break;
            }
            add(direction, length, &self.search);
            add(&mut self.residual, -length, &self.turned);
            self.condition(&mut inverse, iterate);
            let before = std::mem::replace(&mut size, dot(&self.residual, &self.conditioned));
            if size <= share * share * first {
                break;
            }
            let kept = size / before;
            let both = self.search.iter_mut().zip(self.conditioned.iter());
            both.for_each(|(search, conditioned)| *search = conditioned + kept * *search);
        }
        if direction.iter().all(|&d| d == 0.0) {
            direction.copy_from_slice(&self.search);
        }
    }

    /// `S` and `D` at an iterate.
    fn read(&mut self, program: &DualProgram, iterate: &Iterate) {
        let Iterate { unknowns, diagonal, gradient, point, gap, .. } = iterate;
        for row in 0..unknowns.len() {
            if diagonal[row] == 0.0 {
                (self.reach[row], self.curvature[row]) = (0.0, 0.0);
                continue;
            }
            let weight = program.weights[row];
            let kink = LEAST_CURVATURE + KINK * gap.min(1.0) / (weight * weight);
            (self.reach[row], self.curvature[row]) = match program.penalty(row) {
                Penalty::Poisson { count, .. } => {
                    let slack = unknowns[row].exp();
                    let z = program.rows().measure(row, &point.marginals).max(0.0);
                    (slack, logarithmic_mean(slack * z, weight * count))
                }
                Penalty::Squared | Penalty::Huber { .. } | Penalty::SmoothedHinge => {
                    (1.0, program.inverse_weights[row])
                }
                Penalty::Absolute | Penalty::Hinge | Penalty::Linear => (1.0, kink),
                Penalty::AtMost | Penalty::Equal => {
                    let held = gradient[row].abs() / (HARD * (1.0 + unknowns[row].abs()));
                    (1.0, LEAST_CURVATURE / diagonal[row] + held)
                }
            };
        }
    }

    fn inverse(&mut self, engine: &mut Engine) -> Option<Inverse> {
        let entries = self.entries.as_ref()?;
        self.spread.fill(f64::INFINITY);
        for (row, &(column, a)) in entries.iter().enumerate() {
            let scale = self.reach[row] * a;
            if scale != 0.0 {
                self.spread[column] = self.curvature[row] / (scale * scale);
            }
        }
        engine.oracle.second_order()?.inverse(&self.spread)
    }

    /// Writes what the preconditioner makes of the residual.
    fn condition(&mut self, inverse: &mut Option<Inverse>, iterate: &Iterate) {
        let Self { entries, reach, residual, conditioned, spread, product, .. } = self;
        let (Some(inverse), Some(entries)) = (inverse, &*entries) else {
            let all = residual.iter().zip(iterate.diagonal.iter());
            return conditioned.iter_mut().zip(all).for_each(|(c, (r, d))| *c = r * d);
        };
        spread.fill(0.0);
        let scaled = |row: usize, a: f64| 1.0 / (reach[row] * a);
        for (row, &(column, a)) in entries.iter().enumerate().filter(|(row, _)| reach[*row] != 0.0)
        {
            spread[column] = residual[row] * scaled(row, a);
        }
        inverse(spread, product);
        for (row, &(column, a)) in entries.iter().enumerate() {
            conditioned[row] =
                if reach[row] != 0.0 { product[column] * scaled(row, a) } else { 0.0 };
        }
    }

    /// The product of the Hessian with the search direction.
    fn multiply(&mut self, program: &DualProgram, engine: &mut Engine) {
        let Self { reach, curvature, spread, product, search, turned, gathered, .. } = self;
        let rows = program.rows();
        spread.fill(0.0);
        let pulls = turned.iter_mut().zip(reach.iter().zip(search.iter()));
        pulls.for_each(|(pull, (reach, search))| *pull = reach * search);
        for run in program.measurements.pieces() {
            rows.add_run(&run, &turned[run.rows.clone()], spread);
        }
        engine.multiply(spread, product);
        for run in program.measurements.pieces() {
            let own = &mut turned[run.rows.clone()];
            let found = rows.gather(&run, product, &mut gathered.0);
            if let (Some(found), Some(coefficients)) = (found, rows.coefficients(&run)) {
                let all = found.iter().zip(coefficients);
                own.iter_mut().zip(all).for_each(|(own, (value, a))| *own = a * value);
            } else {
                for (own, row) in own.iter_mut().zip(run.rows.clone()) {
                    *own = rows.entries(row).map(|(column, a)| a * product[column]).sum();
                }
            }
        }
        let own = reach.iter().zip(curvature.iter().zip(search.iter()));
        turned.iter_mut().zip(own).for_each(|(turned, (reach, (curvature, search)))| {
            *turned = reach * *turned + curvature * search;
        });
    }
}

/// The one entry of each row; `None` if a row has none or several, or two rows share a column.
fn single_entries(program: &DualProgram, width: usize) -> Option<Vec<(usize, f64)>> {
    let rows = program.rows();
    let mut is_read = vec![false; width];
    (0..rows.len())
        .map(|row| {
            let mut entries = rows.entries(row);
            let (column, a) = entries.next()?;
            let is_alone =
                entries.next().is_none() && !std::mem::replace(&mut is_read[column], true);
            is_alone.then_some((column, a))
        })
        .collect()
}

/// The value used for the curvature of a count in `v = log(w·rate − λ)`, given `slack·z`, which it
/// is, and `w·count`, which it is at the solution. With their logarithmic mean, `(a − b)/log(a/b)`,
/// one step leads to where they are equal, from however far.
fn logarithmic_mean(a: f64, b: f64) -> f64 {
    let ratio = (a / b).max(LEAST_RATIO);
    if (ratio - 1.0).abs() < 1e-4 { 0.5 * (a + b) } else { b * (ratio - 1.0) / ratio.ln() }
}

fn add(target: &mut [f64], factor: f64, values: &[f64]) {
    target.iter_mut().zip(values).for_each(|(target, value)| *target += factor * value);
}
