//! `bethe solve`: from problems to answers.

mod batch;
mod config;
mod covariance;
mod flags;
pub mod problems;
pub mod progress;
mod sink;
mod trace;
pub mod words;

pub use flags::Flags;

use std::ops::ControlFlow;
use std::path::PathBuf;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};

use anyhow::Result;
use bethe_core::problem::uai;
use bethe_core::solve::{Record, SolveError, Status};
use bethe_core::{Answer, Model, OracleKind, Problem, Request, Tables};
use bethe_io::plot::convergence;
use bethe_terminal::{
    Interrupt, Outcome, PendingFile, bad_input, check_apart, counted, say, threads,
};
use rayon::prelude::*;

use crate::estimate;
use batch::Batch;
use config::Config;
use flags::Format;
use problems::{NamedProblem, Problems};
use progress::Progress;
use sink::Sink;

/// A mistake in a file leaves standard output empty. In a batch, one problem per line, only its own
/// line reports it.
pub fn run(flags: Flags) -> Result<Outcome> {
    let mut config = Config::try_from(flags)?;
    check_outputs(&config)?;
    let found = problems::open(&config.inputs())?;
    // Not before: Ctrl-C ends a program that waits for its first line.
    config.request.cancel = Interrupt::install()?.cancel();
    let config = Arc::new(config);
    let records_wanted = config.trace.is_some() || config.plot.is_some();
    // Formats of UAI begin with the number of answers.
    let at_once = records_wanted || config.solution.is_some() || config.format != Format::Json;
    let problems = match found {
        Problems::Whole(problems) => {
            not_strict(&config)?;
            problems
        }
        Problems::Lines(lines, additions) if at_once => {
            problems::collected(lines, &additions, &config.problem)?
        }
        Problems::Lines(lines, additions) => {
            let sink = Sink::open(config.out.as_deref())?;
            match batch::run(lines, Arc::clone(&additions), &config, sink)? {
                Batch::Done(outcome) => return Ok(outcome),
                Batch::Alone(source) => {
                    additions.problems(&source.alone(&config.problem), false)?
                }
            }
        }
    };
    if (records_wanted || config.solution.is_some()) && problems.len() != 1 {
        let flags = if records_wanted { "--trace and --plot" } else { "--solution" };
        let found = problems.len();
        return Err(bad_input(format!("{flags}: found {found} problems, expected one")));
    }
    solve_all(&config, &problems)
}

/// A single problem has no line to stop at.
fn not_strict(config: &Config) -> Result<()> {
    match config.strict {
        true => Err(bad_input(format!(
            "--strict: {} holds one problem, expected one per line (.jsonl)",
            config.problem.display()
        ))),
        false => Ok(()),
    }
}

/// No output may be an input.
fn check_outputs(config: &Config) -> Result<()> {
    let outputs = [
        ("--out", &config.out),
        ("--solution", &config.solution),
        ("--trace", &config.trace),
        ("--plot", &config.plot),
    ];
    for (flag, output) in outputs {
        let inputs = [Some(&config.problem), config.energies.as_ref(), config.evidence.as_ref()];
        let inputs = inputs.into_iter().flatten().map(PathBuf::as_path);
        output.as_deref().map_or(Ok(()), |output| check_apart(flag, output, inputs))?;
    }
    Ok(())
}

/// Prints nothing before every problem is solved.
fn solve_all(config: &Config, problems: &[NamedProblem]) -> Result<Outcome> {
    let records_wanted = config.trace.is_some() || config.plot.is_some();
    let mut sink = Sink::open(config.out.as_deref())?;
    let solution = config.solution.as_deref().map(PendingFile::create).transpose()?;
    let trace = config.trace.as_deref().map(PendingFile::create).transpose()?;
    let plot = config.plot.as_deref().map(PendingFile::create).transpose()?;

    let mut records = Vec::new();
    let answers = match problems {
        [only] => {
            let kept = records_wanted.then_some(&mut records);
            let (answer, model) = match solve_one(only, config, kept)? {
                Ok(solved) => solved,
                Err(stop) => return Ok(unanswered(&only.source, &stop)),
            };
            if let (Some(file), Some(model)) = (solution, model) {
                file.finish(&(written(model)? + "\n"))?;
            }
            vec![answer]
        }
        _ => match solve_many(problems, config)? {
            Many::Answered(answers) => answers,
            Many::Stopped(answers) => return stopped(config, problems, &answers, sink),
        },
    };
    if let Some(file) = trace {
        file.finish(&trace::csv(&records))?;
    }
    if let Some(file) = plot {
        let title = format!("{}, solver {}", problems[0].source, answers[0].solver);
        file.finish(&convergence(&title, &records))?;
    }
    if !config.quiet {
        note_wide(config, problems, &answers);
        if matches!(config.format, Format::Mar | Format::Pr) {
            note_unsolved(problems, &answers);
        }
    }
    sink.write(&shown(problems, &answers, config.format))?;
    sink.finish()?;
    let infeasible = answers.iter().any(|answer| answer.status == Status::Infeasible);
    Ok(if infeasible { Outcome::Infeasible } else { Outcome::Done })
}

