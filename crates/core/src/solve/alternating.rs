//! Measurements by their dual, everything else by majorisation.
//!
//! `nearest` energies are replaced by the pieces that are lowest at the current marginals, energies
//! known by gradient only (`L_o`) by their linearisation plus `M·KL(· ‖ μ)`. What remains has a
//! dual: potentials `θ + (Mδ − ∇L_o(μ))/(1 + M)` and measurement weights divided by `1 + M`. Solve
//! it, move there, repeat until neither the point nor the pieces change. Up to the error of the
//! dual, `F` never rises.
//!
//! * Needs: anything.
//! * Guarantees: a stationary point; with only `nearest` energies, the optimum of its piece; if
//!   `L_o` is convex and there are no pieces, a certified optimum.
//! * Reference: Appendix C (composite mirror descent) with the measurements in the composite part.

use super::SolveError;
use super::adaptive::{Smoothness, needed_smoothness};
use super::candidate::FEASIBLE;
use super::certificate::{lower_bound, rounding};
use super::dual::Dual;
use super::engine::{Engine, Held, Solver, Step, Verdict};
use super::point::{Point, divergence, is_fixed};
use crate::energy::{Curvature, Measurements};

/// Without other energies, the dual is solved until its gap is this fraction of the tolerance …
const INNER_TOLERANCE: f64 = 0.1;
/// … and with them, until it is this fraction of the distance moved, or lost in rounding.
const INNER_SHARE: f64 = 1e-2;
/// The gap counts as lost in rounding at this many times the error of a single sum, since rounding
/// of successive tilts adds up.
const ROUNDINGS: f64 = 64.0;

pub(super) struct Alternating {
    dual: Dual,
    /// The piece in use of each `nearest` energy.
    pieces: Vec<usize>,
    /// Where the other energies are linearised; energy and gradient are theirs alone.
    anchor: Point,
    /// Where the dual is: energy and gradient of the other energies alone.
    candidate: Point,
    /// Where the dual is, with the full energy.
    shown: Point,
    /// The dual's multipliers there.
    multipliers: Vec<f64>,
    base_tilt: Vec<f64>,
    scratch: Point,
    smoothness: Smoothness,
    convex: bool,
    bound: f64,
    tolerance: f64,
    tables: usize,
}

impl Alternating {
    pub fn start(engine: &mut Engine, tolerance: f64) -> Result<Self, SolveError> {
        let coordinates = engine.coordinates();
        let mut anchor = Point::new(coordinates);
        engine.call_at(&mut anchor);
        anchor.energy = engine.energies.evaluate_others(&anchor.marginals, &mut anchor.gradient);
        anchor.summarise();
        if !anchor.is_finite() {
            let energy = anchor.energy;
            return Err(SolveError::NotFiniteAtStart { solver: "alternating", energy });
        }
        let linearised = !engine.energies.others.is_empty();
        let smoothness = if linearised { Smoothness::FIRST } else { Smoothness::NONE };
        let mut pieces = vec![0; engine.energies.nearest.len()];
        choose_pieces(engine, &anchor.marginals, 0.0, &mut pieces);
        let mut base_tilt = vec![0.0; coordinates];
        find_base_tilt(&anchor, smoothness.value(), &mut base_tilt);
        let measurements = with_pieces(engine, &pieces);
        let convex = matches!(engine.energies.curvature(), Curvature::Convex { .. });
        let dual = Dual::start(engine, measurements, Some(&base_tilt), 1.0 + smoothness.value());
        let mut alternating = Self {
            dual,
            pieces,
            anchor,
            candidate: Point::new(coordinates),
            shown: Point::new(coordinates),
            multipliers: Vec::new(),
            base_tilt,
            scratch: Point::new(coordinates),
            smoothness,
            convex,
            bound: f64::NEG_INFINITY,
            tolerance,
            tables: engine.tables(),
        };
        alternating.read_dual(engine);
        Ok(alternating)
    }

    /// Moves the dual to the current anchor and smoothness.
    fn rebase(&mut self, engine: &mut Engine) {
        find_base_tilt(&self.anchor, self.smoothness.value(), &mut self.base_tilt);
        self.dual.rebase(engine, &self.base_tilt, 1.0 + self.smoothness.value());
    }

    fn read_dual(&mut self, engine: &mut Engine) {
        self.candidate.copy_from(self.dual.point());
        self.shown.copy_from(self.dual.point());
        self.multipliers.clear();
        self.multipliers.extend(self.dual.unscaled_multipliers());
        self.shown.read_energy(engine.energies);
        self.shown.summarise();
        self.candidate.gradient.fill(0.0);
        self.candidate.energy = engine
            .energies
            .evaluate_others(&self.candidate.marginals, &mut self.candidate.gradient);
        self.candidate.summarise();
    }

    /// `‖δ + ∇L_o(μ) + Σ λ_j a_j‖∞`
    fn residual(&mut self) -> f64 {
        let apart = &mut self.scratch.tilt;
        let sums = self.candidate.tilt.iter().zip(&self.candidate.gradient).map(|(d, g)| d + g);
        apart.iter_mut().zip(sums).for_each(|(apart, sum)| *apart = sum);
        for (row, multiplier) in self.dual.unscaled_multipliers().enumerate() {
            self.dual.measurements().rows().add_row(row, multiplier, apart);
        }
        apart.iter().fold(0.0, |m, a| if a.is_nan() { f64::INFINITY } else { m.max(a.abs()) })
    }

