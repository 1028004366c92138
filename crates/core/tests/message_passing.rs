//! Pseudo-marginals and their bounds, against enumeration.

mod common;
#[path = "message_passing/models.rs"]
mod models;
#[path = "message_passing/solving.rs"]
mod solving;

use bethe_core::model::BaseModel;
use bethe_core::oracle::{BruteForce, Exactness, MessagePassing, Oracle, Tables};
use bethe_core::{Model, Support};
use models::{Recipe, forest, random_model, small};
use rand::rngs::StdRng;
use rand::{Rng, SeedableRng};

/// Every table on its own.
fn whole_support(base: &BaseModel) -> Support {
    let mut support = Support::new();
    for (table, own) in base.tables.iter().enumerate() {
        support.add(vec![table], own.log_potentials.len());
    }
    support
}

fn random_tilt(random: &mut StdRng, support: &Support, size: f64) -> Vec<f64> {
    (0..support.len()).map(|_| random.random_range(-size..size)).collect()
}

#[test]
fn forests_are_exact() {
    for seed in 0..60 {
        let mut random = StdRng::seed_from_u64(seed);
        let scale = [1.0, 5.0, 40.0][seed as usize % 3];
        let recipe = Recipe { scale, forbidden: if seed % 2 == 0 { 0.0 } else { 0.2 } };
        let model = forest(&mut random, &recipe);
        let base = BaseModel::new(&model, []).unwrap();
        let support = whole_support(&base);
        let tilt = random_tilt(&mut random, &support, 2.0);
        let mut wanted = vec![0.0; support.len()];
        let log_partition = BruteForce::new(&base, &support).tilted(&tilt, &mut wanted);
        for mut oracle in [
            MessagePassing::tree_reweighted(&base, &support),
            MessagePassing::loopy(&base, &support),
        ] {
            let mut found = vec![0.0; support.len()];
            let close = oracle.tilted(&tilt, &mut found);
            assert!((close - log_partition).abs() < 1e-8, "seed {seed}: {close} {log_partition}");
            for (found, wanted) in found.iter().zip(&wanted) {
                assert!((found - wanted).abs() < 1e-8, "seed {seed}: {found}, expected {wanted}");
            }
            assert_eq!(oracle.exactness().is_settled(), Some(true));
            assert!(oracle.exactness().slack() < 1e-9, "seed {seed}");
        }
    }
}

#[test]
fn the_log_partition_is_an_upper_bound_on_every_graph() {
    for seed in 0..150 {
        let mut random = StdRng::seed_from_u64(1000 + seed);
        let model = small(&mut random);
        let base = BaseModel::new(&model, []).unwrap();
        let support = whole_support(&base);
        let mut oracle = MessagePassing::tree_reweighted(&base, &support);
        let mut exact = BruteForce::new(&base, &support);
        let mut marginals = vec![0.0; support.len()];
        for size in [0.0, 1.0, 10.0] {
            let tilt = random_tilt(&mut random, &support, size + 1e-9);
            let wanted = exact.tilted(&tilt, &mut marginals);
            let upper = oracle.tilted(&tilt, &mut marginals);
            let rounding = 1e-10 * (1.0 + wanted.abs());
            assert!(upper >= wanted - rounding, "seed {seed}: {upper} is below {wanted}");
        }
    }
}

#[test]
fn pseudo_marginals_agree_on_variables_and_are_zero_where_forbidden() {
    for seed in 0..60 {
        let mut random = StdRng::seed_from_u64(2000 + seed);
        let model = small(&mut random);
        let base = BaseModel::new(&model, []).unwrap();
        for mut oracle in [
            MessagePassing::tree_reweighted(&base, &Support::new()),
            MessagePassing::loopy(&base, &Support::new()),
        ] {
            oracle.tilted(&[], &mut []);
            let entries = || base.tables.iter().flat_map(|table| table.log_potentials.iter());
            let settled = oracle.exactness().is_settled() == Some(true);
            let allowed = entries().all(|score| score.is_finite());
            let mut nodes: Vec<Vec<f64>> = Vec::new();
            oracle.visit_marginals(Tables::All, &mut |table, values| {
                let own = &base.tables[table];
                assert!(values.iter().all(|p| *p >= 0.0 && p.is_finite()), "seed {seed}");
                for (value, score) in values.iter().zip(own.log_potentials.iter()) {
                    assert!(*score > f64::NEG_INFINITY || *value == 0.0, "seed {seed}");
                }
                if let [_] = own.scope[..] {
                    assert!((values.iter().sum::<f64>() - 1.0).abs() < 1e-12, "seed {seed}");
                    return nodes.push(values.to_vec());
                }
                let mut stride = 1;
                for &v in own.scope.iter().rev() {
                    let states = base.cardinalities[v];
                    for (state, wanted) in nodes[v].iter().enumerate() {
                        let cells = values.iter().enumerate();
                        let sum: f64 = cells
                            .filter(|(cell, _)| cell / stride % states == state)
                            .map(|(_, p)| p)
                            .sum();
                        let apart = (sum - wanted).abs();
                        // What is forbidden may keep tables from agreeing before messages do.
                        let tolerance = if allowed { 1e-12 } else { 1e-6 };
                        assert!(
                            apart < tolerance || !(settled || allowed),
                            "seed {seed}: off by {apart}"
                        );
                    }
                    stride *= states;
                }
            });
        }
    }
}

