//! Appearance probabilities that make the bound on the log-partition low.

use super::MessagePassing;
use super::forests::Appearance;

/// Steps of the conditional gradient that finds appearance probabilities …
const STEPS: usize = 8;
/// … of which this part stays the even start, so that no table's probability is next to nothing …
const EVEN_SHARE: f64 = 0.2;
/// … until so many nats at most are to be won, per nat of the bound.
const GAIN: f64 = 1e-4;
/// A step that must be shorter is not worth taking.
const LEAST_SHARE: f64 = 0.01;
/// How far messages are passed meanwhile.
const ROUGH_RESIDUAL: f64 = 1e-6;

impl MessagePassing {
    /// Conditional gradient on the appearance probabilities: the bound's slope in `ρ_c` is `−I_c`, so a
    /// heaviest forest by `I_c` is where to go.
    pub(super) fn tighten(&mut self) {
        let even = self.appearance.clone();
        let zero = vec![0.0; self.tilt.len()];
        self.potentials.tilt(&self.regions, &self.appearance.regions, &zero, 1.0);
        let mut bound = self.rough_bound();
        let mut share = 0.5;
        for _ in 0..STEPS {
            let weights = self.beliefs.correlations.clone();
            let mut target = Appearance::heaviest(&self.regions, &weights);
            target.approach(&even, EVEN_SHARE);
            let pairs = target.regions.iter().zip(&self.appearance.regions).zip(&weights);
            let gain: f64 = pairs.map(|((target, own), weight)| weight * (target - own)).sum();
            let worthwhile = gain > GAIN * bound.abs().max(1.0);
            if !worthwhile || share < LEAST_SHARE {
                break;
            }
            let before = self.clone();
            self.appearance.approach(&target, share);
            self.potentials.rescale(&self.regions, &self.appearance.regions);
            let lower = self.rough_bound();
            if lower < bound {
                bound = lower;
                share = (1.5 * share).min(0.5);
            } else {
                *self = before;
                share *= 0.3;
            }
        }
        self.residual = f64::INFINITY;
    }

    fn rough_bound(&mut self) -> f64 {
        self.pass_messages(ROUGH_RESIDUAL);
        let model = (&*self.regions, &self.appearance);
        self.beliefs.read(model, &self.potentials, &mut self.messages);
        self.bound.value(model, &self.potentials, &self.messages.outward)
    }
}
