//! What a problem holds, and how it would be solved.

use std::collections::BTreeSet;
use std::fmt::Write;

use bethe_core::energy::Energies;
use bethe_core::model::BaseModel;
use bethe_core::oracle::chain::Link;
use bethe_core::oracle::{Chain, JunctionTree};
use bethe_core::problem::BoundProblem;
use bethe_core::solve::{Plan, SolveError};
use bethe_core::{Curvature, Energy, MemoryLimit, Model, OracleKind, Penalty, Problem};
use bethe_terminal::{counted, shown};
use serde_json::json;

use super::describe::{Description, span, tallied, tally};

/// What a problem holds, and how it would be solved.
pub fn problem(
    name: &str,
    problem: &Problem,
    memory: MemoryLimit,
) -> Result<Description, SolveError> {
    let BoundProblem { base, energies, .. } = problem.check_solvable(OracleKind::Auto, memory)?;
    let (oracle, inference) = match Chain::from_base(&base, energies.support()) {
        Some(chain) => ("chain", path(&chain)),
        None => match JunctionTree::with_limit(&base, energies.support(), memory) {
            Ok(found) => ("junction-tree", tree(&base, &found)),
            Err(error) => ("trw", format!("trw; {error}")),
        },
    };
    let is_convex = matches!(energies.curvature(), Curvature::Convex { .. });
    let convex = match is_convex {
        true => "convex: the answer comes with a gap",
        false => "not convex: a stationary point, no gap",
    };
    let mut text = format!("{}: a problem\n", shown(name));
    let mut line = |what: &str, says: String| {
        let _ = writeln!(text, "  {what:<10} {says}");
    };
    line("variables", variables(problem.model()));
    line("factors", factors(problem.model()));
    line("energies", energy_kinds(problem.energies()));
    if !problem.energies().is_empty() {
        line("", convex.to_string());
    }
    line("oracle", inference);
    line("solver", solver(&energies).to_string());
    let model = problem.model();
    let json = json!({
        "variables": model.variables().len(),
        "states": cardinalities(model),
        "observed": model.observed().iter().flatten().count(),
        "factors": model.factors().len(),
        "forbidden": forbidden(model),
        "energies": tally(problem.energies().iter().map(kind)),
        "convex": is_convex,
        "oracle": oracle,
        "solver": solver(&energies),
    });
    Ok(Description { file: name.to_string(), kind: "problem", text, json })
}

fn variables(model: &Model) -> String {
    let mut text = model.variables().len().to_string();
    if let Some([least, most]) = cardinalities(model) {
        let _ = write!(text, " of {} states", span(least, most));
    }
    let observed = model.observed().iter().flatten().count();
    let named = model.variables().iter().filter(|v| v.names.is_some()).count();
    if named > 0 {
        let _ = write!(text, ", {named} named");
    }
    if observed > 0 {
        let _ = write!(text, ", {observed} observed");
    }
    text
}

fn factors(model: &Model) -> String {
    let orders = model.factors().iter().map(|f| format!("over {}", f.scope.len()));
    let mut text = format!("{}{}", model.factors().len(), tallied(orders));
    let forbidden = forbidden(model);
    if forbidden > 0 {
        let _ = write!(text, "; {} forbidden", counted(forbidden, "configuration"));
    }
    text
}

/// The fewest and the most states of a variable.
fn cardinalities(model: &Model) -> Option<[usize; 2]> {
    let cardinalities = || model.variables().iter().map(|v| v.cardinality);
    Some([cardinalities().min()?, cardinalities().max()?])
}

/// Entries of tables that no configuration may have.
fn forbidden(model: &Model) -> usize {
    let entries = model.factors().iter().flat_map(|f| f.log_potentials.iter());
    entries.filter(|v| **v == f64::NEG_INFINITY).count()
}

