//! Learning movement from the counts, and what to say about it.

use std::time::Duration;

use anyhow::Result;
use bethe_core::Cancel;
use bethe_flows::infer::{self, FlowError};
use bethe_flows::learn::{Choice, Learner, Progress, choose, learn_with};
use bethe_flows::model::FeatureKind;
use bethe_flows::output::{LearnedWeight, Learning, Tried, for_people};
use bethe_terminal::{bad_input, counted};

use super::config::Config;
use super::input::Input;
use super::time::deadline;

/// A weight below this part of its standard error is rounding.
const ROUNDING: f64 = 1e-6;

impl Input {
    /// The counts to learn from.
    pub fn learner(&self, config: &Config, cancel: Cancel) -> Learner<'_> {
        // An exponent in the name is given.
        let named = |name: &str| name == "distance";
        let bent = self.movement.features.iter().position(|feature| named(&feature.name));
        Learner {
            cells: &self.cells,
            movement: &self.movement,
            learned: &self.learned,
            bent: bent.filter(|&feature| self.learned[feature]),
            start: self.start.as_deref(),
            observations: &self.counts,
            noise: &self.noise,
            population: config.population,
            cancel,
            // The other half is for the flows.
            deadline: deadline(config.settings.time_limit.map(|limit| limit / 2)),
        }
    }

    /// Learns how individuals move, and uses the law that was learned.
    pub fn learn(
        &mut self,
        config: &Config,
        cancel: Cancel,
        observe: &mut dyn FnMut(Progress),
    ) -> Result<Option<Choice>, FlowError> {
        if !config.learns || self.counts.times().len() < 2 {
            return Ok(None);
        }
        // Counts where nobody can be are reported as in the file, not as they are held out.
        self.problem(config, cancel.child()).check_counts()?;
        let learner = self.learner(config, cancel);
        let choice = match config.prior {
            Some(prior) => learn_with(&learner, prior, observe)?,
            None => choose(&learner, observe)?,
        };
        let steps = self.moves.of_step.len();
        // The old tables are dropped first: those that were learned are as large.
        self.moves.tables.clear();
        self.moves = choice.law.moves(&self.cells, steps, config.memory).expect("it fitted before");
        self.movement = choice.law.movement.clone();
        self.start.clone_from(&choice.law.start);
        Ok(Some(choice))
    }
}

/// Refuses to infer flows, and to learn, with more memory than the limit.
pub fn check(config: &Config, input: &Input) -> Result<()> {
    let (what, bytes, less) = if config.learns {
        let bytes = input.learner(config, Cancel::never()).bytes(&input.moves);
        ("learning how individuals move", bytes, "a shorter --reach or --fit none")
    } else {
        ("inferring flows", infer::bytes(&input.moves, &input.counts), "a shorter --reach")
    };
    config.memory.check(what, bytes).map_err(|error| {
        bad_input(format!("{}: {error}; {less} needs less", config.cells.display()))
    })
}

/// What was learned, for the summary.
pub fn learning(input: &Input, choice: &Choice, seconds: Duration) -> Learning {
    let features = choice.law.movement.features.iter().zip(&input.learned);
    let found = choice.weight_errors.iter().zip(&choice.corrections);
    let weights = features.zip(found).map(|((feature, learned), (error, correction))| {
        let exponent = match feature.kind {
            FeatureKind::Power { exponent, .. } => Some(exponent),
            _ => None,
        };
        let bent = *learned && feature.name == "distance";
        LearnedWeight {
            name: feature.name.clone(),
            weight: feature.weight,
            given: !*learned,
            standard_error: *error,
            correction: *correction,
            exponent,
            exponent_standard_error: choice.exponent_error.filter(|_| bent),
        }
    });
    Learning {
        weights: weights.collect(),
        pulls: choice.prior.map(|prior| [prior.first, prior.change]),
        drift: choice.prior.map(|prior| prior.drift),
        tried: choice
            .trials
            .iter()
            .map(|trial| Tried {
                pulls: trial.prior.map(|prior| [prior.first, prior.change]),
                drift: trial.prior.map(|prior| prior.drift),
                held_out_deviance: trial.held_out,
            })
            .collect(),
        solves: choice.solves,
        converged: choice.converged,
        seconds: seconds.as_secs_f64(),
    }
}

/// What was learned, for people.
pub fn in_words(learning: &Learning) -> String {
    let number = |value: f64| for_people(value, 3);
    let weight = |own: &LearnedWeight| {
        // What counts say nothing about is 0 up to rounding.
        let is_rounding = own.standard_error.is_some_and(|e| own.weight.abs() < ROUNDING * e);
        let weight = if is_rounding { 0.0 } else { own.weight };
        let exponent = own.exponent.filter(|_| own.exponent_standard_error.is_some());
        let power = exponent.map_or(String::new(), |exponent| format!("^{}", number(exponent)));
        let value = match own.standard_error {
            Some(error) => with_error(weight, error),
            None if own.given => format!("{} (given)", number(weight)),
            None => number(weight),
        };
        format!("{}{power}: {value}", own.name)
    };
    let weights: Vec<String> = learning.weights.iter().map(weight).collect();
    let pulls = match learning.pulls {
        None => "no pulls of places".to_string(),
        Some([0.0, _]) => "drifts".to_string(),
        Some([first, 0.0]) => format!("drifts and pulls of places (standard deviation {first})"),
        Some([first, change]) => {
            format!(
                "drifts and pulls of places (standard deviation {first}, growing by {change} each step)"
            )
        }
    };
    let end = if learning.converged { "" } else { "; not converged" };
    format!("learned: {}; {pulls}; {}{end}", weights.join(", "), counted(learning.solves, "solve"))
}

/// A number with its standard error, both to the second digit of the error.
fn with_error(value: f64, error: f64) -> String {
    if !(1e-6..1e6).contains(&error) || value.abs() >= 1e6 {
        return format!("{} ± {}", for_people(value, 3), for_people(error, 2));
    }
    let decimals = (1.0 - error.log10().floor()).max(0.0) as usize;
    // A zero has no sign.
    let value = format!("{value:.decimals$}").parse::<f64>().map_or(value, |value| value + 0.0);
    format!("{value:.decimals$} ± {error:.decimals$}")
}

#[cfg(test)]
mod tests {
    use super::with_error;

    #[test]
    fn numbers_have_the_decimals_of_their_error() {
        let cases = [
            (1.0, 0.893, "1.00 ± 0.89"),
            (-0.0513, 0.0152, "-0.051 ± 0.015"),
            (0.0, 5.0, "0.0 ± 5.0"),
            (-0.001, 5.0, "0.0 ± 5.0"),
            (1234.5, 321.0, "1234 ± 321"),
            (1e-9, 1e-8, "1e-9 ± 1e-8"),
        ];
        for (value, error, text) in cases {
            assert_eq!(with_error(value, error), text);
        }
    }
}
