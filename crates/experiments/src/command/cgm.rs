use std::path::PathBuf;
use std::time::Instant;

use anyhow::Result;
use bethe_experiments::cgm::{Options, Report, TABLES, run as run_experiment};
use bethe_terminal::{Folder, Interrupt, Outcome, bad_input, say, show};
use clap::Args;

use super::results;

const FILES: [&str; 6] =
    ["table.json", "accuracy.json", "learning.json", "birds.json", "table.md", "seconds.svg"];

/// Flows from counts (collective graphical models): every solver against interior point, flows
/// against the truth, weights learned from counts, real birds.
///
/// Without --data, only simulated data is used. Exit code 2 means bad input.
#[derive(Args)]
pub struct Flags {
    /// Folder that holds flows/
    #[arg(long, value_name = "DIR")]
    data: Option<PathBuf>,

    /// Folder for table.json, table.md, accuracy.json, learning.json, birds.json and seconds.svg
    #[arg(long, short, value_name = "DIR")]
    out: PathBuf,

    /// Folder with the page flows.md, such as docs/results: its tables are rewritten
    #[arg(long, value_name = "DIR")]
    results: Option<PathBuf>,

    /// Trials per family, 1 to 10
    #[arg(long, value_name = "N", allow_negative_numbers = true, default_value_t = 10)]
    trials: u64,

    /// Sides of the grids
    #[arg(long, value_name = "N,N", value_delimiter = ',', default_value = "5,10,15")]
    sides: Vec<usize>,

    /// Run interior point on every trial, even if it takes minutes
    #[arg(long)]
    full: bool,

    /// No progress on standard error
    #[arg(long)]
    quiet: bool,
}

/// Runs the comparison and writes its report.
pub fn run(flags: Flags) -> Result<Outcome> {
    if !(1..=10).contains(&flags.trials) {
        let message = format!("--trials: found {}, expected 1 to 10", flags.trials);
        return Err(bad_input(message));
    }
    if let Some(side) = flags.sides.iter().find(|side| !(2..=30).contains(*side)) {
        return Err(bad_input(format!("--sides: found {side}, expected 2 to 30")));
    }
    if let Some(data) = flags.data.as_ref().filter(|data| !data.join("flows").is_dir()) {
        let place = data.display();
        return Err(bad_input(format!("{place}: has no folder flows/")));
    }
    let page = results::page(flags.results.as_deref(), "flows", &TABLES)?;
    Interrupt::end_at_once()?;
    let folder = Folder::claiming(&flags.out, &FILES)?;
    let options = Options { sides: flags.sides, trials: flags.trials, full: flags.full };
    let begun = Instant::now();
    let mut observe = |what: &str| {
        if !flags.quiet {
            say(&format!("{:6.0} s  {what}", begun.elapsed().as_secs_f64()));
        }
    };
    let report = run_experiment(&options, flags.data.as_deref(), &mut observe)
        .map_err(|error| bad_input(error.to_string()))?;
    for what in &report.skipped {
        say(&format!("skipped: {what}"));
    }
    let markdown = report.markdown();
    write(&report, &markdown, folder)?;
    if let Some(page) = page {
        results::write(&page, &TABLES, &report.tables())?;
    }
    show(&markdown)?;
    Ok(Outcome::Done)
}

fn write(report: &Report, markdown: &str, folder: Folder) -> Result<()> {
    let table = serde_json::to_string_pretty(&report.rows)? + "\n";
    let accuracies = serde_json::to_string_pretty(&report.accuracies)? + "\n";
    let learning = serde_json::to_string_pretty(&report.challenges)? + "\n";
    let birds = serde_json::to_string_pretty(&report.birds)? + "\n";
    folder.write([
        ("table.json", &*table),
        ("accuracy.json", &*accuracies),
        ("learning.json", &*learning),
        ("birds.json", &*birds),
        ("table.md", markdown),
        ("seconds.svg", &*report.picture()),
    ])
}
