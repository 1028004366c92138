//! Hard measurements and counts: feasible ones hold, impossible ones are proved impossible, and
//! gradients that blow up do not take a solver with them.

mod common;

use bethe_core::{Energy, Method, Model, Penalty, Problem, Settings, Status, StepSchedule, Term};
use common::{Recipe, graphs, random_measurement, random_model, rng, run, value_nearby};
use rand::Rng;

fn state(variable: usize, state: usize, cardinality: usize, sign: f64) -> Term {
    let mut coefficients = vec![0.0; cardinality];
    coefficients[state] = sign;
    Term { scope: vec![variable], coefficients }
}

fn hard(penalty: Penalty, offset: f64, terms: Vec<Term>) -> Energy {
    Energy::Measurement { weight: 1.0, penalty, offset, terms }
}

#[test]
fn feasible_constraints_hold_at_the_answer() {
    for (score, forbidden) in [(2.0, 0.0), (40.0, 0.2)] {
        let recipe = Recipe { score, forbidden, weight: 1.0, measurements: 0 };
        for (name, cardinalities, scopes) in graphs() {
            for seed in 0..6 {
                let mut rng = rng(300 + seed);
                let model = random_model(&mut rng, &cardinalities, &scopes, &recipe);
                let mut energies = Vec::new();
                for index in 0..3 {
                    let random = random_measurement(
                        &mut rng,
                        &cardinalities,
                        &scopes,
                        Penalty::Squared,
                        3.0,
                    );
                    let Energy::Measurement { terms, .. } = random.clone() else { unreachable!() };
                    let nearby = value_nearby(&model, &terms);
                    energies.push(match index {
                        0 => hard(Penalty::AtMost, -nearby, terms),
                        1 => hard(Penalty::Equal, -nearby, terms),
                        _ => random,
                    });
                }
                let problem = Problem::new(model, energies).unwrap();
                let mut bound = problem.bind().unwrap();
                let settings = Settings { tolerance: 1e-9, ..Settings::default() };
                let found = run(&mut bound, &settings).unwrap();
                assert_eq!(found.status, Status::Converged, "{name} {score} {seed}: {found:?}");
                let violation = bound.energies.measurements.violation(&found.marginals);
                assert!(violation <= 1e-8, "{name} {score} {seed}: {violation}");
                // Slightly broken, they may leave it below the bound.
                let apart = (found.objective - found.lower_bound.unwrap()).abs();
                assert!(apart <= found.gap.unwrap(), "{name} {score} {seed}: {found:?}");
            }
        }
    }
}

#[test]
fn a_bound_that_does_not_bind_changes_nothing() {
    let mut model = Model::new(&[3]).unwrap();
    model.add_factor(&[0], &[0.3, -1.0, 0.9]).unwrap();
    let loose = hard(Penalty::AtMost, -0.99, vec![state(0, 2, 3, 1.0)]);
    let problem = Problem::new(model, vec![loose]).unwrap();
    let found = run(&mut problem.bind().unwrap(), &Settings::default()).unwrap();
    assert_eq!(found.status, Status::Converged);
    assert!((found.log_partition - found.base_log_partition).abs() < 1e-12);
}

#[test]
fn impossible_constraints_are_proved_impossible() {
    let chain = |score: f64| {
        let mut rng = rng(9);
        let recipe = Recipe { score, forbidden: 0.0, weight: 1.0, measurements: 0 };
        random_model(&mut rng, &[3; 5], &[vec![0, 1], vec![1, 2], vec![2, 3], vec![3, 4]], &recipe)
    };
    let count = |sign: f64| (0..5).map(|v| state(v, 1, 3, sign)).collect::<Vec<_>>();
    let cases: Vec<(&str, Vec<Energy>)> = vec![
        ("a count above the length", vec![hard(Penalty::Equal, -5.2, count(1.0))]),
        (
            "two bounds that cross",
            vec![hard(Penalty::AtMost, -2.0, count(1.0)), hard(Penalty::AtMost, 2.1, count(-1.0))],
        ),
        (
            "two values for one count",
            vec![hard(Penalty::Equal, -2.0, count(1.0)), hard(Penalty::Equal, -2.001, count(1.0))],
        ),
        (
            "probabilities above one in sum",
            vec![
                hard(Penalty::AtMost, 0.6, vec![state(2, 0, 3, -1.0)]),
                hard(Penalty::AtMost, 0.6, vec![state(2, 1, 3, -1.0)]),
            ],
        ),
        ("a constant that is positive", vec![hard(Penalty::AtMost, 0.5, vec![])]),
    ];
    for score in [1.0, 40.0] {
        for (label, hards) in &cases {
            let mut energies = hards.clone();
            energies.push(Energy::measurement(4.0, Penalty::Squared, count(0.3)));
            let problem = Problem::new(chain(score), energies).unwrap();
            let found = run(&mut problem.bind().unwrap(), &Settings::default()).unwrap();
            assert_eq!(found.status, Status::Infeasible, "{label}, {score}: {found:?}");
            assert!(found.oracle_calls < 500, "{label}, {score}: {}", found.oracle_calls);
        }
    }
}

