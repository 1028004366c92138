use std::ops::ControlFlow;

/// How a solve ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Status {
    /// The gap is within the tolerance.
    Converged,
    /// A stationary point of a non-convex problem.
    Stationary,
    /// The iterations ran out, or a search was lost: it finds nothing better, with more of the gap
    /// left than rounding explains.
    IterationLimit,
    /// Rounding prevents further progress, and the gap is above the tolerance.
    RoundingLimit,
    /// The time ran out.
    TimeLimit,
    /// The observer, or a [`Cancel`](crate::Cancel), asked to stop.
    Stopped,
    /// The measurements cannot hold: hard ones by proof, or counts of something impossible.
    Infeasible,
}

impl Status {
    /// The word in answers.
    pub fn name(self) -> &'static str {
        match self {
            Self::Converged => "converged",
            Self::Stationary => "stationary",
            Self::IterationLimit => "iteration_limit",
            Self::RoundingLimit => "rounding_limit",
            Self::TimeLimit => "time_limit",
            Self::Stopped => "stopped",
            Self::Infeasible => "infeasible",
        }
    }
}

/// Which of its points a solver returned.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Returned {
    /// The last iterate.
    Last,
    /// An earlier iterate, or the base model: those that break hard constraints least, and of them
    /// that with the least objective.
    Best,
    /// The average of the iterates.
    Average,
}

impl Returned {
    /// The word in answers.
    pub fn name(self) -> &'static str {
        match self {
            Self::Last => "last",
            Self::Best => "best",
            Self::Average => "average",
        }
    }
}

/// What is known after an iteration.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Record {
    /// Counted from 1.
    pub iteration: usize,
    /// `F` at the current iterate.
    pub objective: f64,
    /// A bound on `F` at the average of the iterates, for solvers that keep one.
    pub average_objective: Option<f64>,
    /// The best lower bound on the optimum so far, if there is one.
    pub lower_bound: Option<f64>,
    /// A proven bound on `objective − optimum` at the current iterate, never below `objective −
    /// lower_bound`.
    pub gap: Option<f64>,
    /// How far the tilt is from `−∇L(μ)` (`‖·‖∞`); for the dual, the projected gradient's.
    pub residual: f64,
    /// Oracle calls so far.
    pub oracle_calls: usize,
    /// Products with the covariance of the statistics so far; each takes about as long as a call.
    pub products: usize,
    /// Time so far.
    pub seconds: f64,
}

/// Sees every iteration, and may stop the solve.
pub trait Observer {
    /// Called after each iteration with what is known and the current marginals on the support.
    fn observe(&mut self, record: &Record, marginals: &[f64]) -> ControlFlow<()>;

    /// Whether it uses the records. If not, no clock is read and no record made, and averages of
    /// iterates are evaluated only from time to time. The answer is the same.
    fn looks(&self) -> bool {
        true
    }
}

/// An observer that does nothing.
#[derive(Clone, Copy, Debug, Default)]
pub struct Ignore;

impl Observer for Ignore {
    fn observe(&mut self, _: &Record, _: &[f64]) -> ControlFlow<()> {
        ControlFlow::Continue(())
    }

    fn looks(&self) -> bool {
        false
    }
}

impl<F: FnMut(&Record, &[f64]) -> ControlFlow<()>> Observer for F {
    fn observe(&mut self, record: &Record, marginals: &[f64]) -> ControlFlow<()> {
        self(record, marginals)
    }
}

/// What a solver found.
#[derive(Clone, Debug)]
pub struct Solution {
    /// How it ended.
    pub status: Status,
    /// The solver that found the answer.
    pub solver: &'static str,
    /// Iterations done.
    pub iterations: usize,
    /// Oracle calls done.
    pub oracle_calls: usize,
    /// Products with the covariance of the statistics done: only `newton` makes any, and each takes
    /// about as long as a call.
    pub products: usize,
    /// Time taken.
    pub seconds: f64,
    /// `F` at the answer (an upper bound on it if the average is returned).
    pub objective: f64,
    /// A lower bound on the optimum, where one exists.
    pub lower_bound: Option<f64>,
    /// An upper bound on `objective − optimum`, where one exists; never below `objective −
    /// lower_bound`.
    pub gap: Option<f64>,
    /// Which point this is.
    pub returned: Returned,
    /// The tilt `δ`: the answer is `oracle(θ + δ)`. The tilt of an average serves only to decode.
    pub tilt: Vec<f64>,
    /// The multiplier `λ_j` of each row of [`Energies::measurements`](crate::energy::Energies). Those of the dual, which knows
    /// them also at kinks and for hard constraints, tilt the model by `−Σ_j λ_j a_j` (up to a tilt
    /// that changes no distribution); else the slopes `w_j φ_j′(z_j)`, the same at the optimum.
    pub multipliers: Vec<f64>,
    /// The answer's marginals on the support.
    pub marginals: Vec<f64>,
    /// The answer's marginals of the tables that [`Task::marginals`] asked for, one after another,
    /// where it is an average; otherwise read them from the oracle.
    ///
    /// [`Task::marginals`]: super::Task::marginals
    pub averaged_tables: Option<Vec<f64>>,
    /// `A(θ + δ)`
    pub log_partition: f64,
    /// `A(θ)`
    pub base_log_partition: f64,
}
