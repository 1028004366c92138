//! Chains too large for brute force: against the log domain, dense storage, and themselves.

use std::sync::Arc;

use bethe_core::model::{BaseModel, Model};
use bethe_core::oracle::chain::{Chain, ChainModel, Link, Storage, TransitionCounts};
use bethe_core::oracle::{BruteForce, Oracle, Tables};
use bethe_core::support::Support;
use rand::rngs::StdRng;
use rand::{Rng, SeedableRng};

fn scores(rng: &mut StdRng, cells: usize, scale: f64, forbidden: f64) -> Vec<f64> {
    let entry = |_| {
        let value = rng.random_range(-scale..=scale);
        if rng.random_bool(forbidden) { f64::NEG_INFINITY } else { value }
    };
    (0..cells).map(entry).collect()
}

/// Counts of labels, then counts of transitions, then the first position's node table if asked.
fn counts(length: usize, states: usize) -> Support {
    let mut support = Support::new();
    support.add((1..length).collect(), states);
    support.add((length..2 * length - 1).collect(), states * states);
    support.add(vec![0], states);
    support
}

struct Answer {
    log_partition: f64,
    marginals: Vec<f64>,
    tables: Vec<Vec<f64>>,
    best: Vec<usize>,
    score: f64,
    log_domain: bool,
}

fn ask(chain: &mut Chain, tilt: &[f64]) -> Answer {
    let mut marginals = vec![0.0; tilt.len()];
    let log_partition = chain.tilted(tilt, &mut marginals);
    let log_domain = chain.used_log_domain();
    let mut tables = Vec::new();
    chain.visit_marginals(Tables::All, &mut |_, marginal| tables.push(marginal.to_vec()));
    let mut best = vec![0; chain.length()];
    let score = chain.decode(tilt, &mut best);
    Answer { log_partition, marginals, tables, best, score, log_domain }
}

fn assert_same(a: &Answer, b: &Answer, tolerance: f64) {
    let scale = a.log_partition.abs().max(1.0);
    assert!((a.log_partition - b.log_partition).abs() <= 1e-13 * scale);
    assert!((a.score - b.score).abs() <= 1e-13 * scale);
    let all = a.tables.iter().zip(&b.tables).chain([(&a.marginals, &b.marginals)]);
    for (a, b) in all {
        for (a, b) in a.iter().zip(b) {
            assert!((a - b).abs() <= tolerance * a.abs().max(1.0), "{a} against {b}");
        }
    }
}

/// Node marginals sum to 1, and edge marginals sum to node marginals.
fn assert_consistent(answer: &Answer, length: usize, states: usize) {
    let (nodes, edges) = answer.tables.split_at(length);
    for node in nodes {
        assert!((node.iter().sum::<f64>() - 1.0).abs() < 4e-15);
    }
    for (edge, pair) in edges.iter().zip(nodes.windows(2)) {
        for k in 0..states {
            let row: f64 = edge[k * states..(k + 1) * states].iter().sum();
            let column: f64 = edge.iter().skip(k).step_by(states).sum();
            assert!((row - pair[0][k]).abs() < 1e-12, "{row} {}", pair[0][k]);
            assert!((column - pair[1][k]).abs() < 1e-12, "{column} {}", pair[1][k]);
        }
    }
}

#[test]
fn a_hundred_thousand_positions_are_finite_and_consistent() {
    let (length, states) = (100_000, 26);
    let mut rng = StdRng::seed_from_u64(1);
    let transitions = scores(&mut rng, states * states, 3.0, 0.0);
    let model = Arc::new(ChainModel::homogeneous(states, &transitions).unwrap());
    let node_scores = scores(&mut rng, length * states, 8.0, 0.0);
    let mut support = Support::new();
    support.add((0..length).collect(), states);
    let tilt = scores(&mut rng, states, 1.0, 0.0);
    let mut chain = Chain::new(model, &node_scores, support).unwrap();
    let answer = ask(&mut chain, &tilt);
    assert!(!answer.log_domain);
    assert!((answer.marginals.iter().sum::<f64>() - length as f64).abs() < 1e-8);
    assert!(answer.score < answer.log_partition && answer.log_partition.is_finite());
    assert_consistent(&answer, length, states);
}

#[test]
fn extreme_scores_agree_with_the_log_domain() {
    let mut rng = StdRng::seed_from_u64(2);
    let mut fell_back = 0;
    for round in 0..120 {
        let scale = [40.0, 200.0, 700.0][round % 3];
        let (length, states) = (rng.random_range(2..60), rng.random_range(1..12));
        let forbidden = if states > 3 { [0.0, 0.2][round % 2] } else { 0.0 };
        let transitions = scores(&mut rng, states * states, scale, forbidden);
        let model = Arc::new(ChainModel::homogeneous(states, &transitions).unwrap());
        let node_scores = scores(&mut rng, length * states, scale, forbidden);
        let support = counts(length, states);
        let tilt = scores(&mut rng, support.len(), [1.0, 50.0, 500.0][round / 3 % 3], 0.0);
        let mut chain = Chain::new(model, &node_scores, support).unwrap();
        let answer = ask(&mut chain, &tilt);
        chain.always_log_domain(true);
        let reference = ask(&mut chain, &tilt);
        if reference.log_partition == f64::NEG_INFINITY {
            assert_eq!(answer.log_partition, f64::NEG_INFINITY);
            continue;
        }
        assert_same(&answer, &reference, 1e-10);
        assert_eq!(answer.best, reference.best);
        assert_consistent(&reference, length, states);
        assert_consistent(&answer, length, states);
        fell_back += usize::from(answer.log_domain);
    }
    assert!((5..110).contains(&fell_back), "{fell_back} of 120 calls fell back");
}

