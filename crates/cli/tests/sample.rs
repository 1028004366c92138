//! `bethe sample`: records from problems, solutions and UAI models.

mod common;

use common::{Folder, INFEASIBLE, error, numbers};

const PROBLEM: &str = r#"{
  "variables": [{"name": "age, in years", "states": ["young", "old"]}, {"name": "work", "states": ["none", "part", "full"]}, 2],
  "evidence": {"2": 1},
  "energies": [
    {"kind": "table_measurement", "weight": 4, "penalty": {"kind": "squared"}, "total": 200,
     "scope": ["age, in years", "work"], "target": [31.5, 20.1, 49.9, 42.0, 28.3, 30.7]}]}"#;

fn folder() -> Folder {
    Folder::new().with("p.json", PROBLEM)
}

fn rows(text: &str) -> Vec<Vec<String>> {
    let mut reader = csv_lines(text);
    reader.remove(0);
    reader
}

/// Cells of lines; only the first line has quotes here.
fn csv_lines(text: &str) -> Vec<Vec<String>> {
    text.lines()
        .map(|line| {
            line.replace("\"age, in years\"", "age").split(',').map(str::to_string).collect()
        })
        .collect()
}

#[test]
fn records_have_the_probabilities_of_the_answer() {
    let folder = folder();
    let text = folder.succeeds(&["sample", "p.json", "--records", "20000", "--seed", "3"]);
    assert_eq!(text.lines().next().unwrap(), "\"age, in years\",work,2");
    let rows = rows(&text);
    assert_eq!(rows.len(), 20_000);
    assert!(rows.iter().all(|row| row[2] == "1"), "what is observed stays");
    let answer = folder.answer(&["solve", "p.json"]);
    for (variable, states) in [(0, &["young", "old"][..]), (1, &["none", "part", "full"])] {
        let expected = numbers(&answer["marginals"][variable]["values"]);
        for (state, expected) in states.iter().zip(expected) {
            let found = rows.iter().filter(|row| row[variable] == *state).count() as f64 / 20_000.0;
            assert!((found - expected).abs() < 0.02, "{state}: {found} for {expected}");
        }
    }
    // The table is fitted, and not only its margins.
    let cell = rows.iter().filter(|row| row[0] == "young" && row[1] == "full").count() as f64;
    assert!((cell / 20_000.0 - 0.25).abs() < 0.02, "{cell}");
}

#[test]
fn a_seed_fixes_the_records_and_a_solution_keeps_them() {
    let folder = folder();
    let drawn = |file: &str, seed: &str| {
        folder.succeeds(&["sample", file, "--records", "50", "--seed", seed])
    };
    let first = drawn("p.json", "1");
    assert_eq!(first, drawn("p.json", "1"));
    assert_ne!(first, drawn("p.json", "2"));
    folder.succeeds(&["solve", "p.json", "--solution", "fitted.json", "--marginals", "none"]);
    assert_eq!(first, drawn("fitted.json", "1"));
    folder.succeeds(&["check", "fitted.json"]);
    let written =
        folder.succeeds(&["sample", "p.json", "--records", "50", "--seed", "1", "--out", "r.csv"]);
    assert_eq!((written.as_str(), folder.read("r.csv")), ("", first));
    assert_eq!(drawn("p.json", "1").lines().count(), 51);
    assert_eq!(folder.succeeds(&["sample", "p.json", "--records", "0"]).lines().count(), 1);
}

