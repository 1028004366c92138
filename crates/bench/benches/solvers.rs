//! What solvers cost beyond their oracle calls, and what each of them reaches.
//!
//! `cargo bench -p bethe-bench --bench solvers [-- --results DIR]` measures solver time per oracle
//! call over that call alone, and error and calls on problems whose optimum is known.

#[path = "../../core/tests/common/mod.rs"]
mod common;

use std::hint::black_box;

use bethe_bench::{Report, time};
use bethe_core::problem::BoundProblem;
use bethe_core::solve::{Ignore, Task, solve};
use bethe_core::{Energy, Method, Model, Penalty, Problem, Settings, StepSchedule, Tables, Term};
use bethe_io::results::{Table, grouped};
use common::{Recipe, graphs, random_measurement, random_model, rng, run, soft_penalties};
use rand::Rng;

fn main() {
    let report = Report::new("solvers", &["solver-accuracy", "solver-cost"]);
    let cost = overhead();
    report.finish(&[accuracy(), cost]);
}

const POSITIONS: usize = 100;

/// A chain with shared transitions and random node scores.
fn chain(states: usize) -> Model {
    let mut rng = rng(1);
    let mut model = Model::new(&vec![states; POSITIONS]).unwrap();
    let mut table =
        |cells: usize| -> Vec<f64> { (0..cells).map(|_| rng.random_range(-2.0..2.0)).collect() };
    let transitions = table(states * states);
    for v in 0..POSITIONS {
        model.add_factor(&[v], &table(states)).unwrap();
        if v > 0 {
            model.add_factor(&[v - 1, v], &transitions).unwrap();
        }
    }
    model
}

/// Energies on nodes only: a rule on the count of every label, or a measurement of every single
/// marginal, as many as the oracle has cells.
fn node_energies(states: usize, kind: &str) -> Vec<Energy> {
    let mut rng = rng(2);
    let one = |v: usize, state: usize| {
        let mut coefficients = vec![0.0; states];
        coefficients[state] = 1.0;
        Term { scope: vec![v], coefficients }
    };
    let count = |state| (0..POSITIONS).map(|v| one(v, state)).collect::<Vec<_>>();
    match kind {
        "counts" => (0..states)
            .map(|state| Energy::Measurement {
                weight: 1.0,
                penalty: Penalty::SmoothedHinge,
                offset: 1.0 - POSITIONS as f64 / states as f64 * rng.random_range(0.5..1.5),
                terms: count(state),
            })
            .collect(),
        _ => (0..POSITIONS)
            .flat_map(|v| (0..states).map(move |state| (v, state)))
            .map(|(v, state)| Energy::Measurement {
                weight: 1.0,
                penalty: Penalty::Squared,
                offset: -rng.random_range(0.0..1.0),
                terms: vec![one(v, state)],
            })
            .collect(),
    }
}

/// Time of a solve, per oracle call, over the time of such a call.
fn overhead() -> Table {
    println!("solver time per oracle call over that call alone, T = {POSITIONS}, node energies");
    println!(
        "{:>5} {:>9} {:>15} {:>8} {:>12} {:>12} {:>7}",
        "K", "energy", "solver", "calls", "µs per call", "µs, solver", "ratio"
    );
    let columns = ["energies", "solver", "8 labels", "26 labels", "64 labels"];
    let mut table = Table::new("solver-cost", &columns);
    for (name, kind) in [("count of every label", "counts"), ("every marginal", "every")] {
        let sizes = [8, 26, 64];
        let problems =
            sizes.map(|states| Problem::new(chain(states), node_energies(states, kind)).unwrap());
        for method in [Method::Dual, Method::Rda { beta: 0.0 }, Method::Adaptive] {
            let mut row = vec![name.to_string(), format!("`{}`", method.name())];
            for (problem, states) in problems.iter().zip(sizes) {
                let ratio = measure(&mut problem.bind().unwrap(), method, states, kind);
                row.push(format!("{ratio:.2}"));
            }
            table.push(row);
        }
    }
    table
}

