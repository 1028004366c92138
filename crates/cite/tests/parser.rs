//! A parser of references as bindings and servers use it: owned, shared by threads, loaded from
//! anywhere, and with errors in place of panics.

mod references;

use std::fs;
use std::thread;

use bethe_cite::{
    Dialect, Field, Keys, Layout, Parsed, Parser, ParserError, Parsing, Refusal, SameAuthors,
    Tokeniser, Unwrapper, bibtex, csl, decoded, fields, lexicons, ris, template,
};
use bethe_tagging::rules::{Form, Relation, Rule, RulePenalty, Weight};
use bethe_tagging::train::{Labelled, RuleSource, TrainSettings, train};
use bethe_tagging::{TagError, TagOptions, Tagger};

const _: () = {
    const fn is_shared<T: Send + Sync + Clone + 'static>() {}
    const fn is_sent<T: Send + 'static>() {}
    is_shared::<Parser>();
    is_shared::<Parsed>();
    is_sent::<Parsing>();
    is_sent::<ParserError>();
};

/// References with their fields.
const REFERENCES: [[(&str, &str); 4]; 4] = [
    [("author", "Ann Lee."), ("title", "On trees."), ("journal", "J. Graphs,"), ("year", "1999.")],
    [("author", "Bo Ek."), ("title", "On rules."), ("journal", "J. Chains,"), ("year", "2001.")],
    [("author", "Cy Fox."), ("title", "Of grids."), ("journal", "J. Graphs,"), ("year", "2004.")],
    [("author", "Di Ray."), ("title", "Of words."), ("journal", "J. Chains,"), ("year", "1998.")],
];
const LINE: &str = "Bo Lee. On grids. J. Graphs, 2001.";

/// A tagger of references with the rule "at most one title".
fn tagger(penalty: RulePenalty) -> Tagger {
    let sequences = references::sequences(&REFERENCES);
    let none: [&str; 0] = [];
    let settings = TrainSettings {
        template: Some(template()),
        lexicons: lexicons(&none).unwrap(),
        rule_source: RuleSource::None,
        ..TrainSettings::default()
    };
    let labelled = Labelled { sequences: &sequences, scores: None };
    let mut parts = train(labelled, None, &settings, &mut |_| ()).unwrap().parts().clone();
    let title = parts.states.kinds().iter().position(|kind| kind.name == "title").unwrap();
    let form = Form::linear([(title, 1)], Relation::AtMost, 1);
    parts.rules = vec![Rule { form, weight: Weight::Given(2.0) }];
    parts.rule_weights = vec![2.0];
    parts.most_segments = vec![1; parts.states.kinds().len()];
    parts.penalty = penalty;
    Tagger::new(parts).unwrap()
}

/// How the references above were split.
fn dialect() -> Dialect {
    Dialect::of(&tagger(RulePenalty::SmoothedHinge), Some(Tokeniser::Words)).unwrap()
}

fn parse(parser: &Parser) -> Parsed {
    Parsing::new(parser).parse(LINE, &TagOptions::default()).unwrap()
}

#[test]
fn a_parser_is_loaded_from_a_path_a_reader_or_bytes_and_shared_by_threads() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("model");
    tagger(RulePenalty::SmoothedHinge).write(&path).unwrap();
    let bytes = fs::read(&path).unwrap();
    let loaded = [
        Parser::load(&path).unwrap(),
        Parser::from_reader(fs::File::open(&path).unwrap()).unwrap(),
        Parser::from_bytes(&bytes).unwrap(),
    ];
    let expected = parse(&loaded[0]).entry;
    assert_eq!(expected.text(Field::Title), Some("On grids"));
    assert_eq!(expected.authors.names.len(), 1);
    let threads: Vec<_> =
        loaded.into_iter().map(|parser| thread::spawn(move || parse(&parser).entry)).collect();
    for thread in threads {
        assert_eq!(thread.join().unwrap(), expected);
    }
}

#[test]
fn a_model_that_makes_no_parser_is_an_error() {
    let folder = tempfile::tempdir().unwrap();
    let missing = Parser::load(folder.path().join("none"));
    assert!(matches!(missing, Err(ParserError::Model(_))));
    let mut parts = tagger(RulePenalty::SmoothedHinge).parts().clone();
    parts.input = bethe_tagging::Input::Attributes;
    let path = folder.path().join("model");
    Tagger::new(parts).unwrap().write(&path).unwrap();
    assert!(matches!(Parser::load(&path), Err(ParserError::Dialect(_))));
}

#[test]
fn a_solver_that_cannot_serve_the_rules_is_an_error_and_no_unparsed_entry() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("model");
    tagger(RulePenalty::Hinge).write(&path).unwrap();
    let mut parsing = Parsing::new(&Parser::load(&path).unwrap());
    let mut options = TagOptions::default();
    options.inference.method = bethe_core::Method::Adaptive;
    assert!(matches!(parsing.parse(LINE, &options), Err(TagError::Solve(_))));
    assert!(parsing.parse("", &options).unwrap().entry.unparsed.is_some());
    assert!(parsing.parse(LINE, &TagOptions::default()).unwrap().entry.unparsed.is_none());
}

