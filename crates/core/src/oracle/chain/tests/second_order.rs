//! Products with the covariance: equal to enumeration and to finite differences, symmetric, positive
//! semidefinite.

use std::sync::Arc;

use rand::rngs::StdRng;
use rand::{Rng, SeedableRng};

use super::{Case, random_support};
use crate::model::{BaseModel, Model};
use crate::oracle::{BruteForce, Chain, Oracle};
use crate::support::Support;

fn vector(rng: &mut StdRng, len: usize, reach: f64) -> Vec<f64> {
    (0..len).map(|_| rng.random_range(-reach..=reach)).collect()
}

fn product(oracle: &mut dyn Oracle, direction: &[f64]) -> Vec<f64> {
    let mut product = vec![7.0; direction.len()];
    oracle.second_order().expect("an exact oracle").covariance(direction, &mut product);
    product
}

fn dot(a: &[f64], b: &[f64]) -> f64 {
    a.iter().zip(b).map(|(a, b)| a * b).sum()
}

/// Compares products at some tilts with enumeration; the number of answers.
fn assert_matches(base: &BaseModel, support: &Support, rng: &mut StdRng, reach: f64) -> usize {
    let mut chain = Chain::from_base(base, support).expect("a union of paths");
    let mut brute = BruteForce::new(base, support);
    let mut answered = 0;
    for call in 0..3 {
        let tilt = vector(rng, support.len(), reach);
        chain.always_log_domain(call == 2);
        let mut marginals = vec![0.0; support.len()];
        if brute.tilted(&tilt, &mut marginals) == f64::NEG_INFINITY {
            continue;
        }
        chain.tilted(&tilt, &mut marginals);
        let [v, w] = [0; 2].map(|_| vector(rng, support.len(), 1.0));
        let [found, other] = [&v, &w].map(|v| product(&mut chain, v));
        let expected = product(&mut brute, &v);
        for (at, (a, b)) in found.iter().zip(&expected).enumerate() {
            assert!((a - b).abs() < 1e-13, "call {call}, coordinate {at}: {a}, expected {b}");
        }
        assert!((dot(&found, &w) - dot(&other, &v)).abs() < 1e-13, "symmetric");
        assert!(dot(&found, &v) > -1e-13, "positive semidefinite");
        answered += 1;
    }
    answered
}

#[test]
fn products_match_enumeration_on_unions_of_paths() {
    let mut rng = StdRng::seed_from_u64(1);
    let mut answered = 0;
    for round in 0..1500 {
        let case = Case {
            scale: [1.0, 5.0, 40.0, 700.0][round % 4],
            forbidden: [0.0, 0.0, 0.2, 0.5][round / 4 % 4],
            shared_states: [None, Some(2), Some(3)][round / 16 % 3],
        };
        let Ok(base) = BaseModel::new(&case.model(&mut rng), []) else { continue };
        let support = random_support(&mut rng, &base);
        let reach = [1.0, 30.0, 300.0][round / 48 % 3];
        answered += assert_matches(&base, &support, &mut rng, reach);
    }
    assert!(answered > 2000, "{answered}");
}

#[test]
fn products_match_enumeration_on_tables_of_every_layout() {
    let mut rng = StdRng::seed_from_u64(2);
    for round in 0..24 {
        // Sparse, dense with a layout for each direction, and kept once.
        let states = [[20, 24, 9], [40, 9, 30], [90, 75, 3]][round % 3];
        let mut model = Model::new(&states).unwrap();
        for pair in [[0, 1], [1, 2]] {
            let case = Case {
                scale: [1.0, 20.0][round / 3 % 2],
                forbidden: [0.0, 0.9][round / 6 % 2],
                shared_states: None,
            };
            let cells = states[pair[0]] * states[pair[1]];
            model.add_factor(&pair, &case.table(&mut rng, cells)).unwrap();
        }
        let Ok(base) = BaseModel::new(&model, []) else { continue };
        let support = random_support(&mut rng, &base);
        assert_matches(&base, &support, &mut rng, 5.0);
    }
}

#[test]
fn products_are_derivatives_of_marginals() {
    let mut rng = StdRng::seed_from_u64(3);
    for _ in 0..200 {
        let case = Case { scale: 2.0, forbidden: 0.1, shared_states: Some(3) };
        let Ok(base) = BaseModel::new(&case.model(&mut rng), []) else { continue };
        let support = random_support(&mut rng, &base);
        let mut chain = Chain::from_base(&base, &support).unwrap();
        let tilt = vector(&mut rng, support.len(), 1.0);
        let direction = vector(&mut rng, support.len(), 1.0);
        let mut at = |step: f64| {
            let moved: Vec<f64> = tilt.iter().zip(&direction).map(|(t, v)| t + step * v).collect();
            let mut marginals = vec![0.0; support.len()];
            (chain.tilted(&moved, &mut marginals) > f64::NEG_INFINITY).then_some(marginals)
        };
        let (Some(up), Some(down)) = (at(1e-5), at(-1e-5)) else { continue };
        at(0.0);
        let found = product(&mut chain, &direction);
        for ((found, up), down) in found.iter().zip(up).zip(down) {
            assert!((found - (up - down) / 2e-5).abs() < 1e-8, "{found} {up} {down}");
        }
    }
}

