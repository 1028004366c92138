use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write;

use bethe_core::energy::Energies;
use bethe_core::model::BaseModel;
use bethe_core::model::uai::{Evidence, Sample};
use bethe_core::oracle::chain::Link;
use bethe_core::oracle::{Chain, JunctionTree};
use bethe_core::problem::BoundProblem;
use bethe_core::problem::file::EnergiesFile;
use bethe_core::solve::{Plan, SolveError};
use bethe_core::{Curvature, Energy, MemoryLimit, Model, OracleKind, Penalty, Problem};
use bethe_tagging::features::Template;
use bethe_tagging::labels::States;
use bethe_tagging::rules::{Rule, Weight};
use bethe_terminal::{counted, shown};

/// What a problem holds, and how it would be solved.
pub fn problem(name: &str, problem: &Problem, memory: MemoryLimit) -> Result<String, SolveError> {
    let BoundProblem { base, energies, .. } = problem.check_solvable(OracleKind::Auto, memory)?;
    let oracle = match Chain::from_base(&base, energies.support()) {
        Some(chain) => path(&chain),
        None => match JunctionTree::with_limit(&base, energies.support(), memory) {
            Ok(found) => tree(&base, &found),
            Err(error) => format!("trw; {error}"),
        },
    };
    let convex = match energies.curvature() {
        Curvature::Convex { .. } => "convex: the answer comes with a gap",
        Curvature::Unknown => "not convex: a stationary point, no gap",
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
    line("oracle", oracle);
    line("solver", solver(&energies).to_string());
    Ok(text)
}

/// What the problems of a file hold in total.
#[derive(Default)]
pub struct Batch {
    problems: usize,
    variables: Range,
    factors: Range,
    energies: Range,
}

/// The least and the greatest of some numbers.
#[derive(Default)]
struct Range(Option<(usize, usize)>);

impl Range {
    fn add(&mut self, number: usize) {
        let (least, most) = self.0.unwrap_or((number, number));
        self.0 = Some((least.min(number), most.max(number)));
    }

    fn in_words(&self) -> String {
        let (least, most) = self.0.unwrap_or_default();
        span(least, most)
    }
}

impl Batch {
    /// Counts a problem.
    pub fn add(&mut self, problem: &Problem) {
        self.problems += 1;
        self.variables.add(problem.model().variables().len());
        self.factors.add(problem.model().factors().len());
        self.energies.add(problem.energies().len());
    }

    pub fn in_words(&self, name: &str) -> String {
        format!(
            "{}: {}, one a line\n  variables  {} each\n  factors    {} each\n  energies   {} each\n",
            shown(name),
            counted(self.problems, "problem"),
            self.variables.in_words(),
            self.factors.in_words(),
            self.energies.in_words(),
        )
    }
}

/// What an energies file holds.
pub fn energies_file(name: &str, file: &EnergiesFile) -> String {
    let kinds = tally(file.kinds().map(ToString::to_string));
    format!(
        "{}: an energies file\n  energies   {}{kinds}\n  \
         their scopes are checked against a model by bethe solve --energies\n",
        shown(name),
        file.len()
    )
}

/// What an evidence file holds.
pub fn evidence(name: &str, evidence: &Evidence) -> String {
    let counts = || evidence.samples().iter().map(Sample::len);
    let (least, most) = (counts().min().unwrap_or(0), counts().max().unwrap_or(0));
    format!(
        "{}: evidence, {}\n  observed   {} each\n  \
         variables and states are checked against a model by bethe solve --evidence\n",
        shown(name),
        counted(evidence.samples().len(), "sample"),
        span(least, most)
    )
}

/// What a file of rules holds.
pub fn rules(name: &str, rules: &[Rule], states: &States) -> String {
    let mut text = format!("{}: {}\n", shown(name), counted(rules.len(), "rule"));
    for rule in rules {
        let weight = match rule.weight {
            Weight::Learned => "learned".to_string(),
            Weight::Given(weight) => weight.to_string(),
            Weight::Hard => "hard".to_string(),
        };
        let _ = writeln!(text, "  {}: {weight}", shown(&rule.in_words(states)));
    }
    text.push_str("  bethe train --constraints checks their names against the labels\n");
    text
}

/// What a template holds.
pub fn template(name: &str, template: &Template) -> String {
    let mut text = format!("{}: a template\n", shown(name));
    let lines = template.to_string();
    let lines = lines.lines().filter(|line| line.starts_with(['U', 'R', 'L'])).count();
    let _ = writeln!(text, "  attributes from {lines} lines");
    if let Some(column) = template.highest_column() {
        let _ = writeln!(text, "  columns    0 to {column} of the observed ones");
    }
    let pairs = if template.transitions() { "with weights" } else { "without weights" };
    let _ = writeln!(text, "  pairs      of labels, {pairs}");
    text
}

fn variables(model: &Model) -> String {
    let cardinalities = || model.variables().iter().map(|v| v.cardinality);
    let mut text = model.variables().len().to_string();
    if let (Some(least), Some(most)) = (cardinalities().min(), cardinalities().max()) {
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
    let mut text = format!("{}{}", model.factors().len(), tally(orders));
    let entries = model.factors().iter().flat_map(|f| &f.log_potentials);
    let forbidden = entries.filter(|v| **v == f64::NEG_INFINITY).count();
    if forbidden > 0 {
        let _ = write!(text, "; {} forbidden", counted(forbidden, "configuration"));
    }
    text
}

fn energy_kinds(energies: &[Energy]) -> String {
    let kind = |energy: &Energy| match energy {
        Energy::Measurement { penalty, .. } => format!("measurement {}", penalty_kind(*penalty)),
        Energy::TableMeasurement { penalty, .. } => {
            format!("table_measurement {}", penalty_kind(*penalty))
        }
        Energy::Product { .. } => "product".to_string(),
        Energy::Nearest { points, .. } => format!("nearest of {}", counted(points.len(), "point")),
        Energy::Custom(_) => "custom".to_string(),
    };
    let mut text = format!("{}{}", energies.len(), tally(energies.iter().map(kind)));
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

/// `: 2 a, 1 b`, or nothing at all.
fn tally(kinds: impl Iterator<Item = String>) -> String {
    let mut counts: BTreeMap<String, usize> = BTreeMap::new();
    kinds.for_each(|kind| *counts.entry(kind).or_default() += 1);
    let parts: Vec<String> = counts.iter().map(|(kind, n)| format!("{n} {kind}")).collect();
    if parts.is_empty() { String::new() } else { format!(": {}", parts.join(", ")) }
}

fn span(least: usize, most: usize) -> String {
    if least == most { least.to_string() } else { format!("{least} to {most}") }
}
