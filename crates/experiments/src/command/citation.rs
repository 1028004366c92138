use std::path::PathBuf;
use std::time::Instant;

use anyhow::Result;
use bethe_experiments::citation::{
    Event, ExperimentError, ExperimentSettings, TABLES, run as experiment,
};
use bethe_tagging::train::TrainError;
use bethe_terminal::{Folder, Interrupt, Outcome, Progress, bad_input};
use clap::Args;

use super::results;
use super::tagger_runs::{RunFlags, show_stage, show_training};

/// Some of what it writes.
const FILES: [&str; 3] = ["table.json", "table.md", "constraints.csv"];

/// The paper's first experiment: fields of references, by a chain with rules on top.
///
/// Writes table.json, table.md, constraints.csv, figures with their numbers (*.svg, *.csv), and
/// cora.json and anystyle.json for the other sets. Also prints the table. Exit code 2 means bad
/// input.
#[derive(Args)]
pub struct Flags {
    /// Folder with citation/umass/{train,dev,test}.conll, and optionally citation/cora/cora.conll,
    /// citation/anystyle/core.conll and the word lists citation/lexicons
    #[arg(long, value_name = "DIR")]
    data: PathBuf,

    /// Folder for tables and figures
    #[arg(long, short, value_name = "DIR")]
    out: PathBuf,

    /// Folder with the page citation.md, such as docs/results: its tables are rewritten
    #[arg(long, value_name = "DIR")]
    results: Option<PathBuf>,

    #[command(flatten)]
    run: RunFlags,
}

/// Runs the experiment and writes its report.
pub fn run(flags: Flags) -> Result<Outcome> {
    let RunFlags { seed, max_iterations, quiet, .. } = flags.run;
    let pool = flags.run.pool()?;
    let page = results::page(flags.results.as_deref(), "citation", &TABLES)?;
    let interrupt = Interrupt::install()?;
    let folder = Folder::claiming(&flags.out, &FILES)?;
    let settings = ExperimentSettings { seed, max_iterations, interrupt: Some(interrupt.flag()) };
    let (mut progress, begun) = (Progress::new(quiet), Instant::now());
    let ran = pool.install(|| {
        experiment(&flags.data, &settings, &mut |event| show(&mut progress, begun, event))
    });
    let report = match ran {
        Ok(report) => report,
        Err(ExperimentError::Train(TrainError::Interrupted)) => return Ok(Outcome::Interrupted),
        Err(error) => return Err(bad_input(error.to_string())),
    };
    folder.write(report.files.iter().map(|file| (&file.name[..], &file.content[..])))?;
    if let Some(page) = page {
        results::write(&page, &TABLES, &report.tables)?;
    }
    bethe_terminal::show(&report.text)?;
    Ok(Outcome::Done)
}

/// Stages with the time since the start, and progress of training in between.
fn show(progress: &mut Progress, begun: Instant, event: Event) {
    match event {
        Event::Stage(text) => show_stage(progress, begun, &text),
        Event::Training(event) => show_training(progress, event),
        Event::Row(row) => progress.line(&format!(
            "          {}: leaf F1 {:.2}, all-level F1 {:.2}",
            row.model, row.leaf_f1, row.all_f1
        )),
        Event::Skipped(text) => progress.always(&format!("skipped: {text}")),
    }
}
