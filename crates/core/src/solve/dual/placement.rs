//! Steps: where they lead, within bounds, and the tilts there.

use pulp::Simd;

use super::program::{DualProgram, Scratch, bounds, pull};
use crate::energy::{Kind, OfKind, Run, clip, specialised};
use crate::solve::quasi_newton::Iterate;
use crate::vector::{Entry, Number, Reduced, Reduction};

/// No step changes a Poisson log-multiplier by more than this.
const LOG_STEP_LIMIT: f64 = 3.0;

/// Moves a trial to the end of a step, within bounds; the slope along what is left of it.
pub(super) struct Placement<'a> {
    pub program: &'a DualProgram,
    pub from: &'a Iterate,
    pub step: &'a [f64],
    pub trial: &'a mut Iterate,
    pub scratch: &'a mut Scratch,
}

impl pulp::WithSimd for Placement<'_> {
    type Output = f64;

    #[inline(always)]
    fn with_simd<S: Simd>(mut self, simd: S) -> f64 {
        let tilt = &mut self.trial.point.tilt;
        match &self.program.base_tilt {
            Some(base_tilt) => tilt.copy_from_slice(base_tilt),
            None => tilt.fill(0.0),
        }
        let mut slope = Reduction::new(simd);
        for run in self.program.measurements.pieces() {
            specialised!(run.kind, type K => self.advance::<K, S>(&mut slope, &run));
            let pulls = &self.scratch.pulls.0[..run.rows.len()];
            self.program.rows().add_run(&run, pulls, &mut self.trial.point.tilt);
        }
        let Reduced { sums: [slope], sizes: [] } = slope.finish();
        slope
    }
}

impl Placement<'_> {
    /// Unknowns of a piece at the end of the step, and their pulls.
    #[inline(always)]
    fn advance<K: OfKind, S: Simd>(&mut self, slope: &mut Reduction<S, 1, 0>, run: &Run) {
        let (rows, from) = (run.rows.clone(), self.from);
        let [w, p, q] = self.program.own_numbers(rows.clone());
        let inputs = [&from.unknowns[rows.clone()], &from.gradient[rows.clone()]];
        let [x, g] = inputs;
        let pulls = &mut self.scratch.pulls.0[..rows.len()];
        slope.sweep_apart(
            [&mut self.trial.unknowns[rows.clone()], pulls],
            [x, g, &self.step[rows], w, p, q],
            #[inline(always)]
            |_, [x, g, step, weight, first, second]| {
                let (low, high) = bounds(K::KIND, weight, [first, second]);
                let moved = match K::KIND {
                    Kind::Poisson => {
                        x + clip(step, x.splat(-LOG_STEP_LIMIT), x.splat(LOG_STEP_LIMIT))
                    }
                    kind if kind.is_free() => x + step,
                    _ => clip(x + step, low, high),
                };
                Entry {
                    values: [moved, pull(K::KIND, moved, low)],
                    products: [[g, moved - x]],
                    sizes: [],
                }
            },
        );
    }
}
