//! Every energy: its gradient by finite differences, its convexity at midpoints, its binding.

mod common;

use bethe_core::energy::Energies;
use bethe_core::model::BaseModel;
use bethe_core::{
    Curvature, CustomEnergy, Energy, Method, Model, Norm, Penalty, Problem, Settings, Term,
};
use common::{Recipe, random_measurement, random_model, rng, run, soft_penalties};
use rand::Rng;
use rand::rngs::StdRng;

const CARDINALITIES: [usize; 4] = [3, 2, 3, 2];

fn scopes() -> Vec<Vec<usize>> {
    vec![vec![0, 1], vec![2, 1], vec![2, 3]]
}

fn model(rng: &mut StdRng) -> Model {
    let recipe = Recipe { score: 1.5, forbidden: 0.0, weight: 1.0, measurements: 0 };
    random_model(rng, &CARDINALITIES, &scopes(), &recipe)
}

fn tables_of(v: usize) -> Vec<Term> {
    let one_hot = |state| {
        let mut coefficients = vec![0.0; CARDINALITIES[v]];
        coefficients[state] = 1.0;
        Term { scope: vec![v], coefficients }
    };
    (0..CARDINALITIES[v]).map(one_hot).collect()
}

/// Every kind of energy, weights of both signs, with a name.
fn energies(rng: &mut StdRng) -> Vec<(String, Energy)> {
    let mut list = Vec::new();
    for penalty in soft_penalties() {
        for weight in [2.0, -0.7] {
            let energy = random_measurement(rng, &CARDINALITIES, &scopes(), penalty, weight);
            list.push((format!("{weight} · {penalty:?}"), energy));
        }
    }
    for penalty in soft_penalties() {
        for (weight, total) in [(2.0, 1.0), (0.01, 30.0), (-0.7, 1.0)] {
            let scope = vec![1, 2];
            // Counts want to be measured as what is not negative.
            let sign = if matches!(penalty, Penalty::Poisson { .. }) { -1.0 } else { 1.0 };
            let target = (0..6).map(|_| sign * total * rng.random_range(0.01..0.4)).collect();
            let energy = Energy::TableMeasurement { weight, penalty, scope, target, total };
            list.push((format!("{weight} · table of {penalty:?} for {total}"), energy));
        }
    }
    for (name, norm, cap) in
        [("l1", Norm::L1, None), ("huber", Norm::Huber(0.2), None), ("capped", Norm::L1, Some(0.7))]
    {
        let measurements = tables_of(0).into_iter().chain(tables_of(3)).map(|t| vec![t]).collect();
        let points = vec![vec![1.0, 0.0, 0.0, 0.0, 1.0], vec![0.0, 0.3, 0.7, 1.0, 0.0]];
        let energy = Energy::Nearest { weight: 1.5, norm, cap, measurements, points };
        list.push((format!("nearest {name}"), energy));
    }
    for scope in [vec![0, 3], vec![3, 2, 0], vec![1]] {
        let size: usize = scope.iter().map(|&v| CARDINALITIES[v]).product();
        let log_potentials = (0..size).map(|_| rng.random_range(-2.0..2.0)).collect();
        list.push((format!("product {scope:?}"), Energy::Product { scope, log_potentials }));
    }
    let entropy_like = CustomEnergy::new(
        vec![vec![1, 0], vec![3]],
        Curvature::Convex { infimum: -10.0 },
        |m, g| {
            let mut value = 0.0;
            for (m, g) in m.iter().zip(g) {
                *g = 2.0 * (m + 0.1) + 0.3;
                value += (m + 0.1).powi(2) + 0.3 * m;
            }
            value
        },
    );
    list.push(("closure".to_string(), Energy::Custom(entropy_like)));
    list
}

fn bind(model: &Model, energy: &Energy) -> (BaseModel, Energies) {
    let list = [energy.clone()];
    let base = BaseModel::new(model, Energies::scopes(&list)).unwrap();
    let bound = Energies::bind(&base, &list);
    (base, bound)
}

