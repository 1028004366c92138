//! Pictures of the experiment, and their numbers.

use std::fmt::Write;

use bethe_io::plot::{Chart, bars, curves};

use super::File;
use super::convergence::{Answer, CAP, CAPS, Effort, Look};

/// F1 against the cap on iterations.
pub(super) fn capped(look: &Look) -> [File; 2] {
    let x: Vec<f64> = CAPS.iter().map(|&cap| cap as f64).collect();
    let values = |of: &[f64]| of.iter().map(|&f1| Some(f1)).collect::<Vec<_>>();
    let series: Vec<(&str, Vec<Option<f64>>)> = Answer::ALL
        .iter()
        .zip(&look.capped)
        .map(|(answer, f1)| (answer.name(), values(f1)))
        .collect();
    let chart = Chart {
        title: "F1 against the cap on iterations",
        note: &format!("UMass test references, constraints of the row {}", look.model),
        across: "iterations at most",
        up: "all-level F1",
        x: &x,
        series: &series,
    };
    let names: Vec<String> = series.iter().map(|(name, _)| format!("\"{name}\"")).collect();
    let mut csv = format!("max_iterations,{}\n", names.join(","));
    for (at, cap) in CAPS.iter().enumerate() {
        let row: Vec<String> = look.capped.iter().map(|f1| f1[at].to_string()).collect();
        let _ = writeln!(csv, "{cap},{}", row.join(","));
    }
    files("f1-by-iterations", look, curves(&chart), csv)
}

/// How many references take how many iterations.
pub(super) fn iterations(look: &Look, only_active: bool) -> [File; 2] {
    let shown = |effort: &&Effort| effort.active || !only_active;
    let (name, of) = match only_active {
        true => ("iterations-active", "references with an active constraint"),
        false => ("iterations", "all references"),
    };
    let names: Vec<String> = look.efforts.iter().map(|efforts| efforts.run.name()).collect();
    let counts: Vec<(&str, Vec<Option<f64>>)> = names
        .iter()
        .zip(&look.efforts)
        .map(|(name, efforts)| {
            let mut counts = vec![0.0; CAP + 1];
            efforts.all.iter().filter(shown).for_each(|one| counts[one.iterations.min(CAP)] += 1.0);
            (&name[..], counts.into_iter().map(Some).collect())
        })
        .collect();
    let x: Vec<f64> = (0..=CAP).map(|iterations| iterations as f64).collect();
    let chart = Chart {
        title: "Iterations to convergence",
        note: &format!(
            "UMass test, {of}, constraints of the row {}; those that take more than {CAP} count as {CAP}",
            look.model
        ),
        across: "iterations",
        up: "references",
        x: &x,
        series: &counts,
    };
    let names: Vec<String> = counts.iter().map(|(name, _)| format!("\"{name}\"")).collect();
    let mut csv = format!("iterations,{}\n", names.join(","));
    for at in 0..=CAP {
        let row: Vec<String> =
            counts.iter().map(|(_, own)| own[at].unwrap_or(0.0).to_string()).collect();
        let _ = writeln!(csv, "{at},{}", row.join(","));
    }
    files(name, look, bars(&chart), csv)
}

/// The picture and its numbers. Those of other models than `all` have the model in their name.
fn files(name: &str, look: &Look, svg: String, csv: String) -> [File; 2] {
    let name = match look.model {
        "all" => name.to_string(),
        model => format!("{name}-{model}"),
    };
    [("svg", svg), ("csv", csv)]
        .map(|(ending, content)| File { name: format!("{name}.{ending}"), content })
}
