//! The paper's claims, tested as such, and the feasibility of every iterate.

mod common;

use std::ops::ControlFlow;

use bethe_core::model::BaseModel;
use bethe_core::oracle::{BruteForce, Exactness};
use bethe_core::solve::{Record, Task, solve};
use bethe_core::{
    Energy, Method, Oracle, Penalty, Problem, Settings, StepSchedule, Support, Tables, Term,
};
use common::{Recipe, graphs, random_measurement, random_model, rng, run, soft_penalties};

const RECIPE: Recipe = Recipe { score: 2.0, forbidden: 0.1, weight: 6.0, measurements: 2 };
const TIGHT: f64 = 1e-10;

fn squared_problem(weight: f64) -> Problem {
    let mut rng = rng(3);
    let scopes = [vec![0, 1], vec![1, 2], vec![2, 3]];
    let recipe = Recipe { forbidden: 0.0, ..RECIPE };
    let model = random_model(&mut rng, &[3; 4], &scopes, &recipe);
    let terms = (0..4).map(|v| Term { scope: vec![v], coefficients: vec![0.0, 1.0, 0.0] });
    let energy = Energy::Measurement {
        weight,
        penalty: Penalty::Squared,
        offset: -3.5,
        terms: terms.collect(),
    };
    Problem::new(model, vec![energy]).unwrap()
}

fn optimum(problem: &Problem) -> f64 {
    let settings = Settings { tolerance: TIGHT, ..Settings::default() };
    run(&mut problem.bind().unwrap(), &settings).unwrap().objective
}

/// The objective of the average after each iteration.
fn averages(problem: &Problem, method: Method, iterations: usize) -> Vec<f64> {
    let mut bound = problem.bind().unwrap();
    let mut seen = Vec::new();
    let mut observer = |record: &Record, _: &[f64]| {
        seen.push(record.average_objective.unwrap());
        ControlFlow::Continue(())
    };
    let task = Task::new(bound.oracle.as_mut(), &mut bound.energies);
    let settings =
        Settings { method, max_iterations: iterations, tolerance: 1e-300, ..Settings::default() };
    solve(task, &settings, &mut observer).unwrap();
    seen
}

#[test]
fn proposition_1_plain_inference_at_the_tilt_returns_the_optimum() {
    for (name, cardinalities, scopes) in graphs() {
        for penalty in soft_penalties().into_iter().filter(|p| p.is_smooth()) {
            let mut rng = rng(11);
            let model = random_model(&mut rng, &cardinalities, &scopes, &RECIPE);
            let energy = random_measurement(&mut rng, &cardinalities, &scopes, penalty, 6.0);
            let problem = Problem::new(model, vec![energy]).unwrap();
            let mut bound = problem.bind().unwrap();
            let settings = Settings { tolerance: TIGHT, ..Settings::default() };
            let found = run(&mut bound, &settings).unwrap();
            let width = found.marginals.len();
            let (mut gradient, mut plain) = (vec![0.0; width], vec![0.0; width]);
            bound.energies.evaluate(&found.marginals, &mut gradient);
            let tilt: Vec<f64> = gradient.iter().map(|g| -g).collect();
            BruteForce::new(&bound.base, bound.energies.support()).tilted(&tilt, &mut plain);
            for (a, b) in found.marginals.iter().zip(&plain) {
                assert!((a - b).abs() < 1e-4, "{name} {penalty:?}: {a} {b}");
            }
        }
    }
}

