use bethe_core::{MemoryLimit, Settings};

/// What to compute for a sequence.
#[derive(Clone, Debug, PartialEq)]
pub struct TagOptions {
    /// Keep the input's labels except `_`; with scores, those of its rows.
    pub force: bool,
    /// Probabilities of the labels and segments of the best label sequences.
    pub marginals: bool,
    /// Probabilities of all labels at every position.
    pub label_marginals: bool,
    /// How many of the best label sequences; at least 1.
    pub n_best: usize,
    /// Which rules were active, and what they changed.
    pub explain: bool,
    /// Whether to use rules.
    pub rules: bool,
    /// How labels are inferred under rules.
    pub inference: Settings,
    /// How much memory a sequence may take.
    pub memory_limit: MemoryLimit,
}

impl TagOptions {
    /// Whether probabilities are asked for.
    pub(super) fn wants_marginals(&self) -> bool {
        self.marginals || self.label_marginals
    }
}

impl Default for TagOptions {
    fn default() -> Self {
        Self {
            force: false,
            marginals: false,
            label_marginals: false,
            n_best: 1,
            explain: false,
            rules: true,
            inference: Settings { tolerance: 1e-4, max_iterations: 40, ..Settings::default() },
            memory_limit: MemoryLimit::default(),
        }
    }
}
