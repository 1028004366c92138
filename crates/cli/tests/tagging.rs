//! Taggers from training to evaluation, through the files between them.

mod common;

use common::{Folder, column, records, sequences, without_labels};
use serde_json::Value;

fn f1(report: &Value) -> f64 {
    report["f1"].as_f64().unwrap()
}

#[test]
fn rules_that_were_learned_make_labels_better() {
    let folder = Folder::with_references(200, 200);
    folder.train("plain", &[]);
    folder.train("ruled", &["--constraints", "auto", "--rule-penalty", "0.3"]);
    let (plain, ruled) =
        (folder.evaluate("plain", "test.txt", &[]), folder.evaluate("ruled", "test.txt", &[]));
    assert!(f1(&ruled) > f1(&plain) + 0.02, "{} and {}", f1(&plain), f1(&ruled));
    assert!(plain.get("rules").is_none());
    assert!(ruled["rules"]["mean_iterations"].as_f64().unwrap() > 0.0);
    assert_eq!(ruled["rules"]["broken_by_truth"], 0.0);
    let without = folder.evaluate("ruled", "test.txt", &["--no-rules"]);
    assert_eq!(without["per_label"], plain["per_label"], "rules are on top of the same base model");
    let broken = |report: &Value| report["rules"]["broken_by_prediction"].as_f64().unwrap();
    assert!(broken(&ruled) < broken(&without) / 2.0);

    let model = folder.inspect("ruled");
    let rules = model["constraints"].as_array().unwrap();
    assert!(rules.iter().any(|rule| rule["rule"].as_str().unwrap().contains("title")));
    assert!(rules.iter().all(|rule| rule["weight"].as_f64().unwrap() > 0.0));
    let shown = folder.succeeds(&["inspect", "ruled"]);
    assert!(shown.contains("\nrules\n") && shown.contains("\ntransitions\n"), "{shown}");
    let checked = folder.succeeds(&["check", "ruled"]);
    assert!(checked.starts_with("ruled: a tagger\n"), "{checked}");
}

#[test]
fn what_tag_writes_is_what_evaluate_counts() {
    let folder = Folder::with_references(80, 60);
    folder.train("model", &["--constraints", "auto", "--rule-penalty", "0.3"]);
    let tagged = sequences(&folder.tag("model", "test.txt", &[]));
    let (mut right, mut tokens, mut whole) = (0, 0, 0);
    for sequence in &tagged {
        let same = sequence.iter().filter(|row| row[1] == row[2]).count();
        right += same;
        tokens += sequence.len();
        whole += usize::from(same == sequence.len());
    }
    let report = folder.evaluate("model", "test.txt", &[]);
    assert_eq!(report["tokens"], tokens);
    assert_eq!(report["sequences"], 60);
    assert!(common::close(&report["token_accuracy"], right as f64 / tokens as f64, 1e-12));
    assert!(common::close(&report["sequence_accuracy"], whole as f64 / 60.0, 1e-12));
    let table = folder.succeeds(&["evaluate", "model", "test.txt"]);
    assert!(table.contains(&format!("{:.2}", 100.0 * f1(&report))), "{table}");
}

#[test]
fn a_file_without_labels_gets_the_same_labels() {
    let folder = Folder::with_references(60, 30);
    folder.train("model", &[]);
    let bare = without_labels(&folder.read("test.txt"));
    let windows = bare.replace('\n', "\r\n");
    let folder = folder.with("bare.txt", &bare).with("windows.txt", &windows);
    let with = folder.tag("model", "test.txt", &[]);
    let without = folder.tag("model", "bare.txt", &[]);
    let labels = |text: &str, at| -> Vec<String> {
        let all = sequences(text);
        all.iter().flat_map(|s| column(s, at)).map(str::to_string).collect()
    };
    assert_eq!(labels(&with, 2), labels(&without, 1));
    assert_eq!(folder.tag("model", "windows.txt", &[]), without);
    let piped = folder.bethe_with_input(&["tag", "model", "--quiet"], &bare);
    assert_eq!(String::from_utf8(piped.stdout).unwrap(), without);
    let piped = folder.bethe_with_input(&["tag", "model", "-", "--quiet"], &bare);
    assert_eq!(String::from_utf8(piped.stdout).unwrap(), without);
}