#[test]
fn forbidden_states_make_constraints_impossible() {
    let mut model = Model::new(&[2, 2]).unwrap();
    let never = f64::NEG_INFINITY;
    model.add_factor(&[0, 1], &[0.0, never, never, 0.0]).unwrap();
    let differ = Term { scope: vec![0, 1], coefficients: vec![0.0, -1.0, -1.0, 0.0] };
    let problem = Problem::new(model, vec![hard(Penalty::AtMost, 0.1, vec![differ])]).unwrap();
    let found = run(&mut problem.bind().unwrap(), &Settings::default()).unwrap();
    assert_eq!(found.status, Status::Infeasible);
}

/// A constraint that no variable takes part in, also beside pieces of a dictionary.
#[test]
fn a_constant_that_breaks_its_constraint_is_infeasible_for_every_solver_that_serves_it() {
    let nothing = Term { scope: vec![0], coefficients: vec![0.0, 0.0] };
    let near = Energy::Nearest {
        weight: 1.0,
        norm: bethe_core::Norm::L1,
        cap: None,
        measurements: vec![vec![state(1, 1, 2, 1.0)]],
        points: vec![vec![0.0], vec![1.0]],
    };
    for energies in [vec![], vec![near]] {
        let mut energies = energies;
        energies.push(hard(Penalty::Equal, -1.0, vec![nothing.clone()]));
        let problem = Problem::new(Model::new(&[2, 2]).unwrap(), energies).unwrap();
        for method in [Method::Auto, Method::Global] {
            let settings = Settings { method, ..Settings::default() };
            let found = run(&mut problem.bind().unwrap(), &settings).unwrap();
            assert_eq!(found.status, Status::Infeasible, "{method:?}");
        }
    }
}

#[test]
fn a_count_of_something_impossible_is_infeasible() {
    let mut model = Model::new(&[3, 2]).unwrap();
    model.add_factor(&[0], &[0.0, 1.0, f64::NEG_INFINITY]).unwrap();
    let counted = Energy::measurement(
        1.0,
        Penalty::Poisson { rate: 5.0, count: 3.0 },
        vec![state(0, 2, 3, 1.0)],
    );
    let problem = Problem::new(model, vec![counted]).unwrap();
    let found = run(&mut problem.bind().unwrap(), &Settings::default()).unwrap();
    assert_eq!(found.status, Status::Infeasible);
}

#[test]
fn a_count_of_something_nearly_impossible_is_met() {
    let mut model = Model::new(&[2]).unwrap();
    model.add_factor(&[0], &[700.0, -700.0]).unwrap();
    let counted = Energy::measurement(
        1.0,
        Penalty::Poisson { rate: 5.0, count: 3.0 },
        vec![state(0, 1, 2, 1.0)],
    );
    let problem = Problem::new(model, vec![counted]).unwrap();
    let found = run(&mut problem.bind().unwrap(), &Settings::default()).unwrap();
    assert_eq!(found.status, Status::Converged, "{found:?}");
    assert!(found.marginals[1] > 1e-4, "{:?}", found.marginals);
}

/// Realistic counts on a chain of places: what plain dual averaging runs away on.
fn counts_on_a_chain() -> Problem {
    let (places, days) = (8, 6);
    let mut model = Model::new(&vec![places; days]).unwrap();
    let mut start = vec![-9.0; places];
    start[0] = 0.0;
    model.add_factor(&[0], &start).unwrap();
    let moves: Vec<f64> = (0..places * places)
        .map(|cell| -2.0 * ((cell / places) as f64 - (cell % places) as f64).abs())
        .collect();
    for day in 1..days {
        model.add_factor(&[day - 1, day], &moves).unwrap();
    }
    let mut rng = rng(4);
    let mut energies = Vec::new();
    for day in 0..days {
        for place in 0..places {
            let expected: f64 = if place.abs_diff(day) <= 1 { 300.0 } else { 2.0 };
            let count = (expected * rng.random_range(0.5..1.5)).round();
            energies.push(Energy::measurement(
                0.001,
                Penalty::Poisson { rate: 1000.0, count },
                vec![state(day, place, places, 1.0)],
            ));
        }
    }
    Problem::new(model, energies).unwrap()
}

