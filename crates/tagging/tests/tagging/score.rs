//! Scores, against cases worked by hand.

use bethe_tagging::labels::{Scheme, States};
use bethe_tagging::score::{Score, SequenceCounts, UnknownLabels, paired_bootstrap};

fn score(scheme: Scheme, pairs: &[(&str, &str)]) -> Score {
    let mut score = Score::new(scheme);
    for (gold, predicted) in pairs {
        let [gold, predicted] =
            [gold, predicted].map(|labels| labels.split_whitespace().collect::<Vec<_>>());
        score.add(&gold, &predicted);
    }
    score
}

fn counts(correct: usize, predicted: usize, gold: usize) -> SequenceCounts {
    SequenceCounts { correct, predicted, gold }
}

#[test]
fn labels_of_another_scheme_are_known_if_they_say_the_same() {
    let states = States::learn(Scheme::Bio, [["B-x", "I-x", "O"]]).unwrap();
    let unknown = |labels: &[&str]| {
        let mut unknown = UnknownLabels::default();
        unknown.add(&states, labels, |t| format!("token {t}"));
        unknown
    };
    let same = unknown(&["U-x", "O", "B-x", "L-x", "S-x", "B-x", "E-x"]);
    assert!(same.counts().is_empty() && same.warning().is_none());
    let other = unknown(&["O", "U-y", "x"]);
    let error = other.check(&states.labels()).unwrap_err();
    assert_eq!((error.place.as_str(), error.label.as_str()), ("token 1", "U-y"));
    assert_eq!(error.expected, ["B-x", "I-x", "O"]);
    let some = unknown(&["B-x", "U-y", "O"]);
    assert!(some.check(&states.labels()).is_ok());
    let expected = "1 token of 3 have 1 label that the model does not know and can never predict, \
                    first U-y in token 1";
    assert_eq!(some.warning().as_deref(), Some(expected));
}

#[test]
fn segments_are_counted_as_conlleval_counts_them() {
    for (gold, predicted, expected) in [
        ("B-x B-x", "B-x I-x", counts(0, 1, 2)),
        ("B-x B-x O", "B-x B-x B-x", counts(2, 3, 2)),
        ("O B-x I-x", "O I-x I-x", counts(1, 1, 1)),
        ("B-x B-y", "B-x I-y", counts(2, 2, 2)),
        ("B-x I-x I-x", "B-x I-x O", counts(0, 1, 1)),
        ("O O B-x", "O O B-y", counts(0, 1, 1)),
        ("B-x O", "O O", counts(0, 0, 1)),
        ("O O", "O O", counts(0, 0, 0)),
    ] {
        let score = score(Scheme::Bio, &[(gold, predicted)]);
        assert_eq!(score.leaf(), expected, "{gold} / {predicted}");
        assert_eq!(score.all(), expected, "{gold} / {predicted}");
    }
}

#[test]
fn incomplete_iobes_segments_count() {
    for (gold, predicted, expected) in [
        ("B-x E-x O", "B-x I-x O", counts(1, 1, 1)),
        ("S-x O S-x", "B-x O E-x", counts(2, 2, 2)),
        ("B-x E-x S-x", "B-x I-x E-x", counts(0, 1, 2)),
        ("S-x S-x", "E-x E-x", counts(2, 2, 2)),
    ] {
        assert_eq!(score(Scheme::Iobes, &[(gold, predicted)]).leaf(), expected, "{predicted}");
    }
}

#[test]
fn segments_do_not_reach_across_sequences() {
    let score = score(Scheme::Bio, &[("B-x I-x", "B-x I-x"), ("B-x O", "I-x O")]);
    assert_eq!(score.per_sequence(), [counts(1, 1, 1), counts(1, 1, 1)]);
    assert_eq!((score.tokens(), score.token_accuracy(), score.sequence_accuracy()), (4, 1.0, 1.0));
}

#[test]
fn every_plain_token_is_a_segment() {
    let score = score(Scheme::Plain, &[("NN O NN", "NN O VB")]);
    assert_eq!(score.leaf(), counts(2, 3, 3));
    assert_eq!(score.per_label()["NN"], counts(1, 1, 2));
}

#[test]
fn io_tokens_are_compared_as_they_are_written() {
    let score = score(Scheme::Io, &[("x x y", "y x y")]);
    assert_eq!(score.leaf(), counts(1, 3, 2));
    assert_eq!(score.token_accuracy(), 2.0 / 3.0);
}

#[test]
fn hierarchical_labels_are_scored_at_the_leaf_and_at_every_level() {
    let gold = "B-a:B-x I-a:I-x I-a:B-y O";
    let predicted = "B-a:B-x I-a:I-x I-a:I-x O";
    let score = score(Scheme::Bio, &[(gold, predicted)]);
    assert_eq!(score.leaf(), counts(0, 1, 2));
    assert_eq!(score.all(), counts(1, 2, 3));
    assert_eq!(score.report().all_f1, Some(0.4));
    assert_eq!(score.per_label().keys().collect::<Vec<_>>(), ["x", "y"]);
}

#[test]
fn a_report_has_the_documented_shape() {
    let score = score(Scheme::Bio, &[("B-x O B-y I-y", "B-x O B-y B-z"), ("O", "O")]);
    let expected = serde_json::json!({
        "tokens": 5, "token_accuracy": 0.8, "sequence_accuracy": 0.5,
        "precision": 1.0 / 3.0, "recall": 0.5, "f1": 0.4,
        "per_label": {
            "x": {"precision": 1.0, "recall": 1.0, "f1": 1.0, "support": 1},
            "y": {"precision": 0.0, "recall": 0.0, "f1": 0.0, "support": 1},
            "z": {"precision": 0.0, "recall": 0.0, "f1": 0.0, "support": 0},
        }
    });
    assert_eq!(serde_json::to_value(score.report()).unwrap(), expected);
}

#[test]
fn nothing_scored_is_zero() {
    let report = Score::new(Scheme::Bio).report();
    assert_eq!((report.tokens, report.token_accuracy, report.f1), (0, 0.0, 0.0));
}

#[test]
#[should_panic(expected = "predicted labels and gold labels")]
fn labels_of_other_lengths_are_a_mistake_of_the_caller() {
    Score::new(Scheme::Bio).add(&["O"], &[]);
}

#[test]
fn bootstrap_of_a_system_with_itself_is_zero() {
    let a = [counts(1, 2, 3), counts(4, 4, 4)];
    assert_eq!(paired_bootstrap(&a, &a, 100, 1), (0.0, 0.0));
    assert_eq!(paired_bootstrap(&[], &[], 10, 1), (0.0, 0.0));
}

#[test]
fn bootstrap_interval_is_that_of_the_binomial() {
    // A is always half right; B is right on every second sequence and half right on the others.
    // F1 of B over A is 50·k/n points, where k of n draws hit the former: mean 25, deviation 2.5.
    let a = [counts(1, 2, 2); 100];
    let b: Vec<SequenceCounts> = (0..100).map(|s| counts(1 + s % 2, 2, 2)).collect();
    let (low, high) = paired_bootstrap(&a, &b, 10_000, 7);
    assert!((low - (25.0 - 1.96 * 2.5)).abs() < 0.5, "{low}");
    assert!((high - (25.0 + 1.96 * 2.5)).abs() < 0.5, "{high}");
    assert_eq!(paired_bootstrap(&a, &b, 10_000, 7), (low, high));
    assert_ne!(paired_bootstrap(&a, &b, 50, 7), paired_bootstrap(&a, &b, 50, 8));
    assert_eq!(paired_bootstrap(&b, &a, 10_000, 7), (-high, -low));
}
