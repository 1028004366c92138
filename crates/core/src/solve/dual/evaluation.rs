//! Measurements against pulls: value, gradient, diagonal and gap.

use pulp::Simd;

use super::LEAST_CURVATURE;
use super::program::{DualProgram, Scratch, bounds, pull};
use crate::energy::{Kind, OfKind, Pairing, Run, clip, specialised};
use crate::solve::certificate::rounding;
use crate::solve::quasi_newton::Iterate;
use crate::vector::{Entry, Number, Reduced, Reduction};

/// Fills in all that follows from an iterate's unknowns and marginals.
pub(super) struct Evaluation<'a> {
    pub program: &'a DualProgram,
    pub tilt_limit: f64,
    pub iterate: &'a mut Iterate,
    pub scratch: &'a mut Scratch,
}

/// Twice the sums of conjugates that are never negative, of the others, and of their sizes; sums of
/// `−λb` and its sizes; of gaps, by how much gaps of hard ones are above `−λz`, and what rounding of
/// `z` does to gaps. Greatest residual.
type Totals<S> = Reduction<S, 8, 1>;

impl pulp::WithSimd for Evaluation<'_> {
    type Output = ();

    #[inline(always)]
    fn with_simd<S: Simd>(mut self, simd: S) {
        let (mut totals, mut violation) = (Totals::new(simd), 0.0);
        for run in self.program.measurements.pieces() {
            self.program.read(&run, &self.iterate.point.marginals, self.scratch);
            specialised!(run.kind, type K => self.fill::<K, S>(&mut totals, &run));
            if run.kind.is_hard() {
                // Their gradient is `z`, and 0 for constants, which were looked at before.
                let of = |&g: &f64| run.kind.with([0.0; 2]).violation(g);
                let gradient = &self.iterate.gradient[run.rows.clone()];
                violation = gradient.iter().map(of).fold(violation, f64::max);
            }
        }
        let Reduced { sums, sizes: [residual] } = totals.finish();
        let [positive, signed, size, shift, shift_size, gap, excess, residue] = sums;
        let iterate = self.iterate;
        let (log_partition, slack) = (iterate.point.log_partition, iterate.point.slack);
        iterate.value = 0.5 * (positive + signed) + shift + log_partition;
        iterate.size = 0.5 * (positive + size) + shift_size + log_partition.abs();
        iterate.size += iterate.point.score_size;
        iterate.lower_bound = -iterate.value - rounding(iterate.size);
        (iterate.gap, iterate.objective) = (gap + slack, gap + slack - excess - iterate.value);
        (iterate.residual, iterate.violation) = (residual, violation);
        (iterate.excess, iterate.residue) = (excess, residue);
    }
}

impl Evaluation<'_> {
    /// Gradient and diagonal of a piece that was read.
    #[inline(always)]
    fn fill<K: OfKind, S: Simd>(&mut self, totals: &mut Totals<S>, run: &Run) {
        let (rows, program) = (run.rows.clone(), self.program);
        let [w, p, q] = program.own_numbers(rows.clone());
        let i = program.inverse_weights.piece(rows.clone());
        let (b, _) = program.rows().offsets(run);
        let Scratch { measured, residues, variances, .. } = &*self.scratch;
        let [z, residues, variances] =
            [measured, residues, variances].map(|piece| &piece.0[..rows.len()]);
        let largest = program.rows().coefficients(run).unwrap_or(&program.largest[rows.clone()]);
        let Iterate { unknowns, gradient, diagonal, .. } = &mut *self.iterate;
        let inverse_limit = totals.all(1.0 / self.tilt_limit);
        totals.sweep_apart(
            [&mut gradient[rows.clone()], &mut diagonal[rows.clone()]],
            [z, residues, variances, largest, b, &unknowns[rows], w, i, p, q],
            #[inline(always)]
            |_, [z, residue, variance, largest, offset, unknown, weight, inverse, first, second]| {
                let parameters = [first, second];
                let row = Measured { z, residue, variance, largest, offset, unknown };
                row.entry(K::KIND, [weight, inverse], parameters, inverse_limit)
            },
        );
    }
}