#[test]
fn sparse_storage_gives_the_answers_of_dense_storage() {
    let mut rng = StdRng::seed_from_u64(3);
    for states in [1, 2, 5, 8, 13, 26, 40, 70] {
        for density in [0.05, 0.3, 1.0] {
            let length = 12;
            let mut transitions = scores(&mut rng, states * states, 3.0, 1.0 - density);
            for state in 0..states {
                transitions[state * states + (state + 1) % states] = 0.5;
            }
            let node_scores = scores(&mut rng, length * states, 3.0, 0.0);
            let support = counts(length, states);
            let tilt = scores(&mut rng, support.len(), 2.0, 0.0);
            let [dense, sparse] = [Storage::Dense, Storage::Sparse].map(|storage| {
                let model = ChainModel::homogeneous_stored(states, &transitions, storage).unwrap();
                assert_eq!(model.is_sparse(0), storage == Storage::Sparse);
                let mut chain = Chain::new(Arc::new(model), &node_scores, support.clone()).unwrap();
                let scaled = ask(&mut chain, &tilt);
                chain.always_log_domain(true);
                (scaled, ask(&mut chain, &tilt))
            });
            assert!(!dense.0.log_domain && !sparse.0.log_domain);
            for other in [&dense.1, &sparse.0, &sparse.1] {
                assert_same(&dense.0, other, 1e-12);
                assert_eq!(dense.0.best, other.best);
            }
            assert_consistent(&sparse.0, length, states);
        }
    }
}

#[test]
fn a_few_allowed_transitions_are_stored_sparse_and_many_are_not() {
    let states = 256;
    let band = |width: usize| {
        let allowed = |cell: usize| (cell / states).abs_diff(cell % states) <= width;
        let entry = |cell| if allowed(cell) { 0.0 } else { f64::NEG_INFINITY };
        let table: Vec<f64> = (0..states * states).map(entry).collect();
        ChainModel::homogeneous(states, &table).unwrap().is_sparse(0)
    };
    assert!(band(1) && band(12));
    assert!(!band(200) && !band(255));
}

#[test]
fn a_reloaded_chain_answers_like_a_new_one() {
    let mut rng = StdRng::seed_from_u64(4);
    let states = 9;
    let transitions = scores(&mut rng, states * states, 3.0, 0.1);
    let model = Arc::new(ChainModel::homogeneous(states, &transitions).unwrap());
    let first = scores(&mut rng, 5 * states, 3.0, 0.1);
    let mut reused = Chain::new(model.clone(), &first, counts(5, states)).unwrap();
    for length in [40, 2, 17, 40, 3] {
        let node_scores = scores(&mut rng, length * states, 3.0, 0.1);
        let support = counts(length, states);
        let tilt = scores(&mut rng, support.len(), 2.0, 0.0);
        reused.load(&node_scores, support.clone()).unwrap();
        let mut fresh = Chain::new(model.clone(), &node_scores, support).unwrap();
        assert_same(&ask(&mut reused, &tilt), &ask(&mut fresh, &tilt), 0.0);
    }
}

#[test]
fn positions_may_have_one_state_and_different_numbers_of_states() {
    let mut rng = StdRng::seed_from_u64(5);
    let states = vec![1, 3, 1, 20, 9, 9, 9];
    let links = [0, 1, 2].map(Link::Table).into_iter();
    let links = links.chain([Link::Free, Link::Table(3), Link::Table(3)]).collect();
    let tables = [3, 3, 20, 81].map(|cells| scores(&mut rng, cells, 2.0, 0.0));
    let model = Arc::new(ChainModel::new(states.clone(), links, &tables).unwrap());
    let node_scores = scores(&mut rng, states.iter().sum(), 2.0, 0.0);
    let mut chain = Chain::new(model, &node_scores, Support::new()).unwrap();
    let answer = ask(&mut chain, &[]);
    chain.always_log_domain(true);
    assert_same(&answer, &ask(&mut chain, &[]), 1e-13);
    assert_eq!(answer.tables.len(), 7 + 5);
    assert_eq!(answer.tables[0], [1.0]);
    for (edge, node) in answer.tables[7].iter().zip(&answer.tables[1]) {
        assert!((edge - node).abs() < 1e-15);
    }
}