#[test]
fn packed_files_are_unpacked() {
    let folder = Folder::with_references(60, 30);
    for name in ["train.txt", "test.txt"] {
        let packed = std::process::Command::new("gzip").arg("-k").arg(folder.path(name)).status();
        assert!(packed.unwrap().success());
    }
    folder.train("model", &[]);
    folder.succeeds(&[
        "train",
        "train.txt.gz",
        "--model",
        "packed",
        "--template",
        "template",
        "--constraints",
        "none",
        "--quiet",
    ]);
    assert_eq!(folder.bytes("model"), folder.bytes("packed"));
    let plain = folder.tag("model", "test.txt", &[]);
    assert_eq!(folder.tag("model", "test.txt.gz", &[]), plain);
}

#[test]
fn the_label_may_be_in_any_column() {
    let folder = Folder::with_references(60, 30);
    let turned = |text: &str| -> String {
        let turn =
            |line: &str| line.split_once('\t').map(|(word, label)| format!("{label} {word}"));
        text.lines().map(|line| turn(line).unwrap_or_default() + "\n").collect()
    };
    let (train, test) = (turned(&folder.read("train.txt")), turned(&folder.read("test.txt")));
    let bare: String =
        test.lines().map(|l| l.split_once(' ').map_or("", |p| p.1).to_string() + "\n").collect();
    folder.train("usual", &[]);
    let folder = folder.with("turned.txt", &train).with("other.txt", &test).with("bare.txt", &bare);
    let flags = ["--column", "1", "--observe", "2", "--template", "template", "--quiet"];
    let fixed = ["train", "turned.txt", "--model", "model", "--constraints", "none"];
    folder.succeeds(&[&fixed[..], &flags[..]].concat());
    let (usual, turned) =
        (folder.evaluate("usual", "test.txt", &[]), folder.evaluate("model", "other.txt", &[]));
    assert_eq!(usual, turned);
    let labels = |text: String| -> Vec<String> {
        text.lines().map(|line| line.rsplit('\t').next().unwrap().to_string()).collect()
    };
    assert_eq!(
        labels(folder.tag("model", "bare.txt", &[])),
        labels(folder.tag("model", "other.txt", &[]))
    );
}

#[test]
fn io_labels_stay_io_labels() {
    let bare = |text: String| text.replace("\tB-", "\t").replace("\tI-", "\t");
    let folder = Folder::new()
        .with("train.txt", &bare(records(100, 1)))
        .with("test.txt", &bare(records(50, 2)))
        .with("template", common::TEMPLATE);
    folder.train("model", &["--constraints", "auto", "--rule-penalty", "0.3"]);
    assert_eq!(folder.inspect("model")["scheme"], "io");
    let known = ["author", "title", "venue", "year", "O"];
    for sequence in sequences(&folder.tag("model", "test.txt", &["--n-best", "3"])) {
        assert!(column(&sequence, 2).iter().all(|label| known.contains(label)));
    }
    assert!(f1(&folder.evaluate("model", "test.txt", &[])) > 0.7);
}

#[test]
fn attribute_files_train_and_tag() {
    let attributes = |text: &str, labelled: bool| -> String {
        let line = |line: &str| match line.split_once('\t') {
            Some((word, label)) => {
                let label = if labelled { label } else { "" };
                format!("{label}\tw={}\tlength:{}\n", word.replace(':', "\\:"), word.len())
            }
            None => "\n".to_string(),
        };
        text.lines().map(line).collect()
    };
    let (train, test) = (records(100, 1), records(50, 2));
    let folder = Folder::new()
        .with("train.txt", &attributes(&train, true))
        .with("test.txt", &attributes(&test, true))
        .with("bare.txt", &attributes(&test, false));
    folder.train("model", &["--format", "attributes"]);
    assert!(f1(&folder.evaluate("model", "test.txt", &[])) > 0.6);
    let with = folder.tag("model", "test.txt", &[]);
    let without = folder.tag("model", "bare.txt", &[]);
    let labels = |text: &str| -> Vec<String> {
        text.lines().map(|line| line.rsplit('\t').next().unwrap().to_string()).collect()
    };
    assert_eq!(labels(&with), labels(&without));
    assert!(with.lines().all(|line| line.is_empty() || line.contains("\tlength:")));
}

