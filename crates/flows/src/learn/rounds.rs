//! Laws on their way, and the most likely movement under each.

use std::ops::ControlFlow;

use bethe_core::solve::{Record, SolveError};
use bethe_core::{Settings, Status};

use super::design::{Design, Parameters};
use super::held_out::has_few_counts;
use super::law::{Law, Learner, Prior};
use super::likelihood::{Evidence, Likelihood, Point};
use super::pulls::Pulls;
use crate::data::Observations;
use crate::infer::{FlowError, FlowProblem, Flows};
use crate::model::FeatureKind;
use crate::uncertainty::information;

/// Rounds without pulls, where weights have the longest way: with many counts, and with few.
const FIRST: [usize; 2] = [12, 60];
/// Individuals that the prior of the start puts anywhere.
pub(super) const ANYWHERE: f64 = 1.0;
/// Solves leave so many nats of the population open, within these tolerances: with many counts, and
/// with few.
const OPEN: [f64; 2] = [0.05, 1e-3];
const TOLERANCES: (f64, f64) = (1e-10, 1e-4);
/// Rounds that lower the objective by fewer nats change little; or by less than this fraction of it.
const SMALL: [(f64, f64); 2] = [(0.1, 1e-6), (0.01, 1e-9)];

/// A law that is being learned.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct State {
    pub prior: Option<Prior>,
    pub point: Point,
    /// Log-probabilities of the first time's cells, if they are learned.
    pub start: Option<Vec<f64>>,
}

/// How far learning has come, for the observer.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Progress {
    /// Solves so far.
    pub solves: usize,
    /// The objective of the latest, in nats of the population.
    pub objective: f64,
    /// Rounds so far. A round is a solve, or a few where the first step goes too far.
    pub rounds: usize,
    /// Rounds that may follow. Learning goes through fewer if its objective settles before.
    pub rounds_left: usize,
}

/// What learning has done, and what it will do at most.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(super) struct Work {
    pub solves: usize,
    pub rounds: usize,
    pub rounds_left: usize,
}

/// Learns a law by rounds.
pub(super) struct Rounds<'a> {
    pub learner: &'a Learner<'a>,
    pub design: Design,
    pub work: Work,
    /// The tolerance of solves.
    pub tolerance: f64,
    /// Whether solves also find what counts tell about the movement.
    pub weighs_information: bool,
    /// Whether there are so few counts that rounds may go far.
    is_few: bool,
    /// How the latest solve ended, to begin the next one nearby.
    multipliers: Vec<f64>,
    observe: &'a mut dyn FnMut(Progress),
}

/// A law under which the most likely movement was found.
pub(super) struct Expected {
    /// In nats of the population, with the prior.
    pub objective: f64,
    pub evidence: Evidence,
    /// Individuals. `[times][cells]`
    pub counts: Vec<f64>,
    /// What the prior adds to the objective.
    pub penalty: f64,
    /// What counts tell about the movement, in nats; 0 unless it is asked for.
    pub information: f64,
}

impl Expected {
    /// The same movement, where a prior of this penalty takes the place of the one before.
    pub fn under(self, penalty: f64) -> Self {
        Self { objective: self.objective - self.penalty + penalty, penalty, ..self }
    }
}

impl<'a> Rounds<'a> {
    pub fn new(learner: &'a Learner<'a>, observe: &'a mut dyn FnMut(Progress)) -> Self {
        let is_few = has_few_counts(learner.observations);
        let open = OPEN[usize::from(is_few)];
        let tolerance = (open / learner.size()).clamp(TOLERANCES.0, TOLERANCES.1);
        let design = Design::new(learner);
        let work = Work::default();
        let (weighs_information, multipliers) = (false, Vec::new());
        Self { learner, design, work, tolerance, weighs_information, is_few, multipliers, observe }
    }

