//! Derivatives of an answer: how `μ*` changes with potentials, weights, offsets and coefficients.
//!
//! At the optimum `μ* = oracle(θ − Aᵀλ)`, where `λ_j` is a slope of the weighted penalty at `z = Aμ* +
//! b`. With the covariance `C` of the statistics there and the curvature `D⁻¹` of the conjugates,
//!
//! ```text
//! J = ∂μ*/∂θ = C − C Aᵀ (D⁻¹ + A C Aᵀ)⁻¹ A C
//! ```
//!
//! which is symmetric: a product with a vector is at once how the marginals change along it and how
//! `⟨v, μ*⟩` changes with every potential. With `u = (D⁻¹ + A C Aᵀ)⁻¹ A C v` and `g = C(v − Aᵀu)`,
//!
//! | gradient of `⟨v, μ*⟩` in | is |
//! | --- | --- |
//! | potentials | `g` |
//! | the offset of row `j` | `−u_j` |
//! | its weight | `−φ_j′(z_j)·(a_j·g)` |
//! | its coefficients | `−(λ_j g + u_j μ)` |
//!
//! [`Activity`] says what a row does: it is left out where its slope is constant, and has `D⁻¹ = 0`
//! where it holds `z` at a kink or a limit. Where a row is at the border of two of these, only
//! one-sided derivatives exist ([`Derivative::ties`]).

mod activity;
mod error;
mod gradients;
mod system;

pub use activity::Activity;
pub use error::DerivativeError;
pub use gradients::RowGradients;

use activity::{Row, classify};
use system::System;

use crate::energy::{Energies, Measurements};
use crate::oracle::{Covariance, Exactness, Oracle};
use crate::solve::{Returned, Solution, Status};

/// How far multipliers may be from explaining the tilt, in gaps: they come from the same point, and
/// its own distance from the optimum is one.
const UNEXPLAINED: f64 = 16.0;

/// However a solve ended, this gap, relative to the objective, proves its answer.
const SMALL_GAP: f64 = 1e-6;

/// What it takes to differentiate an answer, worked out once. Every further gradient costs two
/// products with the covariance, or one and a few for each of very many active rows.
///
/// It holds no oracle: every method takes the one that made it, left at the answer's tilt, as
/// [`solve`](crate::solve::solve()) leaves it.
///
/// ```
/// use bethe_core::derivative::Derivative;
/// use bethe_core::solve::{Ignore, solve};
/// use bethe_core::{Energy, Model, Problem, Settings, count};
///
/// let model = Model::new(&[2, 2])?;
/// let ones = count(&model, [(0, 1), (1, 1)])?;
/// let problem = Problem::new(model, vec![Energy::equal(0.8, ones)])?;
/// let mut bound = problem.bind()?;
/// let solution = solve(bound.task(), &Settings::default(), &mut Ignore)?;
/// let derivative = Derivative::new(bound.oracle.as_mut(), &bound.energies, &solution)?;
/// // What is held fixed does not follow the potentials, and follows its target at once.
/// let gradients = derivative.pullback(bound.oracle.as_mut(), &[0.0, 1.0])?;
/// assert!(gradients.potentials.iter().all(|g| g.abs() < 1e-12));
/// assert!((gradients.offsets[0] + 1.0).abs() < 1e-9);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug)]
pub struct Derivative {
    measurements: Measurements,
    /// The answer's marginals. `[support]`
    marginals: Vec<f64>,
    rows: Vec<Row>,
    system: System,
}

/// An answer to differentiate.
#[derive(Clone, Copy, Debug)]
pub struct Place<'a> {
    /// Its tilt. `[support]`
    pub tilt: &'a [f64],
    /// Its marginals. `[support]`
    pub marginals: &'a [f64],
    /// The multipliers that its tilt is made of. `[rows]`
    pub multipliers: &'a [f64],
    /// How far it may be from the optimum.
    pub gap: f64,
}

impl Derivative {
    /// Differentiates a solution of measurements. The oracle is at the solution's tilt.
    ///
    /// # Errors
    /// If there is nothing to differentiate: the solution is not proved, its oracle is not exact,
    /// some energy is not a convex measurement, or the solver has no multipliers at kinks.
    pub fn new(
        oracle: &mut dyn Oracle,
        energies: &Energies,
        solution: &Solution,
    ) -> Result<Self, DerivativeError> {
        let gap = certified_gap(oracle.exactness(), energies, solution)?;
        let Solution { tilt, marginals, multipliers, .. } = solution;
        let place = Place { tilt, marginals, multipliers, gap };
        Self::at(oracle, energies, place)
    }

    /// The same for an answer that is known to be the optimum of these measurements alone, up to its
    /// gap. The oracle is at its tilt.
    ///
    /// # Errors
    /// If the oracle has no covariance, or the multipliers do not explain the tilt.
    pub fn at(
        oracle: &mut dyn Oracle,
        energies: &Energies,
        place: Place,
    ) -> Result<Self, DerivativeError> {
        let measurements = &energies.measurements;
        check_multipliers(oracle, measurements, place)?;
        let rows = classify(measurements, energies.support(), place);
        let width = energies.support().len();
        let system = System::new(second_order(oracle)?, measurements.rows(), &rows, width)?;
        let (measurements, marginals) = (measurements.clone(), place.marginals.to_vec());
        Ok(Self { measurements, marginals, rows, system })
    }