#[test]
fn averages_of_rda_and_mirror_descent_stay_below_ln_t_over_t() {
    let problem = squared_problem(2.0);
    let best = optimum(&problem);
    // |z| ≤ 3.5, so no gradient moves a configuration's score by more than 4 · 2 · 3.5.
    let slope: f64 = 4.0 * 2.0 * 3.5;
    let methods =
        [Method::Rda { beta: 0.0 }, Method::MirrorDescent { schedule: StepSchedule::Inverse }];
    for method in methods {
        for (index, value) in averages(&problem, method, 4000).into_iter().enumerate() {
            let t = (index + 1) as f64;
            let envelope = 0.5 * slope * slope * (1.0 + t.ln()) / t;
            assert!(value - best <= envelope, "{method:?} at {t}: {}", value - best);
            assert!(value - best >= -1e-9, "{method:?} at {t}: {}", value - best);
        }
    }
    // The envelope is no formality: the averages do fall by three orders of magnitude.
    let rda = averages(&problem, Method::Rda { beta: 0.0 }, 4000);
    assert!(rda[3999] - best < 1e-3 * (rda[0] - best), "{} {}", rda[3999] - best, rda[0] - best);
}

#[test]
fn accelerated_averages_stay_below_one_over_t_squared() {
    let weight = 2.0;
    let problem = squared_problem(weight);
    let best = optimum(&problem);
    // A count over 4 variables spans 4: smoothness relative to −H is at most w·4²/4.
    let smoothness = weight * 4.0;
    let distance = {
        let settings = Settings { tolerance: TIGHT, ..Settings::default() };
        let found = run(&mut problem.bind().unwrap(), &settings).unwrap();
        let moved: f64 = found.tilt.iter().zip(&found.marginals).map(|(d, m)| d * m).sum();
        moved - found.log_partition + found.base_log_partition
    };
    let given = Method::AcceleratedRda { smoothness: Some(smoothness) };
    for (index, value) in averages(&problem, given, 3000).into_iter().enumerate() {
        let t = (index + 1) as f64;
        let envelope = 4.0 * smoothness * distance / (t * t);
        assert!(value - best <= envelope + 1e-9, "at {t}: {} above {envelope}", value - best);
    }
}

#[test]
fn appendix_c_mirror_descent_descends_to_a_stationary_point() {
    let mut rng = rng(6);
    let recipe = Recipe { forbidden: 0.0, ..RECIPE };
    let model = random_model(&mut rng, &[2; 5], &[vec![0, 1], vec![2, 3]], &recipe);
    let product =
        |a, b| Energy::Product { scope: vec![a, b], log_potentials: vec![1.0, -0.5, 0.2, 0.8] };
    let problem = Problem::new(model, vec![product(1, 2), product(3, 4), product(4, 0)]).unwrap();
    let mut bound = problem.bind().unwrap();
    let mut objectives = Vec::new();
    let mut observer = |record: &Record, _: &[f64]| {
        objectives.push((record.objective, record.residual));
        ControlFlow::Continue(())
    };
    let settings = Settings {
        method: Method::MirrorDescent { schedule: StepSchedule::Constant(0.1) },
        ..Settings::default()
    };
    let task = Task::new(bound.oracle.as_mut(), &mut bound.energies);
    solve(task, &settings, &mut observer).unwrap();
    for pair in objectives.windows(2) {
        assert!(pair[1].0 <= pair[0].0 + 1e-12, "{pair:?}");
    }
    assert!(objectives.last().unwrap().1 < 1e-5 && objectives[0].1 > 1e-2);
}

#[test]
fn the_energy_at_the_marginals_is_below_the_expected_energy() {
    for (name, cardinalities, scopes) in graphs() {
        for penalty in soft_penalties() {
            let mut rng = rng(21);
            let model = random_model(&mut rng, &cardinalities, &scopes, &RECIPE);
            let energy = random_measurement(&mut rng, &cardinalities, &scopes, penalty, 3.0);
            let mut bound = Problem::new(model, vec![energy]).unwrap().bind().unwrap();
            let mut oracle = BruteForce::new(&bound.base, bound.energies.support());
            let width = bound.energies.support().len();
            let (mut marginals, mut unused) = (vec![0.0; width], vec![0.0; width]);
            oracle.tilted(&vec![0.0; width], &mut marginals);
            let at_marginals = bound.energies.evaluate(&marginals, &mut unused);
            let mut expected = 0.0;
            for joint_state in 0..oracle.probabilities().len() {
                let probability = oracle.probabilities()[joint_state];
                let mut statistics = vec![0.0; width];
                oracle.add_statistics(joint_state, 1.0, &mut statistics);
                if probability > 0.0 {
                    expected += probability * bound.energies.evaluate(&statistics, &mut unused);
                }
            }
            let rounding = 1e-9 * (1.0 + expected.abs());
            assert!(at_marginals <= expected + rounding, "{name} {penalty:?}");
        }
    }
}

