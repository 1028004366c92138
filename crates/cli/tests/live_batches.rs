//! Batches whose input stays open, and signals.

mod common;

use std::io::{BufRead, BufReader, Read, Write};
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};
use std::time::{Duration, Instant};

use assert_cmd::cargo::cargo_bin;
use common::{CONVEX, Folder, answers, error, flat, one, with_offset};
use serde_json::{Value, json};

/// A problem that a slow solver is busy with for ever.
fn endless(folder: &Folder) -> Command {
    let mut command = Command::new(cargo_bin("bethe"));
    command.args(["solve", "--solver", "mirror-descent", "--step-size", "1e-12"]);
    command.args(["--tolerance", "1e-14", "--max-iterations", "1000000000000"]);
    command.arg(folder.path("p.json")).stdout(Stdio::piped()).stderr(Stdio::piped());
    command
}

/// A process that answers lines as they come.
struct Asked {
    child: Child,
    input: Option<ChildStdin>,
    output: BufReader<ChildStdout>,
}

impl Asked {
    fn start(folder: &Folder, arguments: &[&str]) -> Self {
        let mut command = Command::new(cargo_bin("bethe"));
        command.current_dir(folder.path("")).arg("solve").args(arguments);
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut child = command.spawn().unwrap();
        let input = child.stdin.take();
        let output = BufReader::new(child.stdout.take().unwrap());
        Self { child, input, output }
    }

    fn send(&mut self, line: &str) {
        self.input.as_mut().unwrap().write_all(format!("{line}\n").as_bytes()).unwrap();
    }

    fn answer(&mut self) -> Value {
        let mut line = String::new();
        self.output.read_line(&mut line).unwrap();
        serde_json::from_str(&line).unwrap()
    }

    /// The rest of what it writes, and its exit code.
    fn end(mut self) -> (Vec<Value>, Option<i32>, String) {
        drop(self.input.take());
        let (mut rest, mut said) = (Vec::new(), String::new());
        self.output.read_to_end(&mut rest).unwrap();
        self.child.stderr.take().unwrap().read_to_string(&mut said).unwrap();
        (answers(&rest), self.child.wait().unwrap().code(), said)
    }
}

