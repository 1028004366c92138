//! Commands that are killed at random moments. After each kill the old result or the new one is
//! there whole, files of others are as they were, and the next run works and tidies up.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::thread::sleep;
use std::time::{Duration, Instant};

/// What became of a command's kills.
#[derive(Debug, Default)]
pub struct Fared {
    /// Runs that were killed before they ended.
    pub killed: usize,
    /// After the kill, the old result was there.
    pub old: usize,
    /// After the kill, the new result was there.
    pub new: usize,
    /// Kills that left something beside, for the next run to remove.
    pub left: usize,
    /// What must not happen: a mixture, a lost or changed file, a next run that fails.
    pub faults: Vec<String>,
}

/// What a folder holds, by path, without lines that tell the time.
type Content = BTreeMap<String, Vec<u8>>;

/// A command in two variants, whose results differ.
pub struct Subject<'a> {
    /// The binary.
    pub bethe: &'a Path,
    /// The folder that it runs in, with its inputs.
    pub folder: &'a Path,
    /// The file or folder that it writes.
    pub target: &'a str,
    /// Makes the old result.
    pub old: Vec<&'a str>,
    /// Makes the new result, and is killed.
    pub new: Vec<&'a str>,
    /// Whether only the same command goes on after a kill, as in training.
    pub resumes: bool,
}

impl Subject<'_> {
    /// Kills it so often.
    pub fn kill(&self, count: usize, seed: u64) -> Fared {
        let mut random = Random(seed);
        let mut fared = Fared::default();
        self.run(&self.new);
        let new = self.result();
        self.run(&self.new);
        assert!(self.result() == new, "{}: two runs differ", self.target);
        // Other work on the machine comes and goes, so the latest run tells how long one takes.
        let mut whole = self.run(&self.old);
        let old = self.result();
        assert!(old != new, "{}: the variants do not differ", self.target);
        let others = self.others();
        for kill in 0..count {
            // Half of them near the end, where results get their names.
            let share = if kill % 2 == 0 { random.share() } else { 0.8 + 0.25 * random.share() };
            fared.killed += usize::from(self.killed_after(whole.mul_f64(share)));
            let (found, tidy) = (self.result(), self.is_tidy());
            let mut wrong = |what: &str| fared.faults.push(format!("kill {kill}: {what}"));
            if self.others() != others {
                wrong("a file of somebody else changed");
            }
            if found != old && found != new {
                wrong("neither the old result nor the new one is there");
            }
            let begun = Instant::now();
            let next = if self.resumes { &self.new } else { &self.old };
            if !self.runs(next) {
                wrong("the next run failed");
            }
            whole = begun.elapsed();
            if self.result() != *(if self.resumes { &new } else { &old }) {
                wrong("the next run came to something else");
            }
            if !self.is_tidy() || self.others() != others {
                wrong("the next run left something behind, or took too much away");
            }
            fared.old += usize::from(found == old);
            fared.new += usize::from(found == new);
            fared.left += usize::from(!tidy);
            if self.resumes {
                whole = self.run(&self.old);
            }
        }
        fared
    }

    /// Runs the new variant, and kills it after this time. Returns whether it still ran.
    fn killed_after(&self, time: Duration) -> bool {
        let mut child = self.command(&self.new).spawn().expect("the binary starts");
        sleep(time);
        let runs = child.try_wait().expect("our own child").is_none();
        // By its own id, and nothing else.
        let _ = child.kill();
        child.wait().expect("our own child");
        runs
    }

    fn command(&self, arguments: &[&str]) -> Command {
        let mut command = Command::new(self.bethe);
        command.current_dir(self.folder).args(arguments);
        command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
        command
    }

    fn runs(&self, arguments: &[&str]) -> bool {
        self.command(arguments).status().expect("the binary starts").success()
    }

    /// How long it took.
    fn run(&self, arguments: &[&str]) -> Duration {
        let begun = Instant::now();
        assert!(self.runs(arguments), "{arguments:?} failed");
        begun.elapsed()
    }

    /// The target's content; nothing if it is not there.
    fn result(&self) -> Content {
        let mut content = self.content();
        content.retain(|name, _| self.is_result(name));
        content
    }

    /// What the command has not written.
    fn others(&self) -> Content {
        let mut content = self.content();
        content.retain(|name, _| !self.is_result(name) && !is_leftover(name));
        content
    }

    fn is_tidy(&self) -> bool {
        !self.content().keys().any(|name| is_leftover(name))
    }

    fn is_result(&self, name: &str) -> bool {
        let inside = name.strip_prefix(self.target);
        inside.is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
            && !name.contains("mine")
    }

    fn content(&self) -> Content {
        let mut content = Content::new();
        visit(self.folder, "", &mut content);
        content
    }
}