/// An oracle that checks each of its answers: non-negative, normalised, locally consistent.
struct Checked {
    oracle: Box<dyn Oracle>,
    base: BaseModel,
    answers: usize,
}

const CONSISTENT: f64 = 1e-9;

fn check_polytope(base: &BaseModel, tables: &[Vec<f64>]) {
    for (table, values) in base.tables.iter().zip(tables) {
        assert!(values.iter().all(|&v| (0.0..=1.0 + CONSISTENT).contains(&v)), "{values:?}");
        assert!((values.iter().sum::<f64>() - 1.0).abs() <= CONSISTENT, "{values:?}");
        for (axis, &variable) in table.scope.iter().enumerate() {
            let stride: usize =
                table.scope[axis + 1..].iter().map(|&v| base.cardinalities[v]).product();
            let mut summed = vec![0.0; base.cardinalities[variable]];
            for (cell, value) in values.iter().enumerate() {
                summed[cell / stride % base.cardinalities[variable]] += value;
            }
            for (a, b) in summed.iter().zip(&tables[variable]) {
                assert!((a - b).abs() <= CONSISTENT, "table over {:?}: {a} {b}", table.scope);
            }
        }
    }
}

impl Oracle for Checked {
    fn exactness(&self) -> Exactness {
        self.oracle.exactness()
    }

    fn support(&self) -> &Support {
        self.oracle.support()
    }

    fn tilted(&mut self, tilt: &[f64], marginals: &mut [f64]) -> f64 {
        let log_partition = self.oracle.tilted(tilt, marginals);
        let mut tables = Vec::new();
        self.oracle.visit_marginals(Tables::All, &mut |_, values| tables.push(values.to_vec()));
        check_polytope(&self.base, &tables);
        self.answers += 1;
        log_partition
    }

    fn visit_marginals(&mut self, tables: Tables, visit: &mut dyn FnMut(usize, &mut Vec<f64>)) {
        self.oracle.visit_marginals(tables, visit);
    }

    fn decode(&mut self, tilt: &[f64], assignment: &mut [usize]) -> f64 {
        self.oracle.decode(tilt, assignment)
    }
}

/// Runs a method and checks every answer of its oracle, and the average if it returns one.
fn hold_to_polytope(name: &str, problem: &Problem, method: Method) {
    let mut bound = problem.bind().unwrap();
    let mut checked = Checked { oracle: bound.oracle, base: bound.base.clone(), answers: 0 };
    let lowest_score = bound.base.lowest_score();
    let task = Task { lowest_score, ..Task::new(&mut checked, &mut bound.energies) };
    let settings = Settings { method, max_iterations: 100, tolerance: 1e-9, ..Settings::default() };
    let found = solve(task, &settings, &mut bethe_core::solve::Ignore).unwrap();
    assert!(checked.answers > 0, "{name}");
    if let Some(flat) = found.averaged_tables {
        let mut rest = &flat[..];
        let split = |table: &bethe_core::model::Table| {
            let (own, after) = rest.split_at(table.log_potentials.len());
            rest = after;
            own.to_vec()
        };
        let tables: Vec<Vec<f64>> = bound.base.tables.iter().map(split).collect();
        check_polytope(&bound.base, &tables);
    }
}

