//! UAI models and evidence in, UAI results out.

mod common;

use common::{Folder, close, numbers};

/// Three variables, one of them with a single state, a zero entry and an odd layout.
const MODEL: &str = "MARKOV\n4\n2 3\t1\n 2\n\n3\n2 0 1\n2  1 3\n\n1 2\n6\n 4.0 2.4 1\r\n 1.0 0 0.5\n\n6 1 2 3 4 5 6\n1\n0.5";

/// `P(0) P(1 | 0) P(2 | 0, 1)`: the last variable of each scope is the child.
const NETWORK: &str = "BAYES\n3\n2 2 2\n3\n1 0\n2 0 1\n3 0 1 2\n\n2\n .25 .75\n4\n 0.5 0.5\n 0.125 0.875\n8\n 1 0  .5 .5  .25 .75  0 1\n";

fn folder() -> Folder {
    Folder::new().with("m.uai", MODEL).with("n.uai", NETWORK)
}

/// Tables as the model lists them, with the states that evidence leaves.
fn brute_force(evidence: &[(usize, usize)]) -> (f64, Vec<Vec<f64>>) {
    let (first, second) = ([4.0, 2.4, 1.0, 1.0, 0.0, 0.5], [1.0, 2.0, 3.0, 4.0, 5.0, 6.0]);
    let mut total = 0.0;
    let mut marginals = vec![vec![0.0; 2], vec![0.0; 3], vec![0.0; 1], vec![0.0; 2]];
    for a in 0..2 {
        for b in 0..3 {
            for d in 0..2 {
                let states = [a, b, 0, d];
                if evidence.iter().any(|&(v, s)| states[v] != s) {
                    continue;
                }
                let weight = first[3 * a + b] * second[2 * b + d] * 0.5;
                total += weight;
                states.iter().enumerate().for_each(|(v, &s)| marginals[v][s] += weight);
            }
        }
    }
    marginals.iter_mut().flatten().for_each(|m| *m /= total);
    (total, marginals)
}

#[test]
fn marginals_and_log_partition_are_those_of_brute_force() {
    let evidence: &[&[(usize, usize)]] = &[&[], &[(1, 2)], &[(0, 1), (3, 1)], &[(2, 0)]];
    for evidence in evidence {
        let pairs: String = evidence.iter().map(|(v, s)| format!(" {v} {s}")).collect();
        let (total, expected) = brute_force(evidence);
        for text in
            [format!("{}{pairs}", evidence.len()), format!("1\n{}{pairs}\n", evidence.len())]
        {
            let folder = folder().with("e.evid", &text);
            let answer = folder.answer(&["solve", "m.uai", "--evidence", "e.evid"]);
            assert!(close(&answer["log_partition"], total.ln(), 1e-12));
            for (variable, expected) in expected.iter().enumerate() {
                let found = numbers(&answer["marginals"][variable]["values"]);
                assert!(found.iter().zip(expected).all(|(f, e)| (f - e).abs() < 1e-12));
                assert!(found.iter().zip(expected).all(|(f, e)| (*f == 0.0) == (*e == 0.0)));
            }
            let text =
                folder.succeeds(&["solve", "m.uai", "--evidence", "e.evid", "--format", "mar"]);
            let mut words = text.strip_prefix("MAR\n4 ").unwrap().split_whitespace();
            for expected in &expected {
                assert_eq!(words.next().unwrap(), expected.len().to_string());
                for expected in expected {
                    let found: f64 = words.next().unwrap().parse().unwrap();
                    assert!((found - expected).abs() < 1e-12);
                }
            }
            assert_eq!(words.next(), None);
            let text =
                folder.succeeds(&["solve", "m.uai", "--evidence", "e.evid", "--format", "pr"]);
            let found: f64 = text.strip_prefix("PR\n").unwrap().trim_end().parse().unwrap();
            assert!((found - total.log10()).abs() < 1e-12);
        }
    }
}