/// Whether something is unfinished: temporary files and folders, locks, checkpoints.
fn is_leftover(name: &str) -> bool {
    let top = name.split('/').next().unwrap_or_default();
    top.starts_with('.') || top.ends_with(".checkpoint") || name.ends_with(".bethe-partial")
}

fn visit(folder: &Path, prefix: &str, content: &mut Content) {
    for entry in fs::read_dir(folder).expect("a folder of the test's own").flatten() {
        let name = format!("{prefix}{}", entry.file_name().to_string_lossy());
        if entry.path().is_dir() {
            visit(&entry.path(), &format!("{name}/"), content);
        } else if !name.ends_with("/.bethe-files") {
            content.insert(name, without_times(fs::read(entry.path()).unwrap_or_default()));
        }
    }
}

/// Text without the numbers that tell how long a run took.
fn without_times(bytes: Vec<u8>) -> Vec<u8> {
    let Ok(text) = std::str::from_utf8(&bytes) else { return bytes };
    let mut parts = text.split("\"seconds\":");
    let mut kept = parts.next().unwrap_or_default().to_string();
    for part in parts {
        kept.push_str(part.trim_start().trim_start_matches(|c: char| "0123456789.e-".contains(c)));
    }
    kept.into_bytes()
}

struct Random(u64);

impl Random {
    /// Between 0 and 1.
    fn share(&mut self) -> f64 {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
        (self.0 >> 33) as f64 / (1_u64 << 31) as f64
    }
}

/// Puts what all subjects read, and files of others, into a folder.
pub fn prepare(folder: &Path, references: &str) {
    let put = |name: &str, content: &str| {
        let path: PathBuf = folder.join(name);
        fs::create_dir_all(path.parent().expect("a folder")).expect("room");
        fs::write(path, content).expect("room");
    };
    put("train.txt", references);
    put("template", "Uword:%x[0,0]\nUbefore:%x[-1,0]\nB\n");
    let place = |cell: usize| format!("c{cell},{},{}\n", cell % 5, cell / 5);
    put("cells.csv", &("cell,x,y\n".to_string() + &(0..25).map(place).collect::<String>()));
    for (name, times) in [("few.csv", 30), ("many.csv", 40)] {
        let heads: String = (0..25).map(|cell| format!(",c{cell}")).collect();
        let count = |time: usize, cell: usize| format!(",{}", (time * 7 + cell * 3) % 11);
        let row = |time| {
            let counts: String = (0..25).map(|cell| count(time, cell)).collect();
            format!("{time}{counts}\n")
        };
        put(name, &(format!("time{heads}\n") + &(0..times).map(row).collect::<String>()));
    }
    let problem = |line: usize| {
        let score = line % 13;
        format!(
            "{{\"variables\": [2, 2], \"factors\": [{{\"scope\": [0, 1], \"log_potentials\": \
             [{score}, 0, 1, 0]}}]}}\n"
        )
    };
    put("batch.jsonl", &(0..3000).map(problem).collect::<String>());
    put("out/mine.txt", "mine");
    put("out/frames/mine.svg", "mine");
    put("mine.checkpoint.txt", "mine");
    put("model.mine", "mine");
}

/// Training, flows and a batch, in a prepared folder.
pub fn subjects<'a>(bethe: &'a Path, folder: &'a Path) -> Vec<(&'static str, Subject<'a>)> {
    let train = |l2| {
        let flags = ["train", "train.txt", "--template", "template", "--model", "model"];
        let often = ["--checkpoint-every", "0s", "--threads", "1", "--constraints", "auto"];
        [&flags[..], &often, &["--rule-penalty", "1", "--max-iterations", "30", "--l2", l2]]
            .concat()
    };
    let flows = |counts| {
        let flags = ["flows", counts, "--cells", "cells.csv", "--population", "130"];
        [&flags[..], &["--out", "out", "--reach", "2"]].concat()
    };
    let batch = |marginals| {
        vec!["solve", "batch.jsonl", "--marginals", marginals, "--out", "answers.jsonl"]
    };
    let subject = |target, old, new| Subject { bethe, folder, target, old, new, resumes: false };
    vec![
        ("train", Subject { resumes: true, ..subject("model", train("1"), train("2")) }),
        ("flows --out", subject("out", flows("many.csv"), flows("few.csv"))),
        ("solve --out", subject("answers.jsonl", batch("all"), batch("none"))),
    ]
}