#[test]
fn models_of_other_formats_are_drawn_from() {
    let folder = Folder::new()
        .with("m.uai", "MARKOV 3 2 2 1 1 2 0 1 4 0 1 1 0")
        .with("e.evid", "1 0 1")
        .with("energies.json", r#"{"energies": [{"kind": "measurement", "penalty": {"kind": "equal"}, "offset": -1, "terms": [{"scope": [1], "coefficients": [0, 1]}]}]}"#);
    let text = folder.succeeds(&["sample", "m.uai", "--records", "30"]);
    assert!(rows(&text).iter().all(|row| row[0] != row[1] && row[2] == "0"));
    let text = folder.succeeds(&["sample", "m.uai", "--records", "5", "--evidence", "e.evid"]);
    assert!(rows(&text).iter().all(|row| row == &["1", "0", "0"]));
}

#[test]
fn mistakes_are_refused_and_leave_nothing() {
    let folder = folder()
        .with("bad.json", INFEASIBLE)
        .with("two.jsonl", "{\"variables\": [2]}\n{\"variables\": [2]}\n");
    assert_eq!(
        folder.refusal(&["sample", "two.jsonl", "--records", "1"]),
        "two.jsonl: found 2 problems, expected one"
    );
    assert_eq!(
        folder.refusal(&["sample", "p.json", "--records", "1", "--tolerance", "0"]),
        "--tolerance: found 0, expected a positive number"
    );
    assert_eq!(
        folder.refusal(&["sample", "no.json", "--records", "1"]),
        "no.json: there is no such file"
    );
    let message = folder.refusal(&["sample", "p.json", "--records", "1", "--out", "no/r.csv"]);
    assert!(message.starts_with("no/r.csv: cannot write"), "{message}");
    let output = folder.bethe(&["sample", "bad.json", "--records", "1", "--out", "r.csv"]);
    assert_eq!(output.status.code(), Some(3));
    assert_eq!(error(&output), "error: bad.json: hard measurements cannot hold together\n");
    assert!(output.stdout.is_empty());
    let output = folder.bethe(&["solve", "bad.json", "--solution", "s.json"]);
    assert_eq!(output.status.code(), Some(3));
    assert_eq!(folder.files(), ["bad.json", "p.json", "two.jsonl"]);
    for (flags, expected) in [
        (
            &["solve", "two.jsonl", "--solution", "s.json"][..],
            "--solution: found 2 problems, expected one",
        ),
        (
            &["solve", "p.json", "--solution", "s", "--plot", "s"],
            "--solution: --plot writes to the same file; choose another one",
        ),
    ] {
        assert_eq!(folder.refusal(flags), expected);
    }
    let output = folder.bethe(&[
        "sample",
        "p.json",
        "--records",
        "1",
        "--max-iterations",
        "1",
        "--tolerance",
        "1e-13",
    ]);
    assert!(
        error(&output).starts_with("note: p.json: not converged (iteration_limit), gap "),
        "{}",
        error(&output)
    );
}

#[test]
fn a_model_too_wide_to_draw_from_is_refused_before_it_is_solved() {
    let pairs = (0..40).flat_map(|a| (0..a).map(move |b| (a, b)));
    let factors: Vec<String> = pairs
        .map(|(a, b)| format!(r#"{{"scope": [{a}, {b}], "log_potentials": [0.1, 0, 0, 0.1]}}"#))
        .collect();
    let text =
        format!(r#"{{"variables": {:?}, "factors": [{}]}}"#, vec![2; 40], factors.join(", "));
    let folder = Folder::new().with("wide.json", &text);
    let message = folder.refusal(&["sample", "wide.json", "--records", "1"]);
    let expected = "wide.json: the model is too wide for exact inference";
    assert!(message.starts_with(expected), "{message}");
}

#[test]
fn a_solution_has_the_marginals_of_the_answer_also_where_averages_are_better() {
    const KINKED: &str = r#"{"variables": [2], "energies": [{"kind": "table_measurement",
        "penalty": {"kind": "absolute"}, "weight": 300, "scope": [0], "target": [0.7, 0.3]}]}"#;
    let folder = Folder::new().with("p.json", KINKED);
    for solver in ["rda", "mirror-descent"] {
        let solve = ["solve", "p.json", "--solver", solver, "--max-iterations", "50"];
        assert_eq!(folder.answer(&solve)["returned"], "average", "{solver}");
        let answer = folder.answer(&[&solve[..], &["--solution", "s.json"]].concat());
        let again = folder.answer(&["solve", "s.json"]);
        let [answer, again] = [&answer, &again].map(|a| numbers(&a["marginals"][0]["values"]));
        assert!((answer[0] - again[0]).abs() < 1e-9, "{solver}: {answer:?}, {again:?}");
    }
}

#[test]
fn no_solution_is_written_that_would_not_have_the_answers_marginals() {
    let folder = folder();
    for oracle in ["trw", "loopy"] {
        let message =
            folder.refusal(&["solve", "p.json", "--oracle", oracle, "--solution", "s.json"]);
        let expected = format!("--solution needs --oracle exact or auto, found {oracle}");
        assert!(message.starts_with(&expected), "{message}");
    }
    assert_eq!(folder.files(), ["p.json"]);
}

#[test]
fn what_is_read_is_not_written_over() {
    let folder = folder();
    for arguments in [
        ["solve", "p.json", "--solution", "p.json"],
        ["solve", "p.json", "--trace", "./p.json"],
        ["sample", "p.json", "--records=3", "--out=p.json"],
    ] {
        let message = folder.refusal(&arguments);
        assert!(message.contains("p.json is an input"), "{message}");
    }
    assert_eq!(folder.read("p.json"), PROBLEM);
}

#[test]
fn a_reader_that_closes_the_pipe_has_read_enough() {
    use std::io::Read;
    use std::process::{Command, Stdio};
    let folder = folder();
    let mut child = Command::new(env!("CARGO_BIN_EXE_bethe"))
        .arg("sample")
        .arg(folder.path("p.json"))
        .args(["--records", "1000000"])
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let mut start = [0; 10];
    child.stdout.take().unwrap().read_exact(&mut start).unwrap();
    let output = child.wait_with_output().unwrap();
    assert_eq!((output.status.code(), error(&output)), (Some(0), String::new()));
}
