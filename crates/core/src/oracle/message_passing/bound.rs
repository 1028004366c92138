//! An upper bound on the log-partition that every message vector gives, and its least value.
//!
//! For any outward messages `η` let `B_cv(x_v) = log Σ_{x_c∖v} exp(θ_c/ρ_c + Σ_u η_cu)`. Then
//!
//! `g(η) = Σ_v r_v log Σ_{x_v} exp((θ_v + Σ_c [a_vc B_cv − ρ_c η_cv]) / r_v)`
//!
//! with `r_v` how often `v` is a root and `a_vc` how often region `c` hangs below `v`. It is the
//! dual of `max_b ⟨θ, b⟩ + Σ_v r_v H(b_v) + Σ_vc a_vc H(b_c | b_v)` over the local polytope,
//! restricted to region terms of product form, which lose nothing. So `g(η)` is at least the
//! tree-reweighted log-partition for every `η`, equal to it at the fixed point of message passing,
//! and convex: sums of exponentials of convex functions. Where message passing alone does not get
//! there, descent does.
//!
//! * Reference: Globerson and Jaakkola (2007), "Convergent propagation algorithms via oriented
//!   trees", for pairs of variables and free region terms; the restriction to messages is ours.

use std::collections::VecDeque;

use super::forests::Appearance;
use super::messages::{add_message, sum_out};
use super::potentials::Potentials;
use super::regions::Regions;
use crate::cancel::Cancel;

/// Past steps that shape a direction.
const REMEMBERED: usize = 12;
/// A step is halved at most this often.
const TRIALS: usize = 30;

/// What the bound is computed in.
#[derive(Clone, Debug)]
pub(super) struct Bound {
    /// `B_cv`. `[entries]`
    sums: Vec<f64>,
    /// What a variable's states add up to, then their probabilities. `[states of all variables]`
    nodes: Vec<f64>,
    /// `∂g/∂η`. `[entries]`
    gradient: Vec<f64>,
    /// Cells of a region. `[largest region]` each
    scores: Vec<f64>,
    weights: Vec<f64>,
}

impl Bound {
    pub fn new(regions: &Regions) -> Self {
        let cells = regions.list.iter().map(|region| region.cells).max().unwrap_or(0);
        Self {
            sums: vec![0.0; regions.entries],
            nodes: vec![0.0; regions.node_potentials.len()],
            gradient: vec![0.0; regions.entries],
            scores: vec![0.0; cells],
            weights: vec![0.0; cells],
        }
    }

    /// `g(η)`
    pub fn value(
        &mut self,
        (regions, appearance): (&Regions, &Appearance),
        potentials: &Potentials,
        outward: &[f64],
    ) -> f64 {
        self.nodes.copy_from_slice(&potentials.nodes);
        for (index, region) in regions.list.iter().enumerate() {
            self.score(regions, index, potentials, outward);
            let rho = appearance.regions[index];
            for (axis, &v) in region.scope.iter().enumerate() {
                let (message, below) = (region.message(axis), appearance.below[index][axis]);
                let sums = &mut self.sums[message.clone()];
                sum_out(region, axis, &self.scores[..region.cells], sums);
                let nodes = &mut self.nodes[regions.states(v)];
                for ((node, sum), eta) in nodes.iter_mut().zip(sums).zip(&outward[message]) {
                    if *node > f64::NEG_INFINITY {
                        *node += below * *sum - rho * eta;
                    }
                }
            }
        }
        let mut value = 0.0;
        for (v, &root) in appearance.roots.iter().enumerate() {
            let nodes = &mut self.nodes[regions.states(v)];
            let highest = nodes.iter().copied().fold(f64::NEG_INFINITY, f64::max);
            let mut total = 0.0;
            for node in &mut *nodes {
                *node = ((*node - highest) / root).exp();
                total += *node;
            }
            nodes.iter_mut().for_each(|node| *node /= total);
            value += highest + root * total.ln();
        }
        value
    }

    /// `∂g/∂η_cv(x_v) = Σ_u a_uc Σ_{x_u} q_u(x_u) b_c(x_v | x_u) − ρ_c q_v(x_v)`, after
    /// [`Bound::value`] at the same messages.
    fn differentiate(
        &mut self,
        (regions, appearance): (&Regions, &Appearance),
        potentials: &Potentials,
        outward: &[f64],
    ) {
        for (index, region) in regions.list.iter().enumerate() {
            self.score(regions, index, potentials, outward);
            let (scores, weights) =
                (&self.scores[..region.cells], &mut self.weights[..region.cells]);
            weights.fill(0.0);
            for (axis, &v) in region.scope.iter().enumerate() {
                let (sums, nodes) =
                    (&self.sums[region.message(axis)], &self.nodes[regions.states(v)]);
                let below = appearance.below[index][axis];
                region.runs(axis, |cells, state| {
                    let (sum, share) = (sums[state], below * nodes[state]);
                    if share > 0.0 {
                        let cells = cells.clone();
                        for (weight, score) in weights[cells.clone()].iter_mut().zip(&scores[cells])
                        {
                            *weight += share * (score - sum).exp();
                        }
                    }
                });
            }
            let rho = appearance.regions[index];
            for (axis, &v) in region.scope.iter().enumerate() {
                let nodes = &self.nodes[regions.states(v)];
                let gradient = &mut self.gradient[region.message(axis)];
                gradient.iter_mut().zip(nodes).for_each(|(g, q)| *g = -rho * q);
                region.runs(axis, |cells, state| {
                    gradient[state] += weights[cells].iter().sum::<f64>();
                });
            }
        }
    }

