//! One thing wrong in a file of sequences, a template, rules or a model, and what a person reads.

mod common;

use common::{Folder, records};

#[test]
fn files_to_train_on_are_checked_before_anything_is_written() {
    let folder = Folder::with_references(20, 5)
        .with("ragged.txt", "a\tO\nb\tO\n\nc\n")
        .with("narrow.txt", "O\nO\n")
        .with("empty.txt", "\n\n")
        .with("gap.txt", "a\tO\nb\t\n")
        .with("label.template", "Uword:%x[0,0]\nUlabel:%x[0,1]\nB\n")
        .with("wide.template", "Uword:%x[0,5]\n")
        .with("wrong.template", "Uword:%y[0,0]\n")
        .with("a.txt", "machine\n");
    std::fs::create_dir(folder.path("lists")).unwrap();
    std::fs::write(folder.path("lists/a.txt"), "learning\n").unwrap();
    for (arguments, expected) in [
        (&["none.txt"][..], "none.txt: there is no such file"),
        (&["ragged.txt"], "ragged.txt:4: found 1 column, expected 2 as in line 1"),
        (&["narrow.txt"], "narrow.txt:1: found 1 column, expected at least a word and a label"),
        (&["empty.txt"], "empty.txt: found no sequence, expected at least one"),
        (&["gap.txt"], "gap.txt:2: found no label, expected one for every token"),
        (&["-"], "training needs a file, found - (standard input)"),
        (&["train.txt", "--column", "3"], "train.txt: found no column 3, expected 1 to 2"),
        (&["train.txt", "--column", "0"], "train.txt: found no column 0, expected 1 to 2"),
        (&["train.txt", "--observe", "2"], "--observe: column 2 is the label's"),
        (&["train.txt", "--observe", "4"], "train.txt: found no column 4, expected 1 to 2"),
        (&["train.txt", "--observe", "1,1"], "--observe: found column 1 twice, expected each once"),
        (
            &["train.txt", "--dev", "train.txt", "--patience", "0"],
            "--patience: found 0, expected at least 1",
        ),
        (
            &["train.txt", "--lexicon", "lists/a.txt", "--lexicon", "a.txt"],
            "a.txt: found two lists named \"a\", expected distinct names",
        ),
        (&["train.txt", "--template", "none"], "none: "),
        (
            &["train.txt", "--template", "label.template"],
            "label.template: the template reads column 1 of 2 (from 0), which is the label's",
        ),
        (
            &["train.txt", "--template", "wide.template"],
            "wide.template: the template reads column 5 (from 0), but the data has 2",
        ),
        (
            &["train.txt", "--template", "wrong.template"],
            "wrong.template: line 1: found the function",
        ),
        (&["train.txt", "--lexicon", "nowhere"], "nowhere: "),
        (&["train.txt", "--dev", "none.txt"], "none.txt: there is no such file"),
    ] {
        let message =
            folder.refusal(&[&["train"], arguments, &["--model", "model", "--quiet"]].concat());
        assert!(message.starts_with(expected), "{arguments:?}: {message}");
    }
    assert!(!folder.path("model").exists() && !folder.path("model.checkpoint").exists());
}

#[test]
fn a_folder_where_the_checkpoint_should_be_is_known_before_training() {
    let folder = Folder::with_references(20, 5);
    std::fs::create_dir(folder.path("model.checkpoint")).unwrap();
    let message = folder.refusal(&["train", "train.txt", "--model", "model"]);
    assert!(message.starts_with("model.checkpoint: cannot write: found a folder"), "{message}");
    folder.succeeds(&["train", "train.txt", "--model", "model", "--no-checkpoint", "--quiet"]);
}

#[test]
fn a_place_that_cannot_be_written_is_known_before_training() {
    let folder = Folder::with_references(20, 5);
    let message = folder.refusal(&["train", "train.txt", "--model", "nowhere/model"]);
    assert!(message.starts_with("nowhere/model: cannot write: "), "{message}");
    let message = folder.refusal(&["train", "train.txt", "--model", "."]);
    assert!(message.contains("found a folder, expected a file"), "{message}");
    let message = folder.refusal(&["train", "train.txt", "--model", "train.txt"]);
    assert_eq!(message, "--model: train.txt is an input; choose another file");
    assert_eq!(folder.read("train.txt"), records(20, 1));
    assert_eq!(folder.files(), ["template", "test.txt", "train.txt"]);
}

