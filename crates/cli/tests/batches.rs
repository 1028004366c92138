//! Many problems, standard input and closed pipes.

mod common;

use std::io::{Read, Write};
use std::process::{Command, Stdio};

use assert_cmd::cargo::cargo_bin;
use common::{CONVEX, EXAMPLE, Folder, INFEASIBLE, answers, error, flat, one, with_offset};
use serde_json::{Value, json};

#[test]
fn one_answer_a_line_in_the_order_of_the_problems() {
    let lines: Vec<String> = (0..50).map(|i| with_offset(f64::from(i))).collect();
    let folder = Folder::new().with("b.jsonl", &(lines.join("\n") + "\n\n"));
    for threads in [&[][..], &["--threads", "1"], &["--threads", "3"]] {
        let output = folder.bethe(&[&["solve", "b.jsonl"], threads].concat());
        assert_eq!(output.status.code(), Some(0), "{}", error(&output));
        let answers = answers(&output.stdout);
        assert_eq!(answers.len(), 50);
        for (i, answer) in answers.iter().enumerate() {
            assert!(common::close(&answer["map"]["log_score"], i as f64, 1e-12));
        }
    }
}

#[test]
fn a_mistake_is_answered_in_its_place_and_the_others_are_solved() {
    let folder = Folder::new()
        .with("a.jsonl", &format!("{}\n\n{{\"variables\": [0]}}\n", with_offset(1.0)))
        .with("b.jsonl", &format!("{}\n{{\"variables\": [2]\n", with_offset(1.0)))
        .with(
            "c.jsonl",
            &format!(
                "{}\n{{\"variables\": [2], \"factors\": [{{\"scope\": [0], \"log_potentials\": [null, null]}}]}}\n",
                with_offset(1.0)
            ),
        )
        .with("d.jsonl", &format!("{}\n{}\n", flat(CONVEX), flat(EXAMPLE)));
    assert_eq!(
        folder.refusal(&["check", "a.jsonl"]),
        "a.jsonl:3: variables[0]: variable 0 has 0 states, expected at least 1"
    );
    let dual = ["--solver", "dual"];
    for (file, further, expected) in [
        (
            "a.jsonl",
            &[][..],
            "a.jsonl:3: variables[0]: variable 0 has 0 states, expected at least 1",
        ),
        (
            "b.jsonl",
            &[],
            "b.jsonl:2: column 17: found the end of the text in an object, expected `}`",
        ),
        (
            "c.jsonl",
            &[],
            "c.jsonl:2: every configuration is forbidden, expected at least one allowed",
        ),
        (
            "d.jsonl",
            &dual,
            "d.jsonl:2: solver dual does not support energies other than measurements; \
             expected solver auto",
        ),
    ] {
        let output = folder.bethe(&[&["solve", file], further].concat());
        assert_eq!(output.status.code(), Some(2), "{file}");
        assert_eq!(error(&output), format!("error: {expected}\n"));
        let answers = answers(&output.stdout);
        assert_eq!(answers.len(), 2, "{file}");
        assert_eq!(answers[0]["status"], "converged", "{file}");
        assert_eq!(answers[1], json!({ "error": expected }));
        // Strict: the answers before it, and no more.
        let output = folder.bethe(&[&["solve", file, "--strict"], further].concat());
        assert_eq!(output.status.code(), Some(2), "{file}");
        assert_eq!(error(&output), format!("error: {expected}\n"));
        assert_eq!(common::answers(&output.stdout).len(), 1, "{file}");
    }
}

