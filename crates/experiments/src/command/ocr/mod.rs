//! `bethe-reproduce ocr`: the handwriting experiment.

mod folds;

use std::path::{Path, PathBuf};
use std::time::Instant;

use anyhow::Result;
use bethe_core::Norm;
use bethe_experiments::ocr::data::{self, Word};
use bethe_experiments::ocr::experiment::{self, Event, Recipe, Settings};
use bethe_terminal::{Folder, Interrupt, Outcome, Progress, bad_input, threads};
use clap::Args;

use super::results;

const FILES: [&str; 4] = ["table.md", "iterations.svg", "contact-sheet.svg", "table.json"];

/// The paper's second experiment: handwritten words under dictionary energies.
#[derive(Args)]
pub struct Flags {
    /// Folder that holds ocr/letter.data.gz
    #[arg(long, value_name = "DIR")]
    data: PathBuf,
    /// Folder for table.md, table.json, iterations.svg and contact-sheet.svg
    #[arg(long, short, value_name = "DIR")]
    out: PathBuf,
    /// Folder with the page handwriting.md, such as docs/results: its table is rewritten.
    #[arg(long, value_name = "DIR")]
    results: Option<PathBuf>,
    /// Folds to test on, such as 0-9 or 0,3,5 [default: all]
    #[arg(long, value_name = "FOLDS")]
    folds: Option<String>,
    /// Number of runs with different random numbers (order of words, random features, hidden
    /// words); scores are over all of them
    #[arg(long, value_name = "N", allow_negative_numbers = true, default_value_t = 1)]
    seeds: usize,
    /// Smooth the distance from words: huber(δ)/δ in place of the absolute value
    #[arg(long, value_name = "DELTA")]
    huber: Option<f64>,
    /// Number of threads [default: all cores]
    #[arg(long, value_name = "N", allow_negative_numbers = true)]
    threads: Option<usize>,
    /// No progress on standard error
    #[arg(long)]
    quiet: bool,
}

/// Runs the experiment, and writes its files whole or not at all.
pub fn run(flags: Flags) -> Result<Outcome> {
    let norm = norm(flags.huber)?;
    if flags.seeds == 0 {
        return Err(bad_input("--seeds: found 0, expected at least 1"));
    }
    let pool = threads::pool(flags.threads)?;
    let words = read(&flags.data)?;
    let folds = folds::chosen(flags.folds.as_deref(), &words)?;
    let tables = [experiment::TABLE];
    let page = results::page(flags.results.as_deref(), "handwriting", &tables)?;
    let interrupt = Interrupt::install()?;
    let folder = Folder::claiming(&flags.out, &FILES)?;
    let begun = Instant::now();
    let settings = Settings { folds, seeds: flags.seeds, norm, recipe: Recipe::default() };
    let mut progress = Progress::new(flags.quiet);
    progress.line(&format!("{} words", words.len()));
    let report = pool.install(|| {
        experiment::run(&words, &settings, &mut |event| {
            show(&mut progress, event);
            !interrupt.is_set()
        })
    });
    let Ok(report) = report else {
        progress.line("stopped; nothing was written");
        return Ok(Outcome::Interrupted);
    };
    folder.write([
        ("table.md", &*report.table.to_markdown(&note(&flags, &settings))),
        ("iterations.svg", &report.iterations),
        ("contact-sheet.svg", &report.sheet),
        ("table.json", &report.table.to_json()),
    ])?;
    if let Some(page) = page {
        results::write(&page, &tables, &[report.table.to_page()])?;
    }
    let seconds = begun.elapsed().as_secs_f64();
    progress.line(&format!("{}: written, in {seconds:.0} s", flags.out.display()));
    Ok(Outcome::Done)
}

/// A line for every row, and one that moves for what takes time.
fn show(progress: &mut Progress, event: Event) {
    match event {
        Event::Tested { fold, model, score } => progress.line(&format!(
            "fold {fold}  {model:<28} letters {:6.2}  words {:6.2}  {:6.1} µs per word",
            score.accuracy(),
            score.word_accuracy(),
            score.microseconds()
        )),
        Event::Busy(with) => progress.passing(|| with.to_string()),
    }
}

/// How the table was made.
fn note(flags: &Flags, settings: &Settings) -> String {
    let folds = flags.folds.as_ref().map(|folds| format!(" --folds {folds}")).unwrap_or_default();
    let huber = flags.huber.map(|delta| format!(" --huber {delta}")).unwrap_or_default();
    let (seeds, last) = (settings.seeds, settings.seeds - 1);
    let seeded = if last == 0 { "seed 0".to_string() } else { format!("seeds 0 to {last}") };
    format!(
        "`bethe-reproduce ocr{folds} --seeds {seeds}{huber}`, {seeded}. Each fold is tested once, \
         by models of the others; steps, penalties, the classifier's features, and weight and cap \
         of `open-*` are chosen on folds inside training."
    )
}

fn norm(huber: Option<f64>) -> Result<Norm> {
    match huber {
        None => Ok(Norm::L1),
        Some(delta) if delta.is_finite() && delta > 0.0 => Ok(Norm::Huber(delta)),
        Some(found) => {
            Err(bad_input(format!("--huber: found {found}, expected a positive number")))
        }
    }
}

/// The words of the data folder.
fn read(folder: &Path) -> Result<Vec<Word>> {
    let packed = folder.join("ocr").join("letter.data.gz");
    let plain = folder.join("ocr").join("letter.data");
    let path = if !packed.exists() && plain.exists() { plain } else { packed };
    data::read(&path).map_err(|error| bad_input(error.to_string()))
}
