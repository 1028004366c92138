//! Newton's method in the dual: the answers of other solvers, on problems that they find hard too.

mod common;

use std::ops::ControlFlow;

use bethe_core::oracle::BruteForce;
use bethe_core::solve::{Ignore, Record, SolveError, Task, solve};
use bethe_core::{
    Cancel, Energy, Method, Model, OracleKind, Penalty, Problem, Request, Settings, Solution,
    Status, Term,
};
use common::{
    Graph, Recipe, graphs, random_measurement, random_model, reference, rng, run, soft_penalties,
    value_nearby,
};
use rand::Rng;

const TAME: Recipe = Recipe { score: 2.0, forbidden: 0.1, weight: 10.0, measurements: 4 };

fn settings(method: Method, tolerance: f64) -> Settings {
    Settings { method, tolerance, max_iterations: 2000, ..Settings::default() }
}

/// Solves by enumeration, which knows second order on every graph.
fn enumerated(problem: &Problem, settings: &Settings) -> Solution {
    let mut bound = problem.bind().unwrap();
    let mut oracle = BruteForce::new(&bound.base, bound.energies.support());
    solve(Task { oracle: &mut oracle, ..bound.task() }, settings, &mut Ignore).unwrap()
}

fn random_problem(graph: &Graph, penalty: Penalty, seed: u64) -> Problem {
    let (_, cardinalities, scopes) = graph;
    let mut rng = rng(seed);
    let model = random_model(&mut rng, cardinalities, scopes, &TAME);
    let mut one = || random_measurement(&mut rng, cardinalities, scopes, penalty, TAME.weight);
    let energies = (0..TAME.measurements).map(|_| one()).collect();
    Problem::new(model, energies).unwrap()
}

#[test]
fn every_penalty_has_the_optimum_of_the_reference_on_every_graph() {
    for graph in graphs() {
        for (index, penalty) in soft_penalties().into_iter().enumerate() {
            let problem = random_problem(&graph, penalty, 900 + index as u64);
            let expected = reference(&problem);
            let found = enumerated(&problem, &settings(Method::Newton, 1e-9));
            let label = format!("{}, {penalty:?}: {found:?}", graph.0);
            assert_eq!(found.status, Status::Converged, "{label}");
            let size = expected.objective.abs().max(1.0);
            assert!((found.objective - expected.objective).abs() < 1e-7 * size, "{label}");
            for (a, b) in found.marginals.iter().zip(&expected.marginals) {
                assert!((a - b).abs() < 1e-3, "{label}: {:?}", expected.marginals);
            }
        }
    }
}

#[test]
fn hard_constraints_hold_and_cost_what_the_dual_says() {
    for graph in graphs() {
        for seed in 0..4 {
            let (_, cardinalities, scopes) = &graph;
            let mut rng = rng(400 + seed);
            let model = random_model(&mut rng, cardinalities, scopes, &TAME);
            let mut energies = Vec::new();
            for penalty in [Penalty::AtMost, Penalty::Equal, Penalty::Squared] {
                let random =
                    random_measurement(&mut rng, cardinalities, scopes, Penalty::Squared, 1.0);
                let Energy::Measurement { terms, .. } = random else { unreachable!() };
                let offset = -value_nearby(&model, &terms);
                energies.push(Energy::Measurement { weight: 1.0, penalty, offset, terms });
            }
            let problem = Problem::new(model, energies).unwrap();
            let [newton, dual] = [Method::Newton, Method::Dual]
                .map(|method| enumerated(&problem, &settings(method, 1e-8)));
            let label = format!("{}, {seed}: {newton:?}", graph.0);
            assert_eq!([newton.status, dual.status], [Status::Converged; 2], "{label}");
            let size = dual.objective.abs().max(1.0);
            assert!((newton.objective - dual.objective).abs() < 1e-6 * size, "{label}");
        }
    }
}

/// A chain, and a penalty on the marginal of every state of it.
fn measured_chain(
    [length, states]: [usize; 2],
    weight: f64,
    penalty: impl FnMut(f64) -> (Penalty, f64),
) -> Problem {
    let edges: Vec<(usize, usize)> = (1..length).map(|v| (v - 1, v)).collect();
    measured(&edges, [length, states], 2.0, weight, penalty)
}

