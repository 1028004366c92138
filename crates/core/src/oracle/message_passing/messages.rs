//! Message passing: `λ_cv(x_v) = log Σ_{x_c∖v} exp(θ_c/ρ_c + Σ_{u≠v} η_cu)`, `η_cv = log b_v −
//! λ_cv`.
//!
//! `b_v ∝ exp(θ_v + Σ_c ρ_c λ_cv)` is a variable's belief, `b_c ∝ exp(θ_c/ρ_c + Σ_v η_cv)` a
//! region's. At a fixed point the beliefs agree and are the stationary point of `⟨θ, b⟩ + Σ_v
//! H(b_v) − Σ_c ρ_c I_c(b)`. With `ρ = 1` this is plain belief propagation.

use super::potentials::Potentials;
use super::regions::{Region, Regions};

/// The state of message passing, and room to work in.
#[derive(Clone, Debug)]
pub(super) struct Messages {
    /// `λ_cv`, from regions to variables; the greatest is 0. `[entries]`
    pub inward: Vec<f64>,
    /// `η_cv`, from variables to regions. `[entries]`
    pub outward: Vec<f64>,
    /// `log b_v`. `[states of all variables]`
    pub log_beliefs: Vec<f64>,
    /// Scores of one region's cells. `[largest region]`
    pub scores: Vec<f64>,
    /// A message being made. `[largest cardinality]`
    fresh: Vec<f64>,
    /// A variable's belief being made. `[largest cardinality]`
    belief: Vec<f64>,
}

impl Messages {
    pub fn new(regions: &Regions) -> Self {
        let states = regions.cardinalities.iter().copied().max().unwrap_or(0);
        let cells = regions.list.iter().map(|region| region.cells).max().unwrap_or(0);
        let mut messages = Self {
            inward: vec![0.0; regions.entries],
            outward: vec![0.0; regions.entries],
            log_beliefs: vec![0.0; regions.node_potentials.len()],
            scores: vec![0.0; cells],
            fresh: vec![0.0; states],
            belief: vec![0.0; states],
        };
        messages.reset(regions, &regions.node_potentials);
        messages
    }

    /// Resets all messages.
    pub fn reset(&mut self, regions: &Regions, nodes: &[f64]) {
        self.inward.fill(0.0);
        for variable in 0..regions.variables() {
            let states = regions.states(variable);
            let belief = &mut self.log_beliefs[states.clone()];
            belief.copy_from_slice(&nodes[states]);
            normalise(belief);
            for &(c, axis) in &regions.around[variable] {
                self.outward[regions.list[c].message(axis)].copy_from_slice(belief);
            }
        }
    }

    /// Whether every number that should be finite is.
    pub fn is_sound(&self) -> bool {
        let numbers = || self.outward.iter().chain(&self.log_beliefs);
        numbers().all(|v| !v.is_nan() && *v < f64::INFINITY)
    }

    /// Updates the messages around a variable, moving `share` of the way. Returns how much its
    /// belief would change in a full update, as total variation.
    pub fn update(
        &mut self,
        (regions, appearance): (&Regions, &[f64]),
        potentials: &Potentials,
        variable: usize,
        share: f64,
    ) -> f64 {
        let states = regions.states(variable);
        let count = states.len();
        let nodes = &potentials.nodes[states.clone()];
        self.belief[..count].copy_from_slice(nodes);
        for &(c, axis) in &regions.around[variable] {
            let region = &regions.list[c];
            let scores = &mut self.scores[..region.cells];
            let fresh = &mut self.fresh[..count];
            potentials.collect((regions, c), axis, &self.outward, (scores, &mut *fresh));
            let inward = &mut self.inward[region.message(axis)];
            let rho = appearance[c];
            for (belief, fresh) in self.belief[..count].iter_mut().zip(&*fresh) {
                *belief += rho * fresh;
            }
            blend(inward, fresh, share);
        }
        normalise(&mut self.belief[..count]);
        let old = &mut self.log_beliefs[states];
        let moved: f64 =
            self.belief[..count].iter().zip(&*old).map(|(a, b)| (a.exp() - b.exp()).abs()).sum();
        if share < 1.0 {
            let belief = &mut self.belief[..count];
            belief.copy_from_slice(nodes);
            for &(c, axis) in &regions.around[variable] {
                let inward = &self.inward[regions.list[c].message(axis)];
                belief.iter_mut().zip(inward).for_each(|(b, m)| *b += appearance[c] * m);
            }
            normalise(belief);
        }
        old.copy_from_slice(&self.belief[..count]);
        for &(c, axis) in &regions.around[variable] {
            let message = regions.list[c].message(axis);
            let (outward, inward) = (&mut self.outward[message.clone()], &self.inward[message]);
            for ((outward, belief), inward) in outward.iter_mut().zip(&*old).zip(inward) {
                *outward = if *belief == f64::NEG_INFINITY { *belief } else { belief - inward };
            }
        }
        0.5 * moved
    }
}

/// Adds an axis's message to every cell of a region.
pub(super) fn add_message(region: &Region, axis: usize, outward: &[f64], scores: &mut [f64]) {
    let message = &outward[region.message(axis)];
    region.runs(axis, |cells, state| {
        scores[cells].iter_mut().for_each(|score| *score += message[state]);
    });
}

/// `log Σ exp` of the scores of each state of an axis.
pub(super) fn sum_out(region: &Region, axis: usize, scores: &[f64], sums: &mut [f64]) {
    let (before, after) = region.split(axis);
    let states = region.shape[axis];
    for (state, sum) in sums[..states].iter_mut().enumerate() {
        let runs = || (0..before).map(|b| &scores[(b * states + state) * after..][..after]);
        let highest = runs().flatten().copied().fold(f64::NEG_INFINITY, f64::max);
        *sum = if highest.is_finite() {
            highest + runs().flatten().map(|s| (s - highest).exp()).sum::<f64>().ln()
        } else {
            highest
        };
    }
}

/// Subtracts `log Σ exp`, which is returned.
pub(super) fn normalise(scores: &mut [f64]) -> f64 {
    let total = log_sum(scores);
    if total.is_finite() {
        scores.iter_mut().for_each(|s| *s -= total);
    }
    total
}

/// `log Σ exp`
pub(super) fn log_sum(scores: &[f64]) -> f64 {
    let highest = scores.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    if !highest.is_finite() {
        return highest;
    }
    highest + scores.iter().map(|s| (s - highest).exp()).sum::<f64>().ln()
}

/// Moves a message part of the way; entries that were or become `-∞` are replaced.
fn blend(message: &mut [f64], fresh: &[f64], share: f64) {
    for (old, &new) in message.iter_mut().zip(fresh) {
        let mixed = *old + share * (new - *old);
        *old = if share < 1.0 && mixed.is_finite() { mixed } else { new };
    }
}
