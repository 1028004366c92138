//! What training says on standard error.

use std::fmt::Write as _;
use std::io::{self, IsTerminal, Write};
use std::path::Path;
use std::time::{Duration, Instant};

use bethe_tasks::tagging::train::Event;
use bethe_tasks::tagging::{RuleTraining, Tagger};
use indicatif::ProgressBar;

use crate::counted::counted;

/// Time between two lines where standard error is no terminal.
const LINE_EVERY: Duration = Duration::from_secs(3);
/// Rules that the summary names.
const NAMED_RULES: usize = 10;

/// A moving line on a terminal, now and then a line elsewhere.
pub struct Progress {
    quiet: bool,
    bar: Option<ProgressBar>,
    /// When the next line about an iteration may be written.
    due: Instant,
    dev_f1: Option<f64>,
}

impl Progress {
    pub fn new(quiet: bool) -> Self {
        let bar = (!quiet && io::stderr().is_terminal()).then(ProgressBar::new_spinner);
        Self { quiet, bar, due: Instant::now() + LINE_EVERY, dev_f1: None }
    }

    /// Shows what happens.
    pub fn see(&mut self, event: Event) {
        match event {
            Event::Warning(text) => self.always(&format!("warning: {text}")),
            Event::Resumed => self.line("going on where an earlier run was stopped"),
            Event::Data { sequences, tokens, states, scheme, attributes, weights } => {
                self.line(&format!(
                    "{}, {}, {} ({scheme}), {}, {}",
                    counted(sequences, "sequence"),
                    counted(tokens, "token"),
                    counted(states, "state"),
                    counted(attributes, "attribute"),
                    counted(weights, "weight")
                ))
            }
            Event::Iteration { model, models, iteration, max_iterations, loss, dev_f1 } => {
                let stage = match models {
                    1 => String::new(),
                    _ => format!("model {} of {models}  ", model + 1),
                };
                self.dev_f1 = if model == 0 { dev_f1.or(self.dev_f1) } else { None };
                let dev = self.dev_f1.map(|f1| format!("  dev F1 {:.2}", 100.0 * f1));
                let dev = dev.unwrap_or_default();
                self.moving(|| {
                    format!("{stage}iteration {iteration} of {max_iterations}  loss {loss:.3}{dev}")
                });
            }
            Event::Rules { generated, pruned, sequences } => self.line(&format!(
                "{} considered, {pruned} worth a weight, to be learned from {}",
                counted(generated, "rule"),
                counted(sequences, "held-out sequence")
            )),
            Event::Penalty { l1, f1, plain_f1 } => self.line(&format!(
                "rule penalty {l1}: held-out F1 {:.2}, {:.2} without rules",
                100.0 * f1,
                100.0 * plain_f1
            )),
            Event::Decoding { decoding, tilted_f1, weighed_f1 } => self.line(&format!(
                "decoding {}: held-out F1 {:.2} tilted, {:.2} weighed",
                decoding.name(),
                100.0 * tilted_f1,
                100.0 * weighed_f1
            )),
            Event::Pass { pass, loss } => {
                self.moving(|| format!("weights of rules  pass {pass}  loss {loss:.3}"))
            }
        }
    }

    /// Says that the run was stopped, and how to go on.
    pub fn interrupted(self, checkpoint: Option<&Path>) {
        let text = match checkpoint {
            Some(path) if path.exists() => {
                format!("stopped; the same command goes on from {}", path.display())
            }
            _ => "stopped; nothing was kept".to_string(),
        };
        self.always(&text);
    }

    /// Sums up what was learned.
    pub fn finish(self, tagger: &Tagger, model: &Path, time: Duration) {
        let training = &tagger.parts().training;
        let dev = training.dev_f1.map(|f1| format!(", dev F1 {:.2}", 100.0 * f1));
        let mut text = format!(
            "{}: {} iterations, loss {:.3}{}, in {:.1} s",
            model.display(),
            training.iterations,
            training.loss,
            dev.unwrap_or_default(),
            time.as_secs_f64()
        );
        if let Some(rules) = &training.rules {
            text.push_str(&rule_summary(rules));
        }
        let rules = tagger.rules();
        for (rule, weight) in rules.iter().take(NAMED_RULES) {
            let weight = match weight.is_finite() {
                true => format!("{weight:.3}"),
                false => "hard".to_string(),
            };
            let _ = write!(text, "\n  {}: {weight}", rule.in_words(tagger.states()));
        }
        if rules.len() > NAMED_RULES {
            let more = rules.len() - NAMED_RULES;
            let _ = write!(text, "\n  and {more} more, see bethe inspect {}", model.display());
        }
        self.line(&text);
    }

    /// A line that stays, unless quiet.
    pub fn line(&self, text: &str) {
        if !self.quiet {
            self.always(text);
        }
    }

    /// A line that stays.
    pub fn always(&self, text: &str) {
        // Nobody is left to tell if standard error is closed.
        let write = || drop(writeln!(io::stderr(), "{text}"));
        match &self.bar {
            Some(bar) => bar.suspend(write),
            None => write(),
        }
    }

    /// A line that the next one replaces on a terminal, and that is seldom written elsewhere.
    fn moving(&mut self, text: impl FnOnce() -> String) {
        if let Some(bar) = &self.bar {
            bar.set_message(text());
            bar.tick();
        } else if !self.quiet && Instant::now() >= self.due {
            self.always(&text());
            self.due = Instant::now() + LINE_EVERY;
        }
    }
}

fn rule_summary(rules: &RuleTraining) -> String {
    let RuleTraining { generated, pruned, kept, sequences, held_out_f1, .. } = rules;
    if *sequences == 0 {
        return format!("\n{kept} rules, all weights given");
    }
    let mut text = format!(
        "\n{kept} rules of {pruned} worth a weight of {generated} considered, {}",
        rules.penalty()
    );
    if let Some((without, with)) = held_out_f1 {
        let (without, with) = (100.0 * without, 100.0 * with);
        let _ = write!(text, ", held-out F1 {without:.2} without them, {with:.2} with them");
    }
    text
}

impl Drop for Progress {
    fn drop(&mut self) {
        if let Some(bar) = &self.bar {
            bar.finish_and_clear();
        }
    }
}
