use std::path::PathBuf;
use std::time::Instant;

use anyhow::Result;
use bethe_experiments::flows::{Options, Report, TABLES, run as run_experiment};
use bethe_terminal::{Folder, Interrupt, Outcome, bad_input, say, show};
use clap::Args;

use super::results;

const FILES: [&str; 2] = ["report.json", "table.md"];

/// How much learning the law of movement from counts helps: flows against the truth, the bias of
/// learned weights, BirdFlow's loss, ringed birds.
///
/// Without --data, only simulated populations are used. Exit code 2 means bad input.
#[derive(Args)]
pub struct Flags {
    /// Folder that holds flows/
    #[arg(long, value_name = "DIR")]
    data: Option<PathBuf>,

    /// Folder for report.json and table.md
    #[arg(long, short, value_name = "DIR")]
    out: Option<PathBuf>,

    /// Folder with the page flows.md, such as docs/results: its tables about learning are rewritten
    #[arg(long, value_name = "DIR")]
    results: Option<PathBuf>,

    /// Sides of the simulator's grids, each with the number of its seasons, at most 10
    #[arg(long, value_name = "SIDE:N,SIDE:N", value_delimiter = ',', default_value = "5:5,10:3")]
    grids: Vec<String>,

    /// Populations whose weights are learned again
    #[arg(long, value_name = "N,N", value_delimiter = ',', default_value = "300,1000,10000")]
    populations: Vec<u64>,

    /// How many populations of each size
    #[arg(long, value_name = "N", default_value_t = 40)]
    trials: u64,

    /// Also certify simulated maps of 1,100 and 1,700 cells at BirdFlow's default weights (minutes)
    #[arg(long)]
    large: bool,

    /// No progress on standard error
    #[arg(long)]
    quiet: bool,
}

/// Runs the measurements and writes their tables.
pub fn run(flags: Flags) -> Result<Outcome> {
    let sides: Result<Vec<(usize, u64)>> = flags.grids.iter().map(|text| grid(text)).collect();
    if !(1..=10_000).contains(&flags.trials) {
        let found = flags.trials;
        return Err(bad_input(format!("--trials: found {found}, expected 1 to 10000")));
    }
    let most = 100_000_000;
    if let Some(found) = flags.populations.iter().find(|own| !(1..=most).contains(*own)) {
        return Err(bad_input(format!("--populations: found {found}, expected 1 to {most}")));
    }
    if let Some(data) = flags.data.as_ref().filter(|data| !data.join("flows").is_dir()) {
        return Err(bad_input(format!("{}: has no folder flows/", data.display())));
    }
    let options = Options {
        sides: sides?,
        populations: flags.populations,
        trials: flags.trials,
        large: if flags.large { vec![1100, 1700] } else { Vec::new() },
    };
    let page = results::page(flags.results.as_deref(), "flows", &TABLES)?;
    Interrupt::end_at_once()?;
    let folder = flags.out.map(|out| Folder::claiming(&out, &FILES)).transpose()?;
    let begun = Instant::now();
    let mut observe = |what: &str| {
        if !flags.quiet {
            say(&format!("{:6.0} s  {what}", begun.elapsed().as_secs_f64()));
        }
    };
    let report = run_experiment(&options, flags.data.as_deref(), &mut observe)
        .map_err(|error| bad_input(error.to_string()))?;
    report.skipped.iter().for_each(|what| say(&format!("skipped: {what}")));
    let markdown = report.markdown();
    if let Some(folder) = folder {
        write(&report, &markdown, folder)?;
    }
    if let Some(page) = page {
        results::write(&page, &TABLES, &report.tables())?;
    }
    show(&markdown)?;
    Ok(Outcome::Done)
}

/// `SIDE:N`
fn grid(text: &str) -> Result<(usize, u64)> {
    let numbers = text.split_once(':').and_then(|(side, number)| {
        let side = side.parse().ok().filter(|side| (2..=30).contains(side))?;
        Some((side, number.parse().ok().filter(|number| (1..=10).contains(number))?))
    });
    let expected = "expected SIDE:N such as 5:5, a side of 2 to 30 and 1 to 10 seasons";
    numbers.ok_or_else(|| bad_input(format!("--grids: found {text:?}, {expected}")))
}

fn write(report: &Report, markdown: &str, folder: Folder) -> Result<()> {
    let json = serde_json::to_string_pretty(report)? + "\n";
    folder.write([("report.json", &*json), ("table.md", markdown)])
}
