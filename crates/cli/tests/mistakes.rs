//! Arguments that do not fit: the message says what was probably meant.

mod common;

use common::{CONVEX, Folder, error};

fn folder() -> Folder {
    Folder::new()
        .with("p.json", CONVEX)
        .with("M.uai", "MARKOV\n1\n2\n1\n1 0\n2\n0.5 0.5\n")
        .with("M.evid", "1 0 1\n")
        .with("counts.csv", "time,A,B\n1,10,0\n2,5,5\n")
        .with("cells.csv", "cell,x,y\nA,0,0\nB,1,0\n")
}

/// What standard error says of a mistake that the flags already show.
fn mistake(folder: &Folder, arguments: &[&str]) -> String {
    let output = folder.bethe(arguments);
    assert_eq!((output.status.code(), output.stdout.len()), (Some(2), 0), "{arguments:?}");
    error(&output)
}

#[test]
fn forgotten_flags_of_files_and_values_are_suggested() {
    let folder = folder();
    for (arguments, tip) in [
        (
            &["flows", "counts.csv", "cells.csv", "--population", "9"][..],
            "did you mean `--cells cells.csv`?",
        ),
        (
            &["flows", "cells.csv", "counts.csv", "--population", "9"],
            "did you mean `--cells cells.csv`?",
        ),
        (&["solve", "M.uai", "M.evid"], "did you mean `--evidence M.evid`?"),
        (&["solve", "M.evid", "M.uai"], "did you mean `--evidence M.evid`?"),
        (&["sample", "M.uai", "M.evid", "--records", "1"], "did you mean `--evidence M.evid`?"),
        (
            &["solve", "p.json", "--covariance", "young,user"],
            "did you mean `--covariance=young,user`?",
        ),
        (
            &["solve", "--covariance", "young,user", "p.json"],
            "did you mean `--covariance=young,user`?",
        ),
    ] {
        let message = mistake(&folder, arguments);
        assert!(message.contains(&format!("\n  tip: {tip}\n")), "{arguments:?}: {message}");
    }
}

#[test]
fn evidence_in_place_of_the_model_is_known() {
    let folder = folder();
    assert_eq!(
        folder.refusal(&["solve", "--evidence", "M.uai", "M.evid"]),
        "M.uai: found a UAI model, expected evidence. Did you mean `M.uai --evidence M.evid`?"
    );
    assert_eq!(
        folder.refusal(&["solve", "p.json", "--evidence", "M.uai"]),
        "M.uai: found a UAI model, expected evidence"
    );
    let message = folder.refusal(&["solve", "M.evid"]);
    let expected = "; evidence goes with a model: MODEL.uai --evidence M.evid";
    assert!(message.starts_with("M.evid: found UAI evidence") && message.ends_with(expected));
}

#[test]
fn output_is_a_format_and_a_file_has_another_flag() {
    let folder = folder();
    assert!(folder.succeeds(&["solve", "M.uai", "--output", "mar"]).starts_with("MAR\n"));
    for (arguments, tip) in [
        (&["solve", "p.json", "--output", "x.json"][..], "to write to a file: -o FILE"),
        (&["solve", "p.json", "--output=x.json"], "to write to a file: -o FILE"),
        (&["check", "p.json", "--output", "x"], "to write to a file: -o FILE"),
        (&["tag", "model", "x", "--output=x"], "to write to a file: -o FILE"),
        (&["demo", "--output", "x"], "to write to a folder: -o DIR"),
    ] {
        let message = mistake(&folder, arguments);
        assert!(message.contains(&format!("\n  tip: {tip}\n")), "{arguments:?}: {message}");
        assert_eq!(message.matches("tip:").count(), 1, "{message}");
    }
}

#[test]
fn unknown_flags_are_not_said_to_be_values() {
    let folder = folder();
    for arguments in [&["solve", "p.json", "--foo"][..], &["tag", "--foo"], &["train", "x", "-Q"]] {
        let message = mistake(&folder, arguments);
        assert!(message.starts_with("error: unexpected argument '-"), "{message}");
        assert!(!message.contains("as a value"), "{message}");
    }
    let message = mistake(&folder, &["solve", "p.json", "--tolerence", "1"]);
    assert!(message.contains("tip: a similar argument exists: '--tolerance'"), "{message}");
}
