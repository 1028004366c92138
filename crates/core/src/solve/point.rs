use super::summary::{Comparison, Summary};
use crate::energy::{Energies, Valued};
use crate::vector::{Aligned, Entry, Formula, Number, Reduced, pass};

/// A tilt and all that follows from it.
#[derive(Clone, Debug)]
pub(super) struct Point {
    /// `δ`. `[support]`
    pub tilt: Aligned,
    /// `μ(θ + δ)`. `[support]`
    pub marginals: Aligned,
    /// `∇L(μ)`. `[support]`
    pub gradient: Aligned,
    /// `A(θ + δ)`, or an upper bound on it
    pub log_partition: f64,
    /// How far that may be above `⟨θ + δ, μ⟩ + H(μ)`; 0 if the oracle is exact.
    pub slack: f64,
    /// [`Task::score_size`](super::Task::score_size)
    pub score_size: f64,
    /// `L(μ)`
    pub energy: f64,
    /// What its rounding follows, if that is more than its own size.
    energy_size: f64,
    /// `⟨δ, μ⟩`
    tilt_dot: f64,
    /// `⟨∇L(μ), μ⟩`
    gradient_dot: f64,
    /// The sizes of what these sum up.
    tilt_size: f64,
    gradient_size: f64,
    /// `‖δ + ∇L(μ)‖∞`
    residual: f64,
    /// `‖δ‖∞`
    reach: f64,
    /// Number of the oracle call that this point comes from.
    pub call: usize,
}

/// From `δ`, `μ` to `δ′`, `μ′`.
#[derive(Clone, Copy, Debug)]
pub(super) struct Change {
    /// `KL(μ′ ‖ μ)`
    pub divergence: f64,
    /// `⟨∇L(μ), μ′ − μ⟩`
    pub expected: f64,
    /// `⟨∇L(μ′) − ∇L(μ), μ′ − μ⟩`
    pub bend: f64,
    /// `⟨δ′ − δ, μ′ − μ⟩`
    pub travel: f64,
}

/// A larger tilt counts as infinite: probabilities are 0 or 1 long before, and log-partitions of
/// that size leave no digits for an objective.
const TILT_RANGE: f64 = 1e9;

impl Point {
    pub fn new(coordinates: usize) -> Self {
        Self {
            tilt: Aligned::filled(coordinates, 0.0),
            marginals: Aligned::filled(coordinates, 0.0),
            gradient: Aligned::filled(coordinates, 0.0),
            log_partition: f64::NAN,
            slack: 0.0,
            score_size: 0.0,
            energy: f64::NAN,
            energy_size: 0.0,
            tilt_dot: 0.0,
            gradient_dot: 0.0,
            tilt_size: 0.0,
            gradient_size: 0.0,
            residual: f64::NAN,
            reach: 0.0,
            call: 0,
        }
    }

    /// `F(μ) = ⟨δ, μ⟩ − A(θ + δ) + L(μ)`, or an upper bound on it if the oracle has slack.
    pub fn objective(&self) -> f64 {
        self.without_energy() + self.energy
    }

    /// `⟨δ, μ⟩ − A(θ + δ) = −H(μ) − ⟨θ, μ⟩`
    pub fn without_energy(&self) -> f64 {
        self.tilt_dot - self.log_partition + self.slack
    }

    /// `L(μ) − ⟨∇L(μ), μ⟩`: the energy's linearisation at `μ`, taken at zero.
    pub fn linearisation(&self) -> f64 {
        self.energy - self.gradient_dot
    }

    /// `‖δ + ∇L(μ)‖∞`
    pub fn residual(&self) -> f64 {
        self.residual
    }

    /// The size of the terms of the objective, which its rounding follows.
    pub fn objective_size(&self) -> f64 {
        self.tilt_size + self.score_size + self.log_partition.abs() + self.size_of_energy()
    }

    /// The sizes of scores and tilt at the marginals: the rounding of the log-partition follows
    /// them.
    pub fn potential_size(&self) -> f64 {
        self.score_size + self.tilt_size
    }

