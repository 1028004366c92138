//! Prices of rules, moved by subgradient steps so that the bound of a relaxation falls.
//!
//! A step aims at a level below the lowest bound so far, but never below the score of a
//! configuration that is known to keep the rules. A level that is reached moves further down, one
//! that is not moves up.

use super::rules::Rule;

/// Steps without success until the level moves up.
const PATIENCE: usize = 3;

pub(super) struct Descent<'a> {
    rules: &'a [Rule],
    /// One over the largest coefficient of each rule: steps are taken in these units. `[rules]`
    scales: &'a [f64],
    pub prices: Vec<f64>,
    /// The latest bound, and what the rules sum up to there.
    latest: f64,
    sums: Vec<f64>,
    pub lowest: Lowest,
    /// How far the level is below the lowest bound.
    depth: f64,
    idle: usize,
}

/// The lowest bound so far, and where it was.
#[derive(Clone)]
pub(super) struct Lowest {
    pub bound: f64,
    pub prices: Vec<f64>,
    /// The configuration that is best at these prices.
    pub states: Vec<usize>,
    sums: Vec<f64>,
    /// The value there, which may be above a bound that was known before.
    value: f64,
}

impl<'a> Descent<'a> {
    /// `bound` is known of what is relaxed.
    pub fn new(rules: &'a [Rule], scales: &'a [f64], prices: Vec<f64>, bound: f64) -> Self {
        let lowest = Lowest {
            bound,
            prices: prices.clone(),
            states: Vec::new(),
            sums: Vec::new(),
            value: f64::INFINITY,
        };
        let (latest, sums) = (f64::INFINITY, Vec::new());
        Self { rules, scales, prices, latest, sums, lowest, depth: 0.0, idle: 0 }
    }

    /// Takes note of the bound at the current prices, and of the configuration it comes from.
    pub fn record(&mut self, value: f64, states: &[usize], sums: Vec<f64>, floor: f64) {
        if self.lowest.value == f64::INFINITY {
            self.depth = 0.5 * (value - floor).max(0.0);
        } else if value < self.lowest.value - 0.5 * self.depth {
            (self.depth, self.idle) = (2.0 * self.depth, 0);
        } else {
            self.idle += 1;
        }
        (self.latest, self.sums) = (value, sums);
        if value < self.lowest.value {
            self.lowest = Lowest {
                bound: self.lowest.bound.min(value),
                prices: self.prices.clone(),
                states: states.to_vec(),
                sums: self.sums.clone(),
                value,
            };
        }
    }

    /// Moves the prices; false if no step can lower the bound. `floor` is the least that the bound
    /// may come to.
    pub fn step(&mut self, floor: f64, highest: impl Fn(usize) -> f64) -> bool {
        if self.idle == PATIENCE {
            (self.depth, self.idle) = (0.5 * self.depth, 0);
            self.prices.clone_from(&self.lowest.prices);
            self.sums.clone_from(&self.lowest.sums);
            self.latest = self.lowest.value;
        }
        let slope = |rule: usize| {
            let (sum, price) = (self.sums[rule], self.prices[rule]);
            let is_held = !self.rules[rule].is_equality && price == 0.0 && sum < 0.0;
            if is_held { 0.0 } else { sum * self.scales[rule] }
        };
        let slopes: Vec<f64> = (0..self.rules.len()).map(slope).collect();
        let square: f64 = slopes.iter().map(|slope| slope * slope).sum();
        let target = (self.lowest.value - self.depth).max(floor);
        let length = (self.latest - target) / square;
        if !(length > 0.0 && length.is_finite()) {
            return false;
        }
        for (rule, (price, slope)) in self.prices.iter_mut().zip(slopes).enumerate() {
            let moved = *price + length * slope * self.scales[rule];
            let highest = highest(rule);
            let lowest = if self.rules[rule].is_equality { -highest } else { 0.0 };
            *price = moved.clamp(lowest, highest);
        }
        true
    }
}
