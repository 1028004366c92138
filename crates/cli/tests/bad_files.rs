//! Every way a file can be wrong: a right one is broken in one place, and the message is checked.

mod common;

use common::{EXAMPLE, Folder, error};

/// An energy of the example, to be replaced by one of another kind.
const PRODUCT: &str =
    r#"{"kind": "product", "scope": [0, 2], "log_potentials": [1, 0, 0, 1, 0, 0]}"#;

/// What is replaced in the example of the design page, by what, and the message without the file.
#[rustfmt::skip] // one line per mistake
const BROKEN: &[(&str, &str, &str)] = &[
    // The text.
    (r#""variables": [3, 3, 2],"#, r#""variables": [3, 3, 2,],"#, "line 2, column 25: found `]` after a comma, expected a value"),
    (r#""variables": [3, 3, 2],"#, r#""variables": [3, 3, 2]"#, r#"line 3, column 3: found `"`, expected `,` or `}`"#),
    (r#""variables": [3, 3, 2],"#, "variables: [3, 3, 2],", "line 2, column 3: found `v`, expected a key in double quotes"),
    (r#""variables": [3, 3, 2],"#, r#""variables" [3, 3, 2],"#, "line 2, column 15: found `[`, expected `:`"),
    ("0, null]", "0, nil]", "line 5, column 69: found `i`, expected true, false or null"),
    ("0, null]", "0, NaN]", "line 5, column 68: found `N`, expected a value"),
    ("0, null]", "0, -Infinity]", "line 5, column 69: found `I`, expected a number"),
    ("\"points\": [[1.0], [0.0]]}\n  ]\n}", "\"points\": [[1.0], [0.0]]}\n", "line 12, column 153: found the end of the text in a list, expected `]`"),
    ("\"points\": [[1.0], [0.0]]}\n  ]\n}", "\"points\": [[1.0], [0.0]]}\n  ]\n}}", "line 14, column 2: found `}`, expected nothing after the end of the object"),
    // The whole.
    (r#""evidence""#, r#""observed""#, r#"found the unknown field "observed", expected one of variables, factors, evidence, energies"#),
    (r#""variables": [3, 3, 2],"#, "", r#"found no field "variables", expected one"#),
    (r#""variables": [3, 3, 2],"#, r#""variables": [3, 3, 2], "variables": [3, 3, 2],"#, r#"found the field "variables" twice, expected it once"#),
    (r#""variables": [3, 3, 2],"#, r#""variables": 3,"#, "variables: found 3, expected a list"),
    // Variables.
    ("[3, 3, 2]", "[3, 3, 0]", "variables[2]: variable 2 has 0 states, expected at least 1"),
    ("[3, 3, 2]", "[3, 3, -2]", "variables[2]: found -2, expected a number of states or an object with name and states"),
    ("[3, 3, 2]", "[3, 3, 2.5]", "variables[2]: found 2.5, expected a number of states or an object with name and states"),
    ("[3, 3, 2]", r#"[3, 3, "2"]"#, r#"variables[2]: found "2", expected a number of states or an object with name and states"#),
    ("[3, 3, 2]", "[3, 3, null]", "variables[2]: found null, expected a number of states or an object with name and states"),
    ("[3, 3, 2]", r#"[3, 3, {"name": "z"}]"#, r#"variables[2]: found no field "states", expected one"#),
    ("[3, 3, 2]", r#"[3, 3, {"states": ["a", "b"]}]"#, r#"variables[2]: found no field "name", expected one"#),
    ("[3, 3, 2]", r#"[3, 3, {"name": "z", "states": 2}]"#, "variables[2].states: found 2, expected a list"),
    ("[3, 3, 2]", r#"[3, 3, {"name": 7, "states": []}]"#, "variables[2].name: found 7, expected a string"),
    ("[3, 3, 2]", r#"[3, 3, {"name": "z", "states": []}]"#, "variables[2].states: variable 2 has 0 states, expected at least 1"),
    ("[3, 3, 2]", r#"[3, 3, {"name": "z", "states": ["a", "a"]}]"#, r#"variables[2].states: the name "a" is used twice, expected distinct names"#),
    ("[3, 3, 2]", r#"[3, {"name": "z", "states": ["a", "b", "c"]}, {"name": "z", "states": ["a", "b"]}]"#, r#"variables[2].name: the name "z" is used twice, expected distinct names"#),
    ("[3, 3, 2]", r#"[3, 3, {"name": "z", "states": ["a", "b"], "size": 2}]"#, r#"variables[2]: found the unknown field "size", expected name or states"#),
    ("[3, 3, 2]", "[3, 3, 2, 1000000000000]", "found 1.000e12 states over all variables, expected at most 33554432"),
    // Factors.
    (r#"{"scope": [0], "log_potentials": [0.1, -0.2, 0.0]}"#, "[[0], [0.1, -0.2, 0.0]]", "factors[0]: found a list, expected an object"),
    (r#"{"scope": [0], "log_potentials""#, r#"{"scope": [0], "potentials""#, r#"factors[0]: found the unknown field "potentials", expected scope or log_potentials"#),
    (r#"{"scope": [0], "log_potentials""#, r#"{"log_potentials""#, r#"factors[0]: found no field "scope", expected one"#),
    (r#", "log_potentials": [0.1, -0.2, 0.0]"#, "", r#"factors[0]: found no field "log_potentials", expected one"#),
    ("[0.1, -0.2, 0.0]", "[0.1, -0.2]", "factors[0].log_potentials: found 2 numbers, expected 3"),
    ("[0.1, -0.2, 0.0]", "[0.1]", "factors[0].log_potentials: found 1 number, expected 3"),
    ("[0.1, -0.2, 0.0]", r#"[0.1, "x", 0.0]"#, r#"factors[0].log_potentials[1]: found "x", expected a number or null"#),
    ("[0.1, -0.2, 0.0]", "[0.1, [1], 0.0]", "factors[0].log_potentials[1]: found a list, expected a number or null"),
    ("[0.1, -0.2, 0.0]", "[0.1, 1e999, 0.0]", "factors[0].log_potentials[1]: found a number out of range, expected a finite number"),
    ("1, 0, null]}", "1, null]}", "factors[1].log_potentials: found 8 numbers, expected 9 (3 × 3)"),
    (r#"{"scope": [0, 1], "log_potentials""#, r#"{"scope": [0, 3], "log_potentials""#, "factors[1].scope[1]: found variable 3, expected an index below 3"),
    (r#"{"scope": [0, 1], "log_potentials""#, r#"{"scope": [0, 0], "log_potentials""#, "factors[1].scope[1]: found variable 0 a second time, expected each variable once"),
    (r#"{"scope": [0, 1], "log_potentials""#, r#"{"scope": [0, "y"], "log_potentials""#, r#"factors[1].scope[1]: found "y", expected the name of a variable"#),
    (r#"{"scope": [0, 1], "log_potentials""#, r#"{"scope": [0, 1.0], "log_potentials""#, "factors[1].scope[1]: found 1.0, expected an index or a name"),
    (r#"{"scope": [0, 1], "log_potentials""#, r#"{"scope": [0, -1], "log_potentials""#, "factors[1].scope[1]: found -1, expected an index or a name"),
    (r#"{"scope": [0, 1], "log_potentials""#, r#"{"scope": 0, "log_potentials""#, "factors[1].scope: found 0, expected a list"),
    ("[0.1, -0.2, 0.0]", "[null, null, null]", "every configuration is forbidden, expected at least one allowed"),
    ("[0.1, -0.2, 0.0]", r#"[1.7e308, 0, 0.0]}, {"scope": [0], "log_potentials": [1.7e308, 0, 0]"#, "log-potentials add up to more than 1e308, expected smaller numbers"),
    // Evidence.
    (r#"{"2": 1}"#, r#"{"2": 2}"#, "evidence.2: found state 2 of variable 2, expected an index below 2"),
    (r#"{"2": 1}"#, r#"{"3": 1}"#, "evidence.3: found variable 3, expected an index below 3"),
    (r#"{"2": 1}"#, r#"{"z": 1}"#, r#"evidence.z: found "z", expected the name of a variable or an index"#),
    (r#"{"2": 1}"#, r#"{"+2": 1}"#, r#"evidence.+2: found "+2", expected the name of a variable or an index"#),
    (r#"{"2": 1}"#, r#"{"2": "b"}"#, r#"evidence.2: found "b", expected an index: the variable's states have no names"#),
    (r#"{"2": 1}"#, r#"{"2": 1, "2": 1}"#, "evidence.2: found a second observation of variable 2, expected at most one"),
    (r#"{"2": 1}"#, r#"{"2": null}"#, "evidence.2: found null, expected an index or a name"),
    (r#"{"2": 1}"#, r#"{"2": [1]}"#, "evidence.2: found a list, expected an index or a name"),
    (r#"{"2": 1}"#, "[1]", "evidence: found a list, expected an object from variables to states"),
    // Energies of any kind.
    (r#""kind": "measurement""#, r#""kind": "measure""#, r#"energies[0].kind: found "measure", expected one of measurement, table_measurement, product, nearest"#),
    (r#"{"kind": "measurement", "weight""#, r#"{"weight""#, r#"energies[0]: found no field "kind", expected one"#),
    (r#""kind": "measurement""#, r#""kind": 1"#, "energies[0].kind: found 1, expected a string"),
    (r#""kind": "measurement""#, r#""kind": "measurement", "scale": 1"#, r#"energies[0]: found the unknown field "scale", expected one of kind, weight, penalty, offset, terms, scope, log_potentials, target, total, norm, cap, measurements, points"#),
    // Tables of measurements.
    (PRODUCT, r#"{"kind": "table_measurement", "scope": [0], "target": [0, 0, 1]}"#, r#"energies[1]: found no field "penalty", expected one"#),
    (PRODUCT, r#"{"kind": "table_measurement", "penalty": {"kind": "squared"}, "target": [0, 0, 1]}"#, r#"energies[1]: found no field "scope", expected one"#),
    (PRODUCT, r#"{"kind": "table_measurement", "penalty": {"kind": "squared"}, "scope": [0]}"#, r#"energies[1]: found no field "target", expected one"#),
    (PRODUCT, r#"{"kind": "table_measurement", "penalty": {"kind": "squared"}, "scope": [0], "target": [0, 1]}"#, "energies[1].target: found 2 numbers, expected 3"),
    (PRODUCT, r#"{"kind": "table_measurement", "penalty": {"kind": "squared"}, "scope": [0], "target": [0, 1, null]}"#, "energies[1].target[2]: found null, expected a number"),
    (PRODUCT, r#"{"kind": "table_measurement", "penalty": {"kind": "squared"}, "scope": [3], "target": [0, 1]}"#, "energies[1].scope[0]: found variable 3, expected an index below 3"),
    (PRODUCT, r#"{"kind": "table_measurement", "penalty": {"kind": "squared"}, "scope": [0], "target": [0, 0, 1], "total": 0}"#, "energies[1].total: found 0, expected a positive number"),
    (PRODUCT, r#"{"kind": "table_measurement", "penalty": {"kind": "squared"}, "scope": [0], "target": [0, 0, 1], "offset": 1}"#, r#"energies[1]: found the unknown field "offset", expected one of kind, weight, penalty, scope, target, total"#),
    (PRODUCT, r#"{"kind": "table_measurement", "penalty": {"kind": "equal"}, "weight": 2, "scope": [0], "target": [0, 0, 1]}"#, r#"energies[1].weight: found a weight on the hard penalty "equal", expected none"#),
    // Measurements.
    (r#""offset": 0.0"#, r#""cap": 0.0"#, r#"energies[0]: found the unknown field "cap", expected one of kind, weight, penalty, offset, terms"#),
    (r#""weight": 2.0"#, r#""weight": "2""#, r#"energies[0].weight: found "2", expected a number"#),
    (r#""weight": 2.0"#, r#""weight": null"#, "energies[0].weight: found null, expected a number"),
    (r#""offset": 0.0"#, r#""offset": 1e400"#, "energies[0].offset: found a number out of range, expected a finite number"),
    (r#""penalty": {"kind": "smoothed_hinge"}, "#, "", r#"energies[0]: found no field "penalty", expected one"#),
    (r#"{"kind": "smoothed_hinge"}"#, r#""smoothed_hinge""#, r#"energies[0].penalty: found "smoothed_hinge", expected an object such as {"kind": "hinge"}"#),
    (r#"{"kind": "smoothed_hinge"}"#, "{}", r#"energies[0].penalty: found no field "kind", expected one"#),
    (r#"{"kind": "smoothed_hinge"}"#, r#"{"kind": "smooth"}"#, r#"energies[0].penalty.kind: found "smooth", expected one of linear, hinge, smoothed_hinge, squared, absolute, huber, poisson, at_most, equal"#),
    (r#"{"kind": "smoothed_hinge"}"#, r#"{"kind": "smoothed_hinge", "delta": 1}"#, r#"energies[0].penalty: found the unknown field "delta", expected kind only"#),
    (r#"{"kind": "smoothed_hinge"}"#, r#"{"kind": "smoothed_hinge", "width": 1}"#, r#"energies[0].penalty: found the unknown field "width", expected one of kind, delta, rate, count"#),
    (r#"{"kind": "smoothed_hinge"}"#, r#"{"kind": "huber"}"#, r#"energies[0].penalty: found no field "delta", expected one"#),
    (r#"{"kind": "smoothed_hinge"}"#, r#"{"kind": "huber", "delta": 0}"#, "energies[0].penalty.delta: found 0, expected a positive number"),
    (r#"{"kind": "smoothed_hinge"}"#, r#"{"kind": "poisson", "count": 1}"#, r#"energies[0].penalty: found no field "rate", expected one"#),
    (r#"{"kind": "smoothed_hinge"}"#, r#"{"kind": "poisson", "rate": 1}"#, r#"energies[0].penalty: found no field "count", expected one"#),
    (r#"{"kind": "smoothed_hinge"}"#, r#"{"kind": "poisson", "rate": -1, "count": 1}"#, "energies[0].penalty.rate: found -1, expected a positive number"),
    (r#"{"kind": "smoothed_hinge"}"#, r#"{"kind": "poisson", "rate": 1, "count": -1}"#, "energies[0].penalty.count: found -1, expected a number that is not negative"),
    (r#"{"kind": "smoothed_hinge"}"#, r#"{"kind": "at_most"}"#, r#"energies[0].weight: found a weight on the hard penalty "at_most", expected none"#),
    (r#"{"kind": "smoothed_hinge"}"#, r#"{"kind": "equal"}"#, r#"energies[0].weight: found a weight on the hard penalty "equal", expected none"#),
    (r#""terms": [{"scope": [0],"#, r#""terms": [{"#, r#"energies[0].terms[0]: found no field "scope", expected one"#),
    (r#""terms": [{"scope": [0],"#, r#""terms": [{"scope": [9],"#, "energies[0].terms[0].scope[0]: found variable 9, expected an index below 3"),
    (r#""coefficients": [0, 1, 0]}"#, r#""coefficients": [0, 1]}"#, "energies[0].terms[0].coefficients: found 2 numbers, expected 3"),
    (r#""coefficients": [0, 1, 0]}"#, r#""coefficients": [0, null, 0]}"#, "energies[0].terms[0].coefficients[1]: found null, expected a number"),
    ("[0, 1, 0, 0, 0, 0, 0, 0, 0]", "[0, 1, 0, 0, 0, 0, 0, 0]", "energies[0].terms[1].coefficients: found 8 numbers, expected 9 (3 × 3)"),
    (r#"{"scope": [0, 1], "coefficients""#, r#"{"scope": [1, 1], "coefficients""#, "energies[0].terms[1].scope[1]: found variable 1 a second time, expected each variable once"),
    // Products.
    (r#"{"kind": "product", "#, r#"{"kind": "product", "weight": 1, "#, r#"energies[1]: found the unknown field "weight", expected one of kind, scope, log_potentials"#),
    (r#""scope": [0, 2], "#, "", r#"energies[1]: found no field "scope", expected one"#),
    (r#", "log_potentials": [1, 0, 0, 1, 0, 0]"#, "", r#"energies[1]: found no field "log_potentials", expected one"#),
    ("[1, 0, 0, 1, 0, 0]", "[1, 0, 0, 1, 0]", "energies[1].log_potentials: found 5 numbers, expected 6 (3 × 2)"),
    ("[1, 0, 0, 1, 0, 0]", "[1, 0, 0, 1, 0, null]", "energies[1].log_potentials[5]: found null, expected a number"),
    (r#""scope": [0, 2]"#, r#""scope": [2, 2]"#, "energies[1].scope[1]: found variable 2 a second time, expected each variable once"),
    // Nearest.
    (r#""norm": "l1""#, r#""norm": "l2""#, r#"energies[2].norm: found "l2", expected one of "l1", {"huber": δ}"#),
    (r#""norm": "l1""#, r#""norm": 1"#, r#"energies[2].norm: found 1, expected "l1" or an object with huber"#),
    (r#""norm": "l1""#, r#""norm": {"huber": 0}"#, "energies[2].norm.huber: found 0, expected a positive number"),
    (r#""norm": "l1""#, r#""norm": {"hubert": 1}"#, r#"energies[2].norm: found the unknown field "hubert", expected huber"#),
    (r#""norm": "l1""#, r#""cap": -1"#, "energies[2].cap: found -1, expected a number that is not negative"),
    (r#""norm": "l1""#, r#""offset": 1"#, r#"energies[2]: found the unknown field "offset", expected one of kind, weight, norm, cap, measurements, points"#),
    (r#", "points": [[1.0], [0.0]]"#, "", r#"energies[2]: found no field "points", expected one"#),
    (r#""points": [[1.0], [0.0]]"#, r#""points": []"#, "energies[2].points: found no point, expected at least one"),
    (r#""points": [[1.0], [0.0]]"#, r#""points": [[1.0], [0.0, 1.0]]"#, "energies[2].points[1]: found 2 coordinates, expected 1, one per measurement"),
    (r#""points": [[1.0], [0.0]]"#, r#""points": [[1.0], [null]]"#, "energies[2].points[1][0]: found null, expected a number"),
    (r#"[{"terms": [{"scope": [1], "coefficients": [1, 0, 0]}]}]"#, r#"[{"terms": [{"scope": [1], "coefficients": [1, 0]}]}]"#, "energies[2].measurements[0].terms[0].coefficients: found 2 numbers, expected 3"),
    (r#"[{"terms": [{"scope": [1], "coefficients": [1, 0, 0]}]}]"#, "[{}]", r#"energies[2].measurements[0]: found no field "terms", expected one"#),
];

#[test]
fn every_mistake_is_one_message_with_its_place() {
    let mut wrong = Vec::new();
    for (from, to, expected) in BROKEN {
        assert!(EXAMPLE.contains(from), "nothing to break: {from}");
        let folder = Folder::new().with("problem.json", &EXAMPLE.replacen(from, to, 1));
        for command in ["solve", "check"] {
            let message = folder.refusal(&[command, "problem.json"]);
            let expected = format!("problem.json: {expected}");
            if message != expected {
                wrong.push(format!("{to}\n   found    {message}\n   expected {expected}"));
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn texts_that_are_no_object_are_refused() {
    for (text, expected) in [
        ("", "the file is empty, expected a problem"),
        ("\n", "the file is empty, expected a problem"),
        ("{", "line 1, column 1: found the end of the text in an object, expected `}`"),
        ("[1]", "found a list, expected an object"),
        ("7", "found 7, expected an object"),
        ("null", "found null, expected an object"),
    ] {
        let folder = Folder::new().with("p.json", text);
        assert_eq!(folder.refusal(&["solve", "p.json"]), format!("p.json: {expected}"));
    }
}

#[test]
fn state_names_are_listed_when_one_is_unknown() {
    let text = r#"{"variables": [{"name": "a", "states": ["x", "y"]}], "evidence": {"a": "z"}}"#;
    let folder = Folder::new().with("p.json", text);
    let expected = r#"p.json: evidence.a: found "z", expected one of x, y"#;
    assert_eq!(folder.refusal(&["solve", "p.json"]), expected);
    let twice = text.replace(r#"{"a": "z"}"#, r#"{"a": "x", "0": "x"}"#);
    let folder = Folder::new().with("p.json", &twice);
    let expected =
        r#"p.json: evidence.0: found a second observation of variable "a", expected at most one"#;
    assert_eq!(folder.refusal(&["solve", "p.json"]), expected);
}

#[test]
fn missing_and_unsupported_files_are_named() {
    let folder = Folder::new().with("p.txt", "{}").with("x.evid", "0");
    assert!(
        folder.refusal(&["solve", "none.json"]).starts_with("none.json: there is no such file")
    );
    let expected = "expected a .json, .jsonl or .uai file, or - for standard input";
    for (file, found, advice) in [
        (
            "x.evid",
            "UAI evidence (.evid)",
            "; evidence goes with a model: MODEL.uai --evidence x.evid",
        ),
        ("p.txt", "an unknown kind of file (.txt)", ""),
    ] {
        let message = format!("{file}: found {found}, {expected}{advice}");
        assert_eq!(folder.refusal(&["solve", file]), message);
    }
}

#[test]
fn a_model_too_wide_is_refused_before_it_is_built() {
    let variables = vec!["2"; 40].join(", ");
    let pairs = (0..40).flat_map(|i| (i + 1..40).map(move |j| (i, j)));
    let factors: Vec<String> = pairs
        .map(|(i, j)| format!(r#"{{"scope": [{i}, {j}], "log_potentials": [1, 0, 0, 1]}}"#))
        .collect();
    let text = format!(r#"{{"variables": [{variables}], "factors": [{}]}}"#, factors.join(", "));
    let folder = Folder::new().with("p.json", &text);
    let message = folder.refusal(&["solve", "p.json", "--oracle", "exact"]);
    assert!(message.starts_with("p.json: the model is too wide for exact inference"), "{message}");
    assert!(message.contains("40 variables") && message.contains("GiB"), "{message}");
}

#[test]
fn bytes_that_are_no_text_are_refused() {
    let folder = Folder::new();
    std::fs::write(folder.path("p.json"), b"{\"variables\": [\xff]}").unwrap();
    let message = folder.refusal(&["solve", "p.json"]);
    assert!(message.starts_with("p.json: line 1, column 16: found"), "{message}");
    let output = folder.bethe(&["solve", "p.json", "--quiet"]);
    assert!(!error(&output).contains("panicked"));
}
