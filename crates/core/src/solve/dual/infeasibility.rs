//! Proofs that no distribution meets the measurements.

use super::program::DualProgram;
use crate::energy::Kind;
use crate::solve::certificate::rounding;
use crate::solve::engine::Engine;
use crate::solve::point::Point;

/// A constant that breaks its constraint by less is taken to hold.
const ROUNDED: f64 = 1e-9;
/// How much larger than any score the tilt of a proof is: constraints that miss by a
/// hundred-millionth are still told from rounding.
const STRETCH: f64 = 1e8;

impl DualProgram {
    /// Looks for a proof that the hard constraints cannot hold.
    ///
    /// Let `λ` be the hard multipliers alone. Every distribution that meets the constraints has
    /// `λ·z ≤ 0`, so `A(θ − s·Σ λ_j a_j) ≥ lowest score + s·λ·b` for all `s ≥ 0`. A log-partition
    /// below that is the proof; a diverging dual leads to such a `λ`.
    pub fn is_infeasible(
        &self,
        engine: &mut Engine,
        unknowns: &[f64],
        scratch: &mut Option<Point>,
    ) -> bool {
        let rows = self.rows();
        let point = scratch.get_or_insert_with(|| Point::new(engine.coordinates()));
        point.tilt.fill(0.0);
        let (mut offset, mut gross) = (0.0, 0.0);
        for (measurement, multiplier) in self.multipliers(unknowns).enumerate() {
            if self.penalty(measurement).is_hard() {
                rows.add_row(measurement, -multiplier, &mut point.tilt);
                offset += multiplier * rows.offset(measurement);
                let terms = self.largest[measurement] + rows.offset_size(measurement);
                gross += multiplier.abs() * terms;
            }
        }
        let size = point.tilt.iter().fold(offset.abs(), |m, t| m.max(t.abs()));
        if size == 0.0 || engine.lowest_score == f64::NEG_INFINITY {
            return false;
        }
        let scores = 1.0 + engine.lowest_score.abs() + engine.base.log_partition.abs();
        let stretch = STRETCH * scores / size;
        point.tilt.iter_mut().for_each(|t| *t *= stretch);
        let log_partition = engine.call(&point.tilt, &mut point.marginals);
        let least = engine.lowest_score + stretch * offset;
        // Scores are sums over the tables of tilts that are sums over the rows: so is their
        // rounding.
        let summed = stretch * gross * (1 + engine.tables()) as f64;
        log_partition < least - rounding(summed) - 1e-10 * (least.abs() + log_partition.abs())
    }

    /// Whether a hard constraint that no variable takes part in is broken.
    pub fn breaks_a_constant(&self) -> bool {
        let is_constant = |measurement: &usize| self.largest[*measurement] == 0.0;
        (0..self.largest.len()).filter(is_constant).any(|measurement| {
            self.penalty(measurement).violation(self.measure(measurement, &[])) > ROUNDED
        })
    }

    /// Whether a Poisson count was observed where nothing can be: where even tilts that put all
    /// mass on the configurations with the greatest `z` leave it at zero or below.
    pub fn observes_the_impossible(
        &self,
        engine: &mut Engine,
        marginals: &[f64],
        scratch: &mut Option<Point>,
    ) -> bool {
        let is_zero = |measurement: &usize| self.measure(*measurement, marginals) <= 0.0;
        let counts = self.measurements.of_kind(Kind::Poisson);
        let zeros: Vec<usize> = counts.filter(is_zero).collect();
        zeros.into_iter().any(|measurement| {
            // What is not looked at before time is up counts as possible, and so does what was
            // looked at by a call that was cut off.
            !engine.is_cancelled()
                && !self.can_be_positive(engine, measurement, scratch)
                && !engine.is_cancelled()
        })
    }

    fn can_be_positive(
        &self,
        engine: &mut Engine,
        measurement: usize,
        scratch: &mut Option<Point>,
    ) -> bool {
        let (rows, largest) = (self.rows(), self.largest[measurement]);
        let scores = 1.0 + engine.lowest_score.abs().min(1e6) + engine.base.log_partition.abs();
        let point = scratch.get_or_insert_with(|| Point::new(engine.coordinates()));
        [1e2, 1e5, 1e8, 1e11].into_iter().filter(|_| largest > 0.0).any(|stretch| {
            point.tilt.fill(0.0);
            rows.add_row(measurement, stretch * scores / largest, &mut point.tilt);
            engine.call(&point.tilt, &mut point.marginals);
            rows.measure(measurement, &point.marginals) > 0.0
        })
    }
}
