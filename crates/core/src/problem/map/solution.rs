//! What the solution knows of scores and rules: the tilt of soft energies, and prices.

use super::Decoding;
use super::rules::Rule;
use super::scores::sum_of_highest;
use crate::energy::HardRow;
use crate::oracle::Exactness;
use crate::solve::Status;

/// What rounding may take from a bound at prices, in tolerances of the rules.
const RELAXED_ROUNDING: f64 = 1e-3;

/// A configuration that is best at some prices of rules, and the bound that they give.
pub(super) struct Relaxed {
    pub states: Vec<usize>,
    pub prices: Vec<f64>,
    pub bound: f64,
}

impl Decoding<'_> {
    /// The tilt of all but hard measurements: `−∇L_o(μ) − Σ λ_j a_j` over the others `o` and soft
    /// measurements `j`.
    pub(super) fn soft_tilt(&mut self, hard: &[HardRow]) -> Vec<f64> {
        let Self { energies, solution, .. } = self;
        let rows = energies.measurements.rows();
        // Only the tilt itself knows which slope `nearest` energies have at a kink.
        if !energies.nearest.is_empty() {
            let mut tilt = solution.tilt.clone();
            for &HardRow { row, .. } in hard {
                rows.add_row(row, solution.multipliers[row], &mut tilt);
            }
            return finite(tilt);
        }
        let mut gradient = vec![0.0; solution.tilt.len()];
        let mut is_hard = vec![false; rows.len()];
        hard.iter().for_each(|hard| is_hard[hard.row] = true);
        for row in (0..rows.len()).filter(|&row| !is_hard[row]) {
            rows.add_row(row, solution.multipliers[row], &mut gradient);
        }
        energies.evaluate_others(&solution.marginals, &mut gradient);
        finite(gradient.into_iter().map(|slope| 0.0 - slope).collect())
    }

    /// The best configuration at the prices that the solution puts on rules.
    pub(super) fn relaxed(&mut self, rules: &[Rule], tilt: &[f64]) -> Relaxed {
        let Self { energies, oracle, solution, .. } = self;
        let price = |rule: &Rule| match solution.multipliers[rule.row] {
            _ if solution.status == Status::Infeasible => 0.0,
            multiplier if !multiplier.is_finite() => 0.0,
            multiplier if rule.is_equality => multiplier,
            multiplier => multiplier.max(0.0),
        };
        let prices: Vec<f64> = rules.iter().map(price).collect();
        let mut priced = tilt.to_vec();
        let mut constant = 0.0;
        for (rule, &price) in rules.iter().zip(&prices) {
            energies.measurements.rows().add_row(rule.row, -price, &mut priced);
            constant += RELAXED_ROUNDING * price.abs() * rule.tolerance - price * rule.offset;
        }
        let mut states = vec![0; self.base.variables()];
        let score = oracle.decode(&priced, &mut states);
        let best = match oracle.exactness() {
            Exactness::Exact => score,
            Exactness::TreeReweighted { .. } => {
                // A log-partition is above every score; that of the solution was at its own tilt.
                let own = priced.iter().zip(&solution.tilt).map(|(a, b)| a - b);
                let apart: Vec<f64> = own.collect();
                let blocks = energies.support().blocks().iter();
                let most = blocks.map(|block| {
                    let cells = apart[block.range()].iter().copied();
                    cells.fold(f64::NEG_INFINITY, f64::max) * block.tables.len() as f64
                });
                solution.log_partition + most.sum::<f64>()
            }
            Exactness::Bethe { .. } => f64::INFINITY,
        };
        let highest = sum_of_highest(self.base, energies.support(), tilt);
        let priced = best + constant;
        // Not a number is no bound.
        let bound = if priced < highest { priced } else { highest };
        Relaxed { states, prices, bound }
    }
}

/// Numbers that left their range count as no tilt.
fn finite(tilt: Vec<f64>) -> Vec<f64> {
    tilt.into_iter().map(|tilt| if tilt.is_finite() { tilt } else { 0.0 }).collect()
}
