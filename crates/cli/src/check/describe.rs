//! What files hold, in words and as data.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write;
use std::io::BufRead;
use std::path::Path;

use anyhow::Result;
use bethe_core::Problem;
use bethe_core::model::uai::{Evidence, Sample};
use bethe_core::problem::file::EnergiesFile;
use bethe_tagging::Tagger;
use bethe_tagging::data::Sequences;
use bethe_tagging::features::Template;
use bethe_tagging::labels::States;
use bethe_tagging::rules::{Rule, Weight};
use bethe_terminal::{bad_input, counted, shown};
use serde_json::{Value, json};

use crate::inspect::summary;

/// What a file holds.
pub struct Description {
    pub file: String,
    pub kind: &'static str,
    pub text: String,
    /// An object, without the file and the kind.
    pub json: Value,
}

impl Description {
    /// One object with all of it.
    pub fn whole_json(&self) -> Value {
        let mut whole = self.json.clone();
        whole["file"] = json!(self.file);
        whole["kind"] = json!(self.kind);
        whole
    }
}

/// What the problems of a file hold in total.
#[derive(Default)]
pub struct Batch {
    problems: usize,
    variables: Range,
    factors: Range,
    energies: Range,
}

/// The least and the greatest of some numbers.
#[derive(Default)]
struct Range(Option<[usize; 2]>);

impl Range {
    fn add(&mut self, number: usize) {
        let [least, most] = self.0.unwrap_or([number; 2]);
        self.0 = Some([least.min(number), most.max(number)]);
    }

    fn in_words(&self) -> String {
        let [least, most] = self.0.unwrap_or_default();
        span(least, most)
    }
}

impl Batch {
    /// Counts a problem.
    pub fn add(&mut self, problem: &Problem) {
        self.problems += 1;
        self.variables.add(problem.model().variables().len());
        self.factors.add(problem.model().factors().len());
        self.energies.add(problem.energies().len());
    }

    pub fn described(&self, name: &str) -> Description {
        let text = format!(
            "{}: {}, one per line\n  variables  {} each\n  factors    {} each\n  \
             energies   {} each\n",
            shown(name),
            counted(self.problems, "problem"),
            self.variables.in_words(),
            self.factors.in_words(),
            self.energies.in_words(),
        );
        let json = json!({
            "problems": self.problems,
            "variables": self.variables.0,
            "factors": self.factors.0,
            "energies": self.energies.0,
        });
        Description { file: name.to_string(), kind: "problems", text, json }
    }
}

/// What an energies file holds.
pub fn energies_file(name: &str, file: &EnergiesFile) -> Description {
    let kinds = || file.kinds().map(ToString::to_string);
    let text = format!(
        "{}: an energies file\n  energies   {}{}\n  \
         bethe solve --energies checks their scopes against a model\n",
        shown(name),
        file.len(),
        tallied(kinds())
    );
    let json = json!({ "energies": tally(kinds()) });
    Description { file: name.to_string(), kind: "energies", text, json }
}

/// What an evidence file holds.
pub fn evidence(name: &str, evidence: &Evidence) -> Description {
    let mut observed = Range::default();
    evidence.samples().iter().map(Sample::len).for_each(|count| observed.add(count));
    let text = format!(
        "{}: evidence, {}\n  observed   {} each\n  \
         bethe solve --evidence checks variables and states against a model\n",
        shown(name),
        counted(evidence.samples().len(), "sample"),
        observed.in_words()
    );
    let json = json!({ "samples": evidence.samples().len(), "observed": observed.0 });
    Description { file: name.to_string(), kind: "evidence", text, json }
}

/// What a file of rules holds.
pub fn rules(name: &str, rules: &[Rule], states: &States) -> Description {
    let mut text = format!("{}: {}\n", shown(name), counted(rules.len(), "rule"));
    let mut listed = Vec::new();
    for rule in rules {
        let words = rule.in_words(states);
        let weight = match rule.weight {
            Weight::Learned => json!("learned"),
            Weight::Given(weight) => json!(weight),
            Weight::Hard => json!("hard"),
        };
        let says = weight.as_str().map_or_else(|| weight.to_string(), str::to_string);
        let _ = writeln!(text, "  {}: {says}", shown(&words));
        listed.push(json!({ "rule": words, "weight": weight }));
    }
    text.push_str("  Label names are checked when you train with --constraints\n");
    Description { file: name.to_string(), kind: "rules", text, json: json!({ "rules": listed }) }
}

