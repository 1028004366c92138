//! Pulls of places as a linear function of numbers whose prior is standard normal.

use super::design::Design;
use super::law::Prior;

/// Coordinates of a place; the third is for the globe.
pub(super) const AXES: usize = 3;

/// How numbers become pulls. They are first those of the walk, `[walks][cells]`, then those of
/// drifts, `[steps][axes]`.
pub(super) struct Pulls<'a> {
    prior: Prior,
    steps: usize,
    /// Of cells, in units of their spacing.
    positions: &'a [[f64; AXES]],
}

impl<'a> Pulls<'a> {
    /// `None` without a prior: no pulls.
    pub fn new(design: &'a Design, prior: Option<Prior>) -> Option<Self> {
        let (steps, positions) = (design.moves.of_step.len(), &design.positions[..]);
        prior.map(|prior| Self { prior, steps, positions })
    }

    fn cells(&self) -> usize {
        self.positions.len()
    }

    /// Vectors of the walk.
    fn walks(&self) -> usize {
        match self.prior {
            Prior { first: 0.0, .. } => 0,
            Prior { change: 0.0, .. } => 1,
            _ => self.steps,
        }
    }

    fn drifts(&self) -> usize {
        if self.prior.drift > 0.0 { self.steps * AXES } else { 0 }
    }

    /// How many numbers.
    pub fn len(&self) -> usize {
        self.walks() * self.cells() + self.drifts()
    }

    /// Different vectors of pulls: one for all steps, or one each.
    pub fn blocks(&self) -> usize {
        if self.drifts() > 0 { self.steps } else { self.walks() }
    }

    /// The standard deviation of a number of the walk.
    fn scale(&self, place: usize) -> f64 {
        if place < self.cells() { self.prior.first } else { self.prior.change }
    }

    /// Pulls of the walk. `[walks][cells]`
    fn walk(&self, numbers: &[f64]) -> Vec<f64> {
        let cells = self.cells();
        let mut walk: Vec<f64> = numbers[..self.walks() * cells]
            .iter()
            .enumerate()
            .map(|(place, number)| self.scale(place) * number)
            .collect();
        for place in cells..walk.len() {
            walk[place] += walk[place - cells];
        }
        walk
    }

    /// Pulls of each block. `[blocks][cells]`
    pub fn of(&self, numbers: &[f64]) -> Vec<f64> {
        let (cells, walk) = (self.cells(), self.walk(numbers));
        let drifts = &numbers[walk.len()..];
        if drifts.is_empty() {
            return walk;
        }
        let of_step = |(step, drift): (usize, &[f64])| {
            let first = step.min(self.walks().saturating_sub(1)) * cells;
            let walk = walk.get(first..first + cells);
            let pull = move |(cell, position): (usize, &[f64; AXES])| {
                let along: f64 = position.iter().zip(drift).map(|(x, d)| x * d).sum();
                walk.map_or(0.0, |walk| walk[cell]) + self.prior.drift * along
            };
            self.positions.iter().enumerate().map(pull).collect::<Vec<f64>>()
        };
        drifts.chunks(AXES).enumerate().flat_map(of_step).collect()
    }

    /// What slopes in pulls, `[blocks][cells]`, are in numbers, without the prior's.
    pub fn slopes(&self, of_pulls: &[f64]) -> Vec<f64> {
        let cells = self.cells();
        let mut slopes = self.summed(of_pulls);
        slopes.iter_mut().enumerate().for_each(|(place, slope)| *slope *= self.scale(place));
        if self.drifts() > 0 {
            for own in of_pulls.chunks(cells) {
                for axis in 0..AXES {
                    let along = own.iter().zip(self.positions).map(|(g, x)| g * x[axis]);
                    slopes.push(self.prior.drift * along.sum::<f64>());
                }
            }
        }
        slopes
    }

    /// About the curvature in each number, with the prior's: from expected arrivals,
    /// `[blocks][cells]`, and from how far the moves of each block spread, `[blocks][axes]`.
    pub fn curvatures(&self, expected: &[f64], spreads: &[f64]) -> Vec<f64> {
        let walk = self.summed(expected);
        let walk = walk.iter().enumerate().map(|(at, sum)| sum * self.scale(at).powi(2));
        let drifts = spreads[..self.drifts()].iter().map(|s| s * self.prior.drift.powi(2));
        walk.chain(drifts).map(|curvature| 1.0 + curvature).collect()
    }

    /// Sums over the blocks that a vector of the walk moves: its own and all later ones.
    fn summed(&self, of_pulls: &[f64]) -> Vec<f64> {
        let cells = self.cells();
        let mut sums = of_pulls.to_vec();
        for place in (0..sums.len().saturating_sub(cells)).rev() {
            sums[place] += sums[place + cells];
        }
        sums.truncate(self.walks() * cells);
        sums
    }

    /// Numbers that give the pulls of other numbers under another prior, as far as there are such.
    pub fn convert(&self, (other, numbers): (&Self, &[f64])) -> Vec<f64> {
        let (cells, walk) = (self.cells(), other.walk(numbers));
        let (before, mut own) = (other.walks(), vec![0.0; self.len()]);
        if before > 0 {
            for (place, number) in own[..self.walks() * cells].iter_mut().enumerate() {
                let at = |block: usize| walk[block.min(before - 1) * cells + place % cells];
                let change = match place / cells {
                    0 => at(0),
                    block => at(block) - at(block - 1),
                };
                *number = change / self.scale(place);
            }
        }
        let drifts = own[self.walks() * cells..].iter_mut().zip(&numbers[walk.len()..]);
        drifts.for_each(|(own, z)| *own = z * other.prior.drift / self.prior.drift);
        own
    }
}
