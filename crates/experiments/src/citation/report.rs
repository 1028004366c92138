//! The files of the report.

use std::fmt::Write;

use super::convergence::{CAP, Mean};
use super::table::{json, markdown};
use super::umass::{Ours, Outcome};
use super::{File, Flat, Report, figures, page};

/// Rules that the text names; `constraints.csv` has all.
const NAMED: usize = 20;

/// All files, the table as JSON last: where it is, all is there.
pub(super) fn write(umass: Outcome, others: &[Flat]) -> Report {
    let text = text(&umass, others);
    let mut files: Vec<File> = Vec::new();
    for look in &umass.looks {
        files.extend(figures::capped(look));
        files.extend(figures::iterations(look, false));
        files.extend(figures::iterations(look, true));
    }
    let mut add = |name: &str, content| files.push(File { name: name.to_string(), content });
    add("constraints.csv", constraints(&umass.ours));
    for Flat { name, rows } in others {
        add(&format!("{name}.json"), json(rows));
    }
    add("table.md", text.clone());
    add("table.json", json(&umass.rows));
    let tables = page::tables(&umass, others);
    Report { rows: umass.rows, text, files, tables }
}

fn text(umass: &Outcome, others: &[Flat]) -> String {
    let Outcome { rows, references: [train, dev, test, leaked], ours, looks } = umass;
    let mut text = format!(
        "# Fields of references\n\n\
         UMass references: {train} train, {dev} dev, {test} test, of which {leaked} also occur in train or \
         dev. Scores are percent of whole segments; precision and recall are those of all levels. Gains \
         are over the base model (paper-recipe: over base-simple), by the paired bootstrap.\n\n{}\n",
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
        "\nIterations to convergence, at most {CAP} (paper: 9.8 on average, 93.7 % within \
         {CAP}):\n\n\
         | constraints of | solver | references | iterations | oracle calls | converged |\n\
         | --- | --- | --- | --- | --- | --- |\n"
    );
    for (model, efforts) in
        looks.iter().flat_map(|look| look.efforts.iter().map(|e| (look.model, e)))
    {
        for (which, only_active) in [("all", false), ("with an active constraint", true)] {
            let Mean { references, iterations, calls, converged } = efforts.mean(only_active);
            let _ = writeln!(
                text,
                "| {model} | {} | {which}: {references} | {iterations:.2} | {calls:.2} | {converged:.1} % |",
                efforts.run.name(),
            );
        }
    }
    for Flat { name, rows } in others {
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
