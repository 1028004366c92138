//! The curvature of the objective in what is learned of features: standard errors, and a step that
//! takes off most of the bias of hard EM.
//!
//! Hard EM scores a law by the most likely movement under it, the marginal likelihood by all
//! movements. To second order the two differ by `½ log det` of the curvature of the movement, that
//! is by what the counts tell about it. One Newton step on their sum corrects the weights, and
//! makes up for what the rounds left undone.

use bethe_core::solve_positive;

use super::likelihood::Likelihood;
use super::rounds::{Expected, Rounds, State, is_out_of_time};
use crate::infer::FlowError;
use crate::uncertainty::information_work;

/// Solves whose gradients are compared leave a gap of at most this many nats of the population,
/// within these tolerances: gradients are off by about the square root of that, in units of what is
/// seen.
const OPEN: f64 = 1e-5;
const TOLERANCES: (f64, f64) = (1e-12, 1e-8);
/// Least pivot, where every curvature is 1.
const LEAST_PIVOT: f64 = 1e-12;
/// Hard EM's objective may bend down a little where counts say nothing: a variance up to this many
/// times the prior's is taken for the prior's.
const ROUGHLY: f64 = 4.0;
/// How far weights are moved for the curvature, in the standard errors that they would have if all
/// movement were seen.
const MOVED: f64 = 0.2;
/// Multiplications that take a fraction of a second.
const CHEAP: f64 = 2e9;
/// The longest step, in standard errors. A law that needs a longer one is far from the optimum.
const FARTHEST: f64 = 2.0;
/// How often a step that does not help is halved.
const HALVES: i32 = 2;

/// At most this many solves are needed: at the law, on both sides of it in every direction, and at
/// the step or parts of it.
pub(super) fn solves_of_correction(unknowns: usize) -> usize {
    1 + 2 * unknowns + 1 + HALVES as usize
}

/// What the curvature says of what is learned of features.
pub(super) struct Corrected {
    /// After the step.
    pub state: State,
    /// If there was time for them, and rounds came near to the optimum; not a number for an exponent
    /// at its bound. `[unknowns]`
    pub standard_errors: Option<Vec<f64>>,
    /// What the step added, if one was taken. `[unknowns]`
    pub corrections: Option<Vec<f64>>,
}

impl Corrected {
    /// A law about which no more is known.
    pub fn unknown(state: State) -> Self {
        Self { state, standard_errors: None, corrections: None }
    }
}

