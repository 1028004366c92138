//! Both sides of the comparison with CRFsuite: each job is a process that prints one JSON object.

use std::path::Path;
use std::process::Command;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Instant;

use bethe_bench::Verdicts;
use bethe_tagging::data::{Format, Sequence, Sequences};
use bethe_tagging::labels::Scheme;
use bethe_tagging::score::Score;
use bethe_tagging::train::{Event, Labelled, TrainError, TrainSettings, train, train_reading};
use bethe_tagging::{TagOptions, Tagger, Tagging};
use serde_json::{Value, json};

use super::data::{attribute_files, read};
use bethe_bench::usage::{peak_memory, processor_seconds};

const L2: f64 = 1.0;
/// Most iterations of ours, which go on until they reach CRFsuite's loss.
const ITERATIONS: usize = 1000;
/// Times that the test file is tagged; the least time counts.
const REPEATS: usize = 9;

/// Compares, and prints the ratios.
pub fn compare(data: &Path, verdicts: &mut Verdicts) {
    let folder = std::env::temp_dir().join(format!("bethe-bench-{}", std::process::id()));
    std::fs::create_dir_all(&folder).expect("a temporary folder");
    let [training, test] = attribute_files(data, &folder);
    let (model, their_model) = (folder.join("model"), folder.join("crfsuite.model"));
    let text = |path: &Path| path.display().to_string();
    let theirs = peer(&["train", &text(&training), &text(&their_model), &L2.to_string()]);
    if let Some(theirs) = &theirs {
        let (wall, processor) = (number(theirs, "seconds"), number(theirs, "processor"));
        let memory = number(theirs, "memory") / 1e6;
        println!(
            "CRFsuite trains in {wall:.1} s ({processor:.1} s of a processor), {} iterations, \
             {memory:.0} MB",
            theirs["losses"].as_array().map_or(0, Vec::len)
        );
    }
    let losses = theirs.as_ref().and_then(|theirs| theirs["losses"].as_array()?.last()?.as_f64());
    let target = losses.unwrap_or(f64::NEG_INFINITY).to_string();
    let files = ["--train", &text(&training), "--model", &text(&model)].map(String::from);
    let found = job("iterations", &files, &["--threads", "2", "--loss", &target]);
    let iterations = found["iterations"].to_string();
    for (threads, least) in [("1", 2.0), ("2", 4.0)] {
        let ours = job("train", &files, &["--threads", threads, "--iterations", &iterations]);
        let (wall, processor) = (number(&ours, "seconds"), number(&ours, "processor"));
        let memory = number(&ours, "memory") / 1e6;
        println!(
            "bethe trains in {wall:.1} s ({processor:.1} s of processors), {iterations} iterations, \
             {memory:.0} MB, {threads} threads"
        );
        let Some(theirs) = &theirs else { continue };
        let name = format!("training, CRFsuite over ours, {threads} threads");
        // One thread against one by processor time, which others on the machine change least.
        let (theirs_spent, ours_spent) = match threads {
            "1" => (number(theirs, "processor"), processor),
            _ => (number(theirs, "seconds"), wall),
        };
        verdicts.at_least(&name, theirs_spent / ours_spent, least);
        let name = format!("memory of training over CRFsuite's, {threads} threads");
        verdicts.at_most(&name, number(&ours, "memory") / number(theirs, "memory"), 1.0);
    }
    let repeats = REPEATS.to_string();
    let their_tags =
        theirs.and_then(|_| peer(&["tag", &text(&their_model), &text(&test), &repeats]));
    let files = ["--model", &text(&model), "--test", &text(&test)].map(String::from);
    let ours = job("tag", &files, &[]);
    let truth = read(&test, Format::Attributes);
    let f1 = 100.0 * f1_of(&ours, &truth);
    let (seconds, memory) = (number(&ours, "seconds"), number(&ours, "memory") / 1e6);
    println!("bethe tags in {seconds:.3} s of one thread, F1 {f1:.2}, {memory:.0} MB");
    if let Some(theirs) = &their_tags {
        let their_f1 = 100.0 * f1_of(theirs, &truth);
        let (their_seconds, their_memory) = (number(theirs, "seconds"), number(theirs, "memory"));
        let megabytes = their_memory / 1e6;
        println!("CRFsuite tags in {their_seconds:.3} s, F1 {their_f1:.2}, {megabytes:.0} MB");
        verdicts.at_least("tagging, CRFsuite over ours", their_seconds / seconds, 4.0);
        verdicts.at_least("F1 less CRFsuite's, in points", f1 - their_f1, -0.1);
        let name = "memory of tagging over CRFsuite's";
        verdicts.at_most(name, number(&ours, "memory") / their_memory, 1.0);
    }
    let _ = std::fs::remove_dir_all(&folder);
}

fn number(value: &Value, field: &str) -> f64 {
    value[field].as_f64().expect("a number")
}

/// What CRFsuite says, if it is there.
fn peer(arguments: &[&str]) -> Option<Value> {
    let python = std::env::var("PYTHON").unwrap_or_else(|_| "python3".to_string());
    let script = concat!(env!("CARGO_MANIFEST_DIR"), "/peers/crfsuite.py");
    let output = Command::new(python).arg(script).args(arguments).output().ok()?;
    if !output.status.success() {
        println!("CRFsuite is skipped: {}", String::from_utf8_lossy(&output.stderr).trim());
        return None;
    }
    serde_json::from_slice(&output.stdout).ok()
}