#[test]
fn files_of_rules_say_which_rule_is_wrong() {
    let folder = Folder::with_references(20, 5);
    for (rules, expected) in [
        ("[[rule]]\nat_most = 1\nof = \"tile\"\n", "rules.toml:3"),
        ("[[rule]]\nat_most = 1\nof = \"title\"\nweight = \"heavy\"\n", "rules.toml:4"),
        ("[[rule]]\nsometimes = \"title\"\n", "rules.toml:"),
        ("[[rule]\n", "rules.toml:1"),
        ("rules = 3\n", "rules.toml:1"),
    ] {
        std::fs::write(folder.path("rules.toml"), rules).unwrap();
        let arguments = ["train", "train.txt", "--model", "model", "--template", "template"];
        // It is told before training begins: no progress comes first.
        let further = ["--constraints", "rules.toml"];
        let message = folder.refusal(&[&arguments[..], &further].concat());
        assert!(message.starts_with(expected), "{rules}: {message}");
        if rules.contains("tile\"") {
            assert!(message.contains("\"tile\"") && message.contains("title"), "{message}");
        }
    }
    let arguments = ["train", "train.txt", "--model", "model", "--constraints", "none.toml"];
    assert!(folder.refusal(&arguments).starts_with("--constraints: found \"none.toml\", "));
    assert_eq!(folder.files(), ["rules.toml", "template", "test.txt", "train.txt"]);
}

#[test]
fn damaged_and_foreign_models_are_refused() {
    let folder = Folder::with_references(20, 5);
    folder.train("model", &["--max-iterations", "5"]);
    let whole = folder.bytes("model");
    for cut in [0, 5, 100, whole.len() / 2, whole.len() - 1] {
        std::fs::write(folder.path("cut"), &whole[..cut]).unwrap();
        for command in
            [&["tag", "cut", "test.txt"][..], &["evaluate", "cut", "test.txt"], &["inspect", "cut"]]
        {
            let message = folder.refusal(command);
            let expected = match cut {
                0 => "cut: the file is empty, expected a model from bethe train",
                5 => "cut: found binary data, expected a model from bethe train",
                _ => "cut: not a model file, or damaged",
            };
            assert!(message.starts_with(expected), "{message}");
        }
    }
    let header = br#"{"a":{"dtype":"F32","shape":[1],"data_offsets":[0,4]}}"#;
    let mut foreign = (header.len() as u64).to_le_bytes().to_vec();
    foreign.extend_from_slice(header);
    foreign.extend_from_slice(&[0; 4]);
    std::fs::write(folder.path("foreign.safetensors"), foreign).unwrap();
    for command in ["inspect", "check"] {
        let message = folder.refusal(&[command, "foreign.safetensors"]);
        assert!(message.contains("not a model of bethe"), "{message}");
    }
    let message = folder.refusal(&["tag", "nothing", "test.txt"]);
    assert!(message.starts_with("nothing: "), "{message}");
    let message = folder.refusal(&["tag", "train.txt", "test.txt"]);
    let expected = "train.txt: found labelled tokens, expected a model from bethe train. ";
    assert!(message.starts_with(expected), "{message}");
}

#[test]
fn files_to_tag_must_have_the_columns_that_the_model_reads() {
    let folder = Folder::new()
        .with("train.txt", "a x O\nb y B-n\n\nb x B-n\na y O\n")
        .with("good.txt", "a x\nb y\n")
        .with("bare.txt", "a\nb\n")
        .with("ragged.txt", "a x\nb\n")
        .with("wide.txt", "a x z O\nb y z B-n\n")
        .with("text.bin", "");
    std::fs::write(folder.path("text.bin"), b"a \xff\n").unwrap();
    folder.succeeds(&["train", "train.txt", "--model", "model", "--quiet"]);
    folder.succeeds(&["tag", "model", "good.txt"]);
    for (file, expected) in [
        ("bare.txt", "bare.txt:1: 1 column, expected at least 2, since the model reads column 2"),
        (
            "ragged.txt",
            "ragged.txt:2: found 1 column, expected 2 as in line 1; each line is one token",
        ),
        ("none.txt", "none.txt: there is no such file"),
        (
            "wide.txt",
            "wide.txt:1: found 4 columns, expected 3 as in the training file, or 2 without the label's",
        ),
        ("text.bin", "text.bin:1: found the byte 0xFF at offset 2, expected text in UTF-8"),
    ] {
        for command in ["tag", "evaluate"] {
            let message = folder.refusal(&[command, "model", file]);
            assert!(message.starts_with(expected), "{message}");
        }
    }
    let message = folder.refusal(&["evaluate", "model", "good.txt"]);
    assert_eq!(message, "good.txt:1: found no label, expected one for every token");
    let piped = folder.bethe_with_input(&["tag", "model"], "a\nb\n");
    let message = String::from_utf8(piped.stderr).unwrap();
    assert!(message.starts_with("error: standard input:1: 1 column"), "{message}");
}
