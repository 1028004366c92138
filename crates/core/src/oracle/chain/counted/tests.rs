use std::sync::Arc;

use rand::rngs::StdRng;
use rand::{Rng, SeedableRng};

use super::*;
use crate::model::BaseModel;
use crate::oracle::chain::tests::{Case, FORBIDDEN, random_support, ranking};
use crate::oracle::chain::{ChainModel, Link};
use crate::support::Support;

mod long;

const ANY_LESS: i64 = i64::MIN;
const ANY_MORE: i64 = i64::MAX;
/// More entries than any chain here could have.
const PLENTY: usize = 1 << 24;

fn counter(increments: &[i32], lowest: i64, highest: i64) -> Counter {
    Counter { increments: increments.to_vec(), lowest, highest }
}

fn obeys(counters: &[Counter], path: &Path) -> bool {
    counters.iter().all(|counter| counter.allows(&path.assignment))
}

/// A homogeneous chain with a share of forbidden states and transitions.
fn random_chain(seed: u64, (length, states): (usize, usize), forbidden: f64) -> Chain {
    let mut rng = StdRng::seed_from_u64(seed);
    let mut entry = |_| match rng.random_bool(forbidden) {
        true => FORBIDDEN,
        false => rng.random_range(-2.0..2.0),
    };
    let table: Vec<f64> = (0..states * states).map(&mut entry).collect();
    let scores: Vec<f64> = (0..length * states).map(&mut entry).collect();
    let model = Arc::new(ChainModel::homogeneous(states, &table).unwrap());
    Chain::new(model, &scores, Support::new()).unwrap()
}

/// The best of all assignments, listed, that obeys the counters.
fn listed(chain: &mut Chain, counters: &[Counter]) -> Option<Path> {
    chain.n_best(&[], usize::MAX).into_iter().find(|path| obeys(counters, path))
}

fn assert_is(found: Counted, expected: Option<&Path>, counters: &[Counter]) {
    match (found, expected) {
        (Counted::Impossible, None) => {}
        (Counted::Best(found), Some(expected)) => {
            let (a, b) = (found.score, expected.score);
            assert!((a - b).abs() < 1e-11 * b.abs().max(1.0), "found {a}, expected {b}");
            assert!(obeys(counters, &found));
        }
        (found, expected) => panic!("found {found:?}, expected {expected:?}"),
    }
}

#[test]
fn each_kind_of_rule_matches_a_full_list() {
    let rules: [&[Counter]; 10] = [
        &[],
        &[counter(&[0, 1, 0], ANY_LESS, 1)],
        &[counter(&[0, 1, 0], 1, ANY_MORE)],
        &[counter(&[0, 1, 0], 3, 3)],
        &[counter(&[1, -1, 0], 0, 0)],
        &[counter(&[1, -1, 0], 2, 3), counter(&[0, 0, 1], 1, 2)],
        &[counter(&[2, 3, 0], 7, 7), counter(&[-1, 0, 1], ANY_LESS, -1)],
        &[counter(&[1, 0, 0], 2, 2), counter(&[0, 1, 0], 2, 2), counter(&[0, 0, 1], 2, 2)],
        &[counter(&[1, 0, 0], 3, ANY_MORE), counter(&[1, 1, 0], ANY_LESS, 2)],
        &[counter(&[2, 0, 4], 3, 3)],
    ];
    for seed in 0..60 {
        let mut chain = random_chain(seed, (6, 3), [0.0, 0.2][seed as usize % 2]);
        for counters in rules {
            let expected = listed(&mut chain, counters);
            let found = chain.decode_counted(&[], counters, PLENTY);
            assert_is(found, expected.as_ref(), counters);
        }
    }
}

#[test]
fn random_rules_match_brute_force_on_unions_of_paths() {
    let mut rng = StdRng::seed_from_u64(21);
    let (mut possible, mut impossible) = (0, 0);
    for round in 0..3000 {
        let states = [2, 3][round % 2];
        let case = Case {
            scale: [1.0, 5.0, 700.0][round % 3],
            forbidden: [0.0, 0.2, 0.4][round / 3 % 3],
            shared_states: Some(states),
        };
        let Ok(base) = BaseModel::new(&case.model(&mut rng), []) else { continue };
        let support = random_support(&mut rng, &base);
        let tilt: Vec<f64> = (0..support.len()).map(|_| rng.random_range(-3.0..=3.0)).collect();
        let count = rng.random_range(1..=4);
        let random_counter = |_| {
            let increments: Vec<i32> = (0..states).map(|_| rng.random_range(-2..=2)).collect();
            let lowest = rng.random_range(-3..=3);
            match rng.random_range(0..3) {
                0 => counter(&increments, lowest, ANY_MORE),
                1 => counter(&increments, ANY_LESS, lowest),
                _ => counter(&increments, lowest, lowest + rng.random_range(0..=2)),
            }
        };
        let counters: Vec<Counter> = (0..count).map(random_counter).collect();
        let all = ranking(&base, &support, &tilt);
        let expected = all.iter().find(|path| obeys(&counters, path));
        let mut chain = Chain::from_base(&base, &support).unwrap();
        assert_is(chain.decode_counted(&tilt, &counters, PLENTY), expected, &counters);
        assert_budgets_are_kept(&mut chain, &tilt, &counters, expected);
        *(if expected.is_some() { &mut possible } else { &mut impossible }) += 1;
    }
    assert!(possible > 500 && impossible > 500, "{possible} possible, {impossible} not");
}

