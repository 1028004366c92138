//! Products with the covariance: equal to enumeration and to finite differences, symmetric, positive
//! semidefinite.

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
