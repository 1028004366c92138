//! Measurements against pulls: gradient, diagonal, gaps, and what the latest step did.

use pulp::Simd;

use super::LEAST_CURVATURE;
use super::program::{Iterate, Program, bounds, held};
use super::secant::Secant;
use crate::energy::{Kind, OfKind, Pairing, Run, clip, specialised};
use crate::vector::{Entry, Number, ONES, Piece, Reduced, Reduction};

/// Fills in all that follows from an iterate's unknowns and marginals, in one pass.
pub(super) struct Evaluation<'a> {
    pub program: &'a Program,
    /// One over the limit on tilts.
    pub inverse_limit: f64,
    /// Where the step that led to the iterate started.
    pub from: &'a Iterate,
    pub iterate: &'a mut Iterate,
}

/// Twice the sums of conjugates that are never negative, of the others, and of their sizes; sums of
/// `−λb` and its sizes; of gaps, and by how much gaps of hard rows are above `−λz`; those of a
/// [`Secant`]. Greatest residual.
type Totals<S> = Reduction<S, 12, 1>;

impl pulp::WithSimd for Evaluation<'_> {
    type Output = ();

    #[inline(always)]
    fn with_simd<S: Simd>(self, simd: S) {
        let Self { program, inverse_limit, from, iterate } = self;
        let (mut totals, mut violation) = (Totals::new(simd), 0.0);
        program.walk().for_each(|(run, alike)| {
            let at = (from, inverse_limit);
            specialised!(run.kind, type K => match alike {
                Some(own) => fill_alike::<K, S>(&mut totals, (program, &run, own), at, iterate),
                None => fill::<K, S>(&mut totals, (program, &run), at, iterate),
            });
            if run.kind.is_hard() {
                // Their gradient is `z`, and 0 for constants, which were looked at before.
                let of = |&g: &f64| run.kind.with([0.0; 2]).violation(g);
                let gradient = &iterate.gradient[run.rows.clone()];
                violation = gradient.iter().map(of).fold(violation, f64::max);
            }
        });
        let Reduced { sums, sizes: [residual] } = totals.finish();
        let [positive, signed, size, shift, shift_size, gap, excess, secant @ ..] = sums;
        let (log_partition, slack) = (iterate.point.log_partition, iterate.point.slack);
        iterate.value = 0.5 * (positive + signed) + shift + log_partition;
        iterate.value_size = 0.5 * (positive + size) + shift_size + log_partition.abs();
        (iterate.gap, iterate.objective) = (gap + slack, gap + slack - excess - iterate.value);
        (iterate.residual, iterate.violation) = (residual, violation);
        iterate.secant = Secant::new(iterate.slope, secant);
    }
}

/// Fills in gradient and diagonal of a run whose rows are alike.
#[inline(always)]
fn fill_alike<K: OfKind, S: Simd>(
    totals: &mut Totals<S>,
    (program, run, own): (&Program, &Run, [f64; 4]),
    (from, inverse_limit): (&Iterate, f64),
    iterate: &mut Iterate,
) {
    let rows = run.rows.clone();
    let columns = program.rows().fresh_columns(run).expect("columns of their own");
    let (b, sizes) = program.rows().offsets(run);
    let (old_x, old_g) = (&from.unknowns()[rows.clone()], &from.gradient[rows.clone()]);
    let Iterate { own_unknowns, point, gradient, diagonal, .. } = iterate;
    let x = &held(own_unknowns, point)[rows.clone()];
    let inputs = [&point.marginals[columns], b, sizes, x, old_x, old_g];
    let targets = [&mut gradient[rows.clone()], &mut diagonal[rows]];
    let [w, i, p, q] = own;
    let own = [totals.all(w), totals.all(i), totals.all(p), totals.all(q)];
    let inverse_limit = totals.all(inverse_limit);
    totals.sweep_apart(
        targets,
        inputs,
        #[inline(always)]
        move |_, [m, b, size, x, old_x, old_g]| {
            let one = m.splat(1.0);
            let reading = Reading::single(K::KIND, [m, one, one], [b, size]);
            pair(K::KIND, (reading, own), [x, x, old_x, old_g], inverse_limit)
        },
    );
}