/// Runs one of our own jobs in a process of its own.
fn job(name: &str, files: &[String], flags: &[&str]) -> Value {
    let program = std::env::current_exe().expect("this program");
    let output = Command::new(program).args(["--job", name]).args(files).args(flags).output();
    let output = output.expect("this program starts again");
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    serde_json::from_slice(&output.stdout).expect("one JSON object")
}

/// The other end of [`job`].
pub fn run_job(name: &str, arguments: &[String]) {
    let after = |flag: &str| {
        let at = arguments.iter().position(|argument| argument == flag).expect(flag);
        &arguments[at + 1]
    };
    let count = |flag: &str| after(flag).parse::<usize>().expect("a number");
    let mut answer = match name {
        "iterations" => {
            let target = after("--loss").parse().expect("a number");
            json!({"iterations": iterations(Path::new(after("--train")), count("--threads"), target)})
        }
        "train" => {
            let (training, model) = (Path::new(after("--train")), Path::new(after("--model")));
            train_to(training, model, count("--threads"), count("--iterations"))
        }
        "tag" => tag(Path::new(after("--model")), Path::new(after("--test"))),
        _ => unreachable!("jobs are named above"),
    };
    answer["memory"] = json!(peak_memory());
    println!("{answer}");
}

fn settings(iterations: usize) -> TrainSettings {
    let mut settings = TrainSettings { format: Format::Attributes, ..TrainSettings::default() };
    // CRFsuite forbids no transition: neither do we, for the two losses to be of one objective.
    settings.scheme = Some(Scheme::Plain);
    settings.base.l2 = L2;
    settings.base.least_decrease = 0.0;
    settings.base.max_iterations = iterations;
    settings
}

fn pool(threads: usize) -> rayon::ThreadPool {
    rayon::ThreadPoolBuilder::new().num_threads(threads).build().expect("threads")
}

/// Iterations until the loss is CRFsuite's.
fn iterations(training: &Path, threads: usize, target: f64) -> usize {
    let enough = Arc::new(AtomicBool::new(false));
    let settings = TrainSettings { interrupt: Some(enough.clone()), ..settings(ITERATIONS) };
    let mut iterations = 0;
    let sequences = read(training, Format::Attributes);
    let ended = pool(threads).install(|| {
        let labelled = Labelled { sequences: &sequences, scores: None };
        train(labelled, None, &settings, &mut |event| {
            if let Event::Iteration { iteration, loss, .. } = event {
                iterations = iteration;
                enough.store(loss <= target, Ordering::Relaxed);
            }
        })
    });
    assert!(matches!(ended, Ok(_) | Err(TrainError::Interrupted)), "{ended:?}");
    iterations
}

/// Trains, and writes the model.
fn train_to(training: &Path, model: &Path, threads: usize, iterations: usize) -> Value {
    let (begun, processor, pool) = (Instant::now(), processor_seconds(), pool(threads));
    let tagger = pool.install(|| {
        let sequences = Sequences::open(training, Format::Attributes).expect("the data set");
        train_reading(sequences, None, &settings(iterations), &mut |_| ())
    });
    let tagger = tagger.expect("a data set to train on");
    tagger.write(model).expect("room in the temporary folder");
    let processor = processor_seconds() - processor;
    json!({"seconds": begun.elapsed().as_secs_f64(), "processor": processor})
}

/// Tags on one thread.
fn tag(model: &Path, test: &Path) -> Value {
    let tagger = Tagger::read(model).expect("the model that was just written");
    let test = read(test, Format::Attributes);
    let mut least = f64::INFINITY;
    let mut found: Vec<Vec<usize>> = Vec::new();
    let options = TagOptions::default();
    for _ in 0..REPEATS {
        let mut tagging = Tagging::new(&tagger);
        let start = processor_seconds();
        let tagged = test.iter().map(|sequence| tagging.tag(sequence, &options));
        found = tagged.map(|tagged| tagged.expect("a sequence").best.swap_remove(0).0).collect();
        least = least.min(processor_seconds() - start);
    }
    let label = |&state: &usize| tagger.states().label(state).to_string();
    let labels: Vec<Vec<String>> =
        found.iter().map(|path| path.iter().map(label).collect()).collect();
    json!({"seconds": least, "labels": labels})
}

fn f1_of(answer: &Value, test: &[Sequence]) -> f64 {
    let found = serde_json::from_value::<Vec<Vec<String>>>(answer["labels"].clone());
    let mut score = Score::new(Scheme::Bio);
    for (sequence, found) in test.iter().zip(found.expect("lists of labels")) {
        let truth: Vec<_> = (0..sequence.len()).map(|t| sequence.attribute_label(t)).collect();
        let truth: Vec<&str> = truth.iter().map(|label| label.as_ref()).collect();
        score.add(&truth, &found.iter().map(String::as_str).collect::<Vec<_>>());
    }
    score.leaf().f1()
}