#[test]
fn a_bayesian_network_gives_the_probability_of_its_evidence() {
    let even = "MARKOV\n1\n2\n1\n1 0\n2\n0.5 0.5\n";
    let folder = folder().with("e.evid", "1 2 1").with("even.uai", even);
    assert_eq!(folder.succeeds(&["solve", "even.uai", "--format", "pr"]), "PR\n0\n");
    assert_eq!(folder.succeeds(&["solve", "n.uai", "--format", "pr"]).lines().count(), 2);
    let answer = folder.answer(&["solve", "n.uai"]);
    assert!(close(&answer["log_partition"], 0.0, 1e-12));
    // P(2 = 1) by hand.
    let expected: f64 = 0.25 * (0.5 * 0.0 + 0.5 * 0.5) + 0.75 * (0.125 * 0.75 + 0.875 * 1.0);
    let answer = folder.answer(&["solve", "n.uai", "--evidence", "e.evid"]);
    assert!(close(&answer["log_partition"], expected.ln(), 1e-12));
}

#[test]
fn several_samples_give_several_answers() {
    let folder = folder().with("e.evid", "2\n1 0 1\n1 1 2\n");
    let output =
        folder.succeeds(&["solve", "m.uai", "--evidence", "e.evid", "--marginals", "none"]);
    let lines: Vec<serde_json::Value> =
        output.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    assert_eq!(lines.len(), 2);
    assert!(close(&lines[0]["log_partition"], brute_force(&[(0, 1)]).0.ln(), 1e-12));
    assert!(close(&lines[1]["log_partition"], brute_force(&[(1, 2)]).0.ln(), 1e-12));
    let output = folder.succeeds(&["solve", "m.uai", "--evidence", "e.evid", "--format", "pr"]);
    assert!(output.starts_with("PR\n2\n") && output.lines().count() == 4, "{output}");
    let output = folder.succeeds(&["solve", "m.uai", "--evidence", "e.evid", "--format", "mar"]);
    assert!(output.starts_with("MAR\n2\n4 2 0 1 3 "), "{output}");
}

#[test]
fn energies_evidence_and_standard_input_go_together() {
    let energies = r#"{"energies": [{"kind": "measurement", "weight": 50, "penalty": {"kind": "squared"}, "offset": -0.9,
        "terms": [{"scope": [0], "coefficients": [0, 1]}]}]}"#;
    let folder = folder().with("energies.json", energies).with("e.evid", "1 3 0");
    let answer =
        folder.answer(&["solve", "m.uai", "--evidence", "e.evid", "--energies", "energies.json"]);
    assert!(answer["marginals"][0]["values"][1].as_f64().unwrap() > 0.8);
    assert_eq!(numbers(&answer["marginals"][3]["values"]), [1.0, 0.0]);
    let output = folder.bethe_with_input(&["solve", "-", "--format", "pr"], MODEL);
    assert_eq!(output.stdout, folder.bethe(&["solve", "m.uai", "--format", "pr"]).stdout);
    // A JSON problem takes evidence of this format, and gives results of it, too.
    let folder = folder.with("p.json", r#"{"variables": [2, 2, 2, 2]}"#);
    let output = folder.succeeds(&["solve", "p.json", "--evidence", "e.evid", "--format", "mar"]);
    assert_eq!(output, "MAR\n4 2 0.5 0.5 2 0.5 0.5 2 0.5 0.5 2 1 0\n");
}

#[test]
fn hundreds_of_variables_are_no_matter() {
    // A grid of 4 × 150 with couplings that favour what a chain of parities would.
    let (rows, columns) = (4, 150);
    let mut pairs = Vec::new();
    for row in 0..rows {
        for column in 0..columns {
            let variable = row * columns + column;
            pairs.extend((column + 1 < columns).then_some((variable, variable + 1)));
            pairs.extend((row + 1 < rows).then_some((variable, variable + columns)));
        }
    }
    let mut text =
        format!("MARKOV\n{}\n{}\n{}\n", rows * columns, "2 ".repeat(rows * columns), pairs.len());
    pairs.iter().for_each(|(a, b)| text += &format!("2 {a} {b}\n"));
    pairs.iter().for_each(|_| text += "4\n 1.0 0 0 1.0\n");
    let folder = Folder::new().with("grid.uai", &text).with("e.evid", "1\n1 17 1");
    let answer = folder.answer(&["solve", "grid.uai", "--marginals", "nodes"]);
    assert!(close(&answer["log_partition"], 2f64.ln(), 1e-12));
    let answer = folder.answer(&["solve", "grid.uai", "--evidence", "e.evid"]);
    assert!(close(&answer["log_partition"], 0.0, 1e-12));
    assert_eq!(numbers(&answer["marginals"][599]["values"]), [0.0, 1.0]);
}

