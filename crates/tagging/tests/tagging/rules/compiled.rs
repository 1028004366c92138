//! Rules as rows over the states of a chain.

use bethe_tagging::labels::{Scheme, States};
use bethe_tagging::rules::{
    Compiled, Form, Occurrences, Rule, RuleError, RuleMistake, Weight, most_segments,
};
use proptest::prelude::*;

use super::{at_least, at_most, before, citation, implies, learn, nested, path, settings};

fn hard(rule: Rule) -> Rule {
    Rule { weight: Weight::Hard, ..rule }
}

fn counts(compiled: &Compiled, path: &[usize]) -> Vec<f64> {
    let mut counts = vec![0.0; compiled.space.len()];
    for state in compiled.space.path(path.iter().copied()) {
        counts[state] += 1.0;
    }
    counts
}

#[test]
fn rules_become_rows_in_their_order() {
    let given = Rule { weight: Weight::Given(2.0), ..at_least(1, &[(0, 1), (1, 2)]) };
    let rules = [at_most(1, &[(1, 1)]), hard(at_most(2, &[(4, 1)])), given];
    let states = citation();
    let compiled = Compiled::new(&rules, &states, &[1; 5]).unwrap();
    assert!(compiled.space.is_plain());
    assert_eq!(compiled.rules.states, states.len());
    assert_eq!((&compiled.soft[..], &compiled.given[..]), (&[0, 2][..], &[None, Some(2.0)][..]));
    let [title, both] = &compiled.rules.soft[..] else { panic!("two soft rules") };
    let (author, begin_title) = (path(&states, "B-author")[0], path(&states, "B-title")[0]);
    assert_eq!((title.offset, &title.coefficients[..]), (2.0, &[(begin_title, -1.0)][..]));
    let expected = [(author, 1.0), (begin_title, 2.0)];
    assert_eq!((both.offset, &both.coefficients[..]), (0.0, &expected[..]));
    assert_eq!((compiled.rules.hard.len(), compiled.counters.len()), (1, 1));
    assert_eq!((compiled.counters[0].lowest, compiled.counters[0].highest), (i64::MIN, 2));
}

#[test]
fn hard_rules_on_the_same_sum_share_a_counter() {
    let (difference, negated) = ([(0, 1), (1, -1)], [(0, -1), (1, 1)]);
    let rules = [
        hard(at_most(3, &difference)),
        hard(at_least(1, &[(4, 1)])),
        hard(at_most(1, &negated)),
        hard(at_most(1, &[(4, 1)])),
        hard(at_most(2, &difference)),
    ];
    let compiled = Compiled::new(&rules, &citation(), &[1; 5]).unwrap();
    let bounds: Vec<(i64, i64)> =
        compiled.counters.iter().map(|counter| (counter.lowest, counter.highest)).collect();
    assert_eq!(bounds, [(-1, 2), (1, 1)]);
    assert_eq!(compiled.rules.hard.len(), 5);
}

#[test]
fn implication_is_as_tight_as_training_allows() {
    let states = citation();
    let most = most_segments(&states, [path(&states, "B-editor B-editor B-editor B-booktitle")]);
    let rules = [implies(3, 2), implies(4, 2), hard(implies(3, 2))];
    let compiled = Compiled::new(&rules, &states, &most).unwrap();
    let slope = |row: &bethe_learn::energy::CountRule| {
        row.coefficients.iter().map(|&(_, a)| a).fold(0.0f64, f64::max)
    };
    let soft: Vec<f64> = compiled.rules.soft.iter().map(slope).collect();
    assert_eq!(soft, [3.0, 1.0], "no date was seen, and 0 would forbid it");
    assert_eq!(slope(&compiled.rules.hard[0]), 3.0);
    assert!(compiled.counters[0].increments.contains(&-10_000));
}

#[test]
fn rules_on_order_share_the_memory_of_what_comes_second() {
    let states = citation();
    let rules = [before(0, 1), before(3, 1), before(0, 4)];
    let compiled = Compiled::new(&rules, &states, &[1; 5]).unwrap();
    // Two bits, and one state that sets each.
    assert_eq!(compiled.space.len(), 4 * states.len() - 2 - 2);
}

