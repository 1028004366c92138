//! What rules say, mean, and how they are stored.

use bethe_tagging::labels::{Scheme, States};
use bethe_tagging::rules::{Occurrences, Rule, RuleMistake, Weight, most_segments};

use super::{at_least, at_most, before, citation, implies, learn, nested, path};

fn holds(rule: &Rule, states: &States, labels: &str) -> bool {
    rule.holds(&Occurrences::of(states, &path(states, labels)))
}

#[test]
fn rules_are_said_in_words() {
    let states = citation();
    for (rule, words) in [
        (at_most(1, &[(1, 1)]), "at most one title"),
        (at_most(2, &[(1, 1)]), "at most 2 title"),
        (at_most(0, &[(1, 1)]), "no title"),
        (at_least(1, &[(0, 1)]), "at least one author"),
        (at_most(0, &[(3, 1), (2, -1)]), "no more editor than booktitle"),
        (at_least(0, &[(2, 1), (3, -1)]), "no fewer booktitle than editor"),
        (at_most(2, &[(2, 1), (3, -1)]), "at most 2 more booktitle than editor"),
        (at_least(1, &[(3, 1), (2, -1)]), "at least one more editor than booktitle"),
        (at_most(2, &[(2, 1), (1, 1)]), "title and booktitle together at most 2"),
        (at_least(1, &[(0, 1), (1, 1), (4, 1)]), "author, title and date together at least one"),
        (at_most(0, &[(0, 1), (1, 1), (4, 1)]), "no author, title or date"),
        (at_most(3, &[(0, -1), (1, 2), (4, -3)]), "−author + 2 title − 3 date at most 3"),
        (at_least(2, &[(1, 2)]), "2 title at least 2"),
        (implies(3, 2), "editor only with booktitle"),
        (before(1, 4), "title before date"),
    ] {
        assert_eq!(rule.in_words(&states), words);
    }
}

#[test]
fn kinds_are_named_with_their_level_only_where_the_name_has_two() {
    let states = nested();
    assert_eq!(at_most(1, &[(0, 1)]).in_words(&states), "at most one 0:person");
    assert_eq!(at_most(0, &[(2, 1), (3, -1)]).in_words(&states), "no more 1:person than first");
}

#[test]
fn rules_hold_as_their_words_say() {
    let states = citation();
    let cases: [(Rule, &[&str], &[&str]); 7] = [
        (at_most(1, &[(1, 1)]), &["O", "B-title O"], &["B-title B-title", "B-title O B-title"]),
        (at_least(1, &[(0, 1)]), &["B-author I-author", "B-author B-author"], &["O", "B-title"]),
        (
            at_most(0, &[(3, 1), (2, -1)]),
            &["O", "B-booktitle B-booktitle B-editor"],
            &["B-editor", "B-editor B-booktitle B-editor"],
        ),
        (
            at_most(2, &[(1, 1), (2, 1)]),
            &["B-title B-title", "B-title B-booktitle"],
            &["B-title B-booktitle B-title"],
        ),
        (
            at_most(1, &[(1, 2), (4, -1)]),
            &["O", "B-date B-title"],
            &["B-title", "B-title B-title B-date"],
        ),
        (
            implies(3, 2),
            &["O", "B-booktitle", "B-editor B-editor B-booktitle"],
            &["B-editor", "B-title B-editor B-editor"],
        ),
        (
            before(1, 4),
            &["O", "B-title", "B-date", "B-title B-title O B-date B-date"],
            &["B-date B-title", "B-title B-date O B-title B-date"],
        ),
    ];
    for (rule, kept_by, broken_by) in cases {
        let words = rule.in_words(&states);
        assert!(kept_by.iter().all(|labels| holds(&rule, &states, labels)), "{words}");
        assert!(!broken_by.iter().any(|labels| holds(&rule, &states, labels)), "{words}");
    }
}

#[test]
fn what_begins_at_the_same_token_is_not_before() {
    let states = nested();
    assert!(!holds(&before(1, 3), &states, "B-authors:B-person:B-first"));
    assert!(!holds(&before(3, 1), &states, "B-authors:B-person:B-first"));
    assert!(holds(&before(0, 1), &states, "B-person B-authors:B-person:B-first"));
}

#[test]
fn segments_of_io_labels_are_runs() {
    let states = learn(Scheme::Io, &["x x O x y"]);
    let rule = at_most(1, &[(0, 1)]);
    assert!(holds(&rule, &states, "x x x"));
    assert!(!holds(&rule, &states, "x O x"));
    assert!(!holds(&rule, &states, "x y x"));
}

