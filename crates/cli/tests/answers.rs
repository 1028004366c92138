//! What `bethe solve` prints.

mod common;

use common::{CONVEX, EXAMPLE, Folder, INFEASIBLE, close, numbers, one};
use serde_json::{Value, json};

#[test]
fn the_example_of_the_design_page_is_answered_field_by_field() {
    let folder = Folder::new().with("problem.json", EXAMPLE);
    let output = folder.bethe(&["solve", "problem.json"]);
    assert_eq!(output.status.code(), Some(0));
    let text = String::from_utf8(output.stdout.clone()).unwrap();
    let fields = [
        "status",
        "solver",
        "oracle",
        "memory_estimate",
        "entropy",
        "iterations",
        "oracle_calls",
        "products",
        "seconds",
        "objective",
        "lower_bound",
        "gap",
        "marginal_error_bound",
        "returned",
        "log_partition",
        "base_log_partition",
        "marginals",
        "map",
        "energies",
    ];
    let places: Vec<usize> =
        fields.iter().map(|field| text.find(&format!("\"{field}\":")).expect(field)).collect();
    assert!(places.is_sorted(), "fields are out of order: {text}");
    assert_eq!(text.lines().count(), 1);

    let answer = one(&output);
    assert_eq!(answer.as_object().unwrap().len(), fields.len());
    assert_eq!(answer["status"], "stationary");
    assert_eq!(answer["entropy"], "exact");
    assert_eq!(answer["gap"], Value::Null);
    assert_eq!(answer["lower_bound"], Value::Null);
    assert_eq!(answer["marginal_error_bound"], Value::Null);
    let scopes: Vec<&Value> =
        answer["marginals"].as_array().unwrap().iter().map(|m| &m["scope"]).collect();
    assert_eq!(scopes, [&json!([0]), &json!([1]), &json!([2]), &json!([0]), &json!([0, 1])]);
    for marginal in answer["marginals"].as_array().unwrap() {
        let sum: f64 = numbers(&marginal["values"]).iter().sum();
        assert!((sum - 1.0).abs() < 1e-9);
    }
    assert_eq!(answer["marginals"][2]["values"], json!([0.0, 1.0]));
    assert_eq!(answer["marginals"][4]["values"][8], json!(0.0));
    assert_eq!(answer["map"]["assignment"], json!([1, 2, 1]));
    assert_eq!(answer["energies"].as_array().unwrap().len(), 3);
    // The energies' values and F at the marginals must fit together: F = −H − ⟨θ, μ⟩ + L.
    let joint = numbers(&answer["marginals"][4]["values"]);
    let theta = [0.1, 1.1, 0.1, -0.2, -0.2, 1.8, 1.0, 0.0, 0.0];
    let base: f64 =
        joint.iter().zip(theta).filter(|(p, _)| **p > 0.0).map(|(p, t)| p * (p.ln() - t)).sum();
    let energies: f64 =
        answer["energies"].as_array().unwrap().iter().map(|e| e["value"].as_f64().unwrap()).sum();
    assert!(close(&answer["objective"], base + energies, 1e-9));
}

#[test]
fn a_convex_answer_carries_its_certificate() {
    let folder = Folder::new().with("p.json", CONVEX);
    let answer = folder.answer(&["solve", "p.json", "--tolerance", "1e-8"]);
    assert_eq!(answer["status"], "converged");
    assert_eq!(answer["solver"], "dual");
    let gap = answer["gap"].as_f64().unwrap();
    let objective = answer["objective"].as_f64().unwrap();
    assert!((0.0..=1e-8 * objective.abs().max(1.0)).contains(&gap));
    assert!(close(&answer["marginal_error_bound"], (gap / 2.0).sqrt(), 1e-15));
    assert!(answer["lower_bound"].as_f64().unwrap() <= objective);
}

#[test]
fn without_energies_it_is_plain_inference() {
    let folder = Folder::new().with(
        "p.json",
        r#"{"variables": [2], "factors": [{"scope": [0], "log_potentials": [0, 1.0986122886681098]}]}"#,
    );
    let answer = folder.answer(&["solve", "p.json"]);
    assert_eq!(answer["log_partition"], answer["base_log_partition"]);
    assert!(close(&answer["log_partition"], 4f64.ln(), 1e-12));
    assert!(close(&answer["objective"], -(4f64.ln()), 1e-12));
    assert!(close(&answer["marginals"][0]["values"][1], 0.75, 1e-12));
    assert!(close(&answer["map"]["log_score"], 3f64.ln(), 1e-12));
    assert_eq!(answer["energies"], json!([]));
}

