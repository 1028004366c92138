//! The problem file: what is read is what is written, and the docs' examples are true.

use bethe_core::problem::file::{EnergiesFile, WriteError};
use bethe_core::{
    Curvature, CustomEnergy, Energy, Model, Names, Norm, Penalty, Problem, Term, Variable,
};
use proptest::prelude::*;
use serde_json::Value;

const DOCS: &str = include_str!("../../../docs/reference/problem-file.md");
const SCHEMA: &str = include_str!("../../../docs/reference/problem.schema.json");

/// Everything that makes two problems different, spelled out.
fn spelled(problem: &Problem) -> String {
    format!("{:?} {:?}", problem.model(), problem.energies())
}

fn named(name: &str, states: &[&str]) -> Variable {
    let states: Vec<String> = states.iter().map(ToString::to_string).collect();
    Variable {
        cardinality: states.len(),
        names: Some(Names { variable: name.to_string(), states }),
    }
}

#[test]
fn writing_and_reading_gives_the_same_problem() {
    let mut model = Model::new(&[2, 3]).unwrap();
    model.add_variable(named("y \"0\"", &["a", "ü"])).unwrap();
    model
        .add_factor(&[1, 0], &[0.1, 1.0 / 3.0, f64::NEG_INFINITY, 1e-300, -1e300, 5e-324])
        .unwrap();
    model.add_factor(&[2], &[0.1 + 0.2, -0.0]).unwrap();
    model.add_factor(&[], &[1.5]).unwrap();
    model.observe(2, 1).unwrap();
    model.observe(0, 0).unwrap();
    let term = |scope: Vec<usize>, coefficients: Vec<f64>| Term { scope, coefficients };
    let penalties = [
        Penalty::Linear,
        Penalty::Hinge,
        Penalty::SmoothedHinge,
        Penalty::Squared,
        Penalty::Absolute,
        Penalty::Huber { delta: 0.3 },
        Penalty::Poisson { rate: 20.0, count: 7.0 },
        Penalty::AtMost,
        Penalty::Equal,
    ];
    let mut energies: Vec<Energy> = penalties
        .into_iter()
        .map(|penalty| Energy::Measurement {
            weight: if penalty.is_hard() { 1.0 } else { -2.5 },
            penalty,
            offset: 0.7,
            terms: vec![term(vec![0], vec![0.1, 0.2]), term(vec![0, 2], vec![1.0, 2.0, 3.0, 4.0])],
        })
        .collect();
    energies.push(Energy::Product { scope: vec![0, 2], log_potentials: vec![1.0, 0.0, 0.0, 1.0] });
    for (penalty, weight) in [(Penalty::Squared, 0.3), (Penalty::Equal, 1.0)] {
        let (scope, target) = (vec![2, 0], vec![0.1, 0.2, 0.3, 1.0 / 3.0]);
        energies.push(Energy::TableMeasurement { weight, penalty, scope, target, total: 700.5 });
    }
    for (norm, cap) in [(Norm::L1, None), (Norm::Huber(0.1), Some(2.0))] {
        energies.push(Energy::Nearest {
            weight: 1.5,
            norm,
            cap,
            measurements: vec![vec![term(vec![1], vec![1.0, 0.0, 0.0])], vec![]],
            points: vec![vec![1.0, 0.0], vec![0.0, 0.5]],
        });
    }
    let problem = Problem::new(model, energies).unwrap();
    let json = problem.to_json().unwrap();
    let back = Problem::from_json(json.as_bytes()).unwrap();
    assert_eq!(spelled(&problem), spelled(&back));
    assert_eq!(json, back.to_json().unwrap());
}

proptest! {
    #[test]
    fn every_finite_number_survives_bit_for_bit(values in prop::collection::vec(any::<f64>(), 2)) {
        prop_assume!(values.iter().all(|v| v.is_finite()));
        let mut model = Model::new(&[2]).unwrap();
        model.add_factor(&[0], &values).unwrap();
        let json = Problem::new(model, Vec::new()).unwrap().to_json().unwrap();
        let back = Problem::from_json(json.as_bytes()).unwrap();
        let bits = |v: &[f64]| v.iter().map(|v| v.to_bits()).collect::<Vec<u64>>();
        prop_assert_eq!(bits(&back.model().factors()[0].log_potentials), bits(&values));
    }
}

#[test]
fn what_a_file_cannot_hold_is_not_written() {
    let custom = CustomEnergy::new(vec![vec![0]], Curvature::Unknown, |m, _| m[0]);
    let problem = Problem::new(Model::new(&[2]).unwrap(), vec![Energy::Custom(custom)]).unwrap();
    assert_eq!(problem.to_json(), Err(WriteError::Custom { index: 0 }));

    let mut model = Model::new(&[2]).unwrap();
    model.add_variable(named("0", &["a", "b"])).unwrap();
    model.observe(0, 1).unwrap();
    let problem = Problem::new(model, Vec::new()).unwrap();
    assert_eq!(problem.to_json(), Err(WriteError::AmbiguousEvidence { variable: 0 }));
}

