//! Templates, word lists and rules.

use std::sync::OnceLock;

use bethe_tagging::features::{Extractor, Lexicons, Template, Workspace};
use bethe_tagging::labels::{Scheme, States};
use bethe_tagging::rules::{parse_rules, rules_of_any_labels, write_rules};

use crate::scratch::with_file;
use crate::{Verdict, refused};

const WORDS: [[&str; 2]; 5] = [
    ["MacKay,", "_"],
    ["(1998a).", "12"],
    ["“Zürich”", "1e3"],
    ["\u{feff}é\u{301}-", "x"],
    [".", ""],
];

fn text(bytes: &[u8]) -> Option<&str> {
    std::str::from_utf8(bytes).ok()
}

fn words() -> Vec<Vec<&'static str>> {
    WORDS.iter().map(|row| row.to_vec()).collect()
}

/// A template: is written as it was read, and makes attributes of some words.
pub fn template(bytes: &[u8]) -> Verdict {
    let Some(text) = text(bytes) else { return Verdict::Refused };
    let template: Template = match text.parse() {
        Ok(template) => template,
        Err(error) => return refused(error),
    };
    assert_eq!(template.to_string().parse().as_ref(), Ok(&template));
    let lexicons = Lexicons::from_lists([("towns", ["zürich"]), ("marks", ["."])]);
    let lexicons = lexicons.expect("valid lists");
    visit(Extractor::new(template, lexicons));
    Verdict::Accepted
}

/// Word lists as a model file has them.
pub fn lexicons(bytes: &[u8]) -> Verdict {
    let Some(text) = text(bytes) else { return Verdict::Refused };
    let lexicons: Lexicons = match text.parse() {
        Ok(lexicons) => lexicons,
        Err(error) => return refused(error),
    };
    let written = lexicons.to_string();
    let again: Lexicons = written.parse().expect("our own lists are read");
    assert_eq!(again.to_string(), written);
    let template = "L01:%lists[0]\nL02:%lists[-3,3]\n".parse().expect("a valid template");
    visit(Extractor::new(template, lexicons));
    Verdict::Accepted
}

fn visit(extractor: Extractor) {
    let mut workspace = Workspace::default();
    let visited = extractor.visit(&words(), &mut workspace, |position, name, value| {
        assert!(position < WORDS.len() && !name.is_empty() && value.is_finite());
    });
    if let Err(error) = visited {
        refused(error);
    }
}

/// Rules in TOML, of known labels and of any.
pub fn rules(bytes: &[u8]) -> Verdict {
    static STATES: OnceLock<States> = OnceLock::new();
    let states = STATES.get_or_init(|| {
        let labels = [["B-author/B-first", "I-author/B-last", "B-title", "I-title", "B-date"]];
        States::learn(Scheme::Bio, labels).expect("valid labels")
    });
    let any = with_file("rules.toml", bytes, |path| rules_of_any_labels(path));
    let mut verdict = Verdict::Refused;
    match &any {
        Ok((rules, states)) => {
            verdict = Verdict::Accepted;
            check_written(rules, states);
        }
        Err(error) => drop(refused(error)),
    }
    let Some(text) = text(bytes) else { return Verdict::Refused };
    match parse_rules("rules.toml", text, states) {
        Ok(rules) => check_written(&rules, states),
        Err(error) => drop(refused(error)),
    }
    verdict
}

/// Rules are read back as they were written.
fn check_written(rules: &[bethe_tagging::rules::Rule], states: &States) {
    for rule in rules {
        assert!(!rule.in_words(states).is_empty());
    }
    let written = write_rules(rules, states);
    let again = parse_rules("written", &written, states);
    let again = again.unwrap_or_else(|error| panic!("{error}\n{written}"));
    assert_eq!(again, rules, "{written}");
}