#[test]
fn names_come_back_where_they_were_given() {
    let folder = Folder::new().with(
        "p.json",
        r#"{"variables": [{"name": "word", "states": ["title", "author"]}, 2],
            "factors": [{"scope": [1, "word"], "log_potentials": [0, 3, 0, 0]}],
            "evidence": {"1": 0}}"#,
    );
    let answer = folder.answer(&["solve", "p.json"]);
    assert_eq!(answer["marginals"][0]["scope"], json!(["word"]));
    assert_eq!(answer["marginals"][1]["scope"], json!([1]));
    assert_eq!(answer["marginals"][2]["scope"], json!([1, "word"]));
    assert_eq!(answer["map"]["assignment"], json!(["author", 0]));
}

#[test]
fn evidence_by_index_and_by_name_say_the_same() {
    let variables = r#""variables": [{"name": "a", "states": ["x", "y"]}, 2]"#;
    let factors = r#""factors": [{"scope": [0, 1], "log_potentials": [1, 0, 0, 2]}]"#;
    let of = |evidence: &str| {
        let text = format!("{{{variables}, {factors}, \"evidence\": {{{evidence}}}}}");
        let mut answer = Folder::new().with("p.json", &text).answer(&["solve", "p.json"]);
        answer.as_object_mut().unwrap().remove("seconds");
        answer
    };
    let by_name = of(r#""a": "y""#);
    assert_eq!(by_name["marginals"][0]["values"], json!([0.0, 1.0]));
    assert_eq!(by_name, of(r#""a": 1"#));
    assert_eq!(by_name, of(r#""0": "y""#));
    assert_eq!(by_name, of(r#""0": 1"#));
}

#[test]
fn a_variable_may_be_named_like_a_number() {
    let folder = Folder::new().with(
        "p.json",
        r#"{"variables": [{"name": "1", "states": ["x", "y"]}, 2], "evidence": {"1": "y"}}"#,
    );
    let answer = folder.answer(&["solve", "p.json"]);
    assert_eq!(answer["marginals"][0]["values"], json!([0.0, 1.0]));
    assert_eq!(answer["marginals"][1]["values"], json!([0.5, 0.5]));
}

#[test]
fn infeasible_constraints_exit_with_3_and_an_answer() {
    let folder = Folder::new().with("p.json", INFEASIBLE);
    let output = folder.bethe(&["solve", "p.json"]);
    assert_eq!(output.status.code(), Some(3));
    let answer = one(&output);
    assert_eq!(answer["status"], "infeasible");
    for field in ["objective", "lower_bound", "gap", "marginal_error_bound"] {
        assert_eq!(answer[field], Value::Null, "{field}");
    }
    assert_eq!(answer["energies"], json!([{"value": null}]));
    assert!(answer["map"]["assignment"].is_array());
}

#[test]
fn a_hard_constraint_holds_in_expectation() {
    let folder = Folder::new().with("p.json", &INFEASIBLE.replace("-2", "-0.9"));
    let answer = folder.answer(&["solve", "p.json"]);
    assert_eq!(answer["status"], "converged");
    assert!(close(&answer["marginals"][0]["values"][1], 0.9, 1e-5));
}

#[test]
fn degenerate_models_are_answered() {
    let folder = Folder::new()
        .with("empty.json", r#"{"variables": []}"#)
        .with("constant.json", r#"{"variables": [], "factors": [{"scope": [], "log_potentials": [1.5]}]}"#)
        .with("one.json", r#"{"variables": [1, 1], "factors": [{"scope": [1, 0], "log_potentials": [2]}]}"#)
        .with("observed.json", r#"{"variables": [2], "evidence": {"0": 1}, "energies": [{"kind": "measurement", "weight": 2, "penalty": {"kind": "squared"}, "terms": [{"scope": [0], "coefficients": [0, 3]}]}]}"#);
    assert_eq!(folder.answer(&["solve", "empty.json"])["marginals"], json!([]));
    let constant = folder.answer(&["solve", "constant.json"]);
    assert!(close(&constant["log_partition"], 1.5, 0.0));
    assert_eq!(constant["marginals"], json!([{"scope": [], "values": [1.0]}]));
    let one = folder.answer(&["solve", "one.json"]);
    assert!(close(&one["map"]["log_score"], 2.0, 0.0));
    let observed = folder.answer(&["solve", "observed.json"]);
    assert!(close(&observed["energies"][0]["value"], 9.0, 1e-12));
    assert!(close(&observed["objective"], 9.0, 1e-9));
}

#[test]
fn tilted_potentials_and_multipliers_say_where_the_answer_comes_from() {
    let folder = Folder::new().with("p.json", CONVEX);
    let plain = folder.answer(&["solve", "p.json", "--tolerance", "1e-10"]);
    assert_eq!(plain.get("potentials"), None);
    let answer = folder.answer(&["solve", "p.json", "--tilt", "--tolerance", "1e-10"]);
    let potentials = answer["potentials"].as_array().unwrap();
    let scopes: Vec<&Value> = potentials.iter().map(|table| &table["scope"]).collect();
    assert_eq!(scopes, [&json!([0]), &json!([1]), &json!([2])]);

    // δ = −Σ λ_j a_j, and no factor is over one variable alone: θ + δ is δ.
    let multipliers: Vec<f64> =
        (0..2).map(|j| numbers(&answer["energies"][j]["multipliers"])[0]).collect();
    let expected =
        [vec![-multipliers[0], 0.0], vec![0.0, 0.0, -multipliers[1]], vec![0.0, -multipliers[1]]];
    for (table, expected) in potentials.iter().zip(&expected) {
        let found = numbers(&table["values"]);
        assert!(found.iter().zip(expected).all(|(f, e)| (f - e).abs() < 1e-9), "{found:?}");
    }
    // w·φ′(z) of the squared error.
    let first = numbers(&answer["marginals"][0]["values"]);
    assert!((multipliers[0] - 4.0 * (first[0] - 0.9)).abs() < 1e-4, "{multipliers:?}");

    // Plain inference with the potentials added.
    let mut problem: Value = serde_json::from_str(CONVEX).unwrap();
    problem["energies"] = json!([]);
    for table in potentials {
        let factor = json!({"scope": table["scope"], "log_potentials": table["values"]});
        problem["factors"].as_array_mut().unwrap().push(factor);
    }
    let folder = Folder::new().with("q.json", &problem.to_string());
    let again = folder.answer(&["solve", "q.json"]);
    for variable in 0..3 {
        let [a, b] = [&again, &answer].map(|a| numbers(&a["marginals"][variable]["values"]));
        assert!(a.iter().zip(&b).all(|(a, b)| (a - b).abs() < 1e-9));
    }
}

#[test]
fn energies_that_are_no_measurements_have_no_multipliers() {
    let folder = Folder::new().with("problem.json", EXAMPLE);
    let answer = folder.answer(&["solve", "problem.json"]);
    assert_eq!(answer["solver"], "alternating");
    assert_eq!(numbers(&answer["energies"][0]["multipliers"]).len(), 1);
    for energy in [&answer["energies"][1], &answer["energies"][2]] {
        assert!(energy["value"].is_number() && energy.get("multipliers").is_none(), "{energy}");
    }
}

/// Items of weight 3, 2 and 2 in a bag for 5: no price per weight tells which to take.
const BAG: &str = r#"{"variables": [{"name": "map", "states": ["out", "in"]}, 2, 2],
    "factors": [{"scope": [0], "log_potentials": [0, 6]}, {"scope": [1], "log_potentials": [0, 5]}, {"scope": [2], "log_potentials": [0, 5]}],
    "energies": [{"kind": "measurement", "penalty": {"kind": "at_most"}, "offset": -5, "terms": [
        {"scope": [0], "coefficients": [0, 3]}, {"scope": [1], "coefficients": [0, 2]}, {"scope": [2], "coefficients": [0, 2]}]}]}"#;

#[test]
fn map_keeps_hard_rules_and_says_whether_it_is_proved() {
    let impossible = BAG.replace("\"at_most\"", "\"equal\"").replace("-5", "-6");
    let folder = Folder::new().with("bag.json", BAG).with("impossible.json", &impossible);
    let answer = folder.answer(&["solve", "bag.json"]);
    let map = &answer["map"];
    let keys: Vec<&str> = map.as_object().unwrap().keys().map(String::as_str).collect();
    assert_eq!(keys, ["assignment", "bound", "log_score", "proved", "violated"]);
    assert_eq!(map["assignment"][0], "in");
    assert_eq!((&map["log_score"], &map["bound"]), (&json!(11.0), &json!(11.0)));
    assert_eq!((&map["proved"], &map["violated"]), (&json!(true), &json!([])));

    let map = &folder.answer(&["solve", "bag.json", "--map-budget", "0"])["map"];
    assert_eq!((&map["proved"], &map["violated"]), (&json!(false), &json!([])));
    assert!(map["bound"].as_f64().unwrap() >= 11.0, "{map}");

    // Six can be had on average only.
    let answer = folder.answer(&["solve", "impossible.json"]);
    assert_eq!(answer["status"], "converged");
    assert_eq!(answer["map"]["violated"], json!([0]));
    assert_eq!((&answer["map"]["proved"], &answer["map"]["bound"]), (&json!(true), &Value::Null));
}
