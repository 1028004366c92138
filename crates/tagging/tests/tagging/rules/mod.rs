//! Rules on segments: words, files, generation, compilation.

mod compiled;
mod decoded;
mod file_mistakes;
mod files;
mod generated;
mod pruned;
mod stated;

use bethe_tagging::labels::{Scheme, States};
use bethe_tagging::rules::{Form, Relation, Rule};
use proptest::prelude::ProptestConfig;
use proptest::test_runner::FileFailurePersistence;

fn settings() -> ProptestConfig {
    ProptestConfig {
        cases: 500,
        failure_persistence: Some(Box::new(FileFailurePersistence::Direct(concat!(
            env!("CARGO_MANIFEST_DIR"),
            "/tests/tagging/rules/properties.regressions"
        )))),
        ..ProptestConfig::default()
    }
}

/// States of sequences whose labels are split by spaces.
fn learn(scheme: Scheme, sequences: &[&str]) -> States {
    let sequences = sequences.iter().map(|labels| labels.split(' ').collect::<Vec<_>>());
    States::learn(scheme, sequences).unwrap()
}

/// Kinds: author 0, title 1, booktitle 2, editor 3, date 4.
fn citation() -> States {
    learn(Scheme::Bio, &["B-author I-author B-title B-booktitle B-editor B-date O"])
}

/// Kinds: person at level 0 and 1, authors, first.
fn nested() -> States {
    let labels = "B-person B-authors:B-person:B-first I-authors:I-person I-authors:B-person O";
    let states = learn(Scheme::Bio, &[labels]);
    let kinds = states.kinds().iter().map(|kind| (kind.level, kind.name.as_str()));
    let expected = [(0, "person"), (0, "authors"), (1, "person"), (2, "first")];
    assert_eq!(kinds.collect::<Vec<_>>(), expected);
    states
}

fn path(states: &States, labels: &str) -> Vec<usize> {
    states.encode(&labels.split(' ').collect::<Vec<_>>()).unwrap()
}

fn at_most(bound: u32, terms: &[(usize, i32)]) -> Rule {
    Rule::learned(Form::linear(terms.iter().copied(), Relation::AtMost, bound))
}

fn at_least(bound: u32, terms: &[(usize, i32)]) -> Rule {
    Rule::learned(Form::linear(terms.iter().copied(), Relation::AtLeast, bound))
}

fn implies(premise: usize, conclusion: usize) -> Rule {
    Rule::learned(Form::Implies { premise, conclusion })
}

fn before(first: usize, second: usize) -> Rule {
    Rule::learned(Form::Before { first, second })
}