#[test]
fn rules_that_do_not_compile_say_why() {
    let labels: Vec<String> = (0..10).map(|kind| format!("B-k{kind}")).collect();
    let states = learn(Scheme::Bio, &[&labels.join(" ")]);
    let orders = |n| (1..=n).map(|second| before(0, second)).collect::<Vec<_>>();
    assert!(Compiled::new(&orders(8), &states, &[1; 10]).is_ok());
    let error = Compiled::new(&orders(9), &states, &[1; 10]).unwrap_err();
    assert_eq!(error, RuleError::TooManyOrders { found: 9, most: 8 });
    assert_eq!(
        error.to_string(),
        "found 9 names that others must come before, expected at most 8, since each may double the \
         states of the chain"
    );
    let error = Compiled::new(&[], &states, &[1; 9]).unwrap_err();
    assert_eq!(error.to_string(), "found the greatest counts of 9 kinds, expected those of 10");
    let rules = [implies(0, 1), implies(0, 10)];
    let error = Compiled::new(&rules, &states, &[1; 10]).unwrap_err();
    let mistake = RuleMistake::UnknownKind { found: 10, kinds: 10 };
    assert_eq!(error, RuleError::Rule { rule: 1, mistake });
    assert_eq!(error.to_string(), "rule 1: found kind 10, expected a number below 10");
}

fn label_sets() -> impl Strategy<Value = States> {
    prop_oneof![
        Just(learn(Scheme::Bio, &["B-x I-x B-y I-y B-z O"])),
        Just(learn(Scheme::Io, &["x y z O x x"])),
        Just(learn(Scheme::Io, &["I-a:I-x I-a:I-y I-b:I-x O I-a"])),
        Just(learn(Scheme::Iobes, &["B-x E-x S-x S-y O S-z"])),
        Just(learn(Scheme::Plain, &["x y z"])),
        Just(nested()),
    ]
}

fn rules_of(kinds: usize) -> impl Strategy<Value = Rule> {
    let two = (0..kinds, 1..kinds).prop_map(move |(a, step)| (a, (a + step) % kinds));
    let c = || prop_oneof![-3..=-1, 1..=3];
    let linear =
        (two.clone(), c(), c(), 0..4u32, any::<bool>()).prop_map(|((i, j), a, b, bound, most)| {
            let terms = [(i, a), (j, b)];
            if most { at_most(bound, &terms) } else { at_least(bound, &terms) }
        });
    let order = two.clone().prop_map(|(a, b)| before(a, b));
    prop_oneof![2 => linear, 1 => two.prop_map(|(a, b)| implies(a, b)), 1 => order]
}

/// States, rules that make sense for them, and paths, which need not be allowed ones.
fn cases() -> impl Strategy<Value = (States, Vec<Rule>, Vec<Vec<usize>>)> {
    label_sets().prop_flat_map(|states| {
        let rules = prop::collection::vec(rules_of(states.kinds().len()), 1..6);
        let paths = prop::collection::vec(prop::collection::vec(0..states.len(), 0..8), 1..8);
        (Just(states), rules, paths).prop_map(|(states, mut rules, paths)| {
            rules.retain(|rule| rule.check(&states).is_ok());
            (states, rules, paths)
        })
    })
}

proptest! {
    #![proptest_config(settings())]

    #[test]
    fn soft_rows_are_content_exactly_where_rules_hold((states, rules, paths) in cases()) {
        let compiled = Compiled::new(&rules, &states, &most_segments(&states, &paths)).unwrap();
        prop_assert_eq!(compiled.rules.soft.len(), rules.len());
        for path in &paths {
            let counts = counts(&compiled, path);
            let occurrences = Occurrences::of(&states, path);
            for (row, rule) in compiled.rules.soft.iter().zip(&rules) {
                prop_assert_eq!(row.measure(&counts) >= 1.0, rule.holds(&occurrences));
                prop_assert_eq!(row.holds(&counts), rule.holds(&occurrences));
            }
        }
    }

    #[test]
    fn counters_allow_exactly_what_hard_rules_do((states, rules, paths) in cases()) {
        let rules: Vec<Rule> = rules.into_iter().map(hard).collect();
        // Counters do not depend on what training had.
        let compiled = Compiled::new(&rules, &states, &vec![0; states.kinds().len()]).unwrap();
        prop_assert_eq!(compiled.rules.hard.len(), rules.len());
        for path in &paths {
            let occurrences = Occurrences::of(&states, path);
            let chain_path = compiled.space.path(path.iter().copied());
            prop_assert_eq!(
                compiled.counters.iter().all(|counter| counter.allows(&chain_path)),
                rules.iter().all(|rule| rule.holds(&occurrences))
            );
            let counts = counts(&compiled, path);
            for (row, rule) in compiled.rules.hard.iter().zip(&rules) {
                if !matches!(rule.form, Form::Implies { .. }) {
                    prop_assert_eq!(row.measure(&counts) >= 1.0, rule.holds(&occurrences));
                }
            }
        }
    }
}
