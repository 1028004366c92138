//! How likely laws are under a movement: `Σ n_t(i,j) log p_t(j|i)` and the priors, with slopes and
//! curvature.

use bethe_core::solve_positive;
use rayon::prelude::*;

use super::design::{Design, Parameters};
use super::law::Prior;
use super::pulls::{AXES, Curvature, Pulls};
use super::sweep::{Group, Strip, Swept, Table};

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

/// The likelihood of laws under a movement.
pub(super) struct Likelihood<'a> {
    design: &'a Design,
    evidence: &'a Evidence,
    pulls: Option<Pulls<'a>>,
    cells: usize,
    blocks: usize,
    strips: Vec<Strip>,
}

/// A likelihood at a point.
struct Evaluated {
    /// Minus the logarithm of the posterior density, up to a constant; tests hold slopes to it.
    #[cfg_attr(not(test), expect(dead_code))]
    value: f64,
    /// In what is learned of features, then in the numbers of pulls.
    gradient: Vec<f64>,
    /// In what is learned of features; zero unless it is asked for. `[unknowns][unknowns]`
    curvature: Vec<f64>,
    /// What the curvature in the numbers of pulls follows from: expected arrivals and how far moves
    /// spread. `[blocks][cells]`, `[blocks][axes]`
    arrivals: Vec<f64>,
    spreads: Vec<f64>,
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
        let strips = Strip::all(&groups, design.moves.tables.len());
        Self { design, evidence, pulls, cells, blocks, strips }
    }

    /// The likelihood and how it changes, with curvatures on demand.
    fn evaluate(&self, point: &Point, is_curved: bool) -> Evaluated {
        let Self { design, .. } = *self;
        let unknowns = design.unknowns();
        let tables = (0..design.moves.tables.len()).into_par_iter();
        let tables: Vec<Table> =
            tables.map(|table| Table::new(design, table, &point.parameters)).collect();
        let pulls = self.pulls.as_ref().map_or(Vec::new(), |own| own.of(&point.pulls));
        let sweep = |strip: &Strip| strip.sweep(design, &tables[strip.table], &pulls, is_curved);
        let swept: Vec<Swept> = self.strips.par_iter().map(sweep).collect();
        let (mut value, mut gradient) = (Self::penalty(design, point), vec![0.0; unknowns]);
        for (moved, Table { scores, slopes, .. }) in self.evidence.moved.iter().zip(&tables) {
            for (at, &number) in moved.iter().enumerate().filter(|(_, number)| **number > 0.0) {
                value -= number * scores[at];
                let slopes = &slopes[at * unknowns..][..unknowns];
                gradient.iter_mut().zip(slopes).for_each(|(g, slope)| *g -= number * slope);
            }
        }
        let mut curvature = vec![0.0; unknowns * unknowns];
        for own in &swept {
            value += own.value;
            gradient.iter_mut().zip(&own.mean).for_each(|(g, mean)| *g += mean);
            curvature.iter_mut().zip(&own.curvature).for_each(|(c, own)| *c += own);
        }
        let vector = design.vector(&point.parameters);
        for (place, weight) in vector.iter().enumerate() {
            let precision = Self::precision(design, place);
            gradient[place] += precision * weight;
            curvature[place * unknowns + place] += precision;
        }
        let (mut arrivals, mut spreads) = (Vec::new(), Vec::new());
        if let Some(pulls) = &self.pulls {
            let surplus;
            (surplus, arrivals, spreads) = self.of_blocks(&swept);
            let slopes = pulls.slopes(&surplus);
            gradient.extend(slopes.iter().zip(&point.pulls).map(|(slope, number)| slope + number));
        }
        Evaluated { value, gradient, curvature, arrivals, spreads }
    }

    /// Of the steps of each block: expected less most likely arrivals, expected arrivals, and how far
    /// moves spread. `[blocks][cells]`, twice, and `[blocks][axes]`
    fn of_blocks(&self, swept: &[Swept]) -> (Vec<f64>, Vec<f64>, Vec<f64>) {
        let size = self.blocks * self.cells;
        let (mut surplus, mut expected) = (vec![0.0; size], vec![0.0; size]);
        let mut spreads = vec![0.0; self.blocks * AXES];
        for (strip, swept) in self.strips.iter().zip(swept) {
            for (lane, &block) in strip.blocks.iter().enumerate() {
                let cells = block * self.cells..(block + 1) * self.cells;
                let (arrivals, spread) = strip.of_lane(swept, lane);
                let arriving = strip.lane(&strip.arriving, lane);
                let sums = surplus[cells.clone()].iter_mut().zip(&mut expected[cells]);
                for ((surplus, expected), (own, arriving)) in sums.zip(arrivals.zip(arriving)) {
                    *surplus += own - arriving;
                    *expected += own;
                }
                let own = &mut spreads[block * AXES..][..AXES];
                own.iter_mut().zip(spread).for_each(|(sum, spread)| *sum += spread);
            }
        }
        (surplus, expected, spreads)
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

    /// The slopes at a point, in features and in pulls, with the curvature of a movement that was seen.
    pub fn tangent(&self, point: &Point) -> Tangent {
        let design = self.design;
        let unknowns = design.unknowns();
        let Evaluated { mut gradient, mut curvature, arrivals, spreads, .. } =
            self.evaluate(point, true);
        // An exponent that would leave its bounds stays there.
        let outwards = |exponent: usize| gradient[exponent] * point.parameters.exponent.ln() < 0.0;
        let held =
            (design.is_at_bound(&point.parameters) && outwards(unknowns - 1)).then(|| unknowns - 1);
        if let Some(held) = held {
            gradient[held] = 0.0;
        }
        let units: Vec<f64> =
            (0..unknowns).map(|i| curvature[i * unknowns + i].powf(-0.5)).collect();
        for (at, own) in curvature.iter_mut().enumerate() {
            let (i, j) = (at / unknowns, at % unknowns);
            let is_apart = i != j && (held == Some(i) || held == Some(j));
            *own = if is_apart { 0.0 } else { *own * units[i] * units[j] };
        }
        let of_pulls = self.pulls.as_ref().map(|pulls| pulls.curvature(&arrivals, &spreads));
        Tangent { gradient, curvature, units, of_pulls }
    }
}