    /// The law to begin with: weights as they are, individuals start where they were counted.
    pub fn first(&self) -> State {
        let Learner { movement, bent, start, observations, .. } = *self.learner;
        let weights = movement.features.iter().map(|feature| feature.weight).collect();
        let exponent = match bent.map(|feature| &movement.features[feature].kind) {
            Some(FeatureKind::Power { exponent, .. }) => *exponent,
            _ => 1.0,
        };
        let parameters = Parameters { weights, exponent };
        let counts = observations.at(0);
        let seen: Vec<f64> = counts.iter().flatten().copied().collect();
        let mean = seen.iter().sum::<f64>() / seen.len().max(1) as f64;
        let counts: Vec<f64> = counts.iter().map(|count| count.unwrap_or(mean)).collect();
        let total: f64 = counts.iter().sum();
        let scale = if total > 0.0 { self.learner.size() / total } else { 0.0 };
        let numbers: Vec<f64> = counts.iter().map(|count| count * scale).collect();
        let start = start.is_none().then(|| start_of(&numbers));
        State { prior: None, point: Point { parameters, pulls: Vec::new() }, start }
    }

    /// A law without pulls, to begin with under priors of them, and the movement under it.
    ///
    /// # Errors
    /// If there is none, or no time for the first solve.
    pub fn without_pulls(&mut self) -> Result<(State, Expected), FlowError> {
        let first = self.first();
        let expected = self.expect(&first)?;
        let (state, expected, _) = self.run((first, expected), first_rounds(self.learner))?;
        Ok((state, expected))
    }

    /// The same law under another prior of pulls: weaker than before, or none before.
    pub fn under(&self, state: &State, prior: Option<Prior>) -> State {
        let [before, own] = [state.prior, prior].map(|prior| Pulls::new(&self.design, prior));
        let numbers = match (&before, &own) {
            (Some(before), Some(own)) => own.convert((before, &state.point.pulls)),
            (None, Some(own)) => vec![0.0; own.len()],
            (_, None) => Vec::new(),
        };
        let point = Point { parameters: state.point.parameters.clone(), pulls: numbers };
        State { prior, point, start: state.start.clone() }
    }

    /// The most likely movement under a law, which begins a round.
    ///
    /// # Errors
    /// If there is none, or no time to find it.
    pub fn expect(&mut self, state: &State) -> Result<Expected, FlowError> {
        self.begin_round();
        Ok(self.movement(state, f64::INFINITY)?.expect("nothing is above an infinite bound"))
    }

    pub(super) fn begin_round(&mut self) {
        self.work.rounds += 1;
        self.work.rounds_left = self.work.rounds_left.saturating_sub(1);
    }

