use bethe_core::Solution;
use serde::Serialize;

use super::{Errors, Learning, Tuned};
use crate::birdflow::Loss;
use crate::infer::Fit;
use crate::validate::Validation;

/// How flows were found, and how well they fit.
#[derive(Clone, Debug, Serialize)]
pub struct Summary {
    /// How it ended.
    pub status: &'static str,
    /// The solver that ran.
    pub solver: &'static str,
    /// `F` at the answer, in nats of one individual's route.
    pub objective: f64,
    /// A lower bound on the optimum.
    pub lower_bound: Option<f64>,
    /// An upper bound on `objective − optimum`.
    pub gap: Option<f64>,
    /// An upper bound on the error of every marginal.
    pub marginal_error_bound: Option<f64>,
    /// Iterations done.
    pub iterations: usize,
    /// Oracle calls done.
    pub oracle_calls: usize,
    /// Time taken by the solver.
    pub seconds: f64,
    /// How many individuals there are.
    pub population: f64,
    /// Number of cells.
    pub cells: usize,
    /// Number of times.
    pub times: usize,
    /// The most moves that are possible in any step.
    pub moves: usize,
    /// How counts come about.
    pub noise: String,
    /// What was learned of movement, if anything was.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub learning: Option<Learning>,
    /// BirdFlow's loss, if it was minimised.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub birdflow: Option<Loss>,
    /// How well marked individuals are predicted, if there are any.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub validation: Option<Validation>,
    /// Weights that were tried; nothing if none were.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub tuning: Vec<Tuned>,
    /// How standard errors were found, if they were.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub errors: Option<Errors>,
    /// Counts that were observed.
    pub observed: usize,
    /// Mean over the times of their correlations.
    pub correlation: Option<f64>,
    /// Mean deviance of all counts.
    pub mean_deviance: Option<f64>,
    /// The fit, time by time.
    pub fit: Vec<TimeFit>,
    /// What was odd, and what was done.
    pub warnings: Vec<String>,
}

/// The fit of one time.
#[derive(Clone, Debug, Serialize)]
pub struct TimeFit {
    /// The time.
    pub time: String,
    /// Cells that were observed.
    pub observed: usize,
    /// Correlation of observed and expected counts.
    pub correlation: Option<f64>,
    /// Mean deviance of the counts.
    pub mean_deviance: Option<f64>,
}

impl Summary {
    /// The part that a solution tells; the rest is for the caller to fill in.
    pub fn of_solution(solution: &Solution) -> Self {
        Self {
            status: solution.status.name(),
            solver: solution.solver,
            objective: solution.objective,
            lower_bound: solution.lower_bound,
            gap: solution.gap,
            marginal_error_bound: solution.gap.map(|gap| (gap / 2.0).sqrt().min(1.0)),
            iterations: solution.iterations,
            oracle_calls: solution.oracle_calls,
            seconds: solution.seconds,
            population: 0.0,
            cells: 0,
            times: 0,
            moves: 0,
            noise: String::new(),
            learning: None,
            birdflow: None,
            validation: None,
            tuning: Vec::new(),
            errors: None,
            observed: 0,
            correlation: None,
            mean_deviance: None,
            fit: Vec::new(),
            warnings: Vec::new(),
        }
    }

    /// Adds the fit of each time.
    pub fn with_fit(mut self, times: &[String], fits: &[Fit]) -> Self {
        self.observed = fits.iter().map(|fit| fit.observed).sum();
        let correlations: Vec<f64> = fits.iter().filter_map(|fit| fit.correlation).collect();
        let mean = correlations.iter().sum::<f64>() / correlations.len() as f64;
        self.correlation = (!correlations.is_empty()).then_some(mean);
        let deviance: f64 =
            fits.iter().filter_map(|fit| Some(fit.mean_deviance? * fit.observed as f64)).sum();
        self.mean_deviance = (self.observed > 0).then(|| deviance / self.observed as f64);
        let named = times.iter().zip(fits).map(|(time, fit)| TimeFit {
            time: time.clone(),
            observed: fit.observed,
            correlation: fit.correlation,
            mean_deviance: fit.mean_deviance,
        });
        self.fit = named.collect();
        self
    }
}
