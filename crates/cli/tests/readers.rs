//! Every file that a command reads is held to the memory limit, every text may begin with a
//! byte-order mark, and any of them may be a pipe.

#![cfg(unix)]

mod common;

use std::fs;
use std::os::unix::fs::symlink;
use std::process::Command;

use common::{CONVEX, EXAMPLE, Folder, answers, error, with_offset};

const LIMIT: [&str; 2] = ["--memory-limit", "8MB"];

/// A folder with every kind of file, a model too.
fn with_model() -> Folder {
    let folder = Folder::new()
        .with("train.txt", &"one\tB-a\ntwo\tI-a\nx\tB-b\n\n".repeat(8))
        .with("template", "Uword:%x[0,0]\nB\n")
        .with("refs.txt", "A. Chen. On graphs. 2004.\n")
        .with("cells.csv", "cell,x,y\na,0,0\nb,1,0\n")
        .with("counts.csv", "time,a,b\n0,3,1\n1,1,3\n")
        .with("p.json", CONVEX);
    folder.train("model", &[]);
    folder
}

/// Every command with every argument that is a file; `FILE` stands for it.
const READERS: [&[&str]; 25] = [
    &["solve", "FILE"],
    &["solve", "p.json", "--energies", "FILE"],
    &["solve", "p.json", "--evidence", "FILE"],
    &["sample", "FILE", "--records", "1"],
    &["sample", "p.json", "--records", "1", "--energies", "FILE"],
    &["sample", "p.json", "--records", "1", "--evidence", "FILE"],
    &["check", "FILE"],
    &["train", "FILE", "--model", "m"],
    &["train", "train.txt", "--model", "m", "--dev", "FILE"],
    &["train", "train.txt", "--model", "m", "--template", "FILE"],
    &["train", "train.txt", "--model", "m", "--lexicon", "FILE"],
    &["train", "train.txt", "--model", "m", "--constraints", "FILE"],
    &["train", "train.txt", "--model", "m", "--scores", "FILE", "--labels", "a,b"],
    &["tag", "FILE", "train.txt"],
    &["tag", "model", "FILE"],
    &["evaluate", "FILE", "train.txt"],
    &["evaluate", "model", "FILE"],
    &["inspect", "FILE"],
    &["cite", "--model", "FILE", "refs.txt"],
    &["flows", "FILE", "--cells", "cells.csv", "--population", "4"],
    &["flows", "counts.csv", "--cells", "FILE", "--population", "4"],
    &["flows", "counts.csv", "--cells", "cells.csv", "--population", "4", "--rate", "FILE"],
    &["flows", "counts.csv", "--cells", "cells.csv", "--population", "4", "--start", "FILE"],
    &["flows", "counts.csv", "--cells", "cells.csv", "--population", "4", "--covariates", "FILE"],
    &["solve", "FILE", "--format", "pr"],
];

fn with_file<'a>(arguments: &[&'a str], file: &'a str) -> Vec<&'a str> {
    let named = |&argument: &&'a str| if argument == "FILE" { file } else { argument };
    arguments.iter().map(named).chain(LIMIT).collect()
}

#[test]
fn no_reader_goes_on_for_ever() {
    let folder = with_model();
    symlink("/dev/zero", folder.path("zeros")).unwrap();
    symlink("/dev/zero", folder.path("zeros.evid")).unwrap();
    for arguments in READERS {
        let evidence = arguments.contains(&"--evidence");
        let arguments = with_file(arguments, if evidence { "zeros.evid" } else { "zeros" });
        let message = folder.refusal(&arguments);
        assert!(message.contains("zeros"), "{arguments:?}: {message}");
        assert!(message.len() < 4000, "{arguments:?}: {} bytes", message.len());
        assert!(message.contains("memory") || message.contains("found"), "{message}");
    }
    assert!(!folder.files().contains(&"m".to_string()), "{:?}", folder.files());
}