#[test]
fn marginals_are_the_slopes_of_the_log_partition() {
    for seed in 0..12 {
        let mut random = StdRng::seed_from_u64(3000 + seed);
        let recipe = Recipe { scale: 1.5, forbidden: 0.1 };
        let model = random_model(&mut random, &recipe);
        let base = BaseModel::new(&model, []).unwrap();
        let support = whole_support(&base);
        let mut oracle = MessagePassing::tree_reweighted(&base, &support);
        let mut marginals = vec![0.0; support.len()];
        let mut tilt = random_tilt(&mut random, &support, 0.5);
        oracle.tilted(&tilt, &mut marginals);
        assert!(oracle.exactness().slack() < 1e-9, "seed {seed}");
        let mut unused = marginals.clone();
        for coordinate in 0..support.len() {
            let middle = tilt[coordinate];
            let mut at = |value: f64| {
                tilt[coordinate] = value;
                oracle.tilted(&tilt, &mut unused)
            };
            let slope = (at(middle + 1e-4) - at(middle - 1e-4)) / 2e-4;
            tilt[coordinate] = middle;
            let wanted = marginals[coordinate];
            assert!((slope - wanted).abs() < 1e-6, "seed {seed}: {slope}, expected {wanted}");
        }
    }
}

#[test]
fn appearance_probabilities_are_those_of_spanning_trees() {
    for side in [3, 10] {
        let model = models::ising(side, 7, 0.8, 0.3);
        let base = BaseModel::new(&model, []).unwrap();
        let oracle = MessagePassing::tree_reweighted(&base, &Support::new());
        let total: f64 = oracle.appearances().map(|(_, p)| p).sum();
        let variables = (side * side) as f64;
        assert!((total - (variables - 1.0)).abs() < 1e-9, "{total}");
        assert!(oracle.appearances().all(|(_, p)| p > 0.05 && p <= 1.0 + 1e-12));
    }
}

#[test]
fn nothing_possible_has_log_partition_minus_infinity() {
    const NO: f64 = f64::NEG_INFINITY;
    let mut contradiction = Model::new(&[2, 2]).unwrap();
    contradiction.add_factor(&[0, 1], &[0.0, NO, NO, NO]).unwrap();
    contradiction.add_factor(&[1], &[NO, 0.0]).unwrap();
    for model in [contradiction, models::impossible()] {
        let base = BaseModel::new(&model, []).unwrap();
        let mut oracle = MessagePassing::tree_reweighted(&base, &Support::new());
        assert_eq!(oracle.tilted(&[], &mut []), NO);
    }
}

#[test]
fn decoding_finds_a_best_assignment_of_most_small_models() {
    let (mut best, mut models) = (0, 0);
    for seed in 0..60 {
        let mut random = StdRng::seed_from_u64(4000 + seed);
        let recipe = Recipe { scale: 2.0, forbidden: 0.1 };
        let base = BaseModel::new(&random_model(&mut random, &recipe), []).unwrap();
        let mut assignment = vec![0; base.variables()];
        let wanted = BruteForce::new(&base, &Support::new()).decode(&[], &mut assignment);
        for mut oracle in [
            MessagePassing::tree_reweighted(&base, &Support::new()),
            MessagePassing::loopy(&base, &Support::new()),
        ] {
            let found = oracle.decode(&[], &mut assignment);
            assert!(found <= wanted + 1e-9, "seed {seed}: {found} is above {wanted}");
            best += usize::from(found > wanted - 1e-9);
            models += 1;
        }
    }
    assert!(best * 10 >= models * 9, "{best} of {models}");
}

#[test]
fn an_oracle_that_was_sent_far_away_comes_back() {
    let model = models::ising(6, 3, 1.0, 0.5);
    let base = BaseModel::new(&model, []).unwrap();
    let support = whole_support(&base);
    let mut random = StdRng::seed_from_u64(11);
    let near = random_tilt(&mut random, &support, 1.0);
    for mut oracle in
        [MessagePassing::tree_reweighted(&base, &support), MessagePassing::loopy(&base, &support)]
    {
        let mut marginals = vec![0.0; support.len()];
        let before = oracle.tilted(&near, &mut marginals);
        for wild in [1e3, 1e8, f64::NAN, f64::INFINITY, f64::NEG_INFINITY] {
            let tilt: Vec<f64> = near.iter().map(|t| t * wild).collect();
            oracle.tilted(&tilt, &mut vec![0.0; support.len()]);
            oracle.visit_marginals(Tables::All, &mut |_, _| ());
            oracle.decode(&tilt, &mut vec![0; base.variables()]);
            let mut again = vec![0.0; support.len()];
            let after = oracle.tilted(&near, &mut again);
            assert!((after - before).abs() < 1e-9, "{wild}: {after}, expected {before}");
            let apart = marginals.iter().zip(&again).map(|(a, b)| (a - b).abs());
            assert!(apart.fold(0.0, f64::max) < 1e-8, "{wild}");
        }
        assert!(matches!(
            oracle.exactness(),
            Exactness::TreeReweighted { is_settled: true, .. }
                | Exactness::Bethe { is_settled: true }
        ));
    }
}
