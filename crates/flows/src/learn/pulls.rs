//! Pulls of places as a linear function of numbers whose prior is standard normal.

use super::design::Design;
use super::law::Prior;

/// Coordinates of a place; the third is for the globe.
pub(crate) const AXES: usize = 3;

/// How numbers become pulls. They are first those of the walk, `[walks][cells]`, then those of
/// drifts, `[steps][axes]`.
pub(super) struct Pulls<'a> {
    scales: Scales,
    steps: usize,
    /// Where cells are, in units of their spacing.
    positions: &'a [[f64; AXES]],
}

/// Standard deviations of the numbers of a walk.
#[derive(Clone, Copy)]
struct Scales {
    prior: Prior,
    cells: usize,
}

impl Scales {
    fn of(self, place: usize) -> f64 {
        if place < self.cells { self.prior.first } else { self.prior.change }
    }

    /// How a pull is tied to the next of its walk.
    fn link(self) -> f64 {
        self.prior.change.powi(-2)
    }
}

impl<'a> Pulls<'a> {
    /// `None` without a prior: no pulls.
    pub fn new(design: &'a Design, prior: Option<Prior>) -> Option<Self> {
        let (steps, positions) = (design.moves.of_step.len(), &design.positions[..]);
        let scales = |prior| Scales { prior, cells: positions.len() };
        prior.map(|prior| Self { scales: scales(prior), steps, positions })
    }

    fn cells(&self) -> usize {
        self.positions.len()
    }

    /// Vectors of the walk.
    fn walks(&self) -> usize {
        match self.scales.prior {
            Prior { first: 0.0, .. } => 0,
            Prior { change: 0.0, .. } => 1,
            _ => self.steps,
        }
    }

    fn drifts(&self) -> usize {
        if self.scales.prior.drift > 0.0 { self.steps * AXES } else { 0 }
    }

    /// How many numbers.
    pub fn len(&self) -> usize {
        self.walks() * self.cells() + self.drifts()
    }

    /// Different vectors of pulls: one for all steps, or one each.
    pub fn blocks(&self) -> usize {
        if self.drifts() > 0 { self.steps } else { self.walks() }
    }

    /// Pulls of the walk. `[walks][cells]`
    fn walk(&self, numbers: &[f64]) -> Vec<f64> {
        let cells = self.cells();
        let mut walk: Vec<f64> = numbers[..self.walks() * cells]
            .iter()
            .enumerate()
            .map(|(place, number)| self.scales.of(place) * number)
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
                walk.map_or(0.0, |walk| walk[cell]) + self.scales.prior.drift * along
            };
            self.positions.iter().enumerate().map(pull).collect::<Vec<f64>>()
        };
        drifts.chunks(AXES).enumerate().flat_map(of_step).collect()
    }

    /// Turns slopes in pulls, `[blocks][cells]`, into slopes in numbers, without the prior's.
    pub fn slopes(&self, of_pulls: &[f64]) -> Vec<f64> {
        let cells = self.cells();
        let mut slopes = self.summed(of_pulls);
        slopes.iter_mut().enumerate().for_each(|(place, slope)| *slope *= self.scales.of(place));
        if self.drifts() > 0 {
            for own in of_pulls.chunks(cells) {
                for axis in 0..AXES {
                    let along = own.iter().zip(self.positions).map(|(g, x)| g * x[axis]);
                    slopes.push(self.scales.prior.drift * along.sum::<f64>());
                }
            }
        }
        slopes
    }

    /// About the curvature in numbers, with the prior's: from expected arrivals,
    /// `[blocks][cells]`, and from how far the moves of each block spread, `[blocks][axes]`.
    pub fn curvature(&self, expected: &[f64], spreads: &[f64]) -> Curvature {
        let cells = self.cells();
        let mut pivots = match self.walks() {
            1 => self.summed(expected),
            walks => expected[..walks * cells].to_vec(),
        };
        let link = self.scales.link();
        for place in 0..pivots.len() {
            pivots[place] += self.scales.of(place).powi(-2);
            if place + cells < self.walks() * cells {
                pivots[place] += link;
            }
            if place >= cells {
                pivots[place] -= link * link / pivots[place - cells];
            }
        }
        let of_drift = |spread: &f64| 1.0 + spread * self.scales.prior.drift.powi(2);
        let of_drifts = spreads[..self.drifts()].iter().map(of_drift).collect();
        Curvature { scales: self.scales, pivots, of_drifts }
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
                *number = change / self.scales.of(place);
            }
        }
        let drifts = own[self.walks() * cells..].iter_mut().zip(&numbers[walk.len()..]);
        drifts.for_each(|(own, z)| *own = z * other.scales.prior.drift / self.scales.prior.drift);
        own
    }
}

