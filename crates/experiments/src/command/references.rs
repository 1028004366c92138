use std::path::PathBuf;
use std::time::Instant;

use anyhow::Result;
use bethe_experiments::citation::ExperimentError;
use bethe_experiments::references::{
    Event, Failure, GENERATED, Measured, ReferencesSettings, Source, TABLES, build, cross_validate,
    references, tables,
};
use bethe_tagging::train::{self, TrainError};
use bethe_terminal::{Interrupt, Outcome, PendingFile, Progress, bad_input, print, say, threads};
use clap::Args;

use super::results;

/// The model of references that bethe cite uses: trains it on open data, and measures it.
///
/// Measures by cross-validation over contiguous blocks of each set, prints tables, and writes the
/// model of all references to --out. Exit code 2 means bad input.
#[derive(Args)]
pub struct Flags {
    /// Folder with citation/anystyle/core.conll and citation/grobid/train.conll.gz
    #[arg(long, value_name = "DIR")]
    data: PathBuf,

    /// The model file to write [default: measure only]
    #[arg(long, short, value_name = "FILE")]
    out: Option<PathBuf>,

    /// Folder with the page references.md, such as docs/results: its tables are rewritten
    #[arg(long, value_name = "DIR")]
    results: Option<PathBuf>,

    /// File for what cross-validation got wrong: set, field, expected, found, reference
    #[arg(long, value_name = "FILE")]
    failures: Option<PathBuf>,

    /// Parts for cross-validation; 0 for none
    #[arg(long, value_name = "N", default_value_t = 4, allow_negative_numbers = true)]
    folds: usize,

    /// How many references to make up for training
    #[arg(long, value_name = "N", default_value_t = GENERATED, allow_negative_numbers = true)]
    generated: usize,

    /// Limit on iterations of training [default: that of the model that ships]
    #[arg(long, value_name = "N", allow_negative_numbers = true)]
    max_iterations: Option<usize>,

    /// Number of threads [default: all cores]
    #[arg(long, value_name = "N", allow_negative_numbers = true)]
    threads: Option<usize>,

    /// No progress on standard error
    #[arg(long)]
    quiet: bool,
}

/// Measures the model and writes it.
pub fn run(flags: Flags) -> Result<Outcome> {
    if flags.folds == 1 {
        return Err(bad_input("--folds: found 1, expected 0 or at least 2"));
    }
    if flags.max_iterations == Some(0) {
        return Err(bad_input("--max-iterations: found 0, expected at least 1"));
    }
    let pool = threads::pool(flags.threads)?;
    let page = results::page(flags.results.as_deref(), "references", &TABLES)?;
    let interrupt = Interrupt::install()?;
    let mut settings = ReferencesSettings::shipped(Some(interrupt.flag()));
    settings.folds = flags.folds;
    let most = &mut settings.model.base.max_iterations;
    *most = flags.max_iterations.unwrap_or(*most);
    let (mut progress, begun) = (Progress::new(flags.quiet), Instant::now());
    let mut observe = |event| show(&mut progress, begun, event);
    let ran = pool.install(|| -> Result<_, ExperimentError> {
        let all = references(&flags.data, flags.generated)?;
        let judged = cross_validate(&all, &settings, &mut observe)?;
        let built = flags.out.as_ref().map(|_| build(&all, &settings.model, &mut observe));
        Ok((judged, built.transpose()?))
    });
    let (measured, built) = match ran {
        Ok(found) => found,
        Err(ExperimentError::Train(TrainError::Interrupted)) => return Ok(Outcome::Interrupted),
        Err(error) => return Err(bad_input(error.to_string())),
    };
    let tables = tables(&measured);
    if let (Some(path), Some(tagger)) = (&flags.out, built) {
        tagger.write(path).map_err(|error| bad_input(error.to_string()))?;
        if !flags.quiet {
            say(&format!("{}: written", path.display()));
        }
    }
    if let Some(path) = &flags.failures {
        PendingFile::create(path)?.finish(&failures(&measured))?;
    }
    if flags.folds > 0 {
        if let Some(page) = page {
            results::write(&page, &TABLES, &tables)?;
        }
        let text: Vec<String> = tables.iter().map(ToString::to_string).collect();
        print(&text.join("\n"))?;
    }
    Ok(Outcome::Done)
}

/// What was read wrongly, a line each.
fn failures(measured: &[Measured]) -> String {
    let line = |source: &Source, failure: &Failure| {
        let cells = failure.cells().map(|cell| cell.replace(['\t', '\n'], " ")).join("\t");
        format!("{}\t{cells}\n", source.name())
    };
    let lines = measured.iter().flat_map(|measured| {
        measured.judged.failures.iter().map(|failure| line(&measured.source, failure))
    });
    lines.collect()
}

fn show(progress: &mut Progress, begun: Instant, event: Event) {
    let seconds = begun.elapsed().as_secs_f64();
    match event {
        Event::Stage(text) => progress.line(&format!("{seconds:6.0} s  {text}")),
        Event::Training(train::Event::Warning(text)) => {
            progress.always(&format!("warning: {text}"))
        }
        Event::Training(event) if event.is_passing() => progress.passing(|| event.to_string()),
        Event::Training(event) => progress.line(&event.to_string()),
    }
}
