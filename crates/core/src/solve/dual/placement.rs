//! Steps: where they lead, within bounds, and the tilts there.

use std::ops::Range;

use pulp::Simd;

use super::LOG_STEP_LIMIT;
use super::program::{Iterate, Program, bounds};
use crate::energy::{Kind, OfKind, Run, clip, specialised};
use crate::solve::engine::Point;
use crate::vector::{BACKWARDS, Entry, Number, ONES, Reduced, Reduction, ZEROS};

/// What a direction is made of: `diagonal·(gradient·g + older·g′) + apart·(x′ − origin·x)`, where
/// `x` and `g` are unknowns and gradient at the start, `x′` and `g′` those that the trial still
/// holds.
#[derive(Clone, Copy, Debug)]
pub(super) struct Blend {
    pub gradient: f64,
    pub older: f64,
    pub apart: f64,
    pub origin: f64,
}

impl Blend {
    /// Each component against its own gradient.
    pub const STEEPEST: Self = Self { gradient: -1.0, older: 0.0, apart: 0.0, origin: 1.0 };
    /// The trial's unknowns are the direction.
    pub const GIVEN: Self = Self { gradient: 0.0, older: 0.0, apart: 1.0, origin: 0.0 };

    /// To where the trial is, but only a part of the way.
    pub fn shorter(part: f64) -> Self {
        Self { gradient: 0.0, older: 0.0, apart: part, origin: 1.0 }
    }

    /// The step from `x`, given `x′`, `x`, `g`, `g′` and the diagonal: none where that is 0.
    #[inline(always)]
    fn step<N: Number>(self, [held, x, g, older, diagonal]: [N; 5]) -> N {
        let all = |part| x.splat(part);
        let apart = x.times_plus(all(-self.apart * self.origin), held * self.apart);
        let turned = g.times_plus(all(self.gradient), older * self.older);
        let (step, zero) = (diagonal.times_plus(turned, apart), all(0.0));
        N::choose(zero.is_below(diagonal), step, zero)
    }
}

/// What a direction came to once it was cut off at the bounds.
#[derive(Clone, Copy, Debug)]
pub(super) struct Placed {
    /// `⟨gradient, direction⟩`
    pub slope: f64,
    /// The same of the sizes of its terms.
    pub slope_size: f64,
    /// The most by which a row alone changes a tilt.
    pub reach: f64,
}

/// `⟨gradient, step⟩`, the same of sizes; the greatest change of a pull. From the last row to the
/// first: the vectors are those of an [`Evaluation`], whose last rows are still in the cache, and
/// the oracle, next, starts with the first.
///
/// [`Evaluation`]: super::evaluation::Evaluation
type Totals<S> = Reduction<S, 2, 1, BACKWARDS>;

/// A step along a blend of directions.
pub(super) struct Placement<'a> {
    pub program: &'a Program,
    pub from: &'a Iterate,
    pub blend: Blend,
    pub trial: &'a mut Iterate,
}

impl pulp::WithSimd for Placement<'_> {
    type Output = Placed;

    #[inline(always)]
    fn with_simd<S: Simd>(self, simd: S) -> Placed {
        let Self { program, from, blend, trial } = self;
        program.start_tilt(&mut trial.point.tilt);
        let mut totals = Totals::backwards(simd);
        let by = (from, blend);
        program.walk().for_each(|(run, alike)| {
            specialised!(run.kind, type K => match alike {
                _ if run.is_constant() => stay(program, from, &run, trial),
                Some(own) => advance_alike::<K, S>(&mut totals, (program, &run, own), by, trial),
                None => advance::<K, S>(&mut totals, (program, &run), by, trial),
            });
        });
        let Reduced { sums: [slope, slope_size], sizes: [reach] } = totals.finish();
        Placed { slope, slope_size, reach: program.steepest * reach }
    }
}

/// No tilt moves a constant: its pull is against the slope there, its unknown idle.
fn stay(program: &Program, from: &Iterate, run: &Run, trial: &mut Iterate) {
    let rows = run.rows.clone();
    trial.unknowns_mut()[rows.clone()].copy_from_slice(&from.unknowns()[rows.clone()]);
    let pulls = if program.has_logarithms { &mut trial.pulls } else { trial.unknowns_mut() };
    for row in rows {
        let slope = program.penalty(row).derivative(program.rows().offset(row));
        pulls[row] = -program.weights[row] * slope;
    }
}

