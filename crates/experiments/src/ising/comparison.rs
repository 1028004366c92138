use bethe_core::solve::{Ignore, SolveError};
use bethe_core::{OracleKind, Request, Settings, Tables};

use super::{Base, Grid};

/// The errors of one kind of inference on a grid.
#[derive(Clone, Debug, PartialEq)]
pub struct Entry {
    /// Its name in tables.
    pub name: &'static str,
    /// Mean error of the probability of +1 over sites.
    pub error: f64,
    /// The largest such error.
    pub worst: f64,
    /// Its log-partition minus the true one; a bound for all but `loopy`.
    pub log_partition_error: f64,
    /// Whether it converged.
    pub is_settled: bool,
}

/// All kinds of inference on one grid, against the junction tree.
#[derive(Clone, Debug, PartialEq)]
pub struct Comparison {
    /// The true log-partition.
    pub log_partition: f64,
    /// Tree-reweighted, loopy, and mean field with ever larger base models.
    pub entries: Vec<Entry>,
}

/// Name, base model, oracle.
const KINDS: [(&str, Base, OracleKind); 5] = [
    ("tree-reweighted", Base::Whole, OracleKind::TreeReweighted),
    ("loopy", Base::Whole, OracleKind::Loopy),
    ("mean field, sites", Base::Sites, OracleKind::Exact),
    ("mean field, rows", Base::Rows, OracleKind::Exact),
    ("mean field, comb", Base::Comb, OracleKind::Exact),
];

/// Compares every kind of inference with the exact marginals.
///
/// Tree-reweighted log-partitions are upper bounds. Mean field's is minus its objective, a lower
/// bound: its marginals are those of a real distribution.
///
/// # Errors
/// If the grid is too wide for the junction tree.
pub fn compare(grid: &Grid) -> Result<Comparison, SolveError> {
    let solve = |base: Base, oracle: OracleKind| {
        let settings = Settings { tolerance: 1e-8, ..Settings::default() };
        let request = Request { oracle, marginals: Tables::Nodes, ..Request::default() };
        let answer = grid.problem(base).solve_with(&settings, &request, &mut Ignore)?;
        let ups: Vec<f64> = answer.marginals.iter().map(|site| site.values[1]).collect();
        Ok::<_, SolveError>((answer, ups))
    };
    let (exact, truth) = solve(Base::Whole, OracleKind::Exact)?;
    let mut entries = Vec::with_capacity(KINDS.len());
    for (name, base, oracle) in KINDS {
        let (answer, ups) = solve(base, oracle)?;
        let errors = || ups.iter().zip(&truth).map(|(found, wanted)| (found - wanted).abs());
        let objective = answer.objective.expect("no hard constraints");
        entries.push(Entry {
            name,
            error: errors().sum::<f64>() / truth.len() as f64,
            worst: errors().fold(0.0, f64::max),
            log_partition_error: -objective - exact.log_partition,
            is_settled: matches!(answer.status.name(), "converged" | "stationary"),
        });
    }
    Ok(Comparison { log_partition: exact.log_partition, entries })
}