/// A graph with potentials in ±`reach`, and a penalty on the marginal of every state of it.
fn measured(
    edges: &[(usize, usize)],
    [length, states]: [usize; 2],
    reach: f64,
    weight: f64,
    mut penalty: impl FnMut(f64) -> (Penalty, f64),
) -> Problem {
    let mut rng = rng(5);
    let mut model = Model::new(&vec![states; length]).unwrap();
    let mut table = |cells: usize| -> Vec<f64> {
        (0..cells).map(|_| rng.random_range(-reach..reach)).collect()
    };
    (0..length).for_each(|v| model.add_factor(&[v], &table(states)).unwrap());
    for &(v, w) in edges {
        model.add_factor(&[v, w], &table(states * states)).unwrap();
    }
    let mut energies = Vec::new();
    for v in 0..length {
        for state in 0..states {
            let mut coefficients = vec![0.0; states];
            coefficients[state] = 1.0;
            let terms = vec![Term { scope: vec![v], coefficients }];
            let (penalty, offset) = penalty(rng.random_range(0.0..1.0));
            energies.push(Energy::Measurement { weight, penalty, offset, terms });
        }
    }
    Problem::new(model, energies).unwrap()
}

/// Contradictory targets under every penalty that bends, kinks or counts.
const CONTRADICTORY: [fn(f64) -> (Penalty, f64); 4] = [
    |target| (Penalty::Squared, -target),
    |target| (Penalty::Huber { delta: 0.05 }, -target),
    |target| (Penalty::Absolute, -target),
    |target| (Penalty::Poisson { rate: 1.0, count: target }, 0.0),
];

#[test]
fn contradictory_targets_on_trees_and_rings_are_met_as_far_as_can_be() {
    let tree: Vec<(usize, usize)> = (1..20).map(|v| ((v - 1) / 2, v)).collect();
    let ring: Vec<(usize, usize)> = (0..20).map(|v| (v, (v + 1) % 20)).collect();
    for (name, edges) in [("tree", tree), ("ring", ring)] {
        for (index, penalty) in CONTRADICTORY.into_iter().enumerate() {
            for reach in [2.0, 40.0] {
                let problem = measured(&edges, [20, 6], reach, 30_000.0, penalty);
                let settings = settings(Method::Auto, 1e-6);
                let found = run(&mut problem.bind().unwrap(), &settings).unwrap();
                let label = format!("{name}, {index}, ±{reach}: {found:?}");
                assert_eq!(found.status, Status::Converged, "{label}");
                assert!(found.oracle_calls + found.products < 4000, "{label}");
            }
        }
    }
}

#[test]
fn contradictory_targets_of_large_weight_take_few_calls() {
    // Few states have the exact preconditioner, many the one of single states.
    for size in [[30, 6], [6, 30]] {
        for (index, penalty) in CONTRADICTORY.into_iter().enumerate() {
            let problem = measured_chain(size, 30_000.0, penalty);
            let found = run(&mut problem.bind().unwrap(), &settings(Method::Auto, 1e-6)).unwrap();
            let label = format!("{size:?}, {index}: {found:?}");
            assert_eq!(found.status, Status::Converged, "{label}");
            assert!(found.oracle_calls + found.products < 1000, "{label}");
        }
    }
}

#[test]
fn quasi_newton_steps_hand_over_where_they_are_slow() {
    let squared = |target: f64| (Penalty::Squared, -target);
    let problem = measured_chain([30, 6], 30_000.0, squared);
    let solve = |method| {
        let limited = Settings { max_iterations: 5000, ..settings(method, 1e-6) };
        run(&mut problem.bind().unwrap(), &limited).unwrap()
    };
    let (auto, dual) = (solve(Method::Auto), solve(Method::Dual));
    assert_eq!((auto.status, auto.solver), (Status::Converged, "newton"), "{auto:?}");
    assert_eq!((dual.solver, dual.products), ("dual", 0));
    assert!(4 * (auto.oracle_calls + auto.products) < dual.oracle_calls, "{auto:?}, {dual:?}");
    // Where a few hundred steps will do, or a few, it never comes to that.
    for weight in [100.0, 0.5] {
        let problem = measured_chain([30, 6], weight, squared);
        let found = run(&mut problem.bind().unwrap(), &settings(Method::Auto, 1e-6)).unwrap();
        assert_eq!((found.solver, found.products), ("dual", 0), "{found:?}");
    }
}

