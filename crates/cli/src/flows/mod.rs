//! `bethe flows`: from counts to flows and pictures.

mod asked;
mod config;
mod csv_names;
mod errors;
mod flags;
mod input;
mod largest;
mod learning;
mod movement;
mod oddities;
mod output;
#[cfg(feature = "parquet")]
mod parquet;
mod seasons;
mod summary;
mod time;
mod tune;

pub use asked::{Asked, Inferred, Unanswered, Watch};
pub(crate) use flags::Flags;
#[cfg(feature = "serve")]
pub(crate) use summary::in_words;

use std::fmt::Display;
use std::ops::ControlFlow;
use std::time::{Duration, Instant};

use anyhow::Result;
use bethe_core::Cancel;
use bethe_core::solve::Record;
use bethe_flows::infer::{Fit, FlowError, Flows, fit};
use bethe_flows::learn::{self, Choice};
use bethe_flows::output::{Learning, Summary, Tuned, for_people, individuals};
use bethe_flows::validate::{Scores, Validation, validate};
use bethe_terminal::{Interrupt, Outcome, say, time_left};

use crate::solve::progress::{Iteration, Pace, Progress};
use crate::solver::name;
use config::Config;
use flags::NoiseChoice;
use input::Input;

/// Prints nothing and publishes no file before everything is done.
pub(crate) fn run(flags: Flags) -> Result<Outcome> {
    let mut asked = Asked::read(flags)?;
    let interrupt = Interrupt::install()?;
    let output = asked.output()?;
    let mut warnings = if asked.config.quiet { Vec::new() } else { asked.input.warnings.clone() };
    let mut warn = || warnings.drain(..).for_each(|warning| say(&format!("warning: {warning}")));
    let mut progress = Progress::new(1, asked.config.quiet);
    // Not before the work has begun: what is odd is often what makes it fail, and that is told once.
    let mut watch = |text: &dyn Display| {
        warn();
        progress.message(text);
    };
    let found = asked.infer(&interrupt.cancel(), &mut watch);
    if !matches!(found, Err(Unanswered::Failed(_))) {
        warn();
    }
    let mut inferred = match found {
        Ok(inferred) => inferred,
        Err(unanswered) => return unanswered.told(),
    };
    drop(progress);
    let written = match output {
        Some(output) => {
            let (names, movements) = asked.fill(output, &mut inferred)?;
            let number = for_people(movements.written as f64, 15);
            let plural = if movements.written == 1 { "" } else { "s" };
            Some(format!(
                "\nwritten: {} ({number} flow{plural} of more than {})",
                names.join(", "),
                individuals(asked.config.threshold, 3)
            ))
        }
        None => None,
    };
    let Inferred { flows, summary, .. } = &mut inferred;
    let largest = || largest::table(&asked.input, flows, asked.config.population);
    summary::tell(&asked.config, summary, written, largest)?;
    Ok(Outcome::Done)
}

/// Weights that predict best, if wanted.
fn tuned(
    config: &mut Config,
    input: &mut Input,
    cancel: &Cancel,
    watch: Watch,
) -> Result<Vec<Tuned>, FlowError> {
    let choosing = input.pairs[0].clone();
    tune::tune(config, input, &choosing, (cancel, &mut |text| watch(&text)))
}

/// The scores of marked individuals, if there are any, and a warning if they are poor.
fn validated(config: &Config, input: &mut Input, flows: &Flows) -> Option<Validation> {
    let [choosing, scoring] = &input.pairs;
    let known = (&input.cells, &input.counts);
    let found = (!scoring.is_empty()).then(|| validate(flows, known, scoring, choosing))?;
    let Scores { flows, counts_alone, persistence, .. } = found.all;
    if let Some(pairs) = config.pairs.as_ref().filter(|_| flows < counts_alone.min(persistence)) {
        let [flows, counts, persistence] =
            [flows, counts_alone, persistence].map(|own| for_people(own, 3));
        let warning = format!(
            "{}: the flows predict marked individuals worse (log-likelihood {flows}) than counts alone \
             ({counts}) and persistence ({persistence}); do not rely on them; check --population, \
             --rate and --reach",
            pairs.display()
        );
        input.warn(config, warning);
    }
    Some(found)
}

