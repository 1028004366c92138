//! `bethe sample`: records drawn from a model or from a solved problem.

use std::borrow::Cow;
use std::io::{self, Write};
use std::path::PathBuf;
use std::time::Instant;

use anyhow::{Context, Result};
use bethe_core::oracle::Limits;
use bethe_core::solve::{LATE, Record, SolveError, Status};
use bethe_core::{Model, ModelError, OracleKind, Records, Request, Settings, Tables};
use bethe_io::as_text;
use bethe_terminal::{Interrupt, Outcome, PendingFile, bad_input, check_apart, say, time};
use clap::Args;
use rand::SeedableRng;
use rand::rngs::StdRng;

use crate::memory::MemoryFlag;
use crate::solve::problems::{self, Inputs, NamedProblem};
use crate::solve::progress::Progress;
use crate::solve::{observer, unanswered, unless_wrong};
use crate::solver::out_of_range;

/// Draw records from a model as CSV: a line of names, then one record per line.
///
/// FILE is a problem, which is solved first, a file written by bethe solve --solution, or a .uai
/// model. Records are independent and drawn exactly from the model tilted by its energies. Observed
/// variables keep their states. Exit code 2 means bad input, 3 that hard measurements cannot hold,
/// 4 that the time limit passed before there was a model to draw from.
#[derive(Args)]
pub struct Flags {
    /// Problem or solution file: .json, .uai, or - for standard input
    file: PathBuf,

    /// How many records to draw
    #[arg(long, value_name = "N", allow_negative_numbers = true)]
    records: usize,

    /// The same seed draws the same records
    #[arg(long, value_name = "N", default_value_t = 0, allow_negative_numbers = true)]
    seed: u64,

    /// More energies, {"energies": [...]}
    #[arg(long, value_name = "FILE")]
    energies: Option<PathBuf>,

    /// Observed states in the UAI format, a single sample
    #[arg(long, value_name = "FILE.evid")]
    evidence: Option<PathBuf>,

    /// The problem is solved when gap ≤ tolerance · max(1, |objective|)
    #[arg(long, value_name = "NUMBER", default_value_t = 1e-6, allow_negative_numbers = true)]
    tolerance: f64,

    /// Stop solving after this many iterations
    #[arg(long, value_name = "N", allow_negative_numbers = true, default_value_t = 10_000)]
    max_iterations: usize,

    /// Stop solving after this time, set-up included, e.g. 50ms (ns, us, ms, s, m)
    #[arg(long, value_name = "TIME", allow_hyphen_values = true)]
    time_limit: Option<String>,

    #[command(flatten)]
    memory: MemoryFlag,

    /// File to write [default: standard output]
    #[arg(long, short, value_name = "FILE.csv")]
    out: Option<PathBuf>,

    /// Write names that a spreadsheet would take for a formula (beginning with = + - @) with an
    /// apostrophe before them
    #[arg(long)]
    quote_formulas: bool,

    /// No progress and no notes on standard error
    #[arg(long)]
    quiet: bool,
}

pub fn run(flags: Flags) -> Result<Outcome> {
    let start = Instant::now();
    let settings = flags.settings()?;
    let memory = flags.memory.limit()?;
    let inputs = Inputs {
        problem: &flags.file,
        energies: flags.energies.as_deref(),
        evidence: flags.evidence.as_deref(),
        quiet: flags.quiet,
        memory,
    };
    let problems = problems::read(&inputs)?;
    let [named] = problems.as_slice() else {
        let found = problems.len();
        let name = flags.file.display();
        return Err(bad_input(format!("{name}: found {found} problems, expected one")));
    };
    if let Some(out) = &flags.out {
        let inputs = [Some(&flags.file), flags.energies.as_ref(), flags.evidence.as_ref()];
        check_apart("--out", out, inputs.into_iter().flatten().map(PathBuf::as_path))?;
    }
    let out = flags.out.as_deref().map(PendingFile::create).transpose()?;
    let interrupt = Interrupt::install()?;
    // The model to draw from may be as late as an answer.
    let end = settings.time_limit.and_then(|limit| start.checked_add(limit.saturating_add(LATE)));
    let left = settings.time_limit.map(|limit| limit.saturating_sub(start.elapsed()));
    let settings = Settings { time_limit: left, ..settings };
    let request = Request {
        // Sampling needs exact inference.
        oracle: OracleKind::Exact,
        marginals: Tables::None,
        // The best assignment is not needed.
        map_budget: 0,
        memory_limit: memory,
        cancel: interrupt.cancel(),
        ..Request::default()
    };
    let model = match fit(named, &settings, &request, flags.quiet)? {
        Fit::Model(model) => model,
        Fit::None(outcome) => return Ok(outcome),
    };
    let cancel = end.map_or(interrupt.cancel(), |end| interrupt.cancel().until(end));
    let records = match Records::within(&model, &Limits { memory, cancel }) {
        Err(ModelError::Cancelled) if !interrupt.is_set() => Err(SolveError::OutOfTime),
        records => records.map_err(SolveError::from),
    };
    let records = match unless_wrong(named, records)? {
        Ok(records) => records,
        Err(stop) => return Ok(unanswered(&named.source, &stop)),
    };
    let random = StdRng::seed_from_u64(flags.seed);
    let quote_formulas = flags.quote_formulas;
    let drawing = Drawing { records, random, model: &model, interrupt: &interrupt, quote_formulas };
    let done = written(drawing, out, flags.records)?;
    Ok(if done { Outcome::Done } else { Outcome::Interrupted })
}