#[test]
fn quasi_newton_steps_hand_over_where_their_gap_rises() {
    let problem = moves_at_a_cost(40, 60, 100.0, 2_000.0);
    let found = run(&mut problem.bind().unwrap(), &settings(Method::Auto, 1e-6)).unwrap();
    assert_eq!((found.status, found.solver), (Status::Converged, "newton"), "{found:?}");
    // The first steps were those of the dual.
    let newton = run(&mut problem.bind().unwrap(), &settings(Method::Newton, 1e-6)).unwrap();
    assert!(found.iterations > newton.iterations, "{found:?}, {newton:?}");
    assert!((found.objective / newton.objective - 1.0).abs() < 1e-6, "{found:?}, {newton:?}");
}

/// A crowd that moves along a line of places, at a cost for distance, from one end to the other:
/// the distribution of every time is measured.
fn moves_at_a_cost(times: usize, places: usize, cost: f64, weight: f64) -> Problem {
    let mut model = Model::new(&vec![places; times]).unwrap();
    let cells = (0..places * places).map(|cell| (cell / places, cell % places));
    let costs: Vec<f64> = cells.map(|(i, j)| -cost * (i.abs_diff(j) as f64).powf(0.4)).collect();
    (1..times).for_each(|time| model.add_factor(&[time - 1, time], &costs).unwrap());
    let mut energies = Vec::new();
    for time in 0..times {
        let middle = places as f64 * (time as f64 + 0.5) / times as f64;
        let hump = |place: usize| (-0.5 * (place as f64 - middle).powi(2)).exp();
        let total: f64 = (0..places).map(hump).sum();
        for place in 0..places {
            let mut coefficients = vec![0.0; places];
            coefficients[place] = 1.0;
            let terms = vec![Term { scope: vec![time], coefficients }];
            let (penalty, offset) = (Penalty::Squared, -hump(place) / total);
            energies.push(Energy::Measurement { weight, penalty, offset, terms });
        }
    }
    Problem::new(model, energies).unwrap()
}

#[test]
fn rows_at_bounds_ties_and_twins_are_solved() {
    let mut model = Model::new(&[3, 3]).unwrap();
    model
        .add_factor(&[0, 1], &[0.0, 1.0, -1.0, 0.5, 0.0, 0.3, f64::NEG_INFINITY, 0.0, 2.0])
        .unwrap();
    let term = |state: usize| {
        let mut coefficients = vec![0.0; 3];
        coefficients[state] = 1.0;
        vec![Term { scope: vec![0], coefficients }]
    };
    let base = {
        let problem = Problem::new(model.clone(), vec![]).unwrap();
        problem.solve().unwrap().marginal(0).to_vec()
    };
    let at = |state: usize, penalty, offset| Energy::Measurement {
        weight: 50.0,
        penalty,
        offset,
        terms: term(state),
    };
    let cases: [Vec<Energy>; 4] = [
        // A kink where the base model is.
        vec![at(0, Penalty::Absolute, -base[0])],
        // The same twice, and against each other.
        vec![at(0, Penalty::Absolute, -0.9), at(0, Penalty::Absolute, -0.9)],
        vec![at(0, Penalty::Absolute, -0.9), at(0, Penalty::Absolute, -0.1)],
        // Every multiplier at its bound.
        vec![at(0, Penalty::Hinge, -3.0), at(1, Penalty::Huber { delta: 0.01 }, -5.0)],
    ];
    for (index, energies) in cases.into_iter().enumerate() {
        let problem = Problem::new(model.clone(), energies).unwrap();
        let [newton, dual] = [Method::Newton, Method::Dual]
            .map(|method| run(&mut problem.bind().unwrap(), &settings(method, 1e-8)).unwrap());
        assert_eq!([newton.status, dual.status], [Status::Converged; 2], "{index}: {newton:?}");
        assert!((newton.objective - dual.objective).abs() < 1e-6, "{index}: {newton:?}, {dual:?}");
    }
}