/// Whatever the budget, nothing false is claimed.
fn assert_budgets_are_kept(
    chain: &mut Chain,
    tilt: &[f64],
    counters: &[Counter],
    expected: Option<&Path>,
) {
    for budget in [0, 5, 12, 30] {
        match chain.decode_counted(tilt, counters, budget) {
            Counted::OverBudget { best: None } => {}
            Counted::OverBudget { best: Some(path) } => {
                let best = expected.expect("an assignment that obeys").score;
                assert!(obeys(counters, &path));
                assert!(path.score <= best + 1e-11 * best.abs().max(1.0));
            }
            proved => assert_is(proved, expected, counters),
        }
    }
}

#[test]
fn prices_do_not_change_the_answer() {
    let mut rng = StdRng::seed_from_u64(3);
    let (mut possible, mut impossible) = (0, 0);
    for seed in 0..400 {
        let mut chain = random_chain(seed, (7, 3), [0.0, 0.2][seed as usize % 2]);
        let count = rng.random_range(1..=3);
        let random_counter = |_| {
            let mut increments: Vec<i32> = (0..3).map(|_| rng.random_range(-2..=2)).collect();
            if rng.random_bool(0.2) {
                increments = vec![1, 0, -1000];
            }
            let lowest = rng.random_range(-2..=3);
            match rng.random_range(0..3) {
                0 => counter(&increments, lowest, ANY_MORE),
                1 => counter(&increments, ANY_LESS, lowest),
                _ => counter(&increments, lowest, lowest + rng.random_range(0..=1)),
            }
        };
        let counters: Vec<Counter> = (0..count).map(random_counter).collect();
        let expected = listed(&mut chain, &counters);
        let Some(Forward { mut viterbi, .. }) = chain.forward(&[]) else { continue };
        let taken: Vec<&Counter> = counters.iter().collect();
        let mut answer = Answer { best: None, proved: false };
        let (viterbi, found) = (&mut viterbi, &mut |_: &Found| ());
        let cancel = &Cancel::never();
        Solve { viterbi, counters: &taken, budget: PLENTY, found, cancel }.with_prices(&mut answer);
        let found = answer.best.map(|found| found.score);
        assert!(answer.proved);
        match (found, expected.map(|path| path.score)) {
            (Some(a), Some(b)) => assert!((a - b).abs() < 1e-11, "found {a}, expected {b}"),
            (found, expected) => assert_eq!(found, expected, "{counters:?}"),
        }
        *(if found.is_some() { &mut possible } else { &mut impossible }) += 1;
    }
    assert!(possible > 100 && impossible > 50, "{possible} possible, {impossible} not");
}

#[test]
fn decoding_that_is_cancelled_proves_nothing() {
    let cancel = Cancel::new();
    cancel.cancel();
    for seed in 0..50 {
        let mut chain = random_chain(seed, (7, 3), 0.2);
        let counters = [counter(&[1, 0, -1], 2, 3), counter(&[0, 1, 1], 4, 4)];
        let expected = listed(&mut chain, &counters);
        match chain.decode_counted_until(&[], &counters, PLENTY, &cancel) {
            Counted::OverBudget { best: None } => {}
            Counted::OverBudget { best: Some(path) } => assert!(obeys(&counters, &path)),
            proved => assert_is(proved, expected.as_ref(), &counters),
        }
    }
}