/// What a template holds.
pub fn template(name: &str, template: &Template) -> Description {
    let mut text = format!("{}: a template\n", shown(name));
    let lines = template.to_string();
    let lines = lines.lines().filter(|line| line.starts_with(['U', 'R', 'L'])).count();
    let _ = writeln!(text, "  attributes from {}", counted(lines, "line"));
    match template.highest_column() {
        Some(0) => text.push_str("  reads column 0\n"),
        Some(column) => {
            let _ = writeln!(text, "  reads columns 0 to {column}");
        }
        None => {}
    }
    let pairs = if template.transitions() { "weights" } else { "no weights" };
    let _ = writeln!(text, "  label pairs: {pairs}");
    let json = json!({
        "lines": lines,
        "highest_column": template.highest_column(),
        "pairs": template.transitions(),
    });
    Description { file: name.to_string(), kind: "template", text, json }
}

/// What a model holds.
pub fn model(name: &str, tagger: &Tagger) -> Description {
    let parts = tagger.parts();
    let json = json!({
        "input": parts.input,
        "labels": tagger.labels(),
        "attributes": parts.attributes.len(),
        "weights": parts.crf.structure.free_weights(),
        "rules": parts.rules.len(),
        "training": parts.training,
    });
    Description { file: name.to_string(), kind: "model", text: summary(name, tagger), json }
}

/// What a file of tokens holds, which has its labels in the last of several columns.
pub fn tokens<R: BufRead>(path: &Path, file: Sequences<R>) -> Result<Description> {
    let (mut sequences, mut tokens, mut columns) = (0, 0, 0);
    let mut labels: BTreeSet<String> = BTreeSet::new();
    for sequence in file {
        let sequence = sequence.map_err(|error| bad_input(error.to_string()))?;
        sequences += 1;
        tokens += sequence.len();
        columns = sequence.columns(0);
        for t in (0..sequence.len()).filter(|_| columns > 1) {
            let label = sequence.cell(t, columns - 1).unwrap_or_default();
            if label.is_empty() {
                let (place, line) = (path.display(), sequence.line(t));
                let message = "found no label, expected one for every token";
                return Err(bad_input(format!("{place}:{line}: {message}")));
            }
            if !labels.contains(label) {
                labels.insert(label.to_string());
            }
        }
    }
    let name = path.display().to_string();
    let (kind, what, in_last, advice) = match columns > 1 {
        true => (
            "labelled_tokens",
            "labelled tokens",
            format!(", with {} in the last", counted(labels.len(), "label")),
            "To use another column's labels: bethe train --column N",
        ),
        false => (
            "tokens",
            "tokens without labels",
            String::new(),
            "bethe tag labels them. To train, every token needs a label in a further column",
        ),
    };
    let text = format!(
        "{}: {what}, one per line\n  sequences  {sequences}\n  tokens     {tokens}\n  \
         columns    {columns}{in_last}\n  {advice}\n",
        shown(&name),
    );
    let json =
        json!({ "sequences": sequences, "tokens": tokens, "columns": columns, "labels": labels });
    Ok(Description { file: name, kind, text, json })
}

/// How many there are of each kind.
pub fn tally(kinds: impl Iterator<Item = String>) -> BTreeMap<String, usize> {
    let mut counts = BTreeMap::new();
    kinds.for_each(|kind| *counts.entry(kind).or_default() += 1);
    counts
}

/// `: 2 a, 1 b`, or nothing at all.
pub fn tallied(kinds: impl Iterator<Item = String>) -> String {
    let parts: Vec<String> = tally(kinds).iter().map(|(kind, n)| format!("{n} {kind}")).collect();
    if parts.is_empty() { String::new() } else { format!(": {}", parts.join(", ")) }
}

pub fn span(least: usize, most: usize) -> String {
    if least == most { least.to_string() } else { format!("{least} to {most}") }
}
