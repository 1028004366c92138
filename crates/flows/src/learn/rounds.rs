//! Rounds of hard EM: the most likely movement under a law, then a likelier law under the movement.

use std::ops::ControlFlow;

use bethe_core::solve::{Record, SolveError};
use bethe_core::solve_positive;
use bethe_core::{Settings, Status};

use super::design::{Design, Parameters};
use super::held_out::has_few_counts;
use super::law::{Law, Learner, Prior};
use super::maximise::{Evidence, Likelihood, Point};
use super::pulls::Pulls;
use crate::data::Observations;
use crate::infer::{FlowError, FlowProblem, Flows};
use crate::model::FeatureKind;
use crate::uncertainty::information;

/// Quasi-Newton steps of a round.
const STEPS: usize = 8;
/// Rounds without pulls, where weights have farthest to go: with many counts, and with few.
const FIRST: [usize; 2] = [6, 12];
/// Individuals that the prior of the start puts anywhere.
const ANYWHERE: f64 = 1.0;
/// Rounds end when they lower the objective by less than this many nats, and by less than this
/// fraction of it.
const SMALL: (f64, f64) = (0.1, 1e-6);
/// How far extrapolation may move a weight in a round.
const FARTHEST: f64 = 2.0;

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
    /// Rounds so far. A round is one or two solves.
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
        let tolerance = (0.05 / learner.size()).clamp(1e-8, 1e-4);
        let design = Design::new(learner);
        let work = Work::default();
        let (weighs_information, multipliers) = (false, Vec::new());
        Self { learner, design, work, tolerance, weighs_information, multipliers, observe }
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

    fn begin_round(&mut self) {
        self.work.rounds += 1;
        self.work.rounds_left = self.work.rounds_left.saturating_sub(1);
    }

    /// The most likely movement under a law, unless the solve proves its objective to be above a
    /// bound: laws that extrapolation moved too far can take thousands of calls.
    fn movement(&mut self, state: &State, bound: f64) -> Result<Option<Expected>, FlowError> {
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

    /// A likelier law under a movement.
    fn maximise(&self, state: &State, evidence: &Evidence) -> State {
        let likelihood = Likelihood::new(&self.design, evidence, state.prior);
        let cells = self.learner.cells.len();
        State {
            prior: state.prior,
            point: likelihood.maximise(&state.point, STEPS),
            start: state.start.as_ref().map(|_| start_of(&evidence.counts[..cells])),
        }
    }

    /// Rounds from a law, and the movement under it, until they change little; at most this many.
    /// Says whether they did. A round that raises the objective is the last and is left out.
    pub fn run(
        &mut self,
        begin: (State, Expected),
        most: usize,
    ) -> Result<(State, Expected, bool), FlowError> {
        let after = self.work.rounds_left.saturating_sub(most);
        let end = self.settle(begin, most);
        self.work.rounds_left = after;
        end
    }

    fn settle(
        &mut self,
        (state, expected): (State, Expected),
        most: usize,
    ) -> Result<(State, Expected, bool), FlowError> {
        let (mut now, mut expected) = (state, expected);
        let mut history = History::default();
        for _ in 0..most {
            let next = self.maximise(&now, &expected.evidence);
            let [before, after] = [&now, &next].map(|s| self.design.vector(&s.point.parameters));
            let far = history.extrapolate(before, after);
            let mut trial = next.clone();
            trial.point.parameters = self.design.with(&next.point.parameters, &far);
            let bound = if trial == next { f64::INFINITY } else { expected.objective };
            self.begin_round();
            let mut there = match self.movement(&trial, bound) {
                Err(error) if is_out_of_time(&error) => break,
                there => there?,
            };
            if there.as_ref().is_none_or(|there| there.objective > bound) {
                history = History::default();
                there = match self.movement(&next, f64::INFINITY) {
                    Err(error) if is_out_of_time(&error) => break,
                    there => there?,
                };
                trial = next;
            }
            let there = there.expect("nothing is above an infinite bound");
            let fallen = expected.objective - there.objective;
            let small = SMALL.0.max(SMALL.1 * expected.objective.abs());
            if fallen < 0.0 {
                return Ok((now, expected, -fallen < small));
            }
            (now, expected) = (trial, there);
            if fallen < small {
                return Ok((now, expected, true));
            }
        }
        Ok((now, expected, false))
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

/// Weights before rounds and after them: rounds converge slowly where counts say little about
/// flows, so their limit is extrapolated (Anderson's method).
#[derive(Default)]
struct History {
    rounds: Vec<(Vec<f64>, Vec<f64>)>,
}

impl History {
    /// Where the next round begins.
    fn extrapolate(&mut self, before: Vec<f64>, after: Vec<f64>) -> Vec<f64> {
        self.rounds.push((before, after.clone()));
        let size = after.len();
        let kept = self.rounds.len().min(size + 1).min(4);
        let rounds = &self.rounds[self.rounds.len() - kept..];
        if kept < 2 {
            return after;
        }
        let gap = |(before, after): &(Vec<f64>, Vec<f64>)| -> Vec<f64> {
            after.iter().zip(before).map(|(a, b)| a - b).collect()
        };
        let gaps: Vec<Vec<f64>> = rounds.iter().map(gap).collect();
        let last = &gaps[kept - 1];
        let changes: Vec<Vec<f64>> = gaps
            .windows(2)
            .map(|pair| pair[1].iter().zip(&pair[0]).map(|(b, a)| b - a).collect())
            .collect();
        let dot = |a: &[f64], b: &[f64]| a.iter().zip(b).map(|(a, b)| a * b).sum::<f64>();
        let count = changes.len();
        let mut matrix: Vec<f64> =
            changes.iter().flat_map(|a| changes.iter().map(|b| dot(a, b))).collect();
        let most = (0..count).map(|i| matrix[i * count + i]).fold(0.0, f64::max);
        if most <= 0.0 {
            return after;
        }
        (0..count).for_each(|i| matrix[i * count + i] += 1e-8 * most);
        let mut shares: Vec<f64> = changes.iter().map(|change| dot(change, last)).collect();
        solve_positive(&mut matrix, &mut shares, 1e-12 * most);
        let mut far = after.clone();
        for (share, pair) in shares.iter().zip(rounds.windows(2)) {
            let steps = pair[1].1.iter().zip(&pair[0].1);
            far.iter_mut().zip(steps).for_each(|(x, (b, a))| *x -= share * (b - a));
        }
        let farthest = far.iter().zip(&after).map(|(a, b)| (a - b).abs()).fold(0.0, f64::max);
        if !farthest.is_finite() || far.iter().any(|x| !x.is_finite()) {
            return after;
        }
        let shrink = (FARTHEST / farthest).min(1.0);
        far.iter().zip(&after).map(|(far, near)| near + shrink * (far - near)).collect()
    }
}
