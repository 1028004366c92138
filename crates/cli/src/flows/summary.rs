//! The summary at the end: for people, or as JSON.

use std::io::{self, IsTerminal};

use anyhow::{Context, Result};
use bethe_flows::output::{Summary, rounded};
use bethe_flows::validate::Scores;
use bethe_terminal::{counted, print, say, show};

use super::config::Config;
use super::flags::FormatChoice;
use super::learning;

/// What people who have no files yet may do next.
const HINT: &str = "\n--out DIR writes the flows, and a map of them";

/// Prints the summary on standard output, unless there are files and no format was asked for; and in
/// words on standard error, unless they are on standard output.
pub fn tell(config: &Config, summary: &Summary, written: Option<String>) -> Result<()> {
    let default = match io::stdout().is_terminal() {
        true => FormatChoice::Text,
        false => FormatChoice::Json,
    };
    let format = match (config.format, &written) {
        (None, Some(_)) => None,
        (asked, _) => Some(asked.unwrap_or(default)),
    };
    let further = written.as_deref().unwrap_or(if config.quiet { "" } else { HINT });
    match format {
        Some(FormatChoice::Text) => {
            show(&(in_words(summary) + further + "\n")).context("standard output")
        }
        Some(FormatChoice::Json) => {
            let json = serde_json::to_string(summary)? + "\n";
            print(&json).context("standard output")?;
            say_unless_quiet(config, summary, written)
        }
        None => say_unless_quiet(config, summary, written),
    }
}

fn say_unless_quiet(config: &Config, summary: &Summary, written: Option<String>) -> Result<()> {
    if !config.quiet {
        say(&(in_words(summary) + &written.unwrap_or_default()));
    }
    Ok(())
}

/// What was found, for people.
pub fn in_words(summary: &Summary) -> String {
    let number = |value: Option<f64>| value.map_or("none".to_string(), |v| rounded(v, 3));
    let learned = summary.learning.as_ref().map(|own| learning::in_words(own) + "\n");
    let loss = summary.birdflow.map(|loss| {
        format!(
            "loss: {} (observation {}, distance {}, entropy {})\n",
            rounded(loss.total, 4),
            rounded(loss.observation, 4),
            rounded(loss.distance, 4),
            rounded(loss.entropy, 4)
        )
    });
    let tuned = summary.tuning.iter().find(|own| own.chosen).map(|own| {
        let number = summary.tuning.len();
        format!("tuned: {} is the best of {number}, score {}\n", own.weights, rounded(own.score, 4))
    });
    let checked = summary.errors.filter(|own| own.coverage.is_some()).map(|own| {
        format!(
            "\nbootstrap: {} populations; two standard errors by the curvature cover {} % of their \
             counts and are {} times those of the bootstrap",
            own.replicates.unwrap_or(0),
            rounded(100.0 * own.coverage.unwrap_or(0.0), 3),
            number(own.ratio)
        )
    });
    let scores = |own: &Scores, which: &str| {
        format!(
            "\n{which} {} individuals: log-likelihood {}; counts alone {}, persistence {}",
            own.individuals,
            rounded(own.flows, 3),
            rounded(own.counts_alone, 3),
            rounded(own.persistence, 3)
        )
    };
    let validated = summary.validation.map(|own| {
        let elsewhere = own.elsewhere.map(|own| scores(&own, "seen elsewhere:"));
        scores(&own.all, "seen twice:") + &elsewhere.unwrap_or_default()
    });
    format!(
        "{}{}{}{}: gap {} nats, {}, {} s, solver {}\n\
         fit: correlation {}, mean deviance {}, of {} in {} at {}{}",
        tuned.unwrap_or_default(),
        learned.unwrap_or_default(),
        loss.unwrap_or_default(),
        summary.status.replace('_', " "),
        number(summary.gap),
        counted(summary.oracle_calls, "oracle call"),
        rounded(summary.seconds, 3),
        summary.solver,
        number(summary.correlation),
        number(summary.mean_deviance),
        counted(summary.observed, "count"),
        counted(summary.cells, "cell"),
        counted(summary.times, "time"),
        checked.unwrap_or_default() + &validated.unwrap_or_default(),
    )
}
