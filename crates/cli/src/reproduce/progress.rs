//! What an experiment says on standard error.

use std::time::Instant;

use bethe_tasks::citation::experiment::Event;

use crate::train::Progress as Training;

/// Stages with the time since the beginning, and in between what training says.
pub struct Progress {
    training: Training,
    begun: Instant,
}

impl Progress {
    pub fn new(quiet: bool) -> Self {
        Self { training: Training::new(quiet), begun: Instant::now() }
    }

    /// Shows what happens.
    pub fn see(&mut self, event: Event) {
        match event {
            Event::Stage(text) => {
                let seconds = self.begun.elapsed().as_secs_f64();
                self.training.line(&format!("{seconds:6.0} s  {text}"));
            }
            Event::Training(event) => self.training.see(event),
            Event::Row(row) => self.training.line(&format!(
                "          {}: leaf F1 {:.2}, all-level F1 {:.2}",
                row.model, row.leaf_f1, row.all_f1
            )),
            Event::Skipped(text) => self.training.always(&format!("skipped: {text}")),
        }
    }
}