/// Marginals of the model at a random tilt.
fn random_marginals(rng: &mut StdRng, base: &BaseModel, energies: &Energies) -> Vec<f64> {
    let width = energies.support().len();
    let tilt: Vec<f64> = (0..width).map(|_| rng.random_range(-1.0..1.0)).collect();
    let mut marginals = vec![0.0; width];
    bethe_core::oracle::exact(base, energies.support()).unwrap().tilted(&tilt, &mut marginals);
    marginals
}

#[test]
fn gradients_match_finite_differences() {
    let mut rng = rng(1);
    let model = model(&mut rng);
    for (name, energy) in energies(&mut rng) {
        let (base, mut bound) = bind(&model, &energy);
        for _ in 0..5 {
            let marginals = random_marginals(&mut rng, &base, &bound);
            let width = marginals.len();
            let (mut gradient, mut unused) = (vec![0.0; width], vec![0.0; width]);
            bound.evaluate(&marginals, &mut gradient);
            for coordinate in 0..width {
                let mut shifted = |by: f64| {
                    let mut moved = marginals.clone();
                    moved[coordinate] += by;
                    bound.evaluate(&moved, &mut unused)
                };
                let slope = (shifted(1e-6) - shifted(-1e-6)) / 2e-6;
                let found = gradient[coordinate];
                assert!(
                    (slope - found).abs() <= 1e-5 * (1.0 + slope.abs()),
                    "{name}: {slope} {found}"
                );
            }
        }
    }
}

#[test]
fn energies_called_convex_pass_the_midpoint_test_and_stay_above_their_infimum() {
    let mut rng = rng(2);
    let model = model(&mut rng);
    for (name, energy) in energies(&mut rng) {
        let (base, mut bound) = bind(&model, &energy);
        let Curvature::Convex { infimum } = bound.curvature() else { continue };
        for _ in 0..50 {
            let a = random_marginals(&mut rng, &base, &bound);
            let b = random_marginals(&mut rng, &base, &bound);
            let middle: Vec<f64> = a.iter().zip(&b).map(|(a, b)| 0.5 * (a + b)).collect();
            let mut unused = vec![0.0; a.len()];
            let mut value = |m: &[f64]| bound.evaluate(m, &mut unused);
            let (at_a, at_b, between) = (value(&a), value(&b), value(&middle));
            assert!(between <= 0.5 * (at_a + at_b) + 1e-12, "{name}");
            assert!(at_a >= infimum - 1e-9, "{name}: {at_a} below {infimum}");
        }
    }
}

#[test]
fn what_is_not_convex_is_not_called_convex() {
    let mut rng = rng(3);
    let model = model(&mut rng);
    for (name, energy) in energies(&mut rng) {
        let convex = matches!(bind(&model, &energy).1.curvature(), Curvature::Convex { .. });
        let expected = match &energy {
            Energy::Measurement { weight, penalty, .. }
            | Energy::TableMeasurement { weight, penalty, .. } => {
                *weight >= 0.0 || *penalty == Penalty::Linear
            }
            Energy::Nearest { .. } => false,
            Energy::Product { scope, .. } => scope.len() == 1,
            Energy::Custom(_) => true,
        };
        assert_eq!(convex, expected, "{name}");
    }
}

#[test]
fn values_are_reported_per_stated_energy_and_add_up() {
    let mut rng = rng(4);
    let model = model(&mut rng);
    let list: Vec<Energy> = energies(&mut rng).into_iter().map(|(_, e)| e).collect();
    let base = BaseModel::new(&model, Energies::scopes(&list)).unwrap();
    let mut all = Energies::bind(&base, &list);
    let marginals = random_marginals(&mut rng, &base, &all);
    let values = all.values(&marginals);
    assert_eq!(values.len(), list.len());
    let total = all.evaluate(&marginals, &mut vec![0.0; marginals.len()]);
    assert!((values.iter().sum::<f64>() - total).abs() < 1e-9);
}