fn measure(bound: &mut BoundProblem, method: Method, states: usize, kind: &str) -> f64 {
    // A tolerance that is never met, so that every solver does as many steps.
    let settings =
        Settings { method, tolerance: 1e-300, max_iterations: 100, ..Settings::default() };
    let run = |bound: &mut BoundProblem, settings: &Settings| {
        solve(Task { marginals: Tables::None, ..bound.task() }, settings, &mut Ignore)
    };
    let found = run(bound, &settings).unwrap();
    let (tilt, calls) = (found.tilt, found.oracle_calls);
    let mut marginals = vec![0.0; found.marginals.len()];
    let mut apart = problem_twin(bound);
    // As many calls alone as a solve makes: the least of shorter spans would be less for that.
    let times = time(&mut [
        &mut || {
            for _ in 0..calls {
                black_box(apart.tilted(black_box(&tilt), &mut marginals));
            }
        },
        &mut || assert_eq!(black_box(run(bound, &settings).unwrap().oracle_calls), calls),
    ]);
    let [alone, per_call] = [0, 1].map(|n| times[n] / calls as f64);
    println!(
        "{states:>5} {kind:>9} {:>15} {calls:>8} {:>12.2} {:>12.2} {:>7.2}",
        method.name(),
        alone * 1e6,
        per_call * 1e6,
        per_call / alone
    );
    per_call / alone
}

/// A second oracle of the same problem.
fn problem_twin(bound: &BoundProblem) -> Box<dyn bethe_core::Oracle> {
    bethe_core::oracle::exact(&bound.base, bound.energies.support()).unwrap()
}

/// What each solver reaches in 5,000 iterations, and at what price: the worst relative error of the
/// objective and the mean number of oracle calls.
fn accuracy() -> Table {
    let recipe = Recipe { score: 2.0, forbidden: 0.0, weight: 10.0, measurements: 3 };
    let columns = ["solver", "smooth penalties", "hinge", "absolute"];
    let mut table = Table::new("solver-accuracy", &columns);
    // All but the one for `nearest` energies.
    for method in Method::NAMED.into_iter().filter(|method| *method != Method::Global) {
        let name = match method {
            Method::MirrorDescent { schedule: StepSchedule::Constant(_) } => {
                "mirror-descent --step-size 0.1"
            }
            Method::MirrorDescent { .. } => "mirror-descent --step-schedule inverse",
            other => other.name(),
        };
        let cells = [
            soft_penalties().into_iter().filter(|p| p.is_smooth()).collect::<Vec<_>>(),
            vec![Penalty::Hinge],
            vec![Penalty::Absolute],
        ]
        .map(|penalties| cell(&recipe, method, &penalties));
        println!("{name}: {}", cells.join("; "));
        table.push(std::iter::once(format!("`{name}`")).chain(cells));
    }
    table
}

fn cell(recipe: &Recipe, method: Method, penalties: &[Penalty]) -> String {
    let (mut worst, mut calls, mut count) = (0.0f64, 0, 0);
    for seed in 0..3 {
        for (_, cardinalities, scopes) in graphs() {
            for &penalty in penalties {
                let mut rng = rng(seed);
                let model = random_model(&mut rng, &cardinalities, &scopes, recipe);
                let mut one = || {
                    random_measurement(&mut rng, &cardinalities, &scopes, penalty, recipe.weight)
                };
                let energies = (0..recipe.measurements).map(|_| one()).collect();
                let problem = Problem::new(model, energies).unwrap();
                let exact = Settings { tolerance: 1e-10, ..Settings::default() };
                let best = run(&mut problem.bind().unwrap(), &exact).unwrap().objective;
                let settings = Settings {
                    method,
                    tolerance: 1e-7,
                    max_iterations: 5000,
                    ..Settings::default()
                };
                let Ok(found) = run(&mut problem.bind().unwrap(), &settings) else {
                    return "not served".to_string();
                };
                worst = worst.max((found.objective - best) / best.abs().max(1.0));
                calls += found.oracle_calls;
                count += 1;
            }
        }
    }
    format!("{worst:.1e}, {}", grouped((calls / count) as f64))
}
