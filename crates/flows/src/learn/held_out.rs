//! How well priors of pulls predict counts that are held out.

use rayon::prelude::*;

use super::choice::{PRIORS, Trial};
use super::law::{Learner, Prior};
use super::rounds::{Progress, Rounds, State, Work, first_rounds, hide, is_out_of_time};
use crate::data::Observations;
use crate::infer::FlowError;

/// One in this many counts is held out.
const FOLDS: usize = 5;
/// With this many counts, one fold is enough to tell priors apart.
const MANY: usize = 3000;
/// Rounds under each prior of pulls while they are compared: with many counts, and with few.
const ROUNDS: [usize; 2] = [4, 12];

/// Priors, compared.
#[derive(Default)]
pub(super) struct Compared {
    pub trials: Vec<Trial>,
    /// The states of one fold, to go on from.
    pub states: Vec<State>,
    pub work: Work,
    /// The deviance of every count that was held out, under each prior.
    deviances: Vec<Vec<f64>>,
}

/// Where something was counted: time and cell.
fn places(observations: &Observations) -> Vec<(usize, usize)> {
    (0..observations.times().len())
        .flat_map(|time| (0..observations.cells()).map(move |cell| (time, cell)))
        .filter(|&(time, cell)| observations.at(time)[cell].is_some())
        .collect()
}

pub(super) fn has_few_counts(observations: &Observations) -> bool {
    places(observations).len() <= MANY
}

/// Where counts are held out to compare models: a fifth of them, by time and cell. Where the start is
/// learned, those of the first time stay: what was not counted there is little more than guessed.
pub fn held_out_places(observations: &Observations, learns_start: bool) -> Vec<(usize, usize)> {
    places_of_fold(observations, learns_start, 0)
}

fn places_of_fold(
    observations: &Observations,
    learns_start: bool,
    fold: usize,
) -> Vec<(usize, usize)> {
    let is_held_out = |&(time, cell): &(usize, usize)| {
        fold_of((time, cell)) == fold && (time > 0 || !learns_start)
    };
    places(observations).into_iter().filter(is_held_out).collect()
}

/// The mean deviance of held-out counts under each prior. Folds that there is no time for are left
/// out; if that is the first one, so are priors. At most this many rounds come after it.
pub(super) fn compare(
    learner: &Learner,
    rounds_after: usize,
    observe: &mut dyn FnMut(Progress),
) -> Result<Compared, FlowError> {
    let is_few = has_few_counts(learner.observations);
    let mut compared = Compared::default();
    let folds = if is_few { FOLDS } else { 1 };
    let rounds = ROUNDS[usize::from(is_few)];
    let of_a_fold = 1 + first_rounds(learner) + rounds * (PRIORS.len() - 1);
    for fold in 0..folds {
        compared.work.rounds_left = (folds - fold) * of_a_fold + rounds_after;
        let hidden = places_of_fold(learner.observations, learner.start.is_none(), fold);
        if hidden.is_empty() || hidden.len() == places(learner.observations).len() {
            continue;
        }
        let own = compared.fold(learner, (&hidden, rounds), observe)?;
        if own.len() < compared.deviances.len() {
            break;
        }
        compared.deviances.resize(own.len(), Vec::new());
        compared.deviances.iter_mut().zip(own).for_each(|(all, own)| all.extend(own));
    }
    let trial = |(prior, own): (_, &Vec<f64>)| Trial { prior, held_out: mean(own) };
    compared.trials = PRIORS.into_iter().zip(&compared.deviances).map(trial).collect();
    Ok(compared)
}

fn mean(values: &[f64]) -> f64 {
    values.iter().sum::<f64>() / values.len() as f64
}

/// Whether one mean is above another by no more than a standard error of their difference.
fn is_as_good(one: &[f64], other: &[f64]) -> bool {
    let differences: Vec<f64> = one.iter().zip(other).map(|(a, b)| a - b).collect();
    let (count, mean) = (differences.len() as f64, mean(&differences));
    let squares: f64 = differences.iter().map(|own| (own - mean).powi(2)).sum();
    mean <= (squares / (count * (count - 1.0))).sqrt()
}

impl Compared {
    /// The weakest prior that predicts held-out counts as well as the best one; none if nothing could
    /// be compared.
    pub fn choice(&self) -> Option<Prior> {
        let best = self.trials.iter().zip(&self.deviances);
        let (_, best) = best.min_by(|a, b| a.0.held_out.total_cmp(&b.0.held_out))?;
        let weakest = self.deviances.iter().position(|own| is_as_good(own, best))?;
        self.trials[weakest].prior
    }

    /// The deviances of hidden counts under each prior that there is time for.
    fn fold(
        &mut self,
        learner: &Learner,
        (hidden, most): (&[(usize, usize)], usize),
        observe: &mut dyn FnMut(Progress),
    ) -> Result<Vec<Vec<f64>>, FlowError> {
        let shown = hide(learner.observations, hidden);
        let own = Learner { observations: &shown, ..learner.clone() };
        let mut rounds = Rounds::new(&own, observe);
        rounds.work = self.work;
        let mut all = Vec::new();
        let (mut state, mut expected) = match rounds.without_pulls() {
            Err(error) if is_out_of_time(&error) => return Ok(all),
            found => found?,
        };
        let mut states = Vec::new();
        for prior in PRIORS {
            if prior.is_some() {
                let next = rounds.under(&state, prior);
                let penalty = rounds.penalty(&next);
                (state, expected, _) = rounds.run((next, expected.under(penalty)), most)?;
            }
            // Where rounds were cut off, what they learned is still the best there is.
            states.push(state.clone());
            if own.is_late() {
                break;
            }
            all.push(deviances(learner, hidden, &expected.counts));
        }
        self.work = rounds.work;
        // A fold that was cut off gives no start that an earlier one lacks.
        if states.len() >= self.states.len() {
            self.states = states;
        }
        Ok(all)
    }
}

/// The deviance of each of these counts.
fn deviances(learner: &Learner, hidden: &[(usize, usize)], counts: &[f64]) -> Vec<f64> {
    let Learner { observations, noise, population, .. } = *learner;
    let deviance = |&(time, cell): &(usize, usize)| {
        let count = observations.at(time)[cell]?;
        let inferred = counts[time * observations.cells() + cell].max(f64::MIN_POSITIVE);
        Some(noise.deviance(count, noise.expected(cell, inferred, population)))
    };
    hidden.par_iter().filter_map(deviance).collect()
}

/// The fold of a count, by a hash of its place.
fn fold_of((time, cell): (usize, usize)) -> usize {
    let mixed = ((time as u64) << 32 | cell as u64).wrapping_add(0x9e37_79b9_7f4a_7c15);
    let mixed = (mixed ^ mixed >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let mixed = (mixed ^ mixed >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
    ((mixed ^ mixed >> 31) % FOLDS as u64) as usize
}