/// The only problem has no answer: Ctrl-C or the time limit came first.
pub fn unanswered(source: &str, stop: &SolveError) -> Outcome {
    say(&format!("error: {source}: {stop}"));
    if *stop == SolveError::Cancelled { Outcome::Interrupted } else { Outcome::OutOfTime }
}

/// Prints the answers that there are, with an error in place of each missing one; formats of UAI
/// have no place for that.
fn stopped(
    config: &Config,
    problems: &[NamedProblem],
    answers: &[Result<Answer, SolveError>],
    mut sink: Sink,
) -> Result<Outcome> {
    let stops = || answers.iter().filter_map(|answer| answer.as_ref().err());
    // Ctrl-C is what a person did last.
    let interrupted = stops().find(|stop| **stop == SolveError::Cancelled);
    let Some(stop) = interrupted.or(stops().next()) else { return Ok(Outcome::Done) };
    let outcome = unanswered(&counted(stops().count(), "problem"), stop);
    if config.format == Format::Json {
        let lines = problems.iter().zip(answers).map(|(named, answer)| match answer {
            Ok(answer) => answer.to_json(named.problem.model()) + "\n",
            Err(stop) => format!("{{\"error\":\"{stop}\"}}\n"),
        });
        sink.write(&lines.collect::<String>())?;
        sink.finish()?;
    }
    Ok(outcome)
}

/// The answers, as they are printed. The UAI formats have no word for a problem without a solution.
fn shown(problems: &[NamedProblem], answers: &[Answer], format: Format) -> String {
    let is_infeasible = |answer: &Answer| answer.status == Status::Infeasible;
    match format {
        Format::Mar | Format::Pr if answers.iter().all(is_infeasible) => String::new(),
        Format::Text => {
            let answers = problems.iter().zip(answers);
            let words: Vec<_> = answers.map(|(named, answer)| words::of(named, answer)).collect();
            words.join("\n")
        }
        Format::Json => {
            let lines = problems.iter().zip(answers);
            lines.map(|(named, answer)| answer.to_json(named.problem.model()) + "\n").collect()
        }
        Format::Mar => uai::marginals(answers),
        Format::Pr => uai::partition(answers),
    }
}

/// Notes which problem `--oracle auto` could not solve exactly, and how many more there are.
fn note_wide(config: &Config, problems: &[NamedProblem], answers: &[Answer]) {
    let is_wide = |answer: &Answer| answer.entropy != "exact";
    let mut wide = problems.iter().zip(answers).filter(|(_, answer)| is_wide(answer));
    if config.request.oracle == OracleKind::Auto
        && let Some((first, _)) = wide.next()
    {
        let more = match wide.count() {
            0 => String::new(),
            count => format!(" (and {count} more)"),
        };
        say(&wide_note(config, &format!("{}{more}", first.source)));
    }
}

/// What `--oracle auto` says of problems that it could not solve exactly.
fn wide_note(config: &Config, problems: &str) -> String {
    let limits = match config.settings.time_limit {
        None => format!("--memory-limit {}", config.request.memory_limit),
        Some(_) => "--memory-limit and --time-limit".to_string(),
    };
    format!(
        "note: {problems}: exact inference does not fit into {limits}; solved with --oracle trw"
    )
}

/// Notes which problems were not solved, since the UAI formats cannot say so.
fn note_unsolved(problems: &[NamedProblem], answers: &[Answer]) {
    for (NamedProblem { source, .. }, answer) in problems.iter().zip(answers) {
        let what = match answer.status {
            Status::Converged | Status::Stationary => continue,
            Status::Infeasible => "hard measurements cannot hold together".into(),
            Status::IterationLimit
            | Status::RoundingLimit
            | Status::TimeLimit
            | Status::Stopped => {
                let gap = answer.gap.map_or("unknown".to_string(), |gap| format!("{gap:.1e}"));
                format!("not converged ({}), gap {gap}", answer.status.name())
            }
        };
        say(&format!("note: {source}: {what}"));
    }
}