fn energy_kinds(energies: &[Energy]) -> String {
    let mut text = format!("{}{}", energies.len(), tallied(energies.iter().map(kind)));
    let negative = |energy: &&Energy| {
        matches!(energy, Energy::Measurement { weight, .. }
            | Energy::TableMeasurement { weight, .. }
            | Energy::Nearest { weight, .. }
            if *weight < 0.0)
    };
    let negative = energies.iter().filter(negative).count();
    if negative > 0 {
        let _ = write!(text, "; {negative} with negative weight");
    }
    text
}

fn kind(energy: &Energy) -> String {
    match energy {
        Energy::Measurement { penalty, .. } => format!("measurement {}", penalty_kind(*penalty)),
        Energy::TableMeasurement { penalty, .. } => {
            format!("table_measurement {}", penalty_kind(*penalty))
        }
        Energy::Product { .. } => "product".to_string(),
        Energy::Nearest { points, .. } => format!("nearest of {}", counted(points.len(), "point")),
        Energy::Custom(_) => "custom".to_string(),
    }
}

fn penalty_kind(penalty: Penalty) -> &'static str {
    match penalty {
        Penalty::Linear => "linear",
        Penalty::Hinge => "hinge",
        Penalty::SmoothedHinge => "smoothed_hinge",
        Penalty::Squared => "squared",
        Penalty::Absolute => "absolute",
        Penalty::Huber { .. } => "huber",
        Penalty::Poisson { .. } => "poisson",
        Penalty::AtMost => "at_most",
        Penalty::Equal => "equal",
    }
}

/// The size of the chain.
fn path(chain: &Chain) -> String {
    let (model, length) = (chain.model(), chain.length());
    if length == 0 {
        return "exact; every variable is fixed".to_string();
    }
    let links = || (0..length - 1).map(|position| model.link(position));
    let tables: BTreeSet<usize> = links()
        .filter_map(|link| match link {
            Link::Table(table) => Some(table),
            Link::Free => None,
        })
        .collect();
    let mut text = format!("exact, a chain of {}", counted(length, "position"));
    let free = links().filter(|link| *link == Link::Free).count();
    if free > 0 {
        let _ = write!(text, " in {} paths", free + 1);
    }
    let _ = write!(text, ", {}", counted(tables.len(), "transition table"));
    let sparse = tables.iter().filter(|&&table| model.is_sparse(table)).count();
    if sparse > 0 {
        let _ = write!(text, ", {sparse} stored sparse");
    }
    text
}

/// The size of the junction tree.
fn tree(base: &BaseModel, tree: &JunctionTree) -> String {
    let cells = |clique: &[usize]| clique.iter().map(|&v| base.cardinalities[v]).product::<usize>();
    let Some(largest) = tree.cliques().max_by_key(|clique| cells(clique)) else {
        return "exact; every variable is fixed".to_string();
    };
    let count = tree.cliques().count();
    let total: usize = tree.cliques().map(cells).sum();
    let wide = tree.cliques().any(|clique| clique.len() > 2);
    let mut text = format!("exact, a {} of {count}", if wide { "junction tree" } else { "tree" });
    let _ = write!(
        text,
        " {}, {} entries; the largest has {} and {} entries",
        if count == 1 { "clique" } else { "cliques" },
        total,
        counted(largest.len(), "variable"),
        cells(largest)
    );
    text
}

/// What `--solver auto` does.
fn solver(energies: &Energies) -> &'static str {
    let pieces = !energies.nearest.is_empty();
    match Plan::for_energies(energies) {
        Plan::Dual if energies.measurements.is_empty() => "auto: plain inference, no energies",
        Plan::Dual => "auto: the dual",
        Plan::Adaptive => "auto: adaptive steps",
        Plan::Rda => "auto: dual averaging",
        Plan::Tempered => "auto: the dual, in its form for noisy tables",
        Plan::Alternating if energies.others.is_empty() => {
            "auto: piece by piece, each by the dual; --global finds the best piece"
        }
        Plan::Alternating if pieces => {
            "auto: piece by piece, each by the dual, with the other energies linearised"
        }
        Plan::Alternating => "auto: the dual, with the other energies linearised",
    }
}
