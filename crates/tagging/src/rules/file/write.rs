use toml::Value;
use toml::map::Map;

use crate::labels::States;
use crate::rules::{Form, Relation, Rule, Weight, kind_name};

/// Writes rules as a file that [`parse_rules`](super::parse_rules) reads back as the same rules.
///
/// Two neighbours that say `≤` and `≥` of the same are written as one `exactly` or `equal`.
pub fn write_rules(rules: &[Rule], states: &States) -> String {
    let mut texts: Vec<String> = Vec::new();
    let mut rest = rules;
    while let [rule, after @ ..] = rest {
        let both = after.first().is_some_and(|next| is_converse(rule, next));
        texts.push(written(rule, both, states));
        rest = if both { &after[1..] } else { after };
    }
    texts.join("\n")
}

/// Whether the first is `≤`, and the second `≥` of the same.
fn is_converse(first: &Rule, second: &Rule) -> bool {
    let Form::Linear { terms, relation: Relation::AtMost, bound } = &first.form else {
        return false;
    };
    let converse =
        Form::Linear { terms: terms.clone(), relation: Relation::AtLeast, bound: *bound };
    second.form == converse && second.weight == first.weight
}

fn written(rule: &Rule, both: bool, states: &States) -> String {
    let name = |kind| Value::String(kind_name(states, kind));
    let two = |a, b| Value::Array(vec![name(a), name(b)]);
    let mut fields: Vec<(&str, Value)> = match &rule.form {
        Form::Linear { terms, relation, bound } => match (&terms[..], both, bound) {
            (&[(a, 1), (b, -1)] | &[(b, -1), (a, 1)], true, 0) => vec![("equal", two(a, b))],
            _ => {
                let form = match (both, relation) {
                    (true, _) => "exactly",
                    (_, Relation::AtMost) => "at_most",
                    (_, Relation::AtLeast) => "at_least",
                };
                vec![(form, Value::Integer(i64::from(*bound))), ("of", counted(terms, states))]
            }
        },
        &Form::Implies { premise, conclusion } => {
            vec![("if", name(premise)), ("then", name(conclusion))]
        }
        &Form::Before { first, second } => vec![("before", two(first, second))],
    };
    match rule.weight {
        Weight::Learned => {}
        Weight::Hard => fields.push(("weight", Value::String("hard".into()))),
        Weight::Given(weight) => fields.push(("weight", Value::Float(weight))),
    }
    let lines: String =
        fields.iter().map(|(field, value)| format!("{field} = {value}\n")).collect();
    format!("[[rule]]\n{lines}")
}

fn counted(terms: &[(usize, i32)], states: &States) -> Value {
    let name = |kind| kind_name(states, kind);
    if terms.iter().any(|&(_, c)| c != 1) {
        let named = |&(kind, c): &(usize, i32)| (name(kind), Value::Integer(i64::from(c)));
        return Value::Table(Map::from_iter(terms.iter().map(named)));
    }
    let mut names: Vec<Value> = terms.iter().map(|&(kind, _)| Value::String(name(kind))).collect();
    if names.len() == 1 { names.remove(0) } else { Value::Array(names) }
}