/// Solves a single problem, showing its iterations and keeping its records where they are wanted;
/// or what stopped it before there was an answer.
fn solve_one(
    named: &NamedProblem,
    config: &Config,
    mut records: Option<&mut Vec<Record>>,
) -> Result<Result<(Answer, Option<Model>), SolveError>> {
    let mut progress = Progress::new(1, config.quiet);
    let mut see = |record: &Record| {
        progress.iteration(record, config.settings.tolerance);
        if let Some(records) = records.as_deref_mut() {
            records.push(*record);
        }
    };
    if config.solution.is_none() {
        let answer = solve(named, config, &config.request, &mut see)?;
        return Ok(answer.map(|answer| (answer, None)));
    }
    check_printed(named, &config.request)?;
    let settings = config.settings_after(named.parsing);
    let request = config.request_for(&config.request, named)?;
    let fitted = named.problem.fit(&settings, &request, &mut observer(&mut see));
    let fitted = unless_wrong(named, fitted)?;
    Ok(fitted.map(|(answer, model)| {
        let feasible = answer.status != Status::Infeasible;
        (answer, feasible.then_some(model))
    }))
}

/// A model as a problem file.
fn written(model: Model) -> Result<String> {
    let problem = Problem::new(model, Vec::new()).expect("no energies");
    problem.to_json().map_err(|error| bad_input(format!("--solution: {error}")))
}

/// What became of many problems.
enum Many {
    Answered(Vec<Answer>),
    /// Some have none: Ctrl-C or the time limit came first.
    Stopped(Vec<Result<Answer, SolveError>>),
}

/// Solves many problems at once.
fn solve_many(problems: &[NamedProblem], config: &Config) -> Result<Many> {
    let pool = threads::pool(config.threads)?;
    let progress = Mutex::new(Progress::new(problems.len(), config.quiet));
    let done = AtomicUsize::new(0);
    let request = config.request_among(pool.current_num_threads().min(problems.len()));
    let answers: Vec<Result<Answer, SolveError>> = pool.install(|| {
        problems
            .par_iter()
            .map(|named| {
                let answer = solve(named, config, &request, &mut |_| {})?;
                let done = done.fetch_add(1, Ordering::Relaxed) + 1;
                if let Ok(mut progress) = progress.try_lock() {
                    progress.done(done);
                }
                Ok(answer)
            })
            // The first error in file order, on any number of threads.
            .collect::<Vec<Result<_>>>()
            .into_iter()
            .collect::<Result<_>>()
    })?;
    Ok(if answers.iter().all(Result::is_ok) {
        Many::Answered(answers.into_iter().flatten().collect())
    } else {
        Many::Stopped(answers)
    })
}

fn solve(
    named: &NamedProblem,
    config: &Config,
    request: &Request,
    see: &mut dyn FnMut(&Record),
) -> Result<Result<Answer, SolveError>> {
    check_printed(named, request)?;
    let settings = config.settings_after(named.parsing);
    let request = &config.request_for(request, named)?;
    unless_wrong(named, named.problem.solve_with(&settings, request, &mut observer(see)))
}

/// Refuses tables that would take more memory in the answer than they may.
fn check_printed(named: &NamedProblem, request: &Request) -> Result<()> {
    if request.marginals != Tables::All {
        return Ok(());
    }
    estimate::check_printed(named.problem.model(), request.memory_limit).map_err(|error| {
        bad_input(format!("{}: {error}; --marginals nodes and none need less", named.source))
    })
}

/// What was found, or what stopped it before there was anything.
pub fn unless_wrong<T>(
    named: &NamedProblem,
    found: Result<T, SolveError>,
) -> Result<Result<T, SolveError>> {
    match found {
        Ok(found) => Ok(Ok(found)),
        Err(stop @ (SolveError::Cancelled | SolveError::OutOfTime)) => Ok(Err(stop)),
        Err(error) => Err(wrong(named, &error)),
    }
}

/// Shows records to `see`.
pub fn observer(see: &mut dyn FnMut(&Record)) -> impl FnMut(&Record, &[f64]) -> ControlFlow<()> {
    move |record, _| {
        see(record);
        ControlFlow::Continue(())
    }
}

/// A problem's error, with exit code 2.
pub fn wrong(named: &NamedProblem, error: &SolveError) -> anyhow::Error {
    bad_input(format!("{}: {error}", named.source))
}
