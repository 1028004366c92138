//! Limits of time and memory, and files that ask for more than there is.

mod common;

use std::io::Write;

use common::{EXAMPLE, Folder, error};
use flate2::{Compression, write::GzEncoder};
use serde_json::{Value, json};

/// Binary variables, all coupled.
fn clique(variables: usize) -> String {
    let pairs = (0..variables).flat_map(|a| (a + 1..variables).map(move |b| [a, b]));
    let factors: Vec<Value> =
        pairs.map(|pair| json!({"scope": pair, "log_potentials": [0, 0, 0, 0.1]})).collect();
    json!({"variables": vec![2; variables], "factors": factors}).to_string()
}

fn packed(folder: &Folder, name: &str, content: &[u8]) {
    let file = std::fs::File::create(folder.path(name)).unwrap();
    let mut packed = GzEncoder::new(file, Compression::best());
    packed.write_all(content).unwrap();
    packed.finish().unwrap();
}

#[test]
fn the_answer_names_the_oracle_and_its_memory() {
    let folder = Folder::new().with("p.json", EXAMPLE).with("clique.json", &clique(6));
    let answer = folder.answer(&["solve", "p.json"]);
    assert_eq!(answer["oracle"], "chain");
    let answer = folder.answer(&["solve", "clique.json", "--memory-limit", "1MiB"]);
    assert_eq!(answer["oracle"], "junction-tree");
    assert_eq!(answer["memory_estimate"], json!(8 * (2 * 64 + 4)));
}

#[test]
fn a_memory_limit_refuses_exact_inference_with_its_estimate() {
    let folder = Folder::new().with("p.json", &clique(16));
    let exact = ["solve", "p.json", "--oracle", "exact", "--memory-limit"];
    let message = folder.refusal(&[&exact[..], &["1MiB"]].concat());
    // In bytes, as both are 1.0 MiB.
    let expected = "need 1048608 bytes of memory, expected at most 1048576 bytes";
    assert!(message.contains(expected), "{message}");
    assert!(message.contains("a higher --memory-limit allows more"), "{message}");
    let answer = folder.answer(&[&exact[..], &["1.1MiB"]].concat());
    assert_eq!(answer["entropy"], "exact");
    let output = folder.bethe(&["solve", "p.json", "--memory-limit", "1MiB"]);
    let note = "note: p.json: exact inference does not fit into --memory-limit 1.0 MiB; solved \
                with --oracle trw\n";
    assert_eq!((output.status.code(), error(&output).as_str()), (Some(0), note));
    for command in ["solve", "check"] {
        let message = folder.refusal(&[command, "p.json", "--memory-limit", "lots"]);
        assert!(
            message.starts_with("--memory-limit: found \"lots\", expected a size"),
            "{message}"
        );
    }
    let sample = ["sample", "p.json", "--records", "1", "--memory-limit", "1MiB"];
    let message = folder.refusal(&sample);
    assert!(message.starts_with("p.json: the model is too wide"), "{message}");
}

#[test]
fn a_time_limit_without_an_answer_says_so() {
    let folder = Folder::new().with("p.json", &clique(26));
    // Half a gigabyte a table: no machine fills them in the time that may be late.
    let memory = ["--memory-limit", "8GiB", "--time-limit", "0s"];
    let output = folder.bethe(&[&["solve", "p.json", "--oracle", "exact"], &memory[..]].concat());
    assert_eq!(output.status.code(), Some(4), "{}", error(&output));
    assert!(output.stdout.is_empty());
    let expected = "error: p.json: the time limit passed before there was an answer";
    assert!(error(&output).starts_with(expected), "{}", error(&output));
    let output = folder.bethe(&[&["sample", "p.json", "--records", "1"], &memory[..]].concat());
    assert_eq!(output.status.code(), Some(4), "{}", error(&output));
    let output = folder.bethe(&[&["solve", "p.json"], &memory[..]].concat());
    assert_eq!(output.status.code(), Some(0), "{}", error(&output));
    assert!(error(&output).contains("solved with --oracle trw"), "{}", error(&output));
    let answer: Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!((&answer["oracle"], &answer["entropy"]), (&json!("trw"), &json!("tree-reweighted")));
}

#[test]
fn in_a_batch_the_other_problems_keep_their_answers() {
    let both = format!("{}\n{}\n", clique(3), clique(26));
    let folder = Folder::new().with("b.jsonl", &both);
    let flags = ["--oracle", "exact", "--memory-limit", "8GiB", "--time-limit", "0s"];
    let output = folder.bethe(&[&["solve", "b.jsonl"], &flags[..]].concat());
    assert_eq!(output.status.code(), Some(4), "{}", error(&output));
    let text = String::from_utf8(output.stdout).unwrap();
    let lines: Vec<Value> = text.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    assert_eq!(lines[0]["oracle"], "junction-tree");
    assert!(lines[1]["error"].as_str().unwrap().starts_with("the time limit passed"));
}

#[test]
fn a_line_of_many_states_does_not_take_the_memory_of_all_threads() {
    let line = r#"{"variables": [30000000]}"#;
    let folder = Folder::new().with("b.jsonl", &format!("{line}\n").repeat(8));
    // Alone a line would fit; eight at once would not.
    let flags = ["--threads", "8", "--memory-limit", "2GiB", "--marginals", "none"];
    let output = folder.bethe(&[&["solve", "b.jsonl"], &flags[..]].concat());
    let message = error(&output);
    assert_eq!(output.status.code(), Some(2), "{message}");
    assert!(message.starts_with("error: b.jsonl:1: the model needs 1.4 GiB"), "{message}");
    assert!(message.contains("limit of 256.0 MiB"), "{message}");
    let answers = String::from_utf8(output.stdout).unwrap();
    assert_eq!(answers.lines().filter(|line| line.starts_with("{\"error\":")).count(), 8);
}

