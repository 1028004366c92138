//! The most likely law under a movement: `Σ n_t(i,j) log p_t(j|i)` and the priors, by quasi-Newton
//! steps.

use bethe_core::solve_positive;
use rayon::prelude::*;

use super::design::{Design, Parameters, Terms};
use super::law::Prior;
use super::quasi_newton::{Search, minimise};

/// Standard deviations of the priors: of weights, and of the logarithm of the exponent.
const WEIGHT: f64 = 5.0;
const LOG_EXPONENT: f64 = 0.5;

/// The movement that a law is fitted to.
pub(super) struct Evidence {
    /// Individuals that moved, summed over the steps of each table. `[tables][moves]`
    pub moved: Vec<Vec<f64>>,
    /// Individuals. `[times][cells]`
    pub counts: Vec<f64>,
}

/// Parameters of features and of pulls.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Point {
    pub parameters: Parameters,
    /// Pulls in standard deviations of their prior. `[blocks][cells]`
    pub pulls: Vec<f64>,
}

/// Steps with the same law.
struct Group {
    table: usize,
    /// The pulls of these steps.
    block: usize,
    /// Individuals before and after. `[cells]`
    leaving: Vec<f64>,
    arriving: Vec<f64>,
}

/// The likelihood of laws under a movement.
pub(super) struct Likelihood<'a> {
    design: &'a Design,
    evidence: &'a Evidence,
    prior: Option<Prior>,
    cells: usize,
    blocks: usize,
    groups: Vec<Group>,
}

/// What a group of steps adds.
struct Part {
    value: f64,
    /// `[unknowns]`
    mean: Vec<f64>,
    /// `[unknowns][unknowns]`
    curvature: Vec<f64>,
    /// Expected arrivals. `[cells]`
    expected: Vec<f64>,
}

/// Number of vectors of pulls.
pub(super) fn blocks(prior: Option<Prior>, steps: usize) -> usize {
    match prior {
        None => 0,
        Some(Prior { change: 0.0, .. }) => 1,
        Some(_) => steps,
    }
}

/// Pulls of each block from their standard deviations. `[blocks][cells]`
pub(super) fn pulls(prior: Option<Prior>, standard: &[f64], cells: usize) -> Vec<f64> {
    let Some(prior) = prior else { return Vec::new() };
    let mut pulls = standard.to_vec();
    for (block, start) in (0..standard.len()).step_by(cells).enumerate() {
        for cell in start..start + cells {
            let scale = if block == 0 { prior.first } else { prior.change };
            pulls[cell] = scale * standard[cell];
            if block > 0 {
                pulls[cell] += pulls[cell - cells];
            }
        }
    }
    pulls
}

impl<'a> Likelihood<'a> {
    pub fn new(design: &'a Design, evidence: &'a Evidence, prior: Option<Prior>) -> Self {
        let cells = design.moves.tables.first().map_or(1, |table| table.shape().0);
        let steps = design.moves.of_step.len();
        let blocks = blocks(prior, steps);
        let mut groups: Vec<Group> = Vec::new();
        for (step, &table) in design.moves.of_step.iter().enumerate() {
            let [before, after] = [step, step + 1].map(|t| &evidence.counts[t * cells..][..cells]);
            let block = if blocks > 1 { step } else { 0 };
            let same = |group: &&mut Group| group.table == table && group.block == block;
            match groups.iter_mut().find(same) {
                Some(Group { leaving, arriving, .. }) => {
                    leaving.iter_mut().zip(before).for_each(|(sum, n)| *sum += n);
                    arriving.iter_mut().zip(after).for_each(|(sum, n)| *sum += n);
                }
                None => {
                    let (leaving, arriving) = (before.to_vec(), after.to_vec());
                    groups.push(Group { table, block, leaving, arriving });
                }
            }
        }
        Self { design, evidence, prior, cells, blocks, groups }
    }

