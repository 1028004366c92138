//! Progress of training on standard error.

use std::fmt::Write as _;
use std::path::Path;
use std::time::Duration;

use bethe_tagging::Tagger;
use bethe_tagging::train::Event;
use bethe_terminal::{Progress, shown};

use crate::tagging::in_words;

/// How many rules the summary names.
const NAMED_RULES: usize = 10;

/// What training says, and the summary at its end.
pub struct TrainingProgress {
    progress: Progress,
}

impl TrainingProgress {
    pub fn new(quiet: bool) -> Self {
        Self { progress: Progress::new(quiet) }
    }

    /// Shows an event.
    pub fn see(&mut self, event: Event) {
        match event {
            Event::Warning(_) => self.progress.always(&event.to_string()),
            _ if event.is_passing() => self.progress.passing(|| event.to_string()),
            _ => self.progress.line(&event.to_string()),
        }
    }

    /// Says that the run was stopped, and how to continue.
    pub fn interrupted(self, checkpoint: Option<&Path>) {
        let text = match checkpoint {
            Some(path) if path.exists() => {
                format!("stopped; the same command continues from {}", path.display())
            }
            _ => "stopped; nothing was saved".to_string(),
        };
        self.progress.always(&text);
    }

    /// Sums up what was learned.
    pub fn finish(self, tagger: &Tagger, model: &Path, time: Duration) {
        let training = &tagger.parts().training;
        let dev = training.dev_f1.map(|f1| format!(", dev F1 {:.2}", 100.0 * f1));
        let mut text = format!(
            "{}: {} iterations, loss {:.3}{}, in {:.1} s",
            shown(&model.display().to_string()),
            training.iterations,
            training.loss,
            dev.unwrap_or_default(),
            time.as_secs_f64()
        );
        if let Some(rules) = &training.rules {
            let _ = write!(text, "\n{rules}");
        }
        let groups = tagger.rule_groups();
        for group in groups.iter().take(NAMED_RULES) {
            let _ = write!(text, "\n  {}", shown(&in_words(group, tagger.states())));
        }
        if groups.len() > NAMED_RULES {
            let more = groups.len() - NAMED_RULES;
            let _ = write!(text, "\n  and {more} more, see bethe inspect {}", model.display());
        }
        self.progress.line(&text);
    }
}
