//! `bethe-reproduce citation`: from a folder of references to tables and figures.

mod common;
#[path = "../../cli/src/demo/random.rs"]
mod random;
#[path = "../../cli/src/demo/records.rs"]
mod records;

use std::fs;

use common::{Folder, error, text};
use records::records;
use serde_json::Value;

const MODELS: [&str; 10] = [
    "base-simple",
    "paper-recipe",
    "base",
    "singleton",
    "hierarchical",
    "pairwise",
    "all",
    "all-fenchel-young",
    "all-hard",
    "soft-dd",
];
const FIELDS: [&str; 11] = [
    "model",
    "leaf_f1",
    "all_f1",
    "precision",
    "recall",
    "interval",
    "leaf_interval",
    "leaf_f1_without_leaked",
    "paper",
    "mean_oracle_calls",
    "converged_share",
];
const RUN: [&str; 7] = ["citation", "--data", "data", "--out", "out", "--max-iterations", "15"];

/// References as the UMass files have them: token, leaf, path, hierarchical label.
fn umass(references: &str) -> String {
    let line = |line: &str| {
        let Some((token, label)) = line.split_once('\t') else { return "\n".to_string() };
        let label = match label {
            "B-author" => "B-authors:B-person:B-person-last",
            "I-author" => "I-authors:I-person:B-person-first",
            "B-venue" => "B-venue:B-journal",
            "I-venue" => "I-venue:I-journal",
            "B-year" => "B-date:B-year",
            other => other,
        };
        let leaf = label.rsplit(':').next().unwrap();
        format!("{token}\t{leaf}\t-\t{label}\n")
    };
    references.lines().map(line).collect()
}

/// A folder with data of which some are there.
fn folder() -> Folder {
    let folder = Folder::new();
    for part in ["umass", "cora"] {
        fs::create_dir_all(folder.path(&format!("data/citation/{part}"))).unwrap();
    }
    let train = umass(&records(60, 1));
    let known = train.split_inclusive("\n\n").next().unwrap();
    let test = umass(&records(20, 3)) + known;
    folder
        .with("data/citation/umass/train.conll", &train)
        .with("data/citation/umass/dev.conll", &umass(&records(30, 2)))
        .with("data/citation/umass/test.conll", &test)
        .with("data/citation/cora/cora.conll", &records(20, 4))
}

const TABLES: [&str; 4] = ["scores", "convergence", "caps", "others"];

/// The empty place of a table on the results page.
fn place(name: &str) -> String {
    format!("<!-- begin citation-{name}: run -->\n<!-- end citation-{name} -->\n")
}

