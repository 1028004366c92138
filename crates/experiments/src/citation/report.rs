//! The files of the report.

use std::fmt::Write;

use super::convergence::{CAP, Effort};
use super::table::{Row, json, markdown};
use super::umass::{Ours, Outcome};
use super::{File, Report, figures};

/// Rules that the text names; `constraints.csv` has all.
const NAMED: usize = 20;

/// All files, the table as JSON last: where it is, all is there.
pub(super) fn write(umass: Outcome, others: &[(&str, Vec<Row>)]) -> Report {
    let text = text(&umass, others);
    let mut files: Vec<File> = Vec::new();
    files.extend(figures::capped(&umass.ours));
    files.extend(figures::iterations(&umass.ours, false));
    files.extend(figures::iterations(&umass.ours, true));
    let mut add = |name: &str, content| files.push(File { name: name.to_string(), content });
    add("constraints.csv", constraints(&umass.ours));
    for (name, rows) in others {
        add(&format!("{name}.json"), json(rows));
    }
    add("table.md", text.clone());
    add("table.json", json(&umass.rows));
    Report { rows: umass.rows, text, files }
}

fn text(umass: &Outcome, others: &[(&str, Vec<Row>)]) -> String {
    let Outcome { rows, references: [train, dev, test, leaked], ours } = umass;
    let mut text = format!(
        "# Fields of references\n\n\
         UMass references: {train} train, {dev} dev, {test} test, of which {leaked} also occur in train or \
         dev. Scores are percent of whole segments; precision and recall are those of all levels. The gain \
         is that of all-level F1 over the base model (paper-recipe: over base-simple), by the paired \
         bootstrap.\n\n{}\n",
        markdown(rows)
    );
    let rules = &ours.rules;
    let _ = write!(
        text,
        "Constraints of all-fenchel-young: {} generated, {} kept, {} active (with a weight). The strongest:\n\n\
         | constraint | weight |\n| --- | --- |\n",
        rules.generated, rules.pruned, rules.kept
    );
    for (words, weight) in ours.weights.iter().take(NAMED) {
        let _ = writeln!(text, "| {words} | {weight:.2} |");
    }
    let _ = write!(
        text,
        "\nIterations to convergence under the constraints of all, at most {CAP} (paper: 9.8 in the mean, 93.7 % within {CAP}):\n\n\
         | solver | references | iterations | oracle calls | converged |\n| --- | --- | --- | --- | --- |\n"
    );
    for (name, efforts) in &ours.efforts {
        for (which, shown) in [("all", false), ("with an active constraint", true)] {
            let shown: Vec<&Effort> =
                efforts.iter().filter(|effort| effort.active || !shown).collect();
            let mean = |of: fn(&Effort) -> f64| {
                shown.iter().map(|effort| of(effort)).sum::<f64>() / shown.len().max(1) as f64
            };
            let _ = writeln!(
                text,
                "| {name} | {which}: {} | {:.2} | {:.2} | {:.1} % |",
                shown.len(),
                mean(|effort| effort.iterations as f64),
                mean(|effort| effort.calls as f64),
                mean(|effort| 100.0 * f64::from(u8::from(effort.converged)))
            );
        }
    }
    for (name, rows) in others {
        let _ = write!(text, "\n## {name}, five-fold cross-validation\n\n{}", markdown(rows));
    }
    text
}

/// All rules with a weight.
fn constraints(ours: &Ours) -> String {
    let mut csv = String::from("constraint,weight\n");
    for (words, weight) in &ours.weights {
        let _ = writeln!(csv, "\"{}\",{weight}", words.replace('"', "\"\""));
    }
    csv
}
