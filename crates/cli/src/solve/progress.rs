//! The progress line of a long solve, on standard error.

use std::fmt;
use std::time::{Duration, Instant};

use bethe_core::solve::Record;
use bethe_terminal::time_left;
use indicatif::{ProgressBar, ProgressStyle};

/// A solve that ends sooner shows no progress.
const PATIENCE: Duration = Duration::from_secs(1);
/// Time between two updates.
const REFRESH: Duration = Duration::from_millis(80);

/// Progress that appears after a delay, if standard error is a terminal.
pub struct Progress {
    begun: Instant,
    /// When the next line may be drawn.
    due: Instant,
    /// Problems in all, 0 if nobody knows; one problem shows its iterations instead.
    problems: usize,
    bar: Option<ProgressBar>,
    quiet: bool,
    pace: Pace,
}

impl Progress {
    pub fn new(problems: usize, quiet: bool) -> Self {
        Self {
            begun: Instant::now(),
            due: Instant::now() + PATIENCE,
            problems,
            bar: None,
            quiet,
            pace: Pace::default(),
        }
    }

    /// Shows an iteration of the only problem, which ends at this gap.
    pub fn iteration(&mut self, record: &Record, tolerance: f64) {
        let left = self.pace.left(record, tolerance);
        self.message(&format_args!("{}{left}", Iteration(record)));
    }

    /// Shows what is being done.
    pub fn message(&mut self, text: &dyn fmt::Display) {
        if let Some(bar) = self.bar() {
            bar.set_message(text.to_string());
            bar.tick();
        }
    }

    /// Shows how many problems are done, of a number that nobody knows, and the time that is left if
    /// their share of the input is known.
    pub fn done_of_unknown(&mut self, done: usize, share: Option<f64>) {
        let elapsed = self.begun.elapsed();
        if let Some(bar) = self.bar() {
            bar.set_position(done as u64);
            let left = share.and_then(|share| time_left(elapsed, share));
            bar.set_message(left.unwrap_or_default());
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
                0 => ("{spinner} {pos} problems  {msg}", ProgressBar::no_length()),
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

/// How fast a gap closes.
#[derive(Default)]
pub struct Pace {
    /// The first gap, and when it was known.
    first: Option<(f64, f64)>,
}

impl Pace {
    /// The time that is left until the gap is within the tolerance, if it goes on to shrink by equal
    /// factors in equal times.
    pub fn left(&mut self, record: &Record, tolerance: f64) -> String {
        let Some(gap) = record.gap.filter(|gap| *gap > 0.0) else { return String::new() };
        let (first, begun) = *self.first.get_or_insert((gap, record.seconds));
        let aim = tolerance * record.objective.abs().max(1.0);
        let share = (first / gap).ln() / (first / aim).ln();
        let elapsed = Duration::try_from_secs_f64(record.seconds - begun).unwrap_or_default();
        time_left(elapsed, share).map_or(String::new(), |left| format!("  about {left}"))
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
