//! Which rules predictions make worth a weight.

use bethe_tagging::labels::{Scheme, States};
use bethe_tagging::rules::{Judged, Pruning, Rule, Verdict, prune};

use super::{at_least, at_most, before, implies, learn, path};

fn states() -> States {
    learn(Scheme::Bio, &["B-x B-y O"])
}

fn judge(rules: &[Rule], truth: &[&str], predicted: &[&str]) -> Vec<Judged> {
    let states = states();
    let outcomes = truth.iter().zip(predicted).map(|(t, p)| (path(&states, t), path(&states, p)));
    prune(rules, &states, outcomes, &Pruning::default())
}

fn verdicts(judged: &[Judged]) -> Vec<Verdict> {
    judged.iter().map(|rule| rule.verdict).collect()
}

const TWO: &str = "B-x B-x";

#[test]
fn importance_is_how_much_more_often_predictions_break_a_rule() {
    let rule = [at_most(1, &[(0, 1)])];
    let judged = judge(&rule, &["O", "O", TWO, TWO, "O"], &[TWO, TWO, TWO, "O", "B-x"]);
    assert_eq!((judged[0].truth, judged[0].predicted), (2, 3));
    assert_eq!((judged[0].importance(), judged[0].verdict), (1.5, Verdict::Kept));
    let judged = judge(&rule, &[TWO, TWO, TWO, "O"], &[TWO, TWO, TWO, TWO]);
    assert_eq!(judged[0].verdict, Verdict::Unimportant);
    let judged = judge(&rule, &["O"; 3], &[TWO; 3]);
    assert_eq!((judged[0].importance(), judged[0].is_kept()), (f64::INFINITY, true));
    let judged = judge(&rule, &["O"; 3], &[TWO, TWO, "O"]);
    assert_eq!(judged[0].verdict, Verdict::Rare);
    let judged = judge(&rule, &["O"; 3], &["O"; 3]);
    assert_eq!((judged[0].importance(), judged[0].verdict), (0.0, Verdict::Rare));
}

#[test]
fn of_bounds_that_the_same_predictions_break_the_tightest_that_the_truth_keeps_stays() {
    let rules: Vec<Rule> = [3, 1, 0, 2].map(|bound| at_most(bound, &[(0, 1)])).into();
    let judged = judge(&rules, &["B-x"; 3], &["B-x B-x B-x B-x"; 3]);
    let covered = Verdict::Covered(1);
    assert_eq!(verdicts(&judged), [covered, Verdict::Kept, Verdict::Unimportant, covered]);
    // One true sequence with two makes the next bound the better one, though 1 is important too.
    let judged = judge(&rules, &["B-x", TWO, "B-x"], &["B-x B-x B-x B-x"; 3]);
    let covered = Verdict::Covered(3);
    assert_eq!(verdicts(&judged), [covered, covered, Verdict::Unimportant, Verdict::Kept]);
}

#[test]
fn bounds_that_other_predictions_break_stay() {
    let rules = [at_most(1, &[(0, 1)]), at_most(2, &[(0, 1)])];
    let judged = judge(&rules, &["O"; 4], &[TWO, "B-x B-x B-x", "B-x B-x B-x", "B-x B-x B-x"]);
    assert_eq!(verdicts(&judged), [Verdict::Kept, Verdict::Kept]);
}

#[test]
fn of_rules_that_follow_from_each_other_the_simplest_that_the_truth_keeps_stays() {
    let rules = [
        at_most(1, &[(0, 1), (1, -1)]),
        at_most(1, &[(0, 1)]),
        at_most(1, &[(0, 1), (1, 1)]),
        at_least(1, &[(1, 1)]),
    ];
    // y never occurs: the same predictions break all four, and the last is about something else.
    let judged = judge(&rules, &["B-y"; 3], &[TWO; 3]);
    let covered = Verdict::Covered(1);
    assert_eq!(verdicts(&judged), [covered, Verdict::Kept, covered, Verdict::Kept]);
    // Where the truth breaks the simplest, a consequence that it keeps is better.
    let judged = judge(&rules, &["B-x B-x B-y", "B-y", "B-y"], &[TWO; 3]);
    let covered = Verdict::Covered(0);
    assert_eq!(verdicts(&judged), [Verdict::Kept, covered, covered, Verdict::Kept]);
}

#[test]
fn the_same_rule_in_two_ways_stays_once() {
    let rules = [
        at_most(0, &[(0, 1), (1, -1)]),
        at_least(0, &[(0, -1), (1, 1)]),
        implies(0, 1),
        implies(0, 1),
        before(0, 1),
    ];
    let judged = judge(&rules, &["O"; 3], &["B-x"; 3]);
    let expected =
        [Verdict::Kept, Verdict::Covered(0), Verdict::Kept, Verdict::Covered(2), Verdict::Rare];
    assert_eq!(verdicts(&judged), expected);
}
