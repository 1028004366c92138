//! References read by CRFsuite with plain features, on the parts that the built-in model is measured on.
//!
//! `cargo bench -p bethe-bench --bench references -- --data DIR [--results DIR]` needs
//! `python-crfsuite` (`PYTHON` names the interpreter, `python3` by default); without it there is no
//! table. Training references are the same, made-up ones too; entries are made and judged by the same
//! program.

use std::fmt::Write as _;

use bethe_bench::{Report, crfsuite};
use bethe_cite::Parser;
use bethe_experiments::references::{
    GENERATED, Judged, Reference, ReferencesSettings, Source, entries, references, split,
};
use bethe_tagging::labels::Scheme;
use rayon::prelude::*;

const TABLE: &str = "crfsuite";
/// CRFsuite's default weight of the squared norm.
const L2: &str = "1.0";
/// Most iterations. 100 more lower the loss by a hundredth.
const ITERATIONS: &str = "200";

fn main() {
    let Some(data) = bethe_bench::data_folder() else {
        println!("skipped, all: --data DIR names the folder that holds citation/");
        return;
    };
    let report = Report::new("references", &[TABLE]);
    let folds = ReferencesSettings::shipped(None).folds;
    let all = references(&data, GENERATED).expect("both sets");
    let read = |fold| {
        let (test, train) = split(&all, folds, fold);
        let found = labels(&train, &test)?;
        println!("fold {} of {folds} is read", fold + 1);
        Some((test, found))
    };
    let read: Option<Vec<_>> = (0..folds).into_par_iter().map(read).collect();
    let Some(read) = read else { return };
    let parser = Parser::embedded();
    let mut judged = Source::LABELLED.map(|source| (source, Judged::empty(Scheme::Bio)));
    for (test, found) in read {
        for (reference, labels) in test.iter().zip(found) {
            let of = judged.iter_mut().find(|(source, _)| *source == reference.source);
            let (_, of) = of.expect("labelled references alone are tested on");
            of.add(parser.meanings(), reference, &labels);
        }
    }
    let rows = judged.each_ref().map(|(source, judged)| (source.name(), judged));
    report.finish(&[entries(TABLE, &rows)]);
}

/// The labels that CRFsuite gives, after training.
fn labels(train: &[Reference], test: &[Reference]) -> Option<Vec<Vec<String>>> {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let [training, testing, model] =
        ["train", "test", "model"].map(|name| folder.path().join(name).display().to_string());
    for (path, references) in [(&training, train), (&testing, test)] {
        let text: String = references.iter().map(attributes).collect();
        std::fs::write(path, text).expect("room in the temporary folder");
    }
    crfsuite(TABLE, &["train", &training, &model, L2, ITERATIONS])?;
    let answer = crfsuite(TABLE, &["tag", &model, &testing, "1"])?;
    Some(serde_json::from_value(answer["labels"].clone()).expect("a list of labels for each"))
}

/// Words around a token, its looks, beginning and end, and where in the reference it is: a line for
/// each token, in the form of CRFsuite.
fn attributes(reference: &Reference) -> String {
    let tokens: Vec<&str> = reference.tokens().collect();
    let lower: Vec<String> = tokens.iter().map(|token| token.to_lowercase()).collect();
    let looks: Vec<&str> = tokens.iter().map(|token| look(token)).collect();
    let mut text = String::new();
    for (at, label) in reference.labels().iter().enumerate() {
        text.push_str(label);
        let mut push = |name: &str, value: &str| {
            let value = value.replace('\\', "\\\\").replace(':', "\\:");
            let _ = write!(text, "\t{name}={value}");
        };
        for row in -2..=2 {
            let at = at.checked_add_signed(row).filter(|&at| at < tokens.len());
            push(&format!("word{row}"), at.map_or("none", |at| &lower[at]));
            push(&format!("look{row}"), at.map_or("none", |at| looks[at]));
        }
        let letters: Vec<char> = lower[at].chars().collect();
        let affix = letters.len().min(3);
        push("begins", &letters[..affix].iter().collect::<String>());
        push("ends", &letters[letters.len() - affix..].iter().collect::<String>());
        push("twelfth", &(12 * at / tokens.len()).to_string());
        text.push('\n');
    }
    text + "\n"
}

fn look(token: &str) -> &'static str {
    let is = |what: fn(char) -> bool| token.chars().all(what);
    match token.chars().next() {
        Some(_) if is(|c| c.is_ascii_digit()) && token.len() == 4 => "year",
        Some(_) if is(|c| c.is_ascii_digit()) => "number",
        Some(_) if !token.contains(char::is_alphanumeric) => "mark",
        Some(_) if token.contains(|c: char| c.is_ascii_digit()) => "mixed",
        Some(_) if is(char::is_uppercase) && token.chars().count() == 1 => "initial",
        Some(_) if is(char::is_uppercase) => "capitals",
        Some(first) if first.is_uppercase() => "capital",
        _ => "lower",
    }
}
