//! Multipliers and tilted potentials in answers: what a small change of the problem says they are.

mod common;

use bethe_core::solve::Ignore;
use bethe_core::{
    Answer, Energy, Method, Model, Penalty, Problem, Request, Settings, StepSchedule, Term, count,
};
use common::{Recipe, graphs, random_measurement, random_model, rng, run, soft_penalties};
use rand::Rng;

const RECIPE: Recipe = Recipe { score: 1.5, forbidden: 0.1, weight: 3.0, measurements: 3 };

fn solve(problem: &Problem, method: Method, tolerance: f64) -> Answer {
    let settings = Settings { method, tolerance, ..Settings::default() };
    problem.solve_with(&settings, &Request::default(), &mut Ignore).unwrap()
}

fn multipliers(answer: &Answer, energy: usize) -> &[f64] {
    answer.energies[energy].multipliers.as_deref().unwrap()
}

/// Moves the offset of a measurement.
fn moved(energy: &Energy, by: f64) -> Energy {
    let Energy::Measurement { weight, penalty, offset, terms } = energy.clone() else {
        unreachable!("a measurement")
    };
    Energy::Measurement { weight, penalty, offset: offset + by, terms }
}

/// The optimum's slope in the offset of each measurement is its multiplier.
fn check_slopes(what: &str, model: &Model, energies: &[Energy]) {
    let step = 1e-4;
    let problem = Problem::new(model.clone(), energies.to_vec()).unwrap();
    let answer = solve(&problem, Method::Auto, 1e-11);
    for (index, energy) in energies.iter().enumerate() {
        let optimum = |by: f64| {
            let mut energies = energies.to_vec();
            energies[index] = moved(energy, by);
            let problem = Problem::new(model.clone(), energies).unwrap();
            solve(&problem, Method::Auto, 1e-11).objective.unwrap()
        };
        let slope = (optimum(step) - optimum(-step)) / (2.0 * step);
        let found = multipliers(&answer, index);
        assert_eq!(found.len(), 1);
        assert!((found[0] - slope).abs() < 1e-3 * (1.0 + slope.abs()), "{what}: {found:?} {slope}");
    }
}

#[test]
fn multipliers_are_slopes_of_the_optimum_in_the_offsets() {
    for (index, (name, cardinalities, scopes)) in graphs().into_iter().enumerate() {
        let mut rng = rng(700 + index as u64);
        let model = random_model(&mut rng, &cardinalities, &scopes, &RECIPE);
        let energies: Vec<Energy> = soft_penalties()
            .into_iter()
            .map(|p| random_measurement(&mut rng, &cardinalities, &scopes, p, RECIPE.weight))
            .collect();
        check_slopes(name, &model, &energies);
    }
}

#[test]
fn hard_constraints_have_the_multipliers_of_their_offsets() {
    let mut model = Model::new(&[2, 3, 2]).unwrap();
    model.add_factor(&[0, 1], &[0.3, -1.0, 0.5, 0.0, 1.0, -0.2]).unwrap();
    model.add_factor(&[1, 2], &[0.0, 0.4, -0.6, 0.9, 0.1, 0.0]).unwrap();
    let terms = |states: &[(usize, usize)]| count(&model, states.iter().copied()).unwrap();
    let binds = Energy::at_most(0.8, terms(&[(0, 1), (2, 1)]));
    let idle = Energy::at_most(1.9, terms(&[(0, 0), (1, 0)]));
    let fixed = Energy::equal(0.45, terms(&[(1, 2)]));
    let kink = Energy::absolute(30.0, 0.7, terms(&[(2, 0)]));
    check_slopes("hard", &model, &[binds.clone(), idle.clone(), fixed.clone()]);
    check_slopes("kink", &model, &[idle.clone(), kink]);
    let problem = Problem::new(model, vec![binds, idle, fixed]).unwrap();
    let answer = problem.solve().unwrap();
    assert!(multipliers(&answer, 0)[0] > 0.01 && multipliers(&answer, 1)[0].abs() < 1e-6);
}

#[test]
fn the_tilt_is_made_of_the_multipliers() {
    for (index, (name, cardinalities, scopes)) in graphs().into_iter().enumerate() {
        for penalty in soft_penalties().into_iter().chain([Penalty::AtMost]) {
            let mut rng = rng(800 + index as u64);
            let model = random_model(&mut rng, &cardinalities, &scopes, &RECIPE);
            let mut one = || random_measurement(&mut rng, &cardinalities, &scopes, penalty, 5.0);
            let problem = Problem::new(model, vec![one(), one()]).unwrap();
            let mut bound = problem.bind().unwrap();
            for iterations in [1, 3, 10_000] {
                let settings = Settings {
                    method: Method::Dual,
                    max_iterations: iterations,
                    ..Settings::default()
                };
                let found = run(&mut bound, &settings).unwrap();
                let rows = bound.energies.measurements.rows();
                let mut apart = found.tilt.clone();
                for (row, &multiplier) in found.multipliers.iter().enumerate() {
                    rows.add_row(row, multiplier, &mut apart);
                }
                let scale = found.tilt.iter().fold(1.0f64, |m, t| m.max(t.abs()));
                assert!(apart.iter().all(|t| t.abs() < 1e-9 * scale), "{name} {penalty:?}");
            }
        }
    }
}

