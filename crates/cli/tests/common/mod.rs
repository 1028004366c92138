//! Running the real binary on files in a folder of the test's own.

#![allow(dead_code, unused_imports)] // each test file uses its own part

#[path = "../../src/demo/citations.rs"]
pub mod citations;
mod folder;
#[path = "../../src/demo/random.rs"]
mod random;
#[path = "../../src/demo/records.rs"]
mod records;

use std::process::Output;

use serde_json::Value;

pub use folder::{Folder, error, numbers, text};
pub use records::records;

use folder::refused;

/// A template that trains in no time.
pub const TEMPLATE: &str =
    "Uword:%x[0,0]\nUbefore:%x[-1,0]\nUafter:%x[1,0]\nUoutline:%outline[0,0]\nUedge:%edge[0]\nB\n";

/// The example of the design page, as it stands there.
pub const EXAMPLE: &str = r#"{
  "variables": [3, 3, 2],
  "factors": [
    {"scope": [0], "log_potentials": [0.1, -0.2, 0.0]},
    {"scope": [0, 1], "log_potentials": [0, 1, 0,  0, 0, 2,  1, 0, null]}
  ],
  "evidence": {"2": 1},
  "energies": [
    {"kind": "measurement", "weight": 2.0, "penalty": {"kind": "smoothed_hinge"}, "offset": 0.0,
     "terms": [{"scope": [0], "coefficients": [0, 1, 0]}, {"scope": [0, 1], "coefficients": [0, 1, 0, 0, 0, 0, 0, 0, 0]}]},
    {"kind": "product", "scope": [0, 2], "log_potentials": [1, 0, 0, 1, 0, 0]},
    {"kind": "nearest", "weight": 1.5, "norm": "l1", "measurements": [{"terms": [{"scope": [1], "coefficients": [1, 0, 0]}]}], "points": [[1.0], [0.0]]}
  ]
}"#;

/// A convex problem that every solver serves.
pub const CONVEX: &str = r#"{"variables": [2, 3, 2],
  "factors": [{"scope": [0, 1], "log_potentials": [1, 0, -1, 0, 2, 0]}, {"scope": [1, 2], "log_potentials": [0, 1, 0.5, 0, 0, 1]}],
  "energies": [
    {"kind": "measurement", "weight": 4, "penalty": {"kind": "squared"}, "offset": -0.9, "terms": [{"scope": [0], "coefficients": [1, 0]}]},
    {"kind": "measurement", "weight": 3, "penalty": {"kind": "smoothed_hinge"}, "offset": -0.2, "terms": [{"scope": [1], "coefficients": [0, 0, 1]}, {"scope": [2], "coefficients": [0, 1]}]}]}"#;

/// A problem whose constraint cannot hold.
pub const INFEASIBLE: &str = r#"{"variables": [2], "energies": [{"kind": "measurement", "penalty": {"kind": "equal"}, "offset": -2, "terms": [{"scope": [0], "coefficients": [0, 1]}]}]}"#;

impl Folder {
    /// Runs `bethe` in the folder.
    pub fn bethe(&self, arguments: &[&str]) -> Output {
        self.bethe_with_input(arguments, "")
    }

    pub fn bethe_with_input(&self, arguments: &[&str], input: &str) -> Output {
        self.run("bethe", arguments, input)
    }

    /// A folder with labelled references to train on and to test with, and a template.
    pub fn with_references(train: usize, test: usize) -> Self {
        let folder = Self::new().with("train.txt", &records(train, 1));
        folder.with("test.txt", &records(test, 2)).with("template", TEMPLATE)
    }

    /// Trains quietly on `train.txt` with the template, without rules; further flags may say more.
    pub fn train(&self, model: &str, further: &[&str]) {
        let template = ["--template", "template"];
        let known = further.contains(&"--format") || further.contains(&"--scores");
        let template: &[&str] = if known { &[] } else { &template };
        let ruled = ["--constraints", "--rule-penalty"].iter().any(|flag| further.contains(flag));
        let rules: &[&str] = if ruled { &[] } else { &["--constraints", "none"] };
        let fixed = ["train", "train.txt", "--model", model, "--quiet"];
        self.succeeds(&[&fixed, template, rules, further].concat());
    }

    /// Runs `bethe`, which must do its work, and gives its standard output.
    pub fn succeeds(&self, arguments: &[&str]) -> String {
        text(&self.bethe(arguments), arguments)
    }

    /// Tags a file quietly.
    pub fn tag(&self, model: &str, file: &str, further: &[&str]) -> String {
        self.succeeds(&[&["tag", model, file, "--quiet"], further].concat())
    }

    /// Evaluates a model.
    pub fn evaluate(&self, model: &str, file: &str, further: &[&str]) -> Value {
        let output = self.succeeds(&[&["evaluate", model, file, "--json"], further].concat());
        serde_json::from_str(&output).unwrap()
    }

    /// What a model holds.
    pub fn inspect(&self, model: &str) -> Value {
        serde_json::from_str(&self.succeeds(&["inspect", model, "--json"])).unwrap()
    }

    pub fn bytes(&self, name: &str) -> Vec<u8> {
        std::fs::read(self.path(name)).unwrap()
    }

    /// Runs `bethe` and reads its one answer.
    pub fn answer(&self, arguments: &[&str]) -> Value {
        let output = self.bethe(arguments);
        assert_eq!(output.status.code(), Some(0), "{arguments:?}: {}", error(&output));
        assert_eq!(error(&output), "", "{arguments:?}");
        one(&output)
    }

    /// Runs `bethe`, which must refuse with exit code 2, nothing on standard output and one line on
    /// standard error, and gives that line without its `error: `.
    pub fn refusal(&self, arguments: &[&str]) -> String {
        refused(&self.bethe(arguments), arguments)
    }
}

/// The sequences of a column file, as lines of cells; comments are left out.
pub fn sequences(text: &str) -> Vec<Vec<Vec<String>>> {
    let mut all = vec![Vec::new()];
    for line in text.lines().filter(|line| !line.starts_with('#')) {
        match line.is_empty() {
            true => all.push(Vec::new()),
            false => all.last_mut().unwrap().push(line.split('\t').map(str::to_string).collect()),
        }
    }
    all.retain(|sequence: &Vec<Vec<String>>| !sequence.is_empty());
    all
}

/// One column of a sequence.
pub fn column(sequence: &[Vec<String>], column: usize) -> Vec<&str> {
    sequence.iter().map(|row| row[column].as_str()).collect()
}

/// A column file without its last column.
pub fn without_labels(text: &str) -> String {
    let word = |line: &str| line.rsplit_once('\t').map_or("", |(rest, _)| rest).to_string();
    text.lines().map(|line| word(line) + "\n").collect()
}

pub fn one(output: &Output) -> Value {
    serde_json::from_slice(&output.stdout).expect("one JSON object on standard output")
}

pub fn close(value: &Value, expected: f64, tolerance: f64) -> bool {
    value.as_f64().is_some_and(|value| (value - expected).abs() <= tolerance)
}

/// A text in one line.
pub fn flat(text: &str) -> String {
    text.replace('\n', " ")
}

/// A problem whose best score is this.
pub fn with_offset(offset: f64) -> String {
    format!(
        r#"{{"variables": [2], "factors": [{{"scope": [0], "log_potentials": [{offset}, 0]}}]}}"#
    )
}

/// One answer a line.
pub fn answers(stdout: &[u8]) -> Vec<Value> {
    let text = String::from_utf8(stdout.to_vec()).unwrap();
    text.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}
