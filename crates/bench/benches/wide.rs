//! Ising grids by every kind of inference: how far marginals and log-partitions are off.
//!
//! `cargo bench -p bethe-bench --bench wide [-- --side N --seeds N --results DIR]` takes means over
//! seeds from 1 on, and prints how long a tree-reweighted and an exact oracle take as the grid
//! grows.

use bethe_bench::{Report, time, value_of};
use bethe_core::Support;
use bethe_core::model::BaseModel;
use bethe_core::oracle::{JunctionTree, MessagePassing, Oracle};
use bethe_experiments::ising::{Base, Comparison, Couplings, Entry, Grid, compare};
use bethe_io::results::{Table, signed};

/// Fields of all grids are within this.
const FIELD: f64 = 0.3;
const STRENGTHS: [(Couplings, f64); 6] = [
    (Couplings::Attractive, 0.3),
    (Couplings::Attractive, 0.6),
    (Couplings::Attractive, 1.0),
    (Couplings::Mixed, 0.5),
    (Couplings::Mixed, 1.0),
    (Couplings::Mixed, 2.0),
];

/// Kinds of inference in the order of [`Comparison::entries`].
const COLUMNS: [&str; 6] =
    ["couplings", "tree-reweighted", "loopy", "mean field: sites", "rows", "comb"];

fn main() {
    let [side, seeds] = ["--side", "--seeds"].map(|flag| number_after(flag).unwrap_or(10));
    let report = Report::new("wide-graphs", &["wide-marginals", "wide-log-partition"]);
    println!("{side} × {side} Ising grids, fields within ±{FIELD}, seeds 1 to {seeds}");
    let mut marginals = Table::new("wide-marginals", &COLUMNS);
    let mut log_partitions = Table::new("wide-log-partition", &COLUMNS);
    for (signs, strength) in STRENGTHS {
        let grids = (1..=seeds).map(|seed| Grid::random(side, signs, strength, FIELD, seed as u64));
        let found: Vec<Comparison> =
            grids.map(|grid| compare(&grid).expect("narrow enough for the truth")).collect();
        found.iter().for_each(check_bounds);
        let couplings = format!("{} {strength}", signs.name());
        println!("  {couplings}: done");
        let of_kind = |kind: usize| found.iter().map(move |grid| &grid.entries[kind]).collect();
        let kinds: Vec<Vec<&Entry>> = (0..found[0].entries.len()).map(of_kind).collect();
        let row = |cell: fn(&[&Entry]) -> String| {
            let cells = kinds.iter().map(move |entries| cell(entries));
            std::iter::once(couplings.clone()).chain(cells)
        };
        marginals.push(row(marginal_cell));
        log_partitions.push(row(log_partition_cell));
    }
    report.finish(&[marginals, log_partitions]);
    speed();
}

/// Errors of marginals over grids: mean, standard deviation, worst, and how many grids settled
/// where not all did.
fn marginal_cell(entries: &[&Entry]) -> String {
    let errors: Vec<f64> = entries.iter().map(|entry| entry.error).collect();
    let (mean, deviation) = mean_and_deviation(&errors);
    let worst = entries.iter().map(|entry| entry.worst).fold(0.0, f64::max);
    let (settled, all) = (entries.iter().filter(|entry| entry.is_settled).count(), entries.len());
    let note = if settled < all { format!(" ({settled}/{all} settled)") } else { String::new() };
    format!("{mean:.4} ± {deviation:.4}, {worst:.3}{note}")
}

/// The mean over grids.
fn log_partition_cell(entries: &[&Entry]) -> String {
    let errors: Vec<f64> = entries.iter().map(|entry| entry.log_partition_error).collect();
    signed(mean_and_deviation(&errors).0, 3)
}

/// Tree-reweighted log-partitions are above the true one, mean field's below.
fn check_bounds(found: &Comparison) {
    for entry in &found.entries {
        let off = entry.log_partition_error;
        let holds = match entry.name {
            "tree-reweighted" => off >= -1e-6,
            "loopy" => true,
            _ => off <= 1e-6,
        };
        assert!(holds, "{} is off by {off}", entry.name);
    }
}

/// One call of each oracle, at tilts that differ a little, as a solver's do.
fn speed() {
    println!("\n| side | tree-reweighted, ms | loopy, ms | exact, ms |");
    println!("| --- | --- | --- | --- |");
    for side in [8, 12, 16, 40, 80] {
        let problem = Grid::random(side, Couplings::Mixed, 0.5, FIELD, 1).problem(Base::Whole);
        let base = BaseModel::new(problem.model(), []).expect("a grid");
        let mut support = Support::new();
        support.add((0..base.variables()).collect(), 2);
        let mut oracles: Vec<Box<dyn Oracle>> = vec![
            Box::new(MessagePassing::tree_reweighted(&base, &support)),
            Box::new(MessagePassing::loopy(&base, &support)),
        ];
        if side <= 16 {
            oracles.push(Box::new(JunctionTree::new(&base, &support).expect("narrow enough")));
        }
        let mut runs: Vec<Box<dyn FnMut()>> = Vec::new();
        for mut oracle in oracles {
            let (mut calls, mut marginals) = (0.0, [0.0; 2]);
            runs.push(Box::new(move || {
                calls += 1.0;
                let tilt = [0.0, 0.1 * f64::sin(calls)];
                std::hint::black_box(oracle.tilted(&tilt, &mut marginals));
            }));
        }
        let mut alternatives: Vec<&mut dyn FnMut()> = Vec::new();
        alternatives.extend(runs.iter_mut().map(|run| run.as_mut() as &mut dyn FnMut()));
        let found: Vec<String> =
            time(&mut alternatives).iter().map(|seconds| format!("{:.2}", 1e3 * seconds)).collect();
        let exact = found.get(2).map_or("too wide", String::as_str);
        println!("| {side} | {} | {} | {exact} |", found[0], found[1]);
    }
}

fn mean_and_deviation(values: &[f64]) -> (f64, f64) {
    let count = values.len() as f64;
    let mean = values.iter().sum::<f64>() / count;
    let variance = values.iter().map(|v| (v - mean).powi(2)).sum::<f64>() / count;
    (mean, variance.sqrt())
}

fn number_after(flag: &str) -> Option<usize> {
    value_of(flag).map(|text| text.parse().expect("a number"))
}
