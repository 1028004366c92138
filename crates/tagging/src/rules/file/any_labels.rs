use std::collections::BTreeSet;
use std::path::Path;

use bethe_core::MemoryLimit;
use toml::de::{DeTable, DeValue};

use super::read::{at_least_one, text_of_rules};
use super::{FORMS, RuleFileError, parse_rules};
use crate::labels::{Scheme, States};
use crate::rules::Rule;

/// Reads a file of rules without knowing the labels: every name counts as a kind. Also returns
/// states with these kinds.
pub fn rules_of_any_labels(path: impl AsRef<Path>) -> Result<(Vec<Rule>, States), RuleFileError> {
    let path = path.as_ref();
    let text = text_of_rules(path, MemoryLimit::NONE)?;
    parse_rules_of_any_labels(path, &text)
}

/// The same for a file's text; `path` is for messages.
pub fn parse_rules_of_any_labels(
    path: impl AsRef<Path>,
    text: &str,
) -> Result<(Vec<Rule>, States), RuleFileError> {
    let names = DeTable::parse(text).map_or(BTreeSet::new(), |document| names(document.get_ref()));
    // With none there is nothing to find, and with one of nothing no rule can be right.
    let names: Vec<&str> =
        names.iter().map(String::as_str).filter(|name| !name.is_empty()).collect();
    let names = if names.is_empty() { vec!["label"] } else { names };
    let states = States::learn(Scheme::Plain, [names])
        .map_err(|error| RuleFileError::Names { path: path.as_ref().to_path_buf(), error })?;
    let path = path.as_ref();
    Ok((at_least_one(path, parse_rules(path, text, &states)?)?, states))
}

/// All names in places where rules have names of kinds.
fn names(document: &DeTable) -> BTreeSet<String> {
    let mut names = BTreeSet::new();
    let rules = document.get("rule").and_then(|rules| rules.get_ref().as_array());
    let rules = rules.into_iter().flatten().filter_map(|rule| rule.get_ref().as_table());
    for rule in rules {
        let fields = FORMS.iter().flat_map(|(form, with)| [Some(*form), *with]).flatten();
        for value in fields.filter_map(|field| rule.get(field)) {
            match value.get_ref() {
                DeValue::String(name) => drop(names.insert(name.to_string())),
                DeValue::Array(list) => {
                    let list = list.iter().filter_map(|name| name.get_ref().as_str());
                    names.extend(list.map(str::to_string));
                }
                DeValue::Table(terms) => {
                    names.extend(terms.iter().map(|(name, _)| name.get_ref().to_string()));
                }
                _ => (),
            }
        }
    }
    names
}