impl Flags {
    fn settings(&self) -> Result<Settings> {
        let time_limit = self.time_limit.as_deref();
        let settings = Settings {
            tolerance: self.tolerance,
            max_iterations: self.max_iterations,
            time_limit: time_limit.map(|text| time::parse("--time-limit", text)).transpose()?,
            ..Settings::default()
        };
        settings.check().map_err(out_of_range)?;
        Ok(settings)
    }
}

/// Draws records into a file, or to standard output. Returns false after Ctrl-C.
fn written(mut drawing: Drawing, out: Option<PendingFile>, records: usize) -> Result<bool> {
    match out {
        Some(mut file) => {
            let done = file.fill(|out| drawing.write(out, records))?;
            if done {
                file.publish()?;
            }
            Ok(done)
        }
        None => match drawing.write(&mut io::BufWriter::new(io::stdout().lock()), records) {
            // A reader that closes the pipe has read enough.
            Err(error) if error.kind() == io::ErrorKind::BrokenPipe => Ok(true),
            written => written.context("standard output"),
        },
    }
}

/// The outcome of a fit.
enum Fit {
    Model(Model),
    /// Hard measurements cannot hold, or Ctrl-C came before there was an answer.
    None(Outcome),
}

/// The model that solving the problem gives.
fn fit(named: &NamedProblem, settings: &Settings, request: &Request, quiet: bool) -> Result<Fit> {
    let mut progress = Progress::new(1, quiet);
    let mut see = |record: &Record| progress.iteration(record, settings.tolerance);
    let fitted = named.problem.fit(settings, request, &mut observer(&mut see));
    let (answer, model) = match unless_wrong(named, fitted)? {
        Ok(fitted) => fitted,
        Err(stop) => return Ok(Fit::None(unanswered(&named.source, &stop))),
    };
    drop(progress);
    if answer.status == Status::Infeasible {
        say(&format!("error: {}: hard measurements cannot hold together", named.source));
        return Ok(Fit::None(Outcome::Infeasible));
    }
    let solved = matches!(answer.status, Status::Converged | Status::Stationary);
    if !solved && !quiet {
        let gap = answer.gap.map_or("unknown".to_string(), |gap| format!("{gap:.2e}"));
        let status = answer.status.name();
        say(&format!("note: {}: not converged ({status}), gap {gap}", named.source));
    }
    Ok(Fit::Model(model))
}

struct Drawing<'a> {
    records: Records,
    random: StdRng,
    model: &'a Model,
    interrupt: &'a Interrupt,
    quote_formulas: bool,
}

impl Drawing<'_> {
    /// Writes the names of the variables, then the records. Returns false after Ctrl-C.
    fn write(&mut self, out: &mut dyn Write, count: usize) -> io::Result<bool> {
        let mut csv = csv::Writer::from_writer(out);
        let variables = self.model.variables().iter().enumerate();
        csv.write_record(variables.map(|(index, variable)| match &variable.names {
            Some(names) => in_cell(&names.variable, self.quote_formulas).into_owned(),
            None => index.to_string(),
        }))
        .map_err(io_error)?;
        let numbers: Vec<String> = (0..self.most_states()).map(|n| n.to_string()).collect();
        for _ in 0..count {
            if self.interrupt.is_set() {
                return Ok(false);
            }
            let states = self.records.draw(&mut self.random);
            let states = states.iter().zip(self.model.variables());
            for (&state, variable) in states {
                let name = match &variable.names {
                    Some(names) => in_cell(&names.states[state], self.quote_formulas),
                    None => Cow::Borrowed(&numbers[state][..]),
                };
                csv.write_field(name.as_bytes()).map_err(io_error)?;
            }
            // Ends the record.
            csv.write_record(None::<&[u8]>).map_err(io_error)?;
        }
        csv.flush().map(|()| true)
    }

    fn most_states(&self) -> usize {
        let states = |v: &bethe_core::Variable| if v.names.is_none() { v.cardinality } else { 0 };
        self.model.variables().iter().map(states).max().unwrap_or(0)
    }
}

/// A name as the file has it.
fn in_cell(name: &str, quote_formulas: bool) -> Cow<'_, str> {
    if quote_formulas { as_text(name) } else { Cow::Borrowed(name) }
}

/// The system's error, so that a closed pipe can be told from other failures.
fn io_error(error: csv::Error) -> io::Error {
    match error.into_kind() {
        csv::ErrorKind::Io(error) => error,
        other => io::Error::other(format!("{other:?}")),
    }
}