    /// Minus the logarithm of the posterior density up to a constant, and its gradient in weights and
    /// pulls; with the curvature in weights and expected arrivals on demand.
    fn evaluate(&self, point: &Point, with_curvature: bool) -> (f64, Vec<f64>, Vec<f64>, Vec<f64>) {
        let Self { design, cells, .. } = *self;
        let unknowns = design.unknowns();
        let tables = 0..design.moves.tables.len();
        let terms: Vec<Terms> =
            tables.map(|table| design.terms(table, &point.parameters)).collect();
        let pulls = pulls(self.prior, &point.pulls, cells);
        let part = |group: &Group| {
            let own = pulls.get(group.block * cells..(group.block + 1) * cells);
            self.part(group, &terms[group.table], own, with_curvature)
        };
        let parts: Vec<Part> = self.groups.par_iter().map(part).collect();
        let (mut value, mut gradient) = (0.0, vec![0.0; unknowns]);
        for (moved, terms) in self.evidence.moved.iter().zip(&terms) {
            for (at, &number) in moved.iter().enumerate().filter(|(_, number)| **number > 0.0) {
                value -= number * terms.scores[at];
                let slopes = &terms.slopes[at * unknowns..][..unknowns];
                gradient.iter_mut().zip(slopes).for_each(|(g, slope)| *g -= number * slope);
            }
        }
        let mut of_pulls = vec![0.0; self.blocks * cells];
        let mut expected = vec![0.0; self.blocks * cells];
        let mut curvature = vec![0.0; unknowns * unknowns];
        for (group, part) in self.groups.iter().zip(&parts) {
            value += part.value;
            gradient.iter_mut().zip(&part.mean).for_each(|(g, mean)| *g += mean);
            curvature.iter_mut().zip(&part.curvature).for_each(|(c, own)| *c += own);
            if self.blocks > 0 {
                let range = group.block * cells..(group.block + 1) * cells;
                let own = of_pulls[range.clone()].iter_mut().zip(&mut expected[range]);
                let numbers = group.arriving.iter().zip(&part.expected);
                for ((gradient, expected), (arriving, own)) in own.zip(numbers) {
                    *gradient += own - arriving;
                    *expected += own;
                }
            }
        }
        // A block moves all that follow it.
        for place in (0..of_pulls.len().saturating_sub(cells)).rev() {
            of_pulls[place] += of_pulls[place + cells];
            expected[place] += expected[place + cells];
        }
        let scale = |place: usize| {
            self.prior.map_or(0.0, |p| if place < cells { p.first } else { p.change })
        };
        for (place, gradient) in of_pulls.iter_mut().enumerate() {
            *gradient = *gradient * scale(place) + point.pulls[place];
            expected[place] = 1.0 + expected[place] * scale(place).powi(2);
        }
        value += 0.5 * point.pulls.iter().map(|z| z * z).sum::<f64>();
        let vector = design.vector(&point.parameters);
        for (place, weight) in vector.iter().enumerate() {
            let precision = Self::precision(design, place);
            value += 0.5 * precision * weight * weight;
            gradient[place] += precision * weight;
            curvature[place * unknowns + place] += precision;
        }
        gradient.extend(of_pulls);
        (value, gradient, curvature, expected)
    }

