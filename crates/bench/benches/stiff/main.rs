//! Stiff problems: large weights, low temperatures, targets that contradict one another.
//!
//! `cargo bench -p bethe-bench --bench stiff [-- --data DIR] [--seed N] [--results DIR]` counts what
//! `auto` takes to a certified relative gap of 1e-6 on random chains, trees, rings and grids, and on
//! maps at BirdFlow's weights: a simulated one and, with `--data`, Red-winged Blackbirds. Seeds count
//! from `--seed`, 0 unless given.

mod birds;
mod targets;

use bethe_bench::{Report, data_folder, value_of};
use bethe_core::solve::{Ignore, Task, solve};
use bethe_core::{Method, Settings, Solution, Status, Tables};
use bethe_io::results::{Table, grouped};
use targets::Graph;

/// Problems of each penalty and weight.
const SEEDS: u64 = 15;

const CHAINS: &str = "stiff-chains";
const GRAPHS: &str = "stiff-graphs";
const BIRDS: &str = "stiff-birds";

fn main() {
    let data = data_folder();
    let names = [CHAINS, GRAPHS, BIRDS];
    let report = Report::new("stiff", if data.is_some() { &names } else { &names[..2] });
    let mut tables = vec![chains(), graphs()];
    let made = birds::table(BIRDS, data.as_deref());
    match data {
        Some(_) => tables.push(made),
        None => {
            println!("\nwithout --data no {BIRDS} is written; of the simulated map alone:\n{made}")
        }
    }
    report.finish(&tables);
}

fn chains() -> Table {
    let columns = ["penalty", "weight", "solved", "calls + products", "most"];
    let (mut table, chain) = (Table::new(CHAINS, &columns), targets::chain());
    for penalty in targets::PENALTIES {
        for weight in targets::WEIGHTS {
            let found = efforts(&chain, penalty, weight);
            table.push([&[penalty.to_string(), grouped(weight)], &found[..]].concat());
        }
    }
    table
}

/// Other graphs, at the largest weight.
fn graphs() -> Table {
    let columns = ["graph", "penalty", "solved", "calls + products", "most"];
    let mut table = Table::new(GRAPHS, &columns);
    for graph in targets::others() {
        for penalty in targets::PENALTIES {
            let found = efforts(&graph, penalty, targets::WEIGHTS[2]);
            table.push([&[graph.name.to_string(), penalty.to_string()], &found[..]].concat());
        }
    }
    table
}

/// Of problems with all seeds: how many are solved, and the median and greatest effort.
fn efforts(graph: &Graph, penalty: &str, weight: f64) -> [String; 3] {
    let first: u64 = value_of("--seed").map_or(0, |text| text.parse().expect("a whole number"));
    let seeds = first..first + SEEDS;
    let runs: Vec<Solution> = seeds.map(|seed| run(graph, penalty, weight, seed)).collect();
    let solved = runs.iter().filter(|found| found.status == Status::Converged).count();
    let mut efforts: Vec<usize> = runs.iter().map(effort).collect();
    efforts.sort_unstable();
    let [middle, last] =
        [efforts.len() / 2, efforts.len() - 1].map(|at| grouped(efforts[at] as f64));
    [format!("{solved} of {SEEDS}"), middle, last]
}

fn run(graph: &Graph, penalty: &str, weight: f64, seed: u64) -> Solution {
    let problem = targets::problem(graph, penalty, weight, seed);
    let mut bound = problem.bind().expect("a small graph");
    let settings =
        Settings { method: Method::Auto, tolerance: 1e-6, polish: false, ..Settings::default() };
    let task = Task { marginals: Tables::None, ..bound.task() };
    let found = solve(task, &settings, &mut Ignore).expect("measurements are served");
    println!(
        "{} {penalty} {weight} seed {seed}: {} {}, {} calls, {} products, {:.4} s",
        graph.name,
        found.solver,
        found.status.name(),
        found.oracle_calls,
        found.products,
        found.seconds
    );
    found
}

/// Oracle calls and products with the covariance: one takes about as long as the other.
fn effort(found: &Solution) -> usize {
    found.oracle_calls + found.products
}
