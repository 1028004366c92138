//! Many problems, standard input, Ctrl-C and closed pipes.

mod common;

use std::io::{Read, Write};
use std::process::{Command, Stdio};
use std::time::Duration;

use assert_cmd::cargo::cargo_bin;
use common::{CONVEX, EXAMPLE, Folder, INFEASIBLE, error, one};
use serde_json::{Value, json};

fn flat(text: &str) -> String {
    text.replace('\n', " ")
}

fn with_offset(offset: f64) -> String {
    format!(
        r#"{{"variables": [2], "factors": [{{"scope": [0], "log_potentials": [{offset}, 0]}}]}}"#
    )
}

fn answers(stdout: &[u8]) -> Vec<Value> {
    let text = String::from_utf8(stdout.to_vec()).unwrap();
    text.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

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
fn a_mistake_in_any_line_prints_nothing() {
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
        folder.refusal(&["solve", "a.jsonl"]),
        "a.jsonl:3: variables[0]: variable 0 has 0 states, expected at least 1"
    );
    assert_eq!(
        folder.refusal(&["check", "a.jsonl"]),
        "a.jsonl:3: variables[0]: variable 0 has 0 states, expected at least 1"
    );
    assert_eq!(
        folder.refusal(&["solve", "b.jsonl"]),
        "b.jsonl:2: column 17: found the end of the text in an object, expected `}`"
    );
    assert_eq!(
        folder.refusal(&["solve", "c.jsonl"]),
        "c.jsonl:2: every configuration is forbidden, expected at least one allowed"
    );
    assert_eq!(
        folder.refusal(&["solve", "d.jsonl", "--solver", "dual"]),
        "d.jsonl:2: solver dual cannot serve energies other than measurements; expected solver auto"
    );
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
    assert_eq!(
        folder.refusal(&["solve", "wide.jsonl", "--energies", "e.json"]),
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
    let output = folder.bethe_with_input(&["solve", "-"], "");
    assert_eq!(
        error(&output),
        "error: standard input: line 1, column 0: found the end of the text, expected a value\n"
    );
}

/// A problem that a slow solver is busy with for ever.
fn endless(folder: &Folder) -> Command {
    let mut command = Command::new(cargo_bin("bethe"));
    command.args(["solve", "--solver", "mirror-descent", "--step-size", "1e-12"]);
    command.args(["--tolerance", "1e-14", "--max-iterations", "1000000000000"]);
    command.arg(folder.path("p.json")).stdout(Stdio::piped()).stderr(Stdio::piped());
    command
}

#[cfg(unix)]
#[test]
fn ctrl_c_prints_the_current_answer() {
    let folder = Folder::new().with("p.json", CONVEX);
    let child = endless(&folder).spawn().unwrap();
    std::thread::sleep(Duration::from_millis(500));
    Command::new("kill").args(["-INT", &child.id().to_string()]).status().unwrap();
    let output = child.wait_with_output().unwrap();
    assert_eq!(output.status.code(), Some(0), "{}", error(&output));
    let answer = one(&output);
    assert_eq!(answer["status"], "stopped");
    assert!(answer["objective"].is_number() && answer["map"]["assignment"].is_array());
    assert_eq!(error(&output), "", "no progress where standard error is no terminal");
}

/// A grid that takes long to set up.
fn wide(side: usize) -> String {
    let sites = side * side;
    let right = (0..sites).filter(|site| site % side + 1 < side).map(|site| [site, site + 1]);
    let below = (0..sites - side).map(|site| [site, site + side]);
    let factors: Vec<Value> = right
        .chain(below)
        .map(|scope| json!({"scope": scope, "log_potentials": [0.9, -0.9, -0.9, 0.9]}))
        .collect();
    json!({"variables": vec![2; sites], "factors": factors}).to_string()
}

#[cfg(unix)]
#[test]
fn ctrl_c_ends_set_up_and_keeps_what_is_answered() {
    let lines = [with_offset(1.0), wide(150), with_offset(2.0)].join("\n");
    let folder = Folder::new().with("b.jsonl", &lines).with("w.json", &wide(150));
    let stop = |file: &str| {
        let child = Command::new(cargo_bin("bethe"))
            .args(["solve", "--threads", "1", "--marginals", "none"])
            .arg(folder.path(file))
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        std::thread::sleep(Duration::from_millis(1000));
        Command::new("kill").args(["-INT", &child.id().to_string()]).status().unwrap();
        child.wait_with_output().unwrap()
    };
    let output = stop("w.json");
    assert_eq!(output.status.code(), Some(130), "{}", error(&output));
    assert!(output.stdout.is_empty());
    assert!(error(&output).ends_with("w.json: cancelled before there was an answer\n"));

    let output = stop("b.jsonl");
    assert_eq!(output.status.code(), Some(130), "{}", error(&output));
    let answers = answers(&output.stdout);
    assert_eq!(answers[0]["status"], "converged");
    for unanswered in &answers[1..] {
        assert_eq!(unanswered["error"], "cancelled before there was an answer");
    }
    assert_eq!(answers.len(), 3);
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
