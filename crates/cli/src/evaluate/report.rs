//! How an evaluation is printed.

use std::fmt::Write;

use bethe_tagging::score::{LabelReport, Report, Score, UnknownLabels};
use bethe_terminal::{counted, shown};
use serde_json::{Value, json};

use crate::tagging::Statistics;

/// The result of an evaluation.
pub struct Evaluation {
    pub score: Score,
    pub statistics: Statistics,
    /// Number of rules in the model.
    pub rules: usize,
    /// Sequences whose own labels break a rule.
    pub broken_by_truth: usize,
    /// Sequences whose predicted labels break a rule.
    pub broken_by_prediction: usize,
    pub unknown: UnknownLabels,
}

impl Evaluation {
    /// The report, with figures about rules under `rules`.
    pub fn json(&self) -> Value {
        let mut report = json!(self.score.report());
        report["sequences"] = json!(self.statistics.sequences);
        report["unknown_labels"] = json!(self.unknown.counts());
        if self.rules > 0 {
            let mut rules = json!(self.statistics.figures());
            if rules.is_null() {
                rules = json!({});
            }
            rules["broken_by_truth"] = json!(self.share(self.broken_by_truth));
            rules["broken_by_prediction"] = json!(self.share(self.broken_by_prediction));
            report["rules"] = rules;
        }
        report
    }

    /// A table for people.
    pub fn in_words(&self) -> String {
        let report = self.score.report();
        let name_width = |name: &String| shown(name).chars().count();
        let width = report.per_label.keys().map(name_width).max().unwrap_or(0).max(10);
        let mut text = format!(
            "{:<width$}  {:>9}  {:>9}  {:>9}  {:>9}\n",
            "label", "precision", "recall", "f1", "support"
        );
        for (name, label) in &report.per_label {
            row(&mut text, width, &shown(name), *label);
        }
        let Report { precision, recall, f1, .. } = report;
        let support = self.score.leaf().gold;
        row(&mut text, width, "all", LabelReport { precision, recall, f1, support });
        if self.score.hierarchical() {
            let all = self.score.all();
            let (precision, recall, f1) = (all.precision(), all.recall(), all.f1());
            let levels = LabelReport { precision, recall, f1, support: all.gold };
            row(&mut text, width, "all levels", levels);
        }
        let _ = writeln!(
            text,
            "\n{}, {:.2}% without a mistake; {}, {:.2}% right",
            counted(self.statistics.sequences, "sequence"),
            100.0 * report.sequence_accuracy,
            counted(report.tokens, "token"),
            100.0 * report.token_accuracy
        );
        if let Some(rules) = self.statistics.in_words() {
            let _ = writeln!(text, "{rules}");
        }
        if self.rules > 0 {
            let _ = writeln!(
                text,
                "sequences that break a rule: {:.2}% by true labels, {:.2}% by predicted",
                100.0 * self.share(self.broken_by_truth),
                100.0 * self.share(self.broken_by_prediction)
            );
        }
        text
    }

    fn share(&self, sequences: usize) -> f64 {
        sequences as f64 / self.statistics.sequences as f64
    }
}

fn row(text: &mut String, width: usize, name: &str, label: LabelReport) {
    let LabelReport { precision, recall, f1, support } = label;
    let [precision, recall, f1] = [precision, recall, f1].map(|share| 100.0 * share);
    let _ =
        writeln!(text, "{name:<width$}  {precision:>9.2}  {recall:>9.2}  {f1:>9.2}  {support:>9}");
}
