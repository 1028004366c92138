use std::path::Path;

use bethe_core::MemoryLimit;
use bethe_io::read_text_within;
use toml::Spanned;
use toml::de::{DeTable, DeValue};

use super::values::{Found, Value, Values};
use super::{FORMS, RuleFileError, RuleFileMistake};
use crate::labels::States;
use crate::rules::{Form, Relation, Rule};

/// A short value of TOML becomes a node with its place in the text: this many times its bytes.
pub const RULES_SHARE: f64 = 128.0;

/// Reads a file of rules, at least one, see [`parse_rules`].
pub fn load_rules(path: impl AsRef<Path>, states: &States) -> Result<Vec<Rule>, RuleFileError> {
    load_rules_within(path, states, MemoryLimit::NONE)
}

/// The same, if the rules fit into a limit of memory.
pub fn load_rules_within(
    path: impl AsRef<Path>,
    states: &States,
    limit: MemoryLimit,
) -> Result<Vec<Rule>, RuleFileError> {
    let path = path.as_ref();
    at_least_one(path, parse_rules(path, &text_of_rules(path, limit)?, states)?)
}

/// The rules of a file, which must have some.
pub(super) fn at_least_one(path: &Path, rules: Vec<Rule>) -> Result<Vec<Rule>, RuleFileError> {
    match rules.is_empty() {
        true => Err(RuleFileError::NoRule { path: path.to_path_buf() }),
        false => Ok(rules),
    }
}

/// The text of a file of rules.
pub(super) fn text_of_rules(path: &Path, limit: MemoryLimit) -> Result<String, RuleFileError> {
    read_text_within(path, limit, RULES_SHARE)
        .map_err(|error| RuleFileError::Read { path: error.path, source: error.fault })
}

/// The rules of a file's text, in its order; `path` is for messages.
///
/// ```
/// use bethe_tagging::labels::{Scheme, States};
/// use bethe_tagging::rules::parse_rules;
///
/// let states = States::learn(Scheme::Bio, [["B-author", "I-author", "B-title", "B-date"]])?;
/// let text = r#"
///     [[rule]]
///     exactly = 1
///     of = "title"
///     weight = "hard"
///
///     [[rule]]
///     before = ["author", "title"]
/// "#;
/// let rules = parse_rules("rules.toml", text, &states)?;
/// let words: Vec<String> = rules.iter().map(|rule| rule.in_words(&states)).collect();
/// assert_eq!(words, ["at most one title", "at least one title", "author before title"]);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// `exactly` and `equal` become two rules each, the one with `≤` first (one rule for `exactly = 0`,
/// where `≥ 0` says nothing).
///
/// | fields | the rule |
/// | --- | --- |
/// | `at_most = 1`, `of = "title"` | `s(title) ≤ 1` |
/// | `at_least = 1`, `of = ["author", "editor"]` | `s(author) + s(editor) ≥ 1` |
/// | `at_most = 0`, `of = { editor = 1, booktitle = -1 }` | `s(editor) − s(booktitle) ≤ 0` |
/// | `exactly = 1`, `of = "date"` | both `≤` and `≥` |
/// | `equal = ["person-first", "person-last"]` | their difference is exactly 0 |
/// | `if = "editor"`, `then = "booktitle"` | with an editor there is a booktitle |
/// | `before = ["author", "title"]` | every author begins before any title |
///
/// `weight` is a number, `"hard"`, or `"learned"`, which is the default. A name that several levels
/// have is written with its level, from 0: `"1:person"`.
pub fn parse_rules(
    path: impl AsRef<Path>,
    text: &str,
    states: &States,
) -> Result<Vec<Rule>, RuleFileError> {
    let path = || path.as_ref().to_path_buf();
    let before = |offset: usize| text.bytes().take(offset);
    let line = |offset: usize| 1 + before(offset).filter(|&byte| byte == b'\n').count();
    let document = DeTable::parse(text).map_err(|error| RuleFileError::Syntax {
        path: path(),
        line: line(error.span().map_or(0, |span| span.start)),
        message: error.message().to_string(),
    })?;
    let mut rules = Vec::new();
    for (key, value) in document.get_ref() {
        let not_a_rule = || RuleFileError::NotARule {
            path: path(),
            line: line(key.span().start),
            found: key.get_ref().to_string(),
        };
        let tables = value.get_ref().as_array().filter(|_| key.get_ref() == "rule");
        for (number, table) in tables.ok_or_else(not_a_rule)?.iter().enumerate() {
            let fields = table.get_ref().as_table().ok_or_else(not_a_rule)?;
            let rule = Reader { values: Values { text, states }, fields, table };
            let stated = rule.rules().map_err(|(place, mistake)| RuleFileError::Rule {
                path: path(),
                line: line(place.start),
                rule: number + 1,
                mistake,
            })?;
            rules.extend(stated);
        }
    }
    Ok(rules)
}