#[test]
fn hard_rules_hold_on_every_output() {
    let rules = "[[rule]]\nexactly = 1\nof = \"title\"\nweight = \"hard\"\n\n\
                 [[rule]]\nat_most = 1\nof = \"venue\"\nweight = \"hard\"\n\n\
                 [[rule]]\nbefore = [\"title\", \"year\"]\nweight = 2.5\n";
    let folder = Folder::with_references(100, 100).with("rules.toml", rules);
    folder.train("model", &["--constraints", "rules.toml"]);
    let count = |sequence: &[Vec<String>], label: &str| {
        column(sequence, 2).iter().filter(|found| **found == label).count()
    };
    let all = sequences(&folder.tag("model", "test.txt", &[]));
    let best = sequences(&folder.tag("model", "test.txt", &["--n-best", "2"]));
    for sequence in all.iter().chain(&best) {
        assert_eq!(count(sequence, "B-title"), 1);
        assert!(count(sequence, "B-venue") <= 1);
    }
    let broken = sequences(&folder.tag("model", "test.txt", &["--no-rules"]));
    assert!(broken.iter().any(|sequence| count(sequence, "B-title") != 1));
    let shown = folder.succeeds(&["inspect", "model"]);
    for rule in ["at most one title: hard", "at least one title: hard", "title before year: 2.5"] {
        assert!(shown.contains(rule), "{shown}");
    }
}

#[test]
fn hierarchical_labels_are_scored_at_the_leaf_and_at_every_level() {
    let deep = |text: String| {
        text.replace("\tB-author", "\tB-people:B-author")
            .replace("\tI-author", "\tI-people:I-author")
    };
    let folder = Folder::new()
        .with("train.txt", &deep(records(80, 1)))
        .with("test.txt", &deep(records(40, 2)))
        .with("template", common::TEMPLATE);
    folder.train("model", &[]);
    let report = folder.evaluate("model", "test.txt", &[]);
    assert!(report["all_f1"].as_f64().unwrap() > f1(&report), "people are easy, and counted twice");
    assert!(folder.succeeds(&["evaluate", "model", "test.txt"]).contains("all levels"));
}

#[test]
fn the_model_does_not_depend_on_the_number_of_threads() {
    let folder = Folder::with_references(80, 40);
    let flags = ["--constraints", "auto", "--rule-penalty", "1", "--max-iterations", "40"];
    for threads in ["1", "2"] {
        folder.train(&format!("model{threads}"), &[&flags[..], &["--threads", threads]].concat());
    }
    assert_eq!(folder.bytes("model1"), folder.bytes("model2"));
    let tagged = |threads| folder.tag("model1", "test.txt", &["--marginals", "--threads", threads]);
    assert_eq!(tagged("1"), tagged("2"));
}

#[test]
fn lines_that_begin_a_document_are_copied_but_neither_trained_on_nor_scored() {
    let with_documents = |text: &str| format!("-DOCSTART-\tO\n\n{text}\n-DOCSTART-\tO\n\n{text}");
    let folder = Folder::with_references(20, 5);
    let (train, test) = (folder.read("train.txt"), folder.read("test.txt"));
    folder.train("model", &["--max-iterations", "5"]);
    let (tagged, plain) = (folder.tag("model", "test.txt", &[]), folder.bytes("model"));
    let folder = folder
        .with("train.txt", &format!("-DOCSTART-\tO\n\n{train}"))
        .with("documents.txt", &with_documents(&test));
    folder.train("model", &["--max-iterations", "5"]);
    assert_eq!(folder.bytes("model"), plain, "documents are not trained on");
    assert_eq!(folder.evaluate("model", "documents.txt", &[])["sequences"], 10);
    let expected = format!("-DOCSTART-\tO\tO\n\n{tagged}").repeat(2);
    assert_eq!(folder.tag("model", "documents.txt", &[]), expected);
    let unlabelled = folder.with("bare.txt", "-DOCSTART-\n\nKaya\n");
    assert!(unlabelled.tag("model", "bare.txt", &[]).starts_with("-DOCSTART-\tO\n\nKaya\t"));
}
