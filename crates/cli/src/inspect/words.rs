//! What a model holds, for people.

use std::fmt::Write;

use bethe_tagging::{Input, RuleTraining, Tagger, Training};
use bethe_terminal::{counted, shown};

use crate::tagging::in_words;

use super::content::{Content, Strongest, Transition};

/// Up to this many labels, the summary names all.
const NAMED_LABELS: usize = 12;

/// What a model is, in a few lines.
pub fn summary(name: &str, tagger: &Tagger) -> String {
    let parts = tagger.parts();
    let mut text = format!("{}: a tagger\n", shown(name));
    let mut line = |what: &str, says: String| {
        let _ = writeln!(text, "  {what:<12}{}", shown(&says));
    };
    line("reads", input(tagger));
    line("labels", labels(tagger));
    let attributes = parts.attributes.len();
    line(
        "attributes",
        format!("{attributes}, {}", counted(parts.crf.structure.free_weights(), "weight")),
    );
    let lexicons = parts.extractor.lexicons().lists().map(|(name, _)| name).collect::<Vec<_>>();
    if !lexicons.is_empty() {
        line("lexicons", lexicons.join(", "));
    }
    let Training { version, sequences, tokens, base, loss, iterations, dev_f1, rules } =
        &parts.training;
    let data = [counted(*sequences, "sequence"), counted(*tokens, "token")].join(", ");
    line("trained", format!("by bethe {version} on {data}"));
    let dev = dev_f1.map_or(String::new(), |f1| format!(", development F1 {:.2}", 100.0 * f1));
    line("", format!("{base}: {}, loss {loss:.3}{dev}", counted(*iterations, "iteration")));
    if let Some(rules) = rules {
        let (penalty, decoding) = (parts.penalty.name(), parts.decoding.name());
        line("rules", format!("{}; penalty {penalty}; decoding {decoding}", rule_training(rules)));
    }
    text
}

fn input(tagger: &Tagger) -> String {
    match &tagger.parts().input {
        Input::Columns { columns, label, observed } => {
            let template = tagger.parts().extractor.template();
            let mut read: Vec<usize> =
                template.columns().filter_map(|column| observed.get(column).copied()).collect();
            read.sort_unstable();
            read.dedup();
            let read: Vec<String> = read.iter().map(|column| (column + 1).to_string()).collect();
            let label = label + 1;
            match read.is_empty() {
                true => format!("column files of {columns} columns, the label in column {label}"),
                false => format!(
                    "column files: column {} of {columns}, the label in column {label}",
                    read.join(", ")
                ),
            }
        }
        Input::Attributes => "attribute files".to_string(),
        Input::Scores => "scores of labels".to_string(),
    }
}

fn labels(tagger: &Tagger) -> String {
    let states = tagger.states();
    let mut labels: Vec<&str> = (0..states.len()).map(|state| states.label(state)).collect();
    labels.dedup();
    let (count, scheme) = (labels.len(), states.scheme().name());
    match labels.len() > NAMED_LABELS {
        true => format!("{count} ({scheme}): {}, …", labels[..NAMED_LABELS].join(", ")),
        false => format!("{count} ({scheme}): {}", labels.join(", ")),
    }
}

fn rule_training(rules: &RuleTraining) -> String {
    let RuleTraining { generated, pruned, sequences, learner, l1, .. } = rules;
    let Some(l1) = l1 else { return rules.to_string() };
    format!(
        "{rules}; {generated} considered, {pruned} often broken; {learner}, L1 {l1}, {}",
        counted(*sequences, "sequence")
    )
}

/// Rules, attributes and transitions.
pub fn content(content: &Content, tagger: &Tagger) -> String {
    let mut text = String::new();
    if !content.rules.is_empty() {
        text.push_str("\nrules\n");
    }
    for group in tagger.rule_groups() {
        let _ = writeln!(text, "  {}", shown(&in_words(&group, tagger.states())));
        for (rule, _) in group.rules.iter().skip(1) {
            let _ = writeln!(text, "    {}", shown(&rule.in_words(tagger.states())));
        }
    }
    if content.strongest.iter().any(|strongest| !strongest.attributes.is_empty()) {
        text.push_str("\nstrongest attributes\n");
    }
    for Strongest { state, attributes } in &content.strongest {
        for weighted in attributes {
            let (state, attribute) = (shown(state), shown(weighted.attribute));
            let _ = writeln!(text, "  {state:<20} {:>8.3}  {attribute}", weighted.weight);
        }
    }
    if !content.transitions.is_empty() {
        text.push_str("\ntransitions\n");
    }
    for Transition { from, to, weight } in &content.transitions {
        let _ = writeln!(text, "  {:<20} {weight:>8.3}  {}", shown(from), shown(to));
    }
    text
}