#[test]
fn no_reader_takes_more_than_the_limit() {
    let folder = with_model();
    // Sparse: no disk holds it.
    for name in ["huge", "huge.evid"] {
        fs::File::create(folder.path(name)).unwrap().set_len(1 << 40).unwrap();
    }
    for arguments in READERS {
        let evidence = arguments.contains(&"--evidence");
        let arguments = with_file(arguments, if evidence { "huge.evid" } else { "huge" });
        let message = folder.refusal(&arguments);
        assert!(message.contains("huge"), "{arguments:?}: {message}");
    }
}

#[test]
fn folders_and_missing_files_are_refused_by_name() {
    let folder = with_model();
    fs::create_dir(folder.path("folder")).unwrap();
    for file in ["folder", "missing"] {
        for arguments in READERS {
            let message = folder.refusal(&with_file(arguments, file));
            assert!(message.contains(file), "{arguments:?}: {message}");
        }
    }
}

/// Text that becomes many times its size.
#[test]
fn what_is_made_of_a_text_counts() {
    let folder = with_model();
    let lines = |line: &dyn Fn(usize) -> String, count: usize| (0..count).map(line).collect();
    let words: String = lines(&|n| format!("{n:x}\n"), 40_000);
    let template: String = lines(&|n| format!("U{n:05}:%x[0,0]\n"), 20_000);
    let rules: String = lines(&|_| "[[rule]]\nat_most=1\nof='a'\n".to_string(), 10_000);
    let variables = format!("{{\"variables\": [{}2]}}", "2,".repeat(60_000));
    let folder = folder
        .with("words", &words)
        .with("lines", &template)
        .with("rules.toml", &rules)
        .with("many.json", &variables)
        .with("names.toml", &lines(&|n| format!("[[rule]]\nat_most=1\nof='{n}'\n"), 10_000))
        .with("many.uai", &format!("MARKOV\n60000\n{}\n0\n", "2 ".repeat(60_000)));
    let train = ["train", "train.txt", "--model", "m", "--quiet", "--memory-limit"];
    for (what, file) in
        [("--lexicon", "words"), ("--template", "lines"), ("--constraints", "rules.toml")]
    {
        let message = folder.refusal(&[&train[..], &["8MB", what, file]].concat());
        assert!(message.starts_with(&format!("{file}: ")), "{message}");
        assert!(message.contains("MiB of memory, expected at most"), "{message}");
    }
    for command in ["solve", "check"] {
        for file in ["many.json", "many.uai"] {
            let message = folder.refusal(&[command, file, "--memory-limit", "8MB"]);
            let expected = format!("{file}: what the text holds needs ");
            assert!(message.starts_with(&expected), "{message}");
        }
    }
    let message = folder.refusal(&["check", "names.toml"]);
    assert!(message.starts_with("names.toml: found labels of 10000 states"), "{message}");
    folder.succeeds(&["inspect", "model", "--top", "18446744073709551615"]);
    let message = folder.refusal(&["check", "lines", "--memory-limit", "8MB"]);
    assert!(message.starts_with("lines: the template needs"), "{message}");
    let message = folder.refusal(&["check", "rules.toml", "--memory-limit", "8MB"]);
    assert!(message.starts_with("rules.toml: the file needs"), "{message}");
}

#[test]
fn marginals_that_are_printed_count() {
    let table = |n: u32| (0..1 << n).map(|_| "0").collect::<Vec<_>>().join(",");
    let scope: Vec<String> = (0..16).map(|n| n.to_string()).collect();
    let problem = format!(
        "{{\"variables\": [{}], \"factors\": [{{\"scope\": [{}], \"log_potentials\": [{}]}}]}}",
        vec!["2"; 16].join(","),
        scope.join(","),
        table(16)
    );
    let folder = Folder::new().with("p.json", &problem);
    let solve = ["solve", "p.json", "--memory-limit", "3MB"];
    let message = folder.refusal(&solve);
    assert!(message.contains("the marginals of all its factors needs 3.5 MiB"), "{message}");
    assert!(message.ends_with("--marginals nodes and none need less"), "{message}");
    folder.succeeds(&[&solve[..], &["--marginals", "nodes"]].concat());
}

