//! From noisy tables to records, and a model in the UAI format.

use std::fmt::Write;

use anyhow::Result;
use bethe_core::{Energy, Method, Model, Names, Penalty, Problem, Variable};
use bethe_terminal::Folder;

use super::random::Random;
use super::{save, solve};

const VARIABLES: [(&str, &[&str]); 3] = [
    ("age", &["young", "middle", "old"]),
    ("work", &["none", "part", "full"]),
    ("home", &["rented", "owned"]),
];
/// How many people were counted.
const TOTAL: f64 = 2000.0;
/// True counts by age and work, and by work and home.
const TABLES: [([usize; 2], &[f64]); 2] = [
    ([0, 1], &[240.0, 160.0, 300.0, 80.0, 120.0, 500.0, 400.0, 100.0, 100.0]),
    ([1, 2], &[380.0, 340.0, 210.0, 170.0, 360.0, 540.0]),
];
/// The largest error of a count.
const NOISE: u64 = 20;

/// Two tables with noise on them, and the distribution that fits both.
pub fn census(out: &Folder) -> Result<String> {
    let mut random = Random(5);
    let mut noise = || random.below(2 * NOISE + 1) as f64 - NOISE as f64;
    let mut model = Model::default();
    for (name, states) in VARIABLES {
        let states: Vec<String> = states.iter().map(ToString::to_string).collect();
        let names = Names { variable: name.to_string(), states };
        model.add_variable(Variable { cardinality: names.states.len(), names: Some(names) })?;
    }
    let energies = TABLES.map(|(scope, counts)| Energy::TableMeasurement {
        weight: 3.0 / (NOISE * NOISE) as f64,
        penalty: Penalty::Squared,
        scope: scope.to_vec(),
        target: counts.iter().map(|count| count + noise()).collect(),
        total: TOTAL,
    });
    let problem = Problem::new(model, energies.to_vec())?;
    save(out, "census.json", &problem)?;
    // A ring of four, the evidence on one of them.
    let ring = "MARKOV\n4\n2 2 2 2\n4\n2 0 1\n2 1 2\n2 2 3\n2 3 0\n\n";
    let tables = "4\n 3.0 1.0\n 1.0 3.0\n".repeat(4);
    out.text("ring.uai", &format!("{ring}{tables}"))?;
    out.text("ring.evid", "1 0 1\n")?;

    let answer = solve(&problem, Method::Auto)?.0;
    let mut text = format!(
        "Noisy counts of people\n\n\
         Two tables of {TOTAL} people, age by work and work by home, have errors of up to\n\
         {NOISE} in every count. The distribution of greatest entropy that fits both:\n\n"
    );
    for (marginal, (name, states)) in answer.marginals.iter().zip(VARIABLES) {
        let shares = states.iter().zip(&marginal.values);
        let shares: Vec<String> = shares.map(|(s, p)| format!("{s} {:.1}%", 100.0 * p)).collect();
        writeln!(text, "  {name:<6}{}", shares.join("  "))?;
    }
    let gap = answer.gap.unwrap_or(f64::NAN);
    let out = out.path().display();
    writeln!(text, "\n  {}, gap {gap:.1e}; to draw records from it:", answer.status.name())?;
    writeln!(text, "  bethe sample {out}/census.json --records 5\n")?;
    Ok(text)
}