/// Fills in gradient and diagonal of a piece.
#[inline(always)]
fn fill<K: OfKind, S: Simd>(
    totals: &mut Totals<S>,
    (program, run): (&Program, &Run),
    (from, inverse_limit): (&Iterate, f64),
    iterate: &mut Iterate,
) {
    let rows = run.rows.clone();
    let Iterate { own_unknowns, pulls, point, gradient, diagonal, scratch, .. } = iterate;
    let unknowns = held(own_unknowns, point);
    let pulls = if program.has_logarithms { pulls } else { unknowns };
    let (pulls, x) = (&pulls[rows.clone()], &unknowns[rows.clone()]);
    let (old_x, old_g) = (&from.unknowns()[rows.clone()], &from.gradient[rows.clone()]);
    let [w, p, q] = program.own_numbers(rows.clone());
    let i = program.inverse_weights.piece(rows.clone());
    let (b, sizes) = program.rows().offsets(run);
    let inverse_limit = totals.all(inverse_limit);
    let targets = [&mut gradient[rows.clone()], &mut diagonal[rows]];
    match read(program, run, &point.marginals, scratch.get_or_insert_default()) {
        Measured::Single([m, shares, a]) => totals.sweep_apart(
            targets,
            [m, shares, a, b, sizes, pulls, x, old_x, old_g, w, i, p, q],
            #[inline(always)]
            move |_, [m, share, a, b, size, pull, x, old_x, old_g, own @ ..]| {
                let reading = Reading::single(K::KIND, [m, share, a], [b, size]);
                let pull = if K::KIND == Kind::Poisson { pull } else { x };
                pair(K::KIND, (reading, own), [pull, x, old_x, old_g], inverse_limit)
            },
        ),
        Measured::Any([z, variances, largest]) => totals.sweep_apart(
            targets,
            [z, variances, largest, b, pulls, x, old_x, old_g, w, i, p, q],
            #[inline(always)]
            move |_, [z, variance, largest, offset, pull, x, old_x, old_g, own @ ..]| {
                let is_touched = Some(z.splat(0.0).is_below(largest));
                let reading = Reading { z, variance, largest, offset, is_touched };
                pair(K::KIND, (reading, own), [pull, x, old_x, old_g], inverse_limit)
            },
        ),
    }
}

