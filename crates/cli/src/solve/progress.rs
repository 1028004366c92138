//! The progress line of a long solve, on standard error.

use std::fmt;
use std::time::{Duration, Instant};

use bethe_core::solve::Record;
use indicatif::{ProgressBar, ProgressStyle};

/// A solve that ends sooner shows no progress.
const PATIENCE: Duration = Duration::from_secs(1);
/// Time between two updates.
const REFRESH: Duration = Duration::from_millis(80);

/// Progress that appears after a delay, if standard error is a terminal.
pub struct Progress {
    /// When the next line may be drawn.
    due: Instant,
    /// Problems in all, 0 if nobody knows; one problem shows its iterations instead.
    problems: usize,
    bar: Option<ProgressBar>,
    quiet: bool,
}

impl Progress {
    pub fn new(problems: usize, quiet: bool) -> Self {
        Self { due: Instant::now() + PATIENCE, problems, bar: None, quiet }
    }

    /// Shows an iteration of the only problem.
    pub fn iteration(&mut self, record: &Record) {
        self.message(&Iteration(record));
    }

    /// Shows what is being done.
    pub fn message(&mut self, text: &dyn fmt::Display) {
        if let Some(bar) = self.bar() {
            bar.set_message(text.to_string());
            bar.tick();
        }
    }

    /// Shows how many problems are done.
    pub fn done(&mut self, done: usize) {
        if let Some(bar) = self.bar() {
            bar.set_position(done as u64);
        }
    }

    fn bar(&mut self) -> Option<&ProgressBar> {
        let now = Instant::now();
        if self.quiet || now < self.due {
            return None;
        }
        self.due = now + REFRESH;
        let problems = self.problems;
        Some(self.bar.get_or_insert_with(|| {
            // Draws to standard error, and nothing if that is not a terminal.
            if problems == 1 {
                return ProgressBar::new_spinner();
            }
            let (template, bar) = match problems {
                0 => ("{spinner} {pos} problems", ProgressBar::no_length()),
                _ => {
                    let template = "{bar:40} {pos}/{len} problems  {eta} left";
                    (template, ProgressBar::new(problems as u64))
                }
            };
            let style = ProgressStyle::with_template(template);
            bar.set_style(style.expect("the template is a constant"));
            bar
        }))
    }
}

/// An iteration in words.
pub struct Iteration<'a>(pub &'a Record);

impl fmt::Display for Iteration<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self(record) = self;
        let gap = record.gap.map_or("none".to_string(), |gap| format!("{gap:.2e}"));
        write!(f, "iteration {}  objective {:.6}  gap {gap}", record.iteration, record.objective)
    }
}

impl Drop for Progress {
    fn drop(&mut self) {
        if let Some(bar) = &self.bar {
            bar.finish_and_clear();
        }
    }
}
