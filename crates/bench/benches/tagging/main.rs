//! Training and tagging beside CRFsuite, on the same attributes, and what rules cost.
//!
//! `cargo bench -p bethe-bench --bench tagging -- --data DIR` reads `DIR/conll2000`, writes
//! attribute files to a temporary folder, and prints the ratios. CRFsuite runs through Python's
//! `python-crfsuite` (`PYTHON` names the interpreter, `python3` by default); where it cannot be
//! imported, our own times are printed and the comparison is skipped. Without `--data` only what
//! rules cost on made-up records is measured; `--only crfsuite` and `--only rules` leave out the other
//! half. With `--results DIR` the tables that were measured in full go into `DIR/tagging.md`.
//!
//! Every job of either side runs in a process of its own, so that its peak memory is its own:
//!
//! - *training* reads the attribute file, trains, writes the model. CRFsuite's seconds are those of
//!   `Trainer.train` alone, its strings being numbers by then; ours are those of the whole job,
//!   reading and numbering included. CRFsuite stops when it finds that it has converged, ours when
//!   its loss is CRFsuite's; both end with the model on disk.
//! - *tagging* opens the model and reads the attribute file; then the whole file is tagged several
//!   times on one thread, and the least time counts. CRFsuite's seconds are those of `Tagger.tag`
//!   on lists of strings, ours those of `Tagging::tag` on lines of text whose fields are known,
//!   escapes and all: from attributes in memory to labels.
//!
//! What rules cost is measured on records made here with learned rules, and on CoNLL-2000 with
//! declared ones of given weights: ten iterations for every sequence, over tagging without rules.
//! And how long learning the weights of 600 rules takes, by the number of sequences.

mod crfsuite;
mod data;
mod records;
mod rules;

use bethe_bench::{Report, data_folder, value_of};

fn main() {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    if let Some(job) = value_of("--job") {
        return crfsuite::run_job(&job, &arguments);
    }
    let data = data_folder();
    let only = value_of("--only");
    let wanted = |part: &str| only.as_deref().is_none_or(|only| only == part);
    let mut names = Vec::new();
    if data.is_some() && wanted("crfsuite") {
        names.push(crfsuite::TABLE);
    }
    if data.is_some() && wanted("rules") {
        names.push(rules::TAGGING);
    }
    if wanted("rules") {
        names.push(rules::LEARNING);
    }
    let report = Report::new("tagging", &names);
    let mut tables = Vec::new();
    if wanted("crfsuite") {
        match &data {
            Some(data) => tables.extend(crfsuite::compare(data)),
            None => skip(crfsuite::TABLE),
        }
    }
    if wanted("rules") {
        match rules::tagging(data.as_deref()) {
            Some(table) => tables.push(table),
            None => skip(rules::TAGGING),
        }
        tables.push(rules::learning());
    }
    report.finish(&tables);
}

fn skip(table: &str) {
    println!("skipped, the table {table}: --data DIR names the folder that holds conll2000/");
}