#[test]
fn a_line_that_is_no_reference_says_why() {
    let parser = Parser::new(&tagger(RulePenalty::SmoothedHinge), dialect());
    let mut parsing = Parsing::new(&parser);
    let several =
        "Lee, A. (1999). On trees. J. Graphs, 12, 1–9. Ek, B. (2001). On rules. J. Chains, 3, 4–5.";
    let marked = "[1] Ann Lee. On trees. J. Graphs, 1999. [2] Bo Ek. On rules. J. Chains, 2001.";
    let long = "word ".repeat(20_001);
    for (line, refused) in [
        (several, Some(Refusal::Several)),
        (marked, Some(Refusal::Several)),
        (long.as_str(), Some(Refusal::TooLong(20_001))),
        (" ", Some(Refusal::Blank)),
        (LINE, None),
    ] {
        let parsed = parsing.parse(line, &TagOptions::default()).unwrap();
        assert_eq!(parsed.refused, refused);
        assert_eq!(parsed.entry.unparsed.is_some(), refused.is_some());
        assert!(refused.is_none() || parsed.entry.unparsed.as_deref() == Some(line.trim()));
    }
    let hint = Refusal::Several.to_string();
    assert!(
        hint.contains("several references") && hint.contains("expected one per line"),
        "{hint}"
    );
}

#[test]
fn entries_say_how_sure_their_fields_are() {
    let parser = Parser::new(&tagger(RulePenalty::SmoothedHinge), dialect());
    let mut parsing = Parsing::new(&parser);
    let options = TagOptions { marginals: true, ..TagOptions::default() };
    let known = parsing.parse(LINE, &options).unwrap();
    let sure = known.confidence.unwrap();
    assert!(sure.fields.contains_key(&Field::Author) && sure.fields.contains_key(&Field::Year));
    assert!(sure.fields.values().all(|share| (sure.entry..=1.0).contains(share)));
    let unknown = "zz 12 ; yy of 1999 qq Fox rules ; ; Graphs";
    let unsure = parsing.parse(unknown, &options).unwrap().confidence.unwrap();
    assert!(unsure.entry < sure.entry, "{unsure:?} {sure:?}");
    assert_eq!(unsure.is_low(), unsure.entry < bethe_cite::LOW_CONFIDENCE);
    // Nobody asked.
    assert_eq!(parsing.parse(LINE, &TagOptions::default()).unwrap().confidence, None);
}

/// Numbers that look random, the same in every run.
struct Random(u64);

impl Random {
    fn below(&mut self, limit: usize) -> usize {
        self.0 =
            self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) as usize % limit
    }

    /// A line of anything: bytes, marks, or a reference with some bytes changed.
    fn line(&mut self) -> Vec<u8> {
        const MARKS: &[u8] = b" .,;:()[]{}\\\"'-/&%$#_~^@0123456789ABCxyz\t";
        let length = self.below(120);
        match self.below(4) {
            0 => (0..length).map(|_| self.below(256) as u8).collect(),
            1 => (0..length).map(|_| MARKS[self.below(MARKS.len())]).collect(),
            2 => (0..length / 3)
                .flat_map(|_| {
                    char::from_u32(self.below(0x3000) as u32)
                        .unwrap_or('\u{ad}')
                        .to_string()
                        .into_bytes()
                })
                .collect(),
            _ => {
                let mut line = LINE.repeat(1 + self.below(3)).into_bytes();
                for _ in 0..self.below(12) {
                    let at = self.below(line.len());
                    line[at] = self.below(256) as u8;
                }
                line
            }
        }
    }
}

#[test]
fn ten_thousand_lines_of_anything_give_entries_or_a_refusal() {
    const LINES: usize = 10_000;
    let parser = Parser::new(&tagger(RulePenalty::SmoothedHinge), dialect());
    let mut parsing = Parsing::new(&parser);
    let options = TagOptions { marginals: true, ..TagOptions::default() };
    let mut random = Random(1);
    let lines: Vec<String> = (0..LINES).map(|_| decoded(&random.line()).0.into_owned()).collect();
    let (mut keys, mut same) = (Keys::default(), SameAuthors::default());
    for line in &lines {
        let mut parsed = parsing.parse(line, &options).unwrap();
        assert_eq!(parsed.tagged.is_none(), parsed.refused.is_some(), "{line:?}");
        same.fill(&mut parsed.entry);
        let key = keys.unique(&parsed.entry.key());
        let file = bibtex(&parsed.entry, &key);
        let read = biblatex::Bibliography::parse(&file);
        assert!(read.is_ok_and(|entries| entries.get(&key).is_some()), "{line:?} {file}");
        assert_eq!(csl(&parsed.entry, &key)["id"], key);
        assert!(fields(&parsed.entry).is_object());
        assert_eq!(ris(&parsed.entry, &key).matches("\nER  - \n\n").count(), 1);
    }
    // Joined in any way, references have text and the number of their line.
    for chunk in lines.chunks(50) {
        let chunk: Vec<&str> = chunk.iter().map(String::as_str).collect();
        for layout in [
            Layout::of(&chunk),
            Layout::of_wrapped(&chunk),
            Layout::Numbered,
            Layout::Blocks,
            Layout::Indented,
            Layout::Names { width: 60 },
        ] {
            let mut unwrapper = Unwrapper::new(layout);
            let mut found: Vec<_> = chunk
                .iter()
                .enumerate()
                .flat_map(|(at, line)| unwrapper.push(at + 1, line))
                .collect();
            found.extend(unwrapper.finish());
            assert!(found.iter().all(|one| (1..=50).contains(&one.line) && !one.text.is_empty()));
        }
    }
}