#[test]
fn a_warm_chain_has_its_potentials_divided() {
    let mut rng = StdRng::seed_from_u64(4);
    for round in 0..200 {
        let case = Case {
            scale: [1.0, 40.0, 700.0][round % 3],
            forbidden: [0.0, 0.3][round / 3 % 2],
            shared_states: [None, Some(3)][round / 6 % 2],
        };
        let Ok(base) = BaseModel::new(&case.model(&mut rng), []) else { continue };
        let support = random_support(&mut rng, &base);
        let mut chain = Chain::from_base(&base, &support).unwrap();
        let mut brute = BruteForce::new(&base, &support);
        for heat in [5.0, 1.5, 1.0] {
            for oracle in [&mut chain as &mut dyn Oracle, &mut brute] {
                assert!(oracle.second_order().unwrap().warm(heat));
            }
            let mut warmed = base.clone();
            for table in &mut warmed.tables {
                let divided = table.log_potentials.iter().map(|potential| potential / heat);
                table.log_potentials = Arc::new(divided.collect());
            }
            warmed.constant /= heat;
            let mut expected = BruteForce::new(&warmed, &support);
            let tilt = vector(&mut rng, support.len(), 2.0);
            let mut marginals = [0; 3].map(|_| vec![0.0; support.len()]);
            let [a, b, c] = &mut marginals;
            let expected = expected.tilted(&tilt, a);
            if expected == f64::NEG_INFINITY {
                continue;
            }
            for found in [chain.tilted(&tilt, b), brute.tilted(&tilt, c)] {
                assert!((found - expected).abs() < 1e-10 * expected.abs().max(1.0), "heat {heat}");
            }
            let apart = a.iter().zip(&*b).zip(&*c);
            let apart = apart.map(|((a, b), c)| (a - b).abs().max((a - c).abs()));
            assert!(apart.fold(0.0, f64::max) < 1e-10, "heat {heat}");
        }
    }
}

/// A chain whose every position has a block.
fn measured(states: &[usize], scale: f64, rng: &mut StdRng) -> (Chain, usize) {
    let mut model = Model::new(states).unwrap();
    for v in 1..states.len() {
        let cells = states[v - 1] * states[v];
        model.add_factor(&[v - 1, v], &vector(rng, cells, scale)).unwrap();
    }
    let base = BaseModel::new(&model, []).unwrap();
    let mut support = Support::new();
    for (v, &states) in states.iter().enumerate() {
        support.add(vec![v], states);
    }
    let width = support.len();
    (Chain::from_base(&base, &support).unwrap(), width)
}

#[test]
fn few_states_have_an_exact_inverse() {
    let mut rng = StdRng::seed_from_u64(5);
    let states = [4, 3, 5, 5, 2];
    for round in 0..200 {
        let (mut chain, width) = measured(&states, [1.0, 6.0][round % 2], &mut rng);
        chain.always_log_domain(round % 4 > 1);
        let tilt = vector(&mut rng, width, 1.0);
        chain.tilted(&tilt, &mut vec![0.0; width]);
        // In the second half, of some positions nothing is observed: first, last or between.
        let mut part = || if round < 100 || rng.random_bool(0.5) { 0.2 } else { 1.0 };
        let silent: Vec<f64> =
            states.iter().flat_map(|&states| std::iter::repeat_n(part(), states)).collect();
        let shift: Vec<f64> = (0..width)
            .map(|at| {
                let own = rng.random_range(0.01..1.0);
                if rng.random_bool(silent[at]) { f64::INFINITY } else { own }
            })
            .collect();
        let mut right = vector(&mut rng, width, 1.0);
        let mut inverse = chain.second_order().unwrap().inverse(&shift).unwrap();
        let mut quotient = vec![7.0; width];
        inverse(&right, &mut quotient);
        let product = product(&mut chain, &quotient);
        for at in 0..width {
            if shift[at].is_infinite() {
                assert_eq!(quotient[at], 0.0);
                continue;
            }
            let back = product[at] + shift[at] * quotient[at];
            right[at] -= back;
            assert!(right[at].abs() < 1e-9, "round {round}, {at}: {back}");
        }
    }
}

#[test]
fn inverses_for_many_states_are_symmetric_and_positive() {
    let mut rng = StdRng::seed_from_u64(6);
    for round in 0..40 {
        let states = [[30, 30, 30, 30], [30, 26, 30, 3]][round % 2];
        let (mut chain, width) = measured(&states, [1.0, 30.0][round / 2 % 2], &mut rng);
        chain.always_log_domain(round % 8 > 3);
        let tilt = vector(&mut rng, width, 5.0);
        chain.tilted(&tilt, &mut vec![0.0; width]);
        let shift: Vec<f64> = (0..width).map(|_| rng.random_range(1e-6..1e-2)).collect();
        let mut inverse = chain.second_order().unwrap().inverse(&shift).unwrap();
        let [v, w] = [0; 2].map(|_| vector(&mut rng, width, 1.0));
        let [a, b] = [&v, &w].map(|v| {
            let mut quotient = vec![7.0; width];
            inverse(v, &mut quotient);
            quotient
        });
        let (left, right) = (dot(&a, &w), dot(&b, &v));
        let size = left.abs().max(right.abs()).max(1.0);
        assert!((left - right).abs() < 1e-8 * size, "round {round}: {left}, {right}");
        assert!(dot(&a, &v) > 0.0, "round {round}");
    }
}
