//! Pipes that can be read only once, and standard streams that are full or closed.

#![cfg(unix)]

mod common;

use std::process::{Command, Output};

use assert_cmd::cargo::cargo_bin;
use common::{CONVEX, Folder, error, text};

/// Runs a line of bash in the folder; `bethe` is the binary.
fn bash(folder: &Folder, line: &str) -> Output {
    let line = format!("bethe() {{ '{}' \"$@\"; }}; {line}", cargo_bin("bethe").display());
    Command::new("bash").args(["-c", &line]).current_dir(folder.path("")).output().unwrap()
}

fn folder() -> Folder {
    let folder = Folder::with_references(20, 5)
        .with("p.json", CONVEX)
        .with("batch.jsonl", &format!("{0}\n{0}\n", CONVEX.replace('\n', " ")))
        .with("energies.json", r#"{"energies": []}"#)
        .with("m.uai", "MARKOV\n1\n2\n1\n1 0\n\n2\n 1.0 2.0\n")
        .with("e.evid", "1 0 1\n")
        .with("rules.toml", "# one\n\n[[rule]]\nexactly = 1\nof = \"title\"\n")
        .with("cells.csv", "cell,x,y\na,0,0\nb,1,0\n")
        .with("counts.csv", "time,a,b\n1,3,4\n2,2,5\n");
    folder.train("model", &[]);
    folder
}

#[test]
fn check_reads_every_kind_of_file_from_a_pipe() {
    let folder = folder();
    let files = [
        "p.json",
        "batch.jsonl",
        "energies.json",
        "m.uai",
        "e.evid",
        "rules.toml",
        "template",
        "model",
    ];
    for file in files {
        let said = folder.succeeds(&["check", file]);
        let (_, said) = said.split_once(": ").unwrap();
        // A few bytes at a time, as a slow writer would.
        for pipe in [format!("<(cat {file})"), format!("<(dd if={file} bs=3 status=none)")] {
            let output = bash(&folder, &format!("bethe check {pipe}"));
            assert!(text(&output, &[file]).ends_with(said), "{file}: {output:?}");
        }
        let output = bash(&folder, &format!("cat {file} | bethe check -"));
        assert!(text(&output, &[file]).ends_with(said), "{file}: {output:?}");
    }
}

#[test]
fn commands_read_pipes_once() {
    let folder = folder();
    for line in [
        "bethe solve <(cat p.json) --energies <(cat energies.json)",
        "bethe solve <(cat m.uai) --evidence <(cat e.evid)",
        "bethe solve <(cat batch.jsonl)",
        "bethe sample <(cat p.json) --records 2",
        "bethe inspect <(cat model)",
        "bethe evaluate <(cat model) <(cat test.txt)",
        "bethe tag <(cat model) <(cat test.txt) --quiet",
        "bethe flows <(cat counts.csv) --cells <(cat cells.csv) --population 7 --quiet",
        "bethe train <(cat train.txt) --template <(cat template) --constraints <(cat rules.toml) \
         --model piped --quiet && bethe inspect piped",
    ] {
        let output = bash(&folder, line);
        assert!(output.status.success() && !output.stdout.is_empty(), "{line}: {}", error(&output));
    }
}

#[test]
fn standard_error_that_is_full_or_closed_changes_nothing() {
    let folder = folder();
    let lines = [
        ("bethe solve p.json", 0),
        ("bethe solve missing.json", 2),
        ("bethe solve --nonsense", 2),
        ("bethe solve <(echo '{\"variables\": [0]}'; echo 1)", 2),
        ("bethe check missing.json", 2),
        ("bethe tag model test.txt", 0),
        ("bethe evaluate model test.txt", 0),
        ("bethe train train.txt --template template --model new --max-iterations 3", 0),
        ("bethe cite --model model missing.txt", 2),
        ("bethe flows counts.csv --cells cells.csv --population 7", 0),
        ("bethe flows counts.csv --cells cells.csv --population 70000 --out out", 0),
        ("bethe flows counts.csv --cells cells.csv --population 1 --reach 0 --out out", 0),
    ];
    for (line, code) in lines {
        let plain = bash(&folder, line);
        for stream in ["2>&-", "2>/dev/full"] {
            let output = bash(&folder, &format!("{line} {stream}"));
            let found = output.status.code();
            assert_eq!(found, plain.status.code(), "{line} {stream}: {}", error(&plain));
            assert!(code != 2 || found == Some(2), "{line}: {found:?}");
            assert_eq!(output.stdout.is_empty(), plain.stdout.is_empty(), "{line} {stream}");
        }
    }
}

#[test]
fn a_full_standard_output_is_told() {
    let folder = folder();
    for line in [
        "bethe solve p.json",
        "bethe solve batch.jsonl",
        "bethe check p.json",
        "bethe tag model test.txt",
        "bethe sample p.json --records 2",
        "bethe flows counts.csv --cells cells.csv --population 7",
    ] {
        let output = bash(&folder, &format!("{line} >/dev/full"));
        assert_eq!(output.status.code(), Some(1), "{line}: {}", error(&output));
        assert!(error(&output).contains("standard output: "), "{line}: {}", error(&output));
    }
}

#[test]
#[cfg(target_os = "linux")]
fn a_command_that_reads_a_terminal_says_so_and_one_ctrl_d_ends_it() {
    if Command::new("script").arg("--version").output().is_err() {
        println!("skipped: there is no `script`, which makes a terminal");
        return;
    }
    let folder = folder();
    let bethe = cargo_bin("bethe");
    for (command, what) in [
        ("cite", "references"),
        ("tag model", "one token per line"),
        ("solve -", "JSON or UAI"),
        ("check -", "a file to check"),
    ] {
        let line = format!(
            "(sleep 2; printf '\\004'; sleep 1) | timeout 60 script -qec \"'{}' {command}\" /dev/null",
            bethe.display()
        );
        let output = bash(&folder, &line);
        let said = String::from_utf8_lossy(&output.stdout);
        let expected = format!("reading {what} from standard input; Ctrl-D ends it");
        assert!(said.starts_with(&expected), "{command}: {output:?}");
        assert_ne!(output.status.code(), Some(124), "{command}: {output:?}");
    }
    let line = format!(
        "(sleep 2; printf '\\004'; sleep 1) | timeout 60 script -qec \"'{}' cite --quiet\" /dev/null",
        bethe.display()
    );
    assert_eq!(bash(&folder, &line).stdout, b"");
}