#[test]
fn a_text_larger_than_the_limit_is_not_read() {
    let folder = Folder::new().with("p.json", &clique(16)).with("m.uai", &"2 ".repeat(5000));
    for file in ["p.json", "m.uai"] {
        let message = folder.refusal(&["solve", file, "--memory-limit", "10kB"]);
        assert!(message.starts_with(&format!("{file}: the text of the input needs")), "{message}");
    }
    let output = folder.bethe_with_input(&["solve", "-", "--memory-limit", "10kB"], &clique(16));
    assert_eq!(output.status.code(), Some(2));
    assert!(error(&output).starts_with("error: standard input: the text"), "{}", error(&output));
}

#[test]
fn deep_nesting_and_huge_numbers_are_mistakes() {
    let folder = Folder::new()
        .with("deep.json", &"[".repeat(200_000))
        .with("inside.json", &format!("{{\"variables\": {}", "[".repeat(200_000)))
        .with("states.json", r#"{"variables": [18446744073709551615]}"#)
        .with("more.json", r#"{"variables": [1e30]}"#)
        .with("many.uai", "MARKOV 99999999999")
        .with("states.uai", "MARKOV 2 9999999999 9999999999 1 2 0 1 99999999999999999999 1")
        .with("tables.uai", "MARKOV 1 2 18446744073709551615")
        .with("entries.uai", "MARKOV 1 4611686018427387904 1 1 0 4611686018427387904 1");
    for file in folder.files() {
        let message = folder.refusal(&["solve", &file]);
        assert!(message.starts_with(&file), "{message}");
        folder.refusal(&["check", &file]);
    }
}

#[test]
fn tagging_files_are_held_to_the_limit() {
    let folder = Folder::with_references(20, 5);
    folder.train("model", &["--constraints", "none"]);
    packed(&folder, "line.gz", &vec![b'a'; 1 << 22]);
    packed(&folder, "tokens.gz", &b"a\n".repeat(1 << 20));
    for file in ["line.gz", "tokens.gz"] {
        for arguments in [&["tag", "model", file][..], &["cite", "--model", "model", file]] {
            if *arguments == ["cite", "--model", "model", "tokens.gz"] {
                continue; // its lines are short
            }
            let limit = ["--memory-limit", "1MiB", "--threads", "1"];
            let message = folder.refusal(&[arguments, &limit[..]].concat());
            assert!(message.starts_with(file) && message.contains("1048576 bytes"), "{message}");
        }
    }
    let train = ["train", "train.txt", "--model", "other", "--memory-limit", "2kB"];
    let message = folder.refusal(&train);
    assert!(message.contains("the file needs 3.3 KiB of memory"), "{message}");
}

#[test]
fn more_columns_or_labels_than_a_model_holds_are_refused() {
    let wide: Vec<String> = (0..1002).map(|column| format!("v{column}")).collect();
    let row = wide.join("\t");
    let labels = |count: usize| -> String { (0..count).map(|n| format!("w\tL{n}\n")).collect() };
    let folder = Folder::new()
        .with("wide.txt", &format!("{row}\tA\n{row}\tB\n"))
        .with("many.txt", &labels(8193))
        .with("more.txt", &labels(70_000))
        .with("template", "Uword:%x[0,0]\nB\n");
    let train = |file: &str, further: &[&str]| {
        let fixed = ["train", file, "--model", "model", "--quiet", "--constraints", "none"];
        folder.refusal(&[&fixed, further].concat())
    };
    let message = train("wide.txt", &[]);
    let expected = "wide.txt: found 1002 observed columns, expected at most 1000";
    assert!(message.starts_with(expected), "{message}");
    for (file, found) in [("many.txt", "8193"), ("more.txt", "70000")] {
        let message = train(file, &["--template", "template", "--scheme", "plain"]);
        assert!(message.contains(&format!("found labels of {found} states")), "{message}");
    }
}

#[test]
fn flows_are_held_to_the_limit() {
    let cells: String = (0..300).map(|n| format!("{n},{n},0\n")).collect();
    let header: String = (0..300).map(|n| format!(",{n}")).collect();
    let times: String = (0..1000).map(|n| format!("{n}\n")).collect();
    let empty = ",".repeat(299);
    let folder = Folder::new()
        .with("cells.csv", &format!("cell,x,y\n{cells}"))
        .with("two.csv", &format!("time{header}\n0,1{empty}\n1,1{empty}\n"))
        .with("counts.csv", &format!("time{header}\n{times}"));
    packed(&folder, "packed.csv", &b"0".repeat(1 << 22));
    let refusal = |file: &str, further: &[&str]| {
        let fixed = ["flows", file, "--cells", "cells.csv", "--population", "6"];
        folder.refusal(&[&fixed, further].concat())
    };
    // Rows may be shorter than the cells that they stand for.
    let message = refusal("counts.csv", &["--memory-limit", "10MB", "--reach", "1"]);
    let expected = "counts.csv: a table of all cells at all times needs 9.6 MiB";
    assert!(message.starts_with(expected), "{message}");
    let message = refusal("two.csv", &["--memory-limit", "1MB"]);
    let expected = "cells.csv: a table of all moves needs 4.8 MiB";
    assert!(message.starts_with(expected), "{message}");
    let message = refusal("two.csv", &["--memory-limit", "1MB", "--reach", "1e300"]);
    assert!(message.starts_with(expected), "{message}");
    let message = refusal("packed.csv", &["--memory-limit", "1MB"]);
    assert!(message.starts_with("packed.csv: the text of the input needs"), "{message}");
}
