//! Rules on how many segments of each kind a sequence has. A rule is what the literature calls a
//! constraint; the type that states one is [`Constraint`], since a
//! [`Rule`](bethe_learn::energy::Rule) is what inference makes of it: a row over counts of states.
//!
//! With `s(i)` the number of segments of kind `i`, a [`Constraint`] is one of
//!
//! ```text
//! Σ c_i s(i) ≤ bound    Σ c_i s(i) ≥ bound    s(i) > 0 ⇒ s(j) > 0    every i begins before any j
//! ```
//!
//! with a weight that is learned, given, or infinite. People declare them in a
//! [file](parse_rules); [`generate`] proposes those that training sequences keep, and [`prune`]
//! leaves those that predictions break. [`Compiled`] makes of them rows over the states of a chain,
//! for inference, and counters, for decoding that keeps hard ones exactly.

mod check;
mod compile;
mod constraint;
mod error;
mod file;
mod generate;
mod names;
mod occurrences;
mod penalty;
mod prune;
mod words;

pub use check::{MOST_COEFFICIENT, MOST_SEGMENTS, MOST_WEIGHT};
pub use compile::Compiled;
pub(super) use compile::add_counter;
pub use constraint::{Constraint, Form, Relation, Weight};
pub use error::{ConstraintError, RuleError};
pub use file::{FileError, Mistake, load_rules, parse_rules, rules_of_any_labels, write_rules};
pub use generate::{Generated, LEAST_SHARE, generate};
pub use names::kind_name;
pub use occurrences::{Occurrences, most_segments};
pub use penalty::RulePenalty;
pub use prune::{Judged, Pruning, Verdict, prune};
