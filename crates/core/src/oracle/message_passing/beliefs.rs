//! Beliefs that agree exactly, and what they are worth.

use super::forests::Appearance;
use super::messages::{Messages, add_message};
use super::potentials::Potentials;
use super::regions::{Home, Region, Regions};

/// Rounds of proportional fitting that bring a region's belief to its variables' beliefs.
const FITTINGS: usize = 4;
/// The same where forbidden cells keep what is left from being spread out.
const CAREFUL_FITTINGS: usize = 50;
/// Beliefs of a region with forbidden cells that miss their variables' by more than this are not
/// worth anything.
const TOLERABLE: f64 = 1e-5;

/// A point of the local polytope.
#[derive(Clone, Debug)]
pub(super) struct Beliefs {
    /// `b_v`. `[states of all variables]`
    pub nodes: Vec<f64>,
    /// `b_c`. `[cells]`
    pub regions: Vec<f64>,
    /// `I_c`. `[regions]`
    pub correlations: Vec<f64>,
    /// What agreement would still cost, to first order: not 0 only where forbidden cells keep a
    /// region from agreeing with its variables, infinite where it is far from that.
    pub disagreement: f64,
    /// `⟨θ, b⟩ + Σ_v H(b_v) − Σ_c ρ_c I_c(b)`
    pub value: f64,
    /// The sizes of its terms: its rounding follows them.
    pub size: f64,
    /// Marginals of a region. `[largest cardinality]`
    sums: Vec<f64>,
}

impl Beliefs {
    pub fn new(regions: &Regions) -> Self {
        let states = regions.cardinalities.iter().copied().max().unwrap_or(0);
        Self {
            nodes: vec![0.0; regions.node_potentials.len()],
            regions: vec![0.0; regions.cells],
            correlations: vec![0.0; regions.list.len()],
            disagreement: 0.0,
            value: 0.0,
            size: 0.0,
            sums: vec![0.0; states],
        }
    }

    /// Takes variables' beliefs from the messages, and regions' beliefs as near to those that
    /// messages imply as agreement allows.
    pub fn read(
        &mut self,
        (regions, appearance): (&Regions, &Appearance),
        potentials: &Potentials,
        messages: &mut Messages,
    ) {
        for (belief, log) in self.nodes.iter_mut().zip(&messages.log_beliefs) {
            *belief = log.exp();
        }
        for variable in 0..regions.variables() {
            let states = &mut self.nodes[regions.states(variable)];
            let total: f64 = states.iter().sum();
            states.iter_mut().for_each(|b| *b /= total);
        }
        self.disagreement = 0.0;
        for (index, region) in regions.list.iter().enumerate() {
            let scores = &mut messages.scores[..region.cells];
            scores.copy_from_slice(&potentials.scaled[region.range()]);
            for axis in 0..region.shape.len() {
                add_message(region, axis, &messages.outward, scores);
            }
            let highest = scores.iter().copied().fold(f64::NEG_INFINITY, f64::max);
            let own = &mut self.regions[region.range()];
            let mut total = 0.0;
            for (belief, score) in own.iter_mut().zip(&*scores) {
                *belief = (score - highest).exp();
                total += *belief;
            }
            own.iter_mut().for_each(|b| *b /= total);
            let missing = fit(region, own, (regions, &self.nodes), &mut self.sums);
            if missing.is_nan() || missing > 0.0 {
                let price = appearance.regions[index] * price(region, &messages.outward);
                self.disagreement +=
                    if missing <= TOLERABLE { missing * price } else { f64::INFINITY };
            }
        }
        self.weigh(regions, appearance, potentials);
    }

    fn weigh(&mut self, regions: &Regions, appearance: &Appearance, potentials: &Potentials) {
        let (mut value, mut size) = (0.0, 0.0);
        let mut add = |term: f64| {
            value += term;
            size += term.abs();
        };
        for (b, p) in self.nodes.iter().zip(&potentials.nodes).filter(|(b, _)| **b > 0.0) {
            add(b * p);
            add(-b * b.ln());
        }
        for (index, region) in regions.list.iter().enumerate() {
            let own = &self.regions[region.range()];
            let theta = &potentials.regions[region.range()];
            own.iter().zip(theta).filter(|(b, _)| **b > 0.0).for_each(|(b, p)| add(b * p));
            let alone: f64 =
                region.scope.iter().map(|&v| entropy(&self.nodes[regions.states(v)])).sum();
            let correlation = (alone - entropy(own)).max(0.0);
            self.correlations[index] = correlation;
            add(-appearance.regions[index] * correlation);
        }
        (self.value, self.size) = (value, size);
    }

