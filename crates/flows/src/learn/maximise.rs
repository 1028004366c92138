//! The most likely law under a movement: `Σ n_t(i,j) log p_t(j|i)` and the priors, by quasi-Newton
//! steps.

use bethe_core::solve_positive;
use rayon::prelude::*;

use super::design::{Design, Parameters, Terms};
use super::law::Prior;
use super::pulls::{AXES, Pulls};
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
    /// The numbers that [`Pulls`] are made of.
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
    pulls: Option<Pulls<'a>>,
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
    /// Variances of where moves lead, times individuals.
    spread: [f64; AXES],
}

/// A likelihood at a point.
struct Evaluated {
    /// Minus the logarithm of the posterior density, up to a constant.
    value: f64,
    /// In what is learned of features, then in the numbers of pulls.
    gradient: Vec<f64>,
    /// In what is learned of features; zero unless it is asked for. `[unknowns][unknowns]`
    curvature: Vec<f64>,
    /// About that in each number of pulls.
    of_pulls: Vec<f64>,
}

impl<'a> Likelihood<'a> {
    pub fn new(design: &'a Design, evidence: &'a Evidence, prior: Option<Prior>) -> Self {
        let cells = design.moves.tables.first().map_or(1, |table| table.shape().0);
        let pulls = Pulls::new(design, prior);
        let blocks = pulls.as_ref().map_or(0, Pulls::blocks);
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
        Self { design, evidence, pulls, cells, blocks, groups }
    }

    /// The likelihood and how it changes, with curvatures on demand.
    fn evaluate(&self, point: &Point, with_curvature: bool) -> Evaluated {
        let Self { design, cells, .. } = *self;
        let unknowns = design.unknowns();
        let tables = 0..design.moves.tables.len();
        let terms: Vec<Terms> =
            tables.map(|table| design.terms(table, &point.parameters)).collect();
        let pulls = self.pulls.as_ref().map_or(Vec::new(), |own| own.of(&point.pulls));
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
        let mut curvature = vec![0.0; unknowns * unknowns];
        for part in &parts {
            value += part.value;
            gradient.iter_mut().zip(&part.mean).for_each(|(g, mean)| *g += mean);
            curvature.iter_mut().zip(&part.curvature).for_each(|(c, own)| *c += own);
        }
        let vector = design.vector(&point.parameters);
        for (place, weight) in vector.iter().enumerate() {
            let precision = Self::precision(design, place);
            gradient[place] += precision * weight;
            curvature[place * unknowns + place] += precision;
        }
        let (slopes, of_pulls) = self.of_pulls(point, &parts);
        gradient.extend(slopes);
        Evaluated { value: value + Self::penalty(design, point), gradient, curvature, of_pulls }
    }

    /// Slopes in the numbers of pulls, and about the curvatures.
    fn of_pulls(&self, point: &Point, parts: &[Part]) -> (Vec<f64>, Vec<f64>) {
        let Some(pulls) = &self.pulls else { return Default::default() };
        let size = self.blocks * self.cells;
        let (mut surplus, mut expected) = (vec![0.0; size], vec![0.0; size]);
        let mut spreads = vec![0.0; self.blocks * AXES];
        for (group, part) in self.groups.iter().zip(parts) {
            let first = group.block * self.cells;
            for (cell, (own, arriving)) in part.expected.iter().zip(&group.arriving).enumerate() {
                surplus[first + cell] += own - arriving;
                expected[first + cell] += own;
            }
            let own = &mut spreads[group.block * AXES..][..AXES];
            own.iter_mut().zip(part.spread).for_each(|(sum, spread)| *sum += spread);
        }
        let mut slopes = pulls.slopes(&surplus);
        slopes.iter_mut().zip(&point.pulls).for_each(|(slope, number)| *slope += number);
        (slopes, pulls.curvatures(&expected, &spreads))
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
            spread: [0.0; AXES],
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
            if with_curvature && self.blocks > 0 {
                let positions = to.iter().map(|&to| self.design.positions[to as usize]);
                let spread = spread(positions.zip(shares.iter().copied()), leaving);
                part.spread.iter_mut().zip(spread).for_each(|(sum, own)| *sum += own);
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
        let Evaluated { mut gradient, curvature, .. } = self.evaluate(point, true);
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
        let Evaluated { curvature, of_pulls, .. } = self.evaluate(point, true);
        let divide = |vector: &mut [f64]| {
            let (weights, pulls) = vector.split_at_mut(unknowns);
            if unknowns > 0 {
                let most = (0..unknowns).map(|i| curvature[i * unknowns + i]).fold(0.0, f64::max);
                solve_positive(&mut curvature.clone(), weights, 1e-12 * most);
            }
            pulls.iter_mut().zip(&of_pulls).for_each(|(pull, scale)| *pull /= scale);
        };
        let at = |vector: &[f64]| Point {
            parameters: design.with(&point.parameters, &vector[..unknowns]),
            pulls: vector[unknowns..].to_vec(),
        };
        let mut vector = design.vector(&point.parameters);
        vector.extend(&point.pulls);
        let mut evaluate = |vector: &[f64]| {
            let Evaluated { value, gradient, .. } = self.evaluate(&at(vector), false);
            (value, gradient)
        };
        at(&minimise(vector, Search { steps, decrease: 1e-3 }, &mut evaluate, &divide))
    }
}

/// The variance of where moves lead, times individuals.
fn spread(moves: impl Iterator<Item = ([f64; AXES], f64)>, leaving: f64) -> [f64; AXES] {
    let (mut sums, mut squares) = ([0.0; AXES], [0.0; AXES]);
    for (position, number) in moves {
        for axis in 0..AXES {
            sums[axis] += number * position[axis];
            squares[axis] += number * position[axis].powi(2);
        }
    }
    std::array::from_fn(|axis| (squares[axis] - sums[axis].powi(2) / leaving).max(0.0))
}