impl Rounds<'_> {
    /// Standard errors from the curvature of the objective, with pulls and start as they are, and
    /// the law without most of its bias.
    pub fn correct(&mut self, state: State) -> Result<Corrected, FlowError> {
        let size = self.design.unknowns();
        let (cells, times) = (self.learner.cells.len(), self.learner.observations.times().len());
        let mut corrected = Corrected::unknown(state);
        if size == 0 {
            return Ok(corrected);
        }
        self.tolerance = (OPEN / self.learner.size()).clamp(TOLERANCES.0, TOLERANCES.1);
        self.weighs_information = information_work(times, cells) * (2 * size + 2) as f64 <= CHEAP;
        match self.steps(&mut corrected) {
            Err(error) if is_out_of_time(&error) => Ok(corrected),
            done => done.map(|()| corrected),
        }
    }

    fn steps(&mut self, corrected: &mut Corrected) -> Result<(), FlowError> {
        let size = self.design.unknowns();
        let expected = self.expect(&corrected.state)?;
        let (curvature, gradient) = self.curvature(&corrected.state, &expected)?;
        // Units in which every curvature is 1, whatever those of features are.
        let units: Vec<f64> = (0..size).map(|at| curvature[at * size + at].powf(-0.5)).collect();
        let scaled: Vec<f64> = (0..size * size)
            .map(|at| curvature[at] * units[at / size] * units[at % size])
            .collect();
        let solve = |mut right: Vec<f64>| {
            right.iter_mut().zip(&units).for_each(|(own, unit)| *own *= unit);
            solve_positive(&mut scaled.clone(), &mut right, LEAST_PIVOT);
            right.iter_mut().zip(&units).for_each(|(own, unit)| *own *= unit);
            right
        };
        // Where counts say nothing, the prior decides. A variance far above the prior's means that
        // this is no minimum.
        let error = |place: usize| {
            let mut column = vec![0.0; size];
            column[place] = 1.0;
            let (variance, prior) =
                (solve(column)[place], Likelihood::precision(&self.design, place).recip());
            let is_known = variance > 0.0 && variance <= ROUGHLY * prior;
            is_known.then(|| variance.min(prior).sqrt())
        };
        let errors = (0..size).map(error).collect::<Option<Vec<f64>>>();
        let mut step = solve(gradient);
        let Some(mut errors) = errors.filter(|_| step.iter().all(|step| step.is_finite())) else {
            return Ok(());
        };
        let longest = step.iter().zip(&errors).map(|(step, error)| step.abs() / error);
        let longest = longest.fold(0.0, f64::max);
        if longest > FARTHEST && !self.weighs_information {
            return Ok(());
        }
        let shrink = (FARTHEST / longest).min(1.0);
        step.iter_mut().for_each(|own| *own *= -shrink);
        if self.design.is_at_bound(&corrected.state.point.parameters) {
            errors[size - 1] = f64::NAN;
        }
        corrected.standard_errors = Some(errors);
        if self.weighs_information {
            self.step(corrected, &expected, &step)?;
        }
        Ok(())
    }

    /// Takes a step, or a part of it, if that lowers the objective and the information together.
    fn step(
        &mut self,
        corrected: &mut Corrected,
        before: &Expected,
        step: &[f64],
    ) -> Result<(), FlowError> {
        let sum = |expected: &Expected| expected.objective + expected.information;
        let vector = self.design.vector(&corrected.state.point.parameters);
        for part in (0..=HALVES).map(|half| 0.5f64.powi(half)) {
            let step: Vec<f64> = step.iter().map(|own| part * own).collect();
            let there: Vec<f64> = vector.iter().zip(&step).map(|(x, step)| x + step).collect();
            let mut state = corrected.state.clone();
            state.point.parameters = self.design.with(&state.point.parameters, &there);
            if sum(&self.expect(&state)?) < sum(before) {
                corrected.state = state;
                corrected.corrections = Some(step);
                break;
            }
        }
        Ok(())
    }

    /// How the gradient of the objective changes where each weight is moved a little, and the gradient
    /// of objective and information together. `[unknowns][unknowns]`, `[unknowns]`
    fn curvature(
        &mut self,
        state: &State,
        expected: &Expected,
    ) -> Result<(Vec<f64>, Vec<f64>), FlowError> {
        let size = self.design.unknowns();
        let slopes = |rounds: &Self, state: &State, expected: &Expected| {
            Likelihood::new(&rounds.design, &expected.evidence, state.prior).slopes(&state.point)
        };
        let (here, seen) = slopes(self, state, expected);
        let vector = self.design.vector(&state.point.parameters);
        let (mut rows, mut gradient) = (Vec::new(), here);
        let is_bound = |place: usize| {
            place == self.design.unknown.len() && self.design.is_at_bound(&state.point.parameters)
        };
        let bound: Vec<bool> = (0..size).map(is_bound).collect();
        for place in 0..size {
            if bound[place] {
                // As if its value were given: separate from the others, with the curvature of the
                // prior.
                gradient[place] = 0.0;
                let precision = Likelihood::precision(&self.design, place);
                rows.extend((0..size).map(|other| if other == place { precision } else { 0.0 }));
                continue;
            }
            let width = MOVED / seen[place * size + place].sqrt();
            let mut beside = |by: f64| {
                let (mut moved, mut aside) = (state.clone(), vector.clone());
                aside[place] += by;
                moved.point.parameters = self.design.with(&moved.point.parameters, &aside);
                let there = self.expect(&moved)?;
                Ok::<_, FlowError>((there.information, slopes(self, &moved, &there).0))
            };
            let ((more, up), (less, down)) = (beside(width)?, beside(-width)?);
            gradient[place] += (more - less) / (2.0 * width);
            let change = |other: usize| match bound[other] {
                true => 0.0,
                false => (up[other] - down[other]) / (2.0 * width),
            };
            rows.extend((0..size).map(change));
        }
        let symmetric =
            (0..size * size).map(|at| (rows[at] + rows[at % size * size + at / size]) / 2.0);
        Ok((symmetric.collect(), gradient))
    }
}
