//! Both sides of the comparison with CRFsuite: each job is a process that prints one JSON object.

use std::path::Path;
use std::process::Command;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Instant;

use bethe_io::results::{Table, grouped};
use bethe_tagging::data::{Format, Sequence, Sequences};
use bethe_tagging::labels::Scheme;
use bethe_tagging::score::Score;
use bethe_tagging::train::{
    Event, Labelled, RuleSource, TrainError, TrainSettings, train, train_reading,
};
use bethe_tagging::{TagOptions, Tagger, Tagging};
use serde_json::{Value, json};

use super::data::{Scratch, attribute_files, read};
use bethe_bench::crfsuite;
use bethe_bench::usage::{peak_memory, processor_seconds};

pub const TABLE: &str = "tagging-crfsuite";
const L2: f64 = 1.0;
/// Most iterations of ours, which go on until they reach CRFsuite's loss.
const ITERATIONS: usize = 1000;
/// Times that the test file is tagged; the least time counts.
const REPEATS: usize = 9;

/// Trains and tags with both; the table, if CRFsuite is there.
pub fn compare(data: &Path) -> Option<Table> {
    let folder = Scratch::new("crfsuite");
    let [training, test] = attribute_files(data, folder.path());
    let [model, their_model] =
        ["model", "crfsuite.model"].map(|name| folder.path().join(name).display().to_string());
    let [training, test] = [training, test].map(|path| path.display().to_string());
    let their_training = crfsuite(TABLE, &["train", &training, &their_model, &L2.to_string()]);
    let theirs = their_training.as_ref().map(|answer| Training::new("CRFsuite", answer));
    let loss = their_training.as_ref().and_then(|it| it["losses"].as_array()?.last()?.as_f64());
    let loss = loss.unwrap_or(f64::NEG_INFINITY).to_string();
    let files = ["--train", &training, "--model", &model];
    let found = job("iterations", &files, &["--threads", "2", "--loss", &loss]);
    let iterations = found["iterations"].to_string();
    let [one, two] = ["1", "2"].map(|threads| {
        let mut answer = job("train", &files, &["--threads", threads, "--iterations", &iterations]);
        answer["iterations"] = found["iterations"].clone();
        Training::new(&format!("bethe, {threads} threads,"), &answer)
    });
    let truth = read(Path::new(&test), Format::Attributes);
    let tags = job("tag", &["--model", &model, "--test", &test], &[]);
    let ours = Trained { one_thread: one, tagging: Labelling::new("bethe", &tags, &truth) };
    let theirs = theirs.and_then(|one_thread| {
        let tags = crfsuite(TABLE, &["tag", &their_model, &test, &REPEATS.to_string()])?;
        Some(Trained { one_thread, tagging: Labelling::new("CRFsuite", &tags, &truth) })
    })?;
    let tokens = truth.iter().map(Sequence::len).sum();
    Some(table(&theirs, &ours, two.seconds, tokens))
}

/// What training took.
struct Training {
    seconds: f64,
    /// On all processors.
    processor: f64,
    iterations: usize,
    megabytes: f64,
}

impl Training {
    fn new(who: &str, answer: &Value) -> Self {
        let losses = answer["losses"].as_array().map(Vec::len);
        let it = Self {
            seconds: number(answer, "seconds"),
            processor: number(answer, "processor"),
            iterations: losses.unwrap_or_else(|| number(answer, "iterations") as usize),
            megabytes: number(answer, "memory") / 1e6,
        };
        println!(
            "{who} trains in {:.1} s ({:.1} s of processors), {} iterations, {:.0} MB",
            it.seconds, it.processor, it.iterations, it.megabytes
        );
        it
    }
}

/// What tagging the test file took on one thread, and how good it is.
struct Labelling {
    seconds: f64,
    megabytes: f64,
    /// In percent.
    f1: f64,
}

impl Labelling {
    fn new(who: &str, answer: &Value, truth: &[Sequence]) -> Self {
        let it = Self {
            seconds: number(answer, "seconds"),
            megabytes: number(answer, "memory") / 1e6,
            f1: 100.0 * f1_of(answer, truth),
        };
        println!("{who} tags in {:.3} s, F1 {:.2}, {:.0} MB", it.seconds, it.f1, it.megabytes);
        it
    }
}

/// One side on one thread.
struct Trained {
    one_thread: Training,
    tagging: Labelling,
}

/// One thread against one by processor time, which others on the machine change least; two threads
/// by the clock.
fn table(theirs: &Trained, ours: &Trained, two_threads: f64, tokens: usize) -> Table {
    let mut table = Table::new(TABLE, &["", "CRFsuite", "bethe", "CRFsuite over bethe"]);
    let mut push = |what: &str, cells: [String; 3]| {
        table.push(std::iter::once(what.to_string()).chain(cells));
    };
    let ratio = |of: fn(&Trained) -> f64| format!("{:.1}", of(theirs) / of(ours));
    let both = |of: fn(&Trained) -> String| [of(theirs), of(ours)];
    let [a, b] = both(|side| {
        let Training { processor, iterations, .. } = side.one_thread;
        format!("{processor:.1} s, {iterations} iterations")
    });
    push("training, one thread", [a, b, ratio(|side| side.one_thread.processor)]);
    let faster = format!("{:.1}", theirs.one_thread.seconds / two_threads);
    push("training, two threads", [String::new(), format!("{two_threads:.1} s"), faster]);
    let [a, b] = both(|side| format!("{:.0} MB", side.one_thread.megabytes));
    push("peak memory of training", [a, b, ratio(|side| side.one_thread.megabytes)]);
    let [a, b] = both(|side| format!("{:.3} s", side.tagging.seconds));
    let what = format!("tagging {} tokens, one thread", grouped(tokens as f64));
    push(&what, [a, b, ratio(|side| side.tagging.seconds)]);
    let [a, b] = both(|side| format!("{:.0} MB", side.tagging.megabytes));
    push("peak memory of tagging", [a, b, ratio(|side| side.tagging.megabytes)]);
    let [a, b] = both(|side| format!("{:.2}", side.tagging.f1));
    push("F1", [a, b, String::new()]);
    table
}

fn number(value: &Value, field: &str) -> f64 {
    value[field].as_f64().expect("a number")
}

/// Runs one of our own jobs in a process of its own.
fn job(name: &str, files: &[&str], flags: &[&str]) -> Value {
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
    let mut settings = TrainSettings {
        format: Format::Attributes,
        rule_source: RuleSource::None,
        ..TrainSettings::default()
    };
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
    let tagger = Tagger::load(model).expect("the model that was just written");
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
