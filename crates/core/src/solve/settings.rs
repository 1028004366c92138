use std::time::Duration;

use thiserror::Error;

use crate::energy::Energies;
use crate::model::ModelError;
use crate::oracle::{Exactness, OracleKind, Tables};

/// Which solver to run, with its own settings.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Method {
    /// Whatever serves the energies best.
    Auto,
    /// Algorithm 1, Bethe-RDA.
    Rda {
        /// `β ≥ 0`: how long the start is remembered.
        beta: f64,
    },
    /// Algorithm 4, Bethe-MD.
    MirrorDescent {
        /// The learning rates `η_t`.
        schedule: StepSchedule,
    },
    /// Algorithm 5, accelerated Bethe-RDA.
    AcceleratedRda {
        /// `L/σ`: the gradient is `L`-Lipschitz in a norm in which −H is `σ`-strongly convex.
        /// Found by doubling if not given.
        smoothness: Option<f64>,
    },
    /// Relaxed iteration with a step found by Bregman backtracking.
    Adaptive,
    /// The dual in measurement space.
    Dual,
}

impl Method {
    /// The name on the command line and in answers.
    pub fn name(self) -> &'static str {
        match self {
            Self::Auto => "auto",
            Self::Rda { .. } => "rda",
            Self::MirrorDescent { .. } => "mirror-descent",
            Self::AcceleratedRda { .. } => "accelerated-rda",
            Self::Adaptive => "adaptive",
            Self::Dual => "dual",
        }
    }
}

/// What [`Method::Auto`] does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Plan {
    /// Measurements only, or nothing at all: the dual.
    Dual,
    /// Energies known by value and gradient only: adaptive steps. Also large tables of smooth
    /// measurements that overlap: they say the same thing several times, which leaves the dual flat
    /// in many directions.
    Adaptive,
    /// The same, convex and with kinks: dual averaging, which needs no smoothness.
    Rda,
    /// `nearest` energies piece by piece, other energies linearised, what remains by the dual.
    Alternating,
    /// Squared errors of tables, many cells or such as overlap: their dual, once they are made to
    /// agree, with weights that grow.
    Tempered,
}

impl Plan {
    /// The plan for energies under an exact oracle.
    pub fn for_energies(energies: &Energies) -> Self {
        Self::through(Exactness::Exact, energies)
    }

    /// The plan under this oracle: marginals of one that is not exact agree only in part.
    pub(super) fn through(exactness: Exactness, energies: &Energies) -> Self {
        let is_exact = exactness == Exactness::Exact;
        let (overlap, many) =
            (energies.tables_overlap(), energies.measurements.are_many_smooth_tables());
        let telling = is_exact && (overlap || many) && energies.has_telling_tables();
        match (energies.measurements.is_empty(), energies.nearest.is_empty(), &energies.others[..])
        {
            (_, true, []) if telling => Self::Tempered,
            (_, true, []) if overlap && many => Self::Adaptive,
            (_, true, []) => Self::Dual,
            (true, true, _) if energies.has_convex_kinks() => Self::Rda,
            (true, true, _) => Self::Adaptive,
            _ => Self::Alternating,
        }
    }
}

/// Learning rates of mirror descent.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum StepSchedule {
    /// `η_t = η`
    Constant(f64),
    /// `η_t = 1/t`: the paper's `1/(λt)` with `λ = 1`, since −H is 1-strongly convex relative to
    /// itself.
    Inverse,
}

/// How to solve, and when to stop.
#[derive(Clone, Debug, PartialEq)]
pub struct Settings {
    /// The solver.
    pub method: Method,
    /// Converged means `gap ≤ tolerance · max(1, |objective|)`.
    pub tolerance: f64,
    /// Whether iterations go on until `gap ≤ tolerance`, which the error of the marginals follows: for
    /// at most as many as it took to converge, and ten.
    pub polish: bool,
    /// At most so many iterations.
    pub max_iterations: usize,
    /// At most so long.
    pub time_limit: Option<Duration>,
    /// For `nearest` energies: find the best of all pieces, with a certificate.
    pub global: bool,
    /// Which tables the answer will show, and so which ones averages are kept of.
    pub marginals: Tables,
    /// Which oracle [`Problem::solve`](crate::Problem::solve) binds.
    pub oracle: OracleKind,
}

impl Default for Settings {
    fn default() -> Self {
        Self {
            method: Method::Auto,
            tolerance: 1e-6,
            polish: true,
            max_iterations: 10_000,
            time_limit: None,
            global: false,
            marginals: Tables::All,
            oracle: OracleKind::Auto,
        }
    }
}

/// Why a problem cannot be solved as asked.
#[derive(Clone, Debug, Error, PartialEq)]
pub enum SolveError {
    /// The model has no exact oracle, or no allowed configuration.
    #[error(transparent)]
    Model(#[from] ModelError),
    /// The solver cannot serve an energy.
    #[error("solver {solver} cannot serve {energy}; expected {expected}")]
    Unserved {
        /// The solver's name.
        solver: &'static str,
        /// What it was asked to serve.
        energy: &'static str,
        /// What would do.
        expected: &'static str,
    },
    /// The energy is infinite or NaN where a primal solver has to start.
    #[error(
        "solver {solver} starts at the base model's marginals, where the energy is {energy}; \
         expected a finite value (for measurements alone, solver dual needs no such start)"
    )]
    NotFiniteAtStart {
        /// The solver's name.
        solver: &'static str,
        /// The energy there.
        energy: f64,
    },
    /// Marginals that no model has.
    #[error("the oracle is not to be exact, expected one whose marginals are a model's")]
    Unfitted,
    /// Energies whose values leave the range of a double.
    #[error("the energies' values add up to more than a double holds, expected less than 1e308")]
    Overflow,
    /// A setting out of its range.
    #[error("{setting}: found {found}, expected {expected}")]
    Setting {
        /// Which one.
        setting: &'static str,
        /// Its value.
        found: f64,
        /// What is allowed.
        expected: &'static str,
    },
}

impl Settings {
    /// Checks every number.
    pub fn check(&self) -> Result<(), SolveError> {
        let check = |setting, found: f64, fits: bool, expected| {
            if fits { Ok(()) } else { Err(SolveError::Setting { setting, found, expected }) }
        };
        let tolerance = self.tolerance;
        check(
            "tolerance",
            tolerance,
            tolerance > 0.0 && tolerance.is_finite(),
            "a positive number",
        )?;
        let iterations = self.max_iterations;
        check("max iterations", iterations as f64, iterations > 0, "at least 1")?;
        match self.method {
            Method::Rda { beta } => {
                check("beta", beta, beta >= 0.0 && beta.is_finite(), "a number of at least 0")
            }
            Method::MirrorDescent { schedule: StepSchedule::Constant(step) } => {
                check("step size", step, step > 0.0 && step.is_finite(), "a positive number")
            }
            Method::AcceleratedRda { smoothness: Some(given) } => {
                check("smoothness", given, given > 0.0 && given.is_finite(), "a positive number")
            }
            _ => Ok(()),
        }
    }
}
