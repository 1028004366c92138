//! The answer to a problem, over the variables and factors as stated.

use super::Covariances;
use crate::solve::Status;

/// Everything that `bethe solve` prints.
#[derive(Clone, Debug, PartialEq)]
pub struct Answer {
    /// How the solve ended.
    pub status: Status,
    /// The solver that found the answer, by its own name: never `auto`.
    pub solver: &'static str,
    /// The oracle that was used: `chain`, `junction-tree`, `trw` or `loopy`.
    pub oracle: &'static str,
    /// The memory of its tables in bytes, by the estimate that a memory limit applies to.
    pub memory_estimate: u64,
    /// Which entropy was used: `exact`, `tree-reweighted` or `bethe`.
    pub entropy: &'static str,
    /// Iterations done.
    pub iterations: usize,
    /// Oracle calls done.
    pub oracle_calls: usize,
    /// Products with the covariance done, which take about as long.
    pub products: usize,
    /// Time the solver took.
    pub seconds: f64,
    /// `F` at the answer; `None` if the problem is infeasible.
    pub objective: Option<f64>,
    /// A lower bound on the optimum, if there is one.
    pub lower_bound: Option<f64>,
    /// An upper bound on `objective − optimum`, if there is one.
    pub gap: Option<f64>,
    /// `√(gap/2)`, which bounds the error of every marginal (Pinsker); divided by `√ρ` with the
    /// least appearance probability `ρ` under the tree-reweighted entropy.
    pub marginal_error_bound: Option<f64>,
    /// Which of the solver's points this is.
    pub returned: &'static str,
    /// `A(θ + δ)` at the answer's tilt.
    pub log_partition: f64,
    /// `A(θ)`
    pub base_log_partition: f64,
    /// An upper bound on the model's own `A(θ)`, if `base_log_partition` is not exact.
    pub log_partition_bound: Option<f64>,
    /// Whether message passing settled, if it was used.
    pub messages_settled: Option<bool>,
    /// One entry per variable, then one per factor, as requested.
    pub marginals: Vec<TableAnswer>,
    /// The best assignment that keeps hard measurements, which hold in the marginals only on
    /// average.
    pub map: Map,
    /// The value and the multipliers of each stated energy.
    pub energies: Vec<EnergyAnswer>,
    /// If they were asked for: `θ + δ` for each scope that the energies tilt, where `θ` is the sum
    /// of the factors stated over just that scope. Put in place of these factors, in a model without
    /// energies, they have the answer's marginals (Proposition 1).
    pub potentials: Option<Vec<TableAnswer>>,
    /// The same with `δ` alone.
    pub tilt: Option<Vec<TableAnswer>>,
    /// If it was asked for: the covariance of measurements, or of the states of some variables.
    /// `None` if the problem is infeasible.
    pub covariance: Option<Covariances>,
}

/// Numbers over the configurations of some variables: marginals, or potentials.
#[derive(Clone, Debug, PartialEq)]
pub struct TableAnswer {
    /// The variables, in the order of the table's axes.
    pub scope: Vec<usize>,
    /// Row-major, last variable fastest. `[states of the scope]`
    pub values: Vec<f64>,
}

/// A stated energy at the answer.
#[derive(Clone, Debug, PartialEq)]
pub struct EnergyAnswer {
    /// Its weighted value; `None` for hard constraints of an infeasible problem.
    pub value: Option<f64>,
    /// The multiplier `λ_j` of each of its measurements, with which the measurements tilt the model
    /// by `δ = −Σ_j λ_j a_j`: one for a measurement, one per cell for one of a table. `λ_j` is a
    /// slope of the weighted penalty at `z_j`; at a kink, and for hard constraints, only the dual
    /// knows which. `None` for other energies, and where the problem is infeasible.
    pub multipliers: Option<Vec<f64>>,
}

/// A most probable assignment among those that keep hard measurements.
#[derive(Clone, Debug, PartialEq)]
pub struct Map {
    /// The state of every variable.
    pub assignment: Vec<usize>,
    /// Its score under `θ + δ`, where `δ` is the tilt of all energies but hard measurements.
    pub log_score: f64,
    /// Whether it is proved that no assignment which keeps hard measurements has a higher score. If
    /// some are violated: that no assignment keeps them all, that every one is kept which can be kept
    /// with those before it, that the others are broken least in all, and that no other such
    /// assignment has a higher score.
    pub proved: bool,
    /// An upper bound on the score of every assignment that keeps hard measurements: the score itself
    /// if that is proved to be the highest. `None` if there is no bound, or no such assignment.
    pub bound: Option<f64>,
    /// The energies that are hard measurements and do not hold, ascending: only if no assignment was
    /// found that keeps all of them.
    pub violated: Vec<usize>,
}

impl Answer {
    /// The probability of each state of a variable.
    ///
    /// # Panics
    /// If there is no such variable, or the request was for no marginals.
    pub fn marginal(&self, variable: usize) -> &[f64] {
        assert!(variable < self.map.assignment.len(), "the model has no variable {variable}");
        &self.marginals[variable].values
    }

    /// The probability of each configuration of a factor, in the order of its table.
    ///
    /// # Panics
    /// If there is no such factor, or the request was not for all marginals.
    pub fn factor(&self, factor: usize) -> &[f64] {
        &self.marginals[self.map.assignment.len() + factor].values
    }
}
