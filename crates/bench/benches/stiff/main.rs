//! Stiff problems: large weights, low temperatures, targets that contradict one another.
//!
//! `cargo bench -p bethe-bench --bench stiff [-- --data DIR] [--seed N] [--results DIR]` counts what
//! `auto` takes to a certified relative gap of 1e-6 on made chains, and on maps at the weights that
//! BirdFlow has: a made one and, with `--data`, Red-winged Blackbirds. Seeds count from `--seed`, 0
//! unless given.

mod birds;
mod chains;

use bethe_bench::{Report, data_folder, value_of};
use bethe_core::solve::{Ignore, Task, solve};
use bethe_core::{Method, Settings, Solution, Status, Tables};
use bethe_io::results::{Table, grouped};

/// Problems of each penalty and weight.
const SEEDS: u64 = 15;

const CHAINS: &str = "stiff-chains";
const BIRDS: &str = "stiff-birds";

fn main() {
    let data = data_folder();
    let names = [CHAINS, BIRDS];
    let report = Report::new("stiff", if data.is_some() { &names } else { &names[..1] });
    let mut tables = vec![chains()];
    let made = birds::table(BIRDS, data.as_deref());
    match data {
        Some(_) => tables.push(made),
        None => println!("\nwithout --data no {BIRDS} is written; of the made map alone:\n{made}"),
    }
    report.finish(&tables);
}

fn chains() -> Table {
    let first: u64 = value_of("--seed").map_or(0, |text| text.parse().expect("a whole number"));
    let columns = ["penalty", "weight", "solved", "calls + products", "most"];
    let mut table = Table::new(CHAINS, &columns);
    for penalty in chains::PENALTIES {
        for weight in chains::WEIGHTS {
            let runs: Vec<Solution> =
                (first..first + SEEDS).map(|seed| run(penalty, weight, seed)).collect();
            let solved = runs.iter().filter(|found| found.status == Status::Converged).count();
            let mut effort: Vec<usize> = runs.iter().map(effort).collect();
            effort.sort_unstable();
            table.push([
                penalty.to_string(),
                grouped(weight),
                format!("{solved} of {SEEDS}"),
                grouped(effort[effort.len() / 2] as f64),
                grouped(effort[effort.len() - 1] as f64),
            ]);
        }
    }
    table
}

fn run(penalty: &str, weight: f64, seed: u64) -> Solution {
    let problem = chains::problem(penalty, weight, seed);
    let mut bound = problem.bind().expect("a chain");
    let settings =
        Settings { method: Method::Auto, tolerance: 1e-6, polish: false, ..Settings::default() };
    let task = Task { marginals: Tables::None, ..bound.task() };
    let found = solve(task, &settings, &mut Ignore).expect("measurements are served");
    println!(
        "{penalty} {weight} seed {seed}: {} {}, {} calls, {} products, {:.4} s",
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
