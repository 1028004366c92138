//! The feature extraction of the tagger: worked examples, messages and invariants.

mod defaults;
mod expansion;
mod functions;
mod lexicons;
mod mistakes;
mod numbers;
mod properties;

use bethe_learn::fingerprint::Fingerprint;
use bethe_tagging::features::{Cells, Extractor, Lexicons, Template, Workspace};

/// Rows of cells from lines of text, cells apart by spaces.
fn rows(text: &str) -> Vec<Vec<&str>> {
    text.lines().map(|line| line.split(' ').collect()).collect()
}

/// A sequence of one column.
fn words(text: &str) -> Vec<Vec<&str>> {
    text.split(' ').map(|word| vec![word]).collect()
}

fn template(text: &str) -> Template {
    text.parse().expect("a valid template")
}

/// All attributes as `visit` gives them. What they are looked up by fits their text.
fn visited(extractor: &Extractor, sequence: &impl Cells) -> Vec<(usize, String, f64)> {
    let mut seen: Vec<(usize, String, f64)> = Vec::new();
    let visit = |position, attribute: &str, value| seen.push((position, attribute.into(), value));
    extractor.visit(sequence, &mut Workspace::default(), visit).expect("a sequence that fits");
    let mut workspace = Workspace::default();
    let extracted = extractor.extract(sequence, &mut workspace).expect("the same");
    assert_eq!(extracted.attributes().len(), seen.len());
    for (attribute, (position, text, value)) in extracted.attributes().iter().zip(&seen) {
        assert_eq!((attribute.position(), attribute.value()), (*position, *value));
        assert_eq!(attribute.hash(), Fingerprint::of(text).hash(), "{text}");
        let [longer, shorter] = [format!("{text}x"), text.chars().skip(1).collect()];
        let is = |text: &str| extracted.is(attribute, text.as_bytes());
        assert!(is(text) && !is(&longer) && !is(&shorter), "{text}");
    }
    seen
}

/// The attributes at one position.
fn at(text: &str, sequence: &impl Cells, position: usize) -> Vec<String> {
    let extractor = Extractor::new(template(text), Lexicons::default());
    let seen = visited(&extractor, sequence).into_iter();
    seen.filter(|(place, ..)| *place == position).map(|(_, attribute, _)| attribute).collect()
}
