//! Entries from labelled references, and how they are written.

mod bibtex;
mod csl;
mod entries;
mod reader;
mod ris;
mod round_trip;
mod styles;
mod tei;

use bethe_cite::{Entry, Labelled, Meanings, Tokeniser};
use bethe_tagging::labels::{Scheme, States};

/// The entry of fields with their labels, one beside the other.
fn flat(fields: &[(&str, &str)]) -> Entry {
    let mut text = String::new();
    let mut labels = Vec::new();
    for (label, field) in fields {
        text.push_str(field);
        text.push(' ');
        let count = Tokeniser::Words.tokens(field).len();
        labels.extend((0..count).map(|t| format!("{}-{label}", if t == 0 { "B" } else { "I" })));
    }
    of_labels(text.trim_end(), &labels.iter().map(String::as_str).collect::<Vec<_>>())
}

/// The entry of a line whose tokens have these labels.
fn of_labels(text: &str, labels: &[&str]) -> Entry {
    let tokens = Tokeniser::Words.tokens(text);
    assert_eq!(tokens.len(), labels.len(), "{text}");
    let meanings = Meanings::of(&States::learn(Scheme::Bio, [labels]).unwrap());
    Entry::new(Labelled { text, tokens: &tokens, labels }, &meanings)
}
