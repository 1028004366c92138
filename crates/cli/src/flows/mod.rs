//! `bethe flows`: from counts to flows and pictures.

mod config;
mod csv_names;
mod flags;
mod input;
mod output;
#[cfg(feature = "parquet")]
mod parquet;

pub use flags::Flags;

use std::ops::ControlFlow;
use std::time::Instant;

use anyhow::Result;
use bethe_core::solve::{Record, SolveError};
use bethe_core::{Cancel, Status};
use bethe_flows::infer::{FlowError, Flows, fit};
use bethe_flows::output::{Summary, rounded};
use bethe_terminal::{Interrupt, Outcome, say};

use crate::solve::progress::Progress;
use crate::solver::name;
use config::Config;
use input::Input;
use output::{Answer, Output};

/// Prints nothing and publishes no file before everything is done.
pub fn run(flags: Flags) -> Result<Outcome> {
    let begun = Instant::now();
    let mut config = Config::try_from(flags)?;
    let input = Input::read(&config)?;
    let interrupt = Interrupt::install()?;
    let times = input.observations.times().len();
    let output =
        config.out.as_deref().map(|out| Output::create(out, &config, times)).transpose()?;
    if !config.quiet {
        input.warnings.iter().for_each(|warning| say(&format!("warning: {warning}")));
    }
    // The limit is for tables of moves too, not only for iterations.
    let limit = config.settings.time_limit;
    config.settings.time_limit = limit.map(|limit| limit.saturating_sub(begun.elapsed()));
    let mut flows = match solve(&config, &input, interrupt.cancel()) {
        Ok(flows) => flows,
        Err(FlowError::Solve(SolveError::Cancelled)) => return Ok(Outcome::Interrupted),
        Err(FlowError::Solve(SolveError::OutOfTime)) => {
            let file = config.observations.display();
            say(&format!(
                "error: {file}: the time limit passed before there was an answer; a longer \
                 --time-limit allows more"
            ));
            return Ok(Outcome::OutOfTime);
        }
        Err(error) => return Err(input.mistake(&config, error)),
    };
    if flows.solution.status == Status::Infeasible {
        let file = config.observations.display();
        say(&format!(
            "error: {file}: no movement explains the counts; try another --reach or --start"
        ));
        return Ok(Outcome::Infeasible);
    }
    let counts = flows.counts();
    let summary = summarise(&config, &input, &flows, &counts);
    let written = match output {
        Some(mut output) => {
            let answer = Answer { counts: &counts, summary: &summary, errors: None };
            let movements = output.write(&config, &input, &mut flows, answer)?;
            let names = output.publish()?;
            format!(
                "\nwritten: {} ({} flows of more than {} individuals)",
                names.join(", "),
                movements.written,
                rounded(config.threshold, 3)
            )
        }
        None => {
            output::print(&summary)?;
            String::new()
        }
    };
    if !config.quiet {
        say(&format!("{}{written}", in_words(&summary)));
    }
    Ok(Outcome::Done)
}

fn solve(config: &Config, input: &Input, cancel: Cancel) -> Result<Flows, FlowError> {
    let mut progress = Progress::new(1, config.quiet);
    let mut observer = |record: &Record, _: &[f64]| {
        progress.iteration(record);
        ControlFlow::Continue(())
    };
    input.problem(config, cancel).solve(&config.settings, &mut observer)
}

fn summarise(config: &Config, input: &Input, flows: &Flows, counts: &[f64]) -> Summary {
    let times = input.observations.times();
    let fits = fit(&input.counts, counts, &input.noise, config.population);
    Summary {
        population: config.population,
        cells: input.cells.len(),
        times: times.len(),
        moves: input.moves.tables.iter().map(|table| table.len()).max().unwrap_or(0),
        noise: name(config.noise),
        warnings: input.warnings.clone(),
        ..Summary::of_solution(&flows.solution).with_fit(times, &fits)
    }
}

fn in_words(summary: &Summary) -> String {
    let number = |value: Option<f64>| value.map_or("none".to_string(), |v| rounded(v, 3));
    format!(
        "{}: gap {} nats, {} oracle calls, {} s, solver {}\n\
         fit: correlation {}, mean deviance {}, of {} counts in {} cells at {} times",
        summary.status.replace('_', " "),
        number(summary.gap),
        summary.oracle_calls,
        rounded(summary.seconds, 3),
        summary.solver,
        number(summary.correlation),
        number(summary.mean_deviance),
        summary.observed,
        summary.cells,
        summary.times,
    )
}