#[test]
fn a_count_over_positions_has_one_coordinate_per_state() {
    let positions = 50;
    let mut model = Model::new(&vec![4; positions]).unwrap();
    for v in 1..positions {
        model.add_factor(&[v - 1, v], &[0.1; 16]).unwrap();
    }
    let count = |state: usize| -> Vec<Term> {
        let mut coefficients = vec![0.0; 4];
        coefficients[state] = 1.0;
        (0..positions)
            .map(|v| Term { scope: vec![v], coefficients: coefficients.clone() })
            .collect()
    };
    let mut energies: Vec<Energy> =
        (0..3).map(|s| Energy::measurement(1.0, Penalty::Squared, count(s))).collect();
    let problem = Problem::new(model.clone(), energies.clone()).unwrap();
    assert_eq!(problem.bind().unwrap().energies.support().len(), 4);

    // One energy that singles out a position gives it a block of its own.
    let alone = Term { scope: vec![7], coefficients: vec![0.0, 0.0, 1.0, 0.0] };
    energies.push(Energy::measurement(1.0, Penalty::Squared, vec![alone]));
    let problem = Problem::new(model, energies).unwrap();
    let bound = problem.bind().unwrap();
    assert_eq!(bound.energies.support().len(), 8);
    assert_eq!(bound.energies.support().blocks().len(), 2);
}

#[test]
fn sharing_blocks_does_not_change_the_answer() {
    let mut rng = rng(8);
    let scopes: Vec<Vec<usize>> = (1..6).map(|v| vec![v - 1, v]).collect();
    let recipe = Recipe { score: 2.0, forbidden: 0.0, weight: 1.0, measurements: 0 };
    let model = random_model(&mut rng, &[3; 6], &scopes, &recipe);
    let terms =
        (0..6).map(|v| Term { scope: vec![v], coefficients: vec![0.0, 1.0, -0.5] }).collect();
    let shared =
        Energy::Measurement { weight: 5.0, penalty: Penalty::Squared, offset: -4.0, terms };
    // A product that is zero everywhere reads the tables one by one and changes nothing else.
    let apart = Energy::Product { scope: (0..6).collect(), log_potentials: vec![0.0; 729] };
    let solve = |energies: Vec<Energy>, method| {
        let problem = Problem::new(model.clone(), energies).unwrap();
        let mut bound = problem.bind().unwrap();
        let settings = Settings { tolerance: 1e-10, method, ..Settings::default() };
        (bound.energies.support().len(), run(&mut bound, &settings).unwrap().objective)
    };
    let (width, together) = solve(vec![shared.clone()], Method::Dual);
    let (wide, separate) = solve(vec![shared, apart], Method::Adaptive);
    assert_eq!((width, wide), (3, 18));
    assert!((together - separate).abs() < 1e-8, "{together} {separate}");
}

#[test]
fn zero_weights_and_empty_sums_leave_plain_inference() {
    let mut rng = rng(9);
    let model = model(&mut rng);
    let silent = vec![
        random_measurement(&mut rng, &CARDINALITIES, &scopes(), Penalty::Squared, 0.0),
        Energy::Nearest {
            weight: 0.0,
            norm: Norm::L1,
            cap: Some(1.0),
            measurements: vec![tables_of(0)],
            points: vec![vec![0.5], vec![0.1]],
        },
        Energy::Product { scope: vec![], log_potentials: vec![0.0] },
    ];
    for energies in [vec![], silent] {
        let problem = Problem::new(model.clone(), energies).unwrap();
        let found = run(&mut problem.bind().unwrap(), &Settings::default()).unwrap();
        assert!((found.log_partition - found.base_log_partition).abs() < 1e-12);
        assert!((found.objective + found.base_log_partition).abs() < 1e-9, "{found:?}");
        assert!(found.gap.unwrap() < 1e-12, "{found:?}");
    }
}