#[test]
fn references_become_tables_and_figures() {
    let folder = folder().with("citation.md", &TABLES.map(place).concat());
    let output = folder.reproduce(&[&RUN[..], &["--results", "."]].concat());
    let (printed, said) = (text(&output, &RUN), error(&output));
    assert!(said.contains("skipped: data/citation/anystyle/core.conll is missing"), "{said}");
    assert!(said.contains("skipped: data/citation/lexicons is missing"), "{said}");

    let json = folder.read("out/table.json");
    let rows: Vec<Value> = serde_json::from_str(&json).unwrap();
    assert_eq!(rows.iter().map(|row| &row["model"]).collect::<Vec<_>>(), MODELS);
    for (line, row) in json.lines().skip(1).zip(&rows) {
        let places = FIELDS.map(|field| line.find(&format!("\"{field}\":")).expect(field));
        assert!(places.is_sorted(), "{line}");
        assert_eq!(row.as_object().unwrap().len(), FIELDS.len());
        let number = |field: &str| row[field].as_f64().unwrap();
        let [all, precision, recall] = ["all_f1", "precision", "recall"].map(number);
        assert!((60.0..=100.0).contains(&number("leaf_f1")), "{row}");
        assert!((all - 2.0 * precision * recall / (precision + recall)).abs() < 0.01, "{row}");
        let is_base = row["model"].as_str().unwrap().starts_with("base");
        assert_eq!(row["interval"].is_null(), is_base, "{row}");
        assert_eq!(row["mean_oracle_calls"].is_null(), is_base, "{row}");
        if !is_base {
            for interval in ["interval", "leaf_interval"] {
                let ends: Vec<f64> = common::numbers(&row[interval]);
                assert!(ends.len() == 2 && ends[0] <= ends[1], "{row}");
            }
            assert!((0.0..=1.0).contains(&number("converged_share")), "{row}");
        }
    }
    assert_eq!(rows[9]["paper"], 95.39);

    let table = folder.read("out/table.md");
    assert_eq!(printed, table);
    assert!(table.contains("60 train, 30 dev, 21 test, of which 1 also occur"), "{table}");
    assert!(table.contains("## cora") && !table.contains("anystyle"), "{table}");
    let cora: Vec<Value> = serde_json::from_str(&folder.read("out/cora.json")).unwrap();
    assert_eq!(cora.len(), 2);
    let figures = ["f1-by-iterations", "iterations", "iterations-active"];
    for figure in figures.iter().flat_map(|f| [f.to_string(), format!("{f}-paper-recipe")]) {
        assert!(folder.read(&format!("out/{figure}.svg")).ends_with("</svg>\n"));
        let csv = folder.read(&format!("out/{figure}.csv"));
        assert!(csv.lines().skip(1).all(|line| line.matches(',').count() == 3), "{csv}");
    }
    let capped = folder.read("out/f1-by-iterations.csv");
    let caps: Vec<&str> =
        capped.lines().skip(1).map(|row| row.split(',').next().unwrap()).collect();
    assert_eq!(caps, ["1", "2", "3", "5", "7", "10", "15", "20", "40"]);
    let counted = folder.read("out/iterations.csv");
    let sum = |column: usize| -> f64 {
        let cell = |row: &str| row.split(',').nth(column).unwrap().parse::<f64>().unwrap();
        counted.lines().skip(1).map(cell).sum()
    };
    assert_eq!([1, 2, 3].map(sum), [21.0; 3], "every reference is in every histogram");
    assert!(folder.read("out/constraints.csv").starts_with("constraint,weight\n"));

    let page = folder.read("citation.md");
    let row = format!("| `soft-dd` | {:.2} |", rows[9]["leaf_f1"].as_f64().unwrap());
    assert!(page.contains(&row), "{page}");
    assert!(page.contains("| `paper-recipe` | `auto`, gap at most 1e-4 | all: 21 |"), "{page}");
    assert!(page.contains("| `all` | rda, last iterate | "), "{page}");
    assert!(page.ends_with(&place("others")), "a table lacks anystyle, and is not written: {page}");
    assert!(said.contains("./citation.md: citation-others stays as it was"), "{said}");
}

#[test]
fn the_same_seed_gives_the_same_table_on_any_number_of_threads() {
    let folder = folder();
    fs::remove_dir_all(folder.path("data/citation/cora")).unwrap();
    let table = |threads: &str| {
        let further = ["--quiet", "--seed", "3", "--threads", threads];
        folder.succeeds(&[&RUN[..5], &["--max-iterations", "4"], &further].concat());
        folder.read("out/table.json")
    };
    assert_eq!(table("1"), table("2"));
}

#[test]
fn data_that_are_missing_or_wrong_are_told_before_any_work() {
    let folder = folder();
    let refused = |name: &str, content: Option<&str>| {
        let path = folder.path(name);
        let kept = fs::read_to_string(&path).unwrap();
        match content {
            Some(content) => fs::write(&path, content).unwrap(),
            None => fs::remove_file(&path).unwrap(),
        }
        let message = folder.refusal(&[&RUN[..], &["--quiet"]].concat());
        fs::write(&path, kept).unwrap();
        assert!(!folder.path("out").exists());
        message
    };
    let dev = "data/citation/umass/dev.conll";
    let message = refused(dev, None);
    assert!(
        message.starts_with("data/citation/umass/dev.conll: there is no such file"),
        "{message}"
    );
    let message = refused(dev, Some("\n\n"));
    assert_eq!(message, "data/citation/umass/dev.conll: found 0 references, expected at least 1");
    let message = refused(dev, Some("a\tO\t-\tO\nb\tO\n"));
    assert!(message.contains("dev.conll:2: found 2 columns, expected 4"), "{message}");
    let message = refused("data/citation/cora/cora.conll", Some("a\tB-title\n"));
    let expected = "data/citation/cora/cora.conll: found 1 references, expected at least 10";
    assert_eq!(message, expected);
    let message = folder.refusal(&[&RUN[..5], &["--max-iterations", "0"]].concat());
    assert_eq!(message, "--max-iterations: found 0, expected at least 1");
    fs::write(folder.path("out-file"), "").unwrap();
    let message = folder.refusal(&["citation", "--data", "data", "--out", "out-file"]);
    assert!(message.starts_with("out-file: cannot create"), "{message}");
}
