//! `bethe-reproduce cgm` on problems that it simulates itself.

mod common;

use common::Folder;
use serde_json::Value;

/// The tables of the results page.
const TABLES: [&str; 3] = ["flows-solvers", "flows-learning", "flows-birds"];

/// A page with places for some tables.
fn page(tables: &[&str]) -> String {
    let place = |name: &&str| format!("<!-- begin {name}: run -->\nold\n<!-- end {name} -->\n");
    format!("# Flows\n\n{}\nEnd.\n", tables.iter().map(place).collect::<String>())
}

#[test]
fn the_comparison_runs_on_simulated_birds_alone() {
    let folder = Folder::new().with("flows.md", &page(&TABLES));
    let small = ["cgm", "--out", "report", "--sides", "3", "--trials", "1", "--quiet"];
    let text = folder.succeeds(&[&small[..], &["--results", "."]].concat());
    assert!(text.contains("| base | 81 | dual |"), "{text}");
    let rows: Vec<Value> = serde_json::from_str(&folder.read("report/table.json")).unwrap();
    let solvers: Vec<&str> = rows.iter().map(|row| row["solver"].as_str().unwrap()).collect();
    for solver in [
        "dual",
        "adaptive",
        "rda",
        "mirror-descent",
        "accelerated-rda",
        "nonlinear-bp",
        "interior-point",
    ] {
        assert_eq!(solvers.iter().filter(|own| **own == solver).count(), 1, "{solver}");
    }
    let dual = &rows[0];
    for field in ["seconds_to_1e-4", "seconds_to_1e-6", "certified_seconds_to_1e-6", "speedup"] {
        assert!(dual[field].as_f64().unwrap() > 0.0, "{field}: {dual}");
    }
    assert!(dual["true_error"].as_f64().unwrap() <= 1e-6);
    let peer = rows.iter().find(|row| row["solver"] == "interior-point").unwrap();
    assert!(peer["true_error"].as_f64().unwrap() < 1e-5, "both solve the same problem: {peer}");
    let accuracies: Vec<Value> =
        serde_json::from_str(&folder.read("report/accuracy.json")).unwrap();
    let one = |field: &str| accuracies[0][field].as_f64().unwrap();
    assert!(one("flows") < one("flows_without_counts"));
    assert!(one("counts") < one("counts_without_observations"));
    assert!(folder.read("report/seconds.svg").ends_with("</svg>\n"));

    let written = folder.read("flows.md");
    let columns = "| cells | solver | certified 1e-6 | oracle calls | speed-up | paper |\n";
    let begin = format!("# Flows\n\n<!-- begin flows-solvers: run -->\n{columns}| --- |");
    assert!(written.starts_with(&begin), "{written}");
    let calls = dual["oracle_calls"].as_u64().unwrap();
    let start = |line: &&str| line.starts_with("| 3 × 3 | dual | ");
    let line = written.lines().find(start).expect("a row of the dual");
    assert!(line.contains(&format!(" ms | {calls} | ")), "{line}");
    let line = written.lines().find(|line| line.starts_with("| 3 × 3 | interior point | "));
    assert!(line.expect("a row of interior point").ends_with(" |  | 1 |  |"), "{line:?}");
    let rest = &page(&TABLES[1..])["# Flows\n\n".len()..];
    assert!(written.ends_with(rest), "without data nothing else is written: {written}");
}

#[test]
fn a_page_without_a_place_for_every_table_is_refused_before_any_work() {
    let folder = Folder::new().with("flows.md", &page(&TABLES[..2]));
    let run = |results| folder.refusal(&["cgm", "--out", "report", "--results", results]);
    let message = run(".");
    let expected = "./flows.md: found no lines `<!-- begin flows-birds: … -->`";
    assert!(message.starts_with(expected), "{message}");
    assert!(run("nowhere").starts_with("nowhere/flows.md: "));
    assert_eq!(folder.files(), ["flows.md"], "nothing is left behind");
    assert_eq!(folder.read("flows.md"), page(&TABLES[..2]));
}

#[test]
fn flags_out_of_range_are_refused() {
    let folder = Folder::new();
    for (flags, expected) in [
        (["--trials", "0"], "--trials: found 0, expected 1 to 10"),
        (["--sides", "5,1"], "--sides: found 1, expected 2 to 30"),
        (["--data", "nowhere"], "nowhere: has no folder flows/"),
    ] {
        let message = folder.refusal(&[&["cgm", "--out", "report"], &flags[..]].concat());
        assert_eq!(message, expected);
    }
    assert_eq!(folder.files(), Vec::<String>::new(), "nothing is left behind");
}

#[test]
fn a_report_takes_the_place_of_the_last_one_and_keeps_files_of_others() {
    let folder = Folder::new();
    let small = ["cgm", "--out", "report", "--sides", "3", "--trials", "1", "--quiet"];
    folder.succeeds(&small);
    let folder = folder.with("report/notes.txt", "mine");
    folder.succeeds(&small);
    assert_eq!(folder.read("report/notes.txt"), "mine");
    assert_eq!(folder.files(), ["report"], "nothing is left beside");
    std::fs::create_dir(folder.path("other")).unwrap();
    let folder = folder.with("other/table.md", "mine");
    let message = folder.refusal(&["cgm", "--out", "other", "--quiet"]);
    assert!(
        message.starts_with("other/table.md: found a file that an earlier run did"),
        "{message}"
    );
    assert_eq!(folder.read("other/table.md"), "mine");
}
