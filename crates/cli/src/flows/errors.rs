//! Standard errors: by the curvature where that is cheap or wanted, or by a bootstrap.

use std::time::Instant;

use anyhow::Result;
use bethe_core::{Cancel, Status};
use bethe_flows::data::Observations;
use bethe_flows::infer::{FlowError, FlowProblem, Flows};
use bethe_flows::learn::{Choice, learn_with};
use bethe_flows::output::Errors;
use bethe_flows::uncertainty::{Bootstrap, StandardErrors, UnknownLaw, work};
use bethe_terminal::{bad_input, time_left};

use super::asked::Watch;
use super::config::Config;
use super::input::Input;
use super::time::{deadline, in_time};

/// Multiplications that take some seconds.
const CHEAP: f64 = 3e9;

/// Standard errors, and how they were found.
type Found = (StandardErrors, Option<Errors>);

fn is_cheap(input: &Input, flows: &Flows, law: Option<&UnknownLaw>) -> bool {
    work(flows.times(), input.cells.len(), law) <= CHEAP
}

/// What learning left open, if something was learned.
fn unknown_law(config: &Config, input: &Input, learned: Option<&Choice>) -> Option<UnknownLaw> {
    let mut learner = input.learner(config, Cancel::never());
    learner.start = input.given_start.as_deref();
    learned.map(|choice| learner.unknown_law(choice))
}

/// The standard errors of flows by a bootstrap, if that is wanted and there is time for one.
pub fn bootstrap(
    config: &Config,
    input: &mut Input,
    flows: &mut Flows,
    (learned, cancel): (Option<&Choice>, &Cancel),
    watch: Watch,
) -> Result<Option<Found>, FlowError> {
    let Some((replicates, seed)) = config.bootstrap else { return Ok(None) };
    let (begun, mut populations) = (Instant::now(), 0);
    let observations = &input.counts;
    let (noise, population) = (&input.noise, config.population);
    let law = unknown_law(config, input, learned);
    let law = law.as_ref();
    let bootstrap = Bootstrap { observations, noise, population, law, replicates, seed };
    let deadline = deadline(config.settings.time_limit);
    let mut infer = |counts: &Observations| {
        let left = time_left(begun.elapsed(), populations as f64 / replicates as f64);
        let left = left.map_or(String::new(), |left| format!("  {left}"));
        populations += 1;
        watch(&format_args!("bootstrap: population {populations} of {replicates}{left}"));
        again(config, input, learned, counts, (cancel, deadline))
    };
    let compares = is_cheap(input, flows, law);
    let found = bootstrap.run(flows, (config.threshold, compares), &mut infer)?;
    if found.replicates < replicates {
        input.warn(
            config,
            format!(
                "--bootstrap: the time limit allowed {} of {replicates} populations",
                found.replicates
            ),
        );
    }
    let how = Errors {
        method: "bootstrap",
        replicates: Some(found.replicates),
        coverage: found.coverage,
        ratio: found.ratio,
    };
    Ok((found.replicates > 0).then_some((found.errors, Some(how))))
}

/// The standard errors of flows by the curvature, if wanted or cheap.
pub fn by_curvature(
    config: &Config,
    input: &Input,
    flows: &mut Flows,
    learned: Option<&Choice>,
) -> Result<Found> {
    let is_certain = matches!(flows.solution.status, Status::Converged | Status::RoundingLimit);
    // A law with as many unknowns as moves is not made where it cannot be used.
    let may_be = is_cheap(input, flows, None) || config.errors == Some(true);
    let law = unknown_law(config, input, learned.filter(|_| may_be));
    let is_cheap = is_cheap(input, flows, law.as_ref());
    let wanted = config.errors.unwrap_or(is_cheap && is_certain && config.out.is_some());
    if !wanted {
        return Ok((StandardErrors::default(), None));
    }
    let counted = (&input.counts, &input.noise);
    let limits = (config.threshold, config.memory);
    let found = StandardErrors::new(flows, counted, law.as_ref(), limits)
        .map_err(|error| bad_input(format!("--errors: {error}; --bootstrap needs less")))?;
    let how = Errors { method: "curvature", replicates: None, coverage: None, ratio: None };
    Ok((found, Some(how)))
}

/// Flows inferred from other counts in the same way, within the time.
fn again(
    config: &Config,
    input: &Input,
    learned: Option<&Choice>,
    counts: &Observations,
    (cancel, deadline): (&Cancel, Option<Instant>),
) -> Result<Flows, FlowError> {
    let (mut moves, mut start) = (None, None);
    if let Some(choice) = learned {
        let mut learner = input.learner(config, cancel.child());
        learner.observations = counts;
        learner.start = input.given_start.as_deref();
        learner.deadline = deadline;
        let law = learn_with(&learner, choice.prior, &mut |_| ())?.law;
        start.clone_from(&law.start);
        let steps = input.moves.of_step.len();
        moves = Some(law.moves(&input.cells, steps, config.memory).expect("it fitted before"));
    }
    let problem = FlowProblem {
        moves: moves.as_ref().unwrap_or(&input.moves),
        start: start.as_deref().or(input.start.as_deref()),
        observations: counts,
        noise: &input.noise,
        population: config.population,
        cancel: cancel.child(),
    };
    in_time(&problem, config.settings.clone(), deadline)
}
