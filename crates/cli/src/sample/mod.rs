//! `bethe sample`: records drawn from a model or from a solved problem.

use std::io::{self, Write};
use std::path::PathBuf;

use anyhow::{Context, Result};
use bethe_core::solve::{Record, Status};
use bethe_core::{Model, OracleKind, Records, Request, Settings, Tables};
use bethe_terminal::{Interrupt, Outcome, PendingFile, bad_input, check_apart};
use clap::Args;
use rand::SeedableRng;
use rand::rngs::StdRng;

use crate::solve::problems::{self, Inputs, NamedProblem};
use crate::solve::progress::Progress;
use crate::solve::{observer, unless_stopped, wrong};
use crate::solver::out_of_range;

/// Draw records from a model as CSV: a line of names, then one record per line.
///
/// FILE is a problem, which is solved first, a file written by bethe solve --solution, or a .uai
/// model. Records are independent and drawn exactly from the model tilted by its energies. Observed
/// variables keep their states. Exit code 2 means bad input, 3 that hard measurements cannot hold.
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

    /// File to write [default: standard output]
    #[arg(long, value_name = "FILE.csv")]
    out: Option<PathBuf>,

    /// No progress and no notes on standard error
    #[arg(long)]
    quiet: bool,
}

pub fn run(flags: Flags) -> Result<Outcome> {
    let settings = Settings {
        tolerance: flags.tolerance,
        max_iterations: flags.max_iterations,
        ..Settings::default()
    };
    settings.check().map_err(out_of_range)?;
    let inputs = Inputs {
        problem: &flags.file,
        energies: flags.energies.as_deref(),
        evidence: flags.evidence.as_deref(),
        quiet: flags.quiet,
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
    let request = Request {
        // Sampling needs exact inference.
        oracle: OracleKind::Exact,
        marginals: Tables::None,
        // Nobody looks at the best assignment.
        map_budget: 0,
        cancel: interrupt.cancel(),
        ..Request::default()
    };
    let model = match fit(named, &settings, &request, flags.quiet)? {
        Fit::Model(model) => model,
        Fit::None(outcome) => return Ok(outcome),
    };
    let mut drawing = Drawing {
        records: Records::of(&model).map_err(|error| wrong(named, &error.into()))?,
        random: StdRng::seed_from_u64(flags.seed),
        model: &model,
        interrupt: &interrupt,
    };
    let done = match out {
        Some(mut file) => {
            let done = file.fill(|out| drawing.write(out, flags.records))?;
            if done {
                file.publish()?;
            }
            done
        }
        None => match drawing.write(&mut io::BufWriter::new(io::stdout().lock()), flags.records) {
            // A reader that closes the pipe has read enough.
            Err(error) if error.kind() == io::ErrorKind::BrokenPipe => true,
            written => written.context("standard output")?,
        },
    };
    Ok(if done { Outcome::Done } else { Outcome::Interrupted })
}

/// What a fit came to.
enum Fit {
    Model(Model),
    /// Hard measurements cannot hold, or Ctrl-C came before there was an answer.
    None(Outcome),
}

/// The model that the problem comes to.
fn fit(named: &NamedProblem, settings: &Settings, request: &Request, quiet: bool) -> Result<Fit> {
    let mut progress = Progress::new(1, quiet);
    let mut see = |record: &Record| progress.iteration(record);
    let fitted = named.problem.fit(settings, request, &mut observer(&mut see));
    let Some((answer, model)) = unless_stopped(named, fitted)? else {
        return Ok(Fit::None(Outcome::Interrupted));
    };
    drop(progress);
    let mut stderr = io::stderr();
    if answer.status == Status::Infeasible {
        // If standard error is closed, there is nobody to tell.
        let _ = writeln!(stderr, "error: {}: hard measurements cannot hold together", named.source);
        return Ok(Fit::None(Outcome::Infeasible));
    }
    let solved = matches!(answer.status, Status::Converged | Status::Stationary);
    if !solved && !quiet {
        let gap = answer.gap.map_or("unknown".to_string(), |gap| format!("{gap:.2e}"));
        let status = answer.status.name();
        let _ =
            writeln!(stderr, "note: {}: not solved to the end ({status}), gap {gap}", named.source);
    }
    Ok(Fit::Model(model))
}

struct Drawing<'a> {
    records: Records,
    random: StdRng,
    model: &'a Model,
    interrupt: &'a Interrupt,
}

impl Drawing<'_> {
    /// Writes the names of the variables, then the records. Returns false after Ctrl-C.
    fn write(&mut self, out: &mut dyn Write, count: usize) -> io::Result<bool> {
        let mut csv = csv::Writer::from_writer(out);
        let variables = self.model.variables().iter().enumerate();
        csv.write_record(variables.map(|(index, variable)| match &variable.names {
            Some(names) => names.variable.clone(),
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
            csv.write_record(states.map(|(&state, variable)| match &variable.names {
                Some(names) => &names.states[state],
                None => &numbers[state],
            }))
            .map_err(io_error)?;
        }
        csv.flush().map(|()| true)
    }

    fn most_states(&self) -> usize {
        let states = |v: &bethe_core::Variable| if v.names.is_none() { v.cardinality } else { 0 };
        self.model.variables().iter().map(states).max().unwrap_or(0)
    }
}

/// What the system said: a closed pipe must be told from other failures.
fn io_error(error: csv::Error) -> io::Error {
    match error.into_kind() {
        csv::ErrorKind::Io(error) => error,
        other => io::Error::other(format!("{other:?}")),
    }
}