#[test]
fn unbounded_gradients_do_not_take_a_solver_with_them() {
    let problem = counts_on_a_chain();
    let exact = run(&mut problem.bind().unwrap(), &Settings::default()).unwrap();
    assert_eq!(exact.status, Status::Converged);
    assert!(exact.oracle_calls <= 60, "{}", exact.oracle_calls);
    let methods = [
        Method::Rda { beta: 0.0 },
        Method::Rda { beta: 10.0 },
        Method::MirrorDescent { schedule: StepSchedule::Constant(0.1) },
        Method::MirrorDescent { schedule: StepSchedule::Inverse },
        Method::AcceleratedRda { smoothness: None },
        Method::Adaptive,
    ];
    for method in methods {
        let settings = Settings { method, max_iterations: 300, ..Settings::default() };
        let found = run(&mut problem.bind().unwrap(), &settings).unwrap();
        assert!(found.objective.is_finite(), "{method:?}: {found:?}");
        assert!(found.marginals.iter().all(|m| m.is_finite()), "{method:?}");
        assert!(found.objective >= exact.lower_bound.unwrap(), "{method:?}");
        assert!(found.lower_bound.unwrap() <= exact.objective + 1e-9, "{method:?}");
        println!(
            "{method:?}: {} above {}, gap {:?} {} {:?}",
            found.objective, exact.objective, found.gap, found.iterations, found.status
        );
    }
}

#[test]
fn a_constraint_on_fixed_variables_is_decided_without_a_multiplier() {
    // 0.1 + 0.2 − 0.3 is 0 but for rounding; on its own, and beside a variable that is free.
    let constant =
        |sum: f64| hard(Penalty::Equal, -sum, vec![state(0, 1, 2, 0.1), state(1, 0, 1, 0.2)]);
    for (sum, expected) in [(0.3, Status::Converged), (0.31, Status::Infeasible)] {
        let mut model = Model::new(&[2, 1, 2]).unwrap();
        model.observe(0, 1).unwrap();
        model.add_factor(&[2], &[0.0, 1.0]).unwrap();
        let soft = Energy::measurement(3.0, Penalty::Squared, vec![state(2, 1, 2, 1.0)]);
        let problem = Problem::new(model, vec![constant(sum), soft.clone()]).unwrap();
        let found = run(&mut problem.bind().unwrap(), &Settings::default()).unwrap();
        assert_eq!(found.status, expected, "{sum}: {found:?}");
        if expected == Status::Converged {
            let alone = Problem::new(problem.model().clone(), vec![soft]).unwrap();
            let alone = run(&mut alone.bind().unwrap(), &Settings::default()).unwrap();
            assert!((found.objective - alone.objective).abs() < 1e-9);
        }
    }
}

#[test]
fn a_constraint_that_holds_only_on_a_face_is_met() {
    // Five variables, and an expected count that only the all-ones configuration reaches.
    let mut rng = rng(12);
    let recipe = Recipe { score: 2.0, forbidden: 0.0, weight: 1.0, measurements: 0 };
    let model =
        random_model(&mut rng, &[2; 5], &[vec![0, 1], vec![1, 2], vec![2, 3], vec![3, 4]], &recipe);
    let all = hard(Penalty::Equal, -5.0, (0..5).map(|v| state(v, 1, 2, 1.0)).collect());
    let soft = Energy::measurement(2.0, Penalty::Absolute, vec![state(0, 1, 2, 1.0)]);
    let score = model
        .factors()
        .iter()
        .map(|factor| factor.log_potentials[factor.log_potentials.len() - 1])
        .sum::<f64>();
    let problem = Problem::new(model, vec![all, soft]).unwrap();
    let found = run(&mut problem.bind().unwrap(), &Settings::default()).unwrap();
    assert_eq!(found.status, Status::Converged, "{found:?}");
    let optimum = 2.0 - score;
    assert!((found.objective - optimum).abs() < 1e-4, "{} {optimum}", found.objective);
    assert!(found.lower_bound.unwrap() <= optimum + 1e-9);
}

#[test]
fn constraints_that_miss_by_little_are_proved_impossible() {
    for miss in [1e-2, 1e-4, 1e-5] {
        let model = Model::new(&[2; 3]).unwrap();
        let count = (0..3).map(|v| state(v, 1, 2, 1.0)).collect();
        let problem = Problem::new(model, vec![hard(Penalty::Equal, -3.0 - miss, count)]).unwrap();
        let found = run(&mut problem.bind().unwrap(), &Settings::default()).unwrap();
        assert_eq!(found.status, Status::Infeasible, "{miss}: {found:?}");
    }
}

