use std::fmt;
use std::sync::Arc;

use super::{Curvature, EnergyError, EnergyFault, EnergyFunction};
use crate::model::Model;
use crate::model::table::table_size;

/// Returns the value at the marginals and fills in the gradient, which is zero on entry.
pub type Function = dyn Fn(&[f64], &mut [f64]) -> f64 + Send + Sync;

/// A user's own energy: a closure over the marginals of the tables it names.
///
/// ```
/// use bethe_core::{Curvature, CustomEnergy};
/// // Pulls P(y₀ = 1) towards a half.
/// let energy = CustomEnergy::new(vec![vec![0]], Curvature::Convex { infimum: 0.0 }, |m, g| {
///     g[1] = 2.0 * (m[1] - 0.5);
///     (m[1] - 0.5).powi(2)
/// });
/// # let _ = energy;
/// ```
#[derive(Clone)]
pub struct CustomEnergy {
    pub(super) scopes: Vec<Vec<usize>>,
    pub(super) curvature: Curvature,
    pub(super) smooth: bool,
    pub(super) function: Arc<Function>,
}

impl CustomEnergy {
    /// `function(marginals, gradient) -> value` sees the marginals of `scopes` in order, each
    /// row-major in the order its variables are listed. The gradient must be continuous, unless
    /// declared by [`CustomEnergy::with_kinks`].
    ///
    /// `curvature` is trusted: if a function is declared convex and is not, certificates are wrong.
    pub fn new(
        scopes: Vec<Vec<usize>>,
        curvature: Curvature,
        function: impl Fn(&[f64], &mut [f64]) -> f64 + Send + Sync + 'static,
    ) -> Self {
        Self { scopes, curvature, smooth: true, function: Arc::new(function) }
    }

    /// Declares that the gradient has jumps.
    pub fn with_kinks(mut self) -> Self {
        self.smooth = false;
        self
    }

    pub(super) fn check(&self, model: &Model) -> Result<(), EnergyError> {
        for (i, scope) in self.scopes.iter().enumerate() {
            let cells = table_size(
                scope.iter().map(|&v| model.variables().get(v).map_or(1, |v| v.cardinality)),
            );
            model
                .check_table(scope, cells.unwrap_or(usize::MAX))
                .map_err(|e| EnergyFault::from(e).at(&format!("scopes[{i}]")))?;
        }
        Ok(())
    }
}

impl fmt::Debug for CustomEnergy {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("CustomEnergy").field("scopes", &self.scopes).finish_non_exhaustive()
    }
}

/// What the marginal of a cell is.
#[derive(Clone, Copy)]
pub(super) enum Coordinate {
    /// 0: the cell contradicts a fixed state.
    Contradicted,
    /// 1: every variable is fixed, to the states of this cell.
    Fixed,
    /// That of a coordinate of the support.
    At(usize),
}

impl Coordinate {
    /// Of a cell with a place in the base table, whose block starts here.
    pub(super) fn new(start: Option<usize>, place: Option<usize>) -> Self {
        match (start, place) {
            (_, None) => Self::Contradicted,
            (None, Some(_)) => Self::Fixed,
            (Some(start), Some(place)) => Self::At(start + place),
        }
    }
}

/// A custom energy bound to a support.
pub(super) struct BoundCustom {
    pub(super) energy: CustomEnergy,
    /// `[cells of all scopes]`
    pub(super) coordinates: Vec<Coordinate>,
    /// `[cells of all scopes]`
    pub(super) marginals: Vec<f64>,
    /// `[cells of all scopes]`
    pub(super) gradient: Vec<f64>,
}

impl EnergyFunction for BoundCustom {
    fn evaluate(&mut self, marginals: &[f64], gradient: &mut [f64]) -> f64 {
        for (own, coordinate) in self.marginals.iter_mut().zip(&self.coordinates) {
            *own = match *coordinate {
                Coordinate::Contradicted => 0.0,
                Coordinate::Fixed => 1.0,
                Coordinate::At(i) => marginals[i],
            };
        }
        self.gradient.fill(0.0);
        let value = (self.energy.function)(&self.marginals, &mut self.gradient);
        for (own, coordinate) in self.gradient.iter().zip(&self.coordinates) {
            if let Coordinate::At(i) = *coordinate {
                gradient[i] += own;
            }
        }
        value
    }

    fn curvature(&self) -> Curvature {
        self.energy.curvature
    }

    fn is_smooth(&self) -> bool {
        self.energy.smooth
    }
}
