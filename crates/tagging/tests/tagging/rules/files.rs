//! Files that declare rules.

use bethe_tagging::labels::{Scheme, States};
use bethe_tagging::rules::{Rule, Weight, kind_name, load_rules, parse_rules, write_rules};
use proptest::prelude::*;

use super::{at_least, at_most, before, citation, implies, learn, nested, settings};

const DECLARED: &str = r#"
[[rule]]
at_most = 1
of = "title"            # one is enough
weight = 2.5

[[rule]]
at_most = 2
of = ["booktitle", "title"]
weight = "hard"

[[rule]]
at_least = 1
of = "author"
weight = "learned"

[[rule]]
exactly = 1
of = "date"
weight = 3

[[rule]]
exactly = 0
of = "date"

[[rule]]
equal = ["booktitle", "title"]

[[rule]]
if = "editor"
then = "booktitle"

[[rule]]
before = ["author", "title"]

[[rule]]
at_most = 0
of = { editor = 1, booktitle = -1 }
"#;

fn declared() -> Vec<Rule> {
    let weighing = |weight, rule| Rule { weight, ..rule };
    vec![
        weighing(Weight::Given(2.5), at_most(1, &[(1, 1)])),
        weighing(Weight::Hard, at_most(2, &[(1, 1), (2, 1)])),
        at_least(1, &[(0, 1)]),
        weighing(Weight::Given(3.0), at_most(1, &[(4, 1)])),
        weighing(Weight::Given(3.0), at_least(1, &[(4, 1)])),
        at_most(0, &[(4, 1)]),
        at_most(0, &[(1, -1), (2, 1)]),
        at_least(0, &[(1, -1), (2, 1)]),
        implies(3, 2),
        before(0, 1),
        at_most(0, &[(2, -1), (3, 1)]),
    ]
}

#[test]
fn every_form_can_be_declared() {
    let states = citation();
    assert_eq!(parse_rules("rules.toml", DECLARED, &states).unwrap(), declared());
    assert_eq!(parse_rules("rules.toml", "", &states).unwrap(), []);
}

#[test]
fn rules_are_written_as_people_would() {
    let states = citation();
    let text = write_rules(&declared(), &states);
    let expected = r#"[[rule]]
at_most = 1
of = "title"
weight = 2.5

[[rule]]
at_most = 2
of = ["title", "booktitle"]
weight = "hard"

[[rule]]
at_least = 1
of = "author"

[[rule]]
exactly = 1
of = "date"
weight = 3.0

[[rule]]
at_most = 0
of = "date"

[[rule]]
equal = ["booktitle", "title"]

[[rule]]
if = "editor"
then = "booktitle"

[[rule]]
before = ["author", "title"]

[[rule]]
at_most = 0
of = { booktitle = -1, editor = 1 }
"#;
    assert_eq!(text, expected);
}

#[test]
fn a_file_is_loaded_from_its_path() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("rules.toml");
    std::fs::write(&path, DECLARED).unwrap();
    assert_eq!(load_rules(&path, &citation()).unwrap(), declared());
}

#[test]
fn names_of_several_levels_are_written_with_one() {
    let states = nested();
    let text = "[[rule]]\nequal = [\"1:person\", \"first\"]\n[[rule]]\nbefore = [\"0:person\", \"0:authors\"]";
    let rules = parse_rules("rules.toml", text, &states).unwrap();
    assert_eq!(
        rules,
        [at_most(0, &[(2, 1), (3, -1)]), at_least(0, &[(2, 1), (3, -1)]), before(0, 1)]
    );
    assert!(write_rules(&rules, &states).contains(r#"equal = ["1:person", "first"]"#));
}

#[test]
fn every_kind_can_be_written_whatever_its_name() {
    // A name that looks like the level and name of another kind, and one with a quote.
    let states = learn(Scheme::Bio, &["B-a:B-x B-1:x B-x B-\"q.=\""]);
    let names: Vec<String> = (0..states.kinds().len()).map(|k| kind_name(&states, k)).collect();
    assert_eq!(names, ["a", "1:x", "0:1:x", "0:x", "\"q.=\""]);
    let rules: Vec<Rule> = (0..names.len()).map(|kind| at_most(2, &[(kind, 3)])).collect();
    assert_eq!(parse_rules("x", &write_rules(&rules, &states), &states).unwrap(), rules);
}

fn any_rule(states: &States) -> impl Strategy<Value = Rule> {
    let kinds = states.kinds().len();
    let weight = prop_oneof![
        Just(Weight::Learned),
        Just(Weight::Hard),
        (0.0..1e9).prop_map(Weight::Given),
        Just(Weight::Given(1e-300)),
    ];
    let two = (0..kinds, 1..kinds).prop_map(move |(a, step)| (a, (a + step) % kinds));
    let terms =
        prop::collection::btree_map(0..kinds, prop_oneof![Just(1), Just(-1), -9..9i32], 1..4);
    let form = prop_oneof![
        (terms, 0..4u32, any::<bool>()).prop_map(|(terms, bound, most)| {
            let terms: Vec<(usize, i32)> = terms.into_iter().collect();
            if most { at_most(bound, &terms) } else { at_least(bound, &terms) }
        }),
        two.clone().prop_map(|(a, b)| implies(a, b)),
        two.prop_map(|(a, b)| before(a, b)),
    ];
    (form, weight).prop_map(|(rule, weight)| Rule { weight, ..rule })
}

proptest! {
    #![proptest_config(settings())]

    #[test]
    fn what_is_written_is_read_back(
        rules in prop::collection::vec(any_rule(&citation()), 0..6),
        doubled in any::<bool>(),
    ) {
        let states = citation();
        let mut rules: Vec<Rule> =
            rules.into_iter().filter(|rule| rule.check(&states).is_ok()).collect();
        if doubled {
            rules.extend([at_most(1, &[(0, 1), (1, -1)]), at_least(1, &[(0, 1), (1, -1)])]);
        }
        let text = write_rules(&rules, &states);
        prop_assert_eq!(parse_rules("rules.toml", &text, &states).unwrap(), rules);
    }
}