#[test]
fn every_iterate_of_every_solver_is_feasible() {
    let methods = [
        Method::Auto,
        Method::Rda { beta: 0.0 },
        Method::MirrorDescent { schedule: StepSchedule::Constant(0.5) },
        Method::AcceleratedRda { smoothness: None },
        Method::Adaptive,
        Method::Dual,
    ];
    let poisson = Penalty::Poisson { rate: 3.0, count: 2.0 };
    for (name, cardinalities, scopes) in graphs() {
        for (index, method) in methods.into_iter().enumerate() {
            for penalty in [Penalty::SmoothedHinge, poisson] {
                let mut rng = rng(50 + index as u64);
                let recipe = Recipe { score: 20.0, ..RECIPE };
                let model = random_model(&mut rng, &cardinalities, &scopes, &recipe);
                let mut one =
                    || random_measurement(&mut rng, &cardinalities, &scopes, penalty, 8.0);
                let problem = Problem::new(model, vec![one(), one()]).unwrap();
                hold_to_polytope(name, &problem, method);
            }
        }
        // Pieces, linearised energies, hard constraints and branch and bound.
        let mut rng = rng(60);
        let model = random_model(&mut rng, &cardinalities, &scopes, &RECIPE);
        let measurements = (0..cardinalities.len())
            .map(|v| {
                let mut coefficients = vec![0.0; cardinalities[v]];
                coefficients[0] = 1.0;
                vec![Term { scope: vec![v], coefficients }]
            })
            .collect();
        let size = cardinalities.len();
        let pieces = Energy::Nearest {
            weight: 2.0,
            norm: bethe_core::Norm::L1,
            cap: Some(3.0),
            measurements,
            points: vec![vec![0.9; size], vec![0.2; size]],
        };
        let bounded = random_measurement(&mut rng, &cardinalities, &scopes, Penalty::AtMost, 1.0);
        let coupled = Energy::Product {
            scope: vec![0, size - 1][..size.min(2)].to_vec(),
            log_potentials: vec![
                0.5;
                cardinalities[0]
                    * if size > 1 { cardinalities[size - 1] } else { 1 }
            ],
        };
        let all = Problem::new(model.clone(), vec![pieces.clone(), bounded.clone(), coupled]);
        hold_to_polytope(name, &all.unwrap(), Method::Auto);
        let convex_pieces = Problem::new(model, vec![pieces, bounded]).unwrap();
        hold_to_polytope(name, &convex_pieces, Method::Global);
    }
}

/// The slope of `ln(values − best)` over `ln t` from iteration `first` on, by least squares.
fn rate(values: &[f64], best: f64, first: usize) -> f64 {
    let points: Vec<[f64; 2]> = (first..values.len())
        .map(|index| [((index + 1) as f64).ln(), (values[index] - best).ln()])
        .collect();
    let mean = |axis: usize| points.iter().map(|p| p[axis]).sum::<f64>() / points.len() as f64;
    let (x, y) = (mean(0), mean(1));
    let along: f64 = points.iter().map(|p| (p[0] - x) * (p[1] - y)).sum();
    along / points.iter().map(|p| (p[0] - x) * (p[0] - x)).sum::<f64>()
}

#[test]
fn averages_fall_at_the_papers_rates() {
    let problem = squared_problem(2.0);
    let settings = Settings { tolerance: 1e-12, ..Settings::default() };
    let found = run(&mut problem.bind().unwrap(), &settings).unwrap();
    assert!(found.gap.unwrap() < 1e-12 * found.objective.abs().max(1.0) + 1e-13, "{found:?}");
    // `ln t / t` falls like `t^(1/ln t − 1)`: by −0.86 about the middle of these iterations.
    for method in
        [Method::Rda { beta: 0.0 }, Method::MirrorDescent { schedule: StepSchedule::Inverse }]
    {
        let found = rate(&averages(&problem, method, 4000), found.lower_bound.unwrap(), 100);
        assert!(found <= -0.86, "{method:?}: {found}");
    }
    let accelerated = Method::AcceleratedRda { smoothness: Some(8.0) };
    let found = rate(&averages(&problem, accelerated, 1000), found.lower_bound.unwrap(), 30);
    assert!(found <= -1.9, "accelerated: {found}");
}
