//! Energies beyond convex measurements: pieces, products, negative weights, closures.

mod common;

use bethe_core::oracle::BruteForce;
use bethe_core::solve::SolveError;
use bethe_core::{
    Curvature, CustomEnergy, Energy, Method, Model, Norm, Oracle, Penalty, Problem, Settings,
    Status, Term,
};
use common::{Recipe, graphs, random_measurement, random_model, rng, run};
use rand::Rng;
use rand::rngs::StdRng;

const RECIPE: Recipe = Recipe { score: 2.0, forbidden: 0.1, weight: 3.0, measurements: 1 };

fn indicator(variable: usize, state: usize, cardinality: usize) -> Term {
    let mut coefficients = vec![0.0; cardinality];
    coefficients[state] = 1.0;
    Term { scope: vec![variable], coefficients }
}

/// A dictionary prior over all node marginals: a few random assignments as points.
fn dictionary(rng: &mut StdRng, cardinalities: &[usize], words: usize, norm: Norm) -> Energy {
    let measurements = (cardinalities.iter().enumerate())
        .flat_map(|(v, &k)| (0..k).map(move |state| vec![indicator(v, state, k)]))
        .collect();
    let points = (0..words)
        .map(|_| {
            let mut point = Vec::new();
            for &k in cardinalities {
                let chosen = rng.random_range(0..k);
                point.extend((0..k).map(|state| f64::from(state == chosen)));
            }
            point
        })
        .collect();
    Energy::Nearest { weight: 1.5, norm, cap: None, measurements, points }
}

/// The pieces of a nearest energy as problems of their own.
fn pieces(model: &Model, energies: &[Energy]) -> Vec<Problem> {
    let mut lists: Vec<Vec<Energy>> = vec![Vec::new()];
    for energy in energies {
        let Energy::Nearest { weight, norm, measurements, points, .. } = energy else {
            lists.iter_mut().for_each(|list| list.push(energy.clone()));
            continue;
        };
        let extended = lists.iter().flat_map(|list| {
            points.iter().map(move |point| {
                let mut list = list.clone();
                list.extend(measurements.iter().zip(point).map(|(terms, p)| Energy::Measurement {
                    weight: *weight,
                    penalty: norm.penalty(),
                    offset: -p,
                    terms: terms.clone(),
                }));
                list
            })
        });
        lists = extended.collect();
    }
    lists.into_iter().map(|list| Problem::new(model.clone(), list).unwrap()).collect()
}

fn optimum(problem: &Problem) -> f64 {
    let settings = Settings { tolerance: 1e-9, ..Settings::default() };
    let found = run(&mut problem.bind().unwrap(), &settings).unwrap();
    assert_eq!(found.status, Status::Converged);
    found.objective
}

#[test]
fn alternation_ends_at_the_optimum_of_a_piece_and_global_at_the_best() {
    for (name, cardinalities, scopes) in graphs() {
        for (seed, norm) in [(1, Norm::L1), (2, Norm::Huber(0.1)), (3, Norm::L1)] {
            let mut rng = rng(seed);
            let model = random_model(&mut rng, &cardinalities, &scopes, &RECIPE);
            let mut energies = vec![dictionary(&mut rng, &cardinalities, 5, norm)];
            if seed == 3 {
                energies.push(dictionary(&mut rng, &cardinalities, 3, norm));
                energies.push(random_measurement(
                    &mut rng,
                    &cardinalities,
                    &scopes,
                    Penalty::SmoothedHinge,
                    2.0,
                ));
            }
            let optima: Vec<f64> = pieces(&model, &energies).iter().map(optimum).collect();
            let problem = Problem::new(model, energies).unwrap();

            let found = run(&mut problem.bind().unwrap(), &Settings::default()).unwrap();
            assert_eq!(found.status, Status::Stationary, "{name} {seed}");
            assert_eq!(found.gap, None);
            let nearest = optima.iter().map(|o| (o - found.objective).abs());
            let nearest = nearest.fold(f64::INFINITY, f64::min);
            assert!(nearest <= 1e-4, "{name} {seed}: {} {optima:?}", found.objective);

            let settings = Settings { method: Method::Global, ..Settings::default() };
            let found = run(&mut problem.bind().unwrap(), &settings).unwrap();
            let best = optima.iter().copied().fold(f64::INFINITY, f64::min);
            assert_eq!(found.status, Status::Converged, "{name} {seed}");
            let scale = best.abs().max(1.0);
            assert!((found.objective - best).abs() <= 1e-6 * scale, "{name} {seed}");
            assert!(found.lower_bound.unwrap() <= best + 1e-9 * scale, "{name} {seed}");
        }
    }
}