/// A measurement at some marginals and unknown.
struct Measured<N> {
    z: N,
    /// What rounding may have done to it.
    residue: N,
    variance: N,
    /// The largest coefficient, 0 for constants.
    largest: N,
    offset: N,
    unknown: N,
}

impl<N: Number> Measured<N> {
    /// Gradient and diagonal, and what is summed up.
    #[inline(always)]
    fn entry(
        self,
        kind: Kind,
        [weight, inverse]: [N; 2],
        parameters: [N; 2],
        inverse_limit: N,
    ) -> Entry<N, 2, 8, 1> {
        let Self { z, residue, variance, largest, offset, unknown } = self;
        let (zero, one) = (z.splat(0.0), z.splat(1.0));
        // Adding −0 changes nothing, and the compiler knows.
        let only = |truth: bool, product| if truth { product } else { [z.splat(-0.0), one] };
        let (low, high) = bounds(kind, weight, parameters);
        let pull = pull(kind, unknown, low);
        let multiplier = -pull;
        let Pairing { twice_conjugate, apart, curvature, gap } =
            kind.pairing([weight, inverse], parameters, [z, multiplier]);
        // A multiplier must not chase a residue that no tilt can change; the gap counts it.
        let apart = apart - N::choose(z.abs().is_at_most(residue), z, zero);
        let (slack, least) = (pull - low, z.splat(LEAST_CURVATURE));
        let variance = variance.greater(least);
        // In `v = log(slack)` where the unknown is one.
        let (curvature, reach) = if kind == Kind::Poisson {
            let curvature = slack * (z.greater(zero) + slack * variance);
            (curvature.greater(least), slack)
        } else {
            (variance + curvature, one)
        };
        let is_touched = zero.is_below(largest.abs());
        let moves = if kind.is_free() { is_touched } else { is_touched & low.is_below(high) };
        let slope = N::choose(moves, apart * reach, zero);
        let force = (slope * reach * largest).abs();
        let diagonal = N::choose(moves, one / curvature.greater(force * inverse_limit), zero);
        let (diagonal, residual) = if kind.is_free() {
            (diagonal, slope)
        } else {
            let falls = pull.is_at_most(low) & zero.is_below(slope);
            let rises = high.is_at_most(pull) & slope.is_below(zero);
            let back = pull - clip(pull - slope, low, high);
            (N::choose(falls | rises, zero, diagonal), back)
        };
        let [a, b] = twice_conjugate;
        let slope_apart = (weight * kind.derivative(parameters, z) - multiplier).abs();
        // On either side of a kink that is so near.
        let at_kink =
            N::choose(gap[1].abs().is_at_most(residue), weight + multiplier.abs(), slope_apart);
        let has_kink = !kind.is_smooth() && !kind.is_hard();
        let bends = matches!(kind, Kind::Squared | Kind::SmoothedHinge | Kind::Huber);
        let steepness = match (has_kink, bends) {
            (true, _) => at_kink,
            (_, true) => slope_apart + weight * residue,
            _ => slope_apart,
        };
        let (shift, is_positive) = (pull * offset, kind.has_positive_conjugate());
        Entry {
            values: [slope, diagonal],
            products: [
                only(is_positive, twice_conjugate),
                only(!is_positive, twice_conjugate),
                only(!is_positive, [a.abs(), b.abs()]),
                [shift, one],
                // The tilt rounds as well.
                [pull.abs(), offset.abs() + largest.abs()],
                gap,
                only(kind.is_hard(), [gap[0].times_plus(gap[1], multiplier * z), one]),
                [steepness, residue],
            ],
            sizes: [N::choose(moves, residual, zero).abs()],
        }
    }
}