    fn score(&mut self, regions: &Regions, index: usize, potentials: &Potentials, outward: &[f64]) {
        let region = &regions.list[index];
        let scores = &mut self.scores[..region.cells];
        scores.copy_from_slice(&potentials.scaled[region.range()]);
        for axis in 0..region.shape.len() {
            add_message(region, axis, outward, scores);
        }
    }

    /// Lowers the bound by changing the messages (limited-memory quasi-Newton steps, each of which
    /// must lower it), until the gradient is small, nothing moves, or the steps run out; the bound.
    pub fn descend(
        &mut self,
        model: (&Regions, &Appearance),
        potentials: &Potentials,
        outward: &mut [f64],
        Descent { steps, cancel }: Descent,
    ) -> f64 {
        let mut value = self.value(model, potentials, outward);
        self.differentiate(model, potentials, outward);
        let mut memory = Memory::default();
        let mut trial = outward.to_vec();
        let mut old_gradient = self.gradient.clone();
        for _ in 0..steps {
            if cancel.is_cancelled() {
                break;
            }
            let mut direction = memory.direction(&self.gradient);
            let mut slope = dot(&direction, &self.gradient);
            if slope.is_nan() || slope >= 0.0 {
                memory = Memory::default();
                direction = memory.direction(&self.gradient);
                slope = dot(&direction, &self.gradient);
            }
            if slope.is_nan() || slope >= -1e-15 * value.abs().max(1.0) {
                break;
            }
            old_gradient.copy_from_slice(&self.gradient);
            let mut share = 1.0;
            let mut lower = f64::NAN;
            let mut found = false;
            for _ in 0..TRIALS {
                for ((trial, eta), step) in trial.iter_mut().zip(&*outward).zip(&direction) {
                    *trial = eta + share * step;
                }
                lower = self.value(model, potentials, &trial);
                if lower <= value + 1e-4 * share * slope {
                    found = true;
                    break;
                }
                share *= 0.5;
            }
            if !found {
                break;
            }
            outward.copy_from_slice(&trial);
            value = lower;
            self.differentiate(model, potentials, outward);
            direction.iter_mut().for_each(|d| *d *= share);
            memory.keep(direction, &old_gradient, &self.gradient);
        }
        value
    }
}

/// How far to descend.
#[derive(Clone, Copy)]
pub(super) struct Descent<'a> {
    /// At most this many steps.
    pub steps: usize,
    /// Checked before each.
    pub cancel: &'a Cancel,
}

/// Past steps, and what they did to the gradient.
#[derive(Default)]
struct Memory {
    /// Step, change of the gradient, their product.
    pairs: VecDeque<(Vec<f64>, Vec<f64>, f64)>,
}

impl Memory {
    fn keep(&mut self, step: Vec<f64>, old: &[f64], new: &[f64]) {
        let change: Vec<f64> = new.iter().zip(old).map(|(new, old)| new - old).collect();
        let product = dot(&step, &change);
        if product > 1e-14 * (dot(&step, &step) * dot(&change, &change)).sqrt() {
            if self.pairs.len() == REMEMBERED {
                self.pairs.pop_front();
            }
            self.pairs.push_back((step, change, product));
        }
    }

    /// The two-loop recursion.
    fn direction(&self, gradient: &[f64]) -> Vec<f64> {
        let mut direction: Vec<f64> = gradient.iter().map(|g| -g).collect();
        let mut shares = Vec::with_capacity(self.pairs.len());
        for (step, change, product) in self.pairs.iter().rev() {
            let share = dot(step, &direction) / product;
            direction.iter_mut().zip(change).for_each(|(d, c)| *d -= share * c);
            shares.push(share);
        }
        let scale = match self.pairs.back() {
            Some((_, change, product)) => product / dot(change, change),
            None => 1.0 / dot(gradient, gradient).sqrt().max(1.0),
        };
        direction.iter_mut().for_each(|d| *d *= scale);
        for ((step, change, product), share) in self.pairs.iter().zip(shares.iter().rev()) {
            let back = dot(change, &direction) / product;
            direction.iter_mut().zip(step).for_each(|(d, s)| *d += (share - back) * s);
        }
        direction
    }
}

fn dot(a: &[f64], b: &[f64]) -> f64 {
    a.iter().zip(b).map(|(a, b)| a * b).sum()
}