#[test]
fn contradictions_are_proved() {
    let model = Model::new(&[2, 2]).unwrap();
    let ones = |offset| Energy::Measurement {
        weight: 1.0,
        penalty: Penalty::Equal,
        offset,
        terms: vec![Term { scope: vec![0], coefficients: vec![0.0, 1.0] }],
    };
    for energies in [vec![ones(-0.2), ones(-0.7)], vec![ones(-1.5)]] {
        let problem = Problem::new(model.clone(), energies).unwrap();
        let found = run(&mut problem.bind().unwrap(), &settings(Method::Newton, 1e-6)).unwrap();
        assert_eq!(found.status, Status::Infeasible, "{found:?}");
    }
}

#[test]
fn weights_up_to_1e12_have_honest_gaps() {
    for weight in [1e6, 1e9, 1e12] {
        let problem = measured_chain([3, 3], weight, |target| (Penalty::Squared, -target));
        let [newton, dual] = [Method::Newton, Method::Dual]
            .map(|method| run(&mut problem.bind().unwrap(), &settings(method, 1e-9)).unwrap());
        let gap = newton.gap.expect("a gap");
        let bound = dual.lower_bound.expect("a bound").max(newton.lower_bound.expect("a bound"));
        assert!(newton.objective - bound <= gap * (1.0 + 1e-9), "{weight}: {newton:?}, {dual:?}");
        assert!(newton.lower_bound.unwrap() <= dual.objective, "{weight}: {newton:?}, {dual:?}");
    }
}

#[test]
fn a_solve_stops_when_it_is_told_to_and_its_oracle_is_as_before() {
    let problem = measured_chain([30, 6], 30_000.0, |target| (Penalty::Squared, -target));
    let mut bound = problem.bind().unwrap();
    let width = bound.energies.support().len();
    let (mut before, mut after) = (vec![0.0; width], vec![0.0; width]);
    let expected = bound.oracle.tilted(&vec![0.0; width], &mut before);
    let mut objectives = Vec::new();
    for iterations in [1, 2, 3, 5, 8, 13] {
        let limited = Settings { max_iterations: iterations, ..settings(Method::Newton, 1e-9) };
        let found = run(&mut bound, &limited).unwrap();
        assert_eq!(found.status, Status::IterationLimit);
        objectives.push(found.objective);
        let found = bound.oracle.tilted(&vec![0.0; width], &mut after);
        assert!((found - expected).abs() < 1e-12 && before == after, "another temperature");
    }
    assert!(objectives.windows(2).all(|pair| pair[1] <= pair[0]), "{objectives:?}");
    let cancel = Cancel::new();
    let mut observer = |record: &Record, _: &[f64]| {
        if record.iteration == 3 {
            cancel.cancel();
        }
        ControlFlow::Continue(())
    };
    let task = Task { cancel: cancel.child(), ..bound.task() };
    let found = solve(task, &settings(Method::Newton, 1e-9), &mut observer).unwrap();
    assert_eq!(found.status, Status::Stopped);
    assert!(found.iterations <= 4 && found.objective.is_finite(), "{found:?}");
}

#[test]
fn an_oracle_without_second_order_is_refused() {
    let problem = measured_chain([3, 3], 10.0, |target| (Penalty::Squared, -target));
    for oracle in [OracleKind::TreeReweighted, OracleKind::Loopy] {
        let request = Request { oracle, ..Request::default() };
        let refused =
            problem.solve_with(&settings(Method::Newton, 1e-6), &request, &mut Ignore).unwrap_err();
        assert!(matches!(refused, SolveError::Unserved { solver: "newton", .. }), "{refused}");
        let served = problem.solve_with(&settings(Method::Auto, 1e-6), &request, &mut Ignore);
        assert_eq!(served.unwrap().products, 0);
    }
}
