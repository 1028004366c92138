//! Solvers × graphs × energies meet at one optimum, with valid certificates.

mod common;

use bethe_core::solve::Ignore;
use bethe_core::{
    Curvature, CustomEnergy, Energy, Method, Model, Penalty, Problem, Request, Settings, Status,
    StepSchedule, count,
};
use common::{
    Recipe, graphs, random_measurement, random_model, reference, rng, run, soft_penalties,
};

const MODERATE: Recipe = Recipe { score: 2.0, forbidden: 0.0, weight: 5.0, measurements: 2 };
const EXTREME: Recipe = Recipe { score: 40.0, forbidden: 0.2, weight: 10.0, measurements: 2 };

/// One problem per graph, penalty and seed.
fn problems(recipe: &Recipe, penalties: &[Penalty], seeds: u64) -> Vec<(String, Problem)> {
    let mut list = Vec::new();
    for seed in 0..seeds {
        for (name, cardinalities, scopes) in graphs() {
            for (index, &penalty) in penalties.iter().enumerate() {
                let mut rng = rng(1000 * seed + index as u64);
                let model = random_model(&mut rng, &cardinalities, &scopes, recipe);
                let mut energy = || {
                    random_measurement(&mut rng, &cardinalities, &scopes, penalty, recipe.weight)
                };
                let energies = (0..recipe.measurements).map(|_| energy()).collect();
                let label = format!("{name}, {penalty:?}, seed {seed}");
                list.push((label, Problem::new(model, energies).unwrap()));
            }
        }
    }
    list
}

fn smooth_penalties() -> Vec<Penalty> {
    soft_penalties().into_iter().filter(|p| p.is_smooth()).collect()
}

/// Solves every problem and holds the answer against the reference.
fn hold_against_reference(
    problems: Vec<(String, Problem)>,
    settings: &Settings,
    objective_within: f64,
    marginals_within: f64,
    converges: bool,
) {
    let (mut calls, mut worst, mut n) = (0, 0.0f64, 0);
    for (label, problem) in problems {
        let truth = reference(&problem);
        let found = run(&mut problem.bind().unwrap(), settings).unwrap();
        calls += found.oracle_calls;
        n += 1;
        let scale = truth.objective.abs().max(1.0);
        if converges {
            assert_eq!(found.status, Status::Converged, "{label}: {found:?}");
        }
        let above = found.objective - truth.objective;
        worst = worst.max(above / scale);
        assert!(above <= objective_within * scale, "{label}: {above}");
        assert!(above >= -1e-9 * scale, "{label}: {above} below the optimum");
        let (lower, gap) = (found.lower_bound.unwrap(), found.gap.unwrap());
        assert!(lower <= truth.objective + 1e-9 * scale, "{label}: bound {lower} is false");
        assert!(gap >= above - 1e-9 * scale && gap >= 0.0, "{label}: gap {gap} below {above}");
        for (a, b) in found.marginals.iter().zip(&truth.marginals) {
            assert!((a - b).abs() <= marginals_within, "{label}: {a} {b}");
        }
    }
    println!("{n} problems, {} calls each, worst {worst:.1e}", calls / n);
}

#[test]
fn auto_meets_the_reference_on_every_graph_and_penalty() {
    let settings = Settings { tolerance: 1e-7, ..Settings::default() };
    let moderate = problems(&MODERATE, &soft_penalties(), 2);
    hold_against_reference(moderate, &settings, 1e-6, 2.5e-4, true);
    let extreme = problems(&EXTREME, &soft_penalties(), 2);
    hold_against_reference(extreme, &settings, 1e-6, 2.5e-4, true);
}

#[test]
fn auto_meets_the_reference_closely_at_a_tight_tolerance() {
    let settings = Settings { tolerance: 1e-8, ..Settings::default() };
    hold_against_reference(problems(&EXTREME, &soft_penalties(), 2), &settings, 1e-7, 1e-4, true);
}

#[test]
fn the_dual_reaches_a_relative_gap_of_a_billionth() {
    let settings = Settings { tolerance: 1e-9, method: Method::Dual, ..Settings::default() };
    for recipe in [MODERATE, EXTREME] {
        hold_against_reference(
            problems(&recipe, &soft_penalties(), 2),
            &settings,
            1e-8,
            1e-4,
            true,
        );
    }
}

#[test]
fn adaptive_meets_the_reference_on_smooth_penalties() {
    let settings = Settings { tolerance: 1e-7, method: Method::Adaptive, ..Settings::default() };
    hold_against_reference(
        problems(&MODERATE, &smooth_penalties(), 2),
        &settings,
        1e-6,
        2.5e-4,
        true,
    );
}