#[test]
fn a_cap_limits_what_a_far_dictionary_can_cost() {
    let mut model = Model::new(&[2; 4]).unwrap();
    for v in 0..4 {
        model.add_factor(&[v], &[0.0, 6.0]).unwrap();
    }
    let far = |cap| Energy::Nearest {
        weight: 10.0,
        norm: Norm::L1,
        cap,
        measurements: (0..4).map(|v| vec![indicator(v, 1, 2)]).collect(),
        points: vec![vec![0.0; 4], vec![0.0, 0.0, 0.0, 1.0]],
    };
    let solve = |cap, global| {
        let problem = Problem::new(model.clone(), vec![far(cap)]).unwrap();
        let method = if global { Method::Global } else { Method::Auto };
        run(&mut problem.bind().unwrap(), &Settings { method, ..Settings::default() }).unwrap()
    };
    let free = solve(None, true);
    let capped = solve(Some(0.2), true);
    let base = -4.0 * (1.0 + 6.0f64.exp()).ln();
    assert!((capped.objective - (base + 2.0)).abs() < 1e-5, "{}", capped.objective);
    assert!(free.objective > capped.objective + 1.0);
    let local = solve(Some(0.2), false);
    assert_eq!(local.status, Status::Stationary);
    assert!((local.objective - capped.objective).abs() < 1e-5);
}

/// `‖μ − oracle(θ − ∇L(μ))‖∞` over all node marginals, by enumeration.
fn stationarity(problem: &Problem, tilt: &[f64]) -> f64 {
    let mut bound = problem.bind().unwrap();
    let mut oracle = BruteForce::new(&bound.base, bound.energies.support());
    let width = bound.energies.support().len();
    let (mut marginals, mut gradient) = (vec![0.0; width], vec![0.0; width]);
    oracle.tilted(tilt, &mut marginals);
    let before: Vec<f64> = oracle.probabilities().to_vec();
    bound.energies.evaluate(&marginals, &mut gradient);
    gradient.iter_mut().for_each(|g| *g = -*g);
    oracle.tilted(&gradient, &mut marginals);
    before.iter().zip(oracle.probabilities()).map(|(a, b)| (a - b).abs()).fold(0.0, f64::max)
}

fn random_product(rng: &mut StdRng, cardinalities: &[usize], strength: f64) -> Energy {
    let first = rng.random_range(0..cardinalities.len());
    let mut scope = vec![first];
    for v in 0..cardinalities.len() {
        if v != first && scope.len() < 3 && rng.random_bool(0.6) {
            scope.push(v);
        }
    }
    let size = scope.iter().map(|&v| cardinalities[v]).product();
    let log_potentials = (0..size).map(|_| rng.random_range(-strength..strength)).collect();
    Energy::Product { scope, log_potentials }
}

#[test]
fn mean_field_couplings_end_at_a_stationary_point() {
    for (name, cardinalities, scopes) in graphs() {
        for seed in 0..4 {
            let mut rng = rng(40 + seed);
            let model = random_model(&mut rng, &cardinalities, &scopes, &RECIPE);
            let strength = [0.5, 2.0, 5.0, 20.0][seed as usize];
            let energies = (0..3).map(|_| random_product(&mut rng, &cardinalities, strength));
            let problem = Problem::new(model, energies.collect()).unwrap();
            for method in [Method::Auto, Method::Adaptive] {
                let settings = Settings { method, ..Settings::default() };
                let found = run(&mut problem.bind().unwrap(), &settings).unwrap();
                let convex = found.gap.is_some();
                let expected = if convex { Status::Converged } else { Status::Stationary };
                assert_eq!(found.status, expected, "{name} {seed}: {found:?}");
                if !convex {
                    let off = stationarity(&problem, &found.tilt);
                    assert!(off <= 1e-4, "{name} {seed}: {off}");
                }
            }
        }
    }
}

#[test]
fn products_and_measurements_together_end_at_a_stationary_point() {
    for (name, cardinalities, scopes) in graphs() {
        for seed in 0..4 {
            let mut rng = rng(80 + seed);
            let model = random_model(&mut rng, &cardinalities, &scopes, &RECIPE);
            let penalty = [
                Penalty::SmoothedHinge,
                Penalty::Squared,
                Penalty::Huber { delta: 0.2 },
                Penalty::Poisson { rate: 2.0, count: 1.0 },
            ][seed as usize];
            let measured = random_measurement(&mut rng, &cardinalities, &scopes, penalty, 4.0);
            let energies = vec![random_product(&mut rng, &cardinalities, 3.0), measured];
            let problem = Problem::new(model, energies).unwrap();
            let found = run(&mut problem.bind().unwrap(), &Settings::default()).unwrap();
            let expected = if found.gap.is_some() { Status::Converged } else { Status::Stationary };
            assert_eq!(found.status, expected, "{name} {seed}: {found:?}");
            let off = stationarity(&problem, &found.tilt);
            assert!(off <= 1e-4, "{name} {seed}: {off}");
        }
    }
}

