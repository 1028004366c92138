//! The file of declared rules, see [`parse_rules`].

mod any_labels;
mod error;
mod read;
mod values;
mod write;

pub use any_labels::{parse_rules_of_any_labels, rules_of_any_labels};
pub use error::{RuleFileError, RuleFileMistake};
pub use read::{RULES_SHARE, load_rules, load_rules_within, parse_rules};
pub use write::write_rules;

/// Fields that determine the form of a rule, each with the field that goes with it.
const FORMS: [(&str, Option<&str>); 6] = [
    ("at_most", Some("of")),
    ("at_least", Some("of")),
    ("exactly", Some("of")),
    ("equal", None),
    ("if", Some("then")),
    ("before", None),
];
