//! Files of rules with one thing wrong.

use bethe_tagging::rules::{load_rules, parse_rules};

use super::{citation, nested};

fn message(text: &str) -> String {
    parse_rules("rules.toml", text, &citation()).unwrap_err().to_string()
}

/// The message about a rule after another one, which is right.
fn second(fields: &str) -> String {
    message(&format!("[[rule]]\nat_most = 1\nof = \"title\"\n\n[[rule]]\n{fields}\n"))
}

#[test]
fn files_must_be_there_and_be_toml() {
    let error = load_rules("no/such/rules.toml", &citation()).unwrap_err().to_string();
    assert!(error.starts_with("no/such/rules.toml: there is no such file"), "{error}");
    let error = message("[[rule]]\nat_most = \nof = \"title\"");
    assert!(error.starts_with("rules.toml:2: not valid TOML: "), "{error}");
    let error = message("[[rule]]\nof = \"title\"\nof = \"title\"");
    assert!(error.starts_with("rules.toml:3: not valid TOML: duplicate key"), "{error}");
}

#[test]
fn only_rules_are_at_the_top() {
    let expected = |line, found| {
        format!("rules.toml:{line}: found {found:?}, expected each rule under [[rule]]")
    };
    assert_eq!(message("\n[[rules]]\nat_most = 1"), expected(2, "rules"));
    assert_eq!(message("[rule]\nat_most = 1\nof = \"title\""), expected(1, "rule"));
    assert_eq!(message("rule = [1]"), expected(1, "rule"));
    assert_eq!(message("at_most = 1"), expected(1, "at_most"));
}

#[test]
fn fields_must_be_those_of_one_rule() {
    for (fields, line, mistake) in [
        (
            "at_most = 1\non = \"title\"",
            7,
            "found the field \"on\", expected \
             at_most, at_least, exactly, of, equal, if, then, before or weight",
        ),
        (
            "of = \"title\"",
            5,
            "found none of at_most, at_least, exactly, equal, if and before, expected one",
        ),
        (
            "at_most = 1\nat_least = 1\nof = \"title\"",
            7,
            "found at_most and at_least in one rule, expected two rules",
        ),
        (
            "before = [\"author\", \"title\"]\nif = \"editor\"",
            6,
            "found if and before in one rule, expected two rules",
        ),
        ("at_least = 1", 5, "at_least needs of"),
        ("if = \"editor\"", 5, "if needs then"),
        ("if = \"editor\"\nthen = \"title\"\nof = \"title\"", 8, "of does not go with if"),
        ("exactly = 1\nthen = \"title\"\nof = \"title\"", 7, "then does not go with exactly"),
    ] {
        assert_eq!(second(fields), format!("rules.toml:{line}: rule 2: {mistake}"));
    }
}

#[test]
fn values_must_be_of_their_type() {
    let of = "a name of a kind, a list of names, or { name = coefficient, … }";
    for (fields, line, mistake) in [
        ("at_most = 1\nof = 3", 7, format!("of is 3, expected {of}")),
        ("at_most = 1\nof = [\n3]", 8, "of is 3, expected the name of a kind".into()),
        ("at_most = 1\nof = { title = 0.5 }", 7, "of is 0.5, expected a small whole number".into()),
        (
            "if = [\"title\"]\nthen = \"date\"",
            6,
            "if is [\"title\"], expected the name of a kind".into(),
        ),
        ("if = \"date\"\nthen = true", 7, "then is true, expected the name of a kind".into()),
        (
            "equal = [\"title\", \"date\", \"author\"]",
            6,
            "equal is [\"title\", \"date\", \"author\"], expected a list of two names of kinds"
                .into(),
        ),
        (
            "before = \"title\"",
            6,
            "before is \"title\", expected a list of two names of kinds".into(),
        ),
    ] {
        assert_eq!(second(fields), format!("rules.toml:{line}: rule 2: {mistake}"));
    }
}

