//! The handwriting experiment, end to end on drawn letters.

mod common;

use std::io::Write;

use bethe_experiments::ocr::data::to_text;
use bethe_experiments::ocr::experiment::MODELS;
use bethe_experiments::ocr::glyphs::{Drawing, VOCABULARY, draw};
use common::{Folder, text};
use flate2::Compression;
use flate2::write::GzEncoder;
use serde_json::Value;

/// A folder with drawn words as `data/ocr/letter.data.gz`.
fn folder() -> Folder {
    let how = Drawing { folds: 3, copies: 4, noise: 0.2, seed: 3 };
    let folder = Folder::new();
    std::fs::create_dir_all(folder.path("data/ocr")).unwrap();
    let file = std::fs::File::create(folder.path("data/ocr/letter.data.gz")).unwrap();
    let mut packed = GzEncoder::new(file, Compression::fast());
    packed.write_all(to_text(&draw(&VOCABULARY, &how)).as_bytes()).unwrap();
    packed.finish().unwrap();
    folder
}

const RUN: [&str; 5] = ["ocr", "--data", "data", "--out", "out"];

fn mean(rows: &Value, model: &str) -> f64 {
    let rows = rows.as_array().unwrap();
    let row = rows.iter().find(|row| row["model"] == model);
    row.unwrap_or_else(|| panic!("no row {model}"))["mean"].as_f64().unwrap()
}

#[test]
fn the_experiment_leaves_tables_and_pictures() {
    let folder = folder();
    let arguments = [&RUN[..], &["--folds", "0,2", "--seeds", "2"]].concat();
    let output = folder.reproduce(&arguments);
    assert_eq!(text(&output, &arguments), "", "nothing on standard output");
    let progress = String::from_utf8(output.stderr).unwrap();
    assert!(progress.contains("fold 2  open-capped"), "{progress}");
    assert_eq!(folder.files(), ["data", "out"]);

    let rows: Value = serde_json::from_str(&folder.read("out/table.json")).unwrap();
    let names: Vec<&str> =
        rows.as_array().unwrap().iter().map(|row| row["model"].as_str().unwrap()).collect();
    let expected: Vec<&str> = MODELS.iter().map(|(model, _)| *model).collect();
    assert_eq!(&names[..expected.len()], expected, "the rows of MODELS come first, in their order");
    assert!(names.contains(&"word-zero-surrogate") && names.contains(&"unigram-psi-fenchel-young"));
    for row in rows.as_array().unwrap() {
        let folds = common::numbers(&row["per_fold"]);
        let [mean, sd] = ["mean", "sd"].map(|field| row[field].as_f64().unwrap());
        assert_eq!(folds.len(), 2);
        assert!((mean - 0.5 * (folds[0] + folds[1])).abs() < 1e-9);
        assert!((sd - (folds[0] - folds[1]).abs() / 2f64.sqrt()).abs() < 1e-9);
        assert!((0.0..=100.0).contains(&row["word_accuracy"].as_f64().unwrap()));
        assert!(row["microseconds"].as_f64().unwrap() > 0.0);
    }
    // Noise makes letters hard to tell, and words easy.
    assert!(mean(&rows, "base") > 40.0 && mean(&rows, "base") < 95.0);
    for better in ["word", "word-exact", "lexicon", "trigram", "pairs-word"] {
        assert!(mean(&rows, better) > mean(&rows, "base") + 2.0, "{better}: {rows}");
    }
    // The few words of which some are hidden share letters: a lexicon is as good there.
    assert!(mean(&rows, "open-capped") > mean(&rows, "open-base") + 2.0, "{rows}");
    assert_eq!(rows[0]["paper"], 84.93);

    let table = folder.read("out/table.md");
    assert!(table.contains("| base | 84.93 |") && table.contains("6-grams 98.54"), "{table}");
    assert!(table.contains("--folds 0,2 --seeds 2"), "{table}");
    for (picture, words) in
        [("iterations.svg", ["iterations", "smoothed"]), ("contact-sheet.svg", ["fold 0", "truth"])]
    {
        let svg = folder.read(&format!("out/{picture}"));
        assert!(svg.starts_with("<svg") && svg.ends_with("</svg>\n") && !svg.contains("href"));
        assert!(words.iter().all(|word| svg.contains(word)) && !svg.contains("NaN"), "{picture}");
    }
    let again = folder.reproduce(&arguments);
    assert_eq!(again.status.code(), Some(0));
    let without_times = |json: &str| {
        let mut rows: Value = serde_json::from_str(json).unwrap();
        rows.as_array_mut().unwrap().iter_mut().for_each(|row| row["microseconds"] = Value::Null);
        rows
    };
    let [first, second] = [rows.to_string(), folder.read("out/table.json")];
    assert_eq!(
        without_times(&first),
        without_times(&second),
        "the same numbers for the same seeds"
    );
}