#[test]
fn a_large_poisson_multiplier_is_reached_beside_another_measurement() {
    let model = Model::new(&[2]).unwrap();
    let counted = Energy::Measurement {
        weight: 1000.0,
        penalty: Penalty::Poisson { rate: 1000.0, count: 0.5 },
        offset: 1.0,
        terms: vec![state(0, 1, 2, 1.0)],
    };
    let constant = Energy::measurement(1.0, Penalty::Linear, vec![]);
    let problem = Problem::new(model, vec![constant, counted]).unwrap();
    let found = run(&mut problem.bind().unwrap(), &Settings::default()).unwrap();
    assert_eq!(found.status, Status::Converged, "{found:?}");
    assert!(found.oracle_calls < 100, "{}", found.oracle_calls);
}

#[test]
fn steep_counts_make_no_solver_claim_what_is_not_so() {
    // The counted state has probability e⁻⁴⁰ or less at the start: gradients of 1e17 and more.
    for score in [40.0, 80.0, 300.0] {
        let mut model = Model::new(&[3]).unwrap();
        model.add_factor(&[0], &[score, 0.0, -1.0]).unwrap();
        let counted = |count: f64, index: usize| {
            let penalty = Penalty::Poisson { rate: 2.0, count };
            Energy::measurement(3.0, penalty, vec![state(0, index, 3, 1.0)])
        };
        let problem = Problem::new(model, vec![counted(2.0, 1), counted(5.0, 2)]).unwrap();
        let settings = Settings { tolerance: 1e-9, ..Settings::default() };
        let exact = run(&mut problem.bind().unwrap(), &settings).unwrap();
        assert_eq!(exact.status, Status::Converged);
        let methods = [
            Method::Rda { beta: 0.0 },
            Method::MirrorDescent { schedule: StepSchedule::Constant(3.0) },
            Method::AcceleratedRda { smoothness: None },
            Method::AcceleratedRda { smoothness: Some(1.0) },
            Method::Adaptive,
        ];
        for method in methods {
            let settings = Settings { method, max_iterations: 500, ..Settings::default() };
            let found = run(&mut problem.bind().unwrap(), &settings).unwrap();
            let (gap, above) = (found.gap.unwrap(), found.objective - exact.objective);
            assert!(above >= -1e-4, "{score}, {method:?}: {above} below the optimum");
            assert!(gap >= above - 1e-6, "{score}, {method:?}: gap {gap}, above {above}");
            assert!(found.lower_bound.unwrap() <= exact.objective + 1e-6, "{score}, {method:?}");
        }
    }
}

#[test]
fn rows_that_say_the_same_twice_are_not_called_infeasible() {
    for seed in 0..40 {
        let mut rng = rng(900 + seed);
        let recipe = Recipe { score: 40.0, forbidden: 0.0, weight: 1.0, measurements: 0 };
        let model = random_model(&mut rng, &[3, 2], &[vec![0, 1]], &recipe);
        let coefficients: Vec<f64> = (0..3).map(|_| rng.random_range(-1.0..1.0)).collect();
        let terms = vec![Term { scope: vec![0], coefficients }];
        let value = value_nearby(&model, &terms);
        let twice = |by: f64| {
            let scaled = |c: &f64| by * c;
            let coefficients = terms[0].coefficients.iter().map(scaled).collect();
            hard(Penalty::Equal, -by * value, vec![Term { scope: vec![0], coefficients }])
        };
        let problem = Problem::new(model, vec![twice(1.0), twice(-1.7)]).unwrap();
        for method in [Method::Auto, Method::Global] {
            let settings = Settings { method, ..Settings::default() };
            let found = run(&mut problem.bind().unwrap(), &settings).unwrap();
            assert_ne!(found.status, Status::Infeasible, "{seed} {method:?}");
        }
    }
}

#[test]
fn numbers_beyond_a_double_are_refused() {
    let model = Model::new(&[2]).unwrap();
    let far = Energy::Measurement {
        weight: 5.0,
        penalty: Penalty::Linear,
        offset: -1e308,
        terms: vec![],
    };
    let problem = Problem::new(model, vec![far]).unwrap();
    let error = run(&mut problem.bind().unwrap(), &Settings::default()).unwrap_err();
    assert_eq!(error, bethe_core::solve::SolveError::Overflow);
}
