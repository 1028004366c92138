//! References in plain text.

#[path = "../../cite/tests/references/mod.rs"]
mod labelled;

use std::cell::RefCell;
use std::sync::OnceLock;

use bethe_cite::{
    Date, Dialect, Identifiers, Keys, Layout, Parser, Parsing, Tokeniser, Unwrapper, bibtex, clean,
    csl, decoded, fields, lexicons, pages, people, report_parts, ris, template, tidy, title,
    volume_parts,
};
use bethe_tagging::train::{Labelled, RuleSource, TrainSettings, train};
use bethe_tagging::{TagOptions, Tagger};

use crate::archives::tagger;
use crate::{Verdict, refused};

/// References with their fields.
const REFERENCES: [[(&str, &str); 5]; 4] = [
    [
        ("author", "Ann Lee."),
        ("title", "On trees."),
        ("journal", "J. Graphs,"),
        ("volume", "12(3):"),
        ("year", "1999."),
    ],
    [
        ("author", "Bo Ek and Cy Fox."),
        ("title", "On rules."),
        ("journal", "J. Chains,"),
        ("pages", "pp. 1-9,"),
        ("year", "2001."),
    ],
    [
        ("author", "Cy van Fox, Jr."),
        ("title", "Of grids."),
        ("booktitle", "Proc. Graphs,"),
        ("publisher", "MIT Press,"),
        ("year", "2004."),
    ],
    [
        ("author", "Ray, Di."),
        ("title", "Of words."),
        ("journal", "J. Chains,"),
        ("note", "doi:10.1/x,"),
        ("year", "1998."),
    ],
];

/// A line of a bibliography: an entry, in each format; and each reader of a part of it.
pub fn line(bytes: &[u8]) -> Verdict {
    static PARSER: OnceLock<Parser> = OnceLock::new();
    thread_local! {
        static PARSING: RefCell<Option<Parsing>> = const { RefCell::new(None) };
    }
    let (line, _) = decoded(bytes);
    read_parts(&line);
    join_lines(&line);
    let parsed = PARSING.with_borrow_mut(|parsing| {
        let parsing = parsing.get_or_insert_with(|| Parsing::new(PARSER.get_or_init(parser)));
        parse(parsing, &line)
    });
    if parsed { Verdict::Accepted } else { Verdict::Refused }
}

/// The content of a model file: it reads a line.
pub fn model(text: &[u8]) -> Verdict {
    let tagger = match tagger(text) {
        Ok(tagger) => tagger,
        Err(verdict) => return verdict,
    };
    match Dialect::of(&tagger, None) {
        Ok(dialect) => {
            let mut parsing = Parsing::new(&Parser::new(&tagger, dialect));
            parse(&mut parsing, "Ann Lee and B. Ek, Jr. “On trees”. J. Graphs, 12(3):4–5, 1999.");
            Verdict::Accepted
        }
        Err(error) => refused(error),
    }
}

/// Whether the line was tagged.
fn parse(parsing: &mut Parsing, line: &str) -> bool {
    let mut options = TagOptions::default();
    options.inference.max_iterations = 3;
    let parsed = match parsing.parse(line, &options) {
        Ok(parsed) => parsed,
        Err(error) => {
            refused(error);
            return false;
        }
    };
    let mut end = 0;
    for token in &parsed.tokens {
        assert!(token.start >= end && token.start < token.end, "tokens are in order");
        assert!(!parsed.text[token.clone()].is_empty());
        end = token.end;
    }
    let key = Keys::default().unique(&parsed.entry.key());
    assert!(key.is_ascii() && !key.is_empty(), "{key:?}");
    let written = bibtex(&parsed.entry, &key);
    assert!(!written.chars().any(|c| c.is_control() && !c.is_whitespace()), "{written:?}");
    let _ = (csl(&parsed.entry, &key).to_string(), fields(&parsed.entry).to_string());
    assert_eq!(ris(&parsed.entry, &key).matches("\nER  - \n").count(), 1);
    parsed.tagged.is_some()
}

/// A text of several lines, in every layout: references are in order and not empty.
fn join_lines(text: &str) {
    let lines: Vec<&str> = text.lines().collect();
    for layout in [Layout::of(&lines), Layout::of_wrapped(&lines), Layout::Numbered] {
        let mut unwrapper = Unwrapper::new(layout);
        let mut found: Vec<_> =
            lines.iter().enumerate().flat_map(|(at, line)| unwrapper.push(at + 1, line)).collect();
        found.extend(unwrapper.finish());
        assert!(found.is_sorted_by_key(|one| one.line));
        assert!(found.iter().all(|one| !one.text.is_empty()));
    }
}

/// Readers of parts of an entry, on all of the line.
fn read_parts(line: &str) {
    let text = clean(line);
    for tokeniser in [Tokeniser::Words, Tokeniser::Punctuation, Tokeniser::Spaces] {
        for token in tokeniser.tokens(&text) {
            assert!(!text[token].is_empty());
        }
    }
    let _ = (people(&text), pages(&text), volume_parts(&text), report_parts(&text));
    let _ = (Identifiers::find(&text), tidy(&text), title(&text));
    let date = Date::read(&text);
    assert!(date.month.is_none_or(|month| (1..=12).contains(&month)));
    assert!(date.day.is_none_or(|day| (1..=31).contains(&day)));
}

fn parser() -> Parser {
    let tagger = trained(template().to_string());
    Parser::new(&tagger, Dialect::of(&tagger, None).expect("a model that reads words"))
}

/// A tagger of references with a template.
pub fn trained(template: String) -> Tagger {
    let sequences = labelled::sequences(&REFERENCES);
    let none: [&str; 0] = [];
    let cues = template.contains("%lists");
    let mut settings = TrainSettings {
        template: Some(template.parse().expect("a valid template")),
        lexicons: if cues { lexicons(&none).expect("our own lists") } else { Default::default() },
        rule_source: RuleSource::None,
        ..TrainSettings::default()
    };
    settings.base.max_iterations = 20;
    let labelled = Labelled { sequences: &sequences, scores: None };
    train(labelled, None, &settings, &mut |_| ()).expect("trained")
}
