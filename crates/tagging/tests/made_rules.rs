//! Learned rules on data made with a rule, whose words hardly tell labels apart: the labels keep
//! the rule, and are no worse for it; without a rule in the data next to nothing changes.

use std::fmt::Write as _;

use bethe_learn::energy::Learner;
use bethe_tagging::data::{Format, Sequence, Sequences};
use bethe_tagging::labels::leaf_segments;
use bethe_tagging::rules::RulePenalty;
use bethe_tagging::score::{Score, paired_bootstrap};
use bethe_tagging::train::{
    Estimate, Event, Labelled, RuleSettings, RuleSource, TrainSettings, train,
};
use bethe_tagging::{TagOptions, Tagger, Tagging};
use rand::rngs::StdRng;
use rand::seq::SliceRandom;
use rand::{Rng, SeedableRng};

/// Kinds of the segments of a record, in a random order.
type Make = fn(&mut StdRng) -> Vec<&'static str>;
type Holds = fn(&[&str]) -> bool;
/// The label of a token of a segment: its kind, its place in the segment, and the segment's length.
type Label = fn(&str, usize, usize) -> String;

fn one_of_each(rng: &mut StdRng) -> Vec<&'static str> {
    let notes = rng.random_range(0..3);
    ["title", "date", "price"].into_iter().chain(std::iter::repeat_n("note", notes)).collect()
}

fn pairs(rng: &mut StdRng) -> Vec<&'static str> {
    let both = rng.random_range(1..=3);
    let others = rng.random_range(0..2);
    let kinds = ["first", "last"].repeat(both).into_iter();
    kinds.chain(std::iter::repeat_n("other", others)).collect()
}

fn no_editor_without_a_book(rng: &mut StdRng) -> Vec<&'static str> {
    let source: &[&str] = match rng.random_range(0..10) {
        0..4 => &["editor", "book"],
        4..7 => &["book"],
        _ => &["journal"],
    };
    std::iter::repeat_n("author", rng.random_range(1..=2)).chain(source.iter().copied()).collect()
}

fn anything(rng: &mut StdRng) -> Vec<&'static str> {
    (0..rng.random_range(1..7)).map(|_| ["a", "b", "c"][rng.random_range(0..3)]).collect()
}

fn count(kinds: &[&str], kind: &str) -> usize {
    kinds.iter().filter(|own| **own == kind).count()
}

fn bio(kind: &str, place: usize, _: usize) -> String {
    format!("{}-{kind}", if place == 0 { "B" } else { "I" })
}

fn io(kind: &str, _: usize, _: usize) -> String {
    format!("I-{kind}")
}

fn iobes(kind: &str, place: usize, length: usize) -> String {
    let prefix = match place {
        0 if length == 1 => "S",
        0 => "B",
        place if place + 1 == length => "E",
        _ => "I",
    };
    format!("{prefix}-{kind}")
}

fn hierarchical(kind: &str, place: usize, length: usize) -> String {
    format!("{}:{}", bio("part", place, length), bio(kind, place, length))
}

fn records(make: Make, label: Label, count: usize, seed: u64) -> Vec<Sequence> {
    let mut rng = StdRng::seed_from_u64(seed);
    let mut text = String::new();
    for _ in 0..count {
        let mut kinds = make(&mut rng);
        kinds.shuffle(&mut rng);
        for kind in kinds {
            let length = rng.random_range(1..=3);
            for place in 0..length {
                let word = match rng.random_bool(0.35) {
                    true => format!("{kind}{}", rng.random_range(0..5)),
                    false => format!("word{}", rng.random_range(0..30)),
                };
                let _ = writeln!(text, "{word}\t{}", label(kind, place, length));
            }
            text.push_str(".\tO\n");
        }
        text.push('\n');
    }
    let sequences = Sequences::new(text.as_bytes(), "made", Format::Columns);
    sequences.collect::<Result<_, _>>().unwrap()
}

fn trained(sequences: &[Sequence], rule_source: RuleSource, seed: u64) -> Tagger {
    let template = "Uword:%x[0,0]\nUbefore:%x[-1,0]\nUafter:%x[1,0]\nUedge:%edge[0]\nB\n";
    let template = Some(template.parse().unwrap());
    let settings = TrainSettings { template, rule_source, seed, ..TrainSettings::default() };
    train(Labelled { sequences, scores: None }, None, &settings, &mut |_| ()).unwrap()
}

/// What each penalty on weights gains on held-out sequences.
fn gains(sequences: &[Sequence], rules: RuleSettings) -> Vec<(f64, Estimate)> {
    let template = Some("Uword:%x[0,0]\nUedge:%edge[0]\nB\n".parse().unwrap());
    let rule_source = RuleSource::Auto;
    let settings = TrainSettings { template, rule_source, rules, ..TrainSettings::default() };
    let mut gains = Vec::new();
    let mut observe = |event: Event| {
        if let Event::Penalty { l1, gain } = event {
            gains.push((l1, gain));
        }
    };
    train(Labelled { sequences, scores: None }, None, &settings, &mut observe).unwrap();
    gains
}

