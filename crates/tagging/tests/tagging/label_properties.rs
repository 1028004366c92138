//! What holds for any sequence of labels, well formed or not.

use bethe_tagging::labels::{Scheme, States, canonical, leaf_segments, segments};
use bethe_tagging::score::Score;
use proptest::prelude::*;
use proptest::test_runner::FileFailurePersistence;

fn settings() -> ProptestConfig {
    ProptestConfig {
        cases: 500,
        failure_persistence: Some(Box::new(FileFailurePersistence::Direct(concat!(
            env!("CARGO_MANIFEST_DIR"),
            "/tests/tagging/label_properties.regressions"
        )))),
        ..ProptestConfig::default()
    }
}

fn schemes() -> impl Strategy<Value = Scheme> {
    prop::sample::select(Scheme::ALL.to_vec())
}

/// Few names, so that neighbours often share one.
fn tags() -> impl Strategy<Value = String> {
    "[BIESLU]-[xy]"
}

fn flat_labels() -> impl Strategy<Value = String> {
    prop_oneof![4 => tags(), 1 => Just("O".to_string()), 1 => "[xy]", 1 => "B-[xy]:[xO]"]
}

fn any_labels() -> impl Strategy<Value = String> {
    let deep = prop::collection::vec(tags(), 2..4).prop_map(|tags| tags.join(":"));
    prop_oneof![flat_labels(), deep]
}

fn sequences(label: impl Strategy<Value = String>) -> impl Strategy<Value = Vec<String>> {
    prop::collection::vec(label, 1..12)
}

fn as_text(labels: &[String]) -> Vec<&str> {
    labels.iter().map(String::as_str).collect()
}

proptest! {
    #![proptest_config(settings())]

    #[test]
    fn encoded_sequences_are_allowed_paths_with_the_same_segments(
        scheme in schemes(), all in prop::collection::vec(sequences(any_labels()), 1..4)
    ) {
        let all: Vec<Vec<&str>> = all.iter().map(|labels| as_text(labels)).collect();
        let states = States::learn(scheme, &all).unwrap();
        for labels in &all {
            let path = states.encode(labels).unwrap();
            prop_assert!(states.may_start(path[0]));
            prop_assert!(states.may_end(path[path.len() - 1]));
            prop_assert!(path.windows(2).all(|pair| states.may_follow(pair[0], pair[1])));
            let written: Vec<&str> = path.iter().map(|&state| states.label(state)).collect();
            prop_assert_eq!(segments(scheme, &written), segments(scheme, labels));
            let begun: usize = path.iter().map(|&state| states.begins(state).len()).sum();
            prop_assert_eq!(begun, segments(scheme, labels).len());
        }
    }

    #[test]
    fn allowed_paths_are_read_back_as_themselves(
        scheme in schemes(), labels in sequences(any_labels()), choices: [prop::sample::Index; 8]
    ) {
        let states = States::learn(scheme, [as_text(&labels)]).unwrap();
        let mut path: Vec<usize> = Vec::new();
        for choice in choices {
            let next: Vec<usize> = (0..states.len())
                .filter(|&state| path.last().map_or(states.may_start(state), |&before| {
                    states.may_follow(before, state)
                }))
                .collect();
            if next.is_empty() {
                let marks_ends = [Scheme::Iobes, Scheme::Bilou].contains(&scheme);
                prop_assert!(marks_ends, "the others have paths of every length");
                break;
            }
            path.push(next[choice.index(next.len())]);
        }
        while path.last().is_some_and(|&state| !states.may_end(state)) {
            path.pop();
        }
        let written: Vec<&str> = path.iter().map(|&state| states.label(state)).collect();
        prop_assert_eq!(states.encode(&written), Ok(path));
    }

    #[test]
    fn canonical_form_is_its_own_canonical_form(
        scheme in schemes(), labels in sequences(any_labels())
    ) {
        let labels = as_text(&labels);
        let once = canonical(scheme, &labels);
        let written: Vec<&str> = once.iter().map(|token| token.label.as_ref()).collect();
        prop_assert_eq!(&canonical(scheme, &written), &once);
        prop_assert_eq!(segments(scheme, &written), segments(scheme, &labels));
    }

    #[test]
    fn leaves_of_flat_labels_are_their_segments(
        scheme in schemes(), labels in sequences(flat_labels())
    ) {
        let labels = as_text(&labels);
        prop_assert_eq!(leaf_segments(scheme, &labels), segments(scheme, &labels));
    }

    #[test]
    fn segments_of_a_level_do_not_overlap_and_lie_within_those_above(
        scheme in schemes(), labels in sequences(any_labels())
    ) {
        let labels = as_text(&labels);
        let found = segments(scheme, &labels);
        for (number, segment) in found.iter().enumerate() {
            for other in &found[..number] {
                let apart = other.end <= segment.start || segment.end <= other.start;
                prop_assert!(other.level != segment.level || apart);
            }
            let within = found.iter().any(|above| {
                above.level + 1 == segment.level
                    && above.start <= segment.start
                    && segment.end <= above.end
            });
            prop_assert!(segment.level == 0 || within);
        }
    }

    #[test]
    fn stored_states_come_back(scheme in schemes(), labels in sequences(any_labels())) {
        let states = States::learn(scheme, [as_text(&labels)]).unwrap();
        let json = serde_json::to_string(&states).unwrap();
        prop_assert_eq!(serde_json::from_str::<States>(&json).unwrap(), states);
    }

    #[test]
    fn flat_labels_in_canonical_form_are_without_fault(
        scheme in schemes(), labels in sequences(flat_labels())
    ) {
        let labels = as_text(&labels);
        let canonical = canonical(scheme, &labels);
        let predicted: Vec<&str> = canonical.iter().map(|token| token.label.as_ref()).collect();
        let mut score = Score::new(scheme);
        score.add(&labels, &predicted);
        prop_assert_eq!((score.token_accuracy(), score.sequence_accuracy()), (1.0, 1.0));
        prop_assert_eq!(score.leaf().correct, score.leaf().gold);
        prop_assert_eq!(score.leaf().correct, score.leaf().predicted);
        prop_assert_eq!(score.all(), score.leaf());
    }
}
