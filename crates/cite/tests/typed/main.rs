//! Thirty references typed by hand, as a new user has them, with the built-in model.

use bethe_cite::{Parser, Parsing, bibtex};
use bethe_tagging::TagOptions;

/// References whose every field comes out as a person would write it. May rise, not fall.
const PERFECT: usize = 29;

/// Each reference with the lines of its entry.
fn references() -> Vec<(&'static str, Vec<&'static str>)> {
    let mut lines = include_str!("references.txt").lines().filter(|line| !line.starts_with('#'));
    let mut found = Vec::new();
    while let Some(reference) = lines.find(|line| !line.is_empty()) {
        found.push((reference, lines.by_ref().take_while(|&line| line != "}").collect()));
    }
    found
}

#[test]
fn typed_references_come_out_as_a_person_would_write_them() {
    let mut parsing = Parsing::new(Parser::embedded());
    let references = references();
    assert_eq!(references.len(), 30);
    let mut perfect = 0;
    for (reference, expected) in references {
        let parsed = parsing.parse(reference, &TagOptions::default()).unwrap();
        let written = bibtex(&parsed.entry, "");
        // The key is not part of what is typed.
        let found: Vec<&str> = written.trim_end_matches("}\n").lines().collect();
        let kind = |line: &str| line.trim_end_matches(',').to_string();
        let is_same = kind(found[0]) == kind(expected[0]) && found[1..] == expected[1..];
        perfect += usize::from(is_same);
        if !is_same {
            println!("{reference}\n{written}expected\n{}\n", expected.join("\n"));
        }
    }
    assert!(perfect >= PERFECT, "{perfect} perfect references, expected at least {PERFECT}");
}