    /// `L_o` linearised at the candidate, and the dual bound of what remains, for one call.
    fn certify(&mut self, engine: &mut Engine) {
        let measurements = self.dual.measurements();
        let Point { tilt, marginals, .. } = &mut self.scratch;
        tilt.iter_mut().zip(&self.candidate.gradient).for_each(|(t, g)| *t = -g);
        let mut linear = self.candidate.linearisation();
        let mut size = self.candidate.linearisation_size() + engine.score_size;
        for (row, multiplier) in self.dual.unscaled_multipliers().enumerate() {
            let (weight, penalty) = (measurements.weights()[row], measurements.penalty(row));
            measurements.rows().add_row(row, -multiplier, tilt);
            let shift = multiplier * measurements.rows().offset(row);
            let conjugate = penalty.conjugate(weight, multiplier);
            linear += shift - conjugate;
            let largest = self.dual.largest_coefficient(row);
            size += shift.abs() + conjugate.abs() + multiplier.abs() * largest;
        }
        self.bound = self.bound.max(lower_bound(linear, size, engine.call(tilt, marginals)));
    }

    /// What to do once the dual is solved.
    fn settle(&mut self, engine: &mut Engine) -> Verdict {
        let linearised = !engine.energies.others.is_empty();
        if linearised {
            let change = self.candidate.change_since(&self.anchor);
            let needed = needed_smoothness(&self.anchor, &self.candidate, change);
            if !self.smoothness.allows(needed) {
                if self.smoothness.is_hopeless() {
                    return Verdict::Settled;
                }
                self.smoothness.raise(needed);
                self.rebase(engine);
                return Verdict::Continue;
            }
            std::mem::swap(&mut self.anchor, &mut self.candidate);
            self.candidate.copy_from(&self.anchor);
            self.smoothness.relax(needed);
            if self.convex {
                self.certify(engine);
            }
            if !is_fixed(self.residual(), self.tables) {
                self.rebase(engine);
                return Verdict::Continue;
            }
        }
        // A piece that is lower by less than the error of the dual may not be lower at all.
        let margin = 2.0 * INNER_TOLERANCE * self.tolerance;
        if choose_pieces(engine, &self.candidate.marginals, margin, &mut self.pieces) {
            let measurements = with_pieces(engine, &self.pieces);
            find_base_tilt(&self.anchor, self.smoothness.value(), &mut self.base_tilt);
            let (base_tilt, scale) = (Some(&*self.base_tilt), 1.0 + self.smoothness.value());
            self.dual = Dual::start(engine, measurements, base_tilt, scale);
            return Verdict::Continue;
        }
        if self.convex { Verdict::Settled } else { Verdict::Stationary }
    }
}

/// Takes the pieces that are lowest at these marginals, by more than `margin`; whether any changed.
fn choose_pieces(
    engine: &mut Engine,
    marginals: &[f64],
    margin: f64,
    pieces: &mut [usize],
) -> bool {
    let mut changed = false;
    for (piece, nearest) in pieces.iter_mut().zip(&mut engine.energies.nearest) {
        let (lowest, value) = nearest.lowest_piece(marginals);
        if value < nearest.piece_value(*piece, marginals) - margin.max(1e-12 * value.abs()) {
            *piece = lowest;
            changed = true;
        }
    }
    changed
}

/// `(Mδ − ∇L_o(μ))/(1 + M)`
fn find_base_tilt(anchor: &Point, smoothness: f64, base_tilt: &mut [f64]) {
    for ((base, tilt), gradient) in base_tilt.iter_mut().zip(&anchor.tilt).zip(&anchor.gradient) {
        *base = (smoothness * tilt - gradient) / (1.0 + smoothness);
    }
}

/// The measurements together with these pieces of the `nearest` energies.
pub(super) fn with_pieces(engine: &Engine, pieces: &[usize]) -> Measurements {
    let mut measurements = engine.energies.measurements.clone();
    for (nearest, &piece) in engine.energies.nearest.iter().zip(pieces) {
        nearest.add_piece(piece, &mut measurements);
    }
    measurements
}

impl Solver for Alternating {
    fn name(&self) -> &'static str {
        "alternating"
    }

    fn step(&mut self, engine: &mut Engine) -> Step {
        let inner = self.dual.step(engine);
        let (gap, violation) = (self.dual.gap(), self.dual.violation());
        let (excess, residue) = (self.dual.unscaled_excess(), self.dual.unscaled_residue());
        self.read_dual(engine);
        let objective = self.shown.objective();
        let moved = divergence(&self.candidate, &self.anchor).max(0.0);
        let allowed = if engine.energies.others.is_empty() {
            INNER_TOLERANCE * self.tolerance
        } else {
            let exact = ROUNDINGS * rounding(1.0 + self.shown.log_partition.abs());
            exact.max(INNER_SHARE * moved)
        };
        let solved =
            self.dual.is_exhausted() || gap <= allowed && violation <= self.tolerance.min(FEASIBLE);
        let residual = self.residual().max(inner.residual);
        let verdict = match inner.verdict {
            Verdict::Infeasible => Verdict::Infeasible,
            _ if solved => self.settle(engine),
            _ => Verdict::Continue,
        };
        let rounding = rounding(self.shown.objective_size()) + residue;
        let step = Step::new(objective, self.bound, residual, verdict);
        Step { violation, excess, rounding, ..step }
    }

    fn point(&self) -> &Point {
        &self.shown
    }

    fn multipliers(&self, _: Held, into: &mut Vec<f64>) -> bool {
        into.extend_from_slice(&self.multipliers);
        true
    }
}