/// Reads one rule.
struct Reader<'a> {
    values: Values<'a>,
    fields: &'a DeTable<'a>,
    table: &'a Spanned<DeValue<'a>>,
}

impl Reader<'_> {
    fn rules(&self) -> Found<Vec<Rule>> {
        let forms = self.forms()?;
        let weight = self.values.weight(self.fields.get("weight"))?;
        let checked = |form| {
            let rule = Rule { form, weight };
            let sense = rule.check(self.values.states);
            sense.map(|()| rule).map_err(|error| (self.table.span(), error.into()))
        };
        forms.into_iter().map(checked).collect()
    }

    fn forms(&self) -> Found<Vec<Form>> {
        let (form, partner) = self.form()?;
        let value = self.field(form);
        let values = &self.values;
        let linear = |relation, terms: &[(usize, i32)], bound| {
            Form::linear(terms.iter().copied(), relation, bound)
        };
        Ok(match (form, partner) {
            ("at_most" | "at_least" | "exactly", Some(of)) => {
                let bound = values.bound(form, value)?;
                let terms = values.terms(of, self.field(of))?;
                let says_nothing = bound == 0 && terms.iter().all(|&(_, c)| c >= 0);
                match form {
                    "at_most" => vec![linear(Relation::AtMost, &terms, bound)],
                    "at_least" => vec![linear(Relation::AtLeast, &terms, bound)],
                    _ if says_nothing => vec![linear(Relation::AtMost, &terms, bound)],
                    _ => vec![
                        linear(Relation::AtMost, &terms, bound),
                        linear(Relation::AtLeast, &terms, bound),
                    ],
                }
            }
            ("if", Some(then)) => {
                let premise = values.kind(form, value)?;
                let conclusion = values.kind(then, self.field(then))?;
                let both = [(premise, value), (conclusion, self.field(then))];
                values.distinct("if and then", both)?;
                vec![Form::Implies { premise, conclusion }]
            }
            ("before", _) => {
                let (first, second) = values.pair(form, value)?;
                vec![Form::Before { first, second }]
            }
            _ => {
                let (first, second) = values.pair(form, value)?;
                let terms = [(first, 1), (second, -1)];
                vec![linear(Relation::AtMost, &terms, 0), linear(Relation::AtLeast, &terms, 0)]
            }
        })
    }

    /// The field that tells what the rule says, and the one that goes with it.
    fn form(&self) -> Found<(&'static str, Option<&'static str>)> {
        let known = |field: &str| {
            field == "weight" || FORMS.iter().any(|&(f, with)| f == field || with == Some(field))
        };
        if let Some((field, _)) = self.fields.iter().find(|(field, _)| !known(field.get_ref())) {
            let found = field.get_ref().to_string();
            return Err((field.span(), RuleFileMistake::UnknownField { found }));
        }
        let mut present = FORMS.into_iter().filter(|&(form, _)| self.fields.contains_key(form));
        let Some((form, partner)) = present.next() else {
            return Err((self.table.span(), RuleFileMistake::NoForm));
        };
        if let Some((second, _)) = present.next() {
            let place = self.field(second).span();
            return Err((place, RuleFileMistake::TwoForms { first: form, second }));
        }
        let stray = |&found: &&'static str| partner != Some(found);
        let stray = ["of", "then"].into_iter().filter(stray);
        for found in stray {
            if let Some(value) = self.fields.get(found) {
                return Err((value.span(), RuleFileMistake::Stray { found, form }));
            }
        }
        match partner.filter(|&partner| !self.fields.contains_key(partner)) {
            Some(expected) => {
                Err((self.table.span(), RuleFileMistake::Incomplete { form, expected }))
            }
            None => Ok((form, partner)),
        }
    }

    fn field(&self, field: &str) -> &Value<'_> {
        &self.fields[field]
    }
}