#[test]
fn wrong_sizes_and_numbers_are_errors() {
    assert!(ChainModel::homogeneous(0, &[]).is_err());
    assert!(ChainModel::homogeneous(2, &[0.0; 3]).is_err());
    assert!(ChainModel::homogeneous(2, &[0.0, f64::NAN, 0.0, 0.0]).is_err());
    let twice = vec![Link::Table(0); 2];
    assert!(ChainModel::new(vec![2, 3, 2], twice, &[[0.0; 6]]).is_err());
    let model = Arc::new(ChainModel::homogeneous(2, &[0.0; 4]).unwrap());
    assert!(Chain::new(model.clone(), &[0.0; 3], Support::new()).is_err());
    assert!(Chain::new(model.clone(), &[0.0, f64::INFINITY], Support::new()).is_err());
    assert!(Chain::new(model, &[0.0; 4], Support::new()).is_ok());
}

/// Scores at the ends of their range, where products of messages overflow before they meet the
/// transition that makes them small.
#[test]
fn short_chains_of_extreme_scores_agree_with_enumeration() {
    let mut rng = StdRng::seed_from_u64(31);
    for case in 0..4000 {
        let (length, states) = (rng.random_range(2..=5), rng.random_range(2..=3));
        let mut entry = |_| match rng.random_range(0..8) {
            0 | 1 => 700.0,
            2 | 3 => -700.0,
            4 => 0.0,
            5 if case % 2 == 1 => f64::NEG_INFINITY,
            _ => rng.random_range(-700.0..700.0),
        };
        let mut model = Model::new(&vec![states; length]).unwrap();
        let shared: Vec<f64> = (0..states * states).map(&mut entry).collect();
        for v in 0..length {
            model.add_factor(&[v], &(0..states).map(&mut entry).collect::<Vec<_>>()).unwrap();
            if v > 0 {
                model.add_factor(&[v - 1, v], &shared).unwrap();
            }
        }
        let Ok(base) = BaseModel::new(&model, []) else { continue };
        for support in [Support::new(), counts(length, states)] {
            let mut chain = Chain::from_base(&base, &support).unwrap();
            let mut truth = BruteForce::new(&base, &support);
            let tilt = vec![0.0; support.len()];
            let (mut found, mut expected) = (tilt.clone(), tilt.clone());
            let log_partition = truth.tilted(&tilt, &mut expected);
            let difference = chain.tilted(&tilt, &mut found) - log_partition;
            if log_partition == f64::NEG_INFINITY {
                continue;
            }
            assert!(difference.abs() <= 1e-9, "case {case}: log-partition off by {difference}");
            let mut tables = vec![found];
            chain.visit_marginals(Tables::All, &mut |_, values| tables.push(values.to_vec()));
            let mut truths = vec![expected];
            truth.visit_marginals(Tables::All, &mut |_, values| truths.push(values.to_vec()));
            for (a, b) in tables.iter().flatten().zip(truths.iter().flatten()) {
                assert!((a - b).abs() <= 1e-9, "case {case}: {a} against {b}");
            }
        }
    }
}

/// Expected transitions and node marginals by `accumulate`, against whole tables.
#[test]
fn accumulated_expectations_are_sums_of_edge_marginals() {
    for (states, allowed, size) in
        [(1, 1.0, 1.0), (5, 1.0, 2.0), (22, 0.5, 2.0), (61, 0.05, 3.0), (9, 0.6, 300.0)]
    {
        let mut rng = StdRng::seed_from_u64(states as u64);
        let mut table: Vec<f64> =
            (0..states * states).map(|_| rng.random_range(-size..size)).collect();
        for (cell, value) in table.iter_mut().enumerate() {
            if cell / states != cell % states && !rng.random_bool(allowed) {
                *value = f64::NEG_INFINITY;
            }
        }
        let model = Arc::new(ChainModel::homogeneous(states, &table).unwrap());
        let mut counts = TransitionCounts::new(&model);
        let mut expected = vec![0.0; states * states];
        for length in [1, 2, 7] {
            let scores: Vec<f64> =
                (0..length * states).map(|_| rng.random_range(-size..size)).collect();
            let mut support = Support::new();
            support.add((0..length).collect(), states);
            let mut chain = Chain::new(model.clone(), &scores, support).unwrap();
            let tilt: Vec<f64> = (0..states).map(|k| (k as f64).sin()).collect();
            let mut marginals = vec![0.0; states];
            chain.tilted(&tilt, &mut marginals);
            let mut whole = vec![0.0; length * states];
            chain.visit_marginals(Tables::All, &mut |table, values| {
                if table < length {
                    whole[table * states..][..states].copy_from_slice(values);
                } else {
                    expected.iter_mut().zip(values.iter()).for_each(|(sum, value)| *sum += value);
                }
            });
            let mut nodes = vec![0.0; length * states];
            chain.tilted(&tilt, &mut marginals);
            chain.accumulate(&mut nodes, &mut counts);
            assert!(nodes.iter().zip(&whole).all(|(a, b)| (a - b).abs() < 1e-9), "{states}");
        }
        let mut found = vec![0.0; states * states];
        counts.take(&model, |from, to, count| found[from * states + to] += count);
        assert!(found.iter().zip(&expected).all(|(a, b)| (a - b).abs() < 1e-9), "{states}");
        counts.take(&model, |_, _, count| assert_eq!(count, 0.0));
    }
}