/// About the curvature in the numbers of pulls. That of arrivals is taken as diagonal in pulls, where
/// the prior of a walk ties each to the next one: a tridiagonal matrix for each cell. In the numbers
/// themselves, the steps of a walk, it would be full.
pub(super) struct Curvature {
    scales: Scales,
    /// Of the elimination. `[walks][cells]`
    pivots: Vec<f64>,
    /// `[steps][axes]`
    of_drifts: Vec<f64>,
}

impl Curvature {
    /// Divides a vector of slopes in numbers.
    pub fn divide(&self, slopes: &mut [f64]) {
        let Self { scales, pivots, of_drifts } = self;
        let (cells, link) = (scales.cells, scales.link());
        let (walk, drifts) = slopes.split_at_mut(pivots.len());
        drifts.iter_mut().zip(of_drifts).for_each(|(drift, curvature)| *drift /= curvature);
        // In pulls.
        (0..walk.len()).for_each(|place| walk[place] /= scales.of(place));
        for place in cells..walk.len() {
            walk[place - cells] -= walk[place];
        }
        for place in cells..walk.len() {
            walk[place] += link * walk[place - cells] / pivots[place - cells];
        }
        for place in (0..walk.len()).rev() {
            let later = walk.get(place + cells).map_or(0.0, |later| link * later);
            walk[place] = (walk[place] + later) / pivots[place];
        }
        // And back, to the steps of walks.
        for place in (0..walk.len()).rev() {
            let before = if place < cells { 0.0 } else { walk[place - cells] };
            walk[place] = (walk[place] - before) / scales.of(place);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{Prior, Pulls, Scales};

    #[test]
    fn dividing_by_the_curvature_undoes_a_product_with_it() {
        let (steps, positions) = (4, [[0.0, 0.0, 0.0], [1.0, 0.0, 0.0], [0.0, 1.0, 0.0]]);
        for (first, change, drift) in [(1.0, 0.3, 1.0), (2.0, 3.0, 0.5), (1.5, 0.0, 1.0)] {
            let scales = Scales { prior: Prior { first, change, drift }, cells: 3 };
            let pulls = Pulls { scales, steps, positions: &positions };
            let expected: Vec<f64> = (0..12).map(|place| 0.1 + f64::from(place % 5)).collect();
            let spreads: Vec<f64> = (0..12).map(f64::from).collect();
            let numbers: Vec<f64> =
                (0..pulls.len()).map(|place| (place as f64 * 0.7).sin()).collect();
            // Slopes of `½ Σ expected · pull²`, without drifts, and of the prior.
            let still = pulls.len() - pulls.drifts();
            let mut walks = numbers.clone();
            walks[still..].fill(0.0);
            let arrivals: Vec<f64> =
                pulls.of(&walks).iter().zip(&expected).map(|(pull, n)| pull * n).collect();
            let mut slopes = pulls.slopes(&arrivals);
            for (at, slope) in slopes[still..].iter_mut().enumerate() {
                *slope = numbers[still + at] * spreads[at] * drift * drift;
            }
            slopes.iter_mut().zip(&numbers).for_each(|(slope, number)| *slope += number);
            pulls.curvature(&expected, &spreads).divide(&mut slopes);
            for (found, number) in slopes.iter().zip(&numbers) {
                assert!((found - number).abs() < 1e-12, "{found} {number}");
            }
        }
    }
}