#[test]
fn every_solver_finds_the_same_multipliers_of_smooth_measurements() {
    let (_, cardinalities, scopes) = graphs().swap_remove(7);
    let mut rng = rng(3);
    let model = random_model(&mut rng, &cardinalities, &scopes, &RECIPE);
    let energies: Vec<Energy> = [Penalty::Squared, Penalty::SmoothedHinge]
        .into_iter()
        .map(|p| random_measurement(&mut rng, &cardinalities, &scopes, p, 3.0))
        .collect();
    let problem = Problem::new(model, energies).unwrap();
    let dual = solve(&problem, Method::Dual, 1e-10);
    for method in [
        Method::Rda { beta: 0.0 },
        Method::MirrorDescent { schedule: StepSchedule::Constant(0.3) },
        Method::AcceleratedRda { smoothness: None },
        Method::Adaptive,
        Method::Global,
    ] {
        let found = solve(&problem, method, 1e-9);
        for energy in 0..2 {
            let apart = multipliers(&found, energy)[0] - multipliers(&dual, energy)[0];
            assert!(apart.abs() < 2e-3, "{method:?}: {apart}");
        }
    }
}

#[test]
fn cells_of_a_table_have_the_multipliers_of_single_measurements_in_the_stated_order() {
    let shape = [2, 3, 2];
    for (forbidden, observed) in [(false, false), (true, false), (false, true)] {
        for penalty in soft_penalties() {
            let mut rng = rng(5);
            let mut model = Model::new(&shape).unwrap();
            let mut cells: Vec<f64> = (0..6).map(|_| rng.random_range(-1.0..1.0)).collect();
            if forbidden {
                cells[4] = f64::NEG_INFINITY;
            }
            model.add_factor(&[0, 1], &cells).unwrap();
            model.add_factor(&[1, 2], &[0.5, 0.0, 0.0, -0.5, 0.2, 0.1]).unwrap();
            if observed {
                model.observe(0, 1).unwrap();
            }
            let target: Vec<f64> = (0..6).map(|_| rng.random_range(-0.9..0.0)).collect();
            let (scope, weight) = (vec![1, 0], 4.0);
            let cell = |(cell, value): (usize, &f64)| {
                let mut coefficients = vec![0.0; 6];
                coefficients[cell] = 1.5;
                let terms = vec![Term { scope: scope.clone(), coefficients }];
                Energy::Measurement { weight, penalty, offset: -value, terms }
            };
            let single: Vec<Energy> = target.iter().enumerate().map(cell).collect();
            let whole = Energy::TableMeasurement {
                weight,
                penalty,
                scope: scope.clone(),
                target,
                total: 1.5,
            };
            let of = |energies: Vec<Energy>| {
                let problem = Problem::new(model.clone(), energies).unwrap();
                solve(&problem, Method::Dual, 1e-12)
            };
            let (whole, single) = (of(vec![whole]), of(single));
            let expected: Vec<f64> = (0..6).map(|cell| multipliers(&single, cell)[0]).collect();
            let found = multipliers(&whole, 0);
            assert_eq!(found.len(), 6);
            let close =
                found.iter().zip(&expected).all(|(f, e)| (f - e).abs() < 1e-4 * (1.0 + e.abs()));
            assert!(close, "{penalty:?} {forbidden} {observed}: {found:?} {expected:?}");
        }
    }
}