#[test]
fn negative_weights_count_and_end_at_a_stationary_point() {
    for (name, cardinalities, scopes) in graphs() {
        for penalty in [Penalty::Squared, Penalty::SmoothedHinge, Penalty::Huber { delta: 0.2 }] {
            let mut rng = rng(7);
            let model = random_model(&mut rng, &cardinalities, &scopes, &RECIPE);
            let energy = random_measurement(&mut rng, &cardinalities, &scopes, penalty, -2.0);
            let problem = Problem::new(model.clone(), vec![energy]).unwrap();
            let found = run(&mut problem.bind().unwrap(), &Settings::default()).unwrap();
            assert_eq!(found.status, Status::Stationary, "{name} {penalty:?}: {found:?}");
            assert!(stationarity(&problem, &found.tilt) <= 1e-4, "{name} {penalty:?}");
        }
    }
}

/// `½w(P(y₀ = 1) + P(y₁ = 1) − ½)²` as a closure.
fn custom_square(weight: f64) -> Energy {
    let curvature = Curvature::Convex { infimum: 0.0 };
    let scopes = vec![vec![0], vec![1]];
    Energy::Custom(CustomEnergy::new(scopes, curvature, move |m, g| {
        let z = m[1] + m[3] - 0.5;
        g[1] = weight * z;
        g[3] = weight * z;
        0.5 * weight * z * z
    }))
}

#[test]
fn a_closure_meets_the_measurement_it_spells_out() {
    let mut rng = rng(5);
    let model = random_model(&mut rng, &[2, 2, 2], &[vec![0, 1], vec![1, 2]], &RECIPE);
    let terms = vec![indicator(0, 1, 2), indicator(1, 1, 2)];
    let measured =
        Energy::Measurement { weight: 4.0, penalty: Penalty::Squared, offset: -0.5, terms };
    let hinge = Energy::Measurement {
        weight: 3.0,
        penalty: Penalty::Hinge,
        offset: 0.3,
        terms: vec![indicator(2, 0, 2)],
    };
    for extra in [vec![], vec![hinge]] {
        let with = |first: Energy| {
            let mut energies = vec![first];
            energies.extend(extra.clone());
            Problem::new(model.clone(), energies).unwrap()
        };
        let truth = optimum(&with(measured.clone()));
        let found =
            run(&mut with(custom_square(4.0)).bind().unwrap(), &Settings::default()).unwrap();
        assert_eq!(found.status, Status::Converged, "{found:?}");
        assert!((found.objective - truth).abs() < 1e-6, "{} {truth}", found.objective);
        assert!(found.lower_bound.unwrap() <= truth + 1e-9);
    }
}

#[test]
fn closures_see_observed_and_one_state_variables_as_certain() {
    let mut model = Model::new(&[2, 2, 1]).unwrap();
    model.observe(1, 1).unwrap();
    let scopes = vec![vec![1, 0], vec![2], vec![1]];
    let energy = CustomEnergy::new(scopes, Curvature::Unknown, |m, g| {
        assert_eq!((m[0], m[1]), (0.0, 0.0));
        assert!((m[2] + m[3] - 1.0).abs() < 1e-12);
        assert_eq!((m[4], m[5], m[6]), (1.0, 0.0, 1.0));
        g[3] = 1.0;
        m[3]
    });
    let problem = Problem::new(model, vec![Energy::Custom(energy)]).unwrap();
    let found = run(&mut problem.bind().unwrap(), &Settings::default()).unwrap();
    let expected = 1.0 / (1.0 + 1f64.exp());
    assert!((found.marginals[1] - expected).abs() < 1e-6, "{found:?}");
}

#[test]
fn a_solver_that_cannot_serve_an_energy_says_so() {
    let model = Model::new(&[2, 2]).unwrap();
    let measure = |penalty| Energy::measurement(1.0, penalty, vec![indicator(0, 1, 2)]);
    let product = Energy::Product { scope: vec![0, 1], log_potentials: vec![1.0, 0.0, 0.0, 1.0] };
    let rda = Method::Rda { beta: 0.0 };
    let accelerated = Method::AcceleratedRda { smoothness: None };
    let cases = [
        (Method::Dual, product.clone()),
        (accelerated, product.clone()),
        (accelerated, measure(Penalty::Hinge)),
        (Method::Adaptive, measure(Penalty::Absolute)),
        (rda, measure(Penalty::AtMost)),
        (Method::Adaptive, measure(Penalty::Equal)),
    ];
    for (method, energy) in cases {
        let problem = Problem::new(model.clone(), vec![energy]).unwrap();
        let settings = Settings { method, ..Settings::default() };
        let error = run(&mut problem.bind().unwrap(), &settings).unwrap_err();
        assert!(matches!(error, SolveError::Unserved { .. }), "{method:?}: {error}");
    }
    let problem = Problem::new(model, vec![product]).unwrap();
    let settings = Settings { method: Method::Global, ..Settings::default() };
    assert!(run(&mut problem.bind().unwrap(), &settings).is_err());
}