    fn part(
        &self,
        group: &Group,
        terms: &Terms,
        pulls: Option<&[f64]>,
        with_curvature: bool,
    ) -> Part {
        let unknowns = self.design.unknowns();
        let highest = pulls.map_or(0.0, |own| own.iter().copied().fold(f64::MIN, f64::max));
        let factors: Vec<f64> = match pulls {
            Some(own) => own.iter().map(|pull| (pull - highest).exp().max(1e-300)).collect(),
            None => vec![1.0; self.cells],
        };
        let mut part = Part {
            value: 0.0,
            mean: vec![0.0; unknowns],
            curvature: vec![0.0; if with_curvature { unknowns * unknowns } else { 0 }],
            expected: vec![0.0; if self.blocks > 0 { self.cells } else { 0 }],
        };
        if let Some(own) = pulls {
            part.value -= own.iter().zip(&group.arriving).map(|(pull, n)| pull * n).sum::<f64>();
        }
        let table = &self.design.moves.tables[group.table];
        let (mut first, mut shares, mut mean) = (0, Vec::new(), vec![0.0; unknowns]);
        for (from, &leaving) in group.leaving.iter().enumerate() {
            let to = table.row(from).0;
            let (scores, slopes) = (
                &terms.scores[first..first + to.len()],
                &terms.slopes[first * unknowns..(first + to.len()) * unknowns],
            );
            first += to.len();
            if leaving <= 0.0 || to.is_empty() {
                continue;
            }
            let top = scores.iter().copied().fold(f64::NEG_INFINITY, f64::max);
            shares.clear();
            shares.extend(
                scores.iter().zip(to).map(|(s, &to)| (s - top).exp() * factors[to as usize]),
            );
            let sum: f64 = shares.iter().sum();
            part.value += leaving * (top + highest + sum.ln());
            shares.iter_mut().for_each(|share| *share *= leaving / sum);
            if self.blocks > 0 {
                to.iter().zip(&shares).for_each(|(&to, share)| part.expected[to as usize] += share);
            }
            mean.fill(0.0);
            for (slopes, share) in slopes.chunks(unknowns.max(1)).zip(&shares) {
                mean.iter_mut().zip(slopes).for_each(|(mean, slope)| *mean += share * slope);
                if with_curvature {
                    for (row, a) in part.curvature.chunks_mut(unknowns.max(1)).zip(slopes) {
                        row.iter_mut().zip(slopes).for_each(|(sum, b)| *sum += share * a * b);
                    }
                }
            }
            part.mean.iter_mut().zip(&mean).for_each(|(sum, own)| *sum += own);
            if with_curvature {
                for (row, a) in part.curvature.chunks_mut(unknowns.max(1)).zip(&mean) {
                    row.iter_mut().zip(&mean).for_each(|(sum, b)| *sum -= a * b / leaving);
                }
            }
        }
        part
    }

    /// The gradient in what is learned of features, and the curvature there. `[unknowns]`
    pub fn slopes(&self, point: &Point) -> (Vec<f64>, Vec<f64>) {
        let (_, mut gradient, curvature, _) = self.evaluate(point, true);
        gradient.truncate(self.design.unknowns());
        (gradient, curvature)
    }

    /// The precision of the prior of something that is learned of features.
    pub fn precision(design: &Design, unknown: usize) -> f64 {
        let is_exponent = unknown == design.unknown.len();
        if is_exponent { LOG_EXPONENT } else { WEIGHT }.powi(-2)
    }

    /// Minus the logarithm of the prior density, up to a constant.
    pub fn penalty(design: &Design, point: &Point) -> f64 {
        let vector = design.vector(&point.parameters);
        let weights = vector.iter().enumerate();
        let weights =
            weights.map(|(place, weight)| Self::precision(design, place) * weight * weight);
        0.5 * (weights.sum::<f64>() + point.pulls.iter().map(|z| z * z).sum::<f64>())
    }

    /// A likelier law, by a few steps from a point.
    pub fn maximise(&self, point: &Point, steps: usize) -> Point {
        let design = self.design;
        let unknowns = design.unknowns();
        let (_, _, curvature, expected) = self.evaluate(point, true);
        let divide = |vector: &mut [f64]| {
            let (weights, pulls) = vector.split_at_mut(unknowns);
            if unknowns > 0 {
                let most = (0..unknowns).map(|i| curvature[i * unknowns + i]).fold(0.0, f64::max);
                solve_positive(&mut curvature.clone(), weights, 1e-12 * most);
            }
            pulls.iter_mut().zip(&expected).for_each(|(pull, scale)| *pull /= scale);
        };
        let at = |vector: &[f64]| Point {
            parameters: design.with(&point.parameters, &vector[..unknowns]),
            pulls: vector[unknowns..].to_vec(),
        };
        let mut vector = design.vector(&point.parameters);
        vector.extend(&point.pulls);
        let mut evaluate = |vector: &[f64]| {
            let (value, gradient, _, _) = self.evaluate(&at(vector), false);
            (value, gradient)
        };
        at(&minimise(vector, Search { steps, decrease: 1e-3 }, &mut evaluate, &divide))
    }
}
