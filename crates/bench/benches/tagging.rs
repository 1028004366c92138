//! Training and tagging beside CRFsuite, on the same attributes.
//!
//! `cargo bench -p bethe-bench --bench tagging -- --data DIR` reads `DIR/conll2000`, writes attribute
//! files to a temporary folder, and prints the ratios. CRFsuite runs through Python's `python-crfsuite`
//! (`PYTHON` names the interpreter, `python3` by default); where it cannot be imported, our own times
//! are printed and the comparison is skipped.

use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Instant;

use bethe_bench::Verdicts;
use bethe_tasks::tagging::data::{Format, Sequence, Sequences};
use bethe_tasks::tagging::score::Score;
use bethe_tasks::tagging::train::{ConstraintSource, Event, Labelled, TrainSettings, train};
use bethe_tasks::tagging::{TagOptions, Tagger, Tagging};
use serde_json::Value;

const L2: f64 = 1.0;
/// Iterations of CRFsuite; ours go on until they reach its loss.
const ITERATIONS: usize = 100;

fn main() {
    let mut arguments = std::env::args().skip_while(|argument| argument != "--data").skip(1);
    let Some(data) = arguments.next().map(PathBuf::from) else {
        println!("skipped: --data DIR names the folder that holds conll2000/");
        return;
    };
    let folder = std::env::temp_dir().join(format!("bethe-bench-{}", std::process::id()));
    std::fs::create_dir_all(&folder).expect("a temporary folder");
    let files = ["train", "test"].map(|part| {
        let rows = read(&data.join(format!("conll2000/{part}.txt.gz")), Format::Columns);
        let path = folder.join(format!("{part}.attributes"));
        std::fs::write(&path, attributes(&rows)).expect("room in the temporary folder");
        path
    });
    let [training, test] = files.each_ref().map(|path| read(path, Format::Attributes));
    let peer = peer(&files, &folder.join("crfsuite.model"));
    let target = peer.as_ref().map(|peer| {
        let losses = peer["losses"].as_array().expect("losses");
        losses.last().and_then(Value::as_f64).expect("a loss")
    });
    let mut verdicts = Verdicts::default();
    let mut tagger = None;
    for (threads, least) in [(1, 2.0), (2, 4.0)] {
        let (seconds, iterations, trained) = fit(&training, threads, target);
        println!("bethe, {threads} threads: {seconds:.1} s, {iterations} iterations");
        if let Some(peer) = &peer {
            let theirs = peer["train_seconds"].as_f64().expect("seconds");
            println!("CRFsuite: {theirs:.1} s, {ITERATIONS} iterations, one thread");
            let name = format!("training, CRFsuite over ours, {threads} threads");
            verdicts.at_least(&name, theirs / seconds, least);
        }
        tagger = Some(trained);
    }
    let tagger = tagger.expect("a trained tagger");
    let (seconds, f1) = tag(&tagger, &test, &TagOptions { rules: false, ..TagOptions::default() });
    println!("bethe tags in {seconds:.3} s of one thread, F1 {:.2}", 100.0 * f1);
    if let Some(peer) = &peer {
        let theirs = peer["tag_seconds"].as_f64().expect("seconds");
        let their_f1 = peer_f1(peer, &tagger, &test);
        println!("CRFsuite tags in {theirs:.3} s, F1 {:.2}", 100.0 * their_f1);
        verdicts.at_least("tagging, CRFsuite over ours", theirs / seconds, 4.0);
        verdicts.at_least("F1 less CRFsuite's, in points", 100.0 * (f1 - their_f1), -0.1);
        let memory = peer["memory"].as_f64().expect("bytes");
        if let Some(own) = peak_memory() {
            println!("peak memory: {:.0} MB, CRFsuite {:.0} MB", own / 1e6, memory / 1e6);
            verdicts.at_most("peak memory over CRFsuite's", own / memory, 1.0);
        }
    }
    rules(&training, &test, &mut verdicts);
    let _ = std::fs::remove_dir_all(&folder);
    verdicts.print();
}

fn read(path: &Path, format: Format) -> Vec<Sequence> {
    let sequences = Sequences::open(path, format).expect("the data set");
    sequences.collect::<Result<_, _>>().expect("well-formed data")
}

/// Words, parts of speech and their neighbours, as CRFsuite's chunking example has them.
fn attributes(sequences: &[Sequence]) -> String {
    let mut text = String::new();
    for sequence in sequences {
        let cell = |t: usize, row: isize, column: usize| {
            let at = t.checked_add_signed(row).filter(|&at| at < sequence.len())?;
            Some(sequence.cell(at, column).expect("three columns").replace('\\', "\\\\"))
        };
        for t in 0..sequence.len() {
            text.push_str(sequence.cell(t, 2).expect("a label"));
            let mut join = |name: &str, column: usize, rows: &[isize]| {
                let cells: Option<Vec<String>> =
                    rows.iter().map(|&row| cell(t, row, column)).collect();
                if let Some(cells) = cells {
                    let value = cells.join("|").replace(':', "\\:");
                    let _ = write!(text, "\t{name}{rows:?}={value}");
                }
            };
            (-2..=2).for_each(|row| join("w", 0, &[row]));
            (-1..=0).for_each(|row| join("w", 0, &[row, row + 1]));
            (-2..=2).for_each(|row| join("p", 1, &[row]));
            (-2..=1).for_each(|row| join("p", 1, &[row, row + 1]));
            (-2..=0).for_each(|row| join("p", 1, &[row, row + 1, row + 2]));
            text.push('\n');
        }
        text.push('\n');
    }
    text
}

