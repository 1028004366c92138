//! The curvature of the objective in what is learned of features: standard errors, and a step that
//! takes off most of the bias of hard EM.
//!
//! Hard EM scores a law by the most likely movement under it, the marginal likelihood by all
//! movements. To second order the two differ by `½ log det` of the curvature of the movement, that
//! is by what the counts tell about it. One Newton step on their sum moves the weights, and takes
//! what rounds have left to do.

use bethe_core::solve_positive;

use super::maximise::Likelihood;
use super::rounds::{Expected, Rounds, State, is_out_of_time};
use crate::infer::FlowError;
use crate::uncertainty::information_work;

/// Solves whose gradients are compared leave at most so many nats of the population open, within
/// these tolerances: gradients are off by about the root of that, in units of what is seen.
const OPEN: f64 = 1e-4;
const TOLERANCES: (f64, f64) = (1e-12, 1e-8);
/// Least pivot, relative to the greatest curvature.
const LEAST_PIVOT: f64 = 1e-12;
/// Differences are that good.
const ROUGHLY: f64 = 1.01;
/// How far weights are moved for the curvature, in the standard errors that they would have if all
/// movement were seen.
const MOVED: f64 = 1.0;
/// Multiplications that take a fraction of a second.
const CHEAP: f64 = 2e9;
/// The longest step, in standard errors.
const FARTHEST: f64 = 2.0;
/// How often a step that does not help is halved.
const HALVES: i32 = 2;

/// At most so many solves are needed: where the law is, aside from it in every direction, and at the
/// step or parts of it.
pub(super) fn solves_of_correction(unknowns: usize) -> usize {
    1 + unknowns + 1 + HALVES as usize
}

/// What the curvature says of what is learned of features.
pub(super) struct Corrected {
    /// After the step.
    pub state: State,
    /// If there was time for them, and rounds came so near to the optimum that the curvature is
    /// positive. `[unknowns]`
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
        self.weighs_information = information_work(times, cells) * (size + 2) as f64 <= CHEAP;
        match self.steps(&mut corrected) {
            Err(error) if is_out_of_time(&error) => Ok(corrected),
            done => done.map(|()| corrected),
        }
    }

    fn steps(&mut self, corrected: &mut Corrected) -> Result<(), FlowError> {
        let size = self.design.unknowns();
        let expected = self.expect(&corrected.state)?;
        let (curvature, gradient) = self.curvature(&corrected.state, &expected)?;
        let most = (0..size).map(|place| curvature[place * size + place]).fold(0.0, f64::max);
        let solve = |mut right: Vec<f64>| {
            solve_positive(&mut curvature.clone(), &mut right, LEAST_PIVOT * most);
            right
        };
        // What counts do not tell, the prior does. A variance above the prior's is that of no minimum.
        let error = |place: usize| {
            let mut column = vec![0.0; size];
            column[place] = 1.0;
            let (variance, prior) =
                (solve(column)[place], Likelihood::precision(&self.design, place).recip());
            let is_known = variance > 0.0 && variance <= ROUGHLY * prior;
            is_known.then(|| variance.min(prior).sqrt())
        };
        let Some(errors) = (0..size).map(error).collect::<Option<Vec<f64>>>() else {
            return Ok(());
        };
        let mut step = solve(gradient);
        let longest = step.iter().zip(&errors).map(|(step, error)| step.abs() / error);
        let shrink = (FARTHEST / longest.fold(0.0, f64::max)).min(1.0);
        step.iter_mut().for_each(|own| *own *= -shrink);
        corrected.standard_errors = Some(errors);
        if self.weighs_information && step.iter().all(|step| step.is_finite()) {
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
        let (mut rows, mut gradient) = (Vec::new(), here.clone());
        for place in 0..size {
            let width = MOVED / seen[place * size + place].sqrt();
            let (mut moved, mut aside) = (state.clone(), vector.clone());
            aside[place] += width;
            moved.point.parameters = self.design.with(&moved.point.parameters, &aside);
            let there = self.expect(&moved)?;
            gradient[place] += (there.information - expected.information) / width;
            let there = slopes(self, &moved, &there).0;
            rows.extend(there.iter().zip(&here).map(|(there, here)| (there - here) / width));
        }
        let symmetric =
            (0..size * size).map(|at| (rows[at] + rows[at % size * size + at / size]) / 2.0);
        Ok((symmetric.collect(), gradient))
    }
}
