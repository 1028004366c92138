//! A price per unit of each counter, such that decoding almost obeys:
//!
//! ```text
//! ceiling(μ) = max_y (score(y) + Σ_c μ_c total_c(y)) − Σ_c min { μ_c x : lowest_c ≤ x ≤ highest_c }
//! ```
//!
//! is convex and never below the best score that obeys. Near its minimum few assignments lie
//! between the two, however far off decoding without prices is.

use super::Counter;
use super::pass::Found;
use crate::cancel::Cancel;
use crate::oracle::chain::viterbi::Viterbi;

/// Rounds over all counters.
const ROUNDS: usize = 4;
/// Doublings of a step that look for the other side.
const DOUBLINGS: usize = 24;
/// Halvings of the interval between both sides.
const HALVINGS: usize = 14;

/// Subgradient steps in all prices together, if one at a time gets stuck.
const STEPS: usize = 150;
/// Shorten steps after this many without success.
const PATIENCE: usize = 5;

/// Minimises over one price at a time, repeatedly, then takes subgradient steps.
pub(super) struct Multipliers<'m, 'v> {
    viterbi: &'m mut Viterbi<'v>,
    counters: &'m [&'m Counter],
    /// `μ`
    prices: Vec<f64>,
    /// The best assignment at these prices.
    latest: Found,
    cancel: &'m Cancel,
}

