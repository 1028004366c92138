//! What the experiment says on standard error.

use std::io::{self, IsTerminal, Write};
use std::path::Path;
use std::time::Duration;

use bethe_tasks::ocr::experiment::Event;
use indicatif::ProgressBar;

/// A line for every row; on a terminal, a moving line for what takes time.
pub struct Progress {
    quiet: bool,
    bar: Option<ProgressBar>,
}

impl Progress {
    pub fn new(quiet: bool, words: usize) -> Self {
        let bar = (!quiet && io::stderr().is_terminal()).then(ProgressBar::new_spinner);
        let progress = Self { quiet, bar };
        progress.line(&format!("{words} words"));
        progress
    }

    /// Shows what happens.
    pub fn see(&mut self, event: Event) {
        match event {
            Event::Tested { fold, model, score } => self.line(&format!(
                "fold {fold}  {model:<28} letters {:6.2}  words {:6.2}  {:6.1} µs a word",
                score.accuracy(),
                score.word_accuracy(),
                score.microseconds()
            )),
            Event::Busy(with) => {
                if let Some(bar) = &self.bar {
                    bar.set_message(with);
                    bar.enable_steady_tick(Duration::from_millis(200));
                }
            }
        }
    }

    /// Says that the run was stopped.
    pub fn stopped(self) {
        self.line("stopped; nothing was written");
    }

    /// Says where the files are.
    pub fn finish(self, folder: &Path, time: Duration) {
        self.line(&format!("{}: written, in {:.0} s", folder.display(), time.as_secs_f64()));
    }

    fn line(&self, text: &str) {
        if self.quiet {
            return;
        }
        // Nobody is left to tell if standard error is closed.
        let write = || drop(writeln!(io::stderr(), "{text}"));
        match &self.bar {
            Some(bar) => bar.suspend(write),
            None => write(),
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
