//! How far the work on a file has come, for people who wait for it.

use std::io::{self, IsTerminal};
use std::time::Instant;

use bethe_terminal::{Progress, counted, time_left};

/// A line on a terminal that nothing else is written to.
pub struct FileProgress {
    progress: Option<Progress>,
    begun: Instant,
    what: &'static str,
    done: usize,
}

impl FileProgress {
    /// About this many `what`s. `writes` says whether results go to standard output while the work
    /// is under way: on a terminal they show how far it has come.
    pub fn new(what: &'static str, quiet: bool, writes: bool) -> Self {
        let is_seen = io::stderr().is_terminal() && !(writes && io::stdout().is_terminal());
        let progress = (is_seen && !quiet).then(|| Progress::new(false));
        Self { progress, begun: Instant::now(), what, done: 0 }
    }

    /// Some more are done; of the file, this share was read.
    pub fn add(&mut self, count: usize, share: Option<f64>) {
        self.done += count;
        let Some(progress) = &mut self.progress else { return };
        let left = share.and_then(|share| time_left(self.begun.elapsed(), share));
        let left = left.map_or(String::new(), |left| format!("  {left}"));
        progress.passing(|| format!("{}{left}", counted(self.done, self.what)));
    }

    /// Takes the line away.
    pub fn end(&mut self) {
        self.progress = None;
    }
}