/// How minus the log-posterior of laws changes at a point.
pub(super) struct Tangent {
    /// In what is learned of features, then in the numbers of pulls.
    pub gradient: Vec<f64>,
    /// In what is learned of features, in units in which every curvature is 1.
    curvature: Vec<f64>,
    units: Vec<f64>,
    of_pulls: Option<Curvature>,
}

impl Tangent {
    /// Divides slopes by the curvature.
    pub fn divide(&self, slopes: &mut [f64]) {
        let (weights, pulls) = slopes.split_at_mut(self.units.len());
        weights.iter_mut().zip(&self.units).for_each(|(own, unit)| *own *= unit);
        solve_positive(&mut self.curvature.clone(), weights, 1e-12);
        weights.iter_mut().zip(&self.units).for_each(|(own, unit)| *own *= unit);
        if let Some(of_pulls) = &self.of_pulls {
            of_pulls.divide(pulls);
        }
    }
}

#[cfg(test)]
mod tests {
    use bethe_core::Cancel;

    use super::super::law::Learner;
    use super::*;
    use crate::data::{Cells, Observations};
    use crate::energy::Noise;
    use crate::model::{Feature, FeatureKind, Movement};

    /// Three cells by two, and more steps than lie side by side; moves of the seasons or all alike.
    fn check(winds: Option<usize>, prior: Option<Prior>) {
        let (cells, steps) = (Cells::grid(3, 2), 19);
        let feature = |name: &str, kind, weight| Feature { name: name.to_string(), kind, weight };
        let power = FeatureKind::Power { unit: 1.0, exponent: 1.0 };
        let mut features =
            vec![feature("stay", FeatureKind::Stay(1.0), 0.4), feature("distance", power, -0.8)];
        if let Some(kinds) = winds {
            let wind = |step: usize| [(1.0, 0.0), (0.0, 1.0), (-1.0, 0.0)][step % kinds];
            let winds = (0..steps).map(wind).collect();
            features.push(feature("wind", FeatureKind::Wind(winds), 0.3));
        }
        let movement = Movement { features, reach: Some(1.5), normalised: true };
        let learned = vec![true; movement.features.len()];
        let mut observations = Observations::new(6);
        (0..=steps).for_each(|time| observations.push(time.to_string(), [Some(1.0); 6]));
        let learner = Learner {
            cells: &cells,
            movement: &movement,
            learned: &learned,
            bent: Some(1),
            start: None,
            observations: &observations,
            noise: &Noise::Poisson { rate: vec![1.0] },
            population: 100.0,
            cancel: Cancel::never(),
            deadline: None,
        };
        let mut design = Design::new(&learner);
        let number = |place: usize| (1.0 + place as f64 * 0.37).sin();
        // Individuals who move, and the counts that follow.
        let mut counts: Vec<f64> = (0..6).map(|cell| 5.0 + number(cell)).collect();
        let mut moved: Vec<Vec<f64>> =
            design.moves.tables.iter().map(|table| vec![0.0; table.len()]).collect();
        let mut all = Vec::new();
        for (step, &table) in design.moves.of_step.iter().enumerate() {
            let (mut arrived, mut place) = (vec![0.0; 6], 0);
            for from in 0..6 {
                let to = design.moves.tables[table].row(from).0;
                let share = |at: usize| 1.1 + number(step * 40 + at);
                let total: f64 = (0..to.len()).map(share).sum();
                for (at, &to) in to.iter().enumerate() {
                    let own = counts[step * 6 + from] * share(at) / total;
                    arrived[to as usize] += own;
                    moved[table][place] += own;
                    all.push((step, from, at, own));
                    place += 1;
                }
            }
            counts.extend(arrived);
        }
        let evidence = Evidence { moved, counts };
        let weights = movement.features.iter().map(|feature| feature.weight).collect();
        let parameters = Parameters { weights, exponent: 1.3 };
        let pulls = Pulls::new(&design, prior).map_or(0, |pulls| pulls.len());
        let point =
            Point { parameters: parameters.clone(), pulls: (0..pulls).map(number).collect() };
        // The same from the tables of moves.
        let blocks = Pulls::new(&design, prior).map_or(Vec::new(), |own| own.of(&point.pulls));
        let likelihood = Likelihood::new(&design, &evidence, prior);
        let found = likelihood.evaluate(&point, true);
        let at = |vector: &[f64]| {
            let unknowns = design.unknowns();
            let parameters = design.with(&parameters, &vector[..unknowns]);
            likelihood.evaluate(&Point { parameters, pulls: vector[unknowns..].to_vec() }, false)
        };
        let mut vector = design.vector(&parameters);
        vector.extend(&point.pulls);
        for place in 0..vector.len() {
            let value = |by: f64| {
                let mut moved = vector.clone();
                moved[place] += by;
                at(&moved)
            };
            let (up, down) = (value(1e-4), value(-1e-4));
            let slope = (up.value - down.value) / 2e-4;
            assert!((slope - found.gradient[place]).abs() < 1e-5 * (1.0 + slope.abs()), "{place}");
            // The curvature in weights is exact, except for that of scores in the exponent.
            if place + 1 < design.unknowns() {
                let curve = (up.gradient[place] - down.gradient[place]) / 2e-4;
                let own = found.curvature[place * design.unknowns() + place];
                assert!((curve - own).abs() < 1e-5 * (1.0 + own), "{place} {curve} {own}");
            }
        }
        let mut plain = Likelihood::penalty(&design, &point);
        design.set(&parameters);
        design.moves.pulls = if blocks.len() == 6 { blocks.repeat(steps) } else { blocks };
        for (step, from, at, own) in all {
            plain -= own * design.moves.probabilities(step, from).1[at].ln();
        }
        assert!((plain - found.value).abs() < 1e-9 * plain.abs(), "{plain} {}", found.value);
    }

    #[test]
    fn the_likelihood_is_that_of_moves_and_its_slopes_are_those_of_its_values() {
        let walk = Prior { first: 1.0, change: 0.5, drift: 0.7 };
        let priors = [
            None,
            Some(walk),
            Some(Prior { change: 0.0, drift: 0.0, ..walk }),
            Some(Prior { first: 0.0, ..walk }),
        ];
        for prior in priors {
            [None, Some(2), Some(3)].into_iter().for_each(|winds| check(winds, prior));
        }
    }
}
