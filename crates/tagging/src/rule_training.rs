//! How rules were learned, and whether they help.

use std::fmt;

use serde::{Deserialize, Serialize};

use super::train::{Compared, Estimate};

/// How rules were learned.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct RuleTraining {
    /// Rules generated, or declared.
    pub generated: usize,
    /// Rules that held-out predictions break often enough.
    pub pruned: usize,
    /// Rules with a weight in the end.
    pub kept: usize,
    /// Sequences that weights were learned from.
    pub sequences: usize,
    /// The learner.
    pub learner: String,
    /// The L1 penalty, given or chosen by cross-validation; `None` if no weight was learned.
    pub l1: Option<f64>,
    /// How much rules help on held-out sequences, by cross-validation.
    #[serde(default)]
    pub held_out: Option<HeldOutGain>,
    /// Why no weight was learned, if none was.
    #[serde(default)]
    pub refused: Option<NoRules>,
}

/// How much rules help on sequences that neither they nor their weights were chosen on.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct HeldOutGain {
    /// By how much they lower the log-loss of the truth, in nats per sequence.
    pub log_loss: Estimate,
    /// F1 of segments of every level.
    pub f1: Compared,
    /// Sequences without a mistake.
    pub whole: Compared,
    /// Sequences whose labels break a rule that at least 99 % of the true ones keep.
    pub broken: Compared,
}

/// Why there are no learned rules.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum NoRules {
    /// There are too few sequences.
    TooFew {
        /// How many there are.
        found: usize,
        /// How many there must be.
        least: usize,
    },
    /// Held-out predictions break no rule notably more often than the truth does.
    NoneBroken,
    /// They do not make the truth clearly more likely; the gain of the best, in nats per sequence.
    NoGain(Estimate),
}

/// One line a person understands: how many rules, and how much they help or why there are none.
impl fmt::Display for RuleTraining {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some(refused) = &self.refused {
            return write!(f, "no rules learned: {refused}");
        }
        write!(f, "{} rule{}", self.kept, if self.kept == 1 { "" } else { "s" })?;
        match (&self.held_out, self.sequences) {
            (Some(gain), _) => write!(f, "; {gain}"),
            (None, 0) => f.write_str("; no weights were learned"),
            (None, sequences) => {
                write!(f, "; weights from {sequences} held-out sequences, not judged")
            }
        }
    }
}

impl fmt::Display for HeldOutGain {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let shown = |of: Compared, digits: usize, unit: &str| {
            let (without, with) = (100.0 * of.without, 100.0 * of.with);
            let (gain, margin) = (100.0 * of.gain().mean, 100.0 * of.gain().margin());
            format!(
                "{without:.digits$}{unit} → {with:.digits$}{unit} \
                 ({gain:+.digits$} ± {margin:.digits$})"
            )
        };
        write!(
            f,
            "on held-out sequences F1 {}; sequences without a mistake {}; sequences that break a \
             near-certain rule {}",
            shown(self.f1, 2, ""),
            shown(self.whole, 1, " %"),
            shown(self.broken, 1, " %")
        )
    }
}

impl fmt::Display for NoRules {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::TooFew { found: 1, least } => {
                write!(f, "there is 1 sequence, and at least {least} are needed")
            }
            Self::TooFew { found, least } => {
                write!(f, "there are {found} sequences, and at least {least} are needed")
            }
            Self::NoneBroken => f.write_str(
                "on held-out data the predictions break no rule clearly more often than the true \
                 labels do",
            ),
            Self::NoGain(gain) if gain.mean <= 0.0 => {
                f.write_str("they would make the labels of held-out sequences no more likely")
            }
            Self::NoGain(gain) => write!(
                f,
                "they would lower the held-out log-loss by only {:.4} ± {:.4} nats per sequence",
                gain.mean,
                gain.margin()
            ),
        }
    }
}
