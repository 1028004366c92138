use std::fmt;

use super::Estimate;
use crate::Decoding;
use crate::labels::Scheme;

/// What happens during training.
#[derive(Clone, Debug, PartialEq)]
pub enum Event {
    /// Something a person should know.
    Warning(String),
    /// How labels without prefixes were read.
    Scheme(Scheme),
    /// The data has been read.
    Data {
        /// Sequences.
        sequences: usize,
        /// Tokens.
        tokens: usize,
        /// Distinct labels as states.
        states: usize,
        /// Name of the scheme.
        scheme: &'static str,
        /// Distinct attributes.
        attributes: usize,
        /// Weights.
        weights: usize,
    },
    /// An interrupted run continues.
    Resumed,
    /// An iteration of training a base model.
    Iteration {
        /// 0 for the model of all data, then those of its parts.
        model: usize,
        /// How many models there will be.
        models: usize,
        /// The iteration.
        iteration: usize,
        /// The most iterations.
        max_iterations: usize,
        /// The loss.
        loss: f64,
        /// F1 on development data, if it was evaluated.
        dev_f1: Option<f64>,
    },
    /// Rules there are.
    Rules {
        /// Generated, or declared.
        generated: usize,
        /// Worth learning a weight for.
        pruned: usize,
        /// Held-out sequences to learn from.
        sequences: usize,
    },
    /// A penalty was tried by cross-validation.
    Penalty {
        /// The L1 coefficient.
        l1: f64,
        /// By how much rules lower the held-out log-loss of the truth, in nats per sequence.
        gain: Estimate,
    },
    /// How labels will be chosen under rules.
    Decoding {
        /// How.
        decoding: Decoding,
        /// Held-out F1 of the tilt alone.
        tilted_f1: f64,
        /// Where rules are weighed on the labels.
        weighed_f1: f64,
    },
    /// A pass of learning weights of rules.
    Pass {
        /// Its number.
        pass: usize,
        /// The loss.
        loss: f64,
    },
}

impl Event {
    /// Whether it reports progress, and the next event of its kind replaces it.
    pub fn is_passing(&self) -> bool {
        matches!(self, Self::Iteration { .. } | Self::Pass { .. })
    }
}

/// One line a person understands.
impl fmt::Display for Event {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Warning(text) => write!(f, "warning: {text}"),
            Self::Scheme(Scheme::Plain) => f.write_str(
                "labels without prefixes, which seldom form runs: every token is a segment of its \
                 own (scheme plain)",
            ),
            Self::Scheme(scheme) => write!(
                f,
                "labels without prefixes, which mostly form runs: a run of one label is a segment \
                 (scheme {})",
                scheme.name()
            ),
            Self::Resumed => f.write_str("continuing an earlier run"),
            Self::Data { sequences, tokens, states, scheme, attributes, weights } => write!(
                f,
                "{}, {}, {} ({scheme}), {}, {}",
                Counted(*sequences, "sequence"),
                Counted(*tokens, "token"),
                Counted(*states, "state"),
                Counted(*attributes, "attribute"),
                Counted(*weights, "weight")
            ),
            Self::Iteration { model, models, iteration, max_iterations, loss, dev_f1 } => {
                if *models > 1 {
                    write!(f, "model {} of {models}  ", model + 1)?;
                }
                write!(f, "iteration {iteration} of {max_iterations}  loss {loss:.3}")?;
                match dev_f1 {
                    Some(f1) if *model == 0 => write!(f, "  dev F1 {:.2}", 100.0 * f1),
                    _ => Ok(()),
                }
            }
            Self::Rules { generated, pruned, sequences } => write!(
                f,
                "{} considered, {pruned} kept for learning from {}",
                Counted(*generated, "rule"),
                Counted(*sequences, "held-out sequence")
            ),
            Self::Penalty { l1, gain } => write!(
                f,
                "rule penalty {l1}: held-out log-loss falls by {:.4} ± {:.4} nats per sequence",
                gain.mean,
                gain.margin()
            ),
            Self::Decoding { decoding, tilted_f1, weighed_f1 } => write!(
                f,
                "decoding {}: held-out F1 {:.2} tilted, {:.2} weighed",
                decoding.name(),
                100.0 * tilted_f1,
                100.0 * weighed_f1
            ),
            Self::Pass { pass, loss } => write!(f, "weights of rules  pass {pass}  loss {loss:.3}"),
        }
    }
}

/// `1 sequence`, `2 sequences`.
struct Counted(usize, &'static str);

impl fmt::Display for Counted {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self(count, what) = self;
        write!(f, "{count} {what}{}", if *count == 1 { "" } else { "s" })
    }
}