#[test]
fn energies_of_a_file_are_added_to_those_of_the_problem() {
    let mut problem = Problem::from_json(
        br#"{"variables": [2, {"name": "x", "states": ["a", "b"]}],
             "energies": [{"kind": "product", "scope": [0], "log_potentials": [1, 2]}]}"#,
    )
    .unwrap();
    let file = EnergiesFile::from_json(
        br#"{"energies": [{"kind": "product", "scope": ["x"], "log_potentials": [3, 4]}]}"#,
    )
    .unwrap();
    problem.add_energies(&file).unwrap();
    let Energy::Product { scope, log_potentials } = &problem.energies()[1] else {
        panic!("{:?}", problem.energies());
    };
    assert_eq!((scope.as_slice(), log_potentials.as_slice()), (&[1][..], &[3.0, 4.0][..]));
    let other = Problem::from_json(br#"{"variables": [2]}"#).unwrap();
    let mistake = other.clone().add_energies(&file).unwrap_err().to_string();
    assert_eq!(mistake, r#"energies[0].scope[0]: found "x", expected the name of a variable"#);
}

fn documented_examples() -> impl Iterator<Item = &'static str> {
    DOCS.split("```json\n").skip(1).map(|rest| rest.split("```").next().unwrap())
}

#[test]
fn the_examples_of_the_docs_are_solved() {
    assert!(documented_examples().count() >= 5);
    for example in documented_examples() {
        let problem = Problem::from_json(example.as_bytes()).unwrap_or_else(|e| panic!("{e}"));
        let answer = problem.solve().unwrap();
        assert!(["converged", "stationary"].contains(&answer.status.name()), "{example}");
    }
}

/// The fields that the reader lists when it meets one that it does not know.
fn known_fields(json: &str) -> Vec<String> {
    let message = Problem::from_json(json.as_bytes()).unwrap_err().to_string();
    let (_, list) = message.split_once("expected ").unwrap();
    let list = list.trim_start_matches("one of ").trim_end_matches(" only").replace(" or ", ", ");
    let mut fields: Vec<String> = list.split(", ").map(ToString::to_string).collect();
    fields.sort();
    fields
}

#[test]
fn the_schema_has_the_fields_that_the_reader_knows() {
    let schema: Value = serde_json::from_str(SCHEMA).unwrap();
    let defs = &schema["$defs"];
    let penalty = |i: usize| &defs["penalty"]["oneOf"][i];
    let energy = |inner: &str| format!(r#"{{"variables": [2], "energies": [{{{inner}}}]}}"#);
    let with_penalty = |inner: &str| {
        energy(&format!(r#""kind": "measurement", "terms": [], "penalty": {{{inner}}}"#))
    };
    let cases = [
        (&schema, r#"{"variables": [], "?": 0}"#.to_string()),
        (&defs["named_variable"], r#"{"variables": [{"?": 0}]}"#.to_string()),
        (&defs["factor"], r#"{"variables": [], "factors": [{"?": 0}]}"#.to_string()),
        (&defs["term"], energy(r#""kind": "measurement", "terms": [{"?": 0}]"#)),
        (&defs["measurement"], energy(r#""kind": "measurement", "cap": 1"#)),
        (&defs["product"], energy(r#""kind": "product", "cap": 1"#)),
        (&defs["nearest"], energy(r#""kind": "nearest", "offset": 1"#)),
        (penalty(0), with_penalty(r#""kind": "hinge", "delta": 1"#)),
        (penalty(1), with_penalty(r#""kind": "huber", "delta": 1, "rate": 1"#)),
        (penalty(2), with_penalty(r#""kind": "poisson", "delta": 1, "rate": 1, "count": 1"#)),
    ];
    for (schema, json) in cases {
        let mut stated: Vec<String> =
            schema["properties"].as_object().unwrap().keys().cloned().collect();
        stated.sort();
        assert_eq!(known_fields(&json), stated, "{json}");
    }
}

#[test]
fn an_answer_has_the_stated_order_and_axes() {
    let problem = Problem::from_json(
        br#"{"variables": [2, 3, 1],
             "factors": [{"scope": [1, 2, 0], "log_potentials": [0, 1, 2, 3, 4, 5]},
                         {"scope": [2], "log_potentials": [7]},
                         {"scope": [0, 1], "log_potentials": [0, 0, 0, 0, 0, null]}]}"#,
    )
    .unwrap();
    let answer = problem.solve().unwrap();
    let scopes: Vec<&[usize]> = answer.marginals.iter().map(|m| &m.scope[..]).collect();
    assert_eq!(scopes, [&[0][..], &[1], &[2], &[1, 2, 0], &[2], &[0, 1]]);
    let scores = [0f64, 1.0, 2.0, 3.0, 4.0];
    let total: f64 = scores.iter().map(|s| s.exp()).sum();
    for (cell, score) in scores.iter().enumerate() {
        let expected = score.exp() / total;
        let (y1, y0) = (cell / 2, cell % 2);
        assert!((answer.marginals[3].values[cell] - expected).abs() < 1e-12);
        assert!((answer.marginals[5].values[3 * y0 + y1] - expected).abs() < 1e-12);
    }
    assert_eq!(answer.marginals[3].values[5], 0.0);
    assert_eq!(answer.marginals[4].values, [1.0]);
    assert_eq!(answer.map.assignment, [0, 2, 0]);
    assert!((answer.map.log_score - 11.0).abs() < 1e-12);
    assert!((answer.log_partition - (total.ln() + 7.0)).abs() < 1e-12);
}