#[test]
fn the_papers_solvers_come_close_in_5000_iterations() {
    let methods = [
        (Method::Rda { beta: 0.0 }, 5e-3),
        (Method::Rda { beta: 2.0 }, 5e-3),
        (Method::MirrorDescent { schedule: StepSchedule::Constant(0.1) }, 5e-3),
        (Method::MirrorDescent { schedule: StepSchedule::Inverse }, 5e-3),
        (Method::AcceleratedRda { smoothness: None }, 2e-2),
    ];
    for (method, within) in methods {
        println!("{method:?}");
        let settings =
            Settings { method, max_iterations: 5000, tolerance: 1e-5, ..Settings::default() };
        let recipe = Recipe { weight: 10.0, ..MODERATE };
        let problems = problems(&recipe, &smooth_penalties(), 1);
        hold_against_reference(problems, &settings, within, 0.2, false);
    }
}

/// `converged` is a promise about the point that is returned.
#[test]
fn what_is_called_converged_is_within_the_tolerance_it_was_asked_for() {
    let methods = [
        Method::Auto,
        Method::Rda { beta: 0.0 },
        Method::MirrorDescent { schedule: StepSchedule::Constant(0.3) },
        Method::MirrorDescent { schedule: StepSchedule::Inverse },
        Method::AcceleratedRda { smoothness: None },
        Method::Adaptive,
    ];
    let mut converged = 0;
    for (label, problem) in problems(&MODERATE, &soft_penalties(), 2) {
        let exact = Settings { tolerance: 1e-10, ..Settings::default() };
        let best = run(&mut problem.bind().unwrap(), &exact).unwrap().objective;
        for method in methods {
            for tolerance in [1e-1, 1e-2, 1e-4] {
                let settings =
                    Settings { method, tolerance, max_iterations: 300, ..Settings::default() };
                let Ok(found) = run(&mut problem.bind().unwrap(), &settings) else { continue };
                let (gap, scale) = (found.gap.unwrap(), found.objective.abs().max(1.0));
                let above = found.objective - best;
                assert!(gap >= above - 1e-9 * scale, "{label}, {method:?}: {gap} {above}");
                if found.status == Status::Converged {
                    assert!(gap <= tolerance * scale, "{label}, {method:?}, {tolerance}: {gap}");
                    converged += 1;
                }
            }
        }
    }
    assert!(converged > 1000, "only {converged} runs converged");
}

/// The solver that an answer names, for energies over two binary variables.
fn named(method: Method, energies: Vec<Energy>) -> &'static str {
    let mut model = Model::new(&[2, 2]).unwrap();
    model.add_factor(&[0, 1], &[0.5, 0.0, 0.0, 0.5]).unwrap();
    let settings = Settings { method, ..Settings::default() };
    let problem = Problem::new(model, energies).unwrap();
    let name = run(&mut problem.bind().unwrap(), &settings).unwrap().solver;
    let answer = problem.solve_with(&settings, &Request::default(), &mut Ignore).unwrap();
    assert_eq!(answer.solver, name);
    name
}

#[test]
fn an_answer_names_the_solver_that_ran() {
    let ones = || count(&Model::new(&[2, 2]).unwrap(), [(0, 1), (1, 1)]).unwrap();
    let squared = || Energy::squared(3.0, 0.5, ones());
    let words = || Energy::nearest(2.0, vec![ones()], vec![vec![0.0], vec![2.0]]);
    let product = || Energy::product(&[0, 1], &[0.2, 0.0, 0.0, 0.2]);
    let kinks = || {
        let convex = Curvature::Convex { infimum: 0.0 };
        let absolute = CustomEnergy::new(vec![vec![0]], convex, |marginals, gradient| {
            gradient[1] = (marginals[1] - 0.3).signum();
            (marginals[1] - 0.3).abs()
        });
        Energy::from(absolute.with_kinks())
    };
    let table = |scope: Vec<usize>| {
        let (weight, penalty, target) = (5.0, Penalty::Squared, vec![0.1, 0.2, 0.3, 0.4]);
        Energy::TableMeasurement { weight, penalty, scope, target, total: 1.0 }
    };
    for (name, method, energies) in [
        ("dual", Method::Auto, vec![]),
        ("dual", Method::Auto, vec![squared()]),
        ("dual", Method::Auto, vec![Energy::at_most(0.5, ones())]),
        ("dual", Method::Auto, vec![table(vec![0, 1]), table(vec![1, 0])]),
        ("dual", Method::Dual, vec![table(vec![0, 1]), table(vec![1, 0])]),
        ("adaptive", Method::Auto, vec![product()]),
        ("rda", Method::Auto, vec![kinks()]),
        ("alternating", Method::Auto, vec![words()]),
        ("alternating", Method::Auto, vec![product(), squared()]),
        ("global", Method::Global, vec![words()]),
        ("global", Method::Global, vec![squared()]),
        ("rda", Method::Rda { beta: 0.0 }, vec![squared()]),
        ("adaptive", Method::Adaptive, vec![squared()]),
        ("accelerated-rda", Method::AcceleratedRda { smoothness: None }, vec![squared()]),
    ] {
        assert_eq!(named(method, energies), name, "{method:?}");
    }
}
