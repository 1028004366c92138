use std::io::{self, IsTerminal};
use std::time::{Duration, Instant};

use bethe_io::shown;
use indicatif::ProgressBar;

use crate::say;

/// Time between two passing lines where standard error is not a terminal.
const LINE_EVERY: Duration = Duration::from_secs(3);

/// What long work says on standard error: lines that stay, and one that moves.
pub struct Progress {
    quiet: bool,
    /// On a terminal only.
    bar: Option<ProgressBar>,
    /// When the next passing line may be written elsewhere.
    due: Instant,
}

impl Progress {
    /// Says nothing but warnings if `quiet`.
    pub fn new(quiet: bool) -> Self {
        let bar = (!quiet && io::stderr().is_terminal()).then(ProgressBar::new_spinner);
        Self { quiet, bar, due: Instant::now() + LINE_EVERY }
    }

    /// Writes a line that stays, unless quiet.
    pub fn line(&self, text: &str) {
        if !self.quiet {
            self.always(text);
        }
    }

    /// Writes a line that stays.
    pub fn always(&self, text: &str) {
        let write = || say(text);
        match &self.bar {
            Some(bar) => bar.suspend(write),
            None => write(),
        }
    }

    /// Writes a line that the next one replaces on a terminal; elsewhere it is written every few
    /// seconds.
    pub fn passing(&mut self, text: impl FnOnce() -> String) {
        if let Some(bar) = &self.bar {
            bar.set_message(shown(&text()).into_owned());
            bar.tick();
        } else if !self.quiet && Instant::now() >= self.due {
            self.always(&text());
            self.due = Instant::now() + LINE_EVERY;
        }
    }
}

impl Drop for Progress {
    fn drop(&mut self) {
        if let Some(bar) = &self.bar {
            bar.finish_and_clear();
        }
    }
}
