//! A file in the wrong place: the message says what it is, and which command is meant.

mod common;

use common::{EXAMPLE, Folder};

const COUNTS: &str = "time,A,B\n1,10,0\n2,5,5\n";
const CELLS: &str = "cell,x,y\nA,0,0\nB,1,0\n";
const UAI: &str = "MARKOV\n1\n2\n1\n1 0\n2\n0.5 0.5\n";
const REFERENCE: &str = "A. Chen and J. van Dyk. On sparse graphs. Journal of Ecology, 2004.\n";

/// A folder with one file of every kind.
fn folder() -> Folder {
    let folder = Folder::with_references(20, 5);
    folder.train("model", &["--max-iterations", "5"]);
    folder
        .with("problem.json", EXAMPLE)
        .with("problem", EXAMPLE)
        .with("graph.uai", UAI)
        .with("counts.csv", COUNTS)
        .with("cells.csv", CELLS)
        .with("refs.txt", REFERENCE)
}

#[test]
fn swapped_arguments_are_put_right() {
    let folder = folder();
    for (arguments, meant) in [
        (&["tag", "test.txt", "model"][..], "bethe tag model test.txt"),
        (&["evaluate", "test.txt", "model"], "bethe evaluate model test.txt"),
        (&["tag", "refs.txt", "model"], "bethe tag model refs.txt"),
        (&["cite", "model", "refs.txt"], "bethe cite --model model refs.txt"),
        (&["inspect", "test.txt"], "bethe tag MODEL test.txt"),
        (&["solve", "model"], "bethe inspect model"),
        (&["sample", "model", "--records", "1"], "bethe inspect model"),
        (&["train", "model", "--model", "new"], "bethe inspect model"),
        (&["tag", "model", "model"], "bethe inspect model"),
        (&["cite", "--model", "test.txt", "refs.txt"], "bethe tag MODEL test.txt"),
    ] {
        let message = folder.refusal(arguments);
        let expected = format!("Did you mean `{meant}`?");
        assert!(message.ends_with(&expected), "{arguments:?}: {message}");
    }
}

#[test]
fn files_for_other_commands_are_known() {
    let folder = folder();
    let flows = ["--cells", "cells.csv", "--population", "10"];
    let counts = "bethe flows counts.csv --cells CELLS.csv --population M";
    for (arguments, found, meant) in [
        (&["tag", "model", "counts.csv"][..], "a CSV table", counts),
        (&["evaluate", "model", "counts.csv"], "a CSV table", counts),
        (&["train", "counts.csv", "--model", "new"], "a CSV table", counts),
        (&["solve", "counts.csv"], "a CSV table", counts),
        (&["check", "counts.csv"], "a CSV table", counts),
        (&["tag", "model", "problem.json"], "JSON", "bethe solve problem.json"),
        (&["tag", "model", "problem"], "JSON", "bethe solve problem"),
        (&["evaluate", "model", "graph.uai"], "a UAI model", "bethe solve graph.uai"),
        (&["train", "problem.json", "--model", "new"], "JSON", "bethe solve problem.json"),
        (&["inspect", "problem.json"], "JSON", "bethe solve problem.json"),
        (&["cite", "problem.json"], "JSON", "bethe solve problem.json"),
        (&["solve", "test.txt"], "labelled tokens", "bethe tag MODEL test.txt"),
    ] {
        let message = folder.refusal(arguments);
        assert!(message.contains(&format!(": found {found}, expected ")), "{message}");
        assert!(message.ends_with(&format!("Did you mean `{meant}`?")), "{message}");
    }
    for (file, found) in
        [("problem.json", "JSON"), ("model", "a model"), ("test.txt", "labelled tokens")]
    {
        let message = folder.refusal(&[&["flows", file][..], &flows].concat());
        assert!(message.starts_with(&format!("{file}: found {found}, expected ")), "{message}");
        let cells = ["flows", "counts.csv", "--cells", file, "--population", "10"];
        let message = folder.refusal(&cells);
        assert!(message.starts_with(&format!("{file}: found {found}, expected ")), "{message}");
    }
    assert!(!folder.path("new").exists());
    let output = folder.bethe(&["cite", "test.txt"]);
    assert_eq!(output.status.code(), Some(0));
    let warning = "warning: test.txt: found labelled tokens, expected text; ";
    assert!(String::from_utf8(output.stderr).unwrap().starts_with(warning));
}

#[test]
fn labels_that_no_model_has_are_an_error_and_a_few_are_a_warning() {
    let folder = Folder::with_references(20, 5).with("other.txt", "Kaya\tB-person\nran\tO\n");
    folder.train("model", &["--max-iterations", "5"]);
    let message = folder.refusal(&["evaluate", "model", "other.txt"]);
    let expected = "other.txt:1: found the label \"B-person\"; the model has none of the labels of \
                    this file, expected some of ";
    assert!(message.starts_with(expected), "{message}");
    let mixed = folder.read("test.txt") + "\nKaya\tB-person\nran\tI-person\nto\tB-place\n";
    let folder = folder.with("mixed.txt", &mixed);
    let output = folder.bethe(&["evaluate", "model", "mixed.txt", "--format", "json"]);
    assert_eq!(output.status.code(), Some(0));
    let warning = String::from_utf8(output.stderr).unwrap();
    let line = mixed.lines().count() - 2;
    assert!(warning.starts_with("warning: 3 tokens of "), "{warning}");
    let first = format!(
        "have 3 labels that the model does not have and so never gives, first \
                         B-person in mixed.txt:{line}\n"
    );
    assert!(warning.ends_with(&first), "{warning}");
    let report: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(report["unknown_labels"]["B-place"], 1);
    assert_eq!(report["per_label"]["person"]["support"], 1);
}

#[test]
fn reports_are_words_or_json_on_standard_output_or_in_a_file() {
    let folder = folder();
    for (arguments, word) in [
        (&["evaluate", "model", "test.txt"][..], "precision"),
        (&["inspect", "model"], "a tagger"),
        (&["check", "model"], "a tagger"),
        (&["check", "test.txt"], "labelled tokens, one a line"),
        (&["check", "problem.json"], "a problem"),
        (&["check", "graph.uai"], "a problem"),
        (&["check", "template"], "a template"),
    ] {
        let words = folder.succeeds(arguments);
        assert!(words.contains(word), "{arguments:?}: {words}");
        assert_eq!(folder.succeeds(&[arguments, &["--format", "text"]].concat()), words);
        let json = folder.succeeds(&[arguments, &["--format", "json"]].concat());
        let read: serde_json::Value = serde_json::from_str(&json).unwrap();
        assert!(read.is_object(), "{json}");
        assert_eq!(folder.succeeds(&[arguments, &["--json"]].concat()), json);
        assert_eq!(folder.succeeds(&[arguments, &["--json", "-o", "report"]].concat()), "");
        assert_eq!(folder.read("report"), json);
        let input = arguments.last().unwrap();
        let message = folder.refusal(&[arguments, &["-o", input]].concat());
        assert_eq!(message, format!("--out: {input} is an input; choose another file"));
    }
    let checked = folder.succeeds(&["check", "problem.json", "--json"]);
    let checked: serde_json::Value = serde_json::from_str(&checked).unwrap();
    assert_eq!(checked["kind"], "problem");
    assert_eq!(checked["file"], "problem.json");
    assert_eq!(checked["variables"], 3);
    assert_eq!(checked["states"], serde_json::json!([2, 3]));
    assert_eq!(checked["energies"]["product"], 1);
    assert_eq!(checked["convex"], false);
}