    /// The most likely movement under a law, unless the solve proves its objective to be above a
    /// bound: laws that were thrown too far can take thousands of calls.
    pub(super) fn movement(
        &mut self,
        state: &State,
        bound: f64,
    ) -> Result<Option<Expected>, FlowError> {
        let Learner { noise, population, observations, .. } = *self.learner;
        self.set(state);
        let size = self.learner.size();
        let start = state.start.as_deref().or(self.learner.start);
        let moves = &self.design.moves;
        let cancel = self.learner.cancel.child();
        let problem = FlowProblem { moves, start, observations, noise, population, cancel };
        let (tolerance, time_limit) = (self.tolerance, self.learner.left());
        let settings = Settings { tolerance, time_limit, ..Settings::default() };
        let start = Some(&self.multipliers[..]).filter(|start| !start.is_empty());
        let penalty = self.penalty(state);
        let mut is_above = false;
        let mut watch = |record: &Record, _: &[f64]| {
            is_above = record.lower_bound.is_some_and(|lower| size * lower + penalty > bound);
            if is_above { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
        };
        let mut flows = problem.solve_from(start, &settings, &mut watch)?;
        self.work.solves += 1;
        if is_above {
            return Ok(None);
        }
        match flows.solution.status {
            Status::Infeasible => return Err(FlowError::Unexplained),
            Status::TimeLimit => return Err(SolveError::OutOfTime.into()),
            _ => {}
        }
        self.multipliers.clone_from(&flows.solution.multipliers);
        let objective = size * flows.solution.objective + penalty;
        let Work { solves, rounds, rounds_left } = self.work;
        (self.observe)(Progress { solves, objective, rounds, rounds_left });
        let counts = flows.counts();
        let mut moved = self.gather(&mut flows);
        let scale = size / population;
        moved.iter_mut().flatten().for_each(|number| *number *= scale);
        let scaled = counts.iter().map(|count| count * scale).collect();
        let information = match self.weighs_information {
            true => information(&mut flows, observations, noise),
            false => 0.0,
        };
        let evidence = Evidence { moved, counts: scaled };
        Ok(Some(Expected { objective, evidence, counts, penalty, information }))
    }

    /// How far rounds must lower this objective to go on, in nats.
    pub(super) fn small(&self, expected: &Expected) -> f64 {
        let (nats, fraction) = SMALL[usize::from(self.is_few)];
        nats.max(fraction * expected.objective.abs())
    }

    /// Minus the logarithm of the prior density of a law, up to a constant.
    pub fn penalty(&self, state: &State) -> f64 {
        let anywhere = |start: &Vec<f64>| ANYWHERE / start.len() as f64 * start.iter().sum::<f64>();
        Likelihood::penalty(&self.design, &state.point) - state.start.as_ref().map_or(0.0, anywhere)
    }

    /// Sets tables and pulls to a law.
    pub fn set(&mut self, state: &State) {
        self.design.set(&state.point.parameters);
        self.design.moves.pulls = self.pulls(state);
    }

    /// Pulls of every step; nothing if there are none. `[steps][cells]`
    fn pulls(&self, state: &State) -> Vec<f64> {
        let Some(pulls) = Pulls::new(&self.design, state.prior) else { return Vec::new() };
        let own = pulls.of(&state.point.pulls);
        match pulls.blocks() {
            1 => own.repeat(self.design.moves.of_step.len()),
            _ => own,
        }
    }

    /// How many moved, summed over the steps of each table. `[tables][moves]`
    fn gather(&self, flows: &mut Flows) -> Vec<Vec<f64>> {
        let moves = &self.design.moves;
        let mut numbers: Vec<Vec<f64>> =
            moves.tables.iter().map(|table| vec![0.0; table.len()]).collect();
        if self.design.unknowns() == 0 {
            return numbers;
        }
        flows.visit_totals(&mut |step, from, to, number| {
            let table = moves.of_step[step];
            if let Some(place) = moves.tables[table].find(from, to) {
                numbers[table][place] += number;
            }
        });
        numbers
    }

    /// A state as a law.
    pub fn law(&self, state: &State) -> Law {
        let Learner { movement, bent, start, .. } = *self.learner;
        let mut movement = movement.clone();
        let Parameters { weights, exponent } = &state.point.parameters;
        for (place, (feature, weight)) in movement.features.iter_mut().zip(weights).enumerate() {
            feature.weight = *weight;
            if let FeatureKind::Power { exponent: own, .. } = &mut feature.kind
                && bent == Some(place)
            {
                *own = *exponent;
            }
        }
        let start = state.start.clone().or_else(|| start.map(<[f64]>::to_vec));
        Law { movement, start, pulls: self.pulls(state) }
    }
}

/// Rounds without pulls.
pub(super) fn first_rounds(learner: &Learner) -> usize {
    FIRST[usize::from(has_few_counts(learner.observations))]
}

/// Whether there was no time for a solve.
pub(super) fn is_out_of_time(error: &FlowError) -> bool {
    matches!(error, FlowError::Solve(SolveError::OutOfTime))
}

/// Log-probabilities of the cells that these individuals are in.
fn start_of(numbers: &[f64]) -> Vec<f64> {
    let anywhere = ANYWHERE / numbers.len() as f64;
    let total = numbers.iter().sum::<f64>() + ANYWHERE;
    numbers.iter().map(|number| ((number + anywhere) / total).ln()).collect()
}

/// Counts that are not shown, and what is left.
pub(super) fn hide(observations: &Observations, hidden: &[(usize, usize)]) -> Observations {
    let mut left = observations.clone();
    hidden.iter().for_each(|&(time, cell)| left.forget(time, cell));
    left
}
