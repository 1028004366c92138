use anyhow::{Result, anyhow};
use bethe_core::solve::SolveError;
use bethe_core::{Method, Settings, StepSchedule};
use bethe_learn::energy::Limits;
use bethe_tagging::rules::Weight;
use bethe_tagging::{TagOptions, Tagger};
use bethe_terminal::{bad_input, time};
use clap::Args;

use crate::solver::SolverChoice;

/// Inference under rules: whether, how, and for how long.
#[derive(Args)]
pub struct LimitFlags {
    /// Leave the model's rules out
    #[arg(long, conflicts_with_all = ["solver", "max_iterations", "tolerance", "time_limit"])]
    pub no_rules: bool,

    /// Which solver infers under rules
    #[arg(long, value_enum, default_value_t = SolverChoice::Auto)]
    pub solver: SolverChoice,

    /// Stop after so many iterations, per sequence
    #[arg(long, value_name = "N", default_value_t = 40)]
    pub max_iterations: usize,

    /// Converged means gap ≤ tolerance · max(1, |objective|)
    #[arg(long, value_name = "NUMBER", default_value_t = 1e-4, allow_negative_numbers = true)]
    pub tolerance: f64,

    /// Stop after so long, e.g. 5ms (ns, us, ms, s, m); per sequence
    #[arg(long, value_name = "TIME")]
    pub time_limit: Option<String>,
}

impl LimitFlags {
    /// The options they ask for, for this tagger.
    pub fn options(&self, tagger: &Tagger) -> Result<TagOptions> {
        let method = match self.solver {
            SolverChoice::Auto => Method::Auto,
            SolverChoice::Rda => Method::Rda { beta: 0.0 },
            SolverChoice::MirrorDescent => {
                Method::MirrorDescent { schedule: StepSchedule::Constant(0.1) }
            }
            SolverChoice::AcceleratedRda => Method::AcceleratedRda { smoothness: None },
            SolverChoice::Adaptive => Method::Adaptive,
            SolverChoice::Dual => Method::Dual,
        };
        let kinked = !tagger.parts().penalty.is_smooth() && !tagger.parts().constraints.is_empty();
        let smooth = !matches!(self.solver, SolverChoice::Auto | SolverChoice::Dual);
        if kinked && smooth {
            return Err(bad_input(
                "--solver: found one for smooth energies, expected auto or dual: the model's rules have \
                 the penalty hinge",
            ));
        }
        let any_hard = tagger.parts().constraints.iter().any(|rule| rule.weight == Weight::Hard);
        if any_hard && smooth {
            return Err(bad_input(
                "--solver: found one for smooth energies, expected auto or dual: the model has hard \
                 rules",
            ));
        }
        let time_limit = self.time_limit.as_deref();
        let limits = Limits {
            method,
            tolerance: self.tolerance,
            polish: true,
            max_iterations: self.max_iterations,
            time_limit: time_limit.map(|text| time::parse("--time-limit", text)).transpose()?,
        };
        check(&limits)?;
        Ok(TagOptions { rules: !self.no_rules, limits, ..TagOptions::default() })
    }
}

fn check(limits: &Limits) -> Result<()> {
    let Limits { method, tolerance, polish, max_iterations, time_limit } = *limits;
    let settings = Settings { method, tolerance, polish, max_iterations, time_limit };
    settings.check().map_err(|error| match error {
        SolveError::Setting { setting, found, expected } => bad_input(format!(
            "--{}: found {found}, expected {expected}",
            setting.replace(' ', "-")
        )),
        other => anyhow!(other),
    })
}
