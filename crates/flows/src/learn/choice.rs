//! How strong pulls may be: what predicts counts that were held out.

use rayon::prelude::*;

use super::law::{Law, Learner, Prior};
use super::rounds::{Progress, Rounds, State, hide};
use crate::data::Observations;
use crate::infer::FlowError;

/// Priors of pulls that are tried, from none to those that follow every count.
pub const PRIORS: [Option<Prior>; 5] = [
    None,
    Some(Prior { first: 1.0, change: 0.0 }),
    Some(Prior { first: 1.0, change: 0.3 }),
    Some(Prior { first: 1.0, change: 1.0 }),
    Some(Prior { first: 2.0, change: 3.0 }),
];
/// One in so many counts is held out.
const FOLDS: usize = 5;
/// With this many counts, one fold is enough to tell priors apart.
const MANY: usize = 1000;
/// Rounds while priors are compared, and at the end: with many counts, and with few.
const TRIAL_ROUNDS: [usize; 2] = [2, 4];
const LAST_ROUNDS: [usize; 2] = [5, 40];

/// A prior that was tried.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Trial {
    /// `None` for no pulls.
    pub prior: Option<Prior>,
    /// Mean deviance of counts that were held out.
    pub held_out: f64,
}

/// What was learned.
#[derive(Clone, Debug, PartialEq)]
pub struct Choice {
    /// How individuals move.
    pub law: Law,
    /// The standard error of each weight that was learned. `[features]`
    pub weight_errors: Vec<Option<f64>>,
    /// The standard error of the exponent of distance, if it was learned.
    pub exponent_error: Option<f64>,
    /// The prior that predicted held-out counts best.
    pub prior: Option<Prior>,
    /// All that were tried.
    pub trials: Vec<Trial>,
    /// Solves in all.
    pub solves: usize,
    /// Whether the last rounds changed little.
    pub converged: bool,
    /// The objective, in nats of the population.
    pub objective: f64,
}

/// Learns a law, with the strength of pulls that predicts held-out counts best.
///
/// # Errors
/// If a problem has no solution, or learning is cancelled.
pub fn choose(learner: &Learner, observe: &mut dyn FnMut(Progress)) -> Result<Choice, FlowError> {
    let compared = compare(learner, observe)?;
    let best = compared.trials.iter().min_by(|a, b| a.held_out.total_cmp(&b.held_out));
    let prior = best.and_then(|trial| trial.prior);
    let state = compared.states.into_iter().find(|state| state.prior == prior);
    let mut choice = learn_under(learner, prior, state, compared.solves, observe)?;
    choice.trials = compared.trials;
    Ok(choice)
}

/// Learns a law under one prior of pulls.
///
/// # Errors
/// If a problem has no solution, or learning is cancelled.
pub fn learn_with(
    learner: &Learner,
    prior: Option<Prior>,
    observe: &mut dyn FnMut(Progress),
) -> Result<Choice, FlowError> {
    learn_under(learner, prior, None, 0, observe)
}

fn learn_under(
    learner: &Learner,
    prior: Option<Prior>,
    state: Option<State>,
    solves: usize,
    observe: &mut dyn FnMut(Progress),
) -> Result<Choice, FlowError> {
    let mut rounds = Rounds::new(learner, observe);
    rounds.solves = solves;
    let state = state.unwrap_or_else(|| rounds.under(&rounds.first(), prior));
    let expected = rounds.expect(&state)?;
    let most = LAST_ROUNDS[usize::from(places(learner.observations).len() <= MANY)];
    let (state, expected, converged) = rounds.run((state, expected), most)?;
    let errors = rounds.standard_errors(&state)?;
    let law = rounds.law(&state);
    let (unknown, bent) = (&rounds.design.unknown, rounds.design.bent);
    let error = |feature: usize| Some(errors[unknown.iter().position(|&own| own == feature)?]);
    let exponent = state.point.parameters.exponent;
    Ok(Choice {
        weight_errors: (0..law.movement.features.len()).map(error).collect(),
        // Learned as its logarithm.
        exponent_error: bent.map(|_| errors[unknown.len()] * exponent),
        law,
        prior,
        trials: Vec::new(),
        solves: rounds.solves,
        converged,
        objective: expected.objective,
    })
}