/// What CRFsuite makes of the files, if it is there.
fn peer([training, test]: &[PathBuf; 2], model: &Path) -> Option<Value> {
    let python = std::env::var("PYTHON").unwrap_or_else(|_| "python3".to_string());
    let script = concat!(env!("CARGO_MANIFEST_DIR"), "/peers/crfsuite.py");
    let mut command = Command::new(python);
    command.arg(script).args([training, test]).arg(model);
    let output = command.args([L2.to_string(), ITERATIONS.to_string()]).output().ok()?;
    if !output.status.success() {
        println!("CRFsuite is skipped: {}", String::from_utf8_lossy(&output.stderr).trim());
        return None;
    }
    serde_json::from_slice(&output.stdout).ok()
}

/// Trains until the loss is CRFsuite's: seconds, iterations, and the tagger.
fn fit(training: &[Sequence], threads: usize, target: Option<f64>) -> (f64, usize, Tagger) {
    let mut settings = TrainSettings { format: Format::Attributes, ..TrainSettings::default() };
    settings.base.l2 = L2;
    settings.base.least_decrease = 0.0;
    settings.base.max_iterations = ITERATIONS;
    let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().expect("threads");
    let (mut started, mut reached) = (Instant::now(), None);
    let tagger = pool.install(|| {
        let labelled = Labelled { sequences: training, scores: None };
        train(labelled, None, &settings, &mut |event| match event {
            // Both sides are timed from when their data are in memory.
            Event::Data { .. } => started = Instant::now(),
            Event::Iteration { iteration, loss, .. } => {
                let there = target.is_none_or(|target| loss <= target);
                if reached.is_none() && (there || iteration == ITERATIONS) {
                    reached = Some((started.elapsed().as_secs_f64(), iteration));
                }
            }
            _ => (),
        })
    });
    let (seconds, iterations) = reached.expect("an iteration");
    (seconds, iterations, tagger.expect("a data set to train on"))
}

/// Tags on one thread: seconds and F1.
fn tag(tagger: &Tagger, test: &[Sequence], options: &TagOptions) -> (f64, f64) {
    let mut tagging = Tagging::new(tagger);
    let start = Instant::now();
    let found: Vec<Vec<usize>> = test
        .iter()
        .map(|sequence| tagging.tag(sequence, options).expect("a sequence of the data set"))
        .map(|mut tagged| tagged.best.swap_remove(0).0)
        .collect();
    let seconds = start.elapsed().as_secs_f64();
    let labels = |path: &Vec<usize>| -> Vec<String> {
        path.iter().map(|&state| tagger.states().label(state).to_string()).collect()
    };
    (seconds, f1(tagger, test, &found.iter().map(labels).collect::<Vec<_>>()))
}

fn peer_f1(peer: &Value, tagger: &Tagger, test: &[Sequence]) -> f64 {
    let found = serde_json::from_value::<Vec<Vec<String>>>(peer["labels"].clone());
    f1(tagger, test, &found.expect("lists of labels"))
}

fn f1(tagger: &Tagger, test: &[Sequence], found: &[Vec<String>]) -> f64 {
    let mut score = Score::new(tagger.states().scheme());
    for (sequence, found) in test.iter().zip(found) {
        let truth: Vec<_> = (0..sequence.len()).map(|t| sequence.attribute_label(t)).collect();
        let truth: Vec<&str> = truth.iter().map(|label| label.as_ref()).collect();
        score.add(&truth, &found.iter().map(String::as_str).collect::<Vec<_>>());
    }
    score.leaf().f1()
}

/// Tagging with ten iterations of inference under rules over tagging without.
fn rules(training: &[Sequence], test: &[Sequence], verdicts: &mut Verdicts) {
    let mut settings = TrainSettings { format: Format::Attributes, ..TrainSettings::default() };
    settings.base.max_iterations = 30;
    settings.constraints = ConstraintSource::Auto;
    settings.rules.l1 = Some(1.0);
    settings.rules.passes = 5;
    let labelled = Labelled { sequences: &training[..2000.min(training.len())], scores: None };
    let tagger = train(labelled, None, &settings, &mut |_| ()).expect("a data set to train on");
    if tagger.rules().is_empty() {
        println!("tagging under rules is skipped: none was worth a weight on these data");
        return;
    }
    let mut options = TagOptions { rules: false, ..TagOptions::default() };
    options.limits.max_iterations = 10;
    options.limits.tolerance = 1e-300;
    let (plain, _) = tag(&tagger, test, &options);
    let (ruled, _) = tag(&tagger, test, &TagOptions { rules: true, ..options });
    println!("tagging under {} rules: {ruled:.3} s, without {plain:.3} s", tagger.rules().len());
    verdicts.at_most("tagging with ten iterations over plain", ruled / plain, 6.0);
}

/// The most memory this process had, where the system tells.
fn peak_memory() -> Option<f64> {
    let status = std::fs::read_to_string("/proc/self/status").ok()?;
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"))?;
    line.trim().strip_suffix("kB")?.trim().parse::<f64>().ok().map(|kilobytes| kilobytes * 1024.0)
}
