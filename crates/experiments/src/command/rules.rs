use std::path::PathBuf;
use std::time::Instant;

use anyhow::Result;
use bethe_experiments::citation::ExperimentError;
use bethe_experiments::rules::{Event, RulesSettings, SETS, TABLES, run as experiment};
use bethe_tagging::train::TrainError;
use bethe_terminal::{Folder, Interrupt, Outcome, Progress, bad_input, print};
use clap::Args;

use super::results;
use super::tagger_runs::{RunFlags, show_stage, show_training};

/// Some of what it writes.
const FILES: [&str; 1] = ["tables.md"];

/// How much learned rules help with default settings: few references and many, distorted text,
/// chunks and parts of speech.
///
/// Writes tables.md, and prints it. Exit code 2 means bad input.
#[derive(Args)]
pub struct Flags {
    /// Folder with any of citation/umass/{train,dev,test}.conll, citation/anystyle/core.conll and
    /// conll2000/{train,test}.txt.gz
    #[arg(long, value_name = "DIR")]
    data: PathBuf,

    /// Folder for the tables
    #[arg(long, short, value_name = "DIR")]
    out: PathBuf,

    /// Folder with the page rules.md, such as docs/results: its tables are rewritten
    #[arg(long, value_name = "DIR")]
    results: Option<PathBuf>,

    /// Sets to run: umass, anystyle, chunks, parts-of-speech [default: all]
    #[arg(long, value_name = "SET,SET", value_delimiter = ',')]
    sets: Vec<String>,

    /// Numbers of UMass references to train on; more than there are means all
    #[arg(
        long,
        value_name = "N,N",
        value_delimiter = ',',
        default_value = "25,50,100,200,400,5000"
    )]
    sizes: Vec<usize>,

    /// Training sets of each size
    #[arg(long, value_name = "N", default_value_t = 3, allow_negative_numbers = true)]
    subsets: usize,

    #[command(flatten)]
    run: RunFlags,
}

/// Runs the experiment and writes its tables.
pub fn run(flags: Flags) -> Result<Outcome> {
    check(&flags)?;
    let RunFlags { seed, max_iterations, quiet, .. } = flags.run;
    let pool = flags.run.pool()?;
    let page = results::page(flags.results.as_deref(), "rules", &TABLES)?;
    let interrupt = Interrupt::install()?;
    let folder = Folder::claiming(&flags.out, &FILES)?;
    let settings = RulesSettings {
        sizes: flags.sizes,
        subsets: flags.subsets,
        sets: flags.sets,
        seed,
        max_iterations,
        interrupt: Some(interrupt.flag()),
    };
    let (mut progress, begun) = (Progress::new(quiet), Instant::now());
    let ran = pool.install(|| {
        experiment(&flags.data, &settings, &mut |event| show(&mut progress, begun, event))
    });
    let report = match ran {
        Ok(report) => report,
        Err(ExperimentError::Train(TrainError::Interrupted)) => return Ok(Outcome::Interrupted),
        Err(error) => return Err(bad_input(error.to_string())),
    };
    let text: Vec<String> =
        report.tables.iter().map(|table| format!("## {}\n\n{table}", table.name())).collect();
    let text = text.join("\n");
    folder.write([(FILES[0], &text[..])])?;
    if let Some(page) = page {
        results::write(&page, &TABLES, &report.tables)?;
    }
    print(&text)?;
    Ok(Outcome::Done)
}

fn check(flags: &Flags) -> Result<()> {
    if let Some(set) = flags.sets.iter().find(|set| !SETS.contains(&&set[..])) {
        let known = SETS.join(", ");
        return Err(bad_input(format!("--sets: found {set:?}, expected some of {known}")));
    }
    if let Some(size) = flags.sizes.iter().find(|size| **size < 10) {
        return Err(bad_input(format!("--sizes: found {size}, expected at least 10")));
    }
    match flags.subsets {
        0 => Err(bad_input("--subsets: found 0, expected at least 1")),
        _ => Ok(()),
    }
}

/// Stages with the time since the start, and progress of training in between.
fn show(progress: &mut Progress, begun: Instant, event: Event) {
    match event {
        Event::Stage(text) => show_stage(progress, begun, &text),
        Event::Training(event) => show_training(progress, event),
        Event::Row(row) => {
            let [plain, ruled] = row.comparison.f1();
            let (training, test) = (&row.training, &row.test);
            progress.line(&format!("          {training}, {test}: F1 {plain:.2} → {ruled:.2}"));
        }
        Event::Skipped(text) => progress.always(&format!("skipped: {text}")),
    }
}
