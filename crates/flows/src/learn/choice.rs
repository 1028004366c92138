//! How strong pulls may be: what predicts counts that were held out.

use super::correction::{Corrected, solves_of_correction};
use super::design::{Design, Parameters};
use super::held_out::{compare, has_few_counts};
use super::law::{Law, Learner, Prior};
use super::likelihood::Likelihood;
use super::rounds::{Progress, Rounds, State, Work, is_out_of_time};
use crate::infer::FlowError;
use crate::model::FeatureKind;
use crate::uncertainty::UnknownLaw;

/// Priors of pulls that are tried, from none to those that follow every count.
pub const PRIORS: [Option<Prior>; 6] = [
    None,
    Some(Prior { first: 0.0, change: 0.0, drift: DRIFT }),
    Some(Prior { first: 1.0, change: 0.0, drift: DRIFT }),
    Some(Prior { first: 1.0, change: 0.3, drift: DRIFT }),
    Some(Prior { first: 1.0, change: 1.0, drift: DRIFT }),
    Some(Prior { first: 2.0, change: 3.0, drift: DRIFT }),
];
/// The standard deviation of drifts.
const DRIFT: f64 = 1.0;
/// Rounds at the end: with many counts, and with few.
const LAST_ROUNDS: [usize; 2] = [12, 200];

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
    /// The standard error of each weight that was learned, if there was time for it. `[features]`
    pub weight_errors: Vec<Option<f64>>,
    /// The standard error of the exponent of distance, if it was learned.
    pub exponent_error: Option<f64>,
    /// What was added to each weight against the bias of hard EM, if that was cheap. `[features]`
    pub corrections: Vec<Option<f64>>,
    /// The weakest prior that predicted held-out counts as well as any.
    pub prior: Option<Prior>,
    /// All that were tried.
    pub trials: Vec<Trial>,
    /// Solves in all.
    pub solves: usize,
    /// Whether the last rounds changed little.
    pub converged: bool,
    /// The objective before corrections, in nats of the population; `None` if there was no time for it.
    pub objective: Option<f64>,
}

impl Learner<'_> {
    /// What a law leaves open that was learned here, for standard errors.
    pub fn unknown_law(&self, choice: &Choice) -> UnknownLaw {
        let design = Design::new(self);
        let features = &choice.law.movement.features;
        let exponent = match design.bent.map(|feature| &features[feature].kind) {
            Some(FeatureKind::Power { exponent, .. }) => *exponent,
            _ => 1.0,
        };
        let weights = features.iter().map(|feature| feature.weight).collect();
        let parameters = Parameters { weights, exponent };
        let mut variances: Vec<f64> = (0..design.unknowns())
            .map(|unknown| Likelihood::precision(&design, unknown).recip())
            .collect();
        if design.is_at_bound(&parameters) {
            variances[design.unknown.len()] = 0.0;
        }
        let tables = 0..design.moves.tables.len();
        UnknownLaw {
            start: self.start.is_none(),
            variances,
            slopes: tables.map(|table| design.terms(table, &parameters).1).collect(),
            prior: choice.prior,
            positions: design.positions,
            moves: design.moves,
        }
    }
}

/// Learns a law, with the weakest pulls that predict held-out counts as well as any.
///
/// # Errors
/// If a problem has no solution, or learning is cancelled.
pub fn choose(learner: &Learner, observe: &mut dyn FnMut(Progress)) -> Result<Choice, FlowError> {
    let compared = compare(learner, last_rounds(learner).1, observe)?;
    let prior = compared.choice();
    let state = compared.states.into_iter().find(|state| state.prior == prior);
    let mut choice = learn_under(learner, prior, state, compared.work, observe)?;
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
    learn_under(learner, prior, None, Work::default(), observe)
}

/// Rounds of a law, and those with its first movement, the curvature and the correction.
fn last_rounds(learner: &Learner) -> (usize, usize) {
    let most = LAST_ROUNDS[usize::from(has_few_counts(learner.observations))];
    let unknowns = learner.learned.iter().filter(|own| **own).count() + 1;
    (most, 1 + most + solves_of_correction(unknowns))
}

fn learn_under(
    learner: &Learner,
    prior: Option<Prior>,
    state: Option<State>,
    work: Work,
    observe: &mut dyn FnMut(Progress),
) -> Result<Choice, FlowError> {
    let mut rounds = Rounds::new(learner, observe);
    let (most, rounds_left) = last_rounds(learner);
    rounds.work = Work { rounds_left, ..work };
    let state = state.unwrap_or_else(|| rounds.under(&rounds.first(), prior));
    let (mut converged, mut objective) = (false, None);
    let corrected = match rounds.expect(&state) {
        Err(error) if is_out_of_time(&error) => Corrected::unknown(state),
        expected => {
            let (state, expected, ended) = rounds.run((state, expected?), most)?;
            (converged, objective) = (ended, Some(expected.objective));
            rounds.correct(state)?
        }
    };
    let Corrected { state, standard_errors, corrections } = corrected;
    let law = rounds.law(&state);
    let (unknown, bent) = (&rounds.design.unknown, rounds.design.bent);
    let of_features = |values: &Option<Vec<f64>>| -> Vec<Option<f64>> {
        let place = |feature: usize| unknown.iter().position(|&own| own == feature);
        let value = |feature: usize| Some(values.as_ref()?[place(feature)?]);
        (0..law.movement.features.len()).map(value).collect()
    };
    let exponent = state.point.parameters.exponent;
    Ok(Choice {
        weight_errors: of_features(&standard_errors),
        corrections: of_features(&corrections),
        // Learned as its logarithm.
        exponent_error: bent
            .and(standard_errors)
            .map(|errors| errors[unknown.len()] * exponent)
            .filter(|error| error.is_finite()),
        law,
        prior,
        trials: Vec::new(),
        solves: rounds.work.solves,
        converged,
        objective,
    })
}