#[test]
fn greatest_counts_are_those_of_one_sequence() {
    let states = citation();
    let paths = ["B-author B-author B-title", "B-author B-date", "O"].map(|l| path(&states, l));
    assert_eq!(most_segments(&states, &paths), [2, 1, 0, 0, 1]);
}

#[test]
fn rules_are_stored_as_short_json() {
    let hard = Rule { weight: Weight::Hard, ..before(1, 4) };
    let given = Rule { weight: Weight::Given(2.5), ..implies(3, 2) };
    let rules = vec![at_least(1, &[(1, 1), (3, -1)]), hard, given];
    let json = serde_json::to_string(&rules).unwrap();
    let expected = concat!(
        r#"[{"form":{"linear":{"terms":[[1,1],[3,-1]],"relation":"at_least","bound":1}},"#,
        r#""weight":"learned"},{"form":{"before":{"first":1,"second":4}},"weight":"hard"},"#,
        r#"{"form":{"implies":{"premise":3,"conclusion":2}},"weight":2.5}]"#
    );
    assert_eq!(json, expected);
    assert_eq!(serde_json::from_str::<Vec<Rule>>(&json).unwrap(), rules);
}

#[test]
fn stored_rules_have_no_other_fields_weights_or_bounds() {
    let message = |json: &str| serde_json::from_str::<Rule>(json).unwrap_err().to_string();
    let form = r#"{"before": {"first": 1, "second": 4}}"#;
    let soft = message(&format!(r#"{{"form": {form}, "weight": "soft"}}"#));
    assert!(soft.contains("a weight is a number, \"learned\" or \"hard\""), "{soft}");
    let extra = message(&format!(r#"{{"form": {form}, "weight": 1, "name": "x"}}"#));
    assert!(extra.contains("unknown field `name`"), "{extra}");
    let third = r#"{"form": {"before": {"first": 1, "second": 4, "third": 0}}, "weight": 1}"#;
    assert!(message(third).contains("unknown field `third`"));
    let below = r#"{"form": {"linear": {"terms": [[1, 1]], "relation": "at_most", "bound": -1}}, "weight": 1}"#;
    assert!(message(below).contains("-1"));
}

#[test]
fn each_senseless_rule_has_its_message() {
    let states = citation();
    let weighing = |weight| Rule { weight: Weight::Given(weight), ..before(0, 1) };
    for (rule, message) in [
        (at_most(1, &[(5, 1)]), "found kind 5, expected a number below 5"),
        (implies(9, 0), "found kind 9, expected a number below 5"),
        (before(0, 7), "found kind 7, expected a number below 5"),
        (at_most(1, &[]), "found nothing to count, expected at least one name"),
        (
            at_most(1, &[(1, 1), (1, 2)]),
            "found kind 1 after kind 1, expected every kind once, in ascending order",
        ),
        (
            at_most(1, &[(1, 0)]),
            "found the coefficient 0, expected a whole number from -100 to 100 other than 0",
        ),
        (
            at_most(1, &[(1, -101)]),
            "found the coefficient -101, expected a whole number from -100 to 100 other than 0",
        ),
        (
            at_least(10_001, &[(1, 1)]),
            "found the bound 10001, expected a whole number from 0 to 10000",
        ),
        (at_least(0, &[(1, 1), (2, 1)]), "the rule always holds, expected one that can be broken"),
        (at_most(2, &[(1, -1)]), "the rule always holds, expected one that can be broken"),
        (at_least(1, &[(1, -1)]), "the rule never holds, expected one that can be kept"),
        (implies(2, 2), "found kind 2 twice, expected two different kinds"),
        (before(3, 3), "found kind 3 twice, expected two different kinds"),
        (weighing(-1.0), "found the weight -1, expected a number from 0 to 1000000"),
        (weighing(f64::NAN), "found the weight NaN, expected a number from 0 to 1000000"),
    ] {
        assert_eq!(rule.check(&states).unwrap_err().to_string(), message);
    }
    assert_eq!(weighing(0.0).check(&states), Ok(()));
    assert_eq!(at_least(0, &[(1, -1)]).check(&states), Ok(()), "no title");
    let unknown = RuleMistake::UnknownKind { found: 5, kinds: 5 };
    assert_eq!(at_most(1, &[(5, 1)]).check(&states), Err(unknown));
}
