//! Rules on how many segments of each kind a sequence has; the literature calls them constraints.
//!
//! With `s(i)` the number of segments of kind `i`, a [`Rule`] is one of
//!
//! ```text
//! Σ c_i s(i) ≤ bound    Σ c_i s(i) ≥ bound    s(i) > 0 ⇒ s(j) > 0    every i begins before any j
//! ```
//!
//! with a weight that is learned, given, or infinite. People declare them in a
//! [file](parse_rules); [`generate`] proposes those that training sequences keep, and [`prune`]
//! leaves those that predictions break. [`Compiled`] turns them into rules on counts of a chain's
//! states ([`CountRules`](bethe_learn::energy::CountRules)), for inference, and into counters, for
//! decoding that keeps hard ones exactly.

mod alike;
mod check;
mod compile;
mod error;
mod file;
mod generate;
mod names;
mod occurrences;
mod penalty;
mod prune;
mod rule;
mod words;

pub use alike::alike;
pub use check::{MOST_COEFFICIENT, MOST_SEGMENTS, MOST_WEIGHT};
pub use compile::Compiled;
pub(super) use compile::add_counter;
pub use error::{RuleError, RuleMistake};
pub use file::{
    RULES_SHARE, RuleFileError, RuleFileMistake, load_rules, load_rules_within, parse_rules,
    parse_rules_of_any_labels, rules_of_any_labels, write_rules,
};
pub use generate::{Candidates, LEAST_SHARE, generate};
pub use names::kind_name;
pub use occurrences::{Occurrences, most_segments};
pub use penalty::RulePenalty;
pub use prune::{Judged, Pruning, Verdict, prune};
pub use rule::{Form, Relation, Rule, Weight};