#[test]
fn bad_lines_go_before_infeasible_ones_and_are_counted() {
    let bad = r#"{"variables": [0]}"#;
    let lines = [INFEASIBLE, bad, &with_offset(1.0), "{", bad].join("\n");
    let folder = Folder::new().with("b.jsonl", &lines).with("p.json", CONVEX);
    let output = folder.bethe(&["solve", "b.jsonl"]);
    assert_eq!(output.status.code(), Some(2));
    assert!(error(&output).starts_with("error: b.jsonl:2: variables[0]: "), "{}", error(&output));
    assert!(error(&output).ends_with(" (and 2 more)\n"), "{}", error(&output));
    let answers = answers(&output.stdout);
    assert_eq!((&answers[0]["status"], answers.len()), (&json!("infeasible"), 5));
    for (place, line) in [(1, "b.jsonl:2: "), (3, "b.jsonl:4: column 1"), (4, "b.jsonl:5: ")] {
        assert!(answers[place]["error"].as_str().unwrap().starts_with(line), "{}", answers[place]);
    }
    // Formats of UAI have no place for an error.
    let message = folder.refusal(&["solve", "b.jsonl", "--format", "pr"]);
    assert!(message.starts_with("b.jsonl:2: "), "{message}");
    let message = folder.refusal(&["solve", "p.json", "--strict"]);
    assert_eq!(message, "--strict: p.json holds one problem, expected one per line (.jsonl)");
}

#[test]
fn every_sample_of_evidence_has_its_own_answer() {
    let two = r#"{"variables": [2, 2], "factors": [{"scope": [0], "log_potentials": [1, 0]}]}"#;
    let folder = Folder::new()
        .with("b.jsonl", &format!("{two}\n{{}}\n{two}\n"))
        .with("e.evid", "2\n1 0 0\n1 0 1\n");
    let output = folder.bethe(&["solve", "b.jsonl", "--evidence", "e.evid"]);
    assert_eq!(output.status.code(), Some(2), "{}", error(&output));
    let states: Vec<Value> =
        answers(&output.stdout).iter().map(|a| a["map"]["assignment"][0].clone()).collect();
    assert_eq!(states, [json!(0), json!(1), Value::Null, Value::Null, json!(0), json!(1)]);
}

#[test]
fn a_batch_is_written_to_a_file_whole() {
    let lines: Vec<String> = (0..50).map(|i| with_offset(f64::from(i))).collect();
    let folder =
        Folder::new().with("b.jsonl", &(lines.join("\n") + "\n{\n")).with("p.json", CONVEX);
    let printed = folder.bethe(&["solve", "b.jsonl", "--marginals", "none"]);
    let output = folder.bethe(&["solve", "b.jsonl", "--marginals", "none", "--out", "answers"]);
    assert_eq!((output.status.code(), output.stdout.len()), (Some(2), 0));
    let without_time = |text: &[u8]| -> Vec<Value> {
        let mut answers = answers(text);
        answers.iter_mut().for_each(|answer| answer["seconds"] = json!(0));
        answers
    };
    assert_eq!(without_time(&folder.bytes("answers")), without_time(&printed.stdout));
    // A single problem, and one that cannot be read.
    assert_eq!(folder.bethe(&["solve", "p.json", "--out", "answers"]).status.code(), Some(0));
    assert_eq!(answers(&folder.bytes("answers")).len(), 1);
    let folder = folder.with("p.json", "{}").with("kept", "kept");
    folder.refusal(&["solve", "p.json", "--out", "kept"]);
    assert_eq!(folder.read("kept"), "kept");
    assert_eq!(folder.files(), ["answers", "b.jsonl", "kept", "p.json"]);
    let message = folder.refusal(&["solve", "b.jsonl", "--out", "b.jsonl"]);
    assert!(message.contains("b.jsonl is an input"), "{message}");
}

#[test]
fn one_infeasible_problem_among_many_exits_with_3() {
    let text = format!("{}\n{INFEASIBLE}\n{}\n", with_offset(1.0), with_offset(2.0));
    let folder = Folder::new().with("b.jsonl", &text);
    let output = folder.bethe(&["solve", "b.jsonl"]);
    assert_eq!(output.status.code(), Some(3));
    let statuses: Vec<Value> =
        answers(&output.stdout).iter().map(|a| a["status"].clone()).collect();
    assert_eq!(statuses, [json!("converged"), json!("infeasible"), json!("converged")]);
}

#[test]
fn traces_and_plots_are_for_one_problem() {
    let text = format!("{}\n{}\n", with_offset(1.0), with_offset(2.0));
    let folder = Folder::new().with("b.jsonl", &text).with("one.jsonl", &flat(CONVEX));
    for flag in ["--trace", "--plot"] {
        assert_eq!(
            folder.refusal(&["solve", "b.jsonl", flag, "x"]),
            "--trace and --plot: found 2 problems, expected one"
        );
        folder.answer(&["solve", "one.jsonl", flag, "x"]);
    }
}