#[test]
fn pieces_with_a_hard_constraint_keep_it_and_their_bounds_are_valid() {
    let fixed = |value: f64| Energy::Measurement {
        weight: 1.0,
        penalty: Penalty::Equal,
        offset: -value,
        terms: vec![indicator(0, 0, 3)],
    };
    for seed in 0..10 {
        let mut rng = rng(600 + seed);
        let recipe = Recipe { forbidden: 0.0, ..RECIPE };
        let model = random_model(&mut rng, &[3; 4], &[vec![0, 1], vec![1, 2], vec![2, 3]], &recipe);
        let energies = vec![dictionary(&mut rng, &[3; 4], 4, Norm::L1), fixed(0.4)];
        let optima: Vec<f64> = pieces(&model, &energies).iter().map(optimum).collect();
        let best = optima.iter().copied().fold(f64::INFINITY, f64::min);
        let problem = Problem::new(model, energies).unwrap();
        for global in [false, true] {
            let mut bound = problem.bind().unwrap();
            let method = if global { Method::Global } else { Method::Auto };
            let settings = Settings { method, ..Settings::default() };
            let found = run(&mut bound, &settings).unwrap();
            let violation = bound.energies.measurements.violation(&found.marginals);
            assert!(violation <= 1e-6, "{seed} {global}: {violation}");
            let nearest = optima.iter().map(|o| (o - found.objective).abs());
            assert!(nearest.fold(f64::INFINITY, f64::min) <= 1e-4, "{seed} {global}");
            if global {
                assert_eq!(found.status, Status::Converged);
                assert!((found.objective - best).abs() <= 1e-5, "{seed}");
                assert!(found.lower_bound.unwrap() <= best + 1e-9, "{seed}");
            }
        }
    }
}

/// Pieces of `nearest`, a product and measurements whose dual swings in rounding where it is solved.
const SWINGING: &str = r#"
{"variables": [2, 4, 2], "factors": [{"scope": [0], "log_potentials": [-21.6875, 32.8212]},
{"scope": [2], "log_potentials": [-0.7246, -35.0831]}, {"scope": [2, 1, 0], "log_potentials":
[13.4487, 38.1608, 38.272, 10.7636, 35.2481, 4.7259, -12.663, 32.7084, 10.2214, 1.2799, 16.8016,
-26.4394, 2.8, 32.7766, 33.0873, -4.9732]}], "energies": [{"kind": "measurement", "weight":
0.5297, "penalty": {"kind": "hinge"}, "terms": [{"scope": [0], "coefficients": [-0.161,
-1.836]}, {"scope": [2], "coefficients": [0.0, 1.0]}, {"scope": [0], "coefficients": [1.0,
0.0]}], "offset": -1.91}, {"kind": "measurement", "weight": 0.0141, "penalty": {"kind":
"squared"}, "terms": [{"scope": [2], "coefficients": [0.0, 1.0]}, {"scope": [2], "coefficients":
[0.0, 1.0]}, {"scope": [2], "coefficients": [1.867, 1.574]}]}, {"kind": "nearest", "weight":
670.8564, "measurements": [{"terms": [{"scope": [0], "coefficients": [1.0, 0.0]}]}, {"terms":
[{"scope": [1], "coefficients": [0.0, 0.0, 0.0, 1.0]}]}], "norm": "l1", "points": [[1.03, 1.31],
[-0.16, 0.35], [-0.41, 1.93]]}, {"kind": "nearest", "weight": 2.7278, "measurements": [{"terms":
[{"scope": [0], "coefficients": [0.315, 1.027]}]}], "norm": "l1", "points": [[-0.29], [0.55],
[-0.07]]}, {"kind": "product", "scope": [1, 2], "log_potentials": [0.599, 0.316, -0.295, -0.33,
-0.513, 0.044, -0.364, 0.586]}]}
"#;

#[test]
fn rounding_in_the_inner_dual_does_not_keep_alternation_from_ending() {
    let problem = Problem::from_json(SWINGING.as_bytes()).unwrap();
    let found = run(&mut problem.bind().unwrap(), &Settings::default()).unwrap();
    assert_eq!(found.status, Status::Stationary, "after {} iterations", found.iterations);
    assert!(found.iterations < 1000, "{} iterations", found.iterations);
}
