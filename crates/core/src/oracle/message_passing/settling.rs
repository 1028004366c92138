//! Message passing until beliefs agree, with descent on the bound if that is not enough.

use super::acceleration::Acceleration;
use super::bound::Descent;
use super::pace::{Judgement, Pace};
use super::{Entropy, FIXED, MessagePassing};

/// Message passing stops when no belief would change by more than this.
const RESIDUAL: f64 = 1e-11;
/// Passes over all variables and back before descent is tried.
const PASSES: usize = 300;
/// Passes before messages are extrapolated: forests need none.
const PLAIN_PASSES: usize = 3;
/// Most rounds of descent and message passing …
const ROUNDS: usize = 8;
/// … and most rounds without progress.
const IDLE_ROUNDS: usize = 3;
/// Steps of the first descent; the next ones are longer.
const DESCENT: usize = 100;
/// A log-partition is known well enough if the bound is off by this fraction of its size.
const SLACK: f64 = 1e-11;

impl MessagePassing {
    /// Passes messages back and forth until they hardly change or fail to settle.
    pub(super) fn pass_messages(&mut self, enough: f64) {
        if !self.messages.is_sound() {
            self.messages.reset(&self.regions, &self.potentials.nodes);
        }
        let mut pace = Pace::new();
        let mut acceleration = Acceleration::default();
        let mut start = self.messages.outward.clone();
        for pass in 0..PASSES {
            self.residual = self.pass(pace.share);
            if self.residual.is_nan() || self.residual <= enough || self.cancel.is_cancelled() {
                return;
            }
            match pace.judge(self.residual) {
                Judgement::GoOn if pass >= PLAIN_PASSES && pace.share == 1.0 => {
                    acceleration.extrapolate(&start, &mut self.messages.outward);
                }
                Judgement::GoOn => {}
                Judgement::Restart => acceleration.forget(),
                Judgement::GiveUp => return,
            }
            start.copy_from_slice(&self.messages.outward);
        }
    }

    /// Updates every variable, forwards and backwards. Returns how much some belief would change.
    fn pass(&mut self, share: f64) -> f64 {
        let model = (&*self.regions, &self.appearance.regions[..]);
        let mut residual = 0.0;
        for &variable in self.order.iter().rev().chain(&self.order) {
            let moved = self.messages.update(model, &self.potentials, variable, share);
            // A residual that is not a number stays.
            residual = if moved <= residual { residual } else { moved };
        }
        residual
    }

    /// Settles the messages at the current potentials. Returns the log-partition.
    pub(super) fn settle(&mut self) -> f64 {
        if self.regions.is_empty {
            return f64::NEG_INFINITY;
        }
        let regions = self.regions.clone();
        self.pass_messages(RESIDUAL);
        self.beliefs.read((&regions, &self.appearance), &self.potentials, &mut self.messages);
        if self.entropy == Entropy::Bethe {
            return self.beliefs.value + regions.constant;
        }
        let mut upper = self.fresh_bound();
        self.slack = self.slack_at(upper);
        let mut idle = 0;
        for round in 1..=ROUNDS {
            let known = self.slack <= SLACK * upper.abs().max(1.0);
            if known || idle == IDLE_ROUNDS || self.cancel.is_cancelled() {
                break;
            }
            if self.residual > FIXED {
                self.start_over_if_lower();
            }
            let model = (&*regions, &self.appearance);
            let outward = &mut self.messages.outward;
            let pace = Descent { steps: round * DESCENT, cancel: &self.cancel };
            upper = upper.min(self.bound.descend(model, &self.potentials, outward, pace));
            if upper < self.least_value() {
                return f64::NEG_INFINITY;
            }
            self.pass_messages(RESIDUAL);
            let model = (&*regions, &self.appearance);
            self.beliefs.read(model, &self.potentials, &mut self.messages);
            upper = upper.min(self.fresh_bound());
            let before = self.slack;
            self.slack = self.slack_at(upper);
            idle = if self.slack < 0.5 * before { 0 } else { idle + 1 };
        }
        upper + regions.constant
    }

    /// The bound that the messages give.
    fn fresh_bound(&mut self) -> f64 {
        let model = (&*self.regions, &self.appearance);
        self.bound.value(model, &self.potentials, &self.messages.outward)
    }

    /// Whether the messages give a worse bound than no messages at all.
    fn start_over_if_lower(&mut self) {
        let (astray, messages) = (self.fresh_bound(), self.messages.clone());
        self.messages.reset(&self.regions, &self.potentials.nodes);
        if self.fresh_bound() > astray {
            self.messages = messages;
        }
    }

    /// How far the value of the beliefs may be below `upper`, including rounding.
    fn slack_at(&self, upper: f64) -> f64 {
        let rounding = 4.0 * f64::EPSILON * self.beliefs.size;
        (upper - self.beliefs.value).max(0.0) + rounding + self.beliefs.disagreement
    }

    /// No bound can be below this unless the local polytope is empty, since the entropy is not
    /// negative.
    fn least_value(&self) -> f64 {
        let least = |values: &[f64]| {
            values.iter().copied().filter(|v| v.is_finite()).fold(f64::INFINITY, f64::min)
        };
        let regions = &*self.regions;
        let nodes =
            (0..regions.variables()).map(|v| least(&self.potentials.nodes[regions.states(v)]));
        let tables =
            regions.list.iter().map(|region| least(&self.potentials.regions[region.range()]));
        let (mut sum, mut size) = (0.0, 1.0);
        for value in nodes.chain(tables) {
            sum += value;
            size += value.abs();
        }
        sum - 1e-9 * size
    }
}
