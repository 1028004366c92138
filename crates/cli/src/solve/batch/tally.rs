//! How a batch ended.

use anyhow::Result;
use bethe_core::OracleKind;
use bethe_core::solve::SolveError;
use bethe_io::brief;
use bethe_terminal::{Outcome, bad_input, counted, say};

use super::super::config::Config;
use super::super::wide_note;
use super::work::Reached;

/// Counts of what became of the problems, and the first of each kind.
pub struct Tally {
    name: String,
    /// Lines that were written.
    written: usize,
    mistakes: Several,
    wide: Several,
    infeasible: bool,
    cancelled: usize,
    out_of_time: usize,
}

/// The first of several, and how many there are.
#[derive(Default)]
struct Several {
    first: String,
    count: usize,
}

impl Several {
    fn add(&mut self, what: &str) {
        if self.count == 0 {
            self.first = what.to_string();
        }
        self.count += 1;
    }

    /// How many there are besides the first.
    fn more(&self) -> String {
        if self.count > 1 { format!(" (and {} more)", self.count - 1) } else { String::new() }
    }
}

impl Tally {
    pub fn new(name: String) -> Self {
        let none = Several::default;
        let (mistakes, wide) = (none(), none());
        let (infeasible, cancelled, out_of_time) = (false, 0, 0);
        Self { name, written: 0, mistakes, wide, infeasible, cancelled, out_of_time }
    }

    /// Whether a mistake ends the batch, and there was one.
    pub fn is_over(&self, strict: bool) -> bool {
        strict && self.mistakes.count > 0
    }

    /// Counts a problem. Returns its line of output; a mistake that ends the batch has none.
    pub fn line(&mut self, reached: &Reached, strict: bool) -> Option<String> {
        let error = |what: &str| serde_json::json!({ "error": brief(what) }).to_string();
        let line = match reached {
            Reached::Answer { text, infeasible, wide } => {
                self.infeasible |= infeasible;
                wide.iter().for_each(|name| self.wide.add(name));
                text.clone()
            }
            Reached::Mistake(what) => {
                self.mistakes.add(what);
                if strict {
                    return None;
                }
                error(what)
            }
            Reached::Stopped(stop) => {
                let is_asked = *stop == SolveError::Cancelled;
                *(if is_asked { &mut self.cancelled } else { &mut self.out_of_time }) += 1;
                error(&stop.to_string())
            }
        };
        self.written += 1;
        Some(line + "\n")
    }

    /// How the command ends. `ended` says whether every line was read.
    pub fn outcome(self, config: &Config, ended: bool) -> Result<Outcome> {
        let Self { name, written, mistakes, wide, infeasible, cancelled, out_of_time } = self;
        if !config.quiet && config.request.oracle == OracleKind::Auto && wide.count > 0 {
            say(&wide_note(config, &format!("{}{}", wide.first, wide.more())));
        }
        for (count, stop) in
            [(cancelled, SolveError::Cancelled), (out_of_time, SolveError::OutOfTime)]
        {
            if count > 0 {
                say(&format!("error: {}: {stop}", counted(count, "problem")));
            }
        }
        // A reader who closes the pipe has read enough; a mistake has its own message.
        let stopped = config.request.cancel.is_cancelled();
        if stopped && !ended {
            let lines = counted(written, "line");
            say(&format!("error: {name}: stopped after {lines} of answers; the rest was not read"));
        }
        if cancelled > 0 || stopped && !ended {
            return Ok(Outcome::Interrupted);
        }
        if mistakes.count > 0 {
            return Err(bad_input(format!("{}{}", mistakes.first, mistakes.more())));
        }
        if out_of_time > 0 {
            return Ok(Outcome::OutOfTime);
        }
        Ok(if infeasible { Outcome::Infeasible } else { Outcome::Done })
    }
}
