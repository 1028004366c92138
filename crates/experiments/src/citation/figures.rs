//! Pictures of the experiment, and their numbers.

use std::fmt::Write;

use bethe_io::plot::{Chart, bars, curves};

use super::File;
use super::convergence::{CAP, Effort};
use super::umass::{CAPS, Ours};

/// F1 against the cap on iterations.
pub(super) fn capped(ours: &Ours) -> [File; 2] {
    let x: Vec<f64> = CAPS.iter().map(|&cap| cap as f64).collect();
    let values = |of: &[f64]| of.iter().map(|&f1| Some(f1)).collect::<Vec<_>>();
    let [rda, auto] = &ours.capped;
    let series = [("rda", values(rda)), ("auto", values(auto))];
    let chart = Chart {
        title: "F1 against the cap on iterations",
        note: "UMass test references, constraints of the row all",
        across: "iterations at most",
        up: "all-level F1",
        x: &x,
        series: &series,
    };
    let mut csv = String::from("max_iterations,rda,auto\n");
    for ((cap, rda), auto) in CAPS.iter().zip(rda).zip(auto) {
        let _ = writeln!(csv, "{cap},{rda},{auto}");
    }
    files("f1-by-iterations", curves(&chart), csv)
}

/// How many references take how many iterations.
pub(super) fn iterations(ours: &Ours, only_active: bool) -> [File; 2] {
    let shown = |effort: &&Effort| effort.active || !only_active;
    let (name, of) = match only_active {
        true => ("iterations-active", "references with an active constraint"),
        false => ("iterations", "all references"),
    };
    let names: Vec<String> = ours.efforts.iter().map(|efforts| efforts.run.name()).collect();
    let counts: Vec<(&str, Vec<Option<f64>>)> = names
        .iter()
        .zip(&ours.efforts)
        .map(|(name, efforts)| {
            let mut counts = vec![0.0; CAP + 1];
            efforts.all.iter().filter(shown).for_each(|one| counts[one.iterations.min(CAP)] += 1.0);
            (&name[..], counts.into_iter().map(Some).collect())
        })
        .collect();
    let x: Vec<f64> = (0..=CAP).map(|iterations| iterations as f64).collect();
    let chart = Chart {
        title: "Iterations to convergence",
        note: &format!("UMass test, {of}; those that take more than {CAP} count as {CAP}"),
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
    files(name, bars(&chart), csv)
}

fn files(name: &str, svg: String, csv: String) -> [File; 2] {
    [("svg", svg), ("csv", csv)]
        .map(|(ending, content)| File { name: format!("{name}.{ending}"), content })
}
