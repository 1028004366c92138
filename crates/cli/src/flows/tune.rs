//! Weights that predict best what was held out: marked individuals, or counts.

use std::time::Instant;

use anyhow::Result;
use bethe_core::solve::SolveError;
use bethe_core::{Cancel, Settings, Status};
use bethe_flows::birdflow::Weights;
use bethe_flows::data::{Cells, Observations, Pair};
use bethe_flows::infer::{FlowError, FlowProblem, Flows};
use bethe_flows::learn::{PRIORS, Prior, held_out_places, learn_with};
use bethe_flows::model::Moves;
use bethe_flows::output::Tuned;
use bethe_flows::validate::score;
use bethe_terminal::bad_input;

use super::config::Config;
use super::flags::TuneChoice;
use super::input::Input;
use super::time::{deadline, in_time};

/// Factors of all weights of movement, where nothing is learned.
const SCALES: [f64; 7] = [0.125, 0.25, 0.5, 1.0, 2.0, 4.0, 8.0];
/// The tolerance of fits that are compared.
const TOLERANCE: f64 = 1e-4;

/// Weights to try.
#[derive(Clone, Copy)]
enum Candidate {
    Birdflow(Weights),
    Scale(f64),
    Pulls(Option<Prior>),
}

impl Candidate {
    fn all(config: &Config, cells: &Cells) -> Vec<Self> {
        match config.birdflow {
            Some(weights) => weights.candidates(cells).into_iter().map(Self::Birdflow).collect(),
            None if config.learns => PRIORS.map(Self::Pulls).to_vec(),
            None => SCALES.map(Self::Scale).to_vec(),
        }
    }

    /// In words, as flags would say it.
    fn name(self) -> String {
        match self {
            Self::Birdflow(weights) => weights.to_string(),
            Self::Scale(factor) => format!("weights × {factor}"),
            Self::Pulls(None) => "no pulls".to_string(),
            Self::Pulls(Some(Prior { first, change, drift })) => {
                format!("pulls {first}, change {change}, drift {drift}")
            }
        }
    }

    /// The flows under these weights.
    fn flows(
        self,
        config: &Config,
        input: &Input,
        counts: &Observations,
        (cancel, deadline): (Cancel, Option<Instant>),
    ) -> Result<Flows, FlowError> {
        let (mut noise, mut start) = (input.noise.clone(), input.start.clone());
        let steps = input.moves.of_step.len();
        let fits = "it fitted before";
        let moves: Moves = match self {
            Self::Birdflow(weights) => {
                noise = weights.noise();
                let movement = weights.movement(&input.cells, config.reach);
                movement.moves_within(&input.cells, steps, config.memory).expect(fits)
            }
            Self::Scale(factor) => {
                let mut movement = input.movement.clone();
                movement.features.iter_mut().for_each(|feature| feature.weight *= factor);
                movement.moves_within(&input.cells, steps, config.memory).expect(fits)
            }
            Self::Pulls(prior) => {
                let mut learner = input.learner(config, cancel.clone());
                learner.observations = counts;
                learner.deadline = deadline;
                let law = learn_with(&learner, prior, &mut |_| ())?.law;
                start.clone_from(&law.start);
                law.moves(&input.cells, steps, config.memory).expect(fits)
            }
        };
        let problem = FlowProblem {
            moves: &moves,
            start: start.as_deref(),
            observations: counts,
            noise: &noise,
            population: config.population,
            cancel,
        };
        let settings = Settings { tolerance: TOLERANCE, ..Settings::default() };
        in_time(&problem, settings, deadline)
    }
}

/// Refuses to tune by counts where none can be held out, or none is left.
pub fn check(config: &Config, input: &Input) -> Result<()> {
    let hidden = held_out_places(&input.counts, input.given_start.is_none()).len();
    let times = 0..input.counts.times().len();
    let counted: usize = times.map(|time| input.counts.at(time).iter().flatten().count()).sum();
    if config.tune != Some(TuneChoice::Counts) || (hidden > 0 && hidden < counted) {
        return Ok(());
    }
    Err(bad_input(format!(
        "{}: --tune counts holds out a fifth of the counts, found {counted}, expected more",
        config.observations.display()
    )))
}