    /// Writes the marginals of a base table.
    pub fn table(&self, regions: &Regions, table: usize, target: &mut Vec<f64>) {
        target.clear();
        match &regions.homes[table] {
            Home::Node(v) => target.extend(&self.nodes[regions.states(*v)]),
            Home::Whole(c) => target.extend(&self.regions[regions.list[*c].range()]),
            Home::Part(c, cells) => {
                let size = cells.iter().max().map_or(0, |&cell| cell + 1);
                target.resize(size, 0.0);
                let own = &self.regions[regions.list[*c].range()];
                cells.iter().zip(own).for_each(|(&cell, b)| target[cell] += b);
            }
        }
    }
}

fn entropy(probabilities: &[f64]) -> f64 {
    probabilities.iter().filter(|p| **p > 0.0).map(|p| -p * p.ln()).sum()
}

/// What a unit of probability in the wrong place is worth: the messages are the multipliers of
/// agreement.
fn price(region: &Region, outward: &[f64]) -> f64 {
    let range = |axis: usize| {
        let message = &outward[region.message(axis)];
        let finite = message.iter().copied().filter(|m| m.is_finite());
        let (low, high) = finite
            .fold((f64::INFINITY, f64::NEG_INFINITY), |(low, high), m| (low.min(m), high.max(m)));
        (high - low).max(0.0)
    };
    1.0 + (0..region.shape.len()).map(range).sum::<f64>()
}

/// Gives a region's belief the marginals that its variables have; the probability that is missing.
///
/// Proportional fitting comes close; what then is too much is scaled down, what is missing is added
/// as a product of what each variable misses. No cell that is forbidden gets anything: where there
/// are such cells, fitting alone must do.
fn fit(
    region: &Region,
    belief: &mut [f64],
    (regions, nodes): (&Regions, &[f64]),
    sums: &mut [f64],
) -> f64 {
    let fittings = if region.has_holes { CAREFUL_FITTINGS } else { FITTINGS };
    for _ in 0..fittings {
        let mut off = 0.0f64;
        for (axis, &v) in region.scope.iter().enumerate() {
            let wanted = &nodes[regions.states(v)];
            marginal(region, axis, belief, sums);
            for (sum, wanted) in sums.iter_mut().zip(wanted) {
                off += (*sum - wanted).abs();
                *sum = if *sum > 0.0 { wanted / *sum } else { 0.0 };
            }
            scale(region, axis, belief, sums);
        }
        if off <= f64::EPSILON {
            break;
        }
    }
    for (axis, &v) in region.scope.iter().enumerate() {
        marginal(region, axis, belief, sums);
        for (sum, wanted) in sums.iter_mut().zip(&nodes[regions.states(v)]) {
            *sum = if *sum > *wanted { wanted / *sum } else { 1.0 };
        }
        scale(region, axis, belief, sums);
    }
    let missing = 1.0 - belief.iter().sum::<f64>();
    let is_spread = !region.has_holes && missing > f64::EPSILON;
    if is_spread { spread(region, belief, (regions, nodes), missing) } else { missing }
}

/// Adds the product of what each variable misses, which is the same in all.
fn spread(
    region: &Region,
    belief: &mut [f64],
    (regions, nodes): (&Regions, &[f64]),
    missing: f64,
) -> f64 {
    let mut added = vec![missing; belief.len()];
    for (axis, &v) in region.scope.iter().enumerate() {
        let mut lacks = vec![0.0; region.shape[axis]];
        marginal(region, axis, belief, &mut lacks);
        for (lack, wanted) in lacks.iter_mut().zip(&nodes[regions.states(v)]) {
            *lack = (wanted - *lack).max(0.0);
        }
        let total: f64 = lacks.iter().sum();
        lacks.iter_mut().for_each(|lack| *lack /= total);
        scale(region, axis, &mut added, &lacks);
    }
    let finite = added.iter().all(|a| a.is_finite());
    if finite {
        belief.iter_mut().zip(added).for_each(|(b, a)| *b += a);
    }
    if finite { 0.0 } else { missing }
}

fn marginal(region: &Region, axis: usize, belief: &[f64], sums: &mut [f64]) {
    sums.fill(0.0);
    region.runs(axis, |cells, state| sums[state] += belief[cells].iter().sum::<f64>());
}

fn scale(region: &Region, axis: usize, belief: &mut [f64], factors: &[f64]) {
    region.runs(axis, |cells, state| {
        belief[cells].iter_mut().for_each(|b| *b *= factors[state]);
    });
}
