//! Files that a command writes: no two of them may be one, under whatever names.

#![cfg(unix)]

mod common;

use std::fs;
use std::os::unix::fs::symlink;

use common::{CONVEX, Folder, error};

#[test]
fn two_outputs_are_never_one_file() {
    let folder = Folder::new().with("p.json", CONVEX).with("old", "old");
    fs::create_dir(folder.path("sub")).unwrap();
    symlink("x", folder.path("dangling")).unwrap();
    fs::hard_link(folder.path("old"), folder.path("hard")).unwrap();
    let whole = folder.path("x");
    for (one, other) in [
        ("x", "x"),
        ("./x", "x"),
        ("sub/../x", "x"),
        (whole.to_str().unwrap(), "x"),
        ("dangling", "x"),
        ("old", "hard"),
    ] {
        for (flag, path, before) in [("--trace", one, other), ("--trace", other, one)] {
            let message = folder.refusal(&["solve", "p.json", "--out", before, flag, path]);
            assert_eq!(message, "--out: --trace writes to the same file; choose another one");
        }
    }
    assert_eq!(folder.read("old"), "old");
    assert!(!folder.path("x").exists());
    folder.succeeds(&["solve", "p.json", "--out", "x", "--trace", "y", "--quiet"]);
    // Devices take what they are given.
    folder.succeeds(&["solve", "p.json", "--plot", "/dev/null", "--trace", "/dev/null", "--quiet"]);
}

#[test]
fn hints_of_the_demo_are_only_drawn() {
    let folder = Folder::new();
    let output = folder.bethe(&["demo", "--out", "d\u{1b}[31m"]);
    assert_eq!(output.status.code(), Some(0), "{}", error(&output));
    let text = String::from_utf8(output.stdout).unwrap();
    assert!(!text.contains('\u{1b}'), "a terminal would obey it");
    assert!(text.contains("bethe solve d\\u{1b}[31m/titles.json"), "{text}");
}

#[test]
fn more_text_than_a_model_holds_is_refused_before_training() {
    let folder = Folder::new()
        .with("train.txt", &"one\tB-a\ntwo\tI-a\n\n".repeat(8))
        .with("template", "Uword:%x[0,0]\nB\n");
    // One long entry: its text alone is too much.
    fs::write(folder.path("words"), format!("{}\n", "a".repeat(96_000_000))).unwrap();
    let train = ["train", "train.txt", "--model", "m", "--template", "template", "--lexicon"];
    let message = folder.refusal(&[&train[..], &["words", "--quiet"]].concat());
    assert!(message.contains("bytes in a model file, expected at most 95000000"), "{message}");
    assert_eq!(folder.files(), ["template", "train.txt", "words"]);
}