/// Learns how individuals move, if wanted.
fn learn(
    config: &Config,
    input: &mut Input,
    cancel: Cancel,
    watch: Watch,
) -> Result<Option<(Learning, Choice)>, FlowError> {
    let (begun, limit) = (Instant::now(), config.settings.time_limit);
    let mut observe = |learning: learn::Progress| {
        let objective = for_people(learning.objective, 6);
        let left = time_of_learning(&learning, begun.elapsed(), limit);
        watch(&format_args!("learning: solve {}  objective {objective}{left}", learning.solves));
    };
    let choice = input.learn(config, cancel, &mut observe)?;
    let seconds = begun.elapsed();
    Ok(choice.map(|choice| (learning::learning(input, &choice, seconds), choice)))
}

/// The time that is left if learning goes through all its rounds, or until half of its limit has passed.
fn time_of_learning(
    learning: &learn::Progress,
    elapsed: Duration,
    limit: Option<Duration>,
) -> String {
    let rounds = learning.rounds as f64 / (learning.rounds + learning.rounds_left) as f64;
    let time = limit.map_or(0.0, |limit| elapsed.as_secs_f64() / (limit.as_secs_f64() / 2.0));
    let left = time_left(elapsed, rounds.max(time));
    left.map_or(String::new(), |left| format!("  at most {left}"))
}

fn solve(config: &Config, input: &Input, cancel: Cancel, watch: Watch) -> Result<Flows, FlowError> {
    let (mut pace, tolerance) = (Pace::default(), config.settings.tolerance);
    let mut observer = |record: &Record, _: &[f64]| {
        let left = pace.left(record, tolerance);
        watch(&format_args!("{}{left}", Iteration(record)));
        ControlFlow::Continue(())
    };
    input.problem(config, cancel).solve(&config.settings, &mut observer)
}

fn summarise(config: &Config, input: &mut Input, flows: &Flows, counts: &[f64]) -> Summary {
    let fits = fit(&input.counts, counts, &input.noise, config.population);
    let counted = fits.iter().filter(|fit| fit.observed > 0).count();
    let single = (counted < 2).then(|| single(config, fits.len()));
    if let Some(warning) = single.or_else(|| unexplained(config, &fits)) {
        input.warn(config, warning);
    }
    let times = input.observations.times();
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

/// A deviance per count above this is not noise.
const UNEXPLAINED: f64 = 2.0;

/// A warning that counts of one time, of so many, say nothing about movement.
fn single(config: &Config, times: usize) -> String {
    let (found, so) = match times {
        1 => ("one time".to_string(), "there are no moves, and nothing is learned"),
        _ => (format!("one of {times} times"), "nothing shows how individuals move"),
    };
    format!(
        "{}: found counts of {found}, so {so}; give the counts of two times or more",
        config.observations.display()
    )
}

/// A warning if the movement does not explain the counts. Squared errors have no scale of noise.
fn unexplained(config: &Config, fits: &[Fit]) -> Option<String> {
    let observed: usize = fits.iter().map(|fit| fit.observed).sum();
    let total: f64 =
        fits.iter().filter_map(|fit| Some(fit.mean_deviance? * fit.observed as f64)).sum();
    let deviance = total / observed.max(1) as f64;
    if config.noise == NoiseChoice::Squared || deviance <= UNEXPLAINED {
        return None;
    }
    let advice = match config.learns {
        true => "check --population, --rate, --reach and --noise",
        false => "--fit counts learns how individuals move",
    };
    Some(format!(
        "{}: the movement does not explain the counts: deviance per count {}, where about 1 is \
         expected; {advice}",
        config.observations.display(),
        for_people(deviance, 3)
    ))
}
