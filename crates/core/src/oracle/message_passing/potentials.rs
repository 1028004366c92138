//! Log-potentials under a tilt, and the messages that a region sends under them.

use super::messages::{add_message, sum_out};
use super::regions::{Home, Regions};

/// Potentials with a tilt, as the updates read them.
#[derive(Clone, Debug)]
pub(super) struct Potentials {
    /// `θ_v`. `[states of all variables]`
    pub nodes: Vec<f64>,
    /// `θ_c`. `[cells]`
    pub regions: Vec<f64>,
    /// `θ_c/ρ_c`. `[cells]`
    pub scaled: Vec<f64>,
    /// `exp(θ_c/ρ_c − highest)` of pairs of variables; regions that do without have none. `[cells]`
    kernels: Vec<f64>,
    /// `[regions]`
    has_kernel: Vec<bool>,
}

/// Widest range of scores of a kernel, so that sums of exponentials are exact up to rounding.
const RANGE: f64 = 500.0;
/// A sum below this may have lost terms that underflowed.
const LEAST_SUM: f64 = 1e-200;

impl Potentials {
    pub fn new(regions: &Regions) -> Self {
        Self {
            nodes: regions.node_potentials.clone(),
            regions: regions.region_potentials.clone(),
            scaled: vec![0.0; regions.cells],
            kernels: vec![0.0; regions.cells],
            has_kernel: vec![false; regions.list.len()],
        }
    }

    /// `temperature⁻¹·(θ + tilt)`
    pub fn tilt(&mut self, regions: &Regions, appearance: &[f64], tilt: &[f64], coldness: f64) {
        self.nodes.copy_from_slice(&regions.node_potentials);
        self.regions.copy_from_slice(&regions.region_potentials);
        for block in regions.support.blocks() {
            let tilt = &tilt[block.range()];
            for &table in &block.tables {
                match &regions.homes[table] {
                    Home::Node(v) => add(&mut self.nodes[regions.states(*v)], tilt),
                    Home::Whole(c) => add(&mut self.regions[regions.list[*c].range()], tilt),
                    Home::Part(c, cells) => {
                        let target = &mut self.regions[regions.list[*c].range()];
                        target.iter_mut().zip(cells).for_each(|(sum, &cell)| *sum += tilt[cell]);
                    }
                }
            }
        }
        if coldness != 1.0 {
            self.nodes.iter_mut().chain(&mut self.regions).for_each(|p| *p *= coldness);
        }
        self.rescale(regions, appearance);
    }

    /// Updates after a change of the appearance probabilities.
    pub fn rescale(&mut self, regions: &Regions, appearance: &[f64]) {
        for (index, (region, &rho)) in regions.list.iter().zip(appearance).enumerate() {
            let scaled = &mut self.scaled[region.range()];
            let (mut low, mut high) = (f64::INFINITY, f64::NEG_INFINITY);
            for (scaled, own) in scaled.iter_mut().zip(&self.regions[region.range()]) {
                *scaled = own / rho;
                if *scaled > f64::NEG_INFINITY {
                    (low, high) = (low.min(*scaled), high.max(*scaled));
                }
            }
            let has_kernel = region.shape.len() == 2 && high - low <= RANGE;
            self.has_kernel[index] = has_kernel;
            if has_kernel {
                let kernel = &mut self.kernels[region.range()];
                kernel.iter_mut().zip(scaled).for_each(|(k, s)| *k = (*s - high).exp());
            }
        }
    }

    /// A region's message about one axis, from the messages of the other axes. Its greatest entry
    /// becomes 0; impossible states have `-∞`.
    pub fn collect(
        &self,
        (regions, index): (&Regions, usize),
        axis: usize,
        outward: &[f64],
        (scores, message): (&mut [f64], &mut [f64]),
    ) {
        let region = &regions.list[index];
        let own = &outward[region.message(1 - axis.min(1))];
        let is_collected = self.has_kernel[index]
            && multiply(&self.kernels[region.range()], axis, own, (&mut *scores, &mut *message));
        if !is_collected {
            scores.copy_from_slice(&self.scaled[region.range()]);
            for other in (0..region.shape.len()).filter(|&other| other != axis) {
                add_message(region, other, outward, scores);
            }
            sum_out(region, axis, scores, message);
        }
        let highest = message.iter().copied().fold(f64::NEG_INFINITY, f64::max);
        if highest.is_finite() {
            message.iter_mut().for_each(|m| *m -= highest);
        }
    }
}

/// The message of a pair of variables, as a product of its kernel and the exponentials of the other
/// variable's message. Returns whether nothing underflowed.
fn multiply(
    kernel: &[f64],
    axis: usize,
    outward: &[f64],
    (weights, message): (&mut [f64], &mut [f64]),
) -> bool {
    let others = outward.len();
    let highest = outward.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    let weights = &mut weights[..others];
    weights.iter_mut().zip(outward).for_each(|(w, m)| *w = (m - highest).exp());
    if axis == 0 {
        for (sum, row) in message.iter_mut().zip(kernel.chunks_exact(others)) {
            *sum = row.iter().zip(&*weights).map(|(k, w)| k * w).sum();
        }
    } else {
        message.fill(0.0);
        for (row, weight) in kernel.chunks_exact(message.len()).zip(&*weights) {
            message.iter_mut().zip(row).for_each(|(sum, k)| *sum += k * weight);
        }
    }
    let is_sound = message.iter().all(|sum| *sum > LEAST_SUM);
    if is_sound {
        message.iter_mut().for_each(|sum| *sum = sum.ln());
    }
    is_sound
}

fn add(target: &mut [f64], values: &[f64]) {
    target.iter_mut().zip(values).for_each(|(sum, value)| *sum += value);
}
