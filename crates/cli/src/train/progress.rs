//! Progress of training on standard error.

use std::fmt::Write as _;
use std::path::Path;
use std::time::{Duration, Instant};

use bethe_tagging::Tagger;
use bethe_tagging::train::Event;
use bethe_terminal::{Progress, shown, time_left};

use crate::tagging::in_words;

/// How many rules the summary names.
const NAMED_RULES: usize = 10;

/// What training says, and the summary at its end.
pub struct TrainingProgress {
    progress: Progress,
    /// Which model is being trained, and since when.
    model: (usize, Instant),
}

impl TrainingProgress {
    pub fn new(quiet: bool) -> Self {
        Self { progress: Progress::new(quiet), model: (0, Instant::now()) }
    }

    /// Shows an event.
    pub fn see(&mut self, event: Event) {
        match event {
            Event::Warning(_) => self.progress.always(&event.to_string()),
            _ if event.is_passing() => {
                let left = self.left(&event);
                self.progress.passing(|| format!("{event}{left}"));
            }
            _ => self.progress.line(&event.to_string()),
        }
    }

    /// The time that is left for a base model if it takes all its iterations; most need fewer.
    fn left(&mut self, event: &Event) -> String {
        let Event::Iteration { model, iteration, max_iterations, .. } = event else {
            return String::new();
        };
        // Its first iteration also counts what came before it, such as reading the data.
        if self.model.0 != *model || *iteration <= 1 {
            self.model = (*model, Instant::now());
        }
        let share = (*iteration as f64 - 1.0) / (*max_iterations as f64 - 1.0).max(1.0);
        let left = time_left(self.model.1.elapsed(), share);
        left.map_or(String::new(), |left| format!("  at most {left}"))
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
