//! Flows from counts: time and oracle calls to a certificate of 1e-6, growth, memory.
//!
//! `cargo bench -p bethe-bench --bench flows` prints all; `-- --quick` leaves the large maps out.

mod growth;
mod instance;

use std::time::Instant;

use bethe_bench::Verdicts;
use bethe_core::{Method, Settings, Solution, StepSchedule};
use bethe_experiments::cgm::solve_by_nonlinear_bp;
use growth::LARGE;
use instance::{Instance, PAPER, Recipe};

/// What a prototype took at the three sizes, in milliseconds.
const PROTOTYPE: [(usize, f64); 3] = [(5, 0.19), (10, 1.22), (15, 6.0)];
/// The default solver may take so many calls on any of the hard ones.
const CALLS: f64 = 60.0;
const SEEDS: u64 = 3;

fn main() {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    if let Some(large) = LARGE.iter().find(|large| arguments.iter().any(|a| a == large.name)) {
        return large.run();
    }
    let mut verdicts = Verdicts::default();
    sizes(&mut verdicts);
    hard(&mut verdicts);
    growth::exponents(&mut verdicts);
    if !arguments.iter().any(|argument| argument == "--quick") {
        println!("\nlarge maps, 52 weeks, squared error, in processes of their own");
        LARGE.iter().for_each(|large| large.measure(&mut verdicts));
    }
    verdicts.print();
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

fn sizes(verdicts: &mut Verdicts) {
    println!("T = 20, M = 1000, rate 1, dense moves of every step their own, certified 1e-6");
    println!("{:>7} {:>16} {:>8} {:>10} {:>10}   status", "cells", "solver", "calls", "ms", "gap");
    for (side, prototype) in PROTOTYPE {
        let instance = Recipe { side, ..PAPER }.instance();
        println!("{:>21} tables made ready in {:.3} ms", side * side, 1e3 * instance.binding());
        for (place, solver) in SOLVERS.into_iter().enumerate() {
            let found = instance.solve(solver, if place == 0 { 20 } else { 3 });
            show(&(side * side).to_string(), &found);
            if place == 0 {
                let name = format!("{} cells: dual over the prototype's time", side * side);
                verdicts.at_most(&name, 1e3 * found.seconds / prototype, 1.0);
            }
        }
    }
}

fn hard(verdicts: &mut Verdicts) {
    println!("\nhard ones on 10 × 10 cells");
    let hard = [
        ("alpha10", Recipe { rate: 10.0, ..PAPER }),
        ("sticky", Recipe { distance: 4.0, ..PAPER }),
        ("sparse", Recipe { population: 100, ..PAPER }),
        ("wrong-theta", Recipe { wrong: true, ..PAPER }),
        ("wrong-theta-alpha10", Recipe { wrong: true, rate: 10.0, ..PAPER }),
    ];
    let mut most = 0;
    for (name, recipe) in hard {
        for seed in 0..SEEDS {
            let instance = Recipe { seed, ..recipe }.instance();
            let solvers = if seed == 0 { &SOLVERS[..] } else { &SOLVERS[..1] };
            for (place, &solver) in solvers.iter().enumerate() {
                let found = instance.solve(solver, 1);
                show(&format!("{name}-{seed}"), &found);
                if place == 0 {
                    most = most.max(found.oracle_calls);
                }
            }
        }
    }
    verdicts.at_most("hard ones: oracle calls of the dual", most as f64, CALLS);
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
