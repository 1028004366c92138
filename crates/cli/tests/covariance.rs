//! `bethe solve --covariance`: error bars of one draw and of what was inferred.

mod common;

use common::{CONVEX, EXAMPLE, Folder, INFEASIBLE};
use serde_json::{Value, json};

fn number(value: &Value) -> f64 {
    value.as_f64().unwrap_or_else(|| panic!("{value} is no number"))
}

/// Two states of one variable, measured: a binary variable has a closed form.
const COIN: &str = r#"{"variables": [{"name": "coin", "states": ["heads", "tails"]}, 2],
  "factors": [{"scope": [1], "log_potentials": [0, 1]}],
  "energies": [{"kind": "measurement", "weight": 6, "penalty": {"kind": "squared"}, "offset": -0.8,
                "terms": [{"scope": ["coin"], "coefficients": [0, 1]}]}]}"#;

#[test]
fn a_measured_coin_has_the_error_bars_of_the_closed_form() {
    let folder = Folder::new().with("p.json", COIN);
    let plain = folder.answer(&["solve", "p.json"]);
    assert_eq!(plain.get("covariance"), None);
    let answer = folder.answer(&["solve", "p.json", "--covariance", "--tolerance", "1e-12"]);
    let p = number(&answer["marginals"][0]["values"][1]);
    let variance = p * (1.0 - p);
    // A variance of 1/6 by measurement, and the model's own.
    let inferred = 1.0 / (1.0 / variance + 6.0);
    let found = &answer["covariance"];
    let quantity = &found["quantities"][0];
    assert_eq!(quantity["energy"], json!(0));
    for (found, expected) in [
        (&quantity["value"], p),
        (&quantity["deviation"], variance.sqrt()),
        (&quantity["inferred_deviation"], inferred.sqrt()),
        (&found["distribution"][0][0], variance),
        (&found["inferred"][0][0], inferred),
    ] {
        assert!((number(found) - expected).abs() < 1e-9, "{found} for {expected}");
    }
}

#[test]
fn states_of_chosen_variables_vary_together() {
    let folder = Folder::new().with("p.json", COIN);
    let answer = folder.answer(&["solve", "p.json", "--covariance=1,coin"]);
    let found = &answer["covariance"];
    let named: Vec<Value> = found["quantities"].as_array().unwrap().clone();
    let named: Vec<[&Value; 2]> = named.iter().map(|q| [&q["variable"], &q["state"]]).collect();
    let expected = [[json!(1), json!(0)], [json!(1), json!(1)], [json!("coin"), json!("heads")]];
    for (found, expected) in named.iter().zip(&expected) {
        assert_eq!([found[0], found[1]], [&expected[0], &expected[1]]);
    }
    assert_eq!(named.len(), 4);
    // The second variable is independent of what was measured.
    let p = 1f64.exp() / (1.0 + 1f64.exp());
    for kind in ["distribution", "inferred"] {
        let matrix = &found[kind];
        assert!((number(&matrix[0][1]) + p * (1.0 - p)).abs() < 1e-9, "{matrix}");
        assert!(number(&matrix[0][2]).abs() < 1e-12, "{matrix}");
    }
    let [draw, inferred] = ["distribution", "inferred"].map(|kind| number(&found[kind][3][3]));
    assert!(inferred < 0.5 * draw, "{inferred} {draw}");
}

#[test]
fn batches_and_junction_trees_have_error_bars_too() {
    let ring = r#"{"variables": [2, 2, 2], "factors": [{"scope": [0, 1], "log_potentials": [1, 0, 0, 1]}, {"scope": [1, 2], "log_potentials": [1, 0, 0, 1]}, {"scope": [2, 0], "log_potentials": [1, 0, 0, 1]}],
      "energies": [{"kind": "table_measurement", "weight": 3, "penalty": {"kind": "squared"}, "scope": [0, 1], "target": [0.5, 0, 0, 0.5]}]}"#
        .replace('\n', " ");
    let lines = format!("{}\n{ring}\n", CONVEX.replace('\n', " "));
    let folder = Folder::new().with("p.jsonl", &lines);
    let output = folder.bethe(&["solve", "p.jsonl", "--covariance", "--quiet"]);
    assert!(output.status.success(), "{output:?}");
    let text = String::from_utf8(output.stdout).unwrap();
    let answers: Vec<Value> = text.lines().map(|l| serde_json::from_str(l).unwrap()).collect();
    let counts: Vec<usize> = answers
        .iter()
        .map(|answer| answer["covariance"]["quantities"].as_array().unwrap().len())
        .collect();
    assert_eq!(counts, [2, 4]);
    assert_eq!(answers[1]["oracle"], json!("junction-tree"));
    assert_eq!(answers[1]["covariance"]["quantities"][3]["cell"], json!(3));
}

#[test]
fn what_has_no_derivative_has_no_inferred_covariance() {
    let folder = Folder::new().with("p.json", EXAMPLE).with("q.json", INFEASIBLE);
    let answer = folder.answer(&["solve", "p.json", "--covariance"]);
    let found = &answer["covariance"];
    assert!(number(&found["quantities"][0]["deviation"]) > 0.0);
    assert_eq!(found["inferred"], Value::Null);
    assert_eq!(found["quantities"][0]["inferred_deviation"], Value::Null);
    let output = folder.bethe(&["solve", "q.json", "--covariance"]);
    assert_eq!(output.status.code(), Some(3));
    assert!(!String::from_utf8(output.stdout).unwrap().contains("covariance"));
}

#[test]
fn what_cannot_be_asked_for_is_refused() {
    let plain = r#"{"variables": [2, 2]}"#;
    let folder = Folder::new().with("p.json", CONVEX).with("plain.json", plain);
    for (arguments, expected) in [
        (
            &["p.json", "--covariance", "--oracle", "trw"][..],
            "--covariance needs --oracle exact or auto, found trw: pseudo-marginals have no \
             covariance",
        ),
        (
            &["p.json", "--covariance", "--format", "mar"],
            "--covariance needs --format json, found --format mar",
        ),
        (
            &["p.json", "--covariance", "--solver", "rda", "--return", "average"],
            "--return average: found with --covariance, expected best or last: an average of \
             iterates has no tilt",
        ),
        (
            &["p.json", "--covariance=0,,1"],
            "--covariance: found \"0,,1\", expected names or numbers of variables with commas \
             between them, or nothing for all measurements",
        ),
        (
            &["p.json", "--covariance=0,rain"],
            "p.json: --covariance: found rain, expected a variable: its name, or a number below 3",
        ),
        (
            &["plain.json", "--covariance"],
            "plain.json: --covariance: found no measurement, expected one, or \
             --covariance=VARIABLES",
        ),
    ] {
        assert_eq!(folder.refusal(&[&["solve"], arguments].concat()), expected);
    }
}
