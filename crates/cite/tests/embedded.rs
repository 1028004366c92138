//! The built-in model, from lines to entries.

use std::ops::Range;

use bethe_cite::{Field, Forced, Keys, Parser, Parsing, bibtex, csl, ris};
use bethe_tagging::TagOptions;
use rand::rngs::StdRng;
use rand::{Rng, SeedableRng};

#[test]
fn the_built_in_model_is_small_states_its_tokens_and_holds_no_names() {
    assert!(Parser::embedded_model().len() <= 4 << 20);
    let parts = Parser::embedded().tagger().parts();
    assert_eq!(parts.annotations["text.tokens"], "punctuation");
    assert!(parts.attributes.name(0).is_none());
}

/// Lines of random bytes, of words of references among them, and of letters of any script.
fn random_line(random: &mut StdRng) -> String {
    const WORDS: [&str; 16] = [
        "Smith,",
        "J.",
        "(2004).",
        "In:",
        "pp.",
        "12-17",
        "«",
        "http://",
        "doi:10.1/",
        "et al.",
        "Hrsg.",
        "vol.",
        "\"",
        "}",
        "@article{",
        "\\",
    ];
    let length = random.random_range(0..60);
    let kind = random.random_range(0..3);
    let mut bytes = Vec::new();
    for _ in 0..length {
        match kind {
            0 => bytes.push(random.random()),
            1 => {
                bytes.extend(WORDS[random.random_range(0..WORDS.len())].bytes());
                bytes.push(b' ');
            }
            _ => {
                let letter = char::from_u32(random.random_range(1..0x3000)).unwrap_or(' ');
                bytes.extend(letter.to_string().bytes());
            }
        }
    }
    bethe_cite::decoded(&bytes).0.into_owned()
}

#[test]
fn random_bytes_give_entries_or_a_refusal() {
    let mut parsing = Parsing::new(Parser::embedded());
    let mut random = StdRng::seed_from_u64(22);
    let mut keys = Keys::default();
    for _ in 0..10_000 {
        let line = random_line(&mut random);
        let parsed = parsing.parse(&line, &TagOptions::default()).unwrap();
        let key = keys.unique(&parsed.entry.key());
        let written = bibtex(&parsed.entry, &key);
        let read = biblatex::Bibliography::parse(&written);
        assert!(read.is_ok_and(|read| read.len() == 1), "{line:?}\n{written}");
        assert!(
            csl(&parsed.entry, &key)["type"].is_string()
                && ris(&parsed.entry, &key).contains("ER  -")
        );
    }
}

#[test]
fn labels_that_a_person_gave_are_kept_and_the_others_follow() {
    let line = "Smith, J. Deep graphs. Nature 12, 3-9 (2004).";
    let (mut parsing, options) = (Parsing::new(Parser::embedded()), TagOptions::default());
    let own = |tokens, label: &str| Forced { tokens, label: label.to_string() };
    let plain = parsing.parse(line, &options).unwrap();
    assert_eq!(plain.entry.text(Field::Title), Some("Deep graphs"));
    // "Nature" as a part of the title.
    let at = plain.tokens.iter().position(|token| &line[token.clone()] == "Nature").unwrap();
    let title = at - 3..at + 1;
    let forced = parsing.parse_forced(line, &[own(title.clone(), "title")], &options).unwrap();
    let forced = forced.unwrap();
    assert_eq!(forced.entry.text(Field::Title), Some("Deep graphs. Nature"));
    let labels: Vec<&str> = Parser::embedded().labels(forced.tagged.as_ref().unwrap()).collect();
    assert_eq!(labels[title], ["B-title", "I-title", "I-title", "I-title"]);
    assert_eq!(forced.entry.authors, plain.entry.authors);
    let same = parsing.parse_forced(line, &[], &options).unwrap().unwrap();
    assert_eq!(same.entry, plain.entry);
    // What does not exist cannot be forced.
    for wrong in [
        own(0..1, "nonsense"),
        own(0..usize::MAX, "title"),
        own(Range { start: 5, end: 2 }, "title"),
    ] {
        assert!(parsing.parse_forced(line, &[wrong], &options).unwrap().is_none());
    }
}