/// Where the answer depends on the start, a penalty is judged by what training with it alone does.
#[test]
fn penalties_are_judged_from_where_the_last_training_starts() {
    let sequences = records(one_of_each, bio, 60, 4);
    for (learner, penalty) in [
        (Learner::Perceptron, RulePenalty::Hinge),
        (Learner::Surrogate, RulePenalty::SmoothedHinge),
        (Learner::SurrogateBatch, RulePenalty::SmoothedHinge),
    ] {
        let rules = RuleSettings { learner, penalty, ..RuleSettings::default() };
        let path = gains(&sequences, rules);
        assert!(path.len() > 1, "{learner:?}: {path:?}");
        for one in path {
            let alone = gains(&sequences, RuleSettings { l1: Some(one.0), ..rules });
            assert_eq!(alone, [one], "{learner:?}");
        }
    }
}

/// The labels, their score, and how many sequences break the rule.
fn tagged(tagger: &Tagger, test: &[Sequence], holds: Holds) -> (Vec<Vec<String>>, Score, usize) {
    let (mut tagging, scheme) = (Tagging::new(tagger), tagger.states().scheme());
    let (mut all, mut score, mut broken) = (Vec::new(), Score::new(scheme), 0);
    for sequence in test {
        let path = tagging.tag(sequence, &TagOptions::default()).unwrap().best.remove(0).0;
        let found: Vec<&str> = path.iter().map(|&state| tagger.states().label(state)).collect();
        let truth: Vec<&str> = (0..sequence.len()).map(|t| sequence.cell(t, 1).unwrap()).collect();
        score.add(&truth, &found);
        let kinds: Vec<&str> = leaf_segments(scheme, &found).iter().map(|s| s.name).collect();
        broken += usize::from(!holds(&kinds));
        all.push(found.iter().map(|label| label.to_string()).collect());
    }
    (all, score, broken)
}

#[test]
fn learned_rules_are_kept_and_labels_are_no_worse_for_it() {
    let one: Holds = |kinds| ["title", "date", "price"].iter().all(|kind| count(kinds, kind) == 1);
    let equal: Holds = |kinds| count(kinds, "first") == count(kinds, "last");
    let implied: Holds = |kinds| count(kinds, "editor") == 0 || count(kinds, "book") > 0;
    let cases: [(&str, Make, Holds, Label); 5] = [
        ("one of each, BIO", one_of_each, one, bio),
        ("one of each, hierarchical", one_of_each, one, hierarchical),
        ("as many, IO", pairs, equal, io),
        ("as many, BIO", pairs, equal, bio),
        ("implied, IOBES", no_editor_without_a_book, implied, iobes),
    ];
    for (name, make, holds, label) in cases {
        let (training, test) = (records(make, label, 250, 1), records(make, label, 400, 2));
        let plain = trained(&training, RuleSource::None, 1);
        let ruled = trained(&training, RuleSource::Auto, 1);
        let (_, before, broken) = tagged(&plain, &test, holds);
        let (_, after, still_broken) = tagged(&ruled, &test, holds);
        assert!(
            broken > 20 && still_broken * 5 <= 2 * broken,
            "{name}: {broken} to {still_broken}"
        );
        let (lowest, _) = paired_bootstrap(before.per_sequence(), after.per_sequence(), 300, 0);
        assert!(lowest >= -0.1, "{name}: F1 from {lowest} points more");
    }
}

#[test]
fn a_rule_that_holds_is_found_from_few_sequences_and_from_many() {
    let one: Holds = |kinds| ["title", "date", "price"].iter().all(|kind| count(kinds, kind) == 1);
    let test = records(one_of_each, bio, 400, 2);
    for size in [50, 200, 1000] {
        let training = records(one_of_each, bio, size, 1);
        let plain = trained(&training, RuleSource::None, 1);
        let ruled = trained(&training, RuleSource::Auto, 1);
        let ((_, before, broken), (_, after, still)) =
            (tagged(&plain, &test, one), tagged(&ruled, &test, one));
        assert!(!ruled.rules().is_empty(), "{size} sequences");
        assert!(broken > 20 && still * 5 <= 2 * broken, "{size} sequences: {broken} to {still}");
        assert!(after.sequence_accuracy() > before.sequence_accuracy(), "{size} sequences");
        let said = ruled.parts().training.rules.as_ref().unwrap();
        let gain = said.held_out.unwrap();
        assert!(gain.log_loss.mean >= 2.0 * gain.log_loss.error, "{said}");
        assert!(gain.f1.with > gain.f1.without && gain.broken.with < gain.broken.without, "{said}");
    }
}

#[test]
fn no_rule_is_invented_where_none_holds() {
    let mut invented = Vec::new();
    for seed in 0..20 {
        let label = [bio as Label, io, iobes, hierarchical][seed as usize % 4];
        let training = records(anything, label, [50, 120, 250][seed as usize % 3], 100 + seed);
        let tagger = trained(&training, RuleSource::Auto, seed);
        if !tagger.rules().is_empty() {
            invented.push((seed, tagger.parts().training.rules.as_ref().unwrap().to_string()));
        }
    }
    assert!(invented.is_empty(), "{invented:?}");
}
