//! Rules that training sequences suggest.

use bethe_tagging::labels::{Scheme, States};
use bethe_tagging::rules::{LEAST_SHARE, Occurrences, generate};

use super::{learn, nested, path};

fn words(states: &States, truth: &[&str], least_share: f64) -> (Vec<String>, usize) {
    let generated = generate(states, truth.iter().map(|labels| path(states, labels)), least_share);
    let words = generated.rules.iter().map(|rule| rule.in_words(states)).collect();
    (words, generated.considered)
}

#[test]
fn one_kind_has_two_rules() {
    let states = learn(Scheme::Bio, &["B-x I-x B-y O"]);
    let (found, considered) = words(&states, &["B-x I-x", "B-x"], LEAST_SHARE);
    assert_eq!(found, ["at most one x", "at least one x"], "y does not occur");
    assert_eq!(considered, 2);
    let (found, considered) = words(&states, &["O"], LEAST_SHARE);
    assert_eq!((found.len(), considered), (0, 0));
    assert_eq!(words(&states, &[], LEAST_SHARE).1, 0);
}

#[test]
fn two_kinds_have_sums_and_differences_that_the_truth_keeps() {
    let states = learn(Scheme::Bio, &["B-x B-y O"]);
    let (found, considered) = words(&states, &["B-x B-y", "B-x B-y B-y"], 1.0);
    let expected = [
        "at most one x",
        "at least one x",
        "at least one y",
        "x and y together at most 3",
        "x and y together at least one",
        "x and y together at least 2",
        "no more x than y",
        "at most one more x than y",
        "at most 2 more x than y",
        "at most 3 more x than y",
        "at most one more y than x",
        "at most 2 more y than x",
        "at most 3 more y than x",
    ];
    assert_eq!(found, expected);
    assert_eq!(considered, 2 * 2 + 21);
}

#[test]
fn rules_need_their_share_of_the_sequences() {
    let states = learn(Scheme::Bio, &["B-x O"]);
    let truth = ["O", "O", "O", "B-x B-x", "O", "O", "O", "O", "O", "O"];
    assert_eq!(words(&states, &truth, LEAST_SHARE).0, ["at most one x"]);
    assert!(words(&states, &truth, 0.91).0.is_empty());
    assert_eq!(words(&states, &truth, 0.1).0, ["at most one x", "at least one x"]);
}

#[test]
fn equal_counts_at_different_levels_are_two_inequalities() {
    let states = nested();
    let (found, _) = words(&states, &["B-authors:B-person:B-first I-authors:I-person"], 1.0);
    for expected in ["no more authors than 1:person", "no fewer authors than 1:person"] {
        assert_eq!(found.iter().filter(|words| *words == expected).count(), 1, "{expected}");
    }
    assert!(!found.iter().any(|words| words.contains("0:person")), "which does not occur");
}

#[test]
fn rules_are_distinct_and_kept_by_their_share() {
    let states = learn(Scheme::Io, &["x y O z", "z z O z x", "y x y O", "O", "x x y z y z"]);
    let truth: Vec<Vec<usize>> =
        ["x y O z", "z z O z x", "y x y O", "O", "x x y z y z"].map(|l| path(&states, l)).into();
    let share = 0.6;
    let generated = generate(&states, &truth, share);
    let occurrences: Vec<Occurrences> =
        truth.iter().map(|path| Occurrences::of(&states, path)).collect();
    for rule in &generated.rules {
        assert_eq!(rule.check(&states), Ok(()));
        let kept = occurrences.iter().filter(|occurrences| rule.holds(occurrences)).count();
        assert!(kept >= 3, "{}", rule.in_words(&states));
    }
    let mut all = generate(&states, &truth, 0.0).rules;
    assert_eq!(all.len(), 2 * 3 + 21 * 3);
    let kept = |rule: &_| generated.rules.contains(rule);
    all.retain(|rule| !kept(rule));
    for rule in &all {
        let kept = occurrences.iter().filter(|occurrences| rule.holds(occurrences)).count();
        assert!(kept < 3, "{}", rule.in_words(&states));
    }
    assert_eq!(generate(&states, &truth, share), generated);
}
