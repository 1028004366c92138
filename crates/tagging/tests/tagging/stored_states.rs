//! States in a model file: what is stored, and files that were tampered with.

use bethe_tagging::labels::{Scheme, States};

fn message(json: &str) -> String {
    serde_json::from_str::<States>(json).unwrap_err().to_string()
}

fn one(scheme: &str, label: &str, roles: &str) -> String {
    format!(r#"{{"scheme": "{scheme}", "states": [{{"label": "{label}", "roles": [{roles}]}}]}}"#)
}

#[test]
fn states_are_stored_as_labels_and_roles() {
    let states = States::learn(Scheme::Io, [["x", "x", "O"]]).unwrap();
    let json = serde_json::to_string(&states).unwrap();
    assert_eq!(
        json,
        r#"{"scheme":"io","states":[{"label":"x","roles":["begin"]},{"label":"x","roles":["inside"]},{"label":"O","roles":[]}]}"#
    );
    assert_eq!(serde_json::from_str::<States>(&json).unwrap(), states);
}

#[test]
fn stored_states_need_labels() {
    assert_eq!(
        message(r#"{"scheme": "bio", "states": []}"#),
        "found no labels, expected at least one"
    );
    assert_eq!(message(&one("bio", "", "")), "state 0 has no label, expected one");
    assert_eq!(message(&one("plain", "", "\"single\"")), "state 0 has no label, expected one");
}

#[test]
fn stored_roles_must_fit_the_label() {
    assert_eq!(message(&one("bio", "B-x", "")), "state 0, \"B-x\", has 0 roles, expected 1");
    assert_eq!(message(&one("bio", "O", "\"begin\"")), "state 0, \"O\", has 1 roles, expected 0");
    for (scheme, label, roles, wrong, level) in [
        ("bio", "B-x", "\"inside\"", "inside", 0),
        ("bio", "S-x", "\"single\"", "single", 0),
        ("bio", "B-a:I-x", "\"begin\", \"inside\"", "inside", 1),
        ("io", "x", "\"outside\"", "outside", 0),
        ("io", "I-a:I-x", "\"begin\", \"inside\"", "inside", 1),
        ("iobes", "E-a:I-x", "\"end\", \"inside\"", "inside", 1),
        ("iobes", "U-x", "\"single\"", "single", 0),
        ("bilou", "E-x", "\"end\"", "end", 0),
        ("plain", "x", "\"begin\"", "begin", 0),
    ] {
        let expected = format!(
            "state 0, {label:?}, has the role {wrong} at level {level}, \
             expected one that {scheme} gives this tag there"
        );
        assert_eq!(message(&one(scheme, label, roles)), expected);
    }
}

#[test]
fn stored_states_are_distinct() {
    let state = r#"{"label": "B-x", "roles": ["begin"]}"#;
    let json = format!(r#"{{"scheme": "bio", "states": [{state}, {state}]}}"#);
    assert_eq!(message(&json), "state 1 is the same as state 0, expected distinct states");
}

#[test]
fn unknown_schemes_roles_and_fields_are_mistakes() {
    assert!(message(&one("bmes", "O", "")).contains("unknown variant `bmes`"));
    assert!(message(&one("bio", "O", "\"last\"")).contains("unknown variant `last`"));
    assert!(message(r#"{"scheme": "bio", "states": [], "kinds": []}"#).contains("`kinds`"));
}
