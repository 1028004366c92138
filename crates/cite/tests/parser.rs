//! A parser of references as bindings and servers use it: owned, shared by threads, loaded from
//! anywhere, and with errors in place of panics.

mod references;

use std::fs;
use std::thread;

use bethe_cite::{Field, Parsed, Parser, ParserError, Parsing, lexicons, template};
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