/// How rows of a piece are measured. `[rows]` each
enum Measured<'a> {
    /// Rows of one entry: marginals, shares in their blocks, coefficients.
    Single([&'a [f64]; 3]),
    /// Any rows: measurements, variances, largest coefficients.
    Any([&'a [f64]; 3]),
}

/// The measurements of a run's rows, and what their variances, as if tables were independent,
/// follow from.
#[inline(always)]
fn read<'a>(
    program: &'a Program,
    run: &Run,
    marginals: &'a [f64],
    scratch: &'a mut [Piece; 4],
) -> Measured<'a> {
    let (rows, places) = (program.rows(), run.rows.clone());
    let [first, second, measured, variances] = scratch;
    let shares = match &program.shares {
        Some(shares) => rows.gather(run, shares, &mut second.0),
        None => Some(&ONES.0[..places.len()]),
    };
    if let (Some(shares), Some(coefficients)) = (shares, rows.coefficients(run)) {
        let marginals = rows.gather(run, marginals, &mut first.0).expect("one entry a row");
        return Measured::Single([marginals, shares, coefficients]);
    }
    for (place, row) in places.clone().enumerate() {
        measured.0[place] = program.measure(row, marginals);
        variances.0[place] = program.variance(marginals, row);
    }
    let length = places.len();
    Measured::Any([&measured.0[..length], &variances.0[..length], &program.largest[places]])
}

/// A row at some marginals.
struct Reading<N: Number> {
    z: N,
    variance: N,
    /// The largest coefficient.
    largest: N,
    offset: N,
    /// Whether that is not 0; `None` if it never is.
    is_touched: Option<N::Truth>,
}

impl<N: Number> Reading<N> {
    /// Of one entry: its marginal, the share in its block, its coefficient; the offset and a number
    /// of its size.
    #[inline(always)]
    fn single(kind: Kind, [marginal, share, a]: [N; 3], [offset, size]: [N; 2]) -> Self {
        let part = a * marginal;
        let sum = offset + part;
        let z = if kind.bends() { sum } else { without_residue(sum, size.abs() + part.abs()) };
        let variance = (-(part * share)).times_plus(part, a * part);
        Self { z, variance, largest: a, offset, is_touched: None }
    }
}

/// A sum whose terms have this size in all; one that cancels to within rounding is taken as zero: a
/// multiplier must not chase a residue that no tilt can change.
#[inline(always)]
pub(super) fn without_residue<N: Number>(sum: N, size: N) -> N {
    // Half of what rounding may do.
    let rounding = size * (4.0 * f64::EPSILON);
    N::choose(sum.abs().is_at_most(rounding), sum.splat(0.0), sum)
}

/// Gradient and diagonal of a row, given its weight, the inverse of that and its parameters, its
/// pull, and its unknown now and before with the gradient before.
#[inline(always)]
fn pair<N: Number>(
    kind: Kind,
    (reading, [weight, inverse, first, second]): (Reading<N>, [N; 4]),
    [pull, x, old_x, old_g]: [N; 4],
    inverse_limit: N,
) -> Entry<N, 2, 12, 1> {
    let Reading { z, variance, largest, offset, is_touched } = reading;
    let (zero, one) = (z.splat(0.0), z.splat(1.0));
    // Adding −0 changes nothing, and the compiler knows.
    let nothing = [z.splat(-0.0), one];
    let ((low, high), multiplier) = (bounds(kind, weight, [first, second]), -pull);
    let Pairing { twice_conjugate, apart, curvature, gap } =
        kind.pairing([weight, inverse], [first, second], [z, multiplier]);
    let (slack, least) = (pull - low, z.splat(LEAST_CURVATURE));
    let variance = variance.greater(least);
    // In `v = log(slack)` where the unknown is one.
    let (curvature, reach) = if kind == Kind::Poisson {
        let curvature = slack * (z.greater(zero) + slack * variance);
        (curvature.greater(least), slack)
    } else {
        (variance + curvature, one)
    };
    let has_room = (!kind.is_free()).then(|| low.is_below(high));
    let moves = match (is_touched, has_room) {
        (Some(a), Some(b)) => Some(a & b),
        (a, b) => a.or(b),
    };
    let if_moves = |x: N| moves.map_or(x, |moves| N::choose(moves, x, zero));
    let slope = if_moves(apart * reach);
    let force = (slope * reach * largest).abs();
    let diagonal = if_moves(one / curvature.greater(force * inverse_limit));
    let (diagonal, residual) = if kind.is_free() {
        (diagonal, slope)
    } else {
        let falls = pull.is_at_most(low) & zero.is_below(slope);
        let rises = high.is_at_most(pull) & slope.is_below(zero);
        let back = pull - clip(pull - slope, low, high);
        (N::choose(falls | rises, zero, diagonal), back)
    };
    let (step, change) = (x - old_x, slope - old_g);
    let free = moves.map_or(step, |_| N::choose(zero.is_below(diagonal), step, zero));
    let scaled = change * diagonal;
    let [a, b] = twice_conjugate;
    let only = |truth: bool, product| if truth { product } else { nothing };
    let (shift, is_positive) = (pull * offset, kind.has_positive_conjugate());
    Entry {
        values: [slope, diagonal],
        products: [
            only(is_positive, twice_conjugate),
            only(!is_positive, twice_conjugate),
            only(!is_positive, [a.abs(), b.abs()]),
            [shift, one],
            [shift.abs(), one],
            gap,
            only(kind.is_hard(), [gap[0].times_plus(gap[1], multiplier * z), one]),
            [free, slope],
            only(moves.is_some(), [step - free, slope]),
            [free, change],
            [scaled, change],
            [scaled, slope],
        ],
        sizes: [if_moves(residual).abs()],
    }
}