#[test]
fn a_smoothed_norm_reads_too_and_quiet_is_quiet() {
    let page = "<!-- begin handwriting: run -->\n<!-- end handwriting -->\n";
    let folder = folder().with("handwriting.md", page);
    let quick = ["--folds", "1", "--huber", "0.1", "--threads", "1", "--quiet"];
    let arguments = [&RUN[..], &quick, &["--results", "."]].concat();
    let output = folder.reproduce(&arguments);
    assert_eq!(output.status.code(), Some(0), "{}", common::error(&output));
    assert!(output.stderr.is_empty() && output.stdout.is_empty());
    let rows: Value = serde_json::from_str(&folder.read("out/table.json")).unwrap();
    assert!(mean(&rows, "word") > mean(&rows, "base") + 2.0, "{rows}");
    assert!(folder.read("out/table.md").contains("--huber 0.1"));
    let page = folder.read("handwriting.md");
    let row = format!("| `base` | 84.93 | {:.2} |", mean(&rows, "base"));
    assert!(page.contains("| model | paper | letters, % |") && page.contains(&row), "{page}");
}

#[test]
fn bad_flags_and_files_are_refused_before_anything_is_written() {
    let folder = folder();
    let refused = |further: &[&str]| folder.refusal(&[&RUN[..], further].concat());
    assert!(
        refused(&["--folds", "0-9"]).contains("found \"0-9\", expected folds of the data: 0, 1, 2")
    );
    assert!(
        refused(&["--folds", "x"]).contains("expected numbers and ranges, such as 0-9 or 0,3,5")
    );
    assert!(refused(&["--seeds", "0"]).contains("--seeds: found 0, expected at least 1"));
    assert!(refused(&["--huber=-1"]).contains("--huber: found -1, expected a positive number"));
    assert!(refused(&["--threads", "0"]).contains("--threads"));
    assert_eq!(folder.files(), ["data"], "nothing was written");

    std::fs::write(folder.path("data/ocr/letter.data.gz"), "1\tQ\n").unwrap();
    let message = refused(&[]);
    assert!(message.contains("letter.data.gz:1: found 2 tab-separated columns"), "{message}");
    std::fs::remove_file(folder.path("data/ocr/letter.data.gz")).unwrap();
    assert!(refused(&[]).contains("letter.data.gz: there is no such file"));
    std::fs::write(folder.path("out"), "a file").unwrap();
    let words = draw(&["ab", "cd"], &Drawing { folds: 1, copies: 1, noise: 0.0, seed: 0 });
    std::fs::write(folder.path("data/ocr/letter.data"), to_text(&words)).unwrap();
    assert!(refused(&[]).contains("has only the fold 0, expected at least two"));
    let words = draw(&["ab", "cd"], &Drawing { folds: 2, copies: 1, noise: 0.0, seed: 0 });
    std::fs::write(folder.path("data/ocr/letter.data"), to_text(&words)).unwrap();
    assert!(refused(&[]).contains("out: cannot create"));
}
