use std::collections::HashSet;
use std::sync::Arc;

use rand::rngs::StdRng;
use rand::{Rng, SeedableRng};

use super::*;
use crate::model::BaseModel;
use crate::oracle::chain::tests::{Case, FORBIDDEN, random_support, ranking};
use crate::oracle::chain::{ChainModel, Link, Storage};
use crate::support::Support;

/// Checks the `count` best against every assignment there is; returns how many were found.
fn assert_matches(base: &BaseModel, support: &Support, tilt: &[f64], count: usize) -> usize {
    let mut chain = Chain::from_base(base, support).expect("a union of paths");
    let all = ranking(base, support, tilt);
    let found = chain.n_best(tilt, count);
    assert_eq!(found.len(), count.min(all.len()));
    let scale = all.iter().map(|path| path.score.abs()).fold(1.0, f64::max);
    for (found, expected) in found.iter().zip(&all) {
        let (a, b) = (found.score, expected.score);
        assert!((a - b).abs() < 1e-12 * scale, "found {a}, expected {b}");
        let same = all.iter().find(|path| path.assignment == found.assignment);
        let own = same.expect("an allowed assignment").score;
        assert!((found.score - own).abs() < 1e-12 * scale, "stated {a}, is {own}");
    }
    assert!(found.windows(2).all(|pair| pair[0].score >= pair[1].score));
    let distinct: HashSet<_> = found.iter().map(|path| &path.assignment).collect();
    assert_eq!(distinct.len(), found.len());
    if let Some(first) = found.first() {
        let mut assignment = vec![0; base.variables()];
        assert_eq!(first.score, chain.decode(tilt, &mut assignment));
        assert_eq!(first.assignment, assignment);
    }
    assert_eq!(found, chain.n_best(tilt, count), "the same order each time");
    found.len()
}

#[test]
fn n_best_matches_brute_force_on_unions_of_paths() {
    let mut rng = StdRng::seed_from_u64(11);
    let (mut complete, mut none) = (0, 0);
    for round in 0..1500 {
        let case = Case {
            scale: [1.0, 5.0, 40.0, 700.0][round % 4],
            forbidden: [0.0, 0.0, 0.2, 0.5][round / 4 % 4],
            shared_states: [None, Some(2), Some(3)][round / 16 % 3],
        };
        let Ok(base) = BaseModel::new(&case.model(&mut rng), []) else { continue };
        let support = random_support(&mut rng, &base);
        let reach = [1.0, 30.0, 300.0][round / 48 % 3];
        let tilt: Vec<f64> = (0..support.len()).map(|_| rng.random_range(-reach..=reach)).collect();
        let count = [1, 2, 7, 40, 5000][round % 5];
        let found = assert_matches(&base, &support, &tilt, count);
        complete += usize::from(found > 0 && found < count);
        none += usize::from(found == 0);
    }
    assert!(complete > 100, "all assignments were listed only {complete} times");
    assert!(none > 10, "nothing was allowed only {none} times");
}

/// A chain of `length` positions with small whole numbers for scores, so that most are tied.
fn tied(rng: &mut StdRng, length: usize, states: usize, storage: Storage) -> Chain {
    let mut entry = |_| match rng.random_range(0..6) {
        0 => FORBIDDEN,
        other => f64::from(other % 3),
    };
    let table: Vec<f64> = (0..states * states).map(&mut entry).collect();
    let scores: Vec<f64> = (0..length * states).map(&mut entry).collect();
    let model = ChainModel::homogeneous_stored(states, &table, storage).unwrap();
    Chain::new(Arc::new(model), &scores, Support::new()).unwrap()
}

#[test]
fn ties_are_listed_once_each_whatever_the_storage() {
    for seed in 0..200 {
        let chain = |storage| tied(&mut StdRng::seed_from_u64(seed), 5, 3, storage);
        let all = chain(Storage::Dense).n_best(&[], 1000);
        let distinct: HashSet<_> = all.iter().map(|path| &path.assignment).collect();
        assert_eq!(distinct.len(), all.len());
        for count in [1, 3, 10, 100] {
            let dense = chain(Storage::Dense).n_best(&[], count);
            assert_eq!(dense, all[..count.min(all.len())], "a shorter list is the longer's start");
            assert_eq!(dense, chain(Storage::Sparse).n_best(&[], count));
        }
    }
}

#[test]
fn states_of_independent_positions_are_combined_in_order() {
    let model = ChainModel::new(vec![2; 3], vec![Link::Free; 2], &[[0.0; 0]; 0]).unwrap();
    let scores = [0.0, -1.0, 0.0, -2.0, 0.0, -4.0];
    let mut chain = Chain::new(Arc::new(model), &scores, Support::new()).unwrap();
    let scores: Vec<f64> = chain.n_best(&[], 9).iter().map(|path| path.score).collect();
    assert_eq!(scores, [0.0, -1.0, -2.0, -3.0, -4.0, -5.0, -6.0, -7.0]);
}

#[test]
fn a_chain_of_one_state_has_one_assignment() {
    let model = Arc::new(ChainModel::homogeneous(1, &[0.5]).unwrap());
    let mut chain = Chain::new(model.clone(), &[1.0; 4], Support::new()).unwrap();
    assert_eq!(chain.n_best(&[], 3), [Path { assignment: vec![0; 4], score: 5.5 }]);
    assert_eq!(chain.n_best(&[], 0), []);
    chain.load(&[], Support::new()).unwrap();
    assert_eq!(chain.n_best(&[], 3), [Path { assignment: vec![], score: 0.0 }]);
    chain.load(&[1.0, FORBIDDEN], Support::new()).unwrap();
    assert_eq!(chain.n_best(&[], 3), []);
}

#[test]
fn long_chains_keep_only_what_is_wanted() {
    let mut rng = StdRng::seed_from_u64(12);
    let (length, states) = (100_000, 26);
    let table: Vec<f64> = (0..states * states).map(|_| rng.random_range(-2.0..2.0)).collect();
    let scores: Vec<f64> = (0..length * states).map(|_| rng.random_range(-2.0..2.0)).collect();
    let model = Arc::new(ChainModel::homogeneous(states, &table).unwrap());
    let mut chain = Chain::new(model, &scores, Support::new()).unwrap();
    let found = chain.n_best(&[], 10);
    assert_eq!(found.len(), 10);
    for path in &found {
        let nodes = path.assignment.iter().enumerate().map(|(t, &k)| scores[t * states + k]);
        let links = path.assignment.windows(2).map(|pair| table[pair[0] * states + pair[1]]);
        let score: f64 = nodes.sum::<f64>() + links.sum::<f64>();
        assert!((score - path.score).abs() < 1e-12 * score, "{score} {}", path.score);
    }
    assert!(found.windows(2).all(|pair| pair[0].score >= pair[1].score));
    let distinct: HashSet<_> = found.iter().map(|path| &path.assignment).collect();
    assert_eq!(distinct.len(), 10);
}