/// What is replaced in the model, by what, and the message without the file.
#[rustfmt::skip] // one line per mistake
const BROKEN: &[(&str, &str, &str)] = &[
    ("MARKOV", "markov", r#"line 1, column 1: found "markov", expected MARKOV or BAYES"#),
    ("MARKOV\n4", "MARKOV\nx", r#"line 2, column 1: found "x", expected the number of variables"#),
    ("MARKOV\n4", "MARKOV\n-4", r#"line 2, column 1: found "-4", expected the number of variables"#),
    ("MARKOV\n4", "MARKOV\n99999999999999999999", r#"line 2, column 1: found "99999999999999999999", expected the number of variables"#),
    ("2 3\t1\n", "2 0\t1\n", r#"line 3, column 3: found "0", expected the number of states of variable 1, at least 1"#),
    ("2 3\t1\n", "2 3.0\t1\n", r#"line 3, column 3: found "3.0", expected the number of states of variable 1, at least 1"#),
    ("\n3\n2 0 1", "\nthree\n2 0 1", r#"line 6, column 1: found "three", expected the number of functions"#),
    ("\n2 0 1\n", "\n+2 0 1\n", r#"line 7, column 1: found "+2", expected the number of variables of function 0"#),
    ("\n2 0 1\n", "\n2 0 y\n", r#"line 7, column 5: found "y", expected variable 1 of the 2 of function 0"#),
    ("\n2 0 1\n", "\n2 0 4\n", "line 7, column 5: found variable 4, expected an index below 4 (in the scope of function 0)"),
    ("\n2 0 1\n", "\n2 1 1\n", "line 7, column 5: variable 1 is listed twice, expected each variable once (in the scope of function 0)"),
    ("\n6\n", "\n5\n", "line 11, column 1: found 5 numbers, expected 6 (2 × 3) (in the table of function 0)"),
    ("\n6\n", "\n6.0\n", r#"line 11, column 1: found "6.0", expected the number of entries of function 0"#),
    ("2.4", "2,4", r#"line 12, column 6: found "2,4", expected a finite number that is not negative as entry 1 of the 6 of function 0"#),
    ("2.4", "-2.4", r#"line 12, column 6: found "-2.4", expected a finite number that is not negative as entry 1 of the 6 of function 0"#),
    ("2.4", "nan", r#"line 12, column 6: found "nan", expected a finite number that is not negative as entry 1 of the 6 of function 0"#),
    ("2.4", "inf", r#"line 12, column 6: found "inf", expected a finite number that is not negative as entry 1 of the 6 of function 0"#),
    ("2.4", "1e999", r#"line 12, column 6: found "1e999", expected a finite number that is not negative as entry 1 of the 6 of function 0"#),
    ("2.4 ", "", "line 15, column 3: found 1 number, expected 6 (3 × 2) (in the table of function 1)"),
    ("\n0.5", "", "line 16: found the end of the text, expected entry 0 of the 1 of function 2"),
    ("1\n0.5", "1\n0", "every configuration is forbidden, expected at least one allowed"),
];

#[test]
fn every_mistake_in_a_model_is_named_with_its_place() {
    for (old, new, expected) in BROKEN {
        assert_eq!(MODEL.matches(old).count(), 1, "{old:?}");
        let folder = Folder::new().with("m.uai", &MODEL.replace(old, new));
        for command in ["solve", "check"] {
            let message = folder.refusal(&[command, "m.uai"]);
            assert_eq!(message, format!("m.uai: {expected}"));
        }
    }
    let folder = Folder::new().with("m.uai", " \n");
    let expected = "m.uai: line 1: found the end of the text, expected MARKOV or BAYES";
    assert_eq!(folder.refusal(&["solve", "m.uai"]), expected);
    std::fs::write(folder.path("m.uai"), b"MARKOV 1 \xff").unwrap();
    let message = folder.refusal(&["solve", "m.uai"]);
    assert!(
        message.starts_with("m.uai: line 1, column 10: found \"\u{fffd}\", expected"),
        "{message}"
    );
    assert!(folder.refusal(&["solve", "none.uai"]).starts_with("none.uai: there is no such file"));
}

#[test]
fn every_mistake_in_evidence_is_named_with_its_place() {
    for (text, expected) in [
        (
            "",
            "line 1: found the end of the text, expected the number of observations, or of samples",
        ),
        ("one 0 1", r#"line 1, column 1: found "one", expected a whole number"#),
        (
            "1 0 -1",
            r#"line 1, column 5: found "-1", expected a whole number as the state of observation 0 of the 1"#,
        ),
        (
            "2 0 1 1",
            "line 1: found the end of the text, expected the state of observation 1 of the 2",
        ),
        (
            "2 0 1",
            "line 1: found the end of the text, expected the variable of observation 1 of the 2",
        ),
        (
            "1\n2 0 1 1",
            "line 2: found the end of the text, expected the state of observation 1 of the 2 of sample 0",
        ),
        (
            "1 4 0",
            "line 1, column 3: found variable 4, expected an index below 4 (in the evidence)",
        ),
        (
            "1 0 2",
            "line 1, column 5: found state 2 of variable 0, expected an index below 2 (in the evidence)",
        ),
        (
            "2 0 1 0 1",
            "line 1, column 7: found a second observation of variable 0, expected at most one",
        ),
    ] {
        let folder = folder().with("e.evid", text);
        let message = folder.refusal(&["solve", "m.uai", "--evidence", "e.evid"]);
        assert_eq!(message, format!("e.evid: {expected}"), "{text:?}");
    }
    let folder = folder().with("p.json", r#"{"variables": [2], "evidence": {"0": 1}}"#);
    let folder = folder.with("e.evid", "1 0 1");
    let message = folder.refusal(&["solve", "p.json", "--evidence", "e.evid"]);
    let expected =
        "line 1, column 3: found a second observation of variable 0, expected at most one";
    assert_eq!(message, format!("e.evid: {expected}"));
    assert!(
        folder
            .refusal(&["solve", "m.uai", "--evidence", "no.evid"])
            .starts_with("no.evid: there is no")
    );
}

#[test]
fn what_comes_after_the_end_of_a_file_is_ignored_with_a_note() {
    let said = |folder: &Folder, arguments: &[&str]| {
        let output = folder.bethe(arguments);
        assert_eq!(output.status.code(), Some(0), "{arguments:?}");
        (output.stdout, String::from_utf8(output.stderr).unwrap())
    };
    let folder = folder()
        .with("longer.uai", &format!("{MODEL}\n\n7 1 0\n% made by hand\n"))
        .with("none.evid", "0\n2 0\n")
        .with("one.evid", "1 1 2\n")
        .with("one_more.evid", "1 1 2\n9\n")
        .with("two_more.evid", "2\n1 0 1\n1 1 2\nthe end\n");
    let note = "note: longer.uai: line 19, column 1: ignored 7 words after the last table, the first of them \"7\"\n";
    let plain = ["solve", "m.uai", "--format", "mar"];
    let longer = ["solve", "longer.uai", "--format", "mar"];
    assert_eq!(said(&folder, &longer), (said(&folder, &plain).0, note.to_string()));
    assert_eq!(said(&folder, &[&longer[..], &["--quiet"]].concat()).1, "");
    assert_eq!(said(&folder, &["check", "longer.uai"]).1, note);
    assert_eq!(said(&folder, &["sample", "longer.uai", "--records", "1"]).1, note);

    let with = |evidence: &'static str| [&plain[..], &["--evidence", evidence]].concat();
    let after = "ignored 2 words after the last observation, the first of them";
    let (nothing, note) = said(&folder, &with("none.evid"));
    assert_eq!(note, format!("note: none.evid: line 2, column 1: {after} \"2\"\n"));
    assert_eq!(nothing, said(&folder, &plain).0);
    let (one, note) = said(&folder, &with("one_more.evid"));
    let expected =
        "note: one_more.evid: line 2, column 1: ignored \"9\" after the last observation\n";
    assert_eq!(note, expected);
    assert_eq!(one, said(&folder, &with("one.evid")).0);
    let (two, note) = said(&folder, &with("two_more.evid"));
    assert_eq!(note, format!("note: two_more.evid: line 4, column 1: {after} \"the\"\n"));
    assert!(two.starts_with(b"MAR\n2\n"));
    assert_eq!(said(&folder, &["check", "one_more.evid"]).1, expected);
}

#[test]
fn evidence_of_probability_zero_is_an_error_of_its_own() {
    let folder = folder().with("e.evid", "2 0 1 1 1").with("ok.evid", "1 0 1");
    let message = folder.refusal(&["solve", "m.uai", "--evidence", "e.evid"]);
    let expected = "the evidence has probability zero, expected states that can occur together";
    assert_eq!(message, format!("m.uai with e.evid: {expected}"));
    // What one table forbids, and what two forbid together.
    let xor = r#"{"variables": [2, 2, 2], "factors": [
        {"scope": [0, 1], "log_potentials": [0, null, null, 0]}, {"scope": [1, 2], "log_potentials": [0, null, null, 0]}],
        "evidence": {"0": 0, "2": 1}}"#;
    let folder = folder.with("p.json", xor);
    for command in ["solve", "check"] {
        assert_eq!(folder.refusal(&[command, "p.json"]), format!("p.json: {expected}"));
    }
    let folder = folder.with("s.evid", "2\n1 0 0\n2 0 1 1 1");
    let message = folder.refusal(&["solve", "m.uai", "--evidence", "s.evid"]);
    assert_eq!(message, format!("m.uai with sample 1 of s.evid: {expected}"));
}

#[test]
fn flags_that_do_not_fit_are_refused() {
    let folder = folder();
    assert_eq!(
        folder.refusal(&["solve", "m.uai", "--format", "mar", "--marginals", "all"]),
        "--marginals needs --format json, found --format mar"
    );
    for flag in ["--evidence", "--energies"] {
        assert_eq!(
            folder.refusal(&["solve", "-", flag, "-"]),
            format!("{flag}: standard input (-) can be used for only one file")
        );
    }
}

#[test]
fn files_are_described() {
    let folder = folder().with("e.evid", "2\n1 0 1\n2 0 1 1 2\n");
    let said = folder.succeeds(&["check", "m.uai"]);
    assert!(
        said.contains("4 of 1 to 3 states") && said.contains("1 configuration forbidden"),
        "{said}"
    );
    assert_eq!(
        folder.succeeds(&["check", "e.evid"]),
        "e.evid: evidence, 2 samples\n  observed   1 to 2 each\n  bethe solve --evidence checks variables \
         and states against a model\n"
    );
}

#[test]
fn formats_without_a_status_come_with_a_note() {
    let folder = Folder::new()
        .with(
            "impossible.json",
            r#"{"variables": [2, 2], "energies": [{"kind": "table_measurement",
                "penalty": {"kind": "equal"}, "scope": [0], "target": [0.9, 0.9]}]}"#,
        )
        .with(
            "hard.json",
            r#"{"variables": [2, 2], "energies": [{"kind": "table_measurement", "weight": 1e4,
                "penalty": {"kind": "squared"}, "scope": [0, 1], "target": [0.9, 0.1, 0.2, 0.1]}]}"#,
        );
    let said = |arguments: &[&str]| {
        let output = folder.bethe(arguments);
        (output.status.code(), String::from_utf8(output.stderr).unwrap())
    };
    let (code, text) = said(&["solve", "impossible.json", "--format", "mar"]);
    assert_eq!(code, Some(3));
    assert!(text.starts_with("note: impossible.json: hard measurements cannot hold"), "{text}");
    let short = ["solve", "hard.json", "--format", "pr", "--max-iterations", "1"];
    let (code, text) = said(&short);
    assert_eq!(code, Some(0));
    assert!(text.starts_with("note: hard.json: not converged (iteration_limit)"), "{text}");
    assert_eq!(said(&[&short[..], &["--quiet"]].concat()).1, "");
    assert_eq!(said(&["solve", "hard.json", "--format", "pr"]), (Some(0), String::new()));
}