impl<'m, 'v> Multipliers<'m, 'v> {
    /// Prices for some counters, none for those that `priceless` names; decoding with them is left
    /// in the messages. Every assignment on the way is shown to `found`.
    pub(super) fn find(
        viterbi: &'m mut Viterbi<'v>,
        counters: &'m [&'m Counter],
        priceless: &[bool],
        cancel: &'m Cancel,
        mut found: impl FnMut(&Found),
    ) -> Vec<f64> {
        let latest = Found::decoded(viterbi);
        let prices = vec![0.0; counters.len()];
        let mut search = Self { viterbi, counters, prices, latest, cancel };
        for _ in 0..ROUNDS {
            let mut moved = false;
            for c in (0..counters.len()).filter(|&c| !priceless[c]) {
                moved |= search.move_along(c, &mut found);
            }
            if !moved {
                break;
            }
        }
        search.descend(priceless, &mut found);
        search.prices
    }

    /// Subgradient steps towards a level below the lowest ceiling so far. The level moves closer if
    /// it is not reached. Ends at that ceiling.
    fn descend(&mut self, priceless: &[bool], found: &mut impl FnMut(&Found)) {
        let mut lowest = (self.ceiling(), self.prices.clone());
        let slope = |search: &Self, c: usize| if priceless[c] { 0.0 } else { search.slope(c) };
        let mut slopes: Vec<f64> = (0..self.prices.len()).map(|c| slope(self, c)).collect();
        let mut depth: f64 = slopes.iter().map(|slope| slope.abs()).sum();
        let mut idle = 0;
        for _ in 0..STEPS {
            let square: f64 = slopes.iter().map(|slope| slope * slope).sum();
            if square == 0.0 || self.cancel.is_cancelled() {
                break;
            }
            let step = (self.ceiling() - lowest.0 + depth) / square;
            let moves = self.prices.iter_mut().zip(self.counters).zip(&slopes);
            moves.for_each(|((price, counter), slope)| {
                *price = within(counter, *price - step * slope);
            });
            self.decode();
            found(&self.latest);
            let ceiling = self.ceiling();
            idle = if ceiling < lowest.0 - 0.1 * depth { 0 } else { idle + 1 };
            if ceiling < lowest.0 {
                lowest = (ceiling, self.prices.clone());
            }
            if idle == PATIENCE {
                (depth, idle) = (0.5 * depth, 0);
                self.prices.clone_from(&lowest.1);
                self.decode();
            }
            slopes = (0..self.prices.len()).map(|c| slope(self, c)).collect();
        }
        self.prices = lowest.1;
        self.decode();
    }

    /// A slope of the ceiling in a counter's price.
    fn slope(&self, c: usize) -> f64 {
        let (counter, price) = (self.counters[c], self.prices[c]);
        let total = counter.total(&self.latest.states);
        match price {
            _ if price > 0.0 => (total - counter.lowest) as f64,
            _ if price < 0.0 => (total - counter.highest) as f64,
            _ => (total - total.clamp(counter.lowest, counter.highest)) as f64,
        }
    }

    fn ceiling(&self) -> f64 {
        let priced = self.counters.iter().zip(&self.prices);
        let costs = priced
            .map(|(counter, &price)| slack(counter, price, counter.total(&self.latest.states)));
        self.latest.score + costs.sum::<f64>()
    }

    /// Which way a counter's price should move: up, down, or not at all.
    fn direction(&self, c: usize) -> f64 {
        let (counter, price) = (self.counters[c], self.prices[c]);
        let total = counter.total(&self.latest.states);
        if total < counter.lowest || (price < 0.0 && total < counter.highest) {
            1.0
        } else if total > counter.highest || (price > 0.0 && total > counter.lowest) {
            -1.0
        } else {
            0.0
        }
    }

    /// Moves a price to where its direction changes; whether it moved.
    fn move_along(&mut self, c: usize, found: &mut impl FnMut(&Found)) -> bool {
        let (begun, direction) = (self.prices[c], self.direction(c));
        if direction == 0.0 {
            return false;
        }
        let largest = self.counters[c].increments.iter().map(|step| step.unsigned_abs()).max();
        let mut step = direction / f64::from(largest.unwrap_or(1).max(1));
        let mut near = begun;
        let mut far = None;
        for _ in 0..DOUBLINGS {
            if self.cancel.is_cancelled() {
                return false;
            }
            let price = near + step;
            match self.turn(c, price, found) {
                0.0 => return true,
                turned if turned != direction => {
                    far = Some(price);
                    break;
                }
                _ => (near, step) = (price, 2.0 * step),
            }
        }
        let Some(mut far) = far else {
            // No price is high enough; other prices have to change.
            self.turn(c, begun, found);
            return false;
        };
        for _ in 0..HALVINGS {
            if self.cancel.is_cancelled() {
                break;
            }
            let middle = 0.5 * (near + far);
            match self.turn(c, middle, found) {
                0.0 => return true,
                turned if turned == direction => near = middle,
                _ => far = middle,
            }
        }
        self.prices[c] != begun
    }

    /// Decodes at another price; the direction there.
    fn turn(&mut self, c: usize, price: f64, found: &mut impl FnMut(&Found)) -> f64 {
        self.prices[c] = within(self.counters[c], price);
        self.decode();
        found(&self.latest);
        self.direction(c)
    }

    fn decode(&mut self) {
        let states = self.counters.first().map_or(0, |counter| counter.increments.len());
        let priced = |state: usize| {
            let prices = self.counters.iter().zip(&self.prices);
            prices.map(|(counter, price)| price * f64::from(counter.increments[state])).sum()
        };
        self.viterbi.shift = (0..states).map(priced).collect();
        self.viterbi.run();
        self.latest = Found::decoded(self.viterbi);
    }
}

/// The nearest sensible price: pay only for totals bounded from below, charge only for totals
/// bounded from above.
fn within(counter: &Counter, price: f64) -> f64 {
    let least = if counter.highest == i64::MAX { 0.0 } else { f64::NEG_INFINITY };
    let most = if counter.lowest == i64::MIN { 0.0 } else { f64::INFINITY };
    price.clamp(least, most)
}

/// The cost of a total beyond its bound: the price pays for more than is needed.
pub(super) fn slack(counter: &Counter, price: f64, total: i64) -> f64 {
    let bound = if price > 0.0 { counter.lowest } else { counter.highest };
    if price == 0.0 { 0.0 } else { price * (total - bound) as f64 }
}