    /// What each row of [`Energies::measurements`] does. `[rows]`
    pub fn activities(&self) -> impl Iterator<Item = Activity> {
        self.rows.iter().map(|row| row.activity)
    }

    /// Rows at the border of what they can do, such as a limit that just holds and pulls at nothing.
    /// Where there are any, all derivatives are one-sided: those of what the rows are taken to do.
    pub fn ties(&self) -> impl Iterator<Item = usize> {
        (0..self.rows.len()).filter(|&row| self.rows[row].is_tied)
    }

    /// Rows that hold what other rows hold as well. Moving the offset or a coefficient of only one
    /// of them has a one-sided derivative at most, or makes the problem infeasible; what is given
    /// holds where all of them move together.
    pub fn repeated(&self) -> &[usize] {
        self.system.repeated()
    }

    /// The gradient of `⟨v, μ*⟩` in everything.
    ///
    /// # Errors
    /// If very many rows are active and the system does not converge, or it is cancelled.
    pub fn pullback(
        &self,
        oracle: &mut dyn Oracle,
        v: &[f64],
    ) -> Result<RowGradients, DerivativeError> {
        let Self { measurements, system, rows, .. } = self;
        let covariance = second_order(oracle)?;
        let (mut potentials, mut scratch) = (vec![0.0; v.len()], vec![0.0; v.len()]);
        covariance.covariance(v, &mut scratch);
        let measure = |&row: &usize| -> f64 {
            measurements.rows().entries(row).map(|(c, a)| a * scratch[c]).sum()
        };
        let measured: Vec<f64> = system.active().iter().map(measure).collect();
        let responses = system.solve(covariance, measurements.rows(), measured)?;
        if system.active().is_empty() {
            potentials = scratch;
        } else {
            scratch.copy_from_slice(v);
            for (&row, response) in system.active().iter().zip(&responses) {
                measurements.rows().add_row(row, -response, &mut scratch);
            }
            covariance.covariance(&scratch, &mut potentials);
        }
        if potentials.iter().any(|value| value.is_nan()) {
            return Err(DerivativeError::Cancelled);
        }
        Ok(RowGradients::new(self, rows, potentials, &responses))
    }

    /// Writes `J·v`: how the marginals change along `v`, given the measurements.
    ///
    /// # Errors
    /// As [`Derivative::pullback`].
    pub fn inferred(
        &self,
        oracle: &mut dyn Oracle,
        v: &[f64],
    ) -> Result<Vec<f64>, DerivativeError> {
        Ok(self.pullback(oracle, v)?.potentials)
    }
}

fn second_order(oracle: &mut dyn Oracle) -> Result<&mut dyn Covariance, DerivativeError> {
    let entropy = oracle.exactness().name();
    oracle.second_order().ok_or(DerivativeError::NotExact { entropy })
}

/// The gap of a solution that can be differentiated.
pub(crate) fn certified_gap(
    exactness: Exactness,
    energies: &Energies,
    solution: &Solution,
) -> Result<f64, DerivativeError> {
    if exactness != Exactness::Exact {
        return Err(DerivativeError::NotExact { entropy: exactness.name() });
    }
    if !energies.nearest.is_empty() {
        return Err(DerivativeError::Unserved { energy: "a nearest energy" });
    }
    if !energies.others.is_empty() {
        let energy = "an energy that is not convex, or known only by value and gradient";
        return Err(DerivativeError::Unserved { energy });
    }
    if solution.returned == Returned::Average {
        return Err(DerivativeError::Average);
    }
    let is_small = |gap: f64| gap <= SMALL_GAP * solution.objective.abs().max(1.0);
    match (solution.status, solution.gap) {
        (Status::Converged | Status::RoundingLimit, Some(gap)) => Ok(gap),
        (_, Some(gap)) if is_small(gap) => Ok(gap),
        (status, _) => Err(DerivativeError::Uncertified { status: status.name() }),
    }
}

/// Checks that the multipliers tilt the model as the answer is tilted: those of solvers which know
/// only slopes do not at a kink.
fn check_multipliers(
    oracle: &mut dyn Oracle,
    measurements: &Measurements,
    place: Place,
) -> Result<(), DerivativeError> {
    let mut apart = place.tilt.to_vec();
    for (row, &multiplier) in place.multipliers.iter().enumerate() {
        measurements.rows().add_row(row, multiplier, &mut apart);
    }
    let scale = place.tilt.iter().fold(1.0f64, |most, tilt| most.max(tilt.abs()));
    if apart.iter().all(|tilt| tilt.abs() <= 1e-9 * scale) {
        return Ok(());
    }
    // Tilts that change no distribution do not count.
    let mut product = vec![0.0; apart.len()];
    second_order(oracle)?.covariance(&apart, &mut product);
    let divergence: f64 = 0.5 * apart.iter().zip(&product).map(|(a, p)| a * p).sum::<f64>();
    if divergence <= UNEXPLAINED * place.gap.max(1e-12) {
        return Ok(());
    }
    Err(DerivativeError::NoMultipliers)
}