#[test]
fn answers_appear_while_the_input_is_still_open() {
    let folder = Folder::new();
    for bad_first in [false, true] {
        let mut asked = Asked::start(&folder, &["-", "--marginals", "none"]);
        if bad_first {
            asked.send(r#"{"variables": [0]}"#);
            let answer = asked.answer();
            let message = answer["error"].as_str().unwrap();
            assert!(message.starts_with("standard input:1: "), "{message}");
        }
        for i in 0..3 {
            asked.send(&with_offset(f64::from(i)));
            assert!(common::close(&asked.answer()["map"]["log_score"], f64::from(i), 1e-12));
        }
        asked.send("no JSON");
        let line = if bad_first { 5 } else { 4 };
        let answer = asked.answer();
        let message = answer["error"].as_str().unwrap();
        assert!(message.starts_with(&format!("standard input:{line}: ")), "{message}");
        let (rest, code, said) = asked.end();
        assert_eq!((rest.len(), code), (0, Some(2)), "{said}");
    }
}

#[cfg(target_os = "linux")]
#[test]
fn memory_does_not_grow_with_the_number_of_lines() {
    let folder = Folder::new();
    let mut asked = Asked::start(&folder, &["-", "--threads", "2"]);
    let problem = flat(CONVEX);
    let most = |asked: &Asked| -> usize {
        let status = std::fs::read_to_string(format!("/proc/{}/status", asked.child.id())).unwrap();
        let line = status.lines().find(|line| line.starts_with("VmHWM")).unwrap();
        line.split_whitespace().nth(1).unwrap().parse().unwrap()
    };
    let after = |asked: &mut Asked, lines: usize| {
        // Fewer than fit into the pipe, so that neither side waits for the other.
        for _ in 0..lines / 20 {
            (0..20).for_each(|_| asked.send(&problem));
            (0..20).for_each(|_| drop(asked.answer()));
        }
        most(asked)
    };
    let early = after(&mut asked, 200);
    let late = after(&mut asked, 10_000);
    // Held problems and answers would take over 40 MB.
    assert!(late < early + 12_000, "{early} kB after 200 lines, {late} kB after 10,200");
    assert_eq!(asked.end().1, Some(0));
}

#[cfg(unix)]
#[test]
fn a_batch_that_is_asked_to_end_leaves_what_was_answered() {
    let slow = wide(150);
    for signal in ["-INT", "-TERM"] {
        let folder = Folder::new().with("old", "old");
        for out in [&[][..], &["--out", "answers"]] {
            let flags = ["-", "--threads", "1", "--marginals", "none"];
            let mut asked = Asked::start(&folder, &[&flags, out].concat());
            asked.send(&with_offset(1.0));
            if out.is_empty() {
                asked.answer();
            }
            asked.send(&slow);
            std::thread::sleep(Duration::from_millis(500));
            let id = asked.child.id().to_string();
            Command::new("kill").args([signal, &id]).status().unwrap();
            // Its input stays open: it does not wait for more.
            let mut rest = Vec::new();
            asked.output.read_to_end(&mut rest).unwrap();
            let (_, code, said) = asked.end();
            assert_eq!(code, Some(130), "{said}");
            assert!(said.starts_with("error: 1 problem: cancelled before there was"), "{said}");
            assert!(
                said.ends_with(
                    "standard input: stopped after 2 lines of answers; the rest was not read\n"
                ),
                "{said}"
            );
            let rest = if out.is_empty() { rest } else { folder.bytes("answers") };
            let rest = answers(&rest);
            assert_eq!(rest.len(), if out.is_empty() { 1 } else { 2 });
            assert_eq!(rest.last().unwrap()["error"], "cancelled before there was an answer");
        }
    }
}

#[cfg(unix)]
#[test]
fn a_second_ctrl_c_ends_at_once_and_leaves_nothing_unfinished() {
    let folder = Folder::with_references(5, 1);
    let at = folder.path("");
    // The first command waits for its data for ever; the second looks at Ctrl-C between its parts.
    Command::new("mkfifo").arg(folder.path("pipe")).status().unwrap();
    let before = folder.files();
    for (arguments, shows) in [
        (&["train", "pipe", "--model", "model"][..], ".bethe-lock"),
        (&["demo", "--out", "tour"], ".bethe-partial"),
    ] {
        let mut command = Command::new(cargo_bin("bethe"));
        command.current_dir(&at).args(arguments).stdout(Stdio::null()).stderr(Stdio::null());
        let mut child = command.spawn().unwrap();
        let end = Instant::now() + Duration::from_secs(60);
        while !folder.files().iter().any(|name| name.ends_with(shows)) {
            assert!(Instant::now() < end, "nothing is being written");
            std::thread::sleep(Duration::from_millis(5));
        }
        for _ in 0..2 {
            Command::new("kill").args(["-INT", &child.id().to_string()]).status().unwrap();
            std::thread::sleep(Duration::from_millis(100));
        }
        assert_eq!(child.wait().unwrap().code(), Some(130), "{arguments:?}");
        assert_eq!(folder.files(), before, "{arguments:?}");
    }
}

#[cfg(unix)]
#[test]
fn ctrl_c_prints_the_current_answer() {
    let folder = Folder::new().with("p.json", CONVEX);
    let child = endless(&folder).spawn().unwrap();
    std::thread::sleep(Duration::from_millis(500));
    Command::new("kill").args(["-INT", &child.id().to_string()]).status().unwrap();
    let output = child.wait_with_output().unwrap();
    assert_eq!(output.status.code(), Some(0), "{}", error(&output));
    let answer = one(&output);
    assert_eq!(answer["status"], "stopped");
    assert!(answer["objective"].is_number() && answer["map"]["assignment"].is_array());
    assert_eq!(error(&output), "", "no progress where standard error is no terminal");
}

/// A grid that takes long to set up.
fn wide(side: usize) -> String {
    let sites = side * side;
    let right = (0..sites).filter(|site| site % side + 1 < side).map(|site| [site, site + 1]);
    let below = (0..sites - side).map(|site| [site, site + side]);
    let factors: Vec<Value> = right
        .chain(below)
        .map(|scope| json!({"scope": scope, "log_potentials": [0.9, -0.9, -0.9, 0.9]}))
        .collect();
    json!({"variables": vec![2; sites], "factors": factors}).to_string()
}

#[cfg(unix)]
#[test]
fn ctrl_c_ends_set_up_and_keeps_what_is_answered() {
    let lines = [with_offset(1.0), wide(150), with_offset(2.0)].join("\n");
    let folder = Folder::new().with("b.jsonl", &lines).with("w.json", &wide(150));
    let stop = |file: &str| {
        let child = Command::new(cargo_bin("bethe"))
            .args(["solve", "--threads", "1", "--marginals", "none"])
            .arg(folder.path(file))
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        std::thread::sleep(Duration::from_millis(1000));
        Command::new("kill").args(["-INT", &child.id().to_string()]).status().unwrap();
        child.wait_with_output().unwrap()
    };
    let output = stop("w.json");
    assert_eq!(output.status.code(), Some(130), "{}", error(&output));
    assert!(output.stdout.is_empty());
    assert!(error(&output).ends_with("w.json: cancelled before there was an answer\n"));

    let output = stop("b.jsonl");
    assert_eq!(output.status.code(), Some(130), "{}", error(&output));
    let answers = answers(&output.stdout);
    assert_eq!(answers[0]["status"], "converged");
    for unanswered in &answers[1..] {
        assert_eq!(unanswered["error"], "cancelled before there was an answer");
    }
    assert_eq!(answers.len(), 3);
}