/// Tries weights, sets configuration and input to the best ones, and says how all did.
pub fn tune(
    config: &mut Config,
    input: &mut Input,
    pairs: &[Pair],
    (cancel, say): (&Cancel, &mut dyn FnMut(String)),
) -> Result<Vec<Tuned>, FlowError> {
    let Some(by) = config.tune else { return Ok(Vec::new()) };
    let candidates = Candidate::all(config, &input.cells);
    let hidden = held_out_places(&input.counts, input.given_start.is_none());
    let mut shown = input.counts.clone();
    if by == TuneChoice::Counts {
        hidden.iter().for_each(|&(time, cell)| shown.forget(time, cell));
    }
    let mut tuned = Vec::with_capacity(candidates.len());
    // The other half is for learning and for the flows.
    let deadline = deadline(config.settings.time_limit.map(|left| left / 2));
    for (place, candidate) in candidates.iter().enumerate() {
        say(format!("tuning: {} of {}", place + 1, candidates.len()));
        let score = match candidate.flows(config, input, &shown, (cancel.child(), deadline)) {
            Err(FlowError::Solve(SolveError::OutOfTime)) => break,
            Err(FlowError::Unexplained) => f64::NEG_INFINITY,
            Err(error) => return Err(error),
            Ok(flows) if flows.solution.status == Status::Infeasible => f64::NEG_INFINITY,
            Ok(mut flows) => match by {
                TuneChoice::Pairs => score(&flows, pairs, input.cells.len()),
                TuneChoice::Counts => -held_out(config, input, &hidden, &flows.counts()),
            },
        };
        tuned.push(Tuned { weights: candidate.name(), score, chosen: false });
    }
    if tuned.len() < candidates.len() {
        let (tried, all) = (tuned.len(), candidates.len());
        let kept = if tried == 0 { "; those that were given are kept" } else { "" };
        let warning = format!("--tune: the time limit allowed {tried} of {all} weights{kept}");
        input.warn(config, warning);
        if tried == 0 {
            return Ok(tuned);
        }
    }
    let best = first_highest(tuned.iter().map(|own| own.score)).ok_or(FlowError::Unexplained)?;
    tuned[best].chosen = true;
    let steps = input.moves.of_step.len();
    match candidates[best] {
        Candidate::Birdflow(weights) => {
            config.birdflow = Some(weights);
            input.noise = weights.noise();
            input.movement = weights.movement(&input.cells, config.reach);
        }
        Candidate::Scale(factor) => {
            input.movement.features.iter_mut().for_each(|feature| feature.weight *= factor);
        }
        Candidate::Pulls(prior) => config.prior = Some(prior),
    }
    let moves = input.movement.moves_within(&input.cells, steps, config.memory);
    input.moves = moves.expect("it fitted before");
    Ok(tuned)
}

/// The place of the highest finite score, the first of equals.
fn first_highest(scores: impl Iterator<Item = f64>) -> Option<usize> {
    let finite = scores.enumerate().filter(|(_, score)| score.is_finite());
    finite.reduce(|best, own| if own.1 > best.1 { own } else { best }).map(|(place, _)| place)
}

/// The mean deviance of counts that were held out, by the noise that was given.
fn held_out(config: &Config, input: &Input, hidden: &[(usize, usize)], counts: &[f64]) -> f64 {
    let deviance = |&(time, cell): &(usize, usize)| {
        let count = input.counts.at(time)[cell]?;
        let inferred = counts[time * input.cells.len() + cell].max(f64::MIN_POSITIVE);
        let expected = input.noise.expected(cell, inferred, config.population);
        Some(input.noise.deviance(count, expected))
    };
    hidden.iter().filter_map(deviance).sum::<f64>() / hidden.len().max(1) as f64
}

#[cfg(test)]
mod tests {
    use super::first_highest;

    #[test]
    fn the_first_of_the_highest_finite_scores_is_chosen() {
        let first = |scores: &[f64]| first_highest(scores.iter().copied());
        assert_eq!(first(&[f64::NAN, -3.0, -1.0, -1.0, f64::NEG_INFINITY]), Some(2));
        assert_eq!(first(&[f64::INFINITY, f64::NAN]), None);
    }
}
