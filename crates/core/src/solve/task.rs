use crate::cancel::Cancel;
use crate::energy::Energies;
use crate::oracle::{Oracle, Tables};

/// What to solve: energies, and the oracle of the model they were bound to.
pub struct Task<'a> {
    /// The oracle, bound to the energies' support.
    pub oracle: &'a mut dyn Oracle,
    /// The energies.
    pub energies: &'a mut Energies,
    /// A lower bound on the score of every allowed configuration, or `-∞`; infeasible constraints
    /// are proved with it.
    pub lowest_score: f64,
    /// How large scores are that cancel in a probable configuration, which the rounding of
    /// log-partitions follows; 0 if they do not.
    pub score_size: f64,
    /// Which tables the answer will show, and so which ones averages are kept of.
    pub marginals: Tables,
    /// Whether the answer may be an average of iterates: no tilt leads to one.
    pub allows_average: bool,
    /// Stops the solve. An oracle that looks at the same token is stopped within a call; give each
    /// solve a [`Cancel::child`] of its own, as the driver limits its time and, while it makes the
    /// last call, suspends it.
    pub cancel: Cancel,
    /// Where the dual of the measurements starts, if not at 0: a multiplier for each. Solvers other
    /// than the dual's start at the base model.
    pub start: Option<&'a [f64]>,
}

impl<'a> Task<'a> {
    /// A task without a bound on scores, which shows all marginals and which nothing cancels.
    pub fn new(oracle: &'a mut dyn Oracle, energies: &'a mut Energies) -> Self {
        let (lowest_score, marginals) = (f64::NEG_INFINITY, Tables::All);
        let (allows_average, cancel) = (true, Cancel::never());
        let (score_size, start) = (0.0, None);
        Self {
            oracle,
            energies,
            lowest_score,
            score_size,
            marginals,
            allows_average,
            cancel,
            start,
        }
    }
}

/// The oracle's answer for the base model.
#[derive(Clone, Debug, PartialEq)]
pub struct Base {
    /// `A(θ)`
    pub log_partition: f64,
    /// `μ(θ)`. `[support]`
    pub marginals: Vec<f64>,
}

impl Base {
    /// Calls the oracle.
    pub(super) fn of(task: &mut Task) -> Self {
        let coordinates = task.energies.support().len();
        let mut marginals = vec![0.0; coordinates];
        let log_partition = task.oracle.tilted(&vec![0.0; coordinates], &mut marginals);
        Self { log_partition, marginals }
    }
}