#[test]
fn many_lines_of_a_template_are_read_in_no_time() {
    let lines: String = (0..100_000).map(|n| format!("U{n:06}:%x[0,0]\n")).collect();
    let folder =
        Folder::new().with("template", &lines).with("shared", &(lines.clone() + "U00%x[0,0]"));
    assert!(folder.succeeds(&["check", "template"]).contains("from 100000 lines"));
    let message = folder.refusal(&["check", "shared"]);
    assert!(message.contains("line 100001: starts with \"U00\" like line 1"), "{message}");
}

#[test]
fn a_byte_order_mark_is_skipped_in_every_text() {
    let folder = with_model();
    let marked = |name: &str, text: &str| fs::write(folder.path(name), format!("\u{feff}{text}"));
    marked("marked.json", CONVEX).unwrap();
    marked("marked.jsonl", &(with_offset(1.0) + "\n")).unwrap();
    marked("marked.uai", "MARKOV 1 2 1 1 0 2 1 3").unwrap();
    marked("marked.evid", "1 0 1").unwrap();
    marked("energies.json", r#"{"energies": []}"#).unwrap();
    marked("rules.toml", "[[rule]]\nat_most = 1\nof = 'a'\nweight = 1.0\n").unwrap();
    marked("marked-template", "Uword:%x[0,0]\nB\n").unwrap();
    marked("words.txt", "one\n").unwrap();
    marked("marked.txt", &folder.read("train.txt")).unwrap();
    marked("marked-cells.csv", &folder.read("cells.csv")).unwrap();
    marked("marked-counts.csv", &folder.read("counts.csv")).unwrap();
    for file in ["marked.json", "marked.jsonl", "marked.uai"] {
        assert!(!answers(folder.succeeds(&["solve", file]).as_bytes()).is_empty());
        folder.succeeds(&["check", file]);
    }
    for file in ["marked.evid", "energies.json", "rules.toml", "marked-template"] {
        folder.succeeds(&["check", file]);
    }
    let uai = ["solve", "marked.uai", "--evidence", "marked.evid", "--energies", "energies.json"];
    folder.succeeds(&uai);
    let flags = ["--template", "marked-template", "--constraints", "rules.toml"];
    let train = ["train", "marked.txt", "--model", "m", "--quiet", "--lexicon", "words.txt"];
    folder.succeeds(&[&train[..], &flags].concat());
    let template = folder.inspect("m")["template"].to_string();
    assert!(!template.contains('\u{feff}'), "{template}");
    folder.succeeds(&[
        "flows",
        "marked-counts.csv",
        "--cells",
        "marked-cells.csv",
        "--population",
        "4",
        "--quiet",
    ]);
}

#[test]
fn a_line_beyond_the_limit_is_answered_in_its_place() {
    let long = format!("{{\"variables\": [2], \"x\": \"{}\"}}", "y".repeat(3 << 20));
    let text = format!("{}\n{long}\n\n{}\n{long}", with_offset(1.0), with_offset(2.0));
    let folder = Folder::new().with("b.jsonl", &text);
    let solve = ["solve", "b.jsonl", "--memory-limit", "8MB"];
    let output = folder.bethe(&solve);
    assert_eq!(output.status.code(), Some(2));
    let found = answers(&output.stdout);
    assert_eq!(found.len(), 4);
    for (place, line) in [(1, 2), (3, 5)] {
        let message = found[place]["error"].as_str().unwrap();
        let expected = format!("b.jsonl:{line}: the text of the input needs 7.6 MiB of memory");
        let bytes = format!("b.jsonl:{line}: the text of the input needs 8000004 bytes");
        assert!(message.starts_with(&expected) || message.starts_with(&bytes), "{message}");
    }
    for (place, score) in [(0, 1.0), (2, 2.0)] {
        assert!(common::close(&found[place]["map"]["log_score"], score, 1e-12));
    }
    assert!(error(&output).starts_with("error: b.jsonl:2: "), "{}", error(&output));
    assert!(error(&output).ends_with(" (and 1 more)\n"), "{}", error(&output));
    // Strict ends there, and whoever needs every line refuses.
    let output = folder.bethe(&[&solve[..], &["--strict"]].concat());
    assert_eq!((output.status.code(), answers(&output.stdout).len()), (Some(2), 1));
    assert!(folder.refusal(&[&solve[..], &["--format", "pr"]].concat()).starts_with("b.jsonl:2: "));
    let message = folder.refusal(&["check", "b.jsonl", "--memory-limit", "8MB"]);
    assert!(message.starts_with("b.jsonl:2: "), "{message}");
    // From standard input, a first line may be all there is.
    let output = folder.bethe_with_input(&["solve", "-", "--memory-limit", "8MB"], &long);
    assert_eq!((output.status.code(), output.stdout.len()), (Some(2), 0));
    assert!(error(&output).starts_with("error: standard input: the text"), "{}", error(&output));
}

#[test]
fn messages_repeat_no_more_than_people_read() {
    let long = "y".repeat(1 << 20);
    let folder = with_model()
        .with("field.json", &format!("{{\"variables\": [2], \"{long}\": 1}}"))
        .with("batch.jsonl", &format!("{{\"variables\": [2], \"{long}\": 1}}\n{EXAMPLE}"))
        .with("type.json", &format!("{{\"variables\": \"{long}\"}}"))
        .with("words.uai", &format!("MARKOV {long}"))
        .with("long-template", &format!("X{long}"))
        .with("rules.toml", &format!("[[rule]]\n{long} = 1\n"))
        .with("long.csv", &format!("time,a,{long}\n1,2,3\n"));
    for arguments in [
        &["solve", "field.json"][..],
        &["check", "type.json"],
        &["check", "rules.toml"],
        &["solve", "words.uai"],
        &["solve", "p.json", "--solver", &long[..100_000]],
        &["train", "train.txt", "--model", "m", "--template", "long-template"],
        &["flows", "long.csv", "--cells", "cells.csv", "--population", "4"],
        &["solve", &long[..3000]],
    ] {
        let output = folder.bethe(arguments);
        assert_eq!(output.status.code(), Some(2), "{}", arguments[0]);
        let message = error(&output);
        assert!(message.len() < 5000, "{}: {} bytes", arguments[0], message.len());
        assert!(message.contains('…'), "{message}");
    }
    let output = folder.bethe(&["solve", "batch.jsonl"]);
    assert!(output.stdout.len() < 10_000, "{} bytes", output.stdout.len());
}

/// Each with the file that comes through a pipe, and where it stands.
const PIPED: [(&[&str], usize); 9] = [
    (&["solve", "p.json", "--quiet", "--format", "mar"], 1),
    (&["sample", "p.json", "--records", "3"], 1),
    (&["check", "p.json"], 1),
    (&["check", "model"], 1),
    (&["tag", "model", "train.txt", "--quiet"], 1),
    (&["tag", "model", "train.txt", "--quiet"], 2),
    (&["inspect", "model"], 1),
    (&["flows", "counts.csv", "--cells", "cells.csv", "--population", "4"], 1),
    (&["flows", "counts.csv", "--cells", "cells.csv", "--population", "4"], 3),
];

#[test]
fn a_named_pipe_is_read_like_a_file() {
    let folder = with_model();
    // Without the time, which differs from run to run.
    let shown = |text: String| {
        let text = text.replace("pipes/", "");
        text.split(',').filter(|part| !part.contains("seconds")).collect::<Vec<_>>().join(",")
    };
    fs::create_dir(folder.path("pipes")).unwrap();
    for (arguments, place) in PIPED {
        let expected = folder.succeeds(arguments);
        let file = arguments[place];
        let named = format!("pipes/{file}");
        let pipe = folder.path(&named);
        assert!(Command::new("mkfifo").arg(&pipe).status().unwrap().success());
        let (bytes, fed) = (folder.bytes(file), pipe.clone());
        let feeder = std::thread::spawn(move || fs::write(fed, bytes));
        let mut piped = arguments.to_vec();
        piped[place] = &named;
        assert_eq!(shown(folder.succeeds(&piped)), shown(expected), "{piped:?}");
        feeder.join().unwrap().unwrap();
        fs::remove_file(pipe).unwrap();
    }
}
