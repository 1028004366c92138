//! Appearance probabilities that make the bound on the log-partition low.

use super::MessagePassing;
use super::forests::Appearance;

/// Steps of the conditional gradient that finds appearance probabilities …
const STEPS: usize = 8;
/// … of which this fraction stays the even start, so that no probability vanishes …
const EVEN_SHARE: f64 = 0.2;
/// … until the possible gain is below this fraction of the bound.
const GAIN: f64 = 1e-4;
/// A step that must be shorter is not worth taking.
const LEAST_SHARE: f64 = 0.01;
/// How far messages are passed meanwhile.
const ROUGH_RESIDUAL: f64 = 1e-6;

impl MessagePassing {
    /// Conditional gradient on the appearance probabilities. The slope of the bound in `ρ_c` is
    /// `−I_c`, so each step moves towards a heaviest forest by `I_c`.
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
            if !worthwhile || share < LEAST_SHARE || self.cancel.is_cancelled() {
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

#[cfg(test)]
mod tests {
    use super::super::regions::Regions;
    use super::super::{Entropy, MessagePassing};
    use super::Appearance;
    use crate::model::BaseModel;
    use crate::{Model, Oracle, Support};

    #[test]
    fn the_bound_falls_and_stays_above_the_truth() {
        // Strong couplings in the first row of a grid of three rows, weak ones elsewhere.
        let mut model = Model::new(&[2; 12]).unwrap();
        for site in 0..12 {
            let couple = |model: &mut Model, other: usize, j: f64| {
                model.add_factor(&[site, other], &[j, -j, -j, j]).unwrap();
            };
            if site % 4 < 3 {
                couple(&mut model, site + 1, if site < 4 { 1.5 } else { 0.2 });
            }
            if site < 8 {
                couple(&mut model, site + 4, 0.4);
            }
        }
        let (base, support) = (BaseModel::new(&model, []).unwrap(), Support::new());
        let regions = Regions::new(&base, &support);
        let even = Appearance::even(&regions);
        let untightened =
            MessagePassing::new(regions, even, Entropy::TreeReweighted).tilted(&[], &mut []);
        let tightened = MessagePassing::tree_reweighted(&base, &support).tilted(&[], &mut []);
        let truth = crate::oracle::exact(&base, &support).unwrap().tilted(&[], &mut []);
        assert!(truth <= tightened, "{truth} {tightened}");
        let (before, after) = (untightened - truth, tightened - truth);
        assert!(after < 0.8 * before, "{after} is not much less than {before}");
    }
}
