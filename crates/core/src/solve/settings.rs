use std::time::Duration;

use super::{Returned, SolveError};

/// Which solver to run, with its own settings.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Method {
    /// The best method for the energies.
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
    /// The same by truncated Newton steps with continuation: for exact oracles that know products
    /// with the covariance.
    Newton,
    /// For `nearest` energies: the best of all pieces by branch and bound, with a certificate.
    Global,
}

impl Method {
    /// Every method that is asked for by name, with the settings that the command line has for it.
    pub const NAMED: [Self; 8] = [
        Self::Rda { beta: 0.0 },
        Self::MirrorDescent { schedule: StepSchedule::Constant(0.1) },
        Self::MirrorDescent { schedule: StepSchedule::Inverse },
        Self::AcceleratedRda { smoothness: None },
        Self::Adaptive,
        Self::Dual,
        Self::Newton,
        Self::Global,
    ];

    /// The name on the command line. Answers name the solver that really ran: one of these except
    /// `auto`, or `alternating`.
    pub fn name(self) -> &'static str {
        match self {
            Self::Auto => "auto",
            Self::Rda { .. } => "rda",
            Self::MirrorDescent { .. } => "mirror-descent",
            Self::AcceleratedRda { .. } => "accelerated-rda",
            Self::Adaptive => "adaptive",
            Self::Dual => "dual",
            Self::Newton => "newton",
            Self::Global => "global",
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
    /// Whether iterations go on until `gap ≤ tolerance`, which the error of the marginals follows:
    /// for at most as many iterations again, plus ten.
    pub polish: bool,
    /// Most iterations.
    pub max_iterations: usize,
    /// At most this long, but at least one iteration; setting up the problem does not count.
    pub time_limit: Option<Duration>,
    /// Which point is the answer: the best of all that were looked at, the last iterate, or the
    /// average of the iterates, which only `Rda`, `MirrorDescent` and `AcceleratedRda` keep.
    pub returned: Returned,
}

impl Default for Settings {
    fn default() -> Self {
        Self {
            method: Method::Auto,
            tolerance: 1e-6,
            polish: true,
            max_iterations: 10_000,
            time_limit: None,
            returned: Returned::Best,
        }
    }
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