/// Priors, compared.
struct Compared {
    trials: Vec<Trial>,
    /// Of one fold, to go on from.
    states: Vec<State>,
    solves: usize,
}

/// Where something was counted: time and cell.
fn places(observations: &Observations) -> Vec<(usize, usize)> {
    (0..observations.times().len())
        .flat_map(|time| (0..observations.cells()).map(move |cell| (time, cell)))
        .filter(|&(time, cell)| observations.at(time)[cell].is_some())
        .collect()
}

/// Where counts are held out to compare models: a fifth of them, by time and cell.
pub fn held_out_places(observations: &Observations) -> Vec<(usize, usize)> {
    places(observations).into_iter().filter(|&place| fold_of(place) == 0).collect()
}

/// The mean deviance of held-out counts under each prior.
fn compare(learner: &Learner, observe: &mut dyn FnMut(Progress)) -> Result<Compared, FlowError> {
    let seen = places(learner.observations);
    let is_small = seen.len() <= MANY;
    let mut sums = [(0.0, 0usize); PRIORS.len()];
    let (mut solves, mut states) = (0, Vec::new());
    for fold in 0..if is_small { FOLDS } else { 1 } {
        let hidden: Vec<(usize, usize)> =
            seen.iter().copied().filter(|&place| fold_of(place) == fold).collect();
        if hidden.is_empty() || hidden.len() == seen.len() || learner.is_late() {
            continue;
        }
        let shown = hide(learner.observations, &hidden);
        let own = Learner { observations: &shown, ..learner.clone() };
        let mut rounds = Rounds::new(&own, observe);
        rounds.solves = solves;
        let mut state = rounds.first();
        let mut expected = rounds.expect(&state)?;
        states.clear();
        for (prior, sum) in PRIORS.into_iter().zip(&mut sums) {
            let next = rounds.under(&state, prior);
            let penalty = rounds.penalty(&next);
            let most = TRIAL_ROUNDS[usize::from(is_small)];
            (state, expected, _) = rounds.run((next, expected.under(penalty)), most)?;
            states.push(state.clone());
            sum.0 += held_out(learner, &hidden, &expected.counts);
            sum.1 += hidden.len();
        }
        solves = rounds.solves;
    }
    let trial = |(prior, (sum, number)): (Option<Prior>, (f64, usize))| Trial {
        prior,
        held_out: sum / number as f64,
    };
    let tried = PRIORS.into_iter().zip(sums).filter(|(_, (_, number))| *number > 0);
    Ok(Compared { trials: tried.map(trial).collect(), states, solves })
}

/// The deviance of these counts.
fn held_out(learner: &Learner, hidden: &[(usize, usize)], counts: &[f64]) -> f64 {
    let Learner { observations, noise, population, .. } = *learner;
    let deviance = |&(time, cell): &(usize, usize)| {
        let count = observations.at(time)[cell]?;
        let inferred = counts[time * observations.cells() + cell].max(f64::MIN_POSITIVE);
        Some(noise.deviance(count, noise.expected(cell, inferred, population)))
    };
    hidden.par_iter().filter_map(deviance).sum()
}

/// The fold of a count, by a hash of its place.
fn fold_of((time, cell): (usize, usize)) -> usize {
    let mixed = ((time as u64) << 32 | cell as u64).wrapping_add(0x9e37_79b9_7f4a_7c15);
    let mixed = (mixed ^ mixed >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let mixed = (mixed ^ mixed >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
    ((mixed ^ mixed >> 31) % FOLDS as u64) as usize
}
