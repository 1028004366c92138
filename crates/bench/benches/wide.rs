//! Ising grids by every kind of inference: how far marginals and log-partitions are off.
//!
//! `cargo bench -p bethe-bench --bench wide [-- --side N --seeds N]` prints means over seeds from 1
//! on, and how long a tree-reweighted and an exact oracle take as the grid grows.

use bethe_bench::time;
use bethe_core::Support;
use bethe_core::model::BaseModel;
use bethe_core::oracle::{JunctionTree, MessagePassing, Oracle};
use bethe_experiments::ising::{Base, Comparison, Couplings, Grid, compare};

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

fn main() {
    let side = option("--side").unwrap_or(10);
    let seeds = option("--seeds").unwrap_or(10);
    println!(
        "{side} × {side} Ising grids, fields within ±{FIELD}, mean over {seeds} seeds (spread)\n"
    );
    println!(
        "| couplings | inference | mean error of P(+1) | worst | log Z, less the true one | settled |"
    );
    println!("| --- | --- | --- | --- | --- | --- |");
    for (signs, strength) in STRENGTHS {
        let grids = (1..=seeds).map(|seed| Grid::random(side, signs, strength, FIELD, seed as u64));
        let found: Vec<Comparison> =
            grids.map(|grid| compare(&grid).expect("narrow enough for the truth")).collect();
        found.iter().for_each(check_bounds);
        for (index, entry) in found[0].entries.iter().enumerate() {
            let entries = || found.iter().map(|comparison| &comparison.entries[index]);
            let errors: Vec<f64> = entries().map(|entry| entry.error).collect();
            let (mean, spread) = mean_and_spread(&errors);
            let worst = entries().map(|entry| entry.worst).fold(0.0, f64::max);
            let bounds: Vec<f64> = entries().map(|entry| entry.log_partition_error).collect();
            let settled = entries().filter(|entry| entry.is_settled).count();
            println!(
                "| {} {strength} | {} | {mean:.4} ({spread:.4}) | {worst:.3} | {:+.3} | {settled}/{seeds} |",
                signs.name(),
                entry.name,
                mean_and_spread(&bounds).0,
            );
        }
    }
    speed();
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

fn mean_and_spread(values: &[f64]) -> (f64, f64) {
    let count = values.len() as f64;
    let mean = values.iter().sum::<f64>() / count;
    let variance = values.iter().map(|v| (v - mean).powi(2)).sum::<f64>() / count;
    (mean, variance.sqrt())
}

fn option(name: &str) -> Option<usize> {
    let mut arguments = std::env::args().skip_while(|argument| argument != name).skip(1);
    arguments.next().map(|text| text.parse().expect("a number"))
}
