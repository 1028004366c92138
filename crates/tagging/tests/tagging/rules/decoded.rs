//! Hard rules hold on what is decoded, and nothing better does.

use bethe_core::oracle::Chain;
use bethe_core::oracle::chain::Counted;
use bethe_core::support::Support;
use bethe_tagging::labels::States;
use bethe_tagging::rules::{Compiled, Occurrences, Rule, Weight};
use rand::rngs::StdRng;
use rand::{Rng, SeedableRng};

use super::{at_least, at_most, before, citation, implies};

const LENGTH: usize = 4;

/// The best of all paths that keep to the rules.
fn best(states: &States, rules: &[Rule], score: impl Fn(&[usize]) -> f64) -> f64 {
    let mut best = f64::NEG_INFINITY;
    for number in 0..states.len().pow(LENGTH as u32) {
        let state = |t: usize| number / states.len().pow(t as u32) % states.len();
        let path: Vec<usize> = (0..LENGTH).map(state).collect();
        let occurrences = Occurrences::of(states, &path);
        if rules.iter().all(|rule| rule.holds(&occurrences)) {
            best = score(&path).max(best);
        }
    }
    best
}

#[test]
fn decoding_with_counters_is_the_best_that_keeps_hard_rules() {
    let states = citation();
    let n = states.len();
    let rules: Vec<Rule> = [
        at_most(1, &[(1, 1)]),
        at_least(1, &[(0, 1), (3, 1)]),
        implies(3, 2),
        before(0, 1),
        at_most(0, &[(4, 1), (2, -1)]),
    ]
    .map(|rule| Rule { weight: Weight::Hard, ..rule })
    .into();
    let compiled = Compiled::new(&rules, &states, &[1; 5]).unwrap();
    let mut random = StdRng::seed_from_u64(7);
    for _ in 0..30 {
        let table: Vec<f64> = (0..n * n).map(|_| random.random_range(-1.0..1.0)).collect();
        let scores: Vec<f64> = (0..LENGTH * n).map(|_| random.random_range(-3.0..3.0)).collect();
        let score = |path: &[usize]| {
            let nodes = path.iter().enumerate().map(|(t, &state)| scores[t * n + state]);
            let edges = path.windows(2).map(|pair| table[pair[0] * n + pair[1]]);
            nodes.chain(edges).sum::<f64>()
        };
        let mut wide = Vec::new();
        compiled.space.widen(&scores, &mut wide);
        let model = compiled.space.chain_model(&table).into();
        let mut chain = Chain::new(model, &wide, Support::new()).unwrap();
        let decoded = chain.decode_counted(&[], &compiled.counters, 1 << 20);
        let Counted::Best(found) = decoded else { panic!("found {decoded:?}") };
        let path: Vec<usize> = found.assignment.iter().map(|&s| compiled.space.state(s)).collect();
        let occurrences = Occurrences::of(&states, &path);
        assert!(rules.iter().all(|rule| rule.holds(&occurrences)));
        let expected = best(&states, &rules, score);
        assert!((score(&path) - expected).abs() < 1e-9 && (found.score - expected).abs() < 1e-9);
    }
}