#[test]
fn further_energies_reach_every_problem() {
    let energies = r#"{"energies": [{"kind": "measurement", "penalty": {"kind": "linear"}, "terms": [{"scope": [0], "coefficients": [0, 1]}]}]}"#;
    let text = format!("{}\n{}\n", with_offset(1.0), with_offset(2.0));
    let folder = Folder::new()
        .with("b.jsonl", &text)
        .with("wide.jsonl", &format!("{}\n{{\"variables\": [3]}}\n", with_offset(1.0)))
        .with("e.json", energies);
    let output = folder.bethe(&["solve", "b.jsonl", "--energies", "e.json"]);
    for answer in answers(&output.stdout) {
        assert_eq!(answer["energies"].as_array().unwrap().len(), 1);
    }
    let output = folder.bethe(&["solve", "wide.jsonl", "--energies", "e.json"]);
    assert_eq!(output.status.code(), Some(2));
    assert_eq!(
        answers(&output.stdout)[1]["error"],
        "e.json: energies[0].terms[0].coefficients: found 2 numbers, expected 3 (with wide.jsonl:2)"
    );
}

#[test]
fn an_empty_batch_has_no_answers() {
    let folder = Folder::new().with("b.jsonl", "\n");
    let output = folder.bethe(&["solve", "b.jsonl"]);
    assert_eq!((output.status.code(), output.stdout.len()), (Some(0), 0));
}

#[test]
fn standard_input_is_one_problem_or_one_a_line() {
    let folder = Folder::new();
    let output = folder.bethe_with_input(&["solve", "-"], EXAMPLE);
    assert_eq!(one(&output)["status"], "stationary");
    let lines = format!("{}\n{}\n", flat(EXAMPLE), flat(CONVEX));
    let output = folder.bethe_with_input(&["solve", "-"], &lines);
    assert_eq!(answers(&output.stdout).len(), 2);
    let output = folder.bethe_with_input(&["solve", "-"], &lines.replacen("[3, 3, 2]", "[3]", 1));
    assert_eq!(output.status.code(), Some(2));
    assert!(error(&output).starts_with("error: standard input:1: factors[1].scope[1]: "));
    let bad = flat(EXAMPLE).replacen("[3, 3, 2]", "[3]", 1);
    let output = folder.bethe_with_input(&["solve", "-"], &bad);
    assert_eq!((output.status.code(), output.stdout.len()), (Some(2), 0), "a text of its own");
    assert!(error(&output).starts_with("error: standard input: factors[1].scope[1]: "));
    let output = folder.bethe_with_input(&["solve", "-"], "");
    assert_eq!(error(&output), "error: standard input: the file is empty, expected a problem\n");
}

#[test]
fn a_closed_pipe_is_no_panic() {
    let lines: Vec<String> = (0..2000).map(|i| with_offset(f64::from(i))).collect();
    let folder = Folder::new().with("b.jsonl", &lines.join("\n"));
    let mut child = Command::new(cargo_bin("bethe"))
        .arg("solve")
        .arg(folder.path("b.jsonl"))
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    drop(child.stdout.take());
    let mut stderr = String::new();
    child.stderr.take().unwrap().read_to_string(&mut stderr).unwrap();
    assert_eq!((child.wait().unwrap().code(), stderr.as_str()), (Some(0), ""));
}

#[test]
fn standard_input_may_be_an_energies_file() {
    let folder = Folder::new().with("p.json", CONVEX);
    let mut child = Command::new(cargo_bin("bethe"))
        .args(["solve", "--energies", "-"])
        .arg(folder.path("p.json"))
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    child.stdin.take().unwrap().write_all(b"{\"energies\": []}").unwrap();
    let output = child.wait_with_output().unwrap();
    assert_eq!(one(&output)["status"], "converged");
    assert_eq!(
        folder.refusal(&["solve", "-", "--energies", "-"]),
        "--energies: standard input (-) can be used for only one file"
    );
}