/// Unknowns at the end of a step, within bounds, of a run whose rows are alike: they are the tilts
/// that they make.
#[inline(always)]
fn advance_alike<K: OfKind, S: Simd>(
    totals: &mut Totals<S>,
    (program, run, own): (&Program, &Run, [f64; 4]),
    (from, blend): (&Iterate, Blend),
    trial: &mut Iterate,
) {
    let rows = run.rows.clone();
    let [weight, _, first, second] = own;
    let own = [totals.all(weight), totals.all(first), totals.all(second)];
    let Iterate { own_unknowns, gradient, point: Point { tilt, .. }, .. } = trial;
    let [x, g, older, d] = ends(from, blend, gradient, rows.clone());
    totals.sweep_apart(
        [&mut own_unknowns.as_mut().unwrap_or(tilt)[rows.clone()]],
        [x, g, older, d],
        #[inline(always)]
        move |[held], [x, g, older, d]| {
            let Entry { values: [moved, _], products, sizes } =
                moved((K::KIND, blend), [held, x, g, older, d, x], own);
            Entry { values: [moved], products, sizes }
        },
    );
    if let Some(unknowns) = own_unknowns {
        let columns = program.rows().fresh_columns(run).expect("columns of their own");
        tilt[columns].copy_from_slice(&unknowns[rows]);
    }
}

/// What a blend is made of in some rows: unknowns, gradient, older gradient, diagonal.
#[inline(always)]
fn ends<'a>(
    from: &'a Iterate,
    blend: Blend,
    older: &'a [f64],
    rows: Range<usize>,
) -> [&'a [f64]; 4] {
    // A gradient that does not count may be anything.
    let older = if blend.older == 0.0 { &from.gradient } else { older };
    let (x, g) = (&from.unknowns()[rows.clone()], &from.gradient[rows.clone()]);
    [x, g, &older[rows.clone()], &from.diagonal[rows]]
}

/// Unknowns of a piece at the end of a step, within bounds, and what their pulls make of tilts.
#[inline(always)]
fn advance<K: OfKind, S: Simd>(
    totals: &mut Totals<S>,
    (program, run): (&Program, &Run),
    (from, blend): (&Iterate, Blend),
    trial: &mut Iterate,
) {
    let Iterate { own_unknowns, pulls, gradient, point, scratch, .. } = trial;
    let (rows, tilt) = (run.rows.clone(), &mut point.tilt);
    let unknowns =
        own_unknowns.as_mut().expect("rows that are not alike have unknowns of their own");
    let buffer = &mut scratch.get_or_insert_default()[0].0[..rows.len()];
    let columns = program.rows().fresh_columns(run);
    // Straight to the tilt where that is one row's alone so far.
    let direct = columns.clone().filter(|_| !program.has_logarithms);
    let (base, coefficients, target) = match direct.clone() {
        Some(columns) => {
            let coefficients = program.rows().coefficients(run).expect("one entry a row");
            (program.base(columns.clone()), coefficients, &mut tilt[columns])
        }
        None => (&ZEROS.0[..rows.len()], &ONES.0[..rows.len()], &mut *buffer),
    };
    let [w, p, q] = program.own_numbers(rows.clone());
    let [x, g, older, d] = ends(from, blend, gradient, rows.clone());
    let old = if K::KIND == Kind::Poisson { &from.pulls[rows.clone()] } else { x };
    totals.sweep_apart(
        [&mut unknowns[rows.clone()], target],
        [x, g, older, d, old, w, p, q, base, coefficients],
        #[inline(always)]
        move |[held, _], [x, g, older, d, old, w, p, q, base, coefficient]| {
            let Entry { values: [moved, pull], products, sizes } =
                moved((K::KIND, blend), [held, x, g, older, d, old], [w, p, q]);
            Entry { values: [moved, pull.times_plus(coefficient, base)], products, sizes }
        },
    );
    if program.has_logarithms {
        pulls[rows].copy_from_slice(buffer);
    }
    if direct.is_none() {
        if let Some(columns) = columns {
            tilt[columns.clone()].copy_from_slice(program.base(columns));
        }
        program.rows().add_run(run, buffer, tilt);
    }
}

/// An unknown at the end of a step and its pull, which was `old`, given weight and parameters.
#[inline(always)]
fn moved<N: Number>(
    (kind, blend): (Kind, Blend),
    [held, x, g, older, diagonal, old]: [N; 6],
    [weight, first, second]: [N; 3],
) -> Entry<N, 2, 2, 1> {
    let (low, high) = bounds(kind, weight, [first, second]);
    let step = blend.step([held, x, g, older, diagonal]);
    let (moved, pull) = if kind == Kind::Poisson {
        let moved = x + clip(step, x.splat(-LOG_STEP_LIMIT), x.splat(LOG_STEP_LIMIT));
        (moved, low + moved.exponential())
    } else {
        let moved = if kind.is_free() { x + step } else { clip(x + step, low, high) };
        (moved, moved)
    };
    let step = moved - x;
    Entry {
        values: [moved, pull],
        products: [[g, step], [g.abs(), step.abs()]],
        sizes: [(pull - old).abs()],
    }
}