#[test]
fn chains_of_200_positions_agree_with_a_long_list() {
    for seed in 0..4 {
        let mut chain = random_chain(100 + seed, (200, 20), [0.0, 0.3][seed as usize % 2]);
        let list = chain.n_best(&[], 2000);
        let goal = &list[1200];
        let mut rng = StdRng::seed_from_u64(seed);
        let exactly = |(low, high): (i32, i32)| {
            let increments: Vec<i32> = (0..20).map(|_| rng.random_range(low..=high)).collect();
            let total = counter(&increments, 0, 0).total(&goal.assignment);
            counter(&increments, total, total)
        };
        let counters = [(0, 1), (-1, 1), (0, 2)].map(exactly);
        let expected = list.iter().find(|path| obeys(&counters, path));
        let found = chain.decode_counted(&[], &counters, PLENTY);
        assert_is(found, expected, &counters);
    }
}

#[test]
fn far_goals_are_reached_on_chains_of_200_positions() {
    let mut chain = random_chain(7, (200, 20), 0.0);
    let of = |state: usize| (0..20).map(|k| i32::from(k == state)).collect::<Vec<_>>();
    let counters =
        [counter(&of(0), 20, ANY_MORE), counter(&of(1), ANY_LESS, 2), counter(&of(2), 7, 7)];
    let found = chain.decode_counted(&[], &counters, PLENTY);
    let Counted::Best(best) = found else { panic!("{found:?}") };
    assert!(obeys(&counters, &best));
    assert_eq!(chain.decode_counted(&[], &counters, 1000), Counted::Best(best), "few are enough");
}

#[test]
fn long_chains_are_decoded_when_little_has_to_change() {
    let (length, states) = (20_000, 26);
    let mut chain = random_chain(8, (length, states), 0.0);
    let mut plain = vec![0; length];
    let score = chain.decode(&[], &mut plain);
    let first: Vec<i32> = (0..states).map(|k| i32::from(k == 0)).collect();
    let total = counter(&first, 0, 0).total(&plain);
    let counters = [counter(&first, total + 3, ANY_MORE)];
    let Counted::Best(found) = chain.decode_counted(&[], &counters, PLENTY) else {
        panic!("no proof")
    };
    assert!(obeys(&counters, &found) && found.score < score && found.score > score - 1.0);
}

#[test]
fn rules_that_decoding_obeys_need_no_budget() {
    let mut chain = random_chain(9, (50, 4), 0.1);
    let mut assignment = vec![0; 50];
    let score = chain.decode(&[], &mut assignment);
    let counters = [counter(&[1; 4], 50, 50), counter(&[0, 5, -5, 0], -250, 250)];
    let Counted::Best(path) = chain.decode_counted(&[], &counters, 0) else { panic!("no best") };
    assert_eq!(path.assignment, assignment);
    assert!((path.score - score).abs() < 1e-12 * score.abs());
}

#[test]
fn totals_out_of_every_reach_are_proved_impossible_at_once() {
    let mut chain = random_chain(10, (1000, 4), 0.0);
    for (lowest, highest) in [(1001, ANY_MORE), (ANY_LESS, -1), (5, 4), (ANY_MORE, ANY_LESS)] {
        let counters = [counter(&[0, 1, 0, 0], lowest, highest)];
        assert_eq!(chain.decode_counted(&[], &counters, 0), Counted::Impossible);
    }
}

#[test]
fn small_chains_obey_too() {
    let model = Arc::new(ChainModel::homogeneous(1, &[0.5]).unwrap());
    let mut chain = Chain::new(model, &[1.0; 4], Support::new()).unwrap();
    let path = Path { assignment: vec![0; 4], score: 5.5 };
    let ask = |chain: &mut Chain, lowest| {
        chain.decode_counted(&[], &[counter(&[i32::MAX], lowest, ANY_MORE)], 10)
    };
    assert_eq!(ask(&mut chain, 4 * i64::from(i32::MAX)), Counted::Best(path));
    assert_eq!(ask(&mut chain, 4 * i64::from(i32::MAX) + 1), Counted::Impossible);
    chain.load(&[], Support::new()).unwrap();
    let path = Path { assignment: vec![], score: 0.0 };
    assert_eq!(ask(&mut chain, 0), Counted::Best(path));
    assert_eq!(ask(&mut chain, 1), Counted::Impossible);
    chain.load(&[FORBIDDEN], Support::new()).unwrap();
    assert_eq!(ask(&mut chain, ANY_LESS), Counted::Impossible);
}

#[test]
#[should_panic(expected = "increments of a counter")]
fn counters_need_an_increment_for_each_state() {
    let links = vec![Link::Free];
    let model = ChainModel::new(vec![2, 3], links, &[[0.0; 0]; 0]).unwrap();
    let mut chain = Chain::new(Arc::new(model), &[0.0; 5], Support::new()).unwrap();
    chain.decode_counted(&[], &[counter(&[0, 1], 0, 1)], 10);
}
