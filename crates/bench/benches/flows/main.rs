//! Flows from counts: time and oracle calls to a certificate of 1e-6, growth, memory.
//!
//! `cargo bench -p bethe-bench --bench flows [-- --results DIR]` measures all; `--quick` leaves the
//! large maps and their table out.

mod growth;
mod instance;

use std::time::Instant;

use bethe_bench::Report;
use bethe_core::{Method, Settings, Solution, StepSchedule};
use bethe_experiments::cgm::solve_by_nonlinear_bp;
use bethe_io::results::Table;
use growth::LARGE;
use instance::{Instance, PAPER, Recipe};

const SIDES: [usize; 3] = [5, 10, 15];
/// Of each hard instance.
const SEEDS: u64 = 3;

fn main() {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    if let Some(large) = LARGE.iter().find(|large| arguments.iter().any(|a| a == large.name)) {
        return large.run();
    }
    let is_quick = arguments.iter().any(|argument| argument == "--quick");
    let names = [HARD, growth::TABLE];
    let report = Report::new("flows", if is_quick { &names[..1] } else { &names });
    sizes();
    let mut tables = vec![hard()];
    growth::exponents();
    if is_quick {
        println!("\nskipped, and the table {} with it: large maps", growth::TABLE);
    } else {
        tables.push(growth::large_maps());
    }
    report.finish(&tables);
}

/// A solver, by its method or by name.
#[derive(Clone, Copy)]
enum Solver {
    By(Method),
    NonlinearBp,
}

const SOLVERS: [Solver; 6] = [
    Solver::By(Method::Dual),
    Solver::By(Method::Adaptive),
    Solver::By(Method::Rda { beta: 0.0 }),
    Solver::By(Method::MirrorDescent { schedule: StepSchedule::Inverse }),
    Solver::By(Method::AcceleratedRda { smoothness: None }),
    Solver::NonlinearBp,
];

fn settings(method: Method) -> Settings {
    Settings { method, tolerance: 1e-6, polish: false, max_iterations: 1000, ..Settings::default() }
}

fn sizes() {
    println!("T = 20, M = 1000, rate 1, dense moves of every step their own, certified 1e-6");
    println!("{:>7} {:>16} {:>8} {:>10} {:>10}   status", "cells", "solver", "calls", "ms", "gap");
    for side in SIDES {
        let instance = Recipe { side, ..PAPER }.instance();
        println!("{:>21} tables set up in {:.3} ms", side * side, 1e3 * instance.binding());
        for (place, solver) in SOLVERS.into_iter().enumerate() {
            let found = instance.solve(solver, if place == 0 { 20 } else { 3 });
            show(&(side * side).to_string(), &found);
        }
    }
}

const HARD: &str = "flows-hard";

/// Instances that solvers find hard: the dual on all seeds, the others on the first.
fn hard() -> Table {
    println!("\nhard instances on 10 × 10 cells");
    let hard = [
        ("rate 10", Recipe { rate: 10.0, ..PAPER }),
        ("sticky (distance weight 4)", Recipe { distance: 4.0, ..PAPER }),
        ("100 birds", Recipe { population: 100, ..PAPER }),
        ("opposite goal and wind", Recipe { wrong: true, ..PAPER }),
        ("opposite goal and wind, rate 10", Recipe { wrong: true, rate: 10.0, ..PAPER }),
    ];
    let mut table = Table::new(HARD, &["instance", "oracle calls"]);
    for (name, recipe) in hard {
        println!("  {name}");
        let mut calls = Vec::new();
        for seed in 0..SEEDS {
            let instance = Recipe { seed, ..recipe }.instance();
            let solvers = if seed == 0 { &SOLVERS[..] } else { &SOLVERS[..1] };
            for (place, &solver) in solvers.iter().enumerate() {
                let found = instance.solve(solver, 1);
                show(&format!("seed {seed}"), &found);
                if place == 0 {
                    calls.push(found.oracle_calls);
                }
            }
        }
        let [least, most] = [calls.iter().min(), calls.iter().max()].map(|n| n.expect("a seed"));
        table.push([name.to_string(), format!("{least}–{most}")]);
    }
    table
}

fn show(name: &str, found: &Solution) {
    println!(
        "{name:>21} {:>16} {:>8} {:>10.3} {:>10.1e}   {}",
        found.solver,
        found.oracle_calls,
        1e3 * found.seconds,
        found.gap.unwrap_or(f64::INFINITY),
        found.status.name()
    );
}

impl Instance {
    /// Seconds until a solver can begin.
    fn binding(&self) -> f64 {
        let run = || {
            let start = Instant::now();
            drop(self.problem().bind());
            start.elapsed().as_secs_f64()
        };
        (0..20).map(|_| run()).fold(f64::INFINITY, f64::min)
    }

    /// Solves it so often, and gives the fastest run.
    fn solve(&self, solver: Solver, times: usize) -> Solution {
        let observer = &mut bethe_core::solve::Ignore;
        let run = |_| {
            let problem = self.problem();
            let flows = match solver {
                Solver::By(method) => problem.solve(&settings(method), observer),
                Solver::NonlinearBp => {
                    solve_by_nonlinear_bp(&problem, &settings(Method::Auto), observer)
                }
            };
            flows.expect("counts that are possible").solution
        };
        let runs = (0..times).map(run);
        runs.min_by(|a, b| a.seconds.total_cmp(&b.seconds)).expect("at least one run")
    }
}