/// Tables that contradict one another, one of them stated twice: solved as tables that agree.
#[test]
fn multipliers_of_overlapping_tables_give_the_answer_by_plain_inference() {
    let sizes = [3, 2, 3];
    let scopes: [&[usize]; 4] = [&[0, 1], &[1, 2], &[0, 1], &[2, 0]];
    let mut rng = rng(31);
    let energies: Vec<Energy> = scopes
        .iter()
        .enumerate()
        .map(|(index, scope)| {
            let cells = scope.iter().map(|&v| sizes[v]).product();
            let target = (0..cells).map(|_| 40.0 * rng.random_range(0.0..1.0)).collect();
            let (weight, total) = (0.05 * (1.0 + index as f64), 100.0);
            let penalty = Penalty::Squared;
            Energy::TableMeasurement { weight, penalty, scope: scope.to_vec(), target, total }
        })
        .collect();
    let problem = Problem::new(Model::new(&sizes).unwrap(), energies.clone()).unwrap();
    for max_iterations in [2, 5, 10_000] {
        let settings = Settings { max_iterations, tolerance: 1e-9, ..Settings::default() };
        let answer = problem.solve_with(&settings, &Request::default(), &mut Ignore).unwrap();
        let mut tilted = Model::new(&sizes).unwrap();
        for (index, scope) in scopes.iter().enumerate() {
            let tilt: Vec<f64> = multipliers(&answer, index).iter().map(|l| -100.0 * l).collect();
            tilted.add_factor(scope, &tilt).unwrap();
        }
        let plain = Problem::new(tilted, Vec::new()).unwrap().solve().unwrap();
        for variable in 0..sizes.len() {
            for (a, b) in answer.marginal(variable).iter().zip(plain.marginal(variable)) {
                assert!((a - b).abs() < 1e-9, "{max_iterations} iterations: {a} {b}");
            }
        }
    }
    let answer = solve(&problem, Method::Dual, 1e-12);
    let adaptive = solve(&problem, Method::Adaptive, 1e-12);
    for energy in 0..energies.len() {
        for (a, b) in multipliers(&answer, energy).iter().zip(multipliers(&adaptive, energy)) {
            assert!((a - b).abs() < 1e-3 * (1.0 + b.abs()), "{energy}: {a} {b}");
        }
    }
}

#[test]
fn what_is_no_measurement_has_no_multiplier_and_what_has_no_weight_none_to_speak_of() {
    let model = Model::new(&[2, 2]).unwrap();
    let ones = count(&model, [(0, 1), (1, 1)]).unwrap();
    let energies = vec![
        Energy::squared(0.0, 0.2, ones.clone()),
        Energy::squared(-0.5, 0.2, ones.clone()),
        Energy::product(&[0, 1], &[0.3, 0.0, 0.0, 0.3]),
        Energy::nearest(0.1, vec![ones], vec![vec![0.0], vec![2.0]]),
    ];
    let answer = Problem::new(model, energies).unwrap().solve().unwrap();
    let s = answer.marginal(0)[1] + answer.marginal(1)[1];
    assert_eq!(multipliers(&answer, 0), [0.0]);
    assert!((multipliers(&answer, 1)[0] + 0.5 * (s - 0.2)).abs() < 1e-12);
    assert_eq!((&answer.energies[2].multipliers, &answer.energies[3].multipliers), (&None, &None));
}

/// The problem's model with its tilted tables replaced, and no energies.
fn replaced(problem: &Problem, answer: &Answer) -> Problem {
    let sorted = |scope: &[usize]| {
        let mut scope = scope.to_vec();
        scope.sort_unstable();
        scope
    };
    let potentials = answer.potentials.as_ref().unwrap();
    let stated = problem.model();
    let mut model = Model::default();
    stated.variables().iter().for_each(|v| {
        model.add_variable(v.clone()).unwrap();
    });
    let is_tilted =
        |scope: &[usize]| potentials.iter().any(|table| sorted(&table.scope) == sorted(scope));
    for factor in stated.factors().iter().filter(|factor| !is_tilted(&factor.scope)) {
        model.push_factor(factor.clone()).unwrap();
    }
    for table in potentials {
        model.add_factor(&table.scope, &table.values).unwrap();
    }
    for (variable, state) in stated.observed().iter().enumerate() {
        state.iter().for_each(|&state| model.observe(variable, state).unwrap());
    }
    Problem::new(model, Vec::new()).unwrap()
}

#[test]
fn plain_inference_at_the_tilted_potentials_gives_the_answer() {
    let request = Request { potentials: true, ..Request::default() };
    for (index, (name, cardinalities, scopes)) in graphs().into_iter().enumerate() {
        for method in [Method::Auto, Method::Rda { beta: 0.0 }] {
            let mut rng = rng(900 + index as u64);
            let mut model = random_model(&mut rng, &cardinalities, &scopes, &RECIPE);
            let penalties = [Penalty::Squared, Penalty::Hinge, Penalty::Huber { delta: 0.3 }];
            let energies = penalties
                .into_iter()
                .map(|p| random_measurement(&mut rng, &cardinalities, &scopes, p, RECIPE.weight))
                .collect();
            if index % 2 == 1 {
                // A state that the model allows.
                let free = Problem::new(model.clone(), Vec::new()).unwrap().solve().unwrap();
                model.observe(0, free.map.assignment[0]).unwrap();
            }
            let problem = Problem::new(model, energies).unwrap();
            let settings = Settings { method, max_iterations: 50, ..Settings::default() };
            let answer = problem.solve_with(&settings, &request, &mut Ignore).unwrap();
            assert_ne!(answer.returned, "average");
            let again = replaced(&problem, &answer).solve().unwrap();
            for variable in 0..cardinalities.len() {
                let pairs = answer.marginal(variable).iter().zip(again.marginal(variable));
                pairs.for_each(|(a, b)| assert!((a - b).abs() < 1e-9, "{name} {method:?}"));
            }
        }
    }
}