    /// What the rounding of the energy follows; 0 if there is none.
    pub fn size_of_energy(&self) -> f64 {
        // NaN is less than anything.
        self.energy.abs().max(self.energy_size)
    }

    /// The energy at the marginals, with its gradient.
    pub fn read_energy(&mut self, energies: &mut Energies) {
        let Valued { value, size } = energies.evaluate_sized(&self.marginals, &mut self.gradient);
        (self.energy, self.energy_size) = (value, size);
    }

    /// Whether the next step can be taken from here.
    pub fn is_finite(&self) -> bool {
        let gradient_is_finite = self.gradient_dot.is_finite() && self.residual.is_finite();
        self.energy.is_finite() && gradient_is_finite && self.has_finite_tilt()
    }

    /// Whether the tilt and the oracle's answer are within range.
    pub fn has_finite_tilt(&self) -> bool {
        self.log_partition.is_finite() && self.tilt_dot.is_finite() && self.reach <= TILT_RANGE
    }

    /// The size of the terms of the linearisation.
    pub fn linearisation_size(&self) -> f64 {
        self.size_of_energy() + self.gradient_size
    }

    /// Brings the sums over tilt, marginals and gradient up to date, in one pass.
    pub fn summarise(&mut self) {
        let totals = pass(Summary, [], [&self.tilt, &self.marginals, &self.gradient]);
        [self.tilt_dot, self.gradient_dot, self.tilt_size, self.gradient_size] = totals.sums;
        [self.residual, self.reach] = totals.sizes;
    }

    /// What changed since another point.
    pub fn change_since(&self, old: &Self) -> Change {
        let numbers = [
            &*self.tilt,
            &old.tilt,
            &self.marginals,
            &old.marginals,
            &self.gradient,
            &old.gradient,
        ];
        let Reduced { sums: [travelled, expected, bend, travel], .. } =
            pass(Comparison, [], numbers);
        let divergence = travelled - self.log_partition + old.log_partition;
        Change { divergence, expected, bend, travel }
    }

    pub fn copy_from(&mut self, other: &Self) {
        self.tilt.copy_from_slice(&other.tilt);
        self.marginals.copy_from_slice(&other.marginals);
        self.gradient.copy_from_slice(&other.gradient);
        self.log_partition = other.log_partition;
        self.slack = other.slack;
        self.score_size = other.score_size;
        self.energy = other.energy;
        self.energy_size = other.energy_size;
        self.tilt_dot = other.tilt_dot;
        self.gradient_dot = other.gradient_dot;
        self.tilt_size = other.tilt_size;
        self.gradient_size = other.gradient_size;
        self.residual = other.residual;
        self.reach = other.reach;
        self.call = other.call;
    }
}

/// No probability moves by more than this part under a fixed tilt.
const FIXED: f64 = 1e-5;

/// Whether a residual of this size still matters. A configuration's score changes by at most the
/// residual per table, and the log of a probability by at most twice that.
pub(super) fn is_fixed(residual: f64, tables: usize) -> bool {
    2.0 * residual * tables as f64 <= FIXED
}

/// `KL(p ‖ q)` of the distributions at two points: `⟨δ_p − δ_q, μ_p⟩ − A_p + A_q`.
pub(super) fn divergence(p: &Point, q: &Point) -> f64 {
    let Reduced { sums: [moved], .. } = pass(Travel, [], [&p.tilt, &q.tilt, &p.marginals]);
    moved - p.log_partition + q.log_partition
}

/// `⟨δ_p − δ_q, μ_p⟩`
#[derive(Clone, Copy)]
struct Travel;

impl Formula<0, 3, 1, 0> for Travel {
    #[inline(always)]
    fn at<N: Number>(self, _: [N; 0], [to, from, marginal]: [N; 3]) -> Entry<N, 0, 1, 0> {
        Entry { values: [], products: [[to - from, marginal]], sizes: [] }
    }
}
