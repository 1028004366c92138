use super::{Form, Relation, Rule, kind_name};
use crate::labels::States;

impl Rule {
    /// The rule in words: `at most one title`, `editor only with booktitle`.
    pub fn in_words(&self, states: &States) -> String {
        let name = |kind: usize| kind_name(states, kind);
        match &self.form {
            Form::Linear { terms, relation, bound } => {
                let terms: Vec<(String, i32)> = terms.iter().map(|&(k, c)| (name(k), c)).collect();
                linear(&terms, *relation, *bound)
            }
            &Form::Implies { premise, conclusion } => {
                format!("{} only with {}", name(premise), name(conclusion))
            }
            &Form::Before { first, second } => format!("{} before {}", name(first), name(second)),
        }
    }
}

impl Form {
    /// What a rule on a difference, or on another weighted sum, counts: `author − title`.
    pub(crate) fn sum_in_words(&self, states: &States) -> Option<String> {
        let Self::Linear { terms, .. } = self else { return None };
        let named = |&(kind, c): &(usize, i32)| (kind_name(states, kind), c);
        let mut named: Vec<(String, i32)> = terms.iter().map(named).collect();
        named.sort_by_key(|&(_, c)| c < 0);
        named.iter().any(|&(_, c)| c != 1).then(|| sum(&named))
    }
}

fn linear(terms: &[(String, i32)], relation: Relation, bound: u32) -> String {
    let side = match relation {
        Relation::AtMost => "at most",
        Relation::AtLeast => "at least",
    };
    let number = if bound == 1 { "one".to_string() } else { bound.to_string() };
    let is_none = relation == Relation::AtMost && bound == 0;
    match terms {
        [(more, 1), (less, -1)] | [(less, -1), (more, 1)] => match (relation, bound) {
            (Relation::AtMost, 0) => format!("no more {more} than {less}"),
            (Relation::AtLeast, 0) => format!("no fewer {more} than {less}"),
            _ => format!("{side} {number} more {more} than {less}"),
        },
        _ if terms.iter().any(|&(_, c)| c != 1) => format!("{} {side} {number}", sum(terms)),
        _ if is_none => format!("no {}", listed(terms, "or")),
        [(name, _)] => format!("{side} {number} {name}"),
        _ => format!("{} together {side} {number}", listed(terms, "and")),
    }
}

/// `a, b and c`
fn listed(terms: &[(String, i32)], last: &str) -> String {
    let names: Vec<&str> = terms.iter().map(|(name, _)| name.as_str()).collect();
    match names.split_last() {
        Some((end, rest)) if !rest.is_empty() => format!("{} {last} {end}", rest.join(", ")),
        _ => names.concat(),
    }
}

/// `2 a − b`
fn sum(terms: &[(String, i32)]) -> String {
    let mut text = String::new();
    for (name, c) in terms {
        text.push_str(match (text.is_empty(), *c < 0) {
            (true, false) => "",
            (true, true) => "−",
            (false, false) => " + ",
            (false, true) => " − ",
        });
        if c.abs() != 1 {
            text.push_str(&format!("{} ", c.unsigned_abs()));
        }
        text.push_str(name);
    }
    text
}