#[test]
fn bounds_are_whole_numbers_from_0() {
    for found in ["-1", "1.5", "\"one\"", "10_001", "99999999999999999999"] {
        let expected = format!(
            "rules.toml:6: rule 2: at_least is {found}, expected a whole number from 0 to 10000"
        );
        assert_eq!(second(&format!("at_least = {found}\nof = \"title\"")), expected);
    }
}

#[test]
fn weights_are_finite_and_not_negative() {
    for found in ["-0.5", "-1", "inf", "nan", "1e999", "\"soft\"", "[1]"] {
        let expected = format!(
            "rules.toml:8: rule 2: weight is {found}, \
             expected a number from 0 to 1000000, \"hard\" or \"learned\""
        );
        assert_eq!(second(&format!("at_least = 1\nof = \"title\"\nweight = {found}")), expected);
    }
}

#[test]
fn kinds_must_be_known_once_and_clear() {
    for (fields, mistake) in [
        (
            "at_most = 1\nof = \"titel\"",
            "no label has the name \"titel\", expected one such as title, date, editor, author, \
             booktitle",
        ),
        (
            "at_most = 1\nof = { \"3:date\" = 1 }",
            "no label has the name \"3:date\", expected one such as date, title, editor, author, \
             booktitle",
        ),
        (
            "at_most = 1\nof = [\"title\", \"date\", \"title\"]",
            "found \"title\" twice in of, expected different names",
        ),
        (
            "at_most = 1\nof = { title = 1, \"0:title\" = 1 }",
            "found \"title\" twice in of, expected different names",
        ),
        (
            "at_most = 1\nequal = [\"title\", \"title\"]",
            "found at_most and equal in one rule, expected two rules",
        ),
        (
            "\nbefore = [\"title\", \"title\"]",
            "found \"title\" twice in before, expected different names",
        ),
        (
            "if = \"title\"\nthen = \"title\"",
            "found \"title\" twice in if and then, expected different names",
        ),
    ] {
        assert_eq!(second(fields), format!("rules.toml:7: rule 2: {mistake}"));
    }
    let text = "[[rule]]\nat_most = 1\nof = \"person\"";
    let error = parse_rules("rules.toml", text, &nested()).unwrap_err().to_string();
    assert_eq!(
        error,
        "rules.toml:3: rule 1: several levels have the name \"person\", expected 0:person or \
         1:person"
    );
}

#[test]
fn rules_must_make_sense() {
    let always = "the rule always holds, expected one that can be broken";
    let coefficient =
        "found the coefficient 0, expected a whole number from -100 to 100 other than 0";
    for (fields, mistake) in [
        ("at_least = 0\nof = \"title\"", always),
        ("at_most = 1\nof = []", "found nothing to count, expected at least one name"),
        ("at_most = 1\nof = { title = 0 }", coefficient),
    ] {
        assert_eq!(second(fields), format!("rules.toml:5: rule 2: {mistake}"));
    }
}

#[test]
fn other_ways_to_write_toml_are_read_alike() {
    let states = citation();
    let expected = parse_rules("x", "[[rule]]\nat_most = 1\nof = { title = 2 }", &states).unwrap();
    for text in [
        "\u{feff}[[rule]]\r\nat_most = 1\r\nof = { title = 2 }\r\n",
        "rule = [{ at_most = 0x1, of = { 'title' = +2 } }]",
        "[[rule]]\nat_most = 1\nof.title = 2",
        "[[rule]]\nat_most = 1\n[rule.of]\ntitle = 2",
    ] {
        assert_eq!(parse_rules("x", text, &states).unwrap(), expected, "{text}");
    }
    let error = second("if.'é' = 1\nthen = \"title\"");
    assert!(error.starts_with("rules.toml:6: rule 2: if is "), "{error}");
    assert!(message("\u{feff}[[rule]]\nof = é").starts_with("rules.toml:2: "));
}
