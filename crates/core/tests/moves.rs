//! Chains stated by the transitions that are allowed: the same as dense ones, visited and sampled.

use std::sync::Arc;

use bethe_core::oracle::chain::{Chain, ChainModel, Link, Transitions};
use bethe_core::{Oracle, Support, Tables};
use rand::rngs::StdRng;
use rand::{Rng, SeedableRng};

const FORBIDDEN: f64 = f64::NEG_INFINITY;

/// The same random chain, stated densely and by its allowed transitions; a node support.
fn twins(seed: u64, states: usize, length: usize, density: f64, scale: f64) -> [Chain; 2] {
    let mut rng = StdRng::seed_from_u64(seed);
    let mut table = || -> Vec<f64> {
        let mut entry = |cell: usize| {
            let stays = cell / states == cell % states;
            let allowed = stays || rng.random_bool(density);
            if allowed { rng.random_range(-scale..scale) } else { FORBIDDEN }
        };
        (0..states * states).map(&mut entry).collect()
    };
    let tables = [table(), table()];
    let sparse = tables.each_ref().map(|table| {
        let mut transitions = Transitions::new(states);
        for row in table.chunks(states) {
            let entries = row.iter().copied().enumerate();
            transitions.push_row(entries.filter(|(_, value)| *value > FORBIDDEN));
        }
        transitions
    });
    let links: Vec<Link> = (0..length - 1).map(|t| Link::Table(t % 2)).collect();
    let scores: Vec<f64> = (0..states * length).map(|_| rng.random_range(-scale..scale)).collect();
    let mut support = Support::new();
    for t in 0..length {
        support.add(vec![t], states);
    }
    let (states, bind) = (vec![states; length], |model: ChainModel| {
        Chain::new(Arc::new(model), &scores, support.clone()).unwrap()
    });
    [
        bind(ChainModel::new(states.clone(), links.clone(), &tables).unwrap()),
        bind(ChainModel::with_transitions(states, links, &sparse).unwrap()),
    ]
}

fn answer(chain: &mut Chain, tilt: &[f64]) -> (f64, Vec<f64>) {
    let mut marginals = vec![0.0; tilt.len()];
    let log_partition = chain.tilted(tilt, &mut marginals);
    (log_partition, marginals)
}

#[test]
fn allowed_transitions_state_the_same_chain_as_a_dense_table() {
    for (seed, density) in [0.02, 0.1, 0.5, 1.0].into_iter().enumerate() {
        for states in [1, 3, 40, 130] {
            let mut twins = twins(seed as u64, states, 5, density, 2.0);
            let tilt: Vec<f64> = (0..5 * states).map(|i| (i as f64).sin()).collect();
            let [dense, sparse] = twins.each_mut().map(|chain| answer(chain, &tilt));
            assert_eq!(dense, sparse, "{states} states, density {density}");
        }
    }
}

#[test]
fn visited_transitions_are_the_edge_marginals() {
    for scale in [2.0, 400.0] {
        let [mut dense, mut sparse] = twins(7, 9, 6, 0.3, scale);
        let tilt = vec![0.0; 54];
        answer(&mut dense, &tilt);
        answer(&mut sparse, &tilt);
        let mut tables = Vec::new();
        dense.visit_marginals(Tables::All, &mut |table, values| {
            if table >= 6 {
                tables.push(values.to_vec());
            }
        });
        let mut seen = 0.0;
        sparse.visit_transitions(&mut |t, from, to, probability| {
            assert!((tables[t][from * 9 + to] - probability).abs() < 1e-12);
            seen += probability;
        });
        assert!((seen - 5.0).abs() < 1e-9, "each of 5 links sums to 1: {seen}");
    }
}

#[test]
fn visited_totals_are_sums_over_the_links_of_a_table() {
    // The second scale is answered in the log domain.
    for scale in [2.0, 400.0] {
        for mut chain in twins(11, 9, 6, 0.3, scale) {
            answer(&mut chain, &[0.0; 54]);
            let mut sums = vec![0.0; 2 * 81];
            chain.visit_transitions(&mut |t, from, to, p| sums[t % 2 * 81 + from * 9 + to] += p);
            chain.visit_transition_totals(&mut |first, from, to, total| {
                assert!(first < 2, "the first link of a table");
                let sum = &mut sums[first * 81 + from * 9 + to];
                assert!((*sum - total).abs() < 1e-12, "{sum} {total}");
                *sum = 0.0;
            });
            assert!(sums.iter().all(|sum| *sum < 1e-12), "each transition is visited");
        }
    }
}

#[test]
fn samples_follow_the_marginals_of_nodes_and_transitions() {
    // The second scale is answered in the log domain.
    for scale in [1.5, 500.0] {
        let [_, mut chain] = twins(3, 4, 4, 0.4, scale);
        let (_, marginals) = answer(&mut chain, &[0.0; 16]);
        let mut expected = vec![0.0; 3 * 16];
        chain.visit_transitions(&mut |t, from, to, p| expected[t * 16 + from * 4 + to] = p);
        let (mut rng, draws) = (StdRng::seed_from_u64(5), 40_000);
        let mut uniform = || rng.random_range(0.0..1.0);
        let (mut nodes, mut edges, mut path) = (vec![0.0; 16], vec![0.0; 48], [0; 4]);
        for _ in 0..draws {
            chain.sample(&mut uniform, &mut path);
            path.iter().enumerate().for_each(|(t, state)| nodes[t * 4 + state] += 1.0);
            let pairs = path.windows(2).enumerate();
            pairs.for_each(|(t, pair)| edges[t * 16 + pair[0] * 4 + pair[1]] += 1.0);
        }
        for (counts, expected) in [(nodes, &marginals), (edges, &expected)] {
            for (count, &expected) in counts.iter().zip(expected) {
                let spread = (expected * (1.0 - expected) / f64::from(draws)).sqrt();
                let off = (count / f64::from(draws) - expected).abs();
                assert!(off <= 5.0 * spread + 1e-12, "{off} for {expected}");
            }
        }
    }
}

#[test]
#[should_panic(expected = "state 1 after, of 3")]
fn states_that_follow_must_ascend() {
    Transitions::new(3).push_row([(2, 0.0), (1, 0.0)]);
}
