//! `bethe-reproduce references`: from labelled references to a model and tables.

mod common;

use std::fmt::Write as _;
use std::fs;
use std::io::Write as _;

use common::{Folder, error};
use flate2::Compression;
use flate2::write::GzEncoder;

/// Made references in the form of both sets; `shift` makes those of the sets differ.
fn references(count: usize, shift: usize) -> String {
    let mut text = String::new();
    for i in 0..count {
        let name = ["Calder", "Morfen", "Halten", "Rosley", "Vilman"][(i + shift) % 5];
        let noun = ["rivers", "graphs", "markets", "novels"][(i / 2 + shift) % 4];
        let rows = [
            (name, "B-author"),
            (",", "I-author"),
            ("J", "I-author"),
            (".", "I-author"),
            ("(", "B-date"),
            ("2001", "I-date"),
            (")", "I-date"),
            (".", "I-date"),
            ("On", "B-title"),
            (noun, "I-title"),
            (".", "I-title"),
            ("Nature", "B-journal"),
            (",", "I-journal"),
        ];
        rows.iter().for_each(|(token, label)| _ = writeln!(text, "{token}\t{label}"));
        let _ = writeln!(
            text,
            "{}\tB-volume\n,\tI-volume\n{}\tB-pages\n.\tI-pages\n",
            10 + i,
            100 * shift + i
        );
    }
    text
}

fn folder() -> Folder {
    let folder = Folder::new();
    fs::create_dir_all(folder.path("data/citation/anystyle")).unwrap();
    fs::create_dir_all(folder.path("data/citation/grobid")).unwrap();
    fs::write(folder.path("data/citation/anystyle/core.conll"), references(40, 1)).unwrap();
    let packed = fs::File::create(folder.path("data/citation/grobid/train.conll.gz")).unwrap();
    let mut packed = GzEncoder::new(packed, Compression::fast());
    packed.write_all(references(40, 2).as_bytes()).unwrap();
    packed.finish().unwrap();
    folder
}

const RUN: [&str; 8] =
    ["references", "--data", "data", "--quiet", "--generated", "30", "--max-iterations", "20"];

#[test]
fn models_are_the_same_byte_for_byte_and_tables_name_both_sets() {
    let folder = folder();
    let tables = folder.succeeds(&[&RUN[..], &["--folds", "2", "--out", "a"]].concat());
    assert!(tables.contains("| AnyStyle | 40 |") && tables.contains("| GROBID | 40 |"), "{tables}");
    assert!(tables.contains("| title |"), "{tables}");
    let once = [&RUN[..], &["--folds", "0", "--out", "b", "--threads", "1"]].concat();
    assert_eq!(folder.succeeds(&once), "");
    let [a, b] = ["a", "b"].map(|name| fs::read(folder.path(name)).unwrap());
    assert_eq!(a, b);
}

#[test]
fn missing_data_and_impossible_folds_are_refused() {
    let folder = folder();
    let message = folder.refusal(&[&RUN[..], &["--folds", "1"]].concat());
    assert!(message.contains("--folds: found 1"), "{message}");
    let output = folder.reproduce(&["references", "--data", "nowhere", "--quiet"]);
    assert!(error(&output).contains("nowhere"), "{}", error(&output));
    assert_eq!(output.status.code(), Some(2));
}
