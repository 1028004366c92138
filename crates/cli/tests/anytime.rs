//! `--return`, and answers that are the best so far.

mod common;

use common::{CONVEX, Folder, error};
use serde_json::Value;

/// A count that steep steps overshoot.
const STEEP: &str = r#"{"variables": [3, 3],
  "energies": [{"kind": "measurement", "weight": 500, "penalty": {"kind": "squared"}, "offset": -0.7,
                "terms": [{"scope": [0], "coefficients": [0, 1, 0]}, {"scope": [1], "coefficients": [0, 1, 0]}]}]}"#;

/// A measurement that rounding keeps off its kink, by more than the tolerance.
const KINKED: &str = r#"{"variables": [3, 3],
  "factors": [{"scope": [0, 1], "log_potentials": [0.3, -0.2, 0.1, 0.7, 0.0, 0.4, -0.9, 0.2, 0.6]}],
  "energies": [{"kind": "measurement", "weight": 4e11, "penalty": {"kind": "absolute"}, "offset": -1.966,
                "terms": [{"scope": [0, 1], "coefficients": [-360.384, 1000, -667.834, 561.259, 0, -599.679, 1000, 3, -1]}]}]}"#;

fn number(answer: &Value, field: &str) -> f64 {
    answer[field].as_f64().expect("a number")
}

#[test]
fn rda_after_one_iteration_is_no_worse_than_the_base_model() {
    let folder = Folder::new().with("p.json", STEEP);
    let solve = |further: &[&str]| {
        folder.answer(&[&["solve", "p.json", "--solver", "rda"], further].concat())
    };
    let base = solve(&["--max-iterations", "1"]);
    assert_eq!(base["returned"], "best");
    assert_eq!(base["marginals"][0]["values"][1].as_f64().map(|p| (p * 3.0).round()), Some(1.0));
    let last = solve(&["--max-iterations", "1", "--return", "last"]);
    assert_eq!(last["returned"], "last");
    assert!(number(&last, "objective") > number(&base, "objective"));
    let mut before = number(&base, "objective");
    for cap in ["2", "3", "5", "8", "13"] {
        let after = number(&solve(&["--max-iterations", cap]), "objective");
        assert!(after <= before, "cap {cap}: {after} after {before}");
        before = after;
    }
}

#[test]
fn the_last_iterate_and_the_average_are_those_of_the_trace() {
    let folder = Folder::new().with("p.json", CONVEX);
    let cut = ["solve", "p.json", "--solver", "rda", "--max-iterations", "6"];
    let solve = |further: &[&str]| folder.answer(&[&cut, further].concat());
    let last = solve(&["--return", "last", "--trace", "t.csv"]);
    let average = solve(&["--return", "average"]);
    assert_eq!((&last["returned"], &average["returned"]), (&"last".into(), &"average".into()));
    let trace = folder.read("t.csv");
    let row: Vec<f64> =
        trace.lines().last().unwrap().split(',').map(|cell| cell.parse().unwrap()).collect();
    assert_eq!([number(&last, "objective"), number(&average, "objective")], [row[1], row[7]]);
}

#[test]
fn rounding_that_has_the_last_word_is_a_status_of_its_own() {
    let folder = Folder::new().with("p.json", KINKED);
    let answer = folder.answer(&["solve", "p.json"]);
    assert_eq!(answer["status"], "rounding_limit");
    let left = number(&answer, "objective") - number(&answer, "lower_bound");
    assert!(number(&answer, "gap") >= left && number(&answer, "gap") > 1e-6, "{answer}");
    let output = folder.bethe(&["solve", "p.json", "--format", "mar"]);
    assert_eq!(output.status.code(), Some(0));
    let note = error(&output);
    assert!(note.starts_with("note: p.json: not converged (rounding_limit)"), "{note}");
    let output = folder.bethe(&["solve", "p.json", "--tolerance", "1e9"]);
    assert!(String::from_utf8_lossy(&output.stdout).contains("converged"));
}
