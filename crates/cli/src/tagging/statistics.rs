use bethe_core::Status;
use bethe_tagging::{HardRules, Tagged};
use bethe_terminal::counted;
use serde::Serialize;

/// Figures about inference under rules, over many sequences.
#[derive(Clone, Copy, Debug, Default)]
pub struct Statistics {
    /// Sequences.
    pub sequences: usize,
    /// Tokens.
    pub tokens: usize,
    /// Sequences with inference under rules.
    ruled: usize,
    iterations: usize,
    converged: usize,
    /// Sequences of which the base model alone does not keep every rule.
    active: usize,
    /// Sequences in which no labels keep the hard rules.
    impossible: usize,
    /// Sequences in which the search found no labels that keep the hard rules.
    not_found: usize,
    gap: f64,
    worst_gap: f64,
    /// Sequences without a bound.
    unbounded: usize,
}

/// The same as means and shares.
#[derive(Clone, Copy, Debug, Serialize)]
pub struct RuleFigures {
    /// Sequences.
    pub sequences: usize,
    /// Mean iterations per sequence.
    pub mean_iterations: f64,
    /// Share of sequences that converged.
    pub converged: f64,
    /// Mean bound on the distance from the optimum, in nats; `None` if a sequence has no bound.
    pub mean_gap: Option<f64>,
    /// The greatest of these bounds.
    pub worst_gap: Option<f64>,
    /// Sequences of which the base model alone does not keep every rule.
    pub active: usize,
    /// Sequences whose labels break a hard rule.
    pub hard_rules_broken: usize,
}

impl Statistics {
    /// Counts a sequence.
    pub fn add(&mut self, tagged: &Tagged) {
        self.sequences += 1;
        self.tokens += tagged.best[0].0.len();
        self.impossible += usize::from(tagged.hard == HardRules::Impossible);
        self.not_found += usize::from(tagged.hard == HardRules::NotFound);
        let Some(summary) = tagged.summary else { return };
        self.ruled += 1;
        self.iterations += summary.iterations;
        self.converged += usize::from(summary.status == Status::Converged);
        self.active += usize::from(summary.iterations > 0);
        match summary.gap {
            // Rounding may leave a gap just below zero.
            Some(gap) => {
                self.gap += gap.max(0.0);
                self.worst_gap = self.worst_gap.max(gap);
            }
            None => self.unbounded += 1,
        }
    }

    /// Means and shares, if there was inference under rules.
    pub fn figures(&self) -> Option<RuleFigures> {
        let share = |sum: f64| sum / self.ruled as f64;
        (self.ruled > 0).then(|| RuleFigures {
            sequences: self.ruled,
            mean_iterations: share(self.iterations as f64),
            converged: share(self.converged as f64),
            mean_gap: (self.unbounded == 0).then(|| share(self.gap)),
            worst_gap: (self.unbounded == 0).then_some(self.worst_gap),
            active: self.active,
            hard_rules_broken: self.impossible + self.not_found,
        })
    }

    /// A line about rules, if there was inference under rules.
    pub fn in_words(&self) -> Option<String> {
        let figures = self.figures()?;
        let gap = match figures.worst_gap {
            Some(gap) => format!("worst gap {gap:.1e}"),
            None => format!("no gap in {}", self.unbounded),
        };
        let mut text = format!(
            "rules: active in {} of {}, {:.1} iterations on average, {:.1}% converged, \
             {gap}",
            figures.active,
            counted(figures.sequences, "sequence"),
            figures.mean_iterations,
            100.0 * figures.converged
        );
        let broken = [
            (self.impossible, "no sequence of labels keeps them"),
            (self.not_found, "found no labels that keep them"),
        ];
        for (count, why) in broken.into_iter().filter(|(count, _)| *count > 0) {
            text.push_str(&format!(", hard rules broken in {count}: {why}"));
        }
        Some(text)
    }
}
