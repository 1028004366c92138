//! Rounds of learning: steps on all that is learned at once.
//!
//! With the most likely movement under each law, hard EM's objective is a function of the law alone.
//! Its slopes are those of the likelihood of that movement: to first order nothing changes where the
//! movement follows. EM's own rounds crawl where counts say little about moves, so they only
//! precondition quasi-Newton steps here: with the curvature that the likelihood would have if all
//! movement were seen.

use super::likelihood::{Likelihood, Tangent};
use super::quasi_newton::{Memory, dot};
use super::rounds::{ANYWHERE, Expected, Rounds, State, is_out_of_time};
use crate::infer::FlowError;

/// How far a step goes at most: in weights, and in the logarithms of where individuals start.
const FARTHEST: (f64, f64) = (2.0, 3.0);
/// Least fraction of the decrease that the slope promises.
const ENOUGH: f64 = 1e-4;
/// A step that does not help is shortened by this factor, so many times at most.
const SHORTER: f64 = 0.3;
const TRIALS: usize = 6;
/// So many rounds in a row that change little are the end.
const FLAT: usize = 3;
/// Steps that are remembered before what they promise is believed.
const TRUSTED: usize = 2;

/// How the objective changes with a law.
struct Slopes {
    gradient: Vec<f64>,
    tangent: Tangent,
    /// The curvature in the logarithms of the start; empty if that is not learned.
    start: Vec<f64>,
}

impl Slopes {
    fn divide(&self, slopes: &mut [f64]) {
        let (law, start) = slopes.split_at_mut(slopes.len() - self.start.len());
        self.tangent.divide(law);
        start.iter_mut().zip(&self.start).for_each(|(own, curvature)| *own /= curvature);
    }
}

impl Rounds<'_> {
    /// Rounds from a law, and the movement under it, until they change little; at most so many.
    /// Says whether they did.
    pub fn run(
        &mut self,
        begin: (State, Expected),
        most: usize,
    ) -> Result<(State, Expected, bool), FlowError> {
        let after = self.work.rounds_left.saturating_sub(most);
        let end = self.descend(begin, most);
        self.work.rounds_left = after;
        end
    }

    fn descend(
        &mut self,
        (mut now, mut expected): (State, Expected),
        most: usize,
    ) -> Result<(State, Expected, bool), FlowError> {
        let mut memory = Memory::default();
        let mut slopes = self.slopes(&now, &expected);
        let mut flat = 0;
        for _ in 0..most {
            let direction = memory.direction(&slopes.gradient, &|own| slopes.divide(own));
            let direction = self.shortened(direction);
            let promise = -dot(&slopes.gradient, &direction);
            let small = self.small(&expected);
            if promise < 2.0 * small && memory.len() >= TRUSTED {
                return Ok((now, expected, true));
            }
            self.begin_round();
            let found = match self.search(&now, &expected, (&direction, promise)) {
                Err(error) if is_out_of_time(&error) => break,
                found => found?,
            };
            let Some((next, there)) = found else {
                if memory.is_empty() {
                    return Ok((now, expected, promise < 2.0 * small));
                }
                memory.clear();
                continue;
            };
            let own = self.slopes(&next, &there);
            let step = difference(&self.vector(&next), &self.vector(&now));
            memory.push(step, difference(&own.gradient, &slopes.gradient));
            flat = if expected.objective - there.objective < small { flat + 1 } else { 0 };
            (now, expected, slopes) = (next, there, own);
            if flat == FLAT {
                return Ok((now, expected, true));
            }
        }
        Ok((now, expected, false))
    }

    /// A law along a direction whose objective is lower, and the movement under it.
    fn search(
        &mut self,
        now: &State,
        expected: &Expected,
        (direction, promise): (&[f64], f64),
    ) -> Result<Option<(State, Expected)>, FlowError> {
        let here = self.vector(now);
        let mut length = 1.0;
        for _ in 0..if promise > 0.0 { TRIALS } else { 0 } {
            let there: Vec<f64> = here.iter().zip(direction).map(|(x, d)| x + length * d).collect();
            let next = self.state(now, there);
            let bound = expected.objective - ENOUGH * length * promise;
            if let Some(there) = self.movement(&next, bound)?
                && there.objective <= bound
            {
                return Ok(Some((next, there)));
            }
            length *= SHORTER;
        }
        Ok(None)
    }

    fn slopes(&self, state: &State, expected: &Expected) -> Slopes {
        let likelihood = Likelihood::new(&self.design, &expected.evidence, state.prior);
        let tangent = likelihood.tangent(&state.point);
        let (mut gradient, mut curvature) = (tangent.gradient.clone(), Vec::new());
        if let Some(start) = &state.start {
            let total = self.learner.size() + ANYWHERE;
            let anywhere = ANYWHERE / start.len() as f64;
            for (own, count) in start.iter().zip(&expected.evidence.counts) {
                let (law, movement) = (total * own.exp(), count + anywhere);
                gradient.push(law - movement);
                // That of the law's individuals or, where there are to be more of them, of those: a step
                // to them that is not longer than it should be.
                curvature.push(law.max(movement));
            }
        }
        Slopes { gradient, tangent, start: curvature }
    }

    /// A direction in which no weight and no start goes too far.
    fn shortened(&self, mut direction: Vec<f64>) -> Vec<f64> {
        let (unknowns, cells) = (self.design.unknowns(), self.learner.cells.len());
        let most = |own: &[f64]| own.iter().fold(0.0, |most: f64, d| most.max(d.abs()));
        let shrink = (FARTHEST.0 / most(&direction[..unknowns])).min(1.0);
        direction.iter_mut().for_each(|own| *own *= shrink);
        if self.learner.start.is_none() {
            let first = direction.len() - cells;
            direction[first..].iter_mut().for_each(|own| *own = own.clamp(-FARTHEST.1, FARTHEST.1));
        }
        direction
    }

    /// All that is learned: of features, numbers of pulls, the logarithms of the start.
    fn vector(&self, state: &State) -> Vec<f64> {
        let mut vector = self.design.vector(&state.point.parameters);
        vector.extend(&state.point.pulls);
        vector.extend(state.start.iter().flatten());
        vector
    }

    /// The law of a vector, under the same prior as another.
    fn state(&self, other: &State, mut vector: Vec<f64>) -> State {
        let mut state = other.clone();
        let start = vector.split_off(vector.len() - state.start.as_ref().map_or(0, Vec::len));
        let (features, pulls) = vector.split_at(self.design.unknowns());
        state.point.parameters = self.design.with(&state.point.parameters, features);
        state.point.pulls = pulls.to_vec();
        if let Some(own) = &mut state.start {
            let highest = start.iter().copied().fold(f64::NEG_INFINITY, f64::max);
            let total: f64 = start.iter().map(|value| (value - highest).exp()).sum();
            let normaliser = highest + total.ln();
            *own = start.iter().map(|value| value - normaliser).collect();
        }
        state
    }
}

fn difference(a: &[f64], b: &[f64]) -> Vec<f64> {
    a.iter().zip(b).map(|(a, b)| a - b).collect()
}
