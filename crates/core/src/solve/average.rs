use super::certificate::{Roundings, rounding};
use super::engine::Engine;
use super::point::Point;
use crate::oracle::Tables;
use crate::vector::approach;

/// A running average of iterates, with a bound on its objective.
///
/// `−H − ⟨θ, ·⟩` is convex and equals `⟨δ_k, μ_k⟩ − A_k` at an iterate, so its average bounds it at
/// the average; the energy is exact there.
pub(super) struct Average {
    /// The average marginals, and once it is asked for, the energy there; NaN before. The average has
    /// no tilt of its own.
    pub point: Point,
    /// Average of `⟨δ_k, μ_k⟩ − A_k`.
    negative_entropy: f64,
    /// Average of the sizes of these terms: the rounding of their average follows it.
    size: f64,
    roundings: Roundings,
    /// Marginals of the tables that the answer shows, one after another.
    pub tables: Vec<f64>,
    shown: Tables,
}

impl Average {
    pub fn new(coordinates: usize, shown: Tables) -> Self {
        Self {
            point: Point::new(coordinates),
            negative_entropy: 0.0,
            size: 0.0,
            roundings: Roundings::default(),
            tables: Vec::new(),
            shown,
        }
    }

    /// Moves the average by `share` towards the point that the oracle was called for last; it is not
    /// evaluated there.
    pub fn add(&mut self, engine: &mut Engine, point: &Point, share: f64) {
        let own = point.without_energy();
        self.negative_entropy += share * (own - self.negative_entropy);
        self.roundings = self.roundings.after(share);
        self.size += share * (point.objective_size() - self.size);
        let (tables, mut at) = (&mut self.tables, 0);
        engine.oracle.visit_marginals(self.shown, &mut |_, values| {
            if tables.len() < at + values.len() {
                tables.resize(at + values.len(), 0.0);
            }
            approach(&mut tables[at..at + values.len()], share, values);
            at += values.len();
        });
        approach(&mut self.point.marginals, share, &point.marginals);
        self.point.energy = f64::NAN;
    }

    /// Brings energy and gradient at the average up to date.
    pub fn evaluate(&mut self, engine: &mut Engine) {
        if self.point.energy.is_nan() {
            self.point.read_energy(engine.energies);
        }
    }

    /// What the objective may be off by.
    pub fn rounding(&self) -> f64 {
        rounding(self.roundings.grown(self.size) + self.point.size_of_energy())
    }

    /// An upper bound on `F` at the average, once that is evaluated.
    pub fn objective(&self) -> f64 {
        self.negative_entropy + self.point.energy
    }
}
