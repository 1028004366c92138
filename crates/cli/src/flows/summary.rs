//! The summary at the end: for people, or as JSON.

use std::io::{self, IsTerminal};

use anyhow::{Context, Result};
use bethe_flows::output::{Summary, for_people};
use bethe_flows::validate::Scores;
use bethe_terminal::{counted, print, say, show};

use super::config::Config;
use super::flags::FormatChoice;
use super::learning;

/// What people who have no files yet may do next.
const HINT: &str = "--out DIR writes the flows, and a map of them";

/// Prints the summary on standard output, unless there are files and no format was asked for; and in
/// words on standard error, unless they are on standard output. Without files, people are told the
/// largest moves.
pub fn tell(
    config: &Config,
    summary: &Summary,
    written: Option<String>,
    largest: impl FnOnce() -> String,
) -> Result<()> {
    let default = match io::stdout().is_terminal() {
        true => FormatChoice::Text,
        false => FormatChoice::Json,
    };
    let format = match (config.format, &written) {
        (None, Some(_)) => None,
        (asked, _) => Some(asked.unwrap_or(default)),
    };
    match format {
        Some(FormatChoice::Text) => {
            let further = written.unwrap_or_else(|| {
                let hint = if config.quiet { "" } else { HINT };
                format!("\n{}{hint}", largest()).trim_end().to_string()
            });
            show(&(wrapped(&(in_words(summary) + &further)) + "\n")).context("standard output")
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
        say(&wrapped(&(in_words(summary) + &written.unwrap_or_default())));
    }
    Ok(())
}

/// Lines of at most this many letters, as terminals are at least.
const WIDTH: usize = 80;

/// Text whose long lines are continued, indented, on the next.
fn wrapped(text: &str) -> String {
    text.split('\n').map(wrapped_line).collect::<Vec<_>>().join("\n")
}

fn wrapped_line(line: &str) -> String {
    // Columns of a table stay as they are.
    if line.starts_with(' ') {
        return line.to_string();
    }
    let (mut text, mut column) = (String::new(), 0);
    for word in line.split(' ') {
        let length = word.chars().count();
        if column > 0 && column + 1 + length > WIDTH {
            text += "\n   ";
            column = 3;
        }
        if column > 0 {
            text.push(' ');
            column += 1;
        }
        text += word;
        column += length;
    }
    text
}

/// What was found, for people.
pub fn in_words(summary: &Summary) -> String {
    let number = |value: Option<f64>| value.map_or("none".to_string(), |v| for_people(v, 3));
    let learned = summary.learning.as_ref().map(|own| learning::in_words(own) + "\n");
    let loss = summary.birdflow.map(|loss| {
        format!(
            "loss: {} (observation {}, distance {}, entropy {})\n",
            for_people(loss.total, 4),
            for_people(loss.observation, 4),
            for_people(loss.distance, 4),
            for_people(loss.entropy, 4)
        )
    });
    let tuned = summary.tuning.iter().find(|own| own.chosen).map(|own| {
        let number = summary.tuning.len();
        format!(
            "tuned: {} is the best of {number}, score {}\n",
            own.weights,
            for_people(own.score, 4)
        )
    });
    let checked = summary.errors.filter(|own| own.coverage.is_some()).map(|own| {
        format!(
            "\nbootstrap: {} populations; two standard errors by the curvature cover {} % of their \
             counts and are {} times those of the bootstrap",
            own.replicates.unwrap_or(0),
            for_people(100.0 * own.coverage.unwrap_or(0.0), 3),
            number(own.ratio)
        )
    });
    let scores = |own: &Scores, which: &str| {
        format!(
            "\n{which} {}: log-likelihood {}; counts alone {}, persistence {}",
            counted(own.individuals, "individual"),
            for_people(own.flows, 3),
            for_people(own.counts_alone, 3),
            for_people(own.persistence, 3)
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
        for_people(summary.seconds, 3),
        summary.solver,
        number(summary.correlation),
        number(summary.mean_deviance),
        counted(summary.observed, "count"),
        counted(summary.cells, "cell"),
        counted(summary.times, "time"),
        checked.unwrap_or_default() + &validated.unwrap_or_default(),
    )
}

#[cfg(test)]
mod tests {
    use super::wrapped;

    #[test]
    fn long_lines_go_on_below_and_tables_stay() {
        let words = "word ".repeat(30);
        let table = format!("  {}", "column ".repeat(30));
        let text = wrapped(&format!("{}\n{table}\nshort", words.trim_end()));
        let lines: Vec<&str> = text.lines().collect();
        assert_eq!(lines.len(), 4);
        assert!(lines[..2].iter().all(|line| line.len() <= 80), "{text}");
        assert!(lines[1].starts_with("    word"), "{text}");
        assert_eq!(lines[2..], [&table[..], "short"]);
        assert_eq!(wrapped(&"x".repeat(90)), "x".repeat(90));
    }
}
